// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creating inodes from entries.
 *
 * Each file gets its number, and its inode is written when its blocks are placed.
 * Later changes of inodes (more names of a file, replaced names of the layer below)
 * are collected and applied at the end, in the order of inode numbers, once per
 * inode.
 *
 * A file that fits into a segment is not split at the end of the segment.  If it does
 * not fit into the rest of the segment it waits, and later, smaller files fill the
 * rest.  Once the segment is full, or too many files wait, a new segment begins with
 * the waiting files, in their order of arrival.  Two kinds of files are split and never
 * wait: files larger than a segment, and files without which a large rest of the
 * segment would stay unused.  The order depends on sizes only, never on time.
 *
 * A source does not depend on the layer below.  An existing directory keeps its
 * number and the entries that are not replaced; all other files are new.
 */
#include "mkfs/populate/populate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/pairtable.h"
#include "disk/inode.h"
#include "log/inodes.h"
#include "mkfs/populate/layer.h"

/* Files between two calls of progress(). */
#define PROGRESS_FILES 256

/* The maximum number of waiting files. */
#define DEFERRED_MAX 256

struct deferred_file {
	uint64_t ino;
	struct nilfs_inode inode;
	struct payload *payload;
	uint64_t nblocks;
	size_t nruns;
	struct newfile_run runs[];
};

/* Files that wait for a place; all zero is the empty list. */
struct deferred {
	struct deferred_file *files[DEFERRED_MAX];	/* in their order of arrival */
	size_t n;
	uint64_t least;		/* blocks of the smallest one */
};

struct populate {
	struct writer *w;
	struct populate_options options;
	struct populate_needs needs;
	struct populate_counts counts;	/* all except the losses */
	uint64_t losses[ENTRY_LOSSES];	/* counted atomically */
	uint64_t reported;		/* files at the last progress() */
	struct deferred deferred;
	struct pairtable linked;	/* inode number -> links, if 2 or more */
	bool replaced;			/* files of this layer were replaced */
	struct layer layer;
	void *block;			/* content of a symbolic link */
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
	p->needs = (struct populate_needs){
		.block_size = writer_geometry(w)->block_size,
		.holes = options->rules && options->rules->holes,
		.forecast = options->forecast,
	};
	p->block = malloc(p->needs.block_size);
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
	struct deferred *d;

	if (!p)
		return;
	for (d = &p->deferred; d->n; free(d->files[d->n]))
		payload_put(d->files[--d->n]->payload);
	pairtable_fini(&p->linked);
	layer_fini(&p->layer);
	free(p->block);
	free(p);
}

const struct populate_needs *populate_needs(const struct populate *p)
{
	return &p->needs;
}

static void count_file(struct populate *p, uint64_t *which)
{
	uint64_t all;

	++*which;
	all = p->counts.files + p->counts.symlinks + p->counts.specials +
	      p->counts.links;
	if (p->options.progress && all - p->reported >= PROGRESS_FILES) {
		p->reported = all;
		p->options.progress(p->options.arg);
	}
}

/*
 * Sets the attributes of E, changed by the rules, in a NEW inode or in one of the
 * layer below, whose map and links are kept.  ctime is set to mtime: the ctime of a
 * source file is not reproducible.
 */
static void set_inode(const struct populate *p, const struct entry *e, bool new,
		      struct nilfs_inode *inode)
{
	struct entry changed = *e;

	if (p->options.rules)
		entry_apply(p->options.rules, &changed);
	if (new) {
		/* A reused inode number gets another generation. */
		memset(inode, 0, sizeof(*inode));
		inode->i_generation =
			le32_make((uint32_t)(writer_cno(p->w) - 1));
		inode->i_links_count = le16_make(1);
	}
	inode->i_size = le64_make(changed.size);
	inode->i_ctime = le64_make((uint64_t)changed.mtime);
	inode->i_mtime = le64_make((uint64_t)changed.mtime);
	inode->i_ctime_nsec = le32_make(changed.mtime_nsec);
	inode->i_mtime_nsec = le32_make(changed.mtime_nsec);
	inode->i_uid = le32_make(changed.uid);
	inode->i_gid = le32_make(changed.gid);
	inode->i_mode = le16_make(changed.mode);
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
	p->counts.replaced_links += found && type == NILFS_FT_SYMLINK;
	return inodes_alloc(p->w, cx, ino);
}

int populate_old_name(struct populate *p, struct context *cx, uint64_t parent,
		      const char *name, size_t len, uint64_t *ino,
		      uint8_t *type)
{
	return layer_old_name(&p->layer, cx, parent, name, len, ino, type);
}

int populate_old_link(struct populate *p, struct context *cx, uint64_t ino,
		      char target[SYMLINK_TARGET_MAX + 1], size_t *len)
{
	return layer_link(&p->layer, cx, ino, target, len);
}

