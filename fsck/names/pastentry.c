// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of a directory of a snapshot.
 *
 * The entries of a directory stay where they are in their block while others
 * come and go.  So for an entry that is wrong the same block as of another
 * checkpoint is asked what stands at that byte.  It is taken if it names an
 * inode that is the same then as in the snapshot.  A type is that of the inode,
 * and a length the least with which all that follows makes sense: what it
 * leaves free is an entry without inode.  If one name has no inode, and one
 * inode no name, they belong together.
 *
 * Checkpoints are asked from the nearest on, before and after in turn; one that
 * shares the block, or has another directory by the number, is of no help.
 */
#include <string.h>

#include "check/damage.h"
#include "fsck/names/entrywalk.h"
#include "fsck/names/pastnames.h"

/* Checkpoints that are asked at most. */
#define ASK_MOST 64

#define STEP 8u

void pastentry_ask(struct pastnames *s)
{
	around_begin(&s->o.around, s->where.life);
	s->asked = 0;
}

/* The block as checkpoint CNO has it, if that is another: 1, 0. */
static int read_other(struct pastnames *s, struct context *cx, uint64_t cno)
{
	struct vblock vb;
	struct file file;
	uint64_t ptr = 0;
	int ret = root_open(&s->o.then, cx, s->vol, cno);

	if (!ret)
		ret = root_file(&s->o.then, cx, s->ino, &file);
	if (!ret && le32_get(file.inode.i_generation) ==
			    le32_get(s->generation))
		ret = blockmap_lookup(&file.map, cx, s->blkoff, &ptr);
	if (ret <= 0 || ptr == s->where.vblocknr)
		return ret < 0 ? damage_forgive(cx, ret) : 0;
	ret = vblocks_find(&s->p->vblocks, cx, ptr, &vb);
	if (ret != VBLOCKS_USED)
		return ret < 0 ? ret : 0;
	ret = volume_read_blocks(s->vol, cx, vb.blocknr, 1, s->other);
	return ret ? damage_forgive(cx, ret) : 1;
}

int pastentry_next(struct pastnames *s, struct context *cx)
{
	uint64_t cno;
	int more = 1, ret = 0;

	while (!ret && s->asked++ < ASK_MOST &&
	       (more = around_next(&s->o.around, cx, &cno)) > 0)
		ret = read_other(s, cx, cno);
	return more < 0 ? more : ret;
}

/* The entry at byte AT of BLOCK, as one of the directory: true where sound. */
static bool read_entry(struct pastnames *s, const char *block, uint32_t at,
		       struct entrywalk_entry *entry)
{
	struct entrywalk walk;

	entrywalk_init(&walk, &s->list, s->ino, s->blkoff, block,
		       s->block_size);
	while (walk.it.offset <= at && entrywalk_next(&walk, entry))
		if (entry->e.offset == at)
			return !entry->bad_name &&
			       entry->fate <= ENTRYWALK_NAME;
	memset(entry, 0, sizeof(*entry));
	return false;
}

/* Whether entries from byte AT on go on to the end of the block. */
static bool makes_sense(const struct pastnames *s, uint32_t at)
{
	struct dirent_iter it;
	struct dirent_entry e;

	if (at == s->block_size)
		return true;
	dirent_iter_init(&it, s->block, s->block_size);
	it.offset = at;
	while (dirent_iter_next(&it, &e))
		;
	return it.verdict == RULE_OK;
}

/* Whether a sound ENTRY has the type of its inode, and "." and ".." are so. */
static bool is_right(const struct pastnames *s,
		     const struct entrywalk_entry *entry)
{
	const struct dirent_entry *e = &entry->e;
	uint8_t len = entry->fate == ENTRYWALK_DOT ? 1 : 2;

	if (entry->fate == ENTRYWALK_FREE)
		return true;
	if (entry->fate == ENTRYWALK_NAME)
		return entry->type == e->type;
	return e->type == NILFS_FT_DIR && e->name_len == len &&
	       !memcmp(e->name, "..", len) &&
	       (entry->fate == ENTRYWALK_DOTDOT || e->ino == s->ino);
}

