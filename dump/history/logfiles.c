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
#include "disk/dirent.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "dump/history/ifileblocks.h"
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
	int ret, err = 0;

	if (cno > vol->latest.cno)
		return 0;
	ret = ifileblocks_of_log(&c->files->logs, cx, b, &where, &block);
	if (ret <= 0)
		return ret;
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

/* Adds the files of ROOT in the block with inodes at BLKOFF of its ifile. */
static int rescue_block(struct logfiles *f, struct context *cx,
			struct root *root, uint64_t blkoff, uint64_t blocknr,
			const struct inoset *seen,
			void (*broken)(void *arg, uint64_t ino, int err),
			void *arg)
{
	struct volume *vol = root->vol;
	const struct nilfs_inode *inode;
	struct palloc_block where;
	const void *block;
	uint64_t i, ino;
	enum rule rule;
	int ret = cache_get(vol->cache, cx, blocknr, &block);

	if (ret)
		return damage_forgive(cx, ret);
	palloc_locate(&vol->ifile_palloc, blkoff, &where);
	for (i = 0; i < where.count && ret >= 0; i++) {
		inode = (const void *)((const char *)block +
				       i * vol->geo.inode_size);
		ino = where.first + i;
		/* The sketch file, which is empty, need not have a name. */
		if (inode_is_private(ino) || !le16_get(inode->i_links_count) ||
		    (ino == NILFS_SKETCH_INO && !le64_get(inode->i_size)))
			continue;
		rule = inode_check(&vol->geo, inode, ino);
		if (rule != RULE_OK) {
			broken(arg, ino, fail(cx, -EUCLEAN, "%s",
					      rule_info(rule)->text));
			continue;
		}
		if (S_ISDIR(le16_get(inode->i_mode)))
			ret = inoset_add(&f->dirs, cx, ino);
		if (ret < 0 || inoset_has(seen, ino) || ino == NILFS_ROOT_INO)
			continue;
		ret = array_push(cx, &f->items, &f->count, &f->room,
				 (struct logfile){
					 .ino = ino,
					 .generation = le32_get(
						 inode->i_generation),
					 .type = le16_get(inode->i_mode) & S_IFMT,
					 .first = UINT64_MAX,
					 .last = root->cno,
					 .blocknr = blocknr,
				 });
	}
	cache_put(vol->cache, block);
	return ret < 0 ? ret : context_cancelled(cx);
}

/* Notes which of the files, or which others, the inodes of a log are of. */
static int rescue_versions(struct logfiles *f, struct context *cx,
			   const struct root *root, const struct segsum_block *b)
{
	const struct volume *vol = root->vol;
	const uint64_t cno = logitems_cno(&f->logs, b);
	const struct nilfs_inode *inode;
	struct palloc_block where;
	struct logfile *file;
	const void *block;
	uint64_t i;
	size_t k;
	int ret = cno > root->cno ? 0 :
		  ifileblocks_of_log(&f->logs, cx, b, &where, &block);

	if (ret <= 0)
		return ret;
	k = logfiles_from(f, where.first);
	for (i = 0, ret = 0; i < where.count && ret >= 0; i++) {
		inode = (const void *)((const char *)block +
				       i * vol->geo.inode_size);
		while (k < f->count && f->items[k].ino < where.first + i)
			k++;
		if (!le16_get(inode->i_links_count) ||
		    inode_check(&vol->geo, inode, where.first + i) != RULE_OK)
			continue;
		if (S_ISDIR(le16_get(inode->i_mode)))
			ret = inoset_add(&f->dirs, cx, where.first + i);
		file = k < f->count ? &f->items[k] : NULL;
		if (!file || file->ino != where.first + i)
			continue;
		if (le32_get(inode->i_generation) != file->generation ||
		    (le16_get(inode->i_mode) & S_IFMT) != file->type)
			file->reused = true;
		else if (cno < file->first)
			file->first = cno;
	}
	cache_put(vol->cache, block);
	return ret < 0 ? ret : 0;
}

/*
 * Adds a file for block B of a log if the block of the ifile with its inode is lost,
 * and its number to GUESSED.  A directory is known by its first block, which begins
 * with "." for it.
 */
