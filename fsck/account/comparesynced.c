// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Data of fsync() behind the latest super root.
 *
 * A mount after a crash writes it into its files, so it is part of the latest
 * state although no map leads to it.  A repair does the same, or gives it up;
 * where it leaves the logs as they are, the next mount still brings it back.
 */
#include "fsck/account/comparesynced.h"

#include <errno.h>
#include <string.h>

#include "check/damage.h"
#include "fsck/account/comparefile.h"
#include "vol/root.h"

bool comparesynced_has(const struct sides *s, uint64_t ino, uint64_t blkoff)
{
	const struct rollforward lost = {
		.blocks = s->synced->lost,
		.count = s->synced->nlost,
	};
	const struct salvaged_block *b =
		rollforward_find(s->synced, ino, blkoff);

	if (!b || b->blkoff != blkoff)
		b = rollforward_find(&lost, ino, blkoff);
	return b && b->blkoff == blkoff;
}

static bool is_same(struct sides *s, struct context *cx, uint64_t before,
		    uint64_t after)
{
	return before == after || !sides_read(s, cx, false, before) ||
	       (after && sides_read(s, cx, true, after) &&
		!memcmp(s->blocks[0], s->blocks[1], s->before->geo.block_size));
}

/* Block B, which is LOST or was salvaged. */
static int compare(struct sides *s, struct context *cx, struct root *root,
		   const struct salvaged_block *b, bool lost)
{
	struct loss loss = {
		.kind = LOSS_STALE,
		.latest = true,
		.cno = s->before->latest.cno,
		.ino = b->ino,
		.offset = b->blkoff << s->before->geo.block_bits,
		.length = s->before->geo.block_size,
	};
	struct file file;
	uint64_t after;
	int ret = root_file(root, cx, b->ino, &file);

	if (!ret)
		ret = file_lookup(&file, cx, b->blkoff, &after);
	/* A file that is not there any more is in the list for that. */
	if (ret < 0)
		return damage_forgive(cx, ret);
	if (loss.offset >= le64_get(file.inode.i_size) ||
	    (!lost && is_same(s, cx, b->blocknr, ret ? after : 0)))
		return 0;
	if (!ret)
		loss.kind = LOSS_ZERO;
	losslist_add(s->losses, cx, &loss, NULL, 0);
	return 0;
}

/* Damaged logs of which nobody can say all that they have. */
static void lose_logs(struct sides *s, struct context *cx)
{
	struct loss loss = {.kind = LOSS_SYNCED, .latest = true};
	unsigned int i;

	for (i = 0; i < s->synced->nholes; i++) {
		loss.block = s->synced->holes[i];
		losslist_add(s->losses, cx, &loss, NULL, 0);
	}
}

int comparesynced_run(struct sides *s, struct context *cx)
{
	const struct rollforward *rf = s->synced;
	struct root root;
	uint64_t i;
	int err;

	if (s->after->latest.orphans_start)
		return 0;
	lose_logs(s, cx);
	err = rf->count || rf->nlost ? root_open(&root, cx, s->after, 0) : 0;
	for (i = 0; i < rf->count && !err; i++)
		err = compare(s, cx, &root, &rf->blocks[i], false);
	for (i = 0; i < rf->nlost && !err; i++)
		err = compare(s, cx, &root, &rf->lost[i], true);
	return damage_forgive(cx, err);
}
