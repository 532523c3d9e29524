// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether the names that a repair gave to a directory are those it had.
 *
 * The kernel sets the time of change of an inode whenever it gets a name, loses
 * one, or is renamed.  So an inode that has the same time in another checkpoint
 * has the same names there, and a version of the directory from then proves
 * those in it.
 *
 * A name that was read in a broken block is believed unless such a version has
 * it as well, of another time: then the block may be older than it should be.
 */
#include "fsck/account/dirconfirm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/palloc.h"
#include "vol/dir.h"
#include "vol/root.h"

/* A name that is not in what could be read of the directory before. */
struct added {
	uint64_t hash;
	bool is_proven;
	bool is_read;  /* in a broken block */
	bool is_older; /* another version has it, of another time */
};

struct confirmation {
	const struct comparedir *d;
	struct sides *s;
	const struct sides_state *state;
	uint64_t dir;
	struct root before;
	struct added *names; /* by hash */
	size_t n, room;
};

static int add_entry(struct confirmation *c, struct context *cx,
		     const struct dirent_entry *de)
{
	uint64_t hash = comparedir_hash(de);

	if (comparedir_is_dots(de) || comparedir_was(c->d, hash))
		return 0;
	if (array_reserve(cx, &c->names, &c->room, c->n + 1))
		return -ENOMEM;
	c->names[c->n++] = (struct added){.hash = hash};
	return 0;
}