/* Enters E at AT, with a length of MOST at most: true where that can be. */
static bool enter_inode(struct pastnames *s, uint32_t at,
			const struct dirent_entry *e, uint32_t most)
{
	struct nilfs_dir_entry *de = (void *)(s->block + at);
	uint32_t need = dirent_rec_len(e->name_len);
	uint32_t length = dirent_rec_len_decode(de->rec_len);

	if (length < need || length % STEP || length > most ||
	    !makes_sense(s, at + length)) {
		for (length = need; length <= most; length += STEP)
			if (makes_sense(s, at + length))
				break;
		if (length > most)
			return false;
	}
	de->inode = le64_make(e->ino);
	de->rec_len = dirent_rec_len_encode(length);
	de->name_len = e->name_len;
	de->file_type = e->type;
	memmove(de->name, e->name, e->name_len);
	return true;
}

/* The entry at AT may be wrong in nothing but its length, MOST at most. */
static bool repair_length(struct pastnames *s, uint32_t at, uint32_t most)
{
	const struct nilfs_dir_entry *de = (void *)(s->block + at);
	struct dirent_entry e = { .offset = at };
	struct inodelist_row row;

	if (s->block_size - at < dirent_rec_len(de->name_len))
		return false;
	e.ino = le64_get(de->inode);
	e.name_len = de->name_len;
	e.type = de->file_type;
	e.name = de->name;
	row = inodelist_find(&s->list, e.ino);
	return row.chunk && e.type &&
	       (row.chunk->kind[row.at] & INODELIST_TYPE) == e.type &&
	       dirent_check(&e) == RULE_OK && enter_inode(s, at, &e, most);
}

/* Repairs the entry at AT: 1 where it is right now, 0. */
static int repair_entry(struct pastnames *s, struct context *cx, uint32_t at)
{
	struct nilfs_dir_entry *de = (void *)(s->block + at);
	struct entrywalk_entry entry, other;
	bool sound = read_entry(s, s->block, at, &entry);
	struct inodelist_row row;
	int ret;

	if (sound && entry.fate == ENTRYWALK_NAME)
		de->file_type = entry.type;
	if (sound && (entry.fate == ENTRYWALK_NAME || is_right(s, &entry))) {
		if (!makes_sense(s, at + entry.e.rec_len))
			repair_length(s, at, entry.e.rec_len - STEP);
		return 1;
	}
	/* The one name without an inode is that of the one inode without a
	   name. */
	row = inodelist_find(&s->list, s->missed);
	if (s->nmissed == 1 && s->ndangling == 1 && !entry.bad_name &&
	    entry.fate == ENTRYWALK_DANGLING && row.chunk &&
	    (row.chunk->kind[row.at] & INODELIST_TYPE) == entry.e.type) {
		de->inode = le64_make(s->missed);
		return 1;
	}
	if (!entry.e.rec_len && repair_length(s, at, s->block_size - at))
		return 1;
	if (!s->is_other || !read_entry(s, s->other, at, &other) ||
	    other.fate == ENTRYWALK_FREE || !is_right(s, &other))
		return 0;
	ret = othernames_is_same(&s->o, cx, other.e.ino);
	return ret <= 0 ? ret :
			  enter_inode(s, at, &other.e, s->block_size - at);
}

int pastentry_repair(struct pastnames *s, struct context *cx)
{
	struct entrywalk_entry entry;
	uint32_t at = 0;
	int ret;

	while (at < s->block_size) {
		ret = repair_entry(s, cx, at);
		if (ret <= 0 || !read_entry(s, s->block, at, &entry))
			return ret < 0 ? ret : 0;
		at += entry.e.rec_len;
	}
	return dirent_check_block(s->block, s->block_size) == RULE_OK;
}
