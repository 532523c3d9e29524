// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The content of the checkpoint file.
 *
 * All of it is repaired, whatever was found: entries block by block, then what
 * is counted from them and the list of snapshots, which is in the order of
 * numbers.
 *
 * Nearly all of an entry is the inode of its ifile, and that shows whether the
 * rest can be trusted: an entry whose ifile can be followed is of a checkpoint
 * that exists, whatever its number or its flags have become.  One that cannot,
 * or whose block is another, is looked up in older copies of its block, then
 * derived from the logs.  Where these have nothing better it is called
 * deleted, for there is nothing left to mount.  The checkpoint that the block
 * was written with existed then, whatever the block says, and one that was
 * deleted keeps its number.
 *
 * An entry is a snapshot if its flag says so or if the list, which leads there
 * from both sides, says so: to keep one too many costs space, to lose one costs
 * what it was made for.  A deleted entry with the flag is taken back if the
 * list has it, for the kernel unlinks a snapshot before it deletes it.
 */
#include "fsck/checkpoints/cprepair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "disk/checkpoint.h"
#include "fsck/derive/pieces.h"

#define INVALID (1u << NILFS_CHECKPOINT_INVALID)
#define SNAPSHOT (1u << NILFS_CHECKPOINT_SNAPSHOT)
#define KNOWN_FLAGS                                                            \
	(INVALID | SNAPSHOT | 1u << NILFS_CHECKPOINT_SKETCH |                  \
	 1u << NILFS_CHECKPOINT_MINOR)

static const struct nilfs_geometry *geo_of(const struct cprepair *cm)
{
	return &cm->check->vol->geo;
}

static uint64_t latest(const struct cprepair *cm)
{
	return cm->check->vol->latest.cno;
}

/* LINKS say which checkpoints have snapshots for neighbours. */
static int note_links(struct cprepair *cm, struct context *cx,
		      const struct nilfs_snapshot_list *links)
{
	uint64_t next = le64_get(links->ssl_next);
	uint64_t prev = le64_get(links->ssl_prev);
	int ret = 0;

	if (next && next <= latest(cm))
		ret = sparse_add(&cm->on, cx, next);
	if (ret >= 0 && prev && prev <= latest(cm))
		ret = sparse_add(&cm->back, cx, prev);
	return ret < 0 ? ret : 0;
}

/*
 * Whether the block is none of the cpfile, or another one: most of the
 * checkpoints that it should have do not have their numbers.
 */
static bool is_foreign(const struct cprepair *cm, const struct cpblock *b)
{
	const struct nilfs_geometry *geo = geo_of(cm);
	uint64_t first = checkpoint_first(geo, b->blkoff), cno;
	uint64_t end = first + checkpoint_count(geo, b->blkoff);
	const struct nilfs_checkpoint *cp;
	uint32_t made = 0, right = 0;

	for (cno = first; cno < end && cno <= latest(cm); cno++, made++) {
		cp = (const void *)((const char *)b->data +
				    checkpoint_offset(geo, cno));
		right += le64_get(cp->cp_cno) == cno &&
			 checkpoint_check(cp, cno) != RULE_CP_FLAGS;
	}
	return right < made - made / 2;
}

/* What the header and the entries of all blocks have of the list. */
static int note_list(struct cprepair *cm, struct context *cx)
{
	const struct nilfs_geometry *geo = geo_of(cm);
	struct cpblock b = { .data = malloc(geo->block_size) };
	const struct nilfs_cpfile_header *header = b.data;
	const struct nilfs_checkpoint *cp;
	uint64_t first, cno;
	size_t i;
	int err = b.data ? 0 : fail(cx, -ENOMEM, "block of the cpfile");

	for (i = 0; i < cm->blocks.n && !err; i++) {
		b.blkoff = cm->blocks.blkoffs[i];
		err = cpblocks_read(&cm->blocks, cx, &b);
		if (err || is_foreign(cm, &b))
			continue;
		if (!b.blkoff)
			err = note_links(cm, cx, &header->ch_snapshot_list);
		first = checkpoint_first(geo, b.blkoff);
		for (cno = first;
		     cno < first + checkpoint_count(geo, b.blkoff) && !err;
		     cno++) {
			cp = (const void *)((const char *)b.data +
					    checkpoint_offset(geo, cno));
			if (checkpoint_is_snapshot(cp) &&
			    le64_get(cp->cp_cno) == cno)
				err = note_links(cm, cx, &cp->cp_snapshot_list);
		}
	}
	free(b.data);
	return err;
}

