// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The data beside metadata that was written over.
 *
 * Data has no other witness than the checksum of its log, which a repair without
 * --data does not compute.  If it matches with what the repair made of the blocks
 * of metadata that were wrong, all others are what was written.  If it does not,
 * more was written over, unless only one block was wrong and the repair is not
 * certain what it was.
 */
#include "fsck/account/suspects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/account/dirproof.h"
#include "vol/root.h"
#include "vol/translate.h"

/* Wrong blocks of a log that are replaced at most to prove the others. */
#define WITNESSES_MAX 64u

static int compare_wrong(const void *a, const void *b)
{
	const struct sides_wrong *x = a, *y = b;

	return x->before < y->before ? -1 : x->before > y->before;
}

/* Whether the checksum of the log at PSEG matches with N blocks from FIRST on as
   they are after the repair: 1, 0, -ENOMEM, -EINTR. */
static int is_proven(struct sides *s, struct context *cx, uint64_t pseg,
		     const struct sides_wrong *first, size_t n)
{
	struct witness_block blocks[WITNESSES_MAX];
	uint32_t size = s->before->geo.block_size;
	int ret = 0;
	char *bytes;
	size_t i;

	if (n > WITNESSES_MAX)
		return 0;
	bytes = malloc(n * size);
	if (!bytes)
		return fail(cx, -ENOMEM, "blocks of a log");
	for (i = 0; i < n; i++) {
		if (!first[i].after || !sides_read(s, cx, true, first[i].after))
			break;
		memcpy(bytes + i * size, s->blocks[1], size);
		blocks[i] = (struct witness_block){first[i].before,
						   bytes + i * size};
	}
	if (i == n)
		ret = witness_proves(s->witness, cx, pseg, blocks, n);
	free(bytes);
	return ret;
}

/*
 * Whether the node at BLOCKNR after the repair is certain to be what was written.
 * One that was split keeps behind its children what it had there, and has from
 * half of the greatest number on.
 */
static bool is_exact(struct sides *s, struct context *cx, uint64_t blocknr)
{
	struct bmap_node node;

	if (!blocknr || !sides_read(s, cx, true, blocknr))
		return false;
	bmap_node_read(s->before->geo.block_size, s->blocks[1], &node);
	return node.nchildren < node.max / 2 || node.nchildren == node.max;
}

/* Adds the log that has block BLOCKNR, if one does.  0, -ENOMEM. */
static int add_log(struct suspects *x, struct context *cx, struct sides *s,
		   uint64_t blocknr)
{
	struct logindex_log log;
	size_t i;

	if (!sides_log(s, cx, blocknr, &log))
		return 0;
	for (i = 0; i < x->n; i++)
		if (x->logs[i].pseg == log.pseg)
			return 0;
	if (array_reserve(cx, &x->logs, &x->room, x->n + 1))
		return -ENOMEM;
	x->logs[x->n++] = log;
	return 0;
}

int suspects_find(struct suspects *x, struct context *cx, struct sides *s)
{
	const struct sides_wrong *first;
	struct logindex_log log;
	uint64_t pseg, end;
	size_t i, n;
	int ret = 0;

	sort_in_place(s->wrong, s->nwrong, sizeof(*s->wrong), compare_wrong);
	for (i = n = 0; i < s->nwrong; i++)
		if (!n || s->wrong[n - 1].before != s->wrong[i].before)
			s->wrong[n++] = s->wrong[i];
	s->nwrong = n;
	for (i = 0; i < s->nwrong && ret >= 0; i += n) {
		first = &s->wrong[i];
		n = 1;
		if (!sides_wrong_log(s, cx, first->before, &pseg) ||
		    !sides_log(s, cx, pseg, &log))
			continue;
		end = pseg + log.nblocks;
		while (i + n < s->nwrong && s->wrong[i + n].before < end)
			n++;
		ret = is_proven(s, cx, pseg, first, n);
		if (ret > 0)
			ret = sparse_add(&s->whole, cx, pseg);
		else if (!ret && !sparse_test(&s->whole, pseg) &&
			 (n > 1 || is_exact(s, cx, first->after)))
			ret = add_log(x, cx, s, pseg);
	}
	return ret < 0 ? ret : 0;
}

