// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creating inodes from entries.
 *
 * Each file gets its number, and its inode is written as soon as its blocks are
 * placed.  Later changes of inodes are collected: more names of a file, names
 * that were replaced in the layer below.  They are applied at the end in the
 * order of the inode numbers, once for each (unlink.c).
 *
 * A source does not depend on the layer below.  An existing directory keeps its
 * number and the entries that are not replaced; everything else is new.
 */
#include "mkfs/populate/populate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/pairtable.h"
#include "disk/inode.h"
#include "log/inodes.h"
#include "mkfs/populate/deferred.h"
#include "mkfs/populate/layer.h"
#include "mkfs/populate/whiteout.h"

/* Files between two calls of progress(). */
#define PROGRESS_FILES 256

struct populate {
	struct writer *w;
	struct populate_options options;
	uint32_t block_size;
	struct populate_counts counts;	/* all but the losses */
	uint64_t losses[ENTRY_LOSSES];	/* counted atomically */
	uint64_t reported;		/* files at the last progress() */
	struct deferred deferred;
	struct pairtable linked;	/* inode number -> links, from 2 on */
	bool replaced;			/* files of this layer */
	struct layer layer;
	void *block;			/* of a symbolic link */
};

int populate_open(struct populate **pp, struct context *cx, struct writer *w,
		  struct volume *below, const struct populate_options *options)
{
	struct populate *p;
	int err;

	*pp = NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return fail(cx, -ENOMEM, "layer");
	p->w = w;
	p->options = *options;
	p->block_size = writer_geometry(w)->block_size;
	p->block = malloc(p->block_size);
	err = p->block ? layer_init(&p->layer, cx, w, below) :
			 fail(cx, -ENOMEM, "layer");
	if (err) {
		populate_close(p);
		return err;
	}
	*pp = p;
	return 0;
}

void populate_close(struct populate *p)
{
	if (!p)
		return;
	deferred_fini(&p->deferred);
	pairtable_fini(&p->linked);
	layer_fini(&p->layer);
	free(p->block);
	free(p);
}

uint32_t populate_block_size(const struct populate *p)
{
	return p->block_size;
}

static void count_file(struct populate *p, uint64_t *which)
{
	uint64_t all;

	++*which;
	all = p->counts.files + p->counts.symlinks + p->counts.specials +
	      p->counts.links;
	if (p->options.progress && all - p->reported >= PROGRESS_FILES) {
		p->reported = all;
		p->options.progress(p->options.arg, &p->counts);
	}
}

static struct entry ruled(const struct populate *p, const struct entry *e)
{
	struct entry changed = *e;

	if (p->options.rules)
		entry_apply(p->options.rules, &changed);
	return changed;
}

/* ctime is mtime: a source's ctime is no property of its files. */
static void set_attributes(struct nilfs_inode *inode, const struct entry *e)
{
	inode->i_size = le64_make(e->size);
	inode->i_ctime = le64_make((uint64_t)e->mtime);
	inode->i_mtime = le64_make((uint64_t)e->mtime);
	inode->i_ctime_nsec = le32_make(e->mtime_nsec);
	inode->i_mtime_nsec = le32_make(e->mtime_nsec);
	inode->i_uid = le32_make(e->uid);
	inode->i_gid = le32_make(e->gid);
	inode->i_mode = le16_make(e->mode);
}

/* A number that a file of an older layer had gets another generation. */
static void clear_inode(const struct populate *p, struct nilfs_inode *inode)
{
	memset(inode, 0, sizeof(*inode));
	inode->i_generation = le32_make((uint32_t)(writer_cno(p->w) - 1));
}

static void make_inode(const struct populate *p, const struct entry *e,
		       struct nilfs_inode *inode)
{
	struct entry changed = ruled(p, e);

	clear_inode(p, inode);
	set_attributes(inode, &changed);
	inode->i_links_count = le16_make(1);
}

int populate_begin_dir(struct populate *p, struct context *cx,
		       uint64_t parent, const char *name, size_t len,
		       uint64_t *ino)
{
	uint8_t type;
	int found;

	if (!name) {
		*ino = NILFS_ROOT_INO;
		return 0;
	}
	found = layer_old_name(&p->layer, cx, parent, name, len, ino, &type);
	if (found < 0 || (found && type == NILFS_FT_DIR))
		return found < 0 ? found : 0;
	return inodes_alloc(p->w, cx, ino);
}

