// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing the cpfile of both sides.
 *
 * Blocks of the cpfile to which the map or the DAT before the repair do not
 * lead are searched in the logs.  The content of an invalid block is not known;
 * its checkpoints that are missing after the repair are named, although some of
 * them may have been deleted long before.
 */
#include "fsck/account/comparecps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "check/damage.h"
#include "disk/checkpoint.h"
#include "fsck/account/comparefile.h"
#include "fsck/account/expected.h"
#include "vol/cptable.h"

struct walk {
	struct comparecps *c;
	struct sides *s;
	struct versions versions; /* of the cpfile alone */
	struct expected e;
	bool again; /* VERSIONS were gathered: losses are added */
	bool doubt;
};

static void set_state(struct comparecps_state *state,
		      const struct nilfs_checkpoint *cp)
{
	state->is_known = true;
	state->ifile = cp->cp_ifile_inode;
	state->inodes = le64_get(cp->cp_inodes_count);
}

static int add_state(struct walk *w, struct context *cx, uint64_t cno,
		     const struct nilfs_checkpoint *cp)
{
	struct comparecps *c = w->c;

	if (array_reserve(cx, &c->states, &c->room, c->n + 1))
		return -ENOMEM;
	c->states[c->n] = (struct comparecps_state){.cno = cno};
	if (cp)
		set_state(&c->states[c->n], cp);
	c->n++;
	return 0;
}

static bool is_cpfile_block(const struct walk *w, const void *block,
			    uint64_t blkoff)
{
	const struct nilfs_geometry *g = &w->s->before->geo;
	uint64_t cno = checkpoint_first(g, blkoff);
	uint32_t i;

	for (i = 0; i < checkpoint_count(g, blkoff); i++, cno++)
		if (cno <= w->s->before->latest.cno &&
		    checkpoint_check((const void *)((const char *)block +
						    checkpoint_offset(g, cno)),
				     cno) != RULE_OK)
			return false;
	return true;
}

static void lose_plain(struct walk *w, struct context *cx, enum loss_kind kind,
		       uint64_t cno, const struct nilfs_checkpoint *cp)
{
	const struct loss loss = {
		.kind = kind,
		.cno = cno,
		.last = cno,
		.snapshot = cp && checkpoint_is_snapshot(cp),
		.time = cp ? le64_get(cp->cp_create) : 0,
	};

	losslist_add(w->s->losses, cx, &loss, NULL, 0);
}

/* CP is NULL where it is not known what was there. */
static int compare_entry(struct walk *w, struct context *cx, uint64_t cno,
			 const struct nilfs_checkpoint *cp)
{
	struct nilfs_checkpoint now;
	int err;

	if (cp && checkpoint_is_invalid(cp))
		return 0;
	err = cptable_read(w->s->after, cx, cno, &now);
	if (err && damage_is(err)) {
		fail_clear(cx);
		lose_plain(w, cx, LOSS_CHECKPOINT, cno, cp);
		return 0;
	}
	if (err)
		return err;
	if (cp && checkpoint_is_snapshot(cp) && !checkpoint_is_snapshot(&now))
		lose_plain(w, cx, LOSS_MARK, cno, cp);
	if (cno == w->s->before->latest.cno) {
		if (cp && !w->c->states[0].is_known)
			set_state(&w->c->states[0], cp);
		return 0;
	}
	if (cp ? checkpoint_is_snapshot(cp) : checkpoint_is_snapshot(&now))
		return add_state(w, cx, cno, cp);
	return 0;
}

/* Block BLKOFF as it was, or NULL where that is not known. */
static int compare_block(struct walk *w, struct context *cx, uint64_t blkoff,
			 const char *block)
{
	const struct nilfs_geometry *g = &w->s->before->geo;
	uint64_t cno = checkpoint_first(g, blkoff), known = UINT64_MAX, end;
	uint64_t latest = w->s->before->latest.cno;
	const char *cp;
	int err = 0;

	end = cno + checkpoint_count(g, blkoff);
	/*
	 * The latest checkpoint cannot have been deleted: a block that does not have
	 * it is an older version, in which those after its last one did not exist yet.
	 */
	if (block && latest >= cno && latest < end)
		for (known = latest; known >= cno; known--) {
			cp = block + checkpoint_offset(g, known);
			if (!checkpoint_is_invalid((const void *)cp))
				break;
		}
	for (; cno < end && cno <= latest && !err; cno++) {
		cp = block && cno <= known ?
			     block + checkpoint_offset(g, cno) : NULL;
		err = compare_entry(w, cx, cno, (const void *)cp);
	}
	return err ? err : context_cancelled(cx);
}

static bool read_block(struct walk *w, struct context *cx, uint64_t blkoff,
		       uint64_t blocknr)
{
	return blocknr && sides_read(w->s, cx, false, blocknr) &&
	       is_cpfile_block(w, w->s->blocks[0], blkoff);
}

static int visit_plain(void *arg, struct context *cx,
		       const struct expected_block *b)
{
	struct walk *w = arg;
	bool is_good = read_block(w, cx, b->blkoff, b->blocknr);
	const struct version *one;

	w->doubt |= !is_good;
	if (!w->again)
		return 0;
	one = is_good ? NULL :
			expected_version(&w->e, cx, b->blkoff, b->vblocknr);
	is_good |= one && read_block(w, cx, b->blkoff, one->blocknr);
	return compare_block(w, cx, b->blkoff,
			     is_good ? w->s->blocks[0] : NULL);
}

static int walk_plain(struct walk *w, struct context *cx)
{
	const struct sides_state latest = {.cno = w->s->before->latest.cno};

	w->e = comparefile_walk(w->s, &latest, NILFS_CPFILE_INO,
				&w->s->before->cpfile.inode);
	w->e.versions = &w->versions;
	w->e.visit = visit_plain;
	w->e.arg = w;
	return damage_forgive(cx, expected_run(&w->e, cx));
}

int comparecps_run(struct comparecps *c, struct sides *s, struct context *cx,
		   const struct bitmap *used)
{
	struct walk w = {.c = c, .s = s};
	uint64_t latest = s->before->latest.cno;
	struct nilfs_checkpoint cp;
	bool is_read = !cptable_read(s->before, cx, latest, &cp);
	int err;

	fail_clear(cx);
	versions_init(&w.versions, s->before, s->logs_before, used);
	err = add_state(&w, cx, latest, is_read ? &cp : NULL);
	if (!err)
		err = walk_plain(&w, cx);
	if (!err && (w.doubt || w.e.doubt)) {
		err = versions_want(&w.versions, cx, NILFS_CPFILE_INO,
				    NILFS_CPFILE_INO + 1);
		if (!err)
			err = versions_gather(&w.versions, cx);
	}
	w.again = true;
	if (!err)
		err = walk_plain(&w, cx);
	versions_fini(&w.versions);
	return err;
}

void comparecps_fini(struct comparecps *c)
{
	free(c->states);
	*c = (struct comparecps){.states = NULL};
}