/* Whether FILE has block VBLOCKNR, which was at BEFORE, at BLKOFF, as it was. */
static bool has_block(struct sides *s, struct context *cx, struct file *file,
		      uint64_t blkoff, uint64_t vblocknr, uint64_t before)
{
	uint64_t at, after;
	bool has = file_lookup(file, cx, blkoff, &at) > 0 &&
		   !translate_vblock(s->after, cx, vblocknr, &after) &&
		   at == after &&
		   ((at == before && !sparse_test(&s->written, at)) ||
		    sides_same_content(s, cx, before, at));

	fail_clear(cx);
	return has;
}

/* The blocks of E, an extent of data. */
static void compare_extent(struct sides *s, struct context *cx,
			   struct root *root, const struct sides_state *state,
			   const struct logindex_extent *e)
{
	struct loss loss = {
		.kind = LOSS_SUSPECT,
		.latest = state->latest,
		.snapshot = state->snapshot,
		.cno = state->cno,
		.ino = e->ino,
		.length = s->before->geo.block_size,
	};
	struct file file;
	uint32_t i;

	if (root_file(root, cx, e->ino, &file) ||
	    S_ISDIR(le16_get(file.inode.i_mode))) {
		fail_clear(cx);
		return;
	}
	for (i = 0; i < e->count; i++) {
		loss.offset = (e->blkoff + i) * loss.length;
		if (loss.offset < le64_get(file.inode.i_size) &&
		    has_block(s, cx, &file, e->blkoff + i, e->vblocknr + i,
			      e->blocknr + i))
			losslist_add(s->losses, cx, &loss, NULL, 0);
	}
}

int suspects_compare(const struct suspects *x, struct context *cx,
		     struct sides *s, const struct sides_state *state,
		     uint64_t after, uint64_t mounted)
{
	struct logindex_segment segment;
	struct logindex_extent e;
	struct root root;
	size_t i;
	uint32_t j;
	int err = x->n ? root_open(&root, cx, s->after, after) : 0;

	for (i = 0; i < x->n && !err; i++) {
		const struct logindex_log *log = &x->logs[i];

		if (state->latest && log->cno > mounted)
			continue;
		err = logindex_segment(s->logs_before, cx, s->before,
				       geometry_segment_of(&s->before->geo,
							   log->pseg),
				       &segment);
		for (j = 0; j < log->nextents && !err; j++) {
			err = logindex_extent(segment.ix, cx, log->first + j,
					      &e);
			if (!err && e.is_virtual && !e.is_node &&
			    !inode_is_private(e.ino))
				compare_extent(s, cx, &root, state, &e);
			err = err ? err : context_cancelled(cx);
		}
	}
	return damage_forgive(cx, err);
}

/*
 * Looks for what was wrong in the log of V, of FILE: if that is one block alone,
 * which was replaced or is wrong where nothing is stored, the log is in S->whole
 * then.  0, -ENOMEM, -EINTR.
 */
static int find_whole(struct sides *s, struct context *cx, struct file *file,
		      const struct version *v)
{
	uint64_t now, pseg;
	int ret = file_lookup(file, cx, v->blkoff, &now);

	if (ret > 0 &&
	    (now != v->blocknr || S_ISDIR(le16_get(file->inode.i_mode))) &&
	    sides_wrong_log(s, cx, v->blocknr, &pseg) &&
	    sides_read(s, cx, true, now) &&
	    (now != v->blocknr ||
	     dirproof_clear_rest(s->blocks[1], s->before->geo.block_size)))
		sides_was(s, cx, pseg, v->blocknr, s->blocks[1]);
	return damage_forgive(cx, ret < 0 ? ret : 0);
}

