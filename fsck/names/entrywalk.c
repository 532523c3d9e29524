// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory entries, read for a rewrite.
 *
 * "." is the first entry, by its name or because it leads to the directory;
 * ".." is the second one, by its name or because it leads to the parent
 * (inodelist.h).  Any other entry in these places is a name, because the kernel
 * reuses the space of any unused entry.  A later block that begins with "." and
 * ".." of another directory is the first block of that directory, at a wrong
 * place: its entries are no names here.
 *
 * If record lengths are not trustworthy, entries are searched step by step.
 * Such an entry may be left from a deleted one, so callers use only names that
 * are missing.
 *
 * An inode without a name, or with a name that is in use, is named "name~1",
 * "name~2", ..., truncated if it would be too long.
 */
#include "fsck/names/namefix.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"

#define STEP 8u
#define TRIES 1000u /* largest number after a name */
#define SUFFIX_MAX 24

static bool is_called(const struct dirent_entry *e, const char *name)
{
	return e->name_len == strlen(name) &&
	       !memcmp(e->name, name, e->name_len);
}

void entrywalk_init(struct entrywalk *w, struct inodelist *list, uint64_t ino,
		    uint64_t blkoff, const void *block, uint32_t block_size)
{
	struct dirent_iter it;
	struct dirent_entry e;

	dirent_iter_init(&w->it, block, block_size);
	w->list = list;
	w->ino = ino;
	w->first = !blkoff;
	w->no_dot = false;
	w->slot = 0;
	if (!blkoff)
		return;
	/* Whether the block begins like the first one of another directory. */
	it = w->it;
	if (dirent_iter_next(&it, &e) && is_called(&e, ".") && e.ino != ino &&
	    inodelist_find_dir(list, e.ino) < list->ndirs &&
	    dirent_iter_next(&it, &e) && is_called(&e, ".."))
		w->it.verdict = RULE_DIR_DOT;
}

/* Finds the inode, which decides what its entry is. */
static void find_inode(struct entrywalk *w, struct entrywalk_entry *entry)
{
	const struct dirent_entry *e = &entry->e;
	struct inodelist_row row = inodelist_find(w->list, e->ino);
	uint8_t type;

	entry->fate = ENTRYWALK_DANGLING;
	if (dirent_check(e) == RULE_DIR_PRIVATE_INO) {
		entry->fate = ENTRYWALK_RESERVED;
		return;
	}
	if (!row.chunk || !row.chunk->kind[row.at])
		return;
	type = row.chunk->kind[row.at] & INODELIST_TYPE;
	if (type == NILFS_FT_UNKNOWN && !row.chunk->links[row.at])
		return;
	entry->fate = e->ino == NILFS_ROOT_INO || e->ino == w->ino
			      ? ENTRYWALK_ABOVE
			      : ENTRYWALK_NAME;
	entry->row = row;
	entry->type = type == NILFS_FT_UNKNOWN ? e->type : type;
}

int entrywalk_next(struct entrywalk *w, struct entrywalk_entry *entry)
{
	const struct dirent_entry *e = &entry->e;
	bool first = w->first && !w->slot, second = w->first && w->slot == 1;
	bool dot, dotdot;
	size_t dir;

	memset(entry, 0, sizeof(*entry));
	if (!dirent_iter_next(&w->it, &entry->e))
		return 0;
	w->slot++;
	dot = is_called(e, ".");
	dotdot = is_called(e, "..");
	entry->right = e->type == NILFS_FT_DIR && (first ? dot : dotdot);
	entry->fate = ENTRYWALK_FREE;
	if (first)
		w->no_dot = !dot && e->ino != w->ino;
	if (first && !w->no_dot) {
		entry->fate = ENTRYWALK_DOT;
	} else if (second && dotdot && e->ino) {
		entry->fate = ENTRYWALK_DOTDOT;
	} else if (e->ino) {
		entry->bad_name = dirent_check(e) == RULE_DIR_NAME;
		if (dot || dotdot)
			entry->fate = ENTRYWALK_STRAY;
		else
			find_inode(w, entry);
	}
	/* The second entry may be a ".." with another name. */
	dir = second ? inodelist_find_dir(w->list, w->ino) : w->list->ndirs;
	if (dir < w->list->ndirs && !w->no_dot &&
	    (entry->fate == ENTRYWALK_NAME || entry->fate == ENTRYWALK_ABOVE) &&
	    inodelist_find_dir(w->list, e->ino) < w->list->ndirs &&
	    !w->list->dirs[dir].second_is_name)
		entry->fate = ENTRYWALK_DOTDOT;
	entry->end = e->offset;
	if (entry->fate == ENTRYWALK_DOT || entry->fate == ENTRYWALK_DOTDOT ||
	    entry->fate == ENTRYWALK_NAME)
		entry->end += dirent_rec_len(e->name_len);
	return 1;
}

