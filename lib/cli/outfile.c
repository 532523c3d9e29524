// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A file that is written besides standard output.
 *
 * What the user calls by a wrong name may be the image that is read, which no
 * picture of it is worth: it is looked at before anything of it is emptied.
 *
 * Half of a file could be taken for the whole: it is removed, wherever a
 * symbolic link leads to it.
 */
#include "cli/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_target(struct context *cx, const char *input,
			const char *path, int fd)
{
	struct stat a, b;

	if (stat(input, &a) || fstat(fd, &b) || a.st_dev != b.st_dev ||
	    a.st_ino != b.st_ino)
		return 0;
	return fail(cx, -EINVAL, "%s: is the input itself", path);
}

static int prepare_output(struct outfile *f, struct context *cx,
			  const char *input)
{
	int err = input ? check_target(cx, input, f->path, f->fd) : 0;

	if (!err && ftruncate(f->fd, 0) && errno != EINVAL)
		err = fail(cx, -errno, "%s: cannot be truncated", f->path);
	return err ? err : out_open(cx, f->fd, f->path, &f->out);
}

int outfile_open(struct outfile *f, struct context *cx, const char *path,
		 const char *input)
{
	int err;

	*f = (struct outfile){ .path = path };
	f->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (f->fd < 0)
		return fail(cx, -errno, "%s: cannot be written", path);
	err = prepare_output(f, cx, input);
	if (err)
		close(f->fd);
	return err;
}

/* Removes the file, unless it is a device or pipe, or was moved. */
static void discard(const struct outfile *f)
{
	char *path = realpath(f->path, NULL);
	struct stat a, b;

	if (path && !lstat(path, &a) && !fstat(f->fd, &b) &&
	    S_ISREG(b.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		unlink(path);
	free(path);
}

int outfile_close(struct outfile *f, struct context *cx, int err)
{
	struct context closing;
	int ret;

	context_child(cx, &closing);
	ret = out_close(f->out, &closing);
	if (err < 0 || ret)
		discard(f);
	if (close(f->fd) && !ret)
		ret = fail(&closing, -errno, "%s: write", f->path);
	if (err < 0 || !ret)
		return err;
	context_adopt(cx, &closing);
	return ret;
}
