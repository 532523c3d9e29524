// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of a sound image that can be damaged.
 *
 * All logs of the segments in use are listed.  A block is live where the DAT,
 * or the map of the DAT, still has it there for the latest state or for a
 * snapshot.  The blocks that are dead are kept while the list is made: among
 * them are the older versions of the live ones.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/testdev/memory.h"
#include "disk/bmap.h"
#include "disk/segsum.h"
#include "disk/segusage.h"
#include "disk/superroot.h"
#include "tests/fuzz/arena.h"
#include "vol/liveness.h"
#include "vol/logscan.h"
#include "vol/root.h"
#include "vol/summary.h"
#include "vol/sutable.h"
#include "vol/translate.h"
#include "vol/volume.h"

/* A block that a log lists. */
struct piece {
	uint64_t blocknr, pseg, seq;
	uint64_t ino, cno;
	uint64_t key; /* offset in the file; of a node: first key */
	uint8_t level;
	bool is_live, is_directory, is_regular;
};

struct finder {
	struct context cx;
	struct volume *vol;
	struct liveness *liveness;
	const char *bytes;
	struct piece *pieces;
	size_t count, capacity;
	struct targets *to;
};

const char *target_kind_name(enum target_kind kind)
{
	static const char *const names[TARGET_KINDS] = {
		[TARGET_DAT] = "DAT",
		[TARGET_DAT_NODE] = "DAT-node",
		[TARGET_CPFILE] = "cpfile",
		[TARGET_CPFILE_NODE] = "cpfile-node",
		[TARGET_SUFILE] = "SUFILE",
		[TARGET_SUFILE_NODE] = "SUFILE-node",
		[TARGET_IFILE] = "ifile",
		[TARGET_IFILE_NODE] = "ifile-node",
		[TARGET_DIRECTORY] = "directory",
		[TARGET_FILE_NODE] = "file-node",
		[TARGET_SUMMARY] = "log-summary",
		[TARGET_PAYLOAD] = "log-data",
		[TARGET_SUPER_ROOT] = "log-root",
		[TARGET_VOLUME] = "volume",
	};

	return names[kind];
}

/* Room for one more element of SIZE bytes in an array. */
static void *make_room(void *array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return array;
	*capacity = *capacity ? 2 * *capacity : 1024;
	array = realloc(array, *capacity * size);
	if (!array)
		arena_die("memory");
	return array;
}

static void add_target(struct finder *f, const struct target *target)
{
	struct targets *t = f->to;

	t->all = make_room(t->all, t->count, &t->capacity, sizeof(*t->all));
	t->all[t->count++] = *target;
}

static const char *block_at(const struct finder *f, uint64_t blocknr)
{
	return f->bytes + (blocknr << f->vol->geo.block_bits);
}

/* The first snapshot in [START, END). */
static uint64_t snapshot_in(const struct liveness *l, uint64_t start,
			    uint64_t end)
{
	size_t i;

	for (i = 0; i < l->nsnapshots; i++)
		if (l->snapshots[i] >= start && l->snapshots[i] < end)
			return l->snapshots[i];
	return 0;
}

static bool is_live_virtual(struct finder *f, struct piece *p,
			    uint64_t vblocknr)
{
	enum liveness_kind kind;
	struct nilfs_dat_entry de;

	if (translate_entry(f->vol, &f->cx, vblocknr, &de) ||
	    le64_get(de.de_blocknr) != p->blocknr)
		return false;
	kind = liveness_of_entry(f->liveness, &de);
	if (kind == LIVENESS_SNAPSHOT)
		p->cno = snapshot_in(f->liveness, le64_get(de.de_start),
				     le64_get(de.de_end));
	return kind == LIVENESS_CURRENT || kind == LIVENESS_SNAPSHOT;
}