int populate_end_dir(struct populate *p, struct context *cx, uint64_t ino,
		     uint64_t parent, const struct entry *e,
		     enum populate_over over,
		     const struct populate_name *names, size_t n)
{
	struct entry changed = { .mode = S_IFDIR | 0755 };
	struct nilfs_inode inode;
	size_t i;
	int found, err;

	for (i = 0; i < n; i++)
		p->counts.whiteouts += entry_whiteout(names[i].name,
						      names[i].len) !=
				       WHITEOUT_NONE;
	found = layer_inode(&p->layer, cx, ino, &inode);
	if (found < 0)
		return found;
	/* Without E, an existing directory keeps its attributes. */
	if (!found || e || over == POPULATE_NOTHING) {
		changed.mtime = p->options.time;
		if (e)
			changed = *e;
		changed.size = found ? le64_get(inode.i_size) : 0;
		set_inode(p, &changed, !found, &inode);
	}
	err = layer_directory(&p->layer, cx, ino, parent, over != POPULATE_ALL,
			      names, n, &inode);
	if (!err)
		err = inodes_write(p->w, cx, ino, &inode);
	if (err)
		return err;
	p->counts.directories++;
	if (p->options.progress)
		p->options.progress(p->options.arg);
	return 0;
}

static void blank_free(struct payload *payload)
{
	free(payload);
}

static int place_file(struct populate *p, struct context *cx, uint64_t ino,
		      const struct nilfs_inode *inode,
		      const struct newfile_run *runs, size_t nruns,
		      struct payload *payload)
{
	struct nilfs_inode placed = *inode;
	int err = newfile_place(p->w, cx, ino, &placed, runs, nruns, payload);

	return err ? err : inodes_write(p->w, cx, ino, &placed);
}

/*
 * Places waiting files that fit, the earliest first.  With FIRST, the file that has
 * waited longest is placed whether it fits or not.
 */
static int place_waiting(struct populate *p, struct context *cx, bool first)
{
	struct deferred *d = &p->deferred;
	struct deferred_file *file;
	uint64_t room;
	size_t i, j;
	int err = 0;

	for (; d->n && !err; first = false) {
		room = newfile_room(p->w);
		if (!first && room && room < d->least)
			break;
		for (i = 0; !first && i < d->n; i++)
			if (newfile_fits(p->w, d->files[i]->nblocks))
				break;
		if (i == d->n)
			break;
		file = d->files[i];
		d->n--;
		memmove(&d->files[i], &d->files[i + 1],
			(d->n - i) * sizeof(d->files[0]));
		d->least = UINT64_MAX;
		for (j = 0; j < d->n; j++)
			if (d->files[j]->nblocks < d->least)
				d->least = d->files[j]->nblocks;
		err = place_file(p, cx, file->ino, &file->inode, file->runs,
				 file->nruns, file->payload);
		free(file);
	}
	return err;
}

/*
 * Begins a new segment with the file that has waited longest.  The rest of the
 * current segment stays unused, unless that file is split to fill it.
 */
static int begin_segment(struct populate *p, struct context *cx)
{
	int err = newfile_skip_wastes(p->w) ? 0 : newfile_skip(p->w, cx);

	return err ? err : place_waiting(p, cx, true);
}

/*
 * Places file INO with its blocks, now or later, and writes its inode then.  RUNS are
 * copied if needed; ownership of PAYLOAD is transferred.  Without LATER the file is
 * placed now.  Fails as newfile_place() and inodes_write().
 */
static int place_or_defer(struct populate *p, struct context *cx, uint64_t ino,
			  const struct nilfs_inode *inode,
			  const struct newfile_run *runs, size_t nruns,
			  struct payload *payload, bool later)
{
	struct deferred *d = &p->deferred;
	struct deferred_file *file;
	uint64_t nblocks = 0;
	size_t i;
	int err;

	for (i = 0; i < nruns; i++)
		nblocks += runs[i].count;
	err = place_waiting(p, cx, false);
	if (!err && !newfile_fits(p->w, nblocks)) {
		if (!later)
			err = newfile_skip_wastes(p->w) ? 0 : newfile_skip(p->w, cx);
		else if (d->n == DEFERRED_MAX)
			err = begin_segment(p, cx);
	}
	if (!err && (!later || newfile_fits(p->w, nblocks)))
		return place_file(p, cx, ino, inode, runs, nruns, payload);
	file = err ? NULL : malloc(sizeof(*file) + nruns * sizeof(*runs));
	if (!file) {
		payload_put(payload);
		return err ? err : fail(cx, -ENOMEM, "deferred file");
	}
	*file = (struct deferred_file){
		.ino = ino,
		.inode = *inode,
		.payload = payload,
		.nblocks = nblocks,
		.nruns = nruns,
	};
	memcpy(file->runs, runs, nruns * sizeof(*runs));
	if (!d->n || nblocks < d->least)
		d->least = nblocks;
	d->files[d->n++] = file;
	return 0;
}

