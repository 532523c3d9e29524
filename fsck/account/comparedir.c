// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing directories of both sides.
 *
 * A repair may rewrite a directory completely, so blocks cannot be compared:
 * every name of a changed block is looked up among all names after the repair.
 * A name with another inode is a different name. An inode without a name gets
 * its number as name, in the directory itself or in one that the repair made in
 * the root.
 *
 * Names are proven in two ways. With the checksum of a log: the kernel leaves
 * entries in place, so a block is usually an older version of it with some
 * names deleted. With the times of inodes: the kernel sets the time of change
 * when an inode gains or loses a name. An inode with the same time in another
 * checkpoint has the same names there, and a version of the directory from then
 * proves them. A name read in a broken block is accepted, unless such a version
 * with another time has it too: then the block may be older than expected.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/damage.h"
#include "fsck/account/sides.h"
#include "vol/dir.h"

/* The maximum number of versions that are tried. */
#define VERSIONS_MAX 64u

/* The sources of a name. */
enum name_bits {
	NAME_IS = 1 << 0,     /* the directory has it after the repair */
	NAME_WAS = 1 << 1,    /* a block before the repair had it */
	NAME_NOW = 1 << 2,    /* a compared block has it after the repair */
	NAME_PROVEN = 1 << 3, /* NAME_NOW, and another version shows it */
	NAME_READ = 1 << 4,   /* a broken block has it */
	NAME_OLDER = 1 << 5,  /* another version has it, of another time */
};

/* The bits of the name of DE, or NULL if the name is not known. */
static uint64_t *find_name_bits(const struct comparedir *d,
				const struct dirent_entry *de)
{
	struct pairtable_entry *name =
		pairtable_find(&d->names, text_hash(de->name, de->name_len),
			       de->ino);

	return name ? &name->value : NULL;
}

/* Sets WHAT in the bits of the name of DE. -ENOMEM. */
static int note_name(struct comparedir *d, struct context *cx,
		     const struct dirent_entry *de, enum name_bits what)
{
	uint64_t *known = find_name_bits(d, de);

	if (!known)
		return pairtable_add(&d->names, cx,
				     text_hash(de->name, de->name_len),
				     de->ino, what);
	*known |= what;
	return 0;
}

/* Reads the names after the repair. Blocks that cannot be read after the repair
   are no loss. */
static int compare_read_names(struct comparedir *d, struct context *cx)
{
	struct dir_cursor cur;
	struct dir_entry entry;
	struct dirent_entry de;
	int ret = dir_cursor_open(&cur, cx, d->after);

	while (!ret && (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
		de = (struct dirent_entry){
			.ino = entry.ino,
			.name_len = entry.len,
			.name = entry.name,
		};
		ret = note_name(d, cx, &de, NAME_IS);
	}
	dir_cursor_close(&cur);
	d->read = true;
	return damage_forgive(cx, ret);
}

/* Whether DE is a name that the directory no longer has. */
static bool is_name_gone(const struct comparedir *d, const struct dirent_entry *de)
{
	const uint64_t *known = find_name_bits(d, de);

	return de->ino && !dirent_is_dots(de) &&
	       (!known || !(*known & NAME_IS));
}

/* Whether directory INO has the name of DE, for its inode, after the repair. */
static bool has_name_now(const struct comparedir *d, struct context *cx,
			 uint64_t ino, const struct dirent_entry *de)
{
	uint64_t found = 0;
	struct file dir;
	bool has = !root_file(&d->s->roots[1], cx, ino, &dir) &&
		   !dir_lookup(&dir, cx, de->name, de->name_len, &found);

	fail_clear(cx);
	return has && found == de->ino;
}

/*
 * Whether BLOCK belongs to another directory. Either it begins like the first block
 * of a directory and is not the first; or it is the first, its inode number differs,
 * and it has other names, if any: in one bit, if that directory has these names.
 */
static bool is_anothers(const struct comparedir *d, struct context *cx,
			uint64_t blkoff, const void *block)
{
	bool any = false, gone = false, moved = true;
	struct dirent_entry de;
	struct dirent_iter it;
	uint64_t ino, differs, more;

	dirent_iter_init(&it, block, d->s->before->geo.block_size);
	if (!dirent_iter_next(&it, &de))
		return false;
	if (blkoff)
		return de.ino && dirent_is_dots(&de);
	ino = de.ino;
	differs = ino ^ d->after->ino;
	more = differs & (differs - 1);
	if (!differs)
		return false;
	do {
		if (!de.ino || dirent_is_dots(&de))
			continue;
		any = true;
		gone |= is_name_gone(d, &de);
		moved = moved && (more || has_name_now(d, cx, ino, &de));
	} while (dirent_iter_next(&it, &de));
	return moved && (gone || (!any && more));
}

/*
 * Whether the block at BLOCKNR, in the log at PSEG, was version ONE without the
 * names that are gone. Both orders of deletion are tried. In forward order the
 * last entry left gets the room; in backward order an entry that is deleted
 * later takes the room with it. ENTRIES has room for all entries.
 */
static bool was_version(const struct comparedir *d, struct context *cx,
			uint64_t pseg, uint64_t blocknr,
			const struct version *one, struct dirent_entry *entries)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	struct nilfs_dir_entry *de, *last;
	char *block = s->blocks[1];
	struct dirent_iter it;
	size_t i, k, n, before;
	int backwards;

	for (backwards = 0; backwards < 2; backwards++) {
		if (!sides_read(s, cx, false, one->blocknr))
			return false;
		memcpy(block, s->blocks[0], size);
		n = before = 0;
		dirent_iter_init(&it, block, size);
		while (dirent_iter_next(&it, &entries[n]))
			n++;
		if (it.verdict) /* not a directory block */
			return false;
		for (k = 0; k < n; k++) {
			i = backwards ? n - 1 - k : k;
			if (!is_name_gone(d, &entries[i])) {
				before = i;
				continue;
			}
			/* As nilfs_delete_entry(): the previous entry takes its
			   room. */
			de = (void *)(block + entries[i].offset);
			de->inode = le64_make(0);
			if (backwards)
				before = i ? i - 1 : 0;
			if (i == before)
				continue;
			last = (void *)(block + entries[before].offset);
			last->rec_len = dirent_rec_len_encode(
				dirent_rec_len_decode(last->rec_len) +
				dirent_rec_len_decode(de->rec_len));
		}
		if (sides_was_written(s, cx, pseg, blocknr, block))
			return true;
	}
	return false;
}

