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
#include "vol/root.h"
#include "vol/translate.h"

/* Wrong blocks of a log that are replaced at most to prove the others. */
#define WITNESSES_MAX 64u

static int compare_wrong(const void *a, const void *b)
{
	const struct sides_wrong *x = a, *y = b;

	return x->before < y->before ? -1 : x->before > y->before;
}

/* Sorts the blocks, each of which is there once then. */
static void settle(struct sides *s)
{
	size_t i, n = 0;

	sort_in_place(s->wrong, s->nwrong, sizeof(*s->wrong), compare_wrong);
	for (i = 0; i < s->nwrong; i++)
		if (!n || s->wrong[n - 1].before != s->wrong[i].before)
			s->wrong[n++] = s->wrong[i];
	s->nwrong = n;
}

/* Whether the checksum of the log at PSEG matches with N blocks from FIRST on as
   they are after the repair: 1, 0, -ENOMEM, -EINTR. */
static int is_proven(struct sides *s, struct context *cx, uint64_t pseg,
		     const struct sides_wrong *first, size_t n)
{
	struct witness_block blocks[WITNESSES_MAX];
	uint32_t size = s->before->geo.block_size;
	char *bytes = n <= WITNESSES_MAX ? malloc(n * size) : NULL;
	int ret = 0;
	size_t i;

	if (n > WITNESSES_MAX)
		return 0;
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

static int add_log(struct suspects *x, struct context *cx,
		   const struct logindex_log *log)
{
	size_t i;

	for (i = 0; i < x->n; i++)
		if (x->logs[i].pseg == log->pseg)
			return 0;
	if (array_reserve(cx, &x->logs, &x->room, x->n + 1))
		return -ENOMEM;
	x->logs[x->n++] = *log;
	return 0;
}

int suspects_add(struct suspects *x, struct context *cx, struct sides *s,
		 uint64_t blocknr)
{
	struct logindex_log log;

	return sides_log(s, cx, blocknr, &log) ? add_log(x, cx, &log) : 0;
}

/* Takes LOG, which has N blocks from FIRST on that were wrong, if these are not
   all that was wrong in it. */
static int take_log(struct suspects *x, struct context *cx, struct sides *s,
		    const struct logindex_log *log,
		    const struct sides_wrong *first, size_t n)
{
	int ret = is_proven(s, cx, log->pseg, first, n);

	if (ret > 0)
		return sparse_add(&s->whole, cx, log->pseg);
	if (ret || sparse_test(&s->whole, log->pseg) ||
	    (n == 1 && !is_exact(s, cx, first->after)))
		return ret;
	return add_log(x, cx, log);
}

int suspects_find(struct suspects *x, struct context *cx, struct sides *s)
{
	struct logindex_log log;
	uint64_t pseg;
	size_t i, n;
	int ret = 0;

	settle(s);
	for (i = 0; i < s->nwrong && ret >= 0; i += n) {
		n = 1;
		if (!sides_wrong_log(s, cx, s->wrong[i].before, &pseg) ||
		    !sides_log(s, cx, pseg, &log))
			continue;
		while (i + n < s->nwrong &&
		       s->wrong[i + n].before < pseg + log.nblocks)
			n++;
		ret = take_log(x, cx, s, &log, &s->wrong[i], n);
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

void suspects_fini(struct suspects *x)
{
	free(x->logs);
	*x = (struct suspects){.logs = NULL};
}