static bool is_live(struct finder *f, struct piece *p,
		    const struct segsum_block *b)
{
	uint64_t ptr;

	if (b->is_virtual)
		return is_live_virtual(f, p, b->vblocknr);
	return blockmap_lookup_at_level(&f->vol->dat.map, &f->cx, b->blkoff,
					b->is_node ? b->level : 0, &ptr) > 0 &&
	       ptr == p->blocknr;
}

static void find_type(struct finder *f, struct piece *p)
{
	struct nilfs_inode inode;
	struct root root;

	if (p->ino < NILFS_USER_INO && p->ino != NILFS_ROOT_INO)
		return;
	if (root_open(&root, &f->cx, f->vol, p->cno) ||
	    root_inode(&root, &f->cx, p->ino, &inode)) {
		fail_clear(&f->cx);
		return;
	}
	p->is_directory = S_ISDIR(le16_get(inode.i_mode));
	p->is_regular = !p->is_directory;
}

static void find_key(const struct finder *f, struct piece *p,
		     const struct segsum_block *b)
{
	struct bmap_node node;

	p->key = b->blkoff;
	if (!b->is_node)
		return;
	bmap_node_read(f->vol->geo.block_size, block_at(f, p->blocknr), &node);
	p->level = node.level;
	p->key = node.nchildren ? bmap_node_key(&node, 0) : 0;
}

static void add_piece(struct finder *f, const struct log *log,
		      const struct segsum_block *b)
{
	struct piece p = {
		.blocknr = log->pseg + b->index,
		.pseg = log->pseg,
		.seq = le64_get(log->ss.ss_seq),
		.ino = b->ino,
	};

	p.is_live = is_live(f, &p, b);
	fail_clear(&f->cx);
	find_type(f, &p);
	find_key(f, &p, b);
	f->pieces = make_room(f->pieces, f->count, &f->capacity,
			      sizeof(*f->pieces));
	f->pieces[f->count++] = p;
}

/* The live block of the log that gets a flipped bit, or else a dead one. */
static const struct piece *pick(const struct piece *pieces, size_t count)
{
	size_t i, live = 0;

	for (i = 0; i < count; i++)
		live += pieces[i].is_live;
	if (!live)
		return &pieces[count / 2];
	for (i = 0, live = (live + 1) / 2;; i++)
		if (pieces[i].is_live && !--live)
			return &pieces[i];
}

static void describe(struct target *t, const struct piece *p)
{
	t->ino = p->ino;
	t->cno = p->cno;
	t->blkoff = p->key;
	t->level = p->level;
	t->is_content = !p->level && p->is_regular;
}

static void add_part(struct finder *f, const struct log *log,
		     enum target_kind kind, uint32_t index, uint32_t len,
		     const struct piece *piece)
{
	struct target t = {
		.kind = kind,
		.pseg = log->pseg,
		.blocknr = log->pseg + index,
		.offset = (log->pseg + index) << f->vol->geo.block_bits,
		.len = len,
	};

	if (piece)
		describe(&t, piece);
	add_target(f, &t);
}

static void add_log(struct finder *f, const struct log *log)
{
	const struct nilfs_geometry *geo = &f->vol->geo;
	struct summary summary = {0};
	size_t first = f->count;
	struct segsum_block b;
	const struct piece *p;

	if (summary_read(&summary, &f->cx, f->vol, log->pseg, &log->ss))
		arena_die(f->cx.failure);
	while (summary_next(&summary, &f->cx, &b) > 0)
		add_piece(f, log, &b);
	summary_free(&summary);
	add_part(f, log, TARGET_SUMMARY, 0, le32_get(log->ss.ss_sumbytes),
		 NULL);
	if (f->count > first) {
		p = pick(f->pieces + first, f->count - first);
		add_part(f, log, TARGET_PAYLOAD,
			 (uint32_t)(p->blocknr - log->pseg), geo->block_size,
			 p);
	}
	if (segsum_has_super_root(&log->ss))
		add_part(f, log, TARGET_SUPER_ROOT, log->nblocks - 1,
			 superroot_bytes(geo), NULL);
}