/*
 * Finds the content with which block BLKOFF of the directory, at BLOCKNR before
 * the repair, was written: its content after the repair, or an older version
 * without the names that the directory lost. Borrowed until the buffers of the
 * sides are reused; NULL if no checksum proves the content.
 */
static const void *find_written(const struct comparedir *d, struct context *cx,
				uint64_t blkoff, uint64_t blocknr)
{
	struct sides *s = d->s;
	size_t most = s->before->geo.block_size / dirent_rec_len(1) + 1, i, n;
	struct dirent_entry *entries;
	const struct version *all;
	uint64_t pseg, now;
	bool found = false;
	int ret;

	if (sides_is_right(s, cx, false, blocknr, &pseg))
		return NULL;
	ret = file_lookup(d->after, cx, blkoff, &now);
	fail_clear(cx);
	if (ret > 0 && sides_read(s, cx, true, now) &&
	    sides_was_written(s, cx, pseg, blocknr, s->blocks[1]))
		return s->blocks[1];
	entries = calloc(most + 1, sizeof(*entries));
	all = versions_of(&s->versions, d->after->ino, blkoff, blkoff + 1, &n);
	for (i = 0; entries && !found && i < n && i < VERSIONS_MAX; i++)
		found = all[i].blocknr != blocknr &&
			was_version(d, cx, pseg, blocknr, &all[i], entries);
	free(entries);
	return found ? s->blocks[1] : NULL;
}

/*
 * Reads inode INO in the state before the repair into *NOW, and as of
 * checkpoint CNO in the logs into *THEN. False if one of them is not known.
 * Uses the second buffer.
 */
static bool read_inodes(struct sides *s, struct context *cx, uint64_t ino,
			uint64_t cno, struct nilfs_inode *now,
			struct nilfs_inode *then)
{
	const struct palloc *p = &s->before->ifile_palloc;
	uint64_t blkoff = palloc_entry_blkoff(p, ino);
	const struct version *all;
	struct palloc_block b;
	bool is_known;
	size_t i = 0, n;

	all = versions_of(&s->versions, NILFS_IFILE_INO, blkoff, blkoff + 1,
			  &n);
	while (i < n && all[i].cno > cno)
		i++;
	is_known = i < n && s->has_before &&
		   !root_inode(&s->roots[0], cx, ino, now) &&
		   !volume_read_blocks(s->before, cx, all[i].blocknr, 1,
				       s->blocks[1]);
	fail_clear(cx);
	if (!is_known)
		return false;
	palloc_locate(p, blkoff, &b);
	*then = *sides_inode(s, s->blocks[1], ino - b.first);
	return true;
}

