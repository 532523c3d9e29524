// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of a file before the repair.
 *
 * A damaged map is still partly readable: everything beside the broken node,
 * and a pointer whose DAT entry is lost still has the number of the virtual
 * block.  The logs list which blocks were written for the rest of the file.
 * Which of these belonged to it at a checkpoint follows from the DAT, as far as
 * its entries can be read; if it has none, the newest is taken.
 */
#include "fsck/account/expected.h"

#include "check/damage.h"
#include "check/mapcheck.h"
#include "disk/dat.h"
#include "vol/translate.h"
#include "vol/volume.h"

enum life {
	LIFE_DEAD,
	LIFE_UNKNOWN,
	LIFE_ALIVE,
};

/* What the DAT says of version ONE at the checkpoint. */
static enum life life_of(const struct expected *e, struct context *cx,
			 const struct version *one)
{
	struct segsum_block listed;
	struct nilfs_dat_entry de;

	if (one->cno > e->vol->latest.cno)
		return LIFE_UNKNOWN;
	if (translate_entry(e->vol, cx, one->vblocknr, &de)) {
		fail_clear(cx);
		return LIFE_UNKNOWN;
	}
	/* As nilfs_dat_commit_free() leaves an entry. */
	if (dat_is_unwritten(&de) && le64_get(de.de_start) == NILFS_CNO_MIN &&
	    le64_get(de.de_end) == NILFS_CNO_MIN)
		return LIFE_DEAD;
	/* An entry that leads to another block says nothing of this one. */
	if (dat_check(&e->vol->geo, &de, e->vol->latest.cno) != RULE_OK ||
	    dat_is_unwritten(&de) ||
	    (versions_listed(e->versions, cx, le64_get(de.de_blocknr),
			     &listed) && listed.vblocknr != one->vblocknr))
		return LIFE_UNKNOWN;
	return dat_is_in(&de, e->cno) ? LIFE_ALIVE : LIFE_DEAD;
}

bool expected_is_dead(const struct expected *e, struct context *cx,
		      uint64_t vblocknr)
{
	const struct version one = {.vblocknr = vblocknr};

	return vblocknr && life_of(e, cx, &one) == LIFE_DEAD;
}

const struct version *expected_version(const struct expected *e,
				       struct context *cx, uint64_t blkoff,
				       uint64_t vblocknr)
{
	const struct version *unsure = NULL, *one;
	size_t i = versions_from(e->versions, e->ino, blkoff);
	enum life life;

	for (; (one = versions_at(e->versions, i, e->ino, blkoff)); i++) {
		if (one->cno > e->cno ||
		    (vblocknr && one->vblocknr != vblocknr))
			continue;
		if (vblocknr)
			return one;
		life = life_of(e, cx, one);
		if (life == LIFE_ALIVE)
			return one;
		if (life == LIFE_UNKNOWN && !unsure)
			unsure = one;
	}
	return unsure;
}

static int visit_unknown(struct expected *e, struct context *cx,
			 uint64_t blkoff, uint64_t end)
{
	return e->unknown && blkoff < end ? e->unknown(e->arg, cx, blkoff, end) :
					    0;
}

/* Blocks [KEY, END) of which no pointer could be read. */
static int visit_gap(void *arg, struct context *cx, uint64_t key, uint64_t end)
{
	struct expected *e = arg;
	const struct versions *v = e->versions;
	const struct version *one;
	struct expected_block b;
	size_t i;
	int err = 0;

	if (!e->doubt || key < e->doubt_first)
		e->doubt_first = key;
	if (!e->doubt || end > e->doubt_end)
		e->doubt_end = end;
	e->doubt = true;
	if (!v->gathered)
		return 0;
	end = end < e->limit ? end : e->limit;
	i = versions_from(v, e->ino, key);
	while (i < v->n && v->items[i].ino == e->ino &&
	       v->items[i].blkoff < end && !err) {
		b = (struct expected_block){.blkoff = v->items[i].blkoff};
		err = visit_unknown(e, cx, key, b.blkoff);
		key = b.blkoff + 1;
		one = expected_version(e, cx, b.blkoff, 0);
		if (one && !err) {
			b.blocknr = one->blocknr;
			err = e->visit(e->arg, cx, &b);
		}
		while (versions_at(v, i, e->ino, b.blkoff))
			i++;
	}
	return err ? err : visit_unknown(e, cx, key, end);
}

/* The position of VBLOCKNR: 1, 0 if the DAT has none, or a failure. */
static int find_place(const struct expected *e, struct context *cx,
		      uint64_t vblocknr, uint64_t *blocknr)
{
	int err = translate_vblock(e->vol, cx, vblocknr, blocknr);

	if (!err)
		return 1;
	return damage_forgive(cx, err);
}

static int visit_node(void *arg, struct context *cx,
		      const struct mapcheck_pointer *p, uint64_t *blocknr,
		      struct lifetime *life)
{
	struct expected *e = arg;
	int ret = find_place(e, cx, p->ptr, blocknr), err = 0;

	*life = p->within;
	if (!ret)
		*blocknr = 0;
	if (ret > 0 && e->nodes)
		err = sides_compare_node(e->nodes, cx, p->ptr, *blocknr);
	return err ? err : ret;
}

static int visit_blocks(void *arg, struct context *cx,
			const struct mapcheck_blocks *blocks)
{
	struct expected *e = arg;
	struct expected_block b;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < blocks->count && ret >= 0; i++) {
		b = (struct expected_block){
			.blkoff = blocks->keys ? le64_get(blocks->keys[i]) : i,
			.vblocknr = le64_get(blocks->ptrs[i]),
		};
		if (!b.vblocknr || b.blkoff >= e->limit)
			continue;
		ret = find_place(e, cx, b.vblocknr, &b.blocknr);
		if (ret >= 0)
			ret = e->visit(e->arg, cx, &b);
	}
	return ret < 0 ? ret : 0;
}

int expected_run(struct expected *e, struct context *cx)
{
	struct mapcheck m = {
		.vol = e->vol,
		.findings = e->findings,
		.cno = e->cno,
		.ino = e->ino,
		.visit = visit_node,
		.visit_blocks = visit_blocks,
		.skip = visit_gap,
		.arg = e,
	};
	int ret;

	if (!e->inode)
		return visit_gap(e, cx, 0, UINT64_MAX);
	ret = mapcheck_run(&m, cx, e->inode);
	return ret < 0 ? ret : 0;
}