/* The inodes that the latest state has after the repair in block BLKOFF. */
static int suspect_inodes(struct sides *s, struct context *cx,
			  struct root *root, uint64_t blkoff)
{
	struct loss loss = {
		.kind = LOSS_ATTRIBUTES,
		.latest = true,
		.cno = s->before->latest.cno,
	};
	struct nilfs_inode inode;
	struct palloc_block b;
	uint64_t ino;
	int err = 0;

	palloc_locate(&s->before->ifile_palloc, blkoff, &b);
	if (b.kind != PALLOC_ENTRIES)
		return 0;
	for (ino = b.first; ino < b.first + b.count && !err; ino++) {
		if (inode_is_private(ino))
			continue;
		err = root_inode(root, cx, ino, &inode);
		loss.ino = loss.last_ino = ino;
		if (!err)
			losslist_add(s->losses, cx, &loss, NULL, 0);
		err = damage_forgive(cx, err);
	}
	return err;
}

/* Version V of the latest state, where FILE has it after the repair. */
static int suspect_block(struct sides *s, struct context *cx, struct file *file,
			 const struct version *v)
{
	const struct loss loss = {
		.kind = LOSS_SUSPECT,
		.latest = true,
		.cno = s->before->latest.cno,
		.ino = v->ino,
		.offset = v->blkoff << s->before->geo.block_bits,
		.length = s->before->geo.block_size,
	};
	uint64_t blocknr;
	int ret = file_lookup(file, cx, v->blkoff, &blocknr);

	if (ret > 0 && blocknr == v->blocknr)
		losslist_add(s->losses, cx, &loss, NULL, 0);
	return damage_forgive(cx, ret < 0 ? ret : 0);
}

/* What a log past the checkpoint that a mount finds has: of SUSPECT, which is
   NULL while it is looked for what was wrong in these logs. */
static int visit_newer(struct suspects *suspects, struct context *cx,
		       struct sides *s, const struct versions *v)
{
	uint64_t pseg, asked = UINT64_MAX; /* block of the ifile */
	struct root root;
	struct file file;
	size_t i;
	int ret = root_open(&root, cx, s->after, 0);

	file = root.ifile;
	for (i = 0; i < v->n && !ret; i++) {
		const struct version *one = &v->items[i];
		bool is_ifile = one->ino == NILFS_IFILE_INO;

		if (!one->is_suspect)
			continue;
		if (suspects && sides_wrong_log(s, cx, one->blocknr, &pseg) &&
		    sparse_test(&s->whole, pseg))
			continue; /* but for a block that the account knows */
		ret = suspects ? add_log(suspects, cx, s, one->blocknr) :
				 context_cancelled(cx);
		if (ret || (!is_ifile && inode_is_private(one->ino)))
			continue;
		if (suspects && is_ifile) {
			if (one->blkoff != asked)
				ret = suspect_inodes(s, cx, &root, one->blkoff);
			asked = one->blkoff;
			continue;
		}
		if (is_ifile)
			file = root.ifile;
		else if (one->ino != file.ino)
			ret = root_file(&root, cx, one->ino, &file);
		if (ret) {
			file = root.ifile;
			ret = damage_forgive(cx, ret);
		} else
			ret = suspects ? suspect_block(s, cx, &file, one) :
					 find_whole(s, cx, &file, one);
	}
	return ret;
}

int suspects_newer(struct suspects *x, struct context *cx, struct sides *s,
		   const struct bitmap *used, uint64_t mounted)
{
	struct versions v;
	int err;

	/* The repair may have set a log right. */
	versions_init(&v, s->after, s->logs_after, used);
	v.beyond = mounted;
	err = versions_gather(&v, cx);
	if (!err)
		err = visit_newer(NULL, cx, s, &v);
	if (!err)
		err = visit_newer(x, cx, s, &v);
	versions_fini(&v);
	return damage_forgive(cx, err);
}

void suspects_fini(struct suspects *x)
{
	free(x->logs);
	*x = (struct suspects){.logs = NULL};
}
