// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of inodes, of the newest checkpoint; those of snapshots are
 * pastinodes.c's.
 *
 * An inode that still makes sense gets back the fields that are wrong, each
 * from what the rest of the volume says.  One that does not is replaced by the
 * newest sound one that an older checkpoint has (oldinodes.h), and its map is
 * repaired, if it is not what it was.  Where there is none, its type is what
 * its names say, or its content, and its blocks are those that the logs list.
 * Where nothing of that is known it is cleared, and its names are for the
 * repair of names.
 *
 * A root of which nothing is left is rebuilt, empty, because everything else
 * can be hung up in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/sort.h"
#include "disk/dirpack.h"
#include "disk/inode.h"
#include "fsck/maps/mapfile.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"
#include "fsck/tree/fix_ifile.h"
#include "fsck/tree/lostinodes.h"
#include "fsck/tree/inoderepair.h"
#include "fsck/tree/oldinodes.h"
#include "fsck/tree/pastinodes.h"
#include "log/remap.h"
#include "log/repairwriter.h"

#define ROOT_LINKS 2

struct fixing {
	struct fixer_job *job;
	struct inodeedit edit;
	struct oldinodes old;
	struct lostinodes lost;
	uint64_t blkoff;		/* of the ifile, that was looked at */
	uint64_t *revived;		/* whose maps are of the past */
	size_t nrevived, revived_room;
	size_t ndirs;			/* directories that can be read again */
	size_t nlater;			/* inodes whose type is not known yet */
	bool last;			/* those are cleared */
};

struct holes {
	uint64_t *list;			/* blocks of the ifile */
	size_t n, room;
};

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Whether the ifile of the newest checkpoint has what is wrong. */
static bool is_newest(const struct fixing *f, const struct fix *fix)
{
	return fix->place.kind == PLACE_INODE &&
	       (!inode_is_metadata(fix->place.ino) ||
		fix->rule == RULE_INODE_RESERVED_FREE) &&
	       fix->place.cno == f->job->vol->latest.cno;
}

/* Lists the blocks of the ifile that have what is wrong, each once. */
static int list_blocks(const struct fixing *f, struct context *cx,
		       const struct fix *fixes, size_t n, uint64_t **blocks,
		       size_t *nblocks)
{
	size_t i, kept = 0, found = 0;

	*blocks = calloc(n ? n : 1, sizeof(**blocks));
	if (!*blocks)
		return fail(cx, -ENOMEM, "blocks of %zu inodes", n);
	for (i = 0; i < n; i++)
		if (is_newest(f, &fixes[i]))
			(*blocks)[found++] = palloc_entry_blkoff(
				f->edit.palloc, fixes[i].place.ino);
	if (found)
		sort_in_place(*blocks, found, sizeof(**blocks),
			      compare_numbers);
	for (i = 0; i < found; i++)
		if (!kept || (*blocks)[kept - 1] != (*blocks)[i])
			(*blocks)[kept++] = (*blocks)[i];
	*nblocks = kept;
	return 0;
}

/*
 * Asks the names for the types of what is wrong, and of the inodes beside it,
 * which may be no better.
 */
static int find_types(struct fixing *f, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	uint64_t *blocks;
	size_t i, nblocks = 0;
	int err = list_blocks(f, cx, fixes, n, &blocks, &nblocks);

	for (i = 0; !err && i < nblocks; i++)
		err = lostinodes_add(&f->lost, cx, f->edit.palloc, blocks[i]);
	free(blocks);
	return err ? err : lostinodes_read_names(&f->lost, cx);
}

