/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a structure of a metadata file on the disk. */
#ifndef NILFS2_DUMP_POSITION_H
#define NILFS2_DUMP_POSITION_H

#include <stdint.h>

#include "out/report.h"
#include "vol/file.h"
#include "vol/root.h"

struct position {
	uint64_t ino;		/* file that contains it; 0: a super root */
	uint64_t blkoff;	/* block of that file */
	uint64_t vblocknr;	/* 0 in the DAT and in a super root */
	uint64_t blocknr;
	uint32_t offset;	/* bytes from the beginning of the block */
};

/* Finds byte OFFSET of block BLKOFF of FILE.  -ENOENT if it is a hole, -EUCLEAN,
   -EIO. */
int position_in_file(struct position *p, struct context *cx, struct file *file,
		  uint64_t blkoff, uint32_t offset);

/*
 * Finds inode INO of ROOT: those of DAT, cpfile and sufile are in the latest
 * super root, that of the ifile in the checkpoint, all others in the ifile.
 */
int position_of_inode(struct position *p, struct context *cx, struct root *root,
		   uint64_t ino);

/* Finds the entry of VBLOCKNR in the DAT. */
int position_of_dat_entry(struct position *p, struct context *cx,
		       struct volume *vol, uint64_t vblocknr);

/* The name of a metadata file, or NULL for any other number. */
const char *position_file_name(uint64_t ino);

/* Reports the position as a section. */
void position_report(struct report *r, const struct position *p);

#endif
