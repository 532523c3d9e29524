/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A structure on the disk, given on a command line as STRUCTURE:INDEX. */
#ifndef NILFS2_DUMP_TARGET_H
#define NILFS2_DUMP_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "dev/dev.h"
#include "disk/field.h"
#include "vol/root.h"
#include "vol/volume.h"

#define TARGET_FIELDS_MAX 8

/* Which checksum covers the bytes of a structure. */
enum target_cover {
	TARGET_COVER_SUPER,	/* that of the superblock itself */
	TARGET_COVER_LOG,	/* those of the log at `log` */
	TARGET_COVER_BLOCK,	/* those of the log that block is in */
};

struct target {
	uint64_t byte;		/* where it begins on the device */
	uint32_t length;	/* bytes */
	int bit;		/* only this bit of the one byte, or -1 */
	enum target_cover cover;
	uint64_t log;		/* of TARGET_COVER_LOG: its first block */
	struct field_table table;
	struct field fields[TARGET_FIELDS_MAX];	/* of a table of the target */
};

/* The volume with the targets, opened as far as the target requires. */
struct target_source {
	struct context *cx;
	struct dev *dev;	/* borrowed */
	uint64_t cno;		/* of inodes and directories; 0: the latest */
	struct volume *vol;	/* NULL until needed */
	struct root root;
	bool whole;		/* vol is open with its metadata, root too */
};

/*
 * Finds the structure that TEXT names, as the manual page lists them.  *T must not
 * be copied, because it may refer to its own table.  -EINVAL if TEXT names no
 * structure, -ENOENT if this volume has no such structure; fails as volume_open().
 */
int target_find(struct target *t, struct target_source *source,
		const char *text);

int target_need_volume(struct target_source *source);

void target_source_close(struct target_source *source);

/* The structures, for --help. */
#define TARGET_HELP \
"  super:1  super:2         a superblock\n" \
	"  log:BLOCK                the header of the log that begins there\n" \
	"  finfo:BLOCK/N            its file number N, from 0\n" \
	"  binfo:BLOCK/INDEX        the entry of its block number INDEX\n" \
	"  superroot[:BLOCK]        the latest super root, or the one there\n" \
	"  inode:INO|PATH           also dat, cpfile, sufile, ifile\n" \
	"  bmap:INO/BLKOFF[/LEVEL]  the B-tree node above a file block: the\n" \
	"                           header, key[N] and ptr[N]\n" \
	"  node:BLOCK               the B-tree node in that block\n" \
	"  dat:VBLOCK               an entry of the DAT\n" \
	"  checkpoint:CNO  cpheader\n" \
	"  segment:SEGNUM  suheader\n" \
	"  group:dat/N  group:ifile/N\n" \
	"                           a descriptor of the allocator\n" \
	"  bitmap:dat/N bitmap:ifile/N\n" \
	"                           the bit of entry N, in the field \"bit\"\n" \
	"  dirent:INO/NAME|PATH     an entry of a directory\n" \
	"  block:BLOCK              any block, as byte[N]"

/* For target.c, target_file.c and target_find.c. */

#define TARGET_PARTS_MAX 3

/* The parts of INDEX between slashes, if they are numbers. */
struct target_index {
	const char *text;		/* the whole text; "" if none given */
	unsigned int count;		/* of the parts */
	uint64_t numbers[TARGET_PARTS_MAX];
};

typedef int target_finder(struct target *t, struct target_source *source,
			  const struct target_index *index);

target_finder target_super, target_log, target_log_finfo, target_log_binfo,
	target_log_superroot, target_log_node, target_log_block;
target_finder target_file_inode, target_file_bmap, target_file_dat,
	target_file_checkpoint, target_file_cpheader, target_file_segment,
	target_file_suheader, target_file_dirent;

/* Descriptors and bitmaps of the allocator: "dat/N" or "ifile/N". */
target_finder target_file_group, target_file_bitmap;

/* Makes the target the structure of TABLE at byte OFFSET of block BLOCKNR. */
void target_set(struct target *t, struct target_source *source,
		uint64_t blocknr, uint32_t offset,
		const struct field_table *table);

/* Adds a field to the table of the target, and extends the target up to its end. */
void target_add_field(struct target *t, const struct field *field);

/* Makes the target the node in block BLOCKNR: header, key[], ptr[]. */
void target_log_set_node(struct target *t, struct target_source *source,
			 uint64_t blocknr);

#endif
