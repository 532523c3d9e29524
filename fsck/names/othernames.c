// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that other checkpoints have.
 *
 * What a directory was called by a checkpoint ago it mostly still is.  A name
 * is taken from there if its inode is the same as then: of the same type and
 * generation, since numbers are given out again.
 */
#include "fsck/names/othernames.h"

#include "check/damage.h"
#include "disk/inode.h"
#include "vol/dir.h"

/* Checkpoints that are asked for a name at most. */
#define ASK_MOST 64u

int othernames_is_same(struct othernames *o, struct context *cx, uint64_t ino)
{
	struct nilfs_inode then, now;
	int err = root_inode(&o->then, cx, ino, &then);

	if (!err)
		err = root_inode_bytes(o->now, cx, ino, &now);
	if (err < 0)
		return damage_forgive(cx, err);
	return inode_is_same_file(&then, &now);
}

/* Looks NAME up in directory DIR of checkpoint CNO: 1 and *INO, 0. */
static int look_up(struct othernames *o, struct context *cx, uint64_t cno,
		   uint64_t dir, const struct dirent_entry *e, uint64_t *ino)
{
	struct file file;
	int err = root_open(&o->then, cx, o->now->vol, cno);

	if (!err)
		err = root_file(&o->then, cx, dir, &file);
	if (!err)
		err = dir_lookup(&file, cx, e->name, e->name_len, ino);
	return err ? damage_forgive(cx, err) : 1;
}

int othernames_find(struct othernames *o, struct context *cx, uint64_t dir,
		    const struct dirent_entry *e,
		    bool (*could_be)(void *arg, const struct dirent_entry *e,
				     uint64_t ino),
		    void *arg, uint64_t *ino)
{
	const struct lifetime life = { o->now->cno, o->now->cno + 1 };
	unsigned int asked = 0;
	uint64_t cno;
	int ret = 1;

	around_begin(&o->around, life);
	while (asked++ < ASK_MOST &&
	       (ret = around_next(&o->around, cx, &cno)) > 0) {
		ret = look_up(o, cx, cno, dir, e, ino);
		if (ret > 0)
			ret = could_be(arg, e, *ino);
		if (ret > 0)
			ret = othernames_is_same(o, cx, *ino);
		if (ret > 0)
			ret = othernames_is_same(o, cx, dir);
		if (ret)
			return ret;
	}
	return ret < 0 ? ret : 0;
}