int entrywalk_search(struct entrywalk *w, uint32_t from, uint32_t end,
		     struct entrywalk_entry *entry)
{
	uint32_t at = (uint32_t)div_round_up(from, STEP) * STEP, room;
	struct dirent_entry *e = &entry->e;

	memset(entry, 0, sizeof(*entry));
	for (; at < end; at += STEP) {
		const struct nilfs_dir_entry *de =
			(const void *)(w->it.block + at);

		room = w->it.block_size - at;
		if (room < dirent_rec_len(1))
			break;
		/*
		 * Lengths are not trustworthy: a name longer than its space
		 * would continue in zero bytes or in the next entry.
		 */
		room -= (uint32_t)offsetof(struct nilfs_dir_entry, name);
		if (room > de->name_len)
			room = de->name_len;
		e->name_len = (uint8_t)strnlen(de->name, room);
		e->ino = le64_get(de->inode);
		e->offset = at;
		e->rec_len = dirent_rec_len(e->name_len);
		e->type = de->file_type;
		e->name = de->name;
		if (!e->ino || dirent_check(e) || is_called(e, ".") ||
		    is_called(e, ".."))
			continue;
		find_inode(w, entry);
		if (entry->fate == ENTRYWALK_NAME && entry->type == e->type)
			return 1;
	}
	return 0;
}

void entrywalk_name_repair(struct entrywalk_name *out, const char *name,
			   uint8_t len, uint64_t ino)
{
	uint8_t i;

	memset(out, 0, sizeof(*out));
	memcpy(out->name, name, len);
	out->len = len;
	for (i = 0; i < len; i++)
		if (out->name[i] == '/' || !out->name[i])
			out->name[i] = '_';
	if (!len || (len <= 2 && !memcmp(out->name, "..", len)))
		out->len = (uint8_t)snprintf(out->name, sizeof(out->name),
					     "#%" PRIu64, ino);
}

int entrywalk_name_find(struct entrywalk_name *name, struct context *cx,
			struct nameset *tags, bool change, uint64_t ino)
{
	struct entrywalk_name original = *name;
	char suffix[SUFFIX_MAX] = "";
	size_t n, keep;
	unsigned int i;
	int ret;

	for (i = change ? 1 : 0;; i++) {
		if (!tags || i == TRIES)
			snprintf(suffix, sizeof(suffix), "~#%" PRIu64, ino);
		else if (i)
			snprintf(suffix, sizeof(suffix), "~%u", i);
		n = strlen(suffix);
		keep = original.len + n > NILFS_NAME_LEN ? NILFS_NAME_LEN - n
							 : original.len;
		memset(name, 0, sizeof(*name));
		memcpy(name->name, original.name, keep);
		memcpy(name->name + keep, suffix, n);
		name->len = (uint8_t)(keep + n);
		if (!tags || i == TRIES)
			return 0;
		ret = dupnames_add_tag(tags, cx, dupnames_tag(name->name, name->len));
		/* The name is free and is added; or there are too many names to
		   know. */
		if (ret)
			return ret == 1 || ret == -ENOBUFS ? 0 : ret;
	}
}