int populate_file(struct populate *p, struct context *cx,
		  const struct entry *e, const struct newfile_run *runs,
		  size_t nruns, struct payload *payload, bool later,
		  uint64_t *ino)
{
	static const struct payload_ops blank = { .free = blank_free };
	struct nilfs_inode inode;
	int err;

	err = e->size > INT64_MAX ? fail(cx, -EFBIG, "size of a file") :
				    inodes_alloc(p->w, cx, ino);
	if (err || !nruns || p->needs.forecast) {
		payload_put(payload);
		payload = NULL;
	}
	if (err)
		return err;
	if (nruns && p->needs.forecast) {
		payload = malloc(sizeof(*payload));
		if (!payload)
			return fail(cx, -ENOMEM, "file of the source");
		payload_init(payload, &blank);
	}
	set_inode(p, e, true, &inode);
	err = nruns ? place_or_defer(p, cx, *ino, &inode, runs, nruns, payload,
				     later) :
		      inodes_write(p->w, cx, *ino, &inode);
	if (err)
		return err;
	p->counts.bytes += e->size;
	count_file(p, &p->counts.files);
	return 0;
}

int populate_special(struct populate *p, struct context *cx,
		     const struct entry *e, uint64_t *ino)
{
	uint32_t block_size = p->needs.block_size;
	struct nilfs_inode inode;
	int err;

	err = inodes_alloc(p->w, cx, ino);
	if (err)
		return err;
	set_inode(p, e, true, &inode);
	inode.i_size = le64_make(0);
	if (S_ISLNK(e->mode)) {
		if (!e->target_len)
			return fail(cx, -EINVAL, "symbolic link with an empty target");
		if (e->target_len >= block_size)
			return fail(cx, -ENAMETOOLONG,
				    "target of %u bytes in blocks of %u",
				    e->target_len, block_size);
		/* The kernel writes a zero byte after it: page_symlink(). */
		inode.i_size = le64_make(e->target_len);
		memcpy(p->block, e->target, e->target_len);
		memset((char *)p->block + e->target_len, 0,
		       block_size - e->target_len);
		err = newfile_collect(p->w, cx, *ino, &inode, p->block, 1);
	} else if (inode_has_rdev(&inode)) {
		inode.i_bmap[0] =
			le64_make(inode_rdev_encode(e->major, e->minor));
	}
	if (!err)
		err = inodes_write(p->w, cx, *ino, &inode);
	if (!err)
		count_file(p, S_ISLNK(e->mode) ? &p->counts.symlinks :
						 &p->counts.specials);
	return err;
}

int populate_link(struct populate *p, struct context *cx, uint64_t ino)
{
	struct pairtable_entry *link = pairtable_find(&p->linked, 0, ino);
	struct nilfs_inode inode;
	int found, err;

	if (!link) {
		/* Add the links of this layer to the existing ones. */
		found = layer_inode(&p->layer, cx, ino, &inode);
		if (found < 0)
			return found;
		err = pairtable_add(&p->linked, cx, 0, ino,
				    found ? le16_get(inode.i_links_count) : 1);
		if (err)
			return err;
		link = pairtable_find(&p->linked, 0, ino);
	}
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

int populate_finish(struct populate *p, struct context *cx)
{
	struct nilfs_inode inode;
	struct pairtable_entry *link;
	size_t i;
	int err = place_waiting(p, cx, false);

	while (!err && p->deferred.n)
		err = begin_segment(p, cx);
	pairtable_sort(&p->linked);
	for (i = 0; i < p->linked.used && !err; i++) {
		link = &p->linked.slots[i];
		err = inodes_read(p->w, cx, link->ino, &inode);
		if (err)
			break;
		inode.i_links_count = le16_make((uint16_t)link->value);
		err = inodes_write(p->w, cx, link->ino, &inode);
	}
	pairtable_fini(&p->linked);
	/* A replaced file must be placed before it is deleted. */
	if (!err && p->replaced)
		err = newfile_settle(p->w, cx);
	return err ? err : layer_finish(&p->layer, cx);
}

void populate_add_counts(const struct populate *p, struct populate_counts *sum)
{
	size_t i;

	sum->files += p->counts.files;
	sum->directories += p->counts.directories;
	sum->symlinks += p->counts.symlinks;
	sum->specials += p->counts.specials;
	sum->links += p->counts.links;
	sum->whiteouts += p->counts.whiteouts;
	sum->replaced_links += p->counts.replaced_links;
	sum->bytes += p->counts.bytes;
	for (i = 0; i < ENTRY_LOSSES; i++)
		sum->losses[i] +=
			__atomic_load_n(&p->losses[i], __ATOMIC_RELAXED);
}
