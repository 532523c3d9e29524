/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The content of a file of the source, read when its blocks are written. */
#ifndef NILFS2_MKFS_FILEPAYLOAD_H
#define NILFS2_MKFS_FILEPAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "log/newfile.h"
#include "log/payload.h"
#include "mkfs/populate/populate.h"
#include "mkfs/source/sourcedir.h"

/*
 * The blocks of file NAME (LEN bytes) in DIR (held until it is read), whose
 * attributes are ST: those in RUNS, NULL for all.  Filling fails with -ESTALE
 * and the file's path if the file was replaced or written to meanwhile.  Lost
 * attributes are reported to P.
 */
struct payload *filepayload_make(struct sourcedir *dir, const char *name,
				 size_t len, const struct statx *st,
				 const struct newfile_run *runs, size_t nruns,
				 struct populate *p);

#endif