/* Marks the new names that version ONE of a block of the directory proves. */
static void prove_by_version(const struct comparedir *d, struct context *cx,
			     const struct version *one)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	struct nilfs_inode now, then;
	struct dirent_entry de;
	struct dirent_iter it;
	uint64_t *known;
	size_t i;

	for (i = 0; i < d->nblocks; i++)
		if (d->blocks[i].blocknr == one->blocknr)
			return; /* the block that could not be read */
	if (!read_inodes(s, cx, d->after->ino, one->cno, &now, &then) ||
	    le32_get(then.i_generation) != le32_get(now.i_generation) ||
	    !sides_read(s, cx, false, one->blocknr) ||
	    dirent_check_block(s->blocks[0], size))
		return;
	dirent_iter_init(&it, s->blocks[0], size);
	while (dirent_iter_next(&it, &de)) {
		known = de.ino ? find_name_bits(d, &de) : NULL;
		if (!known || !(*known & NAME_NOW) ||
		    *known & (NAME_WAS | NAME_PROVEN))
			continue;
		/* The inode has the same names in the
		   state and at that time. */
		if (read_inodes(s, cx, de.ino, one->cno, &now, &then) &&
		    sides_links(&then) &&
		    sides_links(&then) == sides_links(&now) &&
		    le32_get(then.i_generation) == le32_get(now.i_generation) &&
		    le64_get(then.i_ctime) == le64_get(now.i_ctime) &&
		    le32_get(then.i_ctime_nsec) == le32_get(now.i_ctime_nsec))
			*known |= NAME_PROVEN;
		else
			*known |= NAME_OLDER;
	}
}

int comparedir_confirm(struct comparedir *d, struct context *cx)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	const struct version *all;
	struct dirent_entry de;
	struct dirent_iter it;
	uint64_t *known, is;
	bool are_all = true;
	size_t i, n;
	int ret = 0;

	if (!s->has_before || !d->has_new)
		return s->has_before;
	/* The readable names of broken blocks. */
	for (i = 0; i < d->nblocks; i++) {
		if (d->blocks[i].is_known || !d->blocks[i].blocknr ||
		    !sides_read(s, cx, false, d->blocks[i].blocknr) ||
		    !dirent_check_block(s->blocks[0], size))
			continue;
		dirent_iter_init(&it, s->blocks[0], size);
		while (dirent_iter_next(&it, &de)) {
			known = de.ino ? find_name_bits(d, &de) : NULL;
			if (known && !dirent_check(&de))
				*known |= NAME_READ;
		}
	}
	all = versions_of(&s->versions, d->after->ino, 0, UINT64_MAX, &n);
	for (i = 0; i < n && !ret; i++) {
		prove_by_version(d, cx, &all[i]);
		ret = context_cancelled(cx);
	}
	for (i = 0; i < d->names.room; i++) {
		is = d->names.slots[i].value;
		are_all &= !(is & NAME_NOW) || is & (NAME_WAS | NAME_PROVEN) ||
			   (is & NAME_READ && !(is & NAME_OLDER));
	}
	return ret ? ret : are_all;
}

/*
 * Whether DE, in the block at BLOCKNR of the directory before the repair, is a
 * name of a deleted file: another version has it, of a checkpoint in which
 * another file had that inode number. Uses the buffers of the sides.
 */
static bool is_former(const struct comparedir *d, struct context *cx,
		      uint64_t blocknr, const struct dirent_entry *de)
{
	struct sides *s = d->s;
	struct nilfs_inode now, then;
	const struct version *all;
	struct dirent_entry other;
	struct dirent_iter it;
	bool found = false, any;
	size_t i, n;

	all = versions_of(&s->versions, d->after->ino, 0, UINT64_MAX, &n);
	for (i = 0; i < n && s->has_before && !found; i++) {
		if (all[i].blocknr == blocknr ||
		    !sides_read(s, cx, false, all[i].blocknr))
			continue;
		any = false;
		dirent_iter_init(&it, s->blocks[0],
				 s->before->geo.block_size);
		while (!any && dirent_iter_next(&it, &other))
			any = other.ino == de->ino &&
			      other.name_len == de->name_len &&
			      !memcmp(other.name, de->name, de->name_len);
		found = any &&
			read_inodes(s, cx, de->ino, all[i].cno, &now, &then) &&
			le32_get(then.i_generation) !=
				le32_get(now.i_generation);
	}
	return found;
}