static int compare_added(const void *a, const void *b)
{
	const struct added *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Names in blocks that were not compared are as they were. */
static int list_added(struct confirmation *c, struct context *cx,
		      struct file *after)
{
	uint32_t size = c->s->before->geo.block_size;
	struct dirent_entry de;
	struct dirent_iter it;
	const void *block;
	int ret = 0;
	size_t i;

	for (i = 0; i < c->d->nblocks && ret >= 0; i++) {
		ret = file_block(after, cx, c->d->blocks[i].blkoff, &block);
		if (ret <= 0)
			continue;
		dirent_iter_init(&it, block, size);
		while (ret >= 0 && dirent_iter_next(&it, &de))
			ret = de.ino ? add_entry(c, cx, &de) : 0;
		file_put(after, block);
	}
	sort_in_place(c->names, c->n, sizeof(*c->names), compare_added);
	return ret < 0 ? ret : 0;
}

static bool is_before(const void *item, const void *key)
{
	const struct added *name = item;

	return name->hash < *(const uint64_t *)key;
}

static struct added *find_added(const struct confirmation *c,
				const struct dirent_entry *de)
{
	uint64_t hash = comparedir_hash(de);
	size_t i = search_first(c->names, c->n, sizeof(*c->names), is_before,
				&hash);

	return i < c->n && c->names[i].hash == hash ? &c->names[i] : NULL;
}

/* What could be read of blocks that are broken. */
static void read_broken(struct confirmation *c, struct context *cx)
{
	uint32_t size = c->s->before->geo.block_size;
	struct added *name;
	struct dirent_entry de;
	struct dirent_iter it;
	size_t i;

	for (i = 0; i < c->d->nblocks; i++) {
		if (c->d->blocks[i].is_known || !c->d->blocks[i].blocknr ||
		    !sides_read(c->s, cx, false, c->d->blocks[i].blocknr) ||
		    !dirent_check_block(c->s->blocks[0], size))
			continue;
		dirent_iter_init(&it, c->s->blocks[0], size);
		while (dirent_iter_next(&it, &de)) {
			name = de.ino ? find_added(c, &de) : NULL;
			if (name && !dirent_check(&de))
				name->is_read = true;
		}
	}
}

/* The inode INO as checkpoint CNO had it, in the logs: true, or false. */
static bool read_inode(struct confirmation *c, struct context *cx,
		       uint64_t ino, uint64_t cno, struct nilfs_inode *inode)
{
	const struct versions *v = &c->s->versions;
	const struct palloc *p = &c->s->before->ifile_palloc;
	uint64_t blkoff = palloc_entry_blkoff(p, ino);
	struct palloc_block b;
	size_t i = versions_from(v, NILFS_IFILE_INO, blkoff);

	while (i < v->n && v->items[i].cno > cno)
		i++;
	if (i >= v->n || v->items[i].ino != NILFS_IFILE_INO ||
	    v->items[i].blkoff != blkoff ||
	    volume_read_blocks(c->s->before, cx, v->items[i].blocknr, 1,
			       c->s->blocks[1])) {
		fail_clear(cx);
		return false;
	}
	palloc_locate(p, blkoff, &b);
	memcpy(inode,
	       c->s->blocks[1] + (ino - b.first) * c->s->before->geo.inode_size,
	       sizeof(*inode));
	return true;
}

static bool is_unchanged(const struct nilfs_inode *a,
			 const struct nilfs_inode *b)
{
	return le16_get(a->i_links_count) &&
	       le16_get(a->i_links_count) == le16_get(b->i_links_count) &&
	       le32_get(a->i_generation) == le32_get(b->i_generation) &&
	       le64_get(a->i_ctime) == le64_get(b->i_ctime) &&
	       le32_get(a->i_ctime_nsec) == le32_get(b->i_ctime_nsec);
}

/* Whether INO has had the same names in the state and in checkpoint CNO. */
static bool has_same_names(struct confirmation *c, struct context *cx,
			   uint64_t ino, uint64_t cno)
{
	struct nilfs_inode now, then;

	if (root_inode(&c->before, cx, ino, &now)) {
		fail_clear(cx);
		return false;
	}
	return read_inode(c, cx, ino, cno, &then) && is_unchanged(&then, &now);
}

/* Whether the directory was this one in checkpoint CNO. */
static bool is_same_dir(struct confirmation *c, struct context *cx,
			uint64_t cno)
{
	struct nilfs_inode now, then;

	if (root_inode(&c->before, cx, c->dir, &now)) {
		fail_clear(cx);
		return false;
	}
	return read_inode(c, cx, c->dir, cno, &then) &&
	       le32_get(then.i_generation) == le32_get(now.i_generation);
}

/* Whether ONE is a block of the state that could not be read. */
static bool is_broken(const struct confirmation *c, const struct version *one)
{
	size_t i;

	for (i = 0; i < c->d->nblocks; i++)
		if (c->d->blocks[i].blocknr == one->blocknr)
			return true;
	return false;
}

static void ask_version(struct confirmation *c, struct context *cx,
			const struct version *one)
{
	uint32_t size = c->s->before->geo.block_size;
	struct added *name;
	struct dirent_entry de;
	struct dirent_iter it;

	if (is_broken(c, one) || !is_same_dir(c, cx, one->cno) ||
	    !sides_read(c->s, cx, false, one->blocknr) ||
	    dirent_check_block(c->s->blocks[0], size))
		return;
	dirent_iter_init(&it, c->s->blocks[0], size);
	while (dirent_iter_next(&it, &de)) {
		name = de.ino ? find_added(c, &de) : NULL;
		if (!name || name->is_proven)
			continue;
		name->is_proven = has_same_names(c, cx, de.ino, one->cno);
		name->is_older |= !name->is_proven;
	}
}

static int ask_versions(struct confirmation *c, struct context *cx)
{
	const struct versions *v = &c->s->versions;
	size_t i = versions_from(v, c->dir, 0);
	int err = 0;

	for (; i < v->n && v->items[i].ino == c->dir && !err; i++) {
		ask_version(c, cx, &v->items[i]);
		err = context_cancelled(cx);
	}
	return err;
}

static bool are_confirmed(const struct confirmation *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		if (!c->names[i].is_proven &&
		    (!c->names[i].is_read || c->names[i].is_older))
			return false;
	return true;
}

int dirconfirm_run(const struct comparedir *d, struct sides *s,
		   struct context *cx, const struct sides_state *state,
		   struct file *after)
{
	struct confirmation c = {
		.d = d,
		.s = s,
		.state = state,
		.dir = after->ino,
	};
	int ret = root_open(&c.before, cx, s->before, state->cno);

	if (!ret)
		ret = list_added(&c, cx, after);
	if (!ret && c.n) {
		read_broken(&c, cx);
		ret = ask_versions(&c, cx);
	}
	if (!ret)
		ret = are_confirmed(&c);
	free(c.names);
	return ret < 0 ? damage_forgive(cx, ret) : ret;
}

/* Whether version ONE has DE, of another file with its inode. */
static bool has_former(struct confirmation *c, struct context *cx,
		       const struct version *one,
		       const struct dirent_entry *de)
{
	uint32_t size = c->s->before->geo.block_size;
	struct nilfs_inode now, then;
	struct dirent_entry other;
	struct dirent_iter it;
	bool any = false;

	if (!sides_read(c->s, cx, false, one->blocknr))
		return false;
	dirent_iter_init(&it, c->s->blocks[0], size);
	while (!any && dirent_iter_next(&it, &other))
		any = comparedir_hash(&other) == comparedir_hash(de);
	if (!any || root_inode(&c->before, cx, de->ino, &now)) {
		fail_clear(cx);
		return false;
	}
	return read_inode(c, cx, de->ino, one->cno, &then) &&
	       le32_get(then.i_generation) != le32_get(now.i_generation);
}

bool dirconfirm_is_former(struct sides *s, struct context *cx,
			  const struct sides_state *state, struct file *after,
			  uint64_t blocknr, const struct dirent_entry *de)
{
	struct confirmation c = {.s = s, .state = state, .dir = after->ino};
	const struct versions *v = &s->versions;
	size_t i = versions_from(v, c.dir, 0);
	bool found = false;

	if (!v->gathered || root_open(&c.before, cx, s->before, state->cno)) {
		fail_clear(cx);
		return false;
	}
	for (; i < v->n && v->items[i].ino == c.dir && !found; i++)
		found = v->items[i].blocknr != blocknr &&
			has_former(&c, cx, &v->items[i], de);
	return found;
}
