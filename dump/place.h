/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where on the disk a structure of a metadata file lies. */
#ifndef NILFS2_DUMP_PLACE_H
#define NILFS2_DUMP_PLACE_H

#include <stdint.h>

#include "out/report.h"
#include "vol/file.h"
#include "vol/root.h"

struct place {
	uint64_t ino;		/* the file that holds it; 0: a super root */
	uint64_t blkoff;	/* block of that file */
	uint64_t vblocknr;	/* 0 in the DAT and in a super root */
	uint64_t blocknr;
	uint32_t offset;	/* bytes from the beginning of the block */
};

/*
 * Finds byte OFFSET of block BLKOFF of FILE.  -ENOENT where that is a hole,
 * -EUCLEAN, -EIO.
 */
int place_in_file(struct place *p, struct context *cx, struct file *file,
		  uint64_t blkoff, uint32_t offset);

/*
 * Finds inode INO of ROOT: those of DAT, cpfile and sufile are in the latest
 * super root, that of the ifile in the checkpoint, all others in the ifile.
 */
int place_of_inode(struct place *p, struct context *cx, struct root *root,
		   uint64_t ino);

/* Finds the entry of VBLOCKNR in the DAT. */
int place_of_dat_entry(struct place *p, struct context *cx,
		       struct volume *vol, uint64_t vblocknr);

/* The name of a metadata file, or NULL for the number of another. */
const char *place_file_name(uint64_t ino);

/* Says the place as a section. */
void place_report(struct report *r, const struct place *p);

#endif
