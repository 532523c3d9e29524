// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the parts of a repair of names ask one another.
 */
#include "fsck/names/namefix.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "disk/ondisk.h"

#define TELL_MAX 512
#define TOLD_MOST 100u

static const char *const rest[NAMEFIX_TELL_COUNT] = {
	[NAMEFIX_TELL_DIR] = "directories written again",
	[NAMEFIX_TELL_REMOVED] = "names removed",
	[NAMEFIX_TELL_RENAMED] = "names changed",
	[NAMEFIX_TELL_FOUND] = "names found again",
	[NAMEFIX_TELL_LINKS] = "link counts set",
	[NAMEFIX_TELL_LOST] = "inodes put into the lost+found directory",
	[NAMEFIX_TELL_FREED] = "inodes freed",
};

void namefix_tell(struct namefix *f, enum namefix_topic topic, const char *fmt,
		  ...)
{
	char text[TELL_MAX];
	va_list ap;

	if (f->told[topic]++ >= TOLD_MOST)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fixers_tell(f->job, "%s", text);
}

void namefix_tell_rest(struct namefix *f)
{
	unsigned int i;

	for (i = 0; i < NAMEFIX_TELL_COUNT; i++) {
		if (f->told[i] > TOLD_MOST)
			fixers_tell(f->job, "%s: %llu more", rest[i],
				    (unsigned long long)f->told[i] -
					    TOLD_MOST);
	}
}

bool namefix_is_partial(const struct namefix *f)
{
	return !f->lossy && f->n.lost;
}

bool namefix_is_due(const struct namefix *f, size_t dir)
{
	const unsigned int loses = NAMEFIX_LOSES | NAMEFIX_GONE |
				   NAMEFIX_BAD_NAME;
	unsigned int flags = f->flags[dir];

	if (flags & NAMEFIX_FREED)
		return false;
	if (!f->lossy)
		return flags & NAMEFIX_ENTRIES && !(flags & loses);
	return flags & (NAMEFIX_ENTRIES | loses);
}

uint64_t namefix_parent(const struct namefix *f, size_t dir)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];

	if (d->ino == NILFS_ROOT_INO)
		return NILFS_ROOT_INO;
	if (d->parent == NAMEFIX_MADE + 1)
		return f->lost.ino;
	if (d->parent)
		return f->n.list.dirs[d->parent - 1].ino;
	return d->dotdot ? d->dotdot : NILFS_ROOT_INO;
}

static bool is_file(const struct inodelist_row *row)
{
	uint8_t kind = row->chunk->kind[row->at];

	return kind & INODELIST_ALLOCATED && !(kind & INODELIST_REFUSED) &&
	       (kind & INODELIST_TYPE) != NILFS_FT_UNKNOWN &&
	       (kind & INODELIST_TYPE) != NILFS_FT_DIR &&
	       row->chunk->first + row->at >= NILFS_USER_INO;
}

bool namefix_is_missed(const struct inodelist_row *row)
{
	return is_file(row) &&
	       row->chunk->names[row->at] < row->chunk->links[row->at];
}

bool namefix_is_unnamed(const struct inodelist_row *row)
{
	return namefix_is_missed(row) && !row->chunk->names[row->at] &&
	       !(row->chunk->kind[row->at] & INODELIST_MKFS);
}

bool namefix_is_orphaned(struct namefix *f, size_t dir)
{
	const struct inodelist_dir *d = &f->n.list.dirs[dir];
	struct inodelist_row row;

	if (d->parent || d->ino < NILFS_USER_INO)
		return false;
	row = inodelist_find(&f->n.list, d->ino);
	return row.chunk->kind[row.at] & INODELIST_ALLOCATED &&
	       !(row.chunk->kind[row.at] & INODELIST_REFUSED) &&
	       (row.chunk->links[row.at] || f->flags[dir] & NAMEFIX_PARENT);
}

bool namefix_has_missed(struct namefix *f)
{
	struct inodelist_row row;
	size_t i;

	for (i = 0; i < f->n.list.ndirs; i++) {
		if (namefix_is_orphaned(f, i))
			return true;
	}
	for (i = 0; i < f->n.list.nchunks; i++) {
		row.chunk = f->n.list.chunks[i];
		for (row.at = 0; row.at < INODELIST_CHUNK; row.at++) {
			if (namefix_is_missed(&row))
				return true;
		}
	}
	return false;
}

int namefix_found(struct namefix *f, struct context *cx, size_t dir,
		  const struct inodelist_row *row, uint64_t ino,
		  const char *name, uint8_t len)
{
	char text[TEXT_ESCAPED_MAX(NILFS_NAME_LEN)];
	size_t child;

	if ((row->chunk->kind[row->at] & INODELIST_TYPE) == NILFS_FT_DIR) {
		child = inodelist_find_dir(&f->n.list, ino);
		if (child == dir || !namefix_is_orphaned(f, child))
			return 0;
		f->n.list.dirs[child].parent = (uint32_t)dir + 1;
	} else if (!namefix_is_missed(row)) {
		return 0;
	} else {
		row->chunk->names[row->at]++;
	}
	text_escape(text, sizeof(text), name, len);
	namefix_tell(f, NAMEFIX_TELL_FOUND, "directory %llu: found '%s' of "
		     "inode %llu again",
		     (unsigned long long)f->n.list.dirs[dir].ino, text,
		     (unsigned long long)ino);
	f->flags[dir] |= NAMEFIX_ENTRIES;
	return addnames_add(&f->adds, cx, (uint32_t)dir, ino, name, len);
}
