// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that only logs have.
 *
 * Each checkpoint writes the blocks of the ifile that it changed.  When it is
 * deleted these remain until their segment is overwritten.  Files that only logs
 * have are the inodes in all ifile blocks that logs list, without the inodes of
 * existing checkpoints.  A file is identified by number, generation and type; its
 * newest inode counts.
 *
 * A damaged ifile block may contain inodes that never existed, so the checksum over
 * all blocks of its log must be right.  As this reads the whole log, it is verified
 * for the newest inode of each file; if a log is damaged, the files are collected
 * again without such logs.
 */
#include "dump/history/logfiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "vol/cptable.h"
#include "vol/mapdiff.h"
#include "vol/volume.h"

#define FIRST_CUT 4096u

struct collector {
	struct logfiles *files;
	struct root *latest;
	size_t cut;	  /* number of items at which they are merged */
	bool proven_only; /* without damaged logs */
};

static int compare_identity(const struct logfile *x, const struct logfile *y)
{
	return sort_order(x->ino, y->ino) ?:
	       sort_order(x->generation, y->generation) ?:
	       sort_order(x->type, y->type);
}

/* By file, then the newest inode first. */
static int compare_logfile(const void *a, const void *b)
{
	const struct logfile *x = a, *y = b;

	return compare_identity(x, y) ?:
	       sort_order(y->last, x->last) ?:
	       sort_order(y->seq, x->seq) ?:
	       sort_order(y->blocknr, x->blocknr);
}

/* Keeps the newest inode of each file. */
static void merge_files(struct logfiles *f)
{
	struct logfile *last;
	size_t i, kept = 0;

	sort_in_place(f->items, f->count, sizeof(*f->items), compare_logfile);
	for (i = 0; i < f->count; i++) {
		last = kept ? &f->items[kept - 1] : NULL;
		if (!last || compare_identity(last, &f->items[i]))
			f->items[kept++] = f->items[i];
		else if (f->items[i].first < last->first)
			last->first = f->items[i].first;
	}
	f->count = kept;
}

/* Adds the file of INODE, unless it is in the latest state, or may be because the
   ifile is damaged there. */
static int logfiles_add_inode(struct collector *c, struct context *cx, uint64_t ino,
			      const struct nilfs_inode *inode,
			      const struct logfile *found)
{
	struct logfiles *f = c->files;
	struct volume *vol = c->latest->vol;
	struct logfile file = *found;
	struct nilfs_inode other;
	bool in_latest;
	int ret;

	if (inode_is_private(ino) || !le16_get(inode->i_links_count) ||
	    inode_check(&vol->geo, inode, ino) != RULE_OK)
		return 0;
	file.ino = ino;
	file.generation = le32_get(inode->i_generation);
	file.type = le16_get(inode->i_mode) & S_IFMT;
	ret = root_inode(c->latest, cx, ino, &other);
	if (ret && !damage_is(ret))
		return ret;
	in_latest = ret ? ret != -ENOENT : inode_is_same_file(inode, &other);
	fail_clear(cx);
	if (!in_latest && c->proven_only) {
		ret = logitems_is_proven(&f->logs, cx,
					 found->blocknr - found->index);
		if (ret <= 0)
			return ret;
	}
	ret = S_ISDIR(file.type) ? inoset_add(&f->dirs, cx, ino) : 0;
	if (ret < 0 || in_latest)
		return ret < 0 ? ret : 0;
	if (f->count >= c->cut) {
		merge_files(f);
		c->cut = f->count < FIRST_CUT / 2 ? FIRST_CUT : 2 * f->count;
	}
	if (array_reserve(cx, &f->items, &f->room, f->count + 1))
		return -ENOMEM;
	f->items[f->count++] = file;
	return 0;
}

/* Adds the files of block B, if it is one of an ifile. */
static int add_ifile_block(struct collector *c, struct context *cx,
			   const struct segsum_block *b)
{
	const struct logitems *logs = &c->files->logs;
	struct volume *vol = c->latest->vol;
	const struct palloc *p = &vol->ifile_palloc;
	const uint64_t cno = logitems_cno(logs, b);
	const struct logfile found = {
		.first = cno,
		.last = cno,
		.seq = logs->at.log.seq,
		.blocknr = logs->at.log.pseg + b->index,
		.index = b->index,
	};
	struct palloc_block where;
	const void *block;
	const char *data;
	uint64_t i;
	int err;

	if (b->ino != NILFS_IFILE_INO || b->is_node || cno > vol->latest.cno ||
	    !palloc_has_block(p, b->blkoff))
		return 0;
	palloc_locate(p, b->blkoff, &where);
	if (where.kind != PALLOC_ENTRIES)
		return 0;
	err = cache_get(vol->cache, cx, found.blocknr, &block);
	if (err)
		return damage_forgive(cx, err);
	data = block;
	for (i = 0; i < where.count && !err; i++)
		err = logfiles_add_inode(c, cx, where.first + i,
					 (const void *)(data + i * vol->geo.inode_size),
					 &found);
	cache_put(vol->cache, block);
	return err;
}

