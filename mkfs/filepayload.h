/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a file of the source, read when its blocks are written. */
#ifndef NILFS2_MKFS_FILEPAYLOAD_H
#define NILFS2_MKFS_FILEPAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "log/newfile.h"
#include "log/payload.h"
#include "mkfs/populate.h"
#include "mkfs/sourcedir.h"

/*
 * The blocks of file NAME (LEN bytes) in DIR (held until it is read), which
 * is as ST says: those in RUNS, NULL for all.  Filling fails with -ESTALE and
 * the file's path where the file is another one by then, or was written to.
 * What it loses on the way is told to P.
 */
struct payload *filepayload_make(struct sourcedir *dir, const char *name,
				 size_t len, const struct statx *st,
				 const struct newfile_run *runs, size_t nruns,
				 struct populate *p);

#endif