int populate_old_name(struct populate *p, struct context *cx, uint64_t parent,
		      const char *name, size_t len, uint64_t *ino,
		      uint8_t *type)
{
	return layer_old_name(&p->layer, cx, parent, name, len, ino, type);
}

/* The attributes of directory INO, and its map as below or an empty one. */
static int directory_inode(struct populate *p, struct context *cx,
			   uint64_t ino, const struct entry *e,
			   enum populate_over over, struct nilfs_inode *inode)
{
	static const struct entry unknown = { .mode = S_IFDIR | 0755 };
	struct entry changed;
	int found;

	found = layer_inode(&p->layer, cx, ino, inode);
	if (found < 0 || (found && !e && over != POPULATE_NOTHING))
		return found < 0 ? found : 0;
	changed = e ? *e : unknown;
	if (!e)
		changed.mtime = p->options.time;
	changed = ruled(p, &changed);
	changed.size = found ? le64_get(inode->i_size) : 0;
	if (!found)
		clear_inode(p, inode);
	set_attributes(inode, &changed);
	return 0;
}

static void count_whiteouts(struct populate *p,
			    const struct populate_name *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		p->counts.whiteouts += whiteout_of(names[i].name,
						   names[i].len) !=
				       WHITEOUT_NONE;
}

int populate_end_dir(struct populate *p, struct context *cx, uint64_t ino,
		     uint64_t parent, const struct entry *e,
		     enum populate_over over,
		     const struct populate_name *names, size_t n)
{
	struct nilfs_inode inode;
	int err;

	count_whiteouts(p, names, n);
	err = directory_inode(p, cx, ino, e, over, &inode);
	if (!err)
		err = layer_directory(&p->layer, cx, ino, parent,
				      over != POPULATE_ALL, names, n, &inode);
	if (!err)
		err = inodes_write(p->w, cx, ino, &inode);
	if (err)
		return err;
	p->counts.directories++;
	if (p->options.progress)
		p->options.progress(p->options.arg, &p->counts);
	return 0;
}

bool populate_makes_holes(const struct populate *p)
{
	return p->options.rules && p->options.rules->holes;
}

bool populate_is_forecast(const struct populate *p)
{
	return p->options.forecast;
}

static void blank_free(struct payload *payload)
{
	free(payload);
}

/* A payload without content in the place of PAYLOAD. */
static struct payload *blank(struct payload *payload)
{
	static const struct payload_ops ops = { .free = blank_free };
	struct payload *empty = malloc(sizeof(*empty));

	payload_put(payload);
	if (empty)
		payload_init(empty, &ops);
	return empty;
}

int populate_file(struct populate *p, struct context *cx,
		  const struct entry *e, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload, bool later,
		  uint64_t *ino)
{
	struct nilfs_inode inode;
	int err;

	err = e->size > INT64_MAX ? fail(cx, -EFBIG, "size of a file") :
				    inodes_alloc(p->w, cx, ino);
	if (err) {
		payload_put(payload);
		return err;
	}
	make_inode(p, e, &inode);
	if (nruns && p->options.forecast) {
		payload = blank(payload);
		if (!payload)
			return fail(cx, -ENOMEM, "file of the source");
	}
	if (nruns) {
		err = deferred_place(&p->deferred, cx, p->w, *ino, &inode,
				     runs, nruns, payload, later);
	} else {
		payload_put(payload);
		err = inodes_write(p->w, cx, *ino, &inode);
	}
	if (err)
		return err;
	p->counts.bytes += e->size;
	count_file(p, &p->counts.files);
	return 0;
}

/* The kernel writes a zero byte after a target: page_symlink(). */
static int place_target(struct populate *p, struct context *cx, uint64_t ino,
			const struct entry *e, struct nilfs_inode *inode)
{
	if (!e->target_len)
		return fail(cx, -EINVAL, "symbolic link to nothing");
	if (e->target_len >= p->block_size)
		return fail(cx, -ENAMETOOLONG,
			    "target of %u bytes in blocks of %u",
			    e->target_len, p->block_size);
	inode->i_size = le64_make(e->target_len);
	memcpy(p->block, e->target, e->target_len);
	memset((char *)p->block + e->target_len, 0,
	       p->block_size - e->target_len);
	return newfile_collect(p->w, cx, ino, inode, p->block, 1);
}