/* Adds NAME of inode INO in directory DIR if a repair makes such names for inodes
   that lost theirs: "#12", or "NAME~1" if NAME is in use, or was before. */
static int compare_number(const struct comparedir *d, struct context *cx,
			  uint64_t dir, uint64_t ino, const char *name,
			  size_t len)
{
	const struct loss loss = {.kind = LOSS_RENAMED, .dir = dir, .ino = ino};
	char number[32];
	size_t n = (size_t)snprintf(number, sizeof(number), "#%" PRIu64, ino);
	size_t at = len;
	struct file before;
	uint64_t other;
	bool is_made = len >= n && !memcmp(name, number, n);

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	at -= at > 1 && name[at - 1] == '#';
	if (!is_made && at > 1 && at < len && name[at - 1] == '~')
		is_made = !dir_lookup(d->after, cx, name, at - 1, &other) ||
			  (!root_file(&d->s->roots[0], cx, dir, &before) &&
			   !dir_lookup(&before, cx, name, at - 1, &other));
	fail_clear(cx);
	return is_made ? sides_add_loss(d->s, cx, d->state, &loss, name, len) : 0;
}

/* Notes the names in block BLKOFF after the repair. If its former content
   IS_KNOWN, adds the names that replace other names of the same files. */
static int compare_new(struct comparedir *d, struct context *cx,
		       uint64_t blkoff, bool is_known)
{
	struct dirent_entry de;
	struct dirent_iter it;
	const uint64_t *known;
	const void *now;
	int err = 0, ret = file_block(d->after, cx, blkoff, &now);

	d->s->unconfirmed |= ret < 0;
	if (ret <= 0)
		return damage_forgive(cx, ret);
	dirent_iter_init(&it, now, d->s->before->geo.block_size);
	while (!err && dirent_iter_next(&it, &de)) {
		known = find_name_bits(d, &de);
		if (!de.ino || dirent_is_dots(&de) ||
		    (known && *known & NAME_WAS))
			continue;
		d->has_new = true;
		err = note_name(d, cx, &de, NAME_NOW);
		if (!err && is_known)
			err = compare_number(d, cx, d->after->ino, de.ino,
					     de.name, de.name_len);
	}
	file_put(d->after, now);
	return err;
}

int comparedir_made(const struct comparedir *d, struct context *cx)
{
	struct dir_cursor top = {.at_broken_block = false}, cur;
	struct dir_entry entry, made;
	struct nilfs_inode inode;
	struct sides *s = d->s;
	struct file file;
	int ret, err = 0;

	if (!s->has_before)
		return 0;
	ret = dir_cursor_open(&top, cx, d->after);
	while (!ret && !err &&
	       (ret = dir_cursor_next_sound(&top, cx, &entry)) > 0) {
		ret = 0;
		if (entry.type != NILFS_FT_DIR || dir_is_dots(&entry) ||
		    root_inode(&s->roots[0], cx, entry.ino, &inode) !=
			    -ENOENT) {
			fail_clear(cx);
			continue;
		}
		cur = (struct dir_cursor){.at_broken_block = false};
		err = root_file(&s->roots[1], cx, entry.ino, &file) ?:
		      dir_cursor_open(&cur, cx, &file);
		while (!err &&
		       (err = dir_cursor_next_sound(&cur, cx, &made)) > 0)
			err = compare_number(d, cx, entry.ino, made.ino,
					     made.name, made.len);
		dir_cursor_close(&cur);
		err = damage_forgive(cx, err);
		fail_clear(cx);
	}
	dir_cursor_close(&top);
	return err ? err : damage_forgive(cx, ret);
}

/*
 * Whether the name in DE, which the directory no longer has, is lost. DE was
 * wrong if the directory has the name with another inode. DE was also wrong in
 * a snapshot, where a repair adds no names, if its inode has as many names as
 * before. A name whose inode was not in use is not lost: an older block had
 * replaced the block, and the file had been deleted. If that is not known, a
 * missing inode is reported by itself, and an existing one has all its names.
 */
