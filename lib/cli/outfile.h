/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that is written besides standard output. */
#ifndef NILFS2_CLI_OUTFILE_H
#define NILFS2_CLI_OUTFILE_H

#include "base/context.h"
#include "out/out.h"

struct outfile {
	const char *path;	/* borrowed */
	int fd;
	struct out *out;	/* to be written to */
};

/*
 * Makes or empties PATH (borrowed).  Never over the file INPUT (NULL: none),
 * whatever it is called: -EINVAL.  -ENOMEM, or what the system says, -errno.
 */
int outfile_open(struct outfile *f, struct context *cx, const char *path,
		 const char *input);

/*
 * Completes and closes it, once it was opened, or removes it if that or
 * something before failed.  Returns ERR, what failed before or else a status,
 * unless only this fails: -EIO, -ENOSPC.
 */
int outfile_close(struct outfile *f, struct context *cx, int err);

#endif
