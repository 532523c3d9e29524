/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An output file besides standard output. */
#ifndef NILFS2_CLI_OUTFILE_H
#define NILFS2_CLI_OUTFILE_H

#include "base/context.h"
#include "dev/output.h"
#include "out/out.h"

struct outfile {
	struct output *file;
	struct out *out;	/* to be written to */
};

/* Begins the file PATH (borrowed) as output_open() with HOW->stream. */
int outfile_open(struct outfile *f, struct context *cx, const char *path,
		 const struct output_how *how);

/*
 * Completes an opened file and gives it its name; removes it if ERR is an error or
 * this fails.  ERR is an earlier error or a status, and is returned unless only this
 * fails: -EIO, -ENOSPC, or as output_commit().
 */
int outfile_close(struct outfile *f, struct context *cx, int err);

#endif
