// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inodes from the past.
 *
 * Checkpoints are asked from the newest on, until one has the inode whole.
 * Those that share the block with the damaged one are no help and cost a look
 * at the cache.  Where the number was free those before had another file.
 */
#include "fsck/tree/oldinodes.h"

#include <stdlib.h>
#include <string.h>

#include "check/damage.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/root.h"

static int list(struct oldinodes *o, struct context *cx)
{
	if (o->listed)
		return 0;
	o->listed = true;
	return damage_forgive(cx, cptable_list(o->vol, cx, false, &o->cnos, &o->n));
}

/* Whether ROOT has INO marked as free: 1, 0 where that cannot be told. */
static int is_free(struct root *root, struct context *cx, uint64_t ino)
{
	const struct palloc *palloc = &root->vol->ifile_palloc;
	const void *bitmap;
	int ret = file_block(&root->ifile, cx,
			     palloc_bitmap_blkoff(palloc,
						  palloc_group(palloc, ino)),
			     &bitmap);

	if (ret <= 0)
		return damage_forgive(cx, ret);
	ret = !palloc_bit(bitmap, palloc_group_offset(palloc, ino));
	file_put(&root->ifile, bitmap);
	return ret;
}

enum answer { UNKNOWN, SOUND, FREE };

/* What checkpoint CNO says of INO: an answer, or a failure. */
static int ask(struct oldinodes *o, struct context *cx, uint64_t cno,
	       uint64_t ino, struct nilfs_inode *inode)
{
	struct root root;
	int ret = root_open(&root, cx, o->vol, cno);

	if (!ret)
		ret = is_free(&root, cx, ino);
	if (ret)
		return ret > 0 ? FREE : damage_forgive(cx, ret);
	ret = root_inode(&root, cx, ino, inode);
	if (ret)
		return damage_forgive(cx, ret);
	if (o->now && !memcmp(o->now, inode, sizeof(*inode)))
		return UNKNOWN;
	return inode_check(&o->vol->geo, inode, ino) == RULE_OK ? SOUND :
								  UNKNOWN;
}

int oldinodes_find(struct oldinodes *o, struct context *cx, uint64_t ino,
		   struct nilfs_inode *inode, uint64_t *cno)
{
	int ret = list(o, cx);
	size_t i;

	for (i = o->n; i-- && !ret;) {
		*cno = o->cnos[i];
		if (*cno < o->vol->latest.cno)
			ret = ask(o, cx, *cno, ino, inode);
		if (!ret)
			ret = context_cancelled(cx);
	}
	return ret < 0 ? ret : ret == SOUND;
}

void oldinodes_fini(struct oldinodes *o)
{
	free(o->cnos);
	*o = (struct oldinodes){ .vol = o->vol };
}