int populate_special(struct populate *p, struct context *cx,
		     const struct entry *e, uint64_t *ino)
{
	struct nilfs_inode inode;
	int err;

	err = inodes_alloc(p->w, cx, ino);
	if (err)
		return err;
	make_inode(p, e, &inode);
	inode.i_size = le64_make(0);
	if (S_ISLNK(e->mode))
		err = place_target(p, cx, *ino, e, &inode);
	else if (inode_has_rdev(&inode))
		inode.i_bmap[0] =
			le64_make(inode_rdev_encode(e->major, e->minor));
	if (!err)
		err = inodes_write(p->w, cx, *ino, &inode);
	if (!err)
		count_file(p, S_ISLNK(e->mode) ? &p->counts.symlinks :
						 &p->counts.specials);
	return err;
}

/* The entry of INO, with the links that it has without this layer's more. */
static int find_links(struct populate *p, struct context *cx, uint64_t ino,
		      struct pairtable_entry **link)
{
	struct nilfs_inode inode;
	int found, err;

	*link = pairtable_find(&p->linked, 0, ino);
	if (*link)
		return 0;
	found = layer_inode(&p->layer, cx, ino, &inode);
	if (found < 0)
		return found;
	err = pairtable_add(&p->linked, cx, 0, ino,
			    found ? le16_get(inode.i_links_count) : 1);
	*link = pairtable_find(&p->linked, 0, ino);
	return err;
}

int populate_link(struct populate *p, struct context *cx, uint64_t ino)
{
	struct pairtable_entry *link;
	int err = find_links(p, cx, ino, &link);

	if (err)
		return err;
	if (link->value >= NILFS_LINK_MAX)
		return fail(cx, -EMLINK, "more than %d names of a file",
			    NILFS_LINK_MAX);
	link->value++;
	count_file(p, &p->counts.links);
	return 0;
}

int populate_unlink(struct populate *p, struct context *cx, uint64_t ino)
{
	p->replaced = true;
	return layer_lose(&p->layer, cx, ino);
}

int populate_loss(struct populate *p, struct context *cx, const char *path,
		  enum entry_loss loss)
{
	if (p->options.strict)
		return fail_said(cx, -EOPNOTSUPP, "%s: has %s, which NILFS2 "
				 "cannot store", path, entry_loss_name(loss));
	__atomic_add_fetch(&p->losses[loss], 1, __ATOMIC_RELAXED);
	return 0;
}

static int complete_links(struct populate *p, struct context *cx)
{
	struct nilfs_inode inode;
	struct pairtable_entry *link;
	size_t i;
	int err;

	pairtable_sort(&p->linked);
	for (i = 0; i < p->linked.used; i++) {
		link = &p->linked.slots[i];
		err = inodes_read(p->w, cx, link->ino, &inode);
		if (err)
			return err;
		inode.i_links_count = le16_make((uint16_t)link->value);
		err = inodes_write(p->w, cx, link->ino, &inode);
		if (err)
			return err;
	}
	pairtable_fini(&p->linked);
	return 0;
}

int populate_finish(struct populate *p, struct context *cx,
		    struct populate_counts *counts)
{
	int err;

	err = deferred_finish(&p->deferred, cx, p->w);
	if (!err)
		err = complete_links(p, cx);
	/* What ends must have its place first. */
	if (!err && p->replaced)
		err = newfile_settle(p->w, cx);
	if (!err)
		err = layer_finish(&p->layer, cx);
	populate_get_counts(p, counts);
	return err;
}

void populate_get_counts(const struct populate *p,
			 struct populate_counts *counts)
{
	size_t i;

	*counts = p->counts;
	for (i = 0; i < ENTRY_LOSSES; i++)
		counts->losses[i] =
			__atomic_load_n(&p->losses[i], __ATOMIC_RELAXED);
}

void populate_counts_add(struct populate_counts *sum,
			 const struct populate_counts *counts)
{
	size_t i;

	sum->files += counts->files;
	sum->directories += counts->directories;
	sum->symlinks += counts->symlinks;
	sum->specials += counts->specials;
	sum->links += counts->links;
	sum->whiteouts += counts->whiteouts;
	sum->bytes += counts->bytes;
	for (i = 0; i < ENTRY_LOSSES; i++)
		sum->losses[i] += counts->losses[i];
}
