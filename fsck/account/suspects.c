// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses that a comparison of pointers does not find: data next to overwritten
 * metadata, and data that fdatasync() wrote after the latest checkpoint. The account
 * (account.c) adds them to its list.
 *
 * Only the checksum of a log proves its data, and a repair without --data does
 * not compute it. If the checksum matches with the repaired metadata blocks,
 * all other blocks of the log have their written content. If it does not match,
 * other blocks were overwritten too, unless only one block was wrong and the
 * repair does not know its former content for certain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/inode.h"
#include "fsck/account/sides.h"
#include "vol/translate.h"

/* The maximum number of wrong blocks of a log that are replaced to prove the
   others. */
#define WITNESSES_MAX 64u

/* Compares block B, which is LOST or was salvaged. */
static int compare_salvaged(struct sides *s, struct context *cx,
			    const struct salvaged_block *b, bool lost)
{
	struct loss loss = {
		.kind = LOSS_STALE,
		.ino = b->ino,
		.offset = b->blkoff << s->before->geo.block_bits,
		.length = s->before->geo.block_size,
	};
	struct file file;
	uint64_t after = 0;
	int ret = root_file(&s->roots[1], cx, b->ino, &file) ?:
		  file_lookup(&file, cx, b->blkoff, &after);

	/* A missing file is already in the list. */
	if (ret < 0)
		return damage_forgive(cx, ret);
	if (loss.offset >= le64_get(file.inode.i_size) ||
	    (!lost && ((ret && b->blocknr == after) ||
		       !sides_read(s, cx, false, b->blocknr) ||
		       (ret && sides_same_content(s, cx, b->blocknr, after)))))
		return 0;
	if (!ret)
		loss.kind = LOSS_ZERO;
	else
		ret = comparefile_is_newest(s, cx, b->ino, b->blkoff, after);
	if (ret)
		return ret < 0 ? ret : 0;
	return sides_add_loss(s, cx, &s->states[0], &loss, NULL, 0);
}

/* Whether the log at PSEG is valid after the repair and files have all its
   blocks. */
static bool is_restored(struct sides *s, struct context *cx, uint64_t pseg)
{
	struct logindex_log log;
	struct logindex *ix = sides_log(s, cx, true, pseg, &log);
	struct logindex_extent e;
	struct file file;
	uint64_t after;
	uint32_t i, j;
	bool is = ix && log.pseg == pseg &&
		  sides_is_right(s, cx, true, pseg, NULL) > 0;

	for (i = 0; is && i < log.nextents; i++) {
		is = !logindex_extent(ix, cx, log.first + i, &e) &&
		     !root_file(&s->roots[1], cx, e.ino, &file);
		for (j = 0; is && j < e.count; j++)
			is = file_lookup(&file, cx, e.blkoff + j, &after) > 0 &&
			     sides_same_content(s, cx, e.blocknr + j, after);
	}
	fail_clear(cx);
	return is;
}

int suspects_synced(struct sides *s, struct context *cx)
{
	struct loss loss = {.kind = LOSS_SYNCED, .latest = true};
	const struct rollforward *rf = s->synced;
	uint64_t i;
	int err;

	if (s->after->latest.orphans_start ||
	    !(rf->count || rf->nlost || rf->nholes))
		return 0;
	err = root_open(&s->roots[1], cx, s->after, 0);
	for (i = 0; i < rf->nholes; i++) {
		loss.block = rf->holes[i];
		if (err || !is_restored(s, cx, loss.block))
			losslist_add(s->losses, cx, &loss, NULL, 0);
	}
	for (i = 0; i < rf->count && !err; i++)
		err = compare_salvaged(s, cx, &rf->blocks[i], false);
	for (i = 0; i < rf->nlost && !err; i++)
		err = compare_salvaged(s, cx, &rf->lost[i], true);
	return damage_forgive(cx, err);
}

static int compare_wrong(const void *a, const void *b)
{
	const struct sides_wrong *x = a, *y = b;

	return sort_order(x->before, y->before) ?: sort_order(y->after, x->after);
}

/*
 * Whether the block was written in place without an effect on its log: it is
 * not a block of a file, it is unchanged, or its log has the same checksum as
 * before.
 */
static bool is_unchanged(struct sides *s, struct context *cx,
			 const struct sides_wrong *w)
{
	struct segsum_block listed;
	struct logindex_log log;

	return w->before == w->after &&
	       (!sides_find_listing(s, cx, w->before, &listed) ||
		!sides_log(s, cx, false, w->before, &log) ||
		!sparse_test(&s->written, log.pseg) ||
		sides_same_content(s, cx, w->before, w->after));
}

/* Whether the checksum of the log at PSEG matches with the content after the
   repair of N blocks from FIRST on: 1, 0, -ENOMEM, -EINTR. */