static int guess_file(struct logfiles *f, struct context *cx, struct root *root,
		      const struct segsum_block *b, struct inoset *guessed)
{
	struct volume *vol = root->vol;
	const uint64_t blkoff =
		palloc_entry_blkoff(&vol->ifile_palloc, b->ino);
	const uint64_t blocknr = f->logs.at.log.pseg + b->index;
	struct dirent_iter it;
	struct dirent_entry e;
	struct nilfs_inode inode;
	struct context quiet;
	const void *block;
	uint64_t place;
	int ret;

	context_child(cx, &quiet);
	if (b->is_node || inode_is_private(b->ino) ||
	    (b->blkoff && inoset_has(guessed, b->ino)) ||
	    !palloc_has_block(&vol->ifile_palloc, blkoff) ||
	    logitems_cno(&f->logs, b) > root->cno ||
	    (file_lookup(&root->ifile, cx, blkoff, &place) > 0 &&
	     (!inoset_has(&f->stale, blkoff) ||
	      !root_inode(root, &quiet, b->ino, &inode))) ||
	    !logitems_may_have(vol, cx, b->vblocknr, blocknr, root->cno))
		return 0;
	ret = b->blkoff ? -ENOENT : cache_get(vol->cache, cx, blocknr, &block);
	if (!ret) {
		dirent_iter_init(&it, block, vol->geo.block_size);
		if (dirent_iter_next(&it, &e) && e.ino == b->ino &&
		    e.name_len == 1 && *e.name == '.')
			ret = inoset_add(&f->dirs, cx, b->ino);
		cache_put(vol->cache, block);
	}
	if (ret < 0)
		ret = damage_forgive(cx, ret);
	if (ret < 0 || b->ino == NILFS_ROOT_INO)
		return ret;
	ret = inoset_add(guessed, cx, b->ino);
	if (ret <= 0)
		return ret;
	return array_push(cx, &f->items, &f->count, &f->room,
			  (struct logfile){
				  .ino = b->ino,
				  .type = S_IFREG,
				  .guessed = true,
				  .last = root->cno,
			  });
}

int logfiles_rescue(struct logfiles *files, struct context *cx,
		    struct root *root, const struct inoset *seen,
		    void (*broken)(void *arg, uint64_t ino, int err), void *arg)
{
	const struct extent *e = root->ifile.extents;
	const struct extent *const end = e + root->ifile.nextents;
	struct inoset guessed = { .words = { .used = 0 } };
	struct segsum_block b;
	uint64_t i;
	size_t k;
	int ret = inoset_add(&files->dirs, cx, NILFS_ROOT_INO);

	for (; e < end && ret >= 0; e++)
		for (i = 0; i < e->count && ret >= 0; i++)
			ret = rescue_block(files, cx, root, e->blkoff + i,
					   e->blocknr + i, seen, broken, arg);
	logitems_rewind(&files->logs);
	while (ret >= 0 && (ret = logitems_next(&files->logs, cx, &b)) > 0)
		ret = guess_file(files, cx, root, &b, &guessed);
	inoset_fini(&guessed);
	for (k = 0; k < files->count; k++)
		if (files->items[k].guessed &&
		    inoset_has(&files->dirs, files->items[k].ino))
			files->items[k].type = S_IFDIR;
	if (ret >= 0 && files->count)
		sort_in_place(files->items, files->count, sizeof(*files->items),
			      compare_logfile);
	logitems_rewind(&files->logs);
	while (ret >= 0 && files->count &&
	       (ret = logitems_next(&files->logs, cx, &b)) > 0)
		ret = rescue_versions(files, cx, root, &b);
	for (k = 0; k < files->count; k++)
		if (!files->items[k].reused)
			files->items[k].first = 0;
	return ret;
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
	int err;

	if (file->guessed) {
		*inode = (struct nilfs_inode){
			.i_mode = le16_make(file->type |
					    (S_ISDIR(file->type) ? 0700 : 0600)),
			.i_links_count = le16_make(1),
		};
		return 0;
	}
	err = cache_get(vol->cache, cx, file->blocknr, &data);
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
	inoset_fini(&files->stale);
	logitems_close(&files->logs);
}