/* A root with nothing in it, mounted all the same. */
static int make_root(struct fixing *f, struct context *cx)
{
	uint32_t block_size = f->job->vol->geo.block_size;
	struct nilfs_inode root = {
		.i_size = le64_make(block_size),
		.i_ctime = le64_make(f->job->time),
		.i_mtime = le64_make(f->job->time),
		.i_mode = le16_make(S_IFDIR | 0755),
		.i_links_count = le16_make(ROOT_LINKS),
	};
	struct remap *map = NULL;
	struct dirpack p;
	void *block = malloc(block_size);
	int err = block ? 0 : fail(cx, -ENOMEM, "block of a directory");

	if (err)
		return err;
	dirpack_init(&p, block, block_size);
	dirpack_add(&p, NILFS_ROOT_INO, NILFS_FT_DIR, ".", 1);
	dirpack_add(&p, NILFS_ROOT_INO, NILFS_FT_DIR, "..", 2);
	dirpack_end(&p);
	err = remap_open(&map, cx, f->job->writer, NILFS_ROOT_INO);
	if (!err)
		err = remap_put(map, cx, 0, block);
	if (!err)
		err = remap_finish(map, cx, &root);
	if (!err)
		err = inodeedit_write(&f->edit, cx, NILFS_ROOT_INO, &root);
	remap_close(map);
	free(block);
	if (!err)
		fixers_note(f->job, "root directory: created as an empty one");
	return err;
}

static bool is_garbage(const struct fixing *f, const struct nilfs_inode *inode)
{
	return inoderepair_is_garbage(&f->job->vol->geo, inode);
}

static bool has_signs(const struct fixing *f, const struct nilfs_inode *inode)
{
	return inoderepair_signs(&f->job->vol->geo, inode);
}

static int write_inode(struct fixing *f, struct context *cx, uint64_t ino,
		       const struct nilfs_inode *inode)
{
	f->ndirs += S_ISDIR(le16_get(inode->i_mode));
	return inodeedit_write(&f->edit, cx, ino, inode);
}

/* INODE of an older checkpoint with the map of NOW, or its own. */
static int take_map(struct fixing *f, struct context *cx, uint64_t ino,
		    const struct nilfs_inode *now, struct nilfs_inode *inode)
{
	int ret = oldinodes_take_map(f->job, cx, ino, now, inode);

	if (ret)
		return ret < 0 ? ret : 0;
	if (array_reserve(cx, &f->revived, &f->revived_room, f->nrevived + 1))
		return -ENOMEM;
	f->revived[f->nrevived++] = ino;
	return 0;
}

/*
 * Takes inode INO from an older checkpoint, or makes one of what its names say;
 * with the blocks that the logs know.  1, 0 where nothing is known.
 */
static int revive_inode(struct fixing *f, struct context *cx, uint64_t ino)
{
	struct nilfs_inode now, inode;
	uint64_t cno, end;
	int ret = oldinodes_find(&f->old, cx, ino, &inode, &cno);
	bool found = ret > 0;

	if (ret >= 0)
		ret = inodeedit_read(&f->edit, cx, ino, &now);
	if (ret > 0)
		ret = lostinodes_map(&f->lost, cx, ino, &now, &end);
	if (ret < 0 || (!found && !ret))
		return ret;
	if (found) {
		fixers_note(f->job, "inode %llu: restored from checkpoint %llu",
			    (unsigned long long)ino, (unsigned long long)cno);
		ret = take_map(f, cx, ino, &now, &inode);
	} else {
		inode = now;
		ret = lostinodes_make(&f->lost, cx, ino, &inode, end);
		if (ret <= 0)
			return ret;
		fixers_note(f->job, "inode %llu: rebuilt from the logs",
			    (unsigned long long)ino);
		ret = 0;
	}
	if (!ret)
		ret = write_inode(f, cx, ino, &inode);
	return ret ? ret : 1;
}

/* Of inode INO nothing can be used. */
static int replace_inode(struct fixing *f, struct context *cx, uint64_t ino)
{
	int ret = revive_inode(f, cx, ino);

	if (ret)
		return ret < 0 ? ret : 0;
	if (ino == NILFS_ROOT_INO)
		return make_root(f, cx);
	if (!f->last) {
		f->nlater++;
		return 0;
	}
	fixers_note(f->job, "inode %llu: lost, no checkpoint has it",
		    (unsigned long long)ino);
	return inodeedit_clear(&f->edit, cx, ino);
}

