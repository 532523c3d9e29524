// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of inodes, of the newest checkpoint; those of snapshots are
 * pastinodes.c's.
 *
 * What an inode is to be is decided elsewhere (inodedecide.h).  One that comes
 * with a map of the past has it repaired.  Where nothing is known of an inode
 * it is cleared, and its names are for the repair of names.
 *
 * A root of which nothing is left is rebuilt, empty, because everything else
 * can be hung up in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "disk/dirpack.h"
#include "disk/inode.h"
#include "fsck/maps/mapfile.h"
#include "fsck/past/pastblocks.h"
#include "fsck/plan/fixers.h"
#include "fsck/tree/fix_ifile.h"
#include "fsck/tree/inodeedit.h"
#include "fsck/tree/inodedecide.h"
#include "fsck/tree/inoderepair.h"
#include "fsck/tree/owners.h"
#include "fsck/tree/pastinodes.h"
#include "log/remap.h"
#include "log/repairwriter.h"

#define ROOT_LINKS 2

struct fixing {
	struct fixer_job *job;
	struct inodeedit edit;
	struct inodedecide decide;
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

/* Whether the ifile of the newest checkpoint has what is wrong. */
static bool is_newest(const struct fixer_job *job, const struct fix *fix)
{
	return fix->place.kind == PLACE_INODE &&
	       (!inode_is_metadata(fix->place.ino) ||
		fix->rule == RULE_INODE_RESERVED_FREE) &&
	       fix->place.cno == job->vol->latest.cno;
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
	return inode_is_garbage(&f->job->vol->geo, inode);
}

static bool has_signs(const struct fixing *f, const struct nilfs_inode *inode)
{
	return inode_signs(&f->job->vol->geo, inode);
}

/* Writes inode C, which was decided, and remembers a map of the past. */
static int write_decided(struct fixing *f, struct context *cx,
			 const struct inodecase *c)
{
	if (c->old_map) {
		if (array_reserve(cx, &f->revived, &f->revived_room,
				  f->nrevived + 1))
			return -ENOMEM;
		f->revived[f->nrevived++] = c->ino;
	}
	f->ndirs += S_ISDIR(le16_get(c->inode.i_mode));
	return inodeedit_write(&f->edit, cx, c->ino, &c->inode);
}

/* Makes inode C what it is to be, or gives it up. */
static int decide_inode(struct fixing *f, struct context *cx,
			struct inodecase *c)
{
	int ret = inodedecide_run(&f->decide, cx, c);

	if (ret)
		return ret < 0 ? ret : write_decided(f, cx, c);
	if (c->ino == NILFS_ROOT_INO)
		return make_root(f, cx);
	if (!f->last) {
		f->nlater++;
		return 0;
	}
	inodedecide_note(&f->decide, c, "lost, no checkpoint has it");
	return inodeedit_clear(&f->edit, cx, c->ino);
}

/* Whether INO is an inode of a user that is in use: 1, 0. */
static int is_used(const struct fixing *f, struct context *cx, uint64_t ino)
{
	return inode_is_private(ino) ? 0 : inodeedit_is_used(&f->edit, cx, ino);
}

/* Inode INO, which breaks RULE, in *C: 1, 0 where its block is missing. */
static int read_case(struct fixing *f, struct context *cx, uint64_t ino,
		     enum rule rule, struct inodecase *c)
{
	uint64_t cno = f->job->vol->latest.cno;

