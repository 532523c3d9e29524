// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of checkpoints, repaired.
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

static int note_block(struct cprepair *cm, struct context *cx,
		      const struct cpblock *b)
{
	const struct nilfs_geometry *geo = geo_of(cm);
	uint64_t first = checkpoint_first(geo, b->blkoff), cno;
	uint32_t count = checkpoint_count(geo, b->blkoff);
	const struct nilfs_cpfile_header *header = b->data;
	int err = 0;

	if (!b->blkoff)
		err = note_links(cm, cx, &header->ch_snapshot_list);
	for (cno = first; cno < first + count && !err; cno++) {
		const struct nilfs_checkpoint *cp =
			(const void *)((const char *)b->data +
				       checkpoint_offset(geo, cno));

		if (checkpoint_is_snapshot(cp) && le64_get(cp->cp_cno) == cno)
			err = note_links(cm, cx, &cp->cp_snapshot_list);
	}
	return err;
}

static int note_all(struct cprepair *cm, struct context *cx)
{
	struct cpblock b = { .data = malloc(geo_of(cm)->block_size) };
	size_t i;
	int err = b.data ? 0 : fail(cx, -ENOMEM, "block of the cpfile");

	for (i = 0; i < cm->blocks.n && !err; i++) {
		b.blkoff = cm->blocks.blkoffs[i];
		err = cpblocks_read(&cm->blocks, cx, &b);
		if (!err && !is_foreign(cm, &b))
			err = note_block(cm, cx, &b);
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
	return err ? err : note_all(cm, cx);
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

static void set_flags(const struct entry *e, uint32_t flags)
{
	e->cp->cp_flags = le32_make(flags);
}

static uint32_t flags_of(const struct entry *e)
{
	return le32_get(e->cp->cp_flags);
}

/* The entry as the logs and the DAT have it: 1, 0 where it cannot be. */
static int derive_entry(const struct cprepair *cm, struct context *cx,
			struct entry *e)
{
	le32 count = e->cp->cp_checkpoints_count;
	struct nilfs_checkpoint derived;
	int ret = pieces_checkpoint(cm->check, cx, e->cno, &derived);

	if (ret > 0)
		ret = cpcopies_is_followable(cm->check, cx, &derived, e->cno);
	if (ret <= 0)
		return ret;
	*e->cp = derived;
	e->cp->cp_checkpoints_count = count;
	fixers_note(cm->job, "checkpoint %llu: restored from the logs",
		    (unsigned long long)e->cno);
	return 1;
}

/* From older copies, or not at all. */
static int salvage_entry(const struct cprepair *cm, struct context *cx,
			 struct entry *e)
{
	le32 count = e->cp->cp_checkpoints_count;
	struct nilfs_checkpoint old = { .cp_cno = le64_make(0) };
	int ret = cpcopies_entry(&cm->blocks.copies, cx, e->cno,
				 e->in->blocknr, &old);

	e->salvaged = true;
	if (ret < 0)
		return ret;
	if (ret) {
		fixers_note(cm->job, "checkpoint %llu: taken from an older log",
			    (unsigned long long)e->cno);
		*e->cp = old;
		e->cp->cp_checkpoints_count = count;
		return 0;
	}
	if (e->cno == latest(cm) || e->cno == e->in->written ||
	    le64_get(old.cp_cno) != e->cno || !checkpoint_is_invalid(&old)) {
		ret = derive_entry(cm, cx, e);
		if (ret)
			return ret < 0 ? ret : 0;
		/* It may be its ifile that is damaged. */
		if (!e->foreign && checkpoint_check(e->cp, e->cno) == RULE_OK &&
		    !checkpoint_is_invalid(e->cp))
			return 0;
		fixers_note(cm->job, "checkpoint %llu: nothing is left of it",
			    (unsigned long long)e->cno);
	}
	memset(e->cp, 0, sizeof(*e->cp));
	e->cp->cp_checkpoints_count = count;
	e->cp->cp_cno = le64_make(e->cno);
	set_flags(e, INVALID);
	return 0;
}

/* An entry that says it is valid, and may be outdated or damaged. */
static int repair_valid(const struct cprepair *cm, struct context *cx,
			struct entry *e)
{
	bool numbered = le64_get(e->cp->cp_cno) == e->cno;
	int ret = 0;

	if (numbered && e->in->origin == CPBLOCKS_MAPPED)
		ret = cpcopies_has(&cm->blocks.copies, cx, e->cp, e->cno,
				   e->in->blocknr);
	if (!ret)
		ret = cpcopies_is_followable(cm->check, cx, e->cp, e->cno);
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
		ret = cpcopies_is_followable(cm->check, cx, e->cp, e->cno);
	if (ret < 0)
		return ret;
	if (!ret && (e->cno == latest(cm) || (on && back)))
		return salvage_entry(cm, cx, e);
	set_flags(e, flags_of(e) & ~(ret ? INVALID : SNAPSHOT));
	if (!ret)
		return 0;
	fixers_note(cm->job, "checkpoint %llu: is no longer deleted",
		    (unsigned long long)e->cno);
	e->cp->cp_cno = le64_make(e->cno);
	return 0;
}

/* Unknown flags of an entry with its number are alone in being wrong. */
static int repair_flags(const struct cprepair *cm, struct context *cx,
			struct entry *e)
{
	if (!(flags_of(e) & ~KNOWN_FLAGS))
		return 0;
	if (le64_get(e->cp->cp_cno) != e->cno)
		return salvage_entry(cm, cx, e);
	set_flags(e, flags_of(e) & KNOWN_FLAGS);
	return 0;
}

/* Whether the list of snapshots has it, as far as one can know. */
static bool is_listed(const struct cprepair *cm, const struct entry *e)
{
	bool on = sparse_test(&cm->on, e->cno);
	bool back = sparse_test(&cm->back, e->cno);

	return e->salvaged ? on || back : on && back;
}

static int repair_made(const struct cprepair *cm, struct context *cx,
		       struct entry *e)
{
	int err = e->foreign ? salvage_entry(cm, cx, e) : repair_flags(cm, cx,
								       e);

	if (!err && !e->foreign)
		err = checkpoint_is_invalid(e->cp) ? repair_invalid(cm, cx, e) :
						     repair_valid(cm, cx, e);
	if (err || checkpoint_is_invalid(e->cp) ||
	    checkpoint_is_snapshot(e->cp) || !is_listed(cm, e))
		return err;
	fixers_note(cm->job, "checkpoint %llu: is a snapshot again",
		    (unsigned long long)e->cno);
	set_flags(e, flags_of(e) | SNAPSHOT);
	return 0;
}

static int add_snapshot(struct cprepair *cm, struct context *cx, uint64_t cno)
{
	if (array_reserve(cx, &cm->snapshots, &cm->snapshots_room,
			  cm->nsnapshots + 1))
		return -ENOMEM;
	cm->snapshots[cm->nsnapshots++] = cno;
	return 0;
}

static int repair_entry(struct cprepair *cm, struct context *cx,
			struct cprepair_block *b, struct entry *e)
{
	int err = 0;

	if (e->cno > latest(cm)) {
		if (!checkpoint_is_invalid(e->cp))
			set_flags(e, INVALID);
		return 0;
	}
	err = repair_made(cm, cx, e);
	if (err || checkpoint_is_invalid(e->cp))
		return err;
	b->valid++;
	if (!checkpoint_is_snapshot(e->cp))
		return 0;
	return add_snapshot(cm, cx, e->cno);
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
	int err = 0;

	b->valid = 0;
	for (i = 0; i < count && !err; i++) {
		e.cno = first + i;
		e.salvaged = false;
		e.cp = (void *)((char *)b->is.data +
				checkpoint_offset(geo, e.cno));
		before = *e.cp;
		err = repair_entry(cm, cx, b, &e);
		b->changed |= memcmp(&before, e.cp, sizeof(before)) != 0;
	}
	return err;
}

int cprepair_block(struct cprepair *cm, struct context *cx,
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
