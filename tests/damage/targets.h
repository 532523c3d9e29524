/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of a volume can be damaged: every live block of its metadata, and three
 * parts of every log.
 */
#ifndef NILFS2_TESTS_DAMAGE_TARGETS_H
#define NILFS2_TESTS_DAMAGE_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disk/geometry.h"

enum target_kind {
	TARGET_DAT,
	TARGET_DAT_NODE,
	TARGET_CPFILE,
	TARGET_CPFILE_NODE,
	TARGET_SUFILE,
	TARGET_SUFILE_NODE,
	TARGET_IFILE,
	TARGET_IFILE_NODE,
	TARGET_DIRECTORY,
	TARGET_FILE_NODE, /* of directories as well */
	TARGET_BLOCKS,	  /* those above are whole blocks */
	TARGET_SUMMARY = TARGET_BLOCKS,
	TARGET_PAYLOAD, /* any block that a log lists */
	TARGET_SUPER_ROOT,
	TARGET_VOLUME, /* several things at once, in any place */
	TARGET_KINDS
};

struct target {
	enum target_kind kind;
	uint64_t offset; /* bytes from the start of the image */
	uint32_t len;	 /* bytes */
	uint64_t pseg;	 /* first block of the log that it is in */
	uint64_t blocknr;
	uint64_t older; /* block with its last version but one, or 0 */
	/* Whose block it is.  CNO is 0 for the latest state, else a snapshot.
	 */
	uint64_t ino, cno, blkoff;
	uint8_t level;	 /* of a node, else 0 */
	bool is_content; /* of a regular file: only checksums know it */
};

struct targets {
	struct nilfs_geometry geo;
	struct target *all;
	size_t count, capacity;
};

/*
 * Finds the targets of the sound image of SIZE bytes at BYTES, in the order of
 * the disk.  Ends the program where the image cannot be read.
 */
void targets_find(struct targets *t, const char *bytes, size_t size);
void targets_free(struct targets *t);

const char *target_kind_name(enum target_kind kind);

#endif