int cprepair_init(struct cprepair *cm, struct context *cx)
{
	int err = cpblocks_init(&cm->blocks, cx, cm->check);

	if (!err)
		err = sparse_init(&cm->on, cx, latest(cm) + 1);
	if (!err)
		err = sparse_init(&cm->back, cx, latest(cm) + 1);
	return err ? err : note_list(cm, cx);
}

void cprepair_fini(struct cprepair *cm)
{
	cpblocks_fini(&cm->blocks);
	sparse_fini(&cm->on);
	sparse_fini(&cm->back);
	free(cm->snapshots);
}

/* An entry on its way. */
struct entry {
	struct nilfs_checkpoint *cp;
	uint64_t cno;
	const struct cpblock *in;
	bool foreign;		/* that block is no such block */
	bool salvaged;		/* what the block said of it is lost */
};

static void change_flags(struct nilfs_checkpoint *cp, uint32_t set,
			 uint32_t clear)
{
	cp->cp_flags = le32_make((le32_get(cp->cp_flags) | set) & ~clear);
}

/* From older copies, as logs and DAT have it, or not at all. */
static int salvage_entry(const struct cprepair *cm, struct context *cx,
			 struct entry *e)
{
	unsigned long long cno = e->cno;
	le32 count = e->cp->cp_checkpoints_count;
	struct nilfs_checkpoint new = { .cp_cno = le64_make(0) };
	const char *how = "taken from an older log";
	int ret = cpblocks_entry(&cm->blocks.copies, cx, cno, e->in->blocknr,
				 &new);

	e->salvaged = true;
	if (!ret && (cno == latest(cm) || cno == e->in->written ||
		     le64_get(new.cp_cno) != cno ||
		     !checkpoint_is_invalid(&new))) {
		how = "restored from the logs";
		ret = pieces_checkpoint(cm->check, cx, cno, &new);
		if (ret > 0)
			ret = cpblocks_is_followable(cm->check, cx, &new, cno);
		/* It may be its ifile that is damaged. */
		if (!ret && !e->foreign &&
		    checkpoint_check(e->cp, cno) == RULE_OK &&
		    !checkpoint_is_invalid(e->cp))
			return 0;
		if (!ret)
			fixers_note(cm->job, "checkpoint %llu: nothing is left "
				    "of it", cno);
	}
	if (ret < 0)
		return ret;
	if (ret) {
		fixers_note(cm->job, "checkpoint %llu: %s", cno, how);
		*e->cp = new;
	} else {
		memset(e->cp, 0, sizeof(*e->cp));
		e->cp->cp_cno = le64_make(cno);
		e->cp->cp_flags = le32_make(INVALID);
	}
	e->cp->cp_checkpoints_count = count;
	return 0;
}

/* An entry that says it is valid, and may be outdated or damaged. */
static int repair_valid(const struct cprepair *cm, struct context *cx,
			struct entry *e)
{
	bool numbered = le64_get(e->cp->cp_cno) == e->cno;
	int ret = 0;

	if (numbered && e->in->origin == CPBLOCKS_MAPPED)
		ret = cpblocks_has(&cm->blocks.copies, cx, e->cp, e->cno,
				   e->in->blocknr);
	if (!ret)
		ret = cpblocks_is_followable(cm->check, cx, e->cp, e->cno);
	if (ret < 0)
		return ret;
	if (!ret)
		return salvage_entry(cm, cx, e);
	if (numbered)
		return 0;
	fixers_note(cm->job, "checkpoint %llu: has its number again",
		    (unsigned long long)e->cno);
	e->cp->cp_cno = le64_make(e->cno);
	return 0;
}

/* An entry that says it was deleted. */
static int repair_invalid(const struct cprepair *cm, struct context *cx,
			  struct entry *e)
{
	bool on = sparse_test(&cm->on, e->cno);
	bool back = sparse_test(&cm->back, e->cno);
	int ret = 0;

