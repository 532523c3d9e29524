// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What proves the names of a directory.
 *
 * The checksum of a log: a repair has the names, but not always in the places
 * where they were.  The kernel leaves entries where they are, so a block is mostly
 * an older version of it from which names were deleted since.
 *
 * The times of inodes: the kernel sets the time of change of an inode whenever it
 * gets a name, loses one, or is renamed.  So an inode that has the same time in
 * another checkpoint has the same names there, and a version of the directory from
 * then proves those in it.
 *
 * A name that was read in a broken block is believed unless such a version has it
 * as well, of another time: then the block may be older than it should be.
 */
#include "fsck/account/dirproof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/palloc.h"
#include "fsck/account/comparefile.h"
#include "vol/dir.h"
#include "vol/root.h"

/* Versions that are tried at most. */
#define VERSIONS_MAX 64u

struct trial {
	const struct comparedir *d;
	char *block; /* an older version */
	uint32_t size;
	uint32_t *entries; /* where they begin */
	size_t n;
};

/* Deletes entry I, as nilfs_delete_entry(): entry BEFORE takes its room. */
static void delete_entry(const struct trial *t, size_t i, size_t before)
{
	struct nilfs_dir_entry *de = (void *)(t->block + t->entries[i]), *last;

	de->inode = le64_make(0);
	if (i == before)
		return;
	last = (void *)(t->block + t->entries[before]);
	last->rec_len = dirent_rec_len_encode(
		dirent_rec_len_decode(last->rec_len) +
		dirent_rec_len_decode(de->rec_len));
}

/* Deletes the names that are gone.  The first one first, the last entry that is
   left gets the room; BACKWARDS, one that is deleted later takes it along. */
static void delete_gone(const struct trial *t, bool backwards)
{
	size_t i, n, before = 0;

	for (n = 0; n < t->n; n++) {
		const struct nilfs_dir_entry *de;
		struct dirent_entry entry;

		i = backwards ? t->n - 1 - n : n;
		de = (const void *)(t->block + t->entries[i]);
		entry = (struct dirent_entry){
			.ino = le64_get(de->inode),
			.name_len = de->name_len,
			.name = de->name,
		};
		if (!entry.ino || comparedir_is_dots(&entry) ||
		    comparedir_has(t->d, &entry))
			before = i;
		else
			delete_entry(t, i, !backwards ? before : i ? i - 1 : 0);
	}
}

/* Whether the block was version ONE, with names deleted in either order. */
static bool was_version(struct trial *t, struct sides *s, struct context *cx,
			uint64_t pseg, uint64_t blocknr,
			const struct version *one)
{
	struct dirent_entry de;
	struct dirent_iter it;
	int backwards;

	for (backwards = 0; backwards < 2; backwards++) {
		if (!sides_read(s, cx, false, one->blocknr))
			return false;
		memcpy(t->block, s->blocks[0], t->size);
		t->n = 0;
		dirent_iter_init(&it, t->block, t->size);
		while (dirent_iter_next(&it, &de))
			t->entries[t->n++] = de.offset;
		if (it.verdict) /* it is no block of a directory */
			return false;
		delete_gone(t, backwards);
		if (sides_was(s, cx, pseg, blocknr, t->block))
			return true;
	}
	return false;
}

const void *dirproof_find(const struct comparedir *d, struct sides *s,
			  struct context *cx, struct file *after,
			  uint64_t blkoff, uint64_t blocknr)
{
	const struct versions *v = &s->versions;
	struct trial t = {
		.d = d,
		.block = s->blocks[1],
		.size = s->before->geo.block_size,
	};
	const struct version *one;
	uint64_t pseg, now;
	bool found = false;
	size_t i, n;

	if (!sides_wrong_log(s, cx, blocknr, &pseg))
		return NULL;
	if (comparefile_after(cx, after, blkoff, &now) > 0 &&
	    sides_read(s, cx, true, now) &&
	    sides_was(s, cx, pseg, blocknr, s->blocks[1]))
		return s->blocks[1];
	t.entries = calloc(t.size / dirent_rec_len(1) + 1, sizeof(*t.entries));
	i = versions_from(v, after->ino, blkoff);
	for (n = 0; t.entries && !found && n < VERSIONS_MAX &&
	     (one = versions_at(v, i + n, after->ino, blkoff)); n++)
		found = one->blocknr != blocknr &&
			was_version(&t, s, cx, pseg, blocknr, one);
	free(t.entries);
	return found ? t.block : NULL;
}