	*c = (struct inodecase){
		.cno = cno,
		.ino = ino,
		.life = {cno, NILFS_CNO_MAX},
		.rule = rule,
	};
	return inodeedit_read(&f->edit, cx, ino, &c->inode);
}

/*
 * Whether inode INO of a block of the ifile, in use, is none, or another one
 * than before: 1, 0.  Empty ones may be some that the kernel had not got round
 * to.
 */
static int is_doubtful(struct fixing *f, struct context *cx, uint64_t ino)
{
	struct inodecase c;
	int ret = read_case(f, cx, ino, RULE_INODE_EMPTY, &c);

	if (ret < 0 || inode_is_empty(&c.inode) || !has_signs(f, &c.inode))
		return ret < 0 ? ret : 0;
	return is_garbage(f, &c.inode) ||
	       inodedecide_is_another(&f->decide, cx, &c);
}

/* Whether several inodes of the block are doubtful: 1, 0. */
static int is_noise(struct fixing *f, struct context *cx,
		    const struct palloc_block *what)
{
	unsigned int doubtful = 0;
	uint64_t ino;
	int ret = 0;

	for (ino = what->first; ino < what->first + what->count && ret >= 0;
	     ino++) {
		ret = is_used(f, cx, ino);
		if (ret > 0)
			ret = is_doubtful(f, cx, ino);
		doubtful += ret > 0;
	}
	return ret < 0 ? ret : doubtful > 1;
}

/* Inode INO of a block of noise, which may have been spared. */
static int replace_doubtful(struct fixing *f, struct context *cx, uint64_t ino)
{
	struct inodecase c;
	int ret = is_used(f, cx, ino);

	if (ret < 0 || inode_is_private(ino))
		return ret < 0 ? ret : 0;
	if (!ret)
		return inodeedit_clear(&f->edit, cx, ino);
	ret = read_case(f, cx, ino, RULE_INODE_EMPTY, &c);
	if (ret >= 0 && !has_signs(f, &c.inode))
		ret = inodedecide_is_another(&f->decide, cx, &c);
	else if (!ret)
		ret = 1;
	return ret > 0 ? decide_inode(f, cx, &c) : ret;
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
static int take_back(struct fixing *f, struct context *cx,
		     const struct inodecase *c)
{
	int ret = inodedecide_is_foreign(&f->decide, cx, c);

	if (ret < 0)
		return ret;
	if (ret || inode_check(&f->job->vol->geo, &c->inode, c->ino) != RULE_OK)
		return inodeedit_clear(&f->edit, cx, c->ino);
	fixers_note(f->job, "inode %llu: marked as in use",
		    (unsigned long long)c->ino);
	return inodeedit_mark(&f->edit, cx, c->ino, true);
}

static int repair_inode(struct fixing *f, struct context *cx,
			const struct fix *fix)
{
	uint64_t ino = fix->place.ino;
	struct inodecase c;
	int ret;

	if (fix->rule == RULE_INODE_RESERVED_FREE)
		return inodeedit_mark(&f->edit, cx, ino, true);
	ret = repair_block(f, cx, ino);
	if (!ret)
		ret = read_case(f, cx, ino, fix->rule, &c);
	if (ret < 0)
		return ret;
	if (fix->rule == RULE_INODE_FREE)
		return take_back(f, cx, &c);
	ret = inodeedit_is_used(&f->edit, cx, ino);
	if (ret < 0 || (!ret && ino != NILFS_ROOT_INO))
		return ret;
	ret = inodedecide_is_wrong(&f->decide, cx, &c);
	return ret > 0 ? decide_inode(f, cx, &c) : ret;
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
	struct inodecase c;
	int ret = read_case(f, cx, ino, RULE_INODE_EMPTY, &c);

	if (ret < 0 || !inode_is_empty(&c.inode) || inode_is_private(ino))
		return ret < 0 ? ret : 0;
	return decide_inode(f, cx, &c);
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
		if (is_newest(f->job, &fixes[i]))
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

/* Inode INO, empty or garbage and marked free, is in use where logs and
   checkpoints show that it is, NAMED or not: 1, 0. */
static int revive_inode(struct fixing *f, struct context *cx, uint64_t ino,
			bool named)
{
	struct inodecase c;
	int ret = inodeedit_is_used(&f->edit, cx, ino);

	if (ret || inode_is_private(ino))
		return ret < 0 ? ret : 0;
	ret = read_case(f, cx, ino, RULE_INODE_EMPTY, &c);
	if (ret <= 0 ||
	    (!inode_is_empty(&c.inode) && !is_garbage(f, &c.inode)))
		return ret < 0 ? ret : 0;
	memset(&c.inode, 0, sizeof(c.inode));
	c.must_live = true;
	c.named = named;
	ret = inodedecide_run(&f->decide, cx, &c);
	if (ret <= 0)
		return ret;
	ret = inodeedit_mark(&f->edit, cx, ino, true);
	if (ret >= 0)
		ret = write_decided(f, cx, &c);
	return ret < 0 ? ret : 1;
}

/* Inode INO and, once, the others of its block: how many. */
static int revive_block(struct fixing *f, struct context *cx, uint64_t ino,
			bool named)
{
	uint64_t blkoff = palloc_entry_blkoff(f->edit.palloc, ino);
	int n = revive_inode(f, cx, ino, named), ret = n;
	struct palloc_block what;

	if (ret <= 0 || f->blkoff == blkoff)
		return ret;
	f->blkoff = blkoff;
	palloc_locate(f->edit.palloc, blkoff, &what);
	for (ino = what.first; ino < what.first + what.count && ret >= 0;
	     ino++) {
		ret = revive_inode(f, cx, ino, false);
		n += ret > 0;
	}
	return ret < 0 ? ret : n;
}

static void open_edit(struct fixing *f, struct fixer_job *job)
{
	*f = (struct fixing){ .job = job };
	f->edit.ifile = repairwriter_file(job->writer, NILFS_IFILE_INO);
	f->edit.palloc = &job->vol->ifile_palloc;
	f->blkoff = UINT64_MAX;
}

/* What was changed, by ERR so far: repairs maps of the past, and counts. */
static int end_edit(struct fixing *f, struct context *cx, int err)
{
	if (!err && f->nrevived)
		err = fix_maps_of(f->job, cx, f->revived, f->nrevived);
	if (!err)
		repairwriter_counts_by(f->job->writer, f->edit.more, 0);
	if (!err && f->edit.bits)
		err = repairwriter_changed(f->job->writer, cx);
	free(f->revived);
	return err;
}

/* Those of the N inodes INOS that are in use: how many. */
static int revive_all(struct fixer_job *job, struct context *cx,
		      const uint64_t *inos, size_t n, bool named)
{
	struct fixing f;
	size_t i;
	int ret, found = 0;

	open_edit(&f, job);
	ret = inodedecide_open_inos(&f.decide, cx, job, inos, n);
	for (i = 0; i < n && ret >= 0; i++) {
		ret = revive_block(&f, cx, inos[i], named);
		found += ret > 0 ? ret : 0;
	}
	ret = end_edit(&f, cx, ret < 0 ? ret : 0);
	inodedecide_close(&f.decide);
	return ret ? ret : found;
}

int fix_inodes_named(struct fixer_job *job, struct context *cx,
		     const struct fix *fixes, size_t n)
{
	uint64_t *inos = calloc(n ? n : 1, sizeof(*inos));
	size_t i, found = 0;
	int ret;

	if (!inos)
		return fail(cx, -ENOMEM, "%zu inodes", n);
	for (i = 0; i < n; i++)
		if (fixes[i].rule == RULE_DIR_NO_INODE &&
		    fixes[i].place.cno == job->vol->latest.cno)
			inos[found++] = fixes[i].got;
	ret = found ? revive_all(job, cx, inos, found, true) : 0;
	free(inos);
	return ret;
}

int fix_inodes_leaked(struct fixer_job *job, struct context *cx)
{
	uint64_t *inos;
	size_t n;
	int ret = owners_find(job, cx, &inos, &n);

	if (!ret && n)
		ret = revive_all(job, cx, inos, n, false);
	free(inos);
	return ret < 0 ? ret : 0;
}

int fix_inodes(struct fixer_job *job, struct context *cx,
	       const struct fix *fixes, size_t n)
{
	struct fixing f;
	int err = ifilefill_run(job, cx);

	/* What was found is of the ifile that this one replaces. */
	if (err || repairwriter_is_rebuilt(job->writer, NILFS_IFILE_INO))
		return err;
	open_edit(&f, job);
	err = inodedecide_open(&f.decide, cx, job, fixes, n, is_newest);
	if (!err)
		err = fill_holes(&f, cx, fixes, n);
	if (!err)
		err = repair_all(&f, cx, fixes, n);
	err = end_edit(&f, cx, err);
	if (!err)
		err = repair_past(&f, cx, fixes, n);
	inodedecide_close(&f.decide);
	return err;
}