struct marking {
	struct logfiles *files;
	const struct root *root;
};

/* Marks the files whose inode is in a block of an older ifile. */
static int mark_known(void *arg, struct context *cx,
		      const struct mapdiff_item *item)
{
	struct marking *m = arg;
	struct logfiles *f = m->files;
	struct volume *vol = m->root->vol;
	const struct nilfs_inode *inode;
	struct palloc_block where;
	const void *block = NULL;
	struct logfile *file;
	uint64_t end;
	size_t i;
	int err;

	if (!item->a || !palloc_has_block(&vol->ifile_palloc, item->key))
		return context_cancelled(cx);
	palloc_locate(&vol->ifile_palloc, item->key, &where);
	end = where.first + where.count;
	i = logfiles_from(f, where.first);
	if (where.kind != PALLOC_ENTRIES || i == f->count ||
	    f->items[i].ino >= end)
		return context_cancelled(cx);
	err = blockmap_borrow(&m->root->ifile.map, cx, item->a, &block);
	for (; !err && i < f->count && f->items[i].ino < end; i++) {
		file = &f->items[i];
		inode = (const void *)((const char *)block +
				       (file->ino - where.first) *
					       vol->geo.inode_size);
		if (le16_get(inode->i_links_count) &&
		    le32_get(inode->i_generation) == file->generation &&
		    (le16_get(inode->i_mode) & S_IFMT) == file->type)
			file->known = true;
	}
	cache_put(vol->cache, block);
	return damage_forgive(cx, err);
}

/*
 * Collects the files, and marks those of older checkpoints.  Ifile blocks that two
 * checkpoints share are read once.  The files of an unreadable checkpoint are not
 * marked.
 */
static int logfiles_gather(struct logfiles *files, struct context *cx,
			   struct root *latest, bool proven_only)
{
	struct collector c = {
		.files = files,
		.latest = latest,
		.cut = FIRST_CUT,
		.proven_only = proven_only,
	};
	struct marking m = { .files = files, .root = latest };
	struct root newer = *latest, older;
	struct segsum_block b;
	uint64_t *cnos;
	size_t i;
	int ret, err = 0;

	logitems_rewind(&files->logs);
	while (!err && (ret = logitems_next(&files->logs, cx, &b)))
		err = ret < 0 ? ret : add_ifile_block(&c, cx, &b);
	merge_files(files);
	if (err || !files->count)
		return err;
	err = cptable_list(latest->vol, cx, false, &cnos, &i);
	while (!err && i-- > 0) {
		if (cnos[i] >= latest->cno)
			continue;
		err = root_open(&older, cx, latest->vol, cnos[i]);
		if (!err)
			err = mapdiff_walk(cx, &older.ifile.map,
					   &newer.ifile.map, false, mark_known,
					   &m);
		if (!err)
			newer = older;
		err = damage_forgive(cx, err);
	}
	free(cnos);
	return err;
}

int logfiles_collect(struct logfiles *files, struct context *cx,
		     struct root *latest)
{
	int ret = logitems_open(&files->logs, cx, latest->vol);
	size_t i;

	if (!ret)
		ret = logfiles_gather(files, cx, latest, false);
	if (ret)
		return ret;
	for (i = 0, ret = 1; i < files->count && ret > 0; i++)
		if (!files->items[i].known)
			ret = logitems_is_proven(&files->logs, cx,
						 files->items[i].blocknr -
						 files->items[i].index);
	if (ret)
		return ret < 0 ? ret : 0;
	files->count = 0;
	inoset_fini(&files->dirs);
	return logfiles_gather(files, cx, latest, true);
}

size_t logfiles_from(const struct logfiles *files, uint64_t ino)
{
	return search_number(files->items, files->count, sizeof(*files->items),
			     ino);
}

int logfiles_inode(struct context *cx, struct volume *vol,
		   const struct logfile *file, struct nilfs_inode *inode)
{
	const struct palloc *p = &vol->ifile_palloc;
	const char *block;
	const void *data;
	int err = cache_get(vol->cache, cx, file->blocknr, &data);

	if (err)
		return err;
	block = data;
	memcpy(inode, block + palloc_entry_offset(p, file->ino),
	       sizeof(*inode));
	cache_put(vol->cache, data);
	return 0;
}

void logfiles_fini(struct logfiles *files)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		free(files->items[i].name);
	free(files->items);
	inoset_fini(&files->dirs);
	logitems_close(&files->logs);
}