bool dirproof_clear_rest(void *block, uint32_t size)
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
	uint64_t dir;
	struct root before;
	struct added *names; /* by hash */
	size_t n, room;
};

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
	uint64_t hash;
	int ret = 0;
	size_t i;

	for (i = 0; i < c->d->nblocks && ret >= 0; i++) {
		ret = file_block(after, cx, c->d->blocks[i].blkoff, &block);
		if (ret <= 0)
			continue;
		dirent_iter_init(&it, block, size);
		while (ret >= 0 && dirent_iter_next(&it, &de)) {
			hash = comparedir_hash(&de);
			if (!de.ino || comparedir_is_dots(&de) ||
			    comparedir_was(c->d, hash))
				continue;
			ret = array_reserve(cx, &c->names, &c->room, c->n + 1);
			if (!ret)
				c->names[c->n++] = (struct added){.hash = hash};
		}
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

	return de->ino && i < c->n && c->names[i].hash == hash ? &c->names[i] :
								 NULL;
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
		const struct comparedir_place *at = &c->d->blocks[i];

		if (at->is_known || !at->blocknr ||
		    !sides_read(c->s, cx, false, at->blocknr) ||
		    !dirent_check_block(c->s->blocks[0], size))
			continue;
		dirent_iter_init(&it, c->s->blocks[0], size);
		while (dirent_iter_next(&it, &de)) {
			name = find_added(c, &de);
			if (name && !dirent_check(&de))
				name->is_read = true;
		}
	}
}

/* The inode INO now, in the state before the repair, and THEN, as checkpoint CNO
   had it in the logs; false where one is not known.  Uses the second buffer. */
static bool read_inodes(struct confirmation *c, struct context *cx,
			uint64_t ino, uint64_t cno, struct nilfs_inode *now,
			struct nilfs_inode *then)
{
	const struct versions *v = &c->s->versions;
	const struct palloc *p = &c->s->before->ifile_palloc;
	uint64_t blkoff = palloc_entry_blkoff(p, ino);
	size_t i = versions_from(v, NILFS_IFILE_INO, blkoff);
	const struct version *one;
	struct palloc_block b;
	bool is_known;

	while ((one = versions_at(v, i, NILFS_IFILE_INO, blkoff)) &&
	       one->cno > cno)
		i++;
	is_known = one && !root_inode(&c->before, cx, ino, now) &&
		   !volume_read_blocks(c->s->before, cx, one->blocknr, 1,
				       c->s->blocks[1]);
	fail_clear(cx);
	if (!is_known)
		return false;
	palloc_locate(p, blkoff, &b);
	memcpy(then,
	       c->s->blocks[1] + (ino - b.first) * c->s->before->geo.inode_size,
	       sizeof(*then));
	return true;
}

/* Whether INO has had the same names in the state and in checkpoint CNO. */
static bool has_same_names(struct confirmation *c, struct context *cx,
			   uint64_t ino, uint64_t cno)
{
	struct nilfs_inode now, then;

	return read_inodes(c, cx, ino, cno, &now, &then) &&
	       le16_get(then.i_links_count) &&
	       le16_get(then.i_links_count) == le16_get(now.i_links_count) &&
	       le32_get(then.i_generation) == le32_get(now.i_generation) &&
	       le64_get(then.i_ctime) == le64_get(now.i_ctime) &&
	       le32_get(then.i_ctime_nsec) == le32_get(now.i_ctime_nsec);
}

/* What version ONE of a block of the directory proves. */
static void ask_version(struct confirmation *c, struct context *cx,
			const struct version *one)
{
	uint32_t size = c->s->before->geo.block_size;
	struct nilfs_inode now, then;
	struct added *name;
	struct dirent_entry de;
	struct dirent_iter it;
	size_t i;

	for (i = 0; i < c->d->nblocks; i++)
		if (c->d->blocks[i].blocknr == one->blocknr)
			return; /* it is the one that could not be read */
	if (!read_inodes(c, cx, c->dir, one->cno, &now, &then) ||
	    le32_get(then.i_generation) != le32_get(now.i_generation) ||
	    !sides_read(c->s, cx, false, one->blocknr) ||
	    dirent_check_block(c->s->blocks[0], size))
		return;
	dirent_iter_init(&it, c->s->blocks[0], size);
	while (dirent_iter_next(&it, &de)) {
		name = find_added(c, &de);
		if (!name || name->is_proven)
			continue;
		name->is_proven = has_same_names(c, cx, de.ino, one->cno);
		name->is_older |= !name->is_proven;
	}
}

int dirproof_confirm(const struct comparedir *d, struct sides *s,
		     struct context *cx, const struct sides_state *state,
		     struct file *after)
{
	struct confirmation c = {.d = d, .s = s, .dir = after->ino};
	const struct versions *v = &s->versions;
	int ret = root_open(&c.before, cx, s->before, state->cno);
	bool all = true;
	size_t i;

	if (!ret)
		ret = list_added(&c, cx, after);
	if (!ret && c.n)
		read_broken(&c, cx);
	i = versions_from(v, c.dir, 0);
	for (; c.n && i < v->n && v->items[i].ino == c.dir && !ret; i++) {
		ask_version(&c, cx, &v->items[i]);
		ret = context_cancelled(cx);
	}
	for (i = 0; i < c.n; i++)
		all &= c.names[i].is_proven ||
		       (c.names[i].is_read && !c.names[i].is_older);
	free(c.names);
	return ret ? damage_forgive(cx, ret) : all;
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
	return any && read_inodes(c, cx, de->ino, one->cno, &now, &then) &&
	       le32_get(then.i_generation) != le32_get(now.i_generation);
}

bool dirproof_is_former(struct sides *s, struct context *cx,
			const struct sides_state *state, struct file *after,
			uint64_t blocknr, const struct dirent_entry *de)
{
	struct confirmation c = {.s = s, .dir = after->ino};
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