static int is_suspect_proven(struct sides *s, struct context *cx, uint64_t pseg,
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
		ret = witness_proves(&s->witness, cx, pseg, blocks, n);
	free(bytes);
	return ret;
}

/* Adds the log that contains block BLOCKNR, if any. 0, -ENOMEM. */
static int suspects_add_log(struct sides *s, struct context *cx, uint64_t blocknr)
{
	struct logindex_log log;
	size_t i;

	if (!sides_log(s, cx, false, blocknr, &log))
		return 0;
	for (i = 0; i < s->nsuspects; i++)
		if (s->suspects[i] == log.pseg)
			return 0;
	if (array_reserve(cx, &s->suspects, &s->suspects_room,
			  s->nsuspects + 1))
		return -ENOMEM;
	s->suspects[s->nsuspects++] = log.pseg;
	return 0;
}

int suspects_find(struct sides *s, struct context *cx)
{
	const struct sides_wrong *first;
	struct logindex_log log;
	struct bmap_node node;
	uint64_t pseg;
	bool is_exact;
	size_t i, n;
	int ret = 0;

	sort_in_place(s->wrong, s->nwrong, sizeof(*s->wrong), compare_wrong);
	for (i = n = 0; i < s->nwrong; i++)
		if ((!n || s->wrong[n - 1].before != s->wrong[i].before) &&
		    !is_unchanged(s, cx, &s->wrong[i]))
			s->wrong[n++] = s->wrong[i];
	s->nwrong = n;
	for (i = 0; i < s->nwrong && ret >= 0; i += n) {
		first = &s->wrong[i];
		n = 1;
		if (sides_is_right(s, cx, false, first->before, &pseg) ||
		    !sides_log(s, cx, false, pseg, &log))
			continue;
		while (i + n < s->nwrong &&
		       s->wrong[i + n].before < pseg + log.nblocks)
			n++;
		ret = is_suspect_proven(s, cx, pseg, first, n);
		if (ret > 0)
			ret = sparse_add(&s->whole, cx, pseg);
		if (ret || sparse_test(&s->whole, pseg))
			continue;
		/*
		 * A single node may differ from the written one: a node that
		 * was split keeps its former content after its children, and
		 * has at least half of the maximum number of children.
		 */
		is_exact = n > 1;
		if (n == 1 && first->after &&
		    sides_read(s, cx, true, first->after)) {
			bmap_node_read(s->before->geo.block_size, s->blocks[1],
				       &node);
			is_exact = node.nchildren < node.max / 2 ||
				   node.nchildren == node.max;
		}
		if (is_exact)
			ret = suspects_add_log(s, cx, pseg);
	}
	return ret < 0 ? ret : 0;
}

/* Compares the blocks of E, an extent of data, that files have unchanged. */
static int compare_extent(struct sides *s, struct context *cx,
			  const struct sides_state *state,
			  const struct logindex_extent *e)
{
	struct loss loss = {
		.kind = LOSS_SUSPECT,
		.ino = e->ino,
		.length = s->before->geo.block_size,
	};
	uint64_t blocknr, at, after;
	struct file file;
	uint32_t i;
	int err = 0;

	if (root_file(&s->roots[1], cx, e->ino, &file) ||
	    S_ISDIR(le16_get(file.inode.i_mode))) {
		fail_clear(cx);
		return 0;
	}
	for (i = 0; i < e->count && !err; i++) {
		blocknr = e->blocknr + i;
		loss.offset = (e->blkoff + i) * loss.length;
		if (loss.offset < le64_get(file.inode.i_size) &&
		    file_lookup(&file, cx, e->blkoff + i, &at) > 0 &&
		    !translate_vblock(s->after, cx, e->vblocknr + i, &after) &&
		    at == after &&
		    ((at == blocknr && !sparse_test(&s->written, at)) ||
		     sides_same_content(s, cx, blocknr, at)))
			err = sides_add_loss(s, cx, state, &loss, NULL, 0);
		fail_clear(cx);
	}
	return err;
}

int suspects_compare(struct sides *s, struct context *cx,
		     const struct sides_state *state)
{
	struct logindex_extent e;
	struct logindex_log log;
	struct logindex *ix;
	uint32_t j;
	size_t i;
	int err = s->nsuspects ? root_open(&s->roots[1], cx, s->after,
					   state->latest ? 0 : state->cno) :
				 0;

	for (i = 0; i < s->nsuspects && !err; i++) {
		ix = sides_log(s, cx, false, s->suspects[i], &log);
		if (!ix || (state->latest && log.cno > s->mounted))
			continue;
		for (j = 0; j < log.nextents && !err; j++) {
			err = logindex_extent(ix, cx, log.first + j, &e);
			if (!err && e.is_virtual && !e.is_node &&
			    !inode_is_private(e.ino))
				err = compare_extent(s, cx, state, &e);
			err = err ? err : context_cancelled(cx);
		}
	}
	return damage_forgive(cx, err);
}