	if (e->cno == e->in->written || le64_get(e->cp->cp_cno) != e->cno)
		return salvage_entry(cm, cx, e);
	if (e->cno == latest(cm) || (on && back) ||
	    (checkpoint_is_snapshot(e->cp) && (on || back)))
		ret = cpblocks_is_followable(cm->check, cx, e->cp, e->cno);
	if (ret < 0)
		return ret;
	if (!ret && (e->cno == latest(cm) || (on && back)))
		return salvage_entry(cm, cx, e);
	change_flags(e->cp, 0, ret ? INVALID : SNAPSHOT);
	if (!ret)
		return 0;
	fixers_note(cm->job, "checkpoint %llu: is no longer deleted",
		    (unsigned long long)e->cno);
	e->cp->cp_cno = le64_make(e->cno);
	return 0;
}

/* An entry of a checkpoint that was made. */
static int repair_made(const struct cprepair *cm, struct context *cx,
		       struct entry *e)
{
	bool on = sparse_test(&cm->on, e->cno);
	bool back = sparse_test(&cm->back, e->cno);
	bool unknown = le32_get(e->cp->cp_flags) & ~KNOWN_FLAGS;
	int err = 0;

	/* Unknown flags of an entry with its number are alone in being wrong. */
	if (e->foreign || (unknown && le64_get(e->cp->cp_cno) != e->cno))
		err = salvage_entry(cm, cx, e);
	else if (unknown)
		change_flags(e->cp, 0, ~KNOWN_FLAGS);
	if (!err && !e->foreign)
		err = checkpoint_is_invalid(e->cp) ? repair_invalid(cm, cx, e) :
						     repair_valid(cm, cx, e);
	/* Whether the list has it, as far as one can know. */
	if (err || checkpoint_is_invalid(e->cp) ||
	    checkpoint_is_snapshot(e->cp) ||
	    !(e->salvaged ? on || back : on && back))
		return err;
	fixers_note(cm->job, "checkpoint %llu: is a snapshot again",
		    (unsigned long long)e->cno);
	change_flags(e->cp, SNAPSHOT, 0);
	return 0;
}

static int repair_entries(struct cprepair *cm, struct context *cx,
			  struct cprepair_block *b)
{
	const struct nilfs_geometry *geo = geo_of(cm);
	uint64_t first = checkpoint_first(geo, b->is.blkoff);
	uint32_t count = checkpoint_count(geo, b->is.blkoff), i;
	struct nilfs_checkpoint before;
	struct entry e = {
		.in = &b->is,
		.foreign = is_foreign(cm, &b->is),
	};
	int err;

	b->valid = 0;
	for (i = 0; i < count; i++) {
		e.cno = first + i;
		e.salvaged = false;
		e.cp = (void *)((char *)b->is.data +
				checkpoint_offset(geo, e.cno));
		before = *e.cp;
		if (e.cno <= latest(cm)) {
			err = repair_made(cm, cx, &e);
			if (err)
				return err;
		} else if (!checkpoint_is_invalid(e.cp)) {
			e.cp->cp_flags = le32_make(INVALID);
		}
		b->changed |= memcmp(&before, e.cp, sizeof(before)) != 0;
		if (checkpoint_is_invalid(e.cp))
			continue;
		b->valid++;
		if (!checkpoint_is_snapshot(e.cp))
			continue;
		if (array_reserve(cx, &cm->snapshots, &cm->snapshots_room,
				  cm->nsnapshots + 1))
			return -ENOMEM;
		cm->snapshots[cm->nsnapshots++] = e.cno;
	}
	return 0;
}

/* Reads and repairs block B, of which is.blkoff and is.data are given. */
static int repair_block(struct cprepair *cm, struct context *cx,
			struct cprepair_block *b)
{
	struct nilfs_checkpoint *first = b->is.data;
	int err = cpblocks_read(&cm->blocks, cx, &b->is);

	b->changed = !b->is.vblocknr;
	if (!err)
		err = repair_entries(cm, cx, b);
	if (err)
		return err;
	cm->valid += b->valid;
	if (b->is.blkoff &&
	    le32_get(first->cp_checkpoints_count) != b->valid) {
		first->cp_checkpoints_count = le32_make(b->valid);
		b->changed = true;
	}
	return 0;
}

