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
 * Makes or empties PATH.  Never over IMAGE, whatever it is called: -EINVAL.
 * Or what the system says.
 */
int outfile_open(struct outfile *f, struct context *cx, const char *path,
		 const char *image);

/* Completes it; ERR is returned where it is a failure already. */
int outfile_close(struct outfile *f, struct context *cx, int err);

#endif