static bool is_name_lost(const struct comparedir *d, struct context *cx,
			 const struct dirent_entry *de)
{
	struct sides *s = d->s;
	struct nilfs_inode then, now;
	int used = -ENOENT, is, was = -ENOENT;
	uint64_t ino;
	bool other;

	other = s->in->is_sound &&
		!dir_lookup(d->after, cx, de->name, de->name_len, &ino);
	is = root_inode(&s->roots[1], cx, de->ino, &now);
	if (s->has_before)
		was = root_inode(&s->roots[0], cx, de->ino, &then);
	if ((other || (s->in->is_sound && !d->state->latest)) && !is && !was &&
	    sides_links(&then) == sides_links(&now))
		return false;
	/* The entry never led to a file. */
	if (other && is == -ENOENT && was == -ENOENT && s->has_before)
		return false;
	fail_clear(cx);
	if (s->has_before)
		used = attributes_is_in_use(&s->roots[0].ifile, cx, de->ino);
	return used < 0 ? !other || (is != -ENOENT && s->has_before) : used;
}

/*
 * Copies block BLKOFF, which was at BLOCKNR, as it was written into d->block,
 * and notes the block and its names. 1, 0 if that content is not known,
 * -ENOMEM.
 */
static int comparedir_take_block(struct comparedir *d, struct context *cx,
				 uint64_t blkoff, uint64_t blocknr)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	const void *found = NULL;
	struct dirent_entry de;
	struct dirent_iter it;
	enum rule rule = RULE_OK;
	int err = 0;

	if (!d->block && !(d->block = malloc(size)))
		return fail(cx, -ENOMEM, "block of a directory");
	if (blocknr)
		found = find_written(d, cx, blkoff, blocknr);
	if (blocknr && !found && sides_read(s, cx, false, blocknr)) {
		/* A name of a reserved inode led to no file. The file of that
		   name is reported elsewhere if it has no name now. */
		dirent_iter_init(&it, s->blocks[0], size);
		while (!rule && dirent_iter_next(&it, &de))
			if ((rule = dirent_check(&de)) == RULE_DIR_PRIVATE_INO)
				rule = RULE_OK;
		if (!rule && !it.verdict &&
		    !is_anothers(d, cx, blkoff, s->blocks[0]))
			found = s->blocks[0];
	}
	if (array_reserve(cx, &d->blocks, &d->blocks_room, d->nblocks + 1))
		return -ENOMEM;
	d->blocks[d->nblocks++] =
		(struct comparedir_place){blkoff, blocknr, found};
	if (!found)
		return blocknr ? sides_note_wrong(s, cx, blocknr, 0) : 0;
	memcpy(d->block, found, size);
	dirent_iter_init(&it, d->block, size);
	while (!err && dirent_iter_next(&it, &de))
		if (de.ino)
			err = note_name(d, cx, &de, NAME_WAS);
	return err ? err : 1;
}

int comparedir_block(struct comparedir *d, struct context *cx, uint64_t blkoff,
		     uint64_t blocknr)
{
	struct sides *s = d->s;
	uint32_t size = s->before->geo.block_size;
	const struct loss unknown = {
		.kind = LOSS_UNKNOWN,
		.is_open = true,
		.ino = d->after->ino,
		.offset = blkoff * size,
		.length = size,
	};
	struct loss loss = {.kind = LOSS_NAME, .dir = d->after->ino};
	struct dirent_entry de;
	struct dirent_iter it;
	int ret = d->read ? 0 : compare_read_names(d, cx), err = 0;

	if (!ret)
		ret = comparedir_take_block(d, cx, blkoff, blocknr);
	if (ret < 0)
		return ret;
	if (!ret) {
		/* Names are compared with what their inodes were. */
		err = sides_doubt(s, cx, NILFS_IFILE_INO) ?:
		      sides_add_loss(s, cx, d->state, &unknown, NULL, 0);
		return err ? err : compare_new(d, cx, blkoff, false);
	}
	dirent_iter_init(&it, d->block, size);
	while (!err && dirent_iter_next(&it, &de)) {
		if (!is_name_gone(d, &de) ||
		    dirent_check(&de) == RULE_DIR_PRIVATE_INO ||
		    !is_name_lost(d, cx, &de))
			continue;
		loss.ino = de.ino;
		/* The block may be of another checkpoint. */
		loss.is_open = attributes_is_missing(s, cx, de.ino) ||
			       is_former(d, cx, blocknr, &de);
		err = sides_add_loss(s, cx, d->state, &loss, de.name, de.name_len);
		if (!err) /* is_name_lost() may read the former inode */
			err = sides_doubt(s, cx, NILFS_IFILE_INO);
	}
	return err ? err : compare_new(d, cx, blkoff, true);
}

void comparedir_fini(struct comparedir *d)
{
	pairtable_fini(&d->names);
	free(d->block);
	free(d->blocks);
}