static int put_blocks(struct cprepair *cm, struct context *cx)
{
	struct cprepair_block b = { .is.data = malloc(geo_of(cm)->block_size) };
	size_t i;
	int err = b.is.data ? 0 : fail(cx, -ENOMEM, "block of the cpfile");

	for (i = 0; i < cm->blocks.n && !err; i++) {
		unsigned long long blkoff = cm->blocks.blkoffs[i];

		b.is.blkoff = blkoff;
		err = repair_block(cm, cx, &b);
		if (!err)
			err = cm->put(cm->arg, cx, &b);
		if (err)
			break;
		if (b.changed && b.is.origin == CPBLOCKS_MAPPED)
			fixers_note(cm->job, "checkpoints of block %llu: made "
				    "right", blkoff);
		else if (b.valid && b.is.origin != CPBLOCKS_MAPPED)
			fixers_note(cm->job, "checkpoints of block %llu: from "
				    "the logs", blkoff);
	}
	free(b.is.data);
	return err;
}

/* Changes SIZE bytes of the file at OFFSET of block BLKOFF to those of NEW. */
static int change_bytes(const struct cprepair *cm, struct context *cx,
			uint64_t blkoff, size_t offset, const void *new,
			size_t size)
{
	char *buf = calloc(1, geo_of(cm)->block_size);
	int ret = buf ? cm->look(cm->arg, cx, blkoff, buf) :
			fail(cx, -ENOMEM, "block of the cpfile");

	if (ret > 0 && !memcmp(buf + offset, new, size)) {
		ret = 0;
	} else if (ret >= 0) {
		memcpy(buf + offset, new, size);
		ret = cm->change(cm->arg, cx, blkoff, buf);
		ret = ret ? ret : 1;
	}
	free(buf);
	return ret;
}

int cprepair_change(const struct cprepair *cm, struct context *cx,
		    uint64_t cno, size_t field, const void *new, size_t size)
{
	return change_bytes(cm, cx, checkpoint_blkoff(geo_of(cm), cno),
			    checkpoint_offset(geo_of(cm), cno) + field, new,
			    size);
}

/* Links the snapshots, each to the one before it and the one after it. */
static int link_snapshots(struct cprepair *cm, struct context *cx)
{
	const uint64_t *snapshots = cm->snapshots;
	size_t i, n = cm->nsnapshots;
	bool changed = false;
	int ret = 0;

	for (i = 0; i < n && ret >= 0; i++) {
		const struct nilfs_snapshot_list links = {
			.ssl_next = le64_make(i + 1 < n ? snapshots[i + 1] : 0),
			.ssl_prev = le64_make(i ? snapshots[i - 1] : 0),
		};

		ret = cprepair_change(cm, cx, snapshots[i],
				      offsetof(struct nilfs_checkpoint,
					       cp_snapshot_list),
				      &links, sizeof(links));
		changed |= ret > 0;
	}
	if (changed)
		fixers_note(cm->job, "list of snapshots: linked again");
	return ret < 0 ? ret : 0;
}

int cprepair_write(struct cprepair *cm, struct context *cx)
{
	struct nilfs_cpfile_header header = { .ch_ncheckpoints = le64_make(0) };
	size_t n;
	int ret = put_blocks(cm, cx);

	if (!ret)
		ret = link_snapshots(cm, cx);
	if (ret)
		return ret;
	n = cm->nsnapshots;
	header.ch_ncheckpoints = le64_make(cm->valid);
	header.ch_nsnapshots = le64_make(n);
	if (n) {
		header.ch_snapshot_list.ssl_next = le64_make(cm->snapshots[0]);
		header.ch_snapshot_list.ssl_prev =
			le64_make(cm->snapshots[n - 1]);
	}
	ret = change_bytes(cm, cx, 0, 0, &header, sizeof(header));
	if (ret > 0)
		fixers_note(cm->job, "header of checkpoints: %llu, and of "
			    "these %zu snapshots",
			    (unsigned long long)cm->valid, n);
	return ret < 0 ? ret : 0;
}