/* Makes INODE right: 1, 0 where nothing can be made of it. */
static int repair_fields(struct fixing *f, struct context *cx,
			 const struct fix *fix, struct nilfs_inode *inode)
{
	uint64_t ino = fix->place.ino;

	if (fix->rule == RULE_INODE_EMPTY ||
	    (fix->rule == RULE_INODE_MODE && is_garbage(f, inode)))
		return 0;
	return inoderepair_fields(f->job->vol, cx, ino,
				  lostinodes_type(&f->lost, ino),
				  inode);
}

/* Inode INO where it is in use: 1, 0. */
static int read_used(const struct fixing *f, struct context *cx, uint64_t ino,
		     struct nilfs_inode *inode)
{
	int ret = inode_is_private(ino) ? 0 :
					  inodeedit_is_used(&f->edit, cx, ino);

	return ret > 0 ? inodeedit_read(&f->edit, cx, ino, inode) : ret;
}

/*
 * Whether INODE, of number INO, is what an older checkpoint has there: 1, also
 * where none has it, 0 where it is another one.
 */
static int is_known(struct fixing *f, struct context *cx, uint64_t ino,
		    const struct nilfs_inode *inode)
{
	struct nilfs_inode old;
	uint64_t cno;
	int ret;

	f->old.now = inode;
	ret = oldinodes_find(&f->old, cx, ino, &old, &cno);
	f->old.now = NULL;
	if (ret <= 0)
		return ret < 0 ? ret : 1;
	return inode_is_same_file(&old, inode);
}

/*
 * Whether several inodes of the block are garbage: 1, 0.  Empty ones may be
 * some that the kernel had not got round to.
 */
static int is_noise(struct fixing *f, struct context *cx,
		    const struct palloc_block *what)
{
	struct nilfs_inode inode;
	unsigned int garbage = 0;
	uint64_t ino;
	int ret = 0;

	for (ino = what->first; ino < what->first + what->count && ret >= 0;
	     ino++) {
		ret = read_used(f, cx, ino, &inode);
		if (ret > 0 && !inode_is_empty(&inode) &&
		    has_signs(f, &inode))
			ret = is_garbage(f, &inode)
				      ? 0 : is_known(f, cx, ino, &inode);
		else
			ret = ret < 0 ? ret : 1;
		garbage += !ret;
	}
	return ret < 0 ? ret : garbage > 1;
}

/* Inode INO of a block of noise, which may have been spared. */
static int replace_doubtful(struct fixing *f, struct context *cx, uint64_t ino)
{
	struct nilfs_inode inode;
	int ret = read_used(f, cx, ino, &inode);

	if (ret < 0 || inode_is_private(ino))
		return ret < 0 ? ret : 0;
	if (!ret)
		return inodeedit_clear(&f->edit, cx, ino);
	ret = has_signs(f, &inode) ? 0 : is_known(f, cx, ino, &inode);
	if (ret)
		return ret < 0 ? ret : 0;
	f->old.now = &inode;
	ret = replace_inode(f, cx, ino);
	f->old.now = NULL;
	return ret;
}

/* All of the block is something else: nothing can be made of what is wrong. */
static int replace_noise(struct fixing *f, struct context *cx,
			const struct palloc_block *what)
{
	uint64_t ino;
	int ret = 0;

	for (ino = what->first; ino < what->first + what->count && ret >= 0;
	     ino++)
		ret = replace_doubtful(f, cx, ino);
	return ret < 0 ? ret : 0;
}

/* The block of the ifile that has inode INO, once. */
static int repair_block(struct fixing *f, struct context *cx, uint64_t ino)
{
	uint64_t blkoff = palloc_entry_blkoff(f->edit.palloc, ino);
	struct palloc_block what;
	int ret;

	if (f->blkoff == blkoff)
		return 0;
	f->blkoff = blkoff;
	palloc_locate(f->edit.palloc, blkoff, &what);
	ret = is_noise(f, cx, &what);
	return ret > 0 ? replace_noise(f, cx, &what) : ret;
}

/* An inode with links that is marked free: one of the two is not right. */
static int take_back(struct fixing *f, struct context *cx, uint64_t ino,
		     const struct nilfs_inode *inode)
{
	if (inode_check(&f->job->vol->geo, inode, ino) != RULE_OK)
		return inodeedit_clear(&f->edit, cx, ino);
	fixers_note(f->job, "inode %llu: marked as in use",
		    (unsigned long long)ino);
	return inodeedit_mark(&f->edit, cx, ino, true);
}

