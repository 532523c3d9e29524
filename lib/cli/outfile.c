// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An output file besides standard output: a buffered writer over a file that gets
 * its name when it is complete (dev/output.h).
 */
#include "cli/outfile.h"

int outfile_open(struct outfile *f, struct context *cx, const char *path,
		 const struct output_how *how)
{
	struct output_how stream = *how;
	int err;

	*f = (struct outfile){ .file = NULL };
	stream.stream = true;
	err = output_open(&f->file, cx, path, &stream);
	if (!err)
		err = out_open(cx, f->file->fd, path, &f->out);
	if (err)
		output_close(f->file);
	return err;
}

int outfile_close(struct outfile *f, struct context *cx, int err)
{
	struct context closing;
	int ret;

	context_child(cx, &closing);
	ret = out_close(f->out, &closing);
	if (!ret && err >= 0)
		ret = output_commit(f->file, &closing);
	output_close(f->file);
	if (err < 0 || !ret)
		return err;
	context_adopt(cx, &closing);
	return ret;
}