/* A segment in use, or one that was written after the latest super root. */
static bool is_in_use(struct finder *f, uint64_t segnum, uint64_t seq)
{
	struct nilfs_segment_usage_ext su;

	if (seq >= f->vol->latest.seq)
		return true;
	return !sutable_read(f->vol, &f->cx, segnum, &su) &&
	       !segusage_is_clean(&su.su);
}

static void add_segment(struct finder *f, uint64_t segnum)
{
	struct logscan scan;
	struct log log;

	if (logscan_open(&scan, &f->cx, f->vol, segnum, 0))
		arena_die(f->cx.failure);
	while (logscan_next(&scan, &f->cx, &log) > 0 &&
	       is_in_use(f, segnum, le64_get(log.ss.ss_seq)))
		add_log(f, &log);
}

static enum target_kind kind_of(const struct piece *p)
{
	static const enum target_kind files[] = {
		[NILFS_DAT_INO] = TARGET_DAT,
		[NILFS_CPFILE_INO] = TARGET_CPFILE,
		[NILFS_SUFILE_INO] = TARGET_SUFILE,
		[NILFS_IFILE_INO] = TARGET_IFILE,
	};

	if (p->is_directory && !p->level)
		return TARGET_DIRECTORY;
	if (p->is_directory || p->is_regular)
		return p->level ? TARGET_FILE_NODE : TARGET_KINDS;
	if (p->ino < NILFS_DAT_INO || p->ino > NILFS_IFILE_INO)
		return TARGET_KINDS;
	return files[p->ino] + (p->level != 0);
}

static bool is_before(const struct piece *a, const struct piece *b)
{
	return a->seq != b->seq ? a->seq < b->seq : a->blocknr < b->blocknr;
}

/* The last version before P that has another content, or 0. */
static uint64_t find_older(const struct finder *f, const struct piece *p)
{
	const struct piece *other, *best = NULL;

	for (other = f->pieces; other < f->pieces + f->count; other++) {
		if (other->ino != p->ino || other->key != p->key ||
		    other->level != p->level || !is_before(other, p) ||
		    (best && is_before(other, best)))
			continue;
		if (memcmp(block_at(f, other->blocknr), block_at(f, p->blocknr),
			   f->vol->geo.block_size))
			best = other;
	}
	return best ? best->blocknr : 0;
}

static void add_blocks(struct finder *f)
{
	const struct nilfs_geometry *geo = &f->vol->geo;
	const struct piece *p;

	for (p = f->pieces; p < f->pieces + f->count; p++) {
		struct target t = {
			.kind = kind_of(p),
			.pseg = p->pseg,
			.blocknr = p->blocknr,
			.offset = p->blocknr << geo->block_bits,
			.len = geo->block_size,
		};

		if (!p->is_live || t.kind == TARGET_KINDS)
			continue;
		describe(&t, p);
		t.older = find_older(f, p);
		add_target(f, &t);
	}
}

void targets_find(struct targets *t, const char *bytes, size_t size)
{
	struct finder f = {.bytes = bytes, .to = t};
	struct dev *dev;
	uint64_t segnum;

	*t = (struct targets){0};
	context_init(&f.cx);
	if (memory_open_const(&dev, &f.cx, bytes, size) ||
	    volume_open(&f.vol, &f.cx, dev, NULL) ||
	    liveness_count(f.vol, &f.cx, UINT64_MAX, &f.liveness))
		arena_die(f.cx.failure);
	t->geo = f.vol->geo;
	for (segnum = 0; segnum < t->geo.nsegments; segnum++)
		add_segment(&f, segnum);
	add_blocks(&f);
	liveness_free(f.liveness);
	volume_close(f.vol);
	dev_close(dev);
	free(f.pieces);
}

void targets_free(struct targets *t)
{
	free(t->all);
}