/*
 * Whether INODE, in which something else is wrong, is not what its names say
 * either.
 */
static bool is_misnamed(const struct fixing *f, uint64_t ino,
			const struct nilfs_inode *inode)
{
	uint8_t type = lostinodes_type(&f->lost, ino);

	return type != NILFS_FT_UNKNOWN &&
	       type != inode_dirent_type(le16_get(inode->i_mode));
}

static int repair_inode(struct fixing *f, struct context *cx,
			const struct fix *fix)
{
	uint64_t ino = fix->place.ino;
	struct nilfs_inode inode;
	unsigned int signs;
	enum rule rule;
	bool misnamed;
	int ret;

	if (fix->rule == RULE_INODE_RESERVED_FREE)
		return inodeedit_mark(&f->edit, cx, ino, true);
	ret = repair_block(f, cx, ino);
	if (!ret)
		ret = inodeedit_read(&f->edit, cx, ino, &inode);
	if (ret < 0)
		return ret;
	if (fix->rule == RULE_INODE_FREE)
		return take_back(f, cx, ino, &inode);
	ret = inodeedit_is_used(&f->edit, cx, ino);
	if (ret < 0 || (!ret && ino != NILFS_ROOT_INO))
		return ret;
	signs = inoderepair_signs(&f->job->vol->geo, &inode);
	misnamed = signs && is_misnamed(f, ino, &inode);
	ret = signs + misnamed > 1 ? revive_inode(f, cx, ino) : 0;
	/* What its map leads to may be whole. */
	if (!ret && misnamed)
		inoderepair_set_type(lostinodes_type(&f->lost, ino),
				     &inode);
	if (!ret)
		ret = inoderepair_check(f->job->vol, cx, ino, &inode, &rule);
	if (ret || (rule == RULE_OK && !misnamed))
		return ret < 0 ? ret : 0;
	ret = rule == RULE_OK ? 1 : repair_fields(f, cx, fix, &inode);
	if (ret < 0)
		return ret;
	if (!ret)
		return replace_inode(f, cx, ino);
	fixers_note(f->job, "inode %llu: fields repaired",
		    (unsigned long long)ino);
	return write_inode(f, cx, ino, &inode);
}

/* Whether the block of the ifile is missing, and that of no reserved inode: 1,
   0. */
static int is_hole(const struct fixing *f, struct context *cx, uint64_t blkoff)
{
	struct palloc_block what;
	uint64_t ptr;
	int ret = metafile_lookup(f->edit.ifile, cx, blkoff, &ptr);

	palloc_locate(f->edit.palloc, blkoff, &what);
	return ret < 0 ? ret : !ret && what.first >= NILFS_USER_INO;
}

/* Inode INO, in use, is replaced where it is nothing. */
static int replace_empty(struct fixing *f, struct context *cx, uint64_t ino)
{
	struct nilfs_inode inode;
	int ret = inodeedit_read(&f->edit, cx, ino, &inode);

	if (ret < 0 || !inode_is_empty(&inode) || inode_is_private(ino))
		return ret < 0 ? ret : 0;
	return replace_inode(f, cx, ino);
}

/* Inodes of lost block BLKOFF in use: freed if not found, *NFREED more. */
static int repair_hole(struct fixing *f, struct context *cx, uint64_t blkoff,
		       uint64_t *nfreed)
{
	int missing = is_hole(f, cx, blkoff), ret = missing;
	struct palloc_block what;
	uint64_t ino;

	palloc_locate(f->edit.palloc, blkoff, &what);
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		ret = inodeedit_is_used(&f->edit, cx, ino);
		if (ret <= 0)
			continue;
		*nfreed += missing;
		ret = missing ? inodeedit_mark(&f->edit, cx, ino, false) :
				replace_empty(f, cx, ino);
	}
	return ret < 0 ? ret : 0;
}