/* Adds the inodes in block BLKOFF that the latest
   state has after the repair. */
static int suspect_inodes(struct sides *s, struct context *cx, uint64_t blkoff)
{
	struct loss loss = {.kind = LOSS_ATTRIBUTES};
	struct nilfs_inode inode;
	struct palloc_block b;
	int err = 0;

	palloc_locate(&s->before->ifile_palloc, blkoff, &b);
	if (b.kind != PALLOC_ENTRIES)
		return 0;
	for (; b.count && !err; b.first++, b.count--) {
		if (inode_is_private(b.first))
			continue;
		loss.ino = loss.last_ino = b.first;
		err = root_inode(&s->roots[1], cx, b.first, &inode) ?:
		      sides_add_loss(s, cx, &s->states[0], &loss, NULL, 0);
		err = damage_forgive(cx, err);
	}
	return err;
}

/* Fills the room after the last entry of BLOCK, SIZE bytes, with zeros, as
   where no entry was ever stored. False if BLOCK is not a directory block. */
static bool clear_rest(void *block, uint32_t size)
{
	struct dirent_entry de;
	struct dirent_iter it;
	uint32_t end = size;

	if (dirent_check_block(block, size))
		return false;
	dirent_iter_init(&it, block, size);
	while (dirent_iter_next(&it, &de))
		end = de.offset + dirent_rec_len(de.name_len);
	memset((char *)block + end, 0, size - end);
	return true;
}

/*
 * Visits version V, in a log after the checkpoint that a mount finds. The FIRST
 * visits search the wrong blocks of these logs, the others the blocks that the
 * latest state has. FILE is that of the previous version; *ASKED the last block
 * of the ifile.
 */
static int visit_newer(struct sides *s, struct context *cx, struct file *file,
		       const struct version *v, bool first, uint64_t *asked)
{
	struct loss loss = {
		.kind = LOSS_SUSPECT,
		.ino = v->ino,
		.offset = v->blkoff << s->before->geo.block_bits,
		.length = s->before->geo.block_size,
	};
	bool is_ifile = v->ino == NILFS_IFILE_INO;
	uint64_t pseg, now, last = *asked;
	int ret = 0;

	if (!first && !sides_is_right(s, cx, false, v->blocknr, &pseg) &&
	    sparse_test(&s->whole, pseg))
		return 0; /* the account has the block already */
	ret = first ? context_cancelled(cx) : suspects_add_log(s, cx, v->blocknr);
	if (ret || (!is_ifile && inode_is_private(v->ino)))
		return ret;
	if (!first && is_ifile) {
		*asked = v->blkoff;
		return last == v->blkoff ?
			       0 : suspect_inodes(s, cx, v->blkoff);
	}
	if (is_ifile)
		*file = s->roots[1].ifile;
	else if (v->ino != file->ino)
		ret = root_file(&s->roots[1], cx, v->ino, file);
	if (ret) {
		*file = s->roots[1].ifile;
		return damage_forgive(cx, ret);
	}
	ret = file_lookup(file, cx, v->blkoff, &now);
	if (ret > 0 && !first &&
	    (now == v->blocknr || (sparse_test(&s->written, now) &&
				   sides_same_content(s, cx, v->blocknr, now))))
		ret = sides_add_loss(s, cx, &s->states[0], &loss, NULL, 0);
	/*
	 * If the block is the only wrong one in its log, and it was replaced or
	 * is wrong only where nothing is stored, this adds the log to S->whole.
	 */
	if (ret > 0 && first &&
	    (now != v->blocknr || S_ISDIR(le16_get(file->inode.i_mode))) &&
	    !sides_is_right(s, cx, false, v->blocknr, &pseg) &&
	    sides_read(s, cx, true, now) &&
	    (now != v->blocknr ||
	     clear_rest(s->blocks[1], s->before->geo.block_size)))
		sides_was_written(s, cx, pseg, v->blocknr, s->blocks[1]);
	return ret < 0 ? damage_forgive(cx, ret) : 0;
}

int suspects_newer(struct sides *s, struct context *cx)
{
	struct versions v = {.items = NULL};
	uint64_t asked = UINT64_MAX;
	struct file file;
	int err = versions_gather(&v, cx, s, false, s->mounted), first;
	size_t i;

	err = err ?: root_open(&s->roots[1], cx, s->after, 0);
	for (first = 1; first >= 0 && !err; first--) {
		file = s->roots[1].ifile;
		for (i = 0; i < v.n && !err; i++)
			/* The repair may have made the log valid. */
			if (v.items[i].is_suspect &&
			    sides_is_right(s, cx, true, v.items[i].blocknr, NULL) <= 0)
				err = visit_newer(s, cx, &file, &v.items[i],
						  first, &asked);
	}
	versions_fini(&v);
	return damage_forgive(cx, err);
}
