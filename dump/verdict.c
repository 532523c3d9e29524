// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether a block is live.
 *
 * A block with a virtual number is looked up in the DAT: whether the entry
 * still points to it, and which checkpoints have it.  Blocks of the DAT itself
 * have no such number and no history; they are live if the DAT's own map refers
 * to them.
 */
#include "dump/verdict.h"

#include "dump/logfind.h"
#include "dump/mapwalk.h"
#include "vol/volume.h"

static const struct {
	const char *name, *text;
} words[] = {
	[VERDICT_CURRENT] = { "current", "live: part of the latest state" },
	[VERDICT_SNAPSHOT] = { "snapshot", "live: kept by a snapshot" },
	[VERDICT_CHECKPOINT] = { "checkpoint",
		"reclaimable: only in checkpoints that are no snapshots" },
	[VERDICT_DEAD] = { "dead", "dead: no checkpoint has it any longer" },
	[VERDICT_MOVED] = { "moved",
		"dead: a copy elsewhere has taken its place" },
	[VERDICT_REUSED] = { "reused",
		"dead: its virtual block belongs to another one now" },
	[VERDICT_FREED] = { "freed", "dead: its virtual block is free" },
	[VERDICT_REPLACED] = { "replaced",
		"dead: the DAT has been rewritten elsewhere" },
};

const char *verdict_name(enum verdict verdict)
{
	return words[verdict].name;
}

const char *verdict_text(enum verdict verdict)
{
	return words[verdict].text;
}

static enum verdict verdict_of(enum held_state state)
{
	switch (state) {
	case HELD_CURRENT:
		return VERDICT_CURRENT;
	case HELD_SNAPSHOT:
		return VERDICT_SNAPSHOT;
	case HELD_CHECKPOINT:
		return VERDICT_CHECKPOINT;
	case HELD_DEAD:
		return VERDICT_DEAD;
	default:
		return VERDICT_FREED;
	}
}

static bool is_same(const struct segsum_block *a, const struct segsum_block *b)
{
	return a->ino == b->ino && a->blkoff == b->blkoff &&
	       a->is_node == b->is_node && a->vblocknr == b->vblocknr;
}

/* The entry leads elsewhere: to a copy of this block or to another one? */
static int judge_elsewhere(struct verdict_facts *v, struct context *cx,
			   struct volume *vol, const struct segsum_block *b)
{
	struct logfind f;
	int err;

	v->elsewhere = le64_get(v->entry.de.de_blocknr);
	v->verdict = VERDICT_REUSED;
	if (!geometry_has_block(&vol->geo, v->elsewhere))
		return 0;
	err = logfind_block(&f, cx, vol, v->elsewhere);
	if (!err && f.part == LOGFIND_PAYLOAD && is_same(&f.block, b))
		v->verdict = VERDICT_MOVED;
	return err;
}

static int judge_virtual(struct verdict_facts *v, struct context *cx,
			 struct volume *vol, const struct held *held,
			 uint64_t blocknr, const struct segsum_block *b)
{
	int err;

	err = datentry_read(&v->entry, cx, vol, held, b->vblocknr);
	if (err)
		return err;
	v->verdict = verdict_of(v->entry.state);
	if (!v->entry.used || le64_get(v->entry.de.de_blocknr) == blocknr)
		return 0;
	return judge_elsewhere(v, cx, vol, b);
}

static int judge_dat(struct verdict_facts *v, struct context *cx,
		     struct volume *vol, uint64_t blocknr,
		     const struct segsum_block *b)
{
	const struct blockmap *map = &vol->dat.map;
	int ret;

	if (b->is_node)
		ret = mapwalk_node(map, cx, b->blkoff, b->level,
				   &v->elsewhere);
	else
		ret = blockmap_lookup(map, cx, b->blkoff, &v->elsewhere);
	if (ret <= 0)
		v->elsewhere = 0;
	v->verdict = v->elsewhere == blocknr ? VERDICT_CURRENT :
					       VERDICT_REPLACED;
	if (v->verdict == VERDICT_CURRENT)
		v->elsewhere = 0;
	return ret < 0 ? ret : 0;
}

int verdict_find(struct verdict_facts *v, struct context *cx,
		 struct volume *vol, const struct held *held,
		 uint64_t blocknr, const struct segsum_block *b)
{
	*v = (struct verdict_facts){ .verdict = VERDICT_DEAD };
	if (b->is_virtual)
		return judge_virtual(v, cx, vol, held, blocknr, b);
	return judge_dat(v, cx, vol, blocknr, b);
}