/* Blocks that are missing from that of FIX on, to the next one of its group. */
static int list_holes(struct fixing *f, struct context *cx,
		      const struct fix *fix, struct holes *holes)
{
	const struct palloc *p = f->edit.palloc;
	uint64_t blkoff = fix->place.blkoff;
	struct palloc_block what;
	uint64_t end;
	int ret;

	palloc_locate(p, blkoff, &what);
	end = palloc_bitmap_blkoff(p, what.group) + p->blocks_per_group;
	do {
		if (array_reserve(cx, &holes->list, &holes->room, holes->n + 1))
			return -ENOMEM;
		holes->list[holes->n++] = blkoff++;
		ret = blkoff < end ? is_hole(f, cx, blkoff) : 0;
	} while (ret > 0);
	return ret;
}

/*
 * Blocks of inodes that are missing: where no log and no checkpoint has one,
 * the bitmap is wrong, or its inodes are lost.
 */
static int fill_holes(struct fixing *f, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	struct holes holes = { 0 };
	uint64_t nfreed = 0;
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		if (fixes[i].rule == RULE_PALLOC_ENTRY_MISSING &&
		    fixes[i].place.cno == f->job->vol->latest.cno)
			err = list_holes(f, cx, &fixes[i], &holes);
	if (!err)
		err = ifilefill_holes(f->job, cx, holes.list, holes.n);
	for (i = 0; i < holes.n && !err; i++)
		err = repair_hole(f, cx, holes.list[i], &nfreed);
	if (nfreed)
		fixers_note(f->job, "%llu inodes marked free: no checkpoint "
			    "has their blocks", (unsigned long long)nfreed);
	free(holes.list);
	return err;
}

/* Inodes of snapshots. */
static int repair_past(struct fixing *f, struct context *cx,
		       const struct fix *fixes, size_t n)
{
	struct pastblocks past = { .job = f->job };
	int err = pastinodes_repair(&past, cx, fixes, n);

	if (!err)
		err = pastblocks_write(&past, cx);
	pastblocks_fini(&past);
	return err;
}

static int repair_newest(struct fixing *f, struct context *cx,
			 const struct fix *fixes, size_t n)
{
	size_t i;
	int err = 0;

	f->blkoff = UINT64_MAX;
	f->nlater = 0;
	for (i = 0; i < n && !err; i++)
		if (is_newest(f, &fixes[i]))
			err = repair_inode(f, cx, &fixes[i]);
	return err;
}

/*
 * What no checkpoint has is cleared only in a round that repairs no directory:
 * one that can be read again may have the names, and these the type.
 */
static int repair_all(struct fixing *f, struct context *cx,
		      const struct fix *fixes, size_t n)
{
	int err = repair_newest(f, cx, fixes, n);

	if (err || !f->nlater || f->ndirs)
		return err;
	f->last = true;
	return repair_newest(f, cx, fixes, n);
}

int fix_inodes(struct fixer_job *job, struct context *cx,
	       const struct fix *fixes, size_t n)
{
	struct fixing f = {
		.job = job,
		.edit =
			{
				.ifile = repairwriter_file(job->writer,
							   NILFS_IFILE_INO),
				.palloc = &job->vol->ifile_palloc,
			},
		.old = {.vol = job->vol},
		.lost = {.job = job},
	};
	int err = ifilefill_run(job, cx);

	/* What was found is of the ifile that this one replaces. */
	if (err || repairwriter_is_rebuilt(job->writer, NILFS_IFILE_INO))
		return err;
	err = find_types(&f, cx, fixes, n);
	if (!err)
		err = fill_holes(&f, cx, fixes, n);
	if (!err)
		err = repair_all(&f, cx, fixes, n);
	if (!err && f.nrevived)
		err = fix_maps_of(job, cx, f.revived, f.nrevived);
	if (!err)
		repairwriter_counts_by(job->writer, f.edit.more, 0);
	if (!err && f.edit.bits)
		err = repairwriter_changed(job->writer, cx);
	if (!err)
		err = repair_past(&f, cx, fixes, n);
	free(f.revived);
	oldinodes_fini(&f.old);
	lostinodes_fini(&f.lost);
	return err;
}
