// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tar archive as a source, where there is libarchive to read it.
 */
#include "config.h"

#include "mkfs/tar/tarsource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "disk/ondisk.h"
#include "mkfs/populate/populate.h"
#include "mkfs/populate/whiteout.h"
#include "mkfs/tar/nametree.h"
#include "mkfs/tar/spool.h"
#include "mkfs/tar/tarpath.h"
#include "mkfs/tar/tarpayload.h"
#include "mkfs/tar/tarreader.h"

#ifdef HAVE_LIBARCHIVE

/*
 * Building a tree from members.
 *
 * Files are placed as they come; of a directory only its number is needed then,
 * and its names are known at the end.  A directory may be mentioned by its
 * members before its own member, or without one.
 *
 * A path is relative to the root of the volume, whatever slashes and dots it
 * begins with.  One that leads out of the volume is refused.  If a name occurs
 * twice, the later member replaces the earlier one, as if the archive had been
 * unpacked.
 */

/*
 * Files up to this size may wait for a place in which they are not cut.
 * Their content waits in memory.
 */
#define LATER_BYTES (64u << 10)

struct tarlayer {
	struct tarreader *r;
	const struct entry_rules *rules;	/* NULL: none */
	struct populate *p;
	uint32_t block_size;
	struct nametree names;
	struct payload *current;	/* that reads the archive, or NULL */
	struct spool_runs runs;		/* of the member without its zeros */
};

static int is_excluded(const struct tarlayer *l, struct context *cx,
		       const char *path, bool *excluded)
{
	char *plain;

	*excluded = false;
	if (!l->rules || !l->rules->nexclude)
		return 0;
	plain = malloc(strlen(path) + 1);
	if (!plain)
		return fail(cx, -ENOMEM, "%s", path);
	tarpath_plain(path, plain);
	*excluded = *plain && entry_excluded(l->rules, plain);
	free(plain);
	return 0;
}

/* Lets NODE, new or a file so far, be a directory. */
static int begin_dir(struct tarlayer *l, struct context *cx, uint32_t node)
{
	struct nametree_node *n = nametree_node(&l->names, node);
	uint64_t parent = nametree_node(&l->names, n->parent)->ino;
	int ret = populate_begin_dir(l->p, cx, parent, n->name, n->len,
				     &n->ino);

	return ret ? ret : nametree_make_dir(&l->names, cx, node);
}

/* A name of which nothing is known but that lower layers may not show it. */
static bool is_gone(const struct nametree_node *n)
{
	return n->type == NILFS_FT_UNKNOWN;
}

/* NODE leads to further names: it is a directory, or becomes one. */
static int descend(struct tarlayer *l, struct context *cx, uint32_t node)
{
	const struct nametree_node *n = nametree_node(&l->names, node);

	if (is_gone(n))
		return begin_dir(l, cx, node);
	return n->type == NILFS_FT_DIR ? 0 :
		tarreader_fail(l->r, cx, -EINVAL, "lies below a file");
}

/*
 * Finds the directory of a member, creating missing ones, and the last name of
 * PATH; *LEN is 0 for the root itself.
 */
static int find_parent(struct tarlayer *l, struct context *cx,
		       const char *path, uint32_t *parent, const char **name,
		       size_t *len)
{
	const char *next;
	size_t next_len;
	uint32_t node;
	int ret = 0;

	*parent = NAMETREE_TOP;
	*len = tarpath_next(&path, name);
	while ((next_len = tarpath_next(&path, &next))) {
		node = nametree_find(&l->names, *parent, *name, *len);
		if (node == NAMETREE_NONE)
			ret = nametree_add(&l->names, cx, *parent, *name, *len,
					   &node);
		if (!ret)
			ret = descend(l, cx, node);
		if (ret)
			return ret;
		*parent = node;
		*name = next;
		*len = next_len;
	}
	return 0;
}

/* The node that PATH leads to, or NAMETREE_NONE. */
static uint32_t look_up(const struct nametree *t, const char *path)
{
	uint32_t node = NAMETREE_TOP;
	const char *name;
	size_t len;

	while (node != NAMETREE_NONE && (len = tarpath_next(&path, &name)))
		node = nametree_find(t, node, name, len);
	return node;
}

/* Detaches from the archive, so that the next member can be read. */
static int finish_current(struct tarlayer *l, struct context *cx)
{
	int ret = l->current ? tarpayload_finish(l->current, cx) : 0;

	payload_put(l->current);
	l->current = NULL;
	return ret;
}

/* Reads the member to its end, to see whether it is all there. */
static int pass_over(struct tarlayer *l, struct context *cx,
		     const struct tarmember *m)
{
	uint64_t at, end;
	char buf[16384];
	size_t i, len;
	int ret = 0;

	for (i = 0; i < m->nruns && !ret; i++) {
		at = m->runs[i].blkoff * l->block_size;
		end = at + m->runs[i].count * l->block_size;
		for (; at < end && !ret; at += len) {
			len = end - at < sizeof(buf) ? (size_t)(end - at) :
						       sizeof(buf);
			ret = context_cancelled(cx);
			if (!ret)
				ret = tarreader_read(l->r, cx, at, len, buf);
		}
	}
	return ret || !m->nruns ? ret : tarreader_complete(l->r, cx);
}

static int add_with_holes(struct tarlayer *l, struct context *cx,
			  const struct tarmember *m, uint64_t *ino)
{
	struct payload *payload;
	int ret = spool_member(cx, l->r, m, l->block_size, &l->runs, &payload);

	return ret ? ret : populate_file(l->p, cx, &m->entry, l->runs.runs,
					 l->runs.n, payload,
					 m->entry.size <= LATER_BYTES, ino);
}

static int add_file(struct tarlayer *l, struct context *cx,
		    const struct tarmember *m, uint64_t *ino)
{
	struct payload *payload = NULL;
	int ret;

	if (m->nruns && populate_makes_holes(l->p))
		return add_with_holes(l, cx, m, ino);
	if (populate_is_forecast(l->p)) {
		ret = pass_over(l, cx, m);
		if (ret)
			return ret;
	} else if (m->nruns) {
		payload = tarpayload_make(l->r, m, l->block_size);
		if (!payload)
			return fail(cx, -ENOMEM, "member of an archive");
		l->current = payload_hold(payload);
	}
	return populate_file(l->p, cx, &m->entry, m->runs, m->nruns, payload,
			     m->entry.size <= LATER_BYTES, ino);
}

/* A place in this layer and in the layers below, merged as far as is read. */
struct merged {
	uint32_t node;		/* of this layer, or NAMETREE_NONE */
	uint64_t ino;
	uint8_t type;
	bool hidden;		/* nothing of lower layers is seen there */
};

/* Goes from directory AT on to NAME: 1, 0 where there is none. */
static int step_merge(struct tarlayer *l, struct context *cx, struct merged *at,
		      const char *name, size_t len)
{
	const struct nametree_node *n = NULL;

	if (at->type != NILFS_FT_DIR)
		return 0;
	if (at->node != NAMETREE_NONE) {
		n = nametree_node(&l->names, at->node);
		at->hidden |= n->hides || nametree_dir(&l->names,
						       n->dir)->opaque;
		at->node = nametree_find(&l->names, at->node, name, len);
		n = at->node == NAMETREE_NONE ?
			    NULL : nametree_node(&l->names, at->node);
	}
	if (n && !is_gone(n)) {
		at->ino = n->ino;
		at->type = n->type;
		return 1;
	}
	if (at->hidden || (n && n->hides))
		return 0;
	return populate_old_name(l->p, cx, at->ino, name, len, &at->ino,
				 &at->type);
}

/* The file that PATH leads to, as if members so far had been unpacked: 1, 0. */
static int find_target(struct tarlayer *l, struct context *cx,
		       const char *path, struct merged *at)
{
	const char *name;
	size_t len;
	int ret = 1;

	*at = (struct merged){
		.node = NAMETREE_TOP,
		.ino = nametree_node(&l->names, NAMETREE_TOP)->ino,
		.type = NILFS_FT_DIR,
	};
	while (ret > 0 && (len = tarpath_next(&path, &name)))
		ret = step_merge(l, cx, at, name, len);
	return ret;
}

/* One more name of the file that the member says, here or below. */
static int add_link(struct tarlayer *l, struct context *cx,
		    const struct tarmember *m, struct nametree_node *n)
{
	struct merged to;
	int ret = find_target(l, cx, m->link, &to);

	if (ret < 0)
		return ret;
	if (!ret)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "hard link to a file that did not "
				      "precede it");
	if (to.type == NILFS_FT_DIR)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "hard link to a directory");
	n->ino = to.ino;
	n->type = to.type;
	return populate_link(l->p, cx, n->ino);
}

static int add_inode(struct tarlayer *l, struct context *cx,
		     const struct tarmember *m, struct nametree_node *n)
{
	n->type = inode_dirent_type(m->entry.mode);
	if (n->type == NILFS_FT_UNKNOWN)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "of an unknown type");
	if (n->type == NILFS_FT_REG_FILE)
		return add_file(l, cx, m, &n->ino);
	if (n->type == NILFS_FT_SYMLINK && !m->entry.target_len)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "symbolic link to nothing");
	if (m->entry.target_len >= l->block_size)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "symbolic link too long for a block");
	return populate_special(l->p, cx, &m->entry, &n->ino);
}

static int add_directory(struct tarlayer *l, struct context *cx,
			 const struct tarmember *m, uint32_t node)
{
	const struct nametree_node *n = nametree_node(&l->names, node);
	struct nametree_dir *dir;
	int ret = 0;

	if (n->type != NILFS_FT_DIR)
		ret = begin_dir(l, cx, node);
	if (ret)
		return ret;
	dir = nametree_dir(&l->names, n->dir);
	dir->known = true;
	dir->entry = m->entry;
	return 0;
}

/* Whatever has the name of NODE so far makes way for the member. */
static int replace(struct tarlayer *l, struct context *cx,
		   const struct tarmember *m, uint32_t node)
{
	struct nametree_node *n = nametree_node(&l->names, node);
	bool is_dir = !m->link && S_ISDIR(m->entry.mode);
	int ret;

	if (is_gone(n))
		return 0;
	if (n->type == NILFS_FT_DIR)
		return is_dir ? 0 : tarreader_fail(l->r, cx, -EINVAL,
						   "was a directory before");
	ret = populate_unlink(l->p, cx, n->ino);
	n->type = NILFS_FT_UNKNOWN;
	return ret;
}

/* A name that is a hard link to itself says nothing. */
static bool links_itself(const struct tarlayer *l, const struct tarmember *m,
			 uint32_t node)
{
	return m->link && look_up(&l->names, m->link) == node &&
	       !is_gone(nametree_node(&l->names, node));
}

static int add_name(struct tarlayer *l, struct context *cx,
		    const struct tarmember *m, uint32_t parent,
		    const char *name, size_t len)
{
	uint32_t node = nametree_find(&l->names, parent, name, len);
	int ret;

	if (node == NAMETREE_NONE)
		ret = nametree_add(&l->names, cx, parent, name, len, &node);
	else if (links_itself(l, m, node))
		return 0;
	else
		ret = replace(l, cx, m, node);
	if (ret)
		return ret;
	if (m->link)
		return add_link(l, cx, m, nametree_node(&l->names, node));
	if (S_ISDIR(m->entry.mode))
		return add_directory(l, cx, m, node);
	return add_inode(l, cx, m, nametree_node(&l->names, node));
}

/* Deletes NAME of lower layers, but not of this one. */
static int add_whiteout(struct tarlayer *l, struct context *cx,
			uint32_t parent, const char *name, size_t len)
{
	uint32_t node = nametree_find(&l->names, parent, name, len);
	int ret = 0;

	if (node == NAMETREE_NONE)
		ret = nametree_add(&l->names, cx, parent, name, len, &node);
	if (!ret)
		nametree_node(&l->names, node)->hides = true;
	return ret;
}

/* Applies NAME if it is a whiteout: 1, otherwise 0. */
static int whiten(struct tarlayer *l, struct context *cx, uint32_t parent,
		  const char *name, size_t len)
{
	enum whiteout kind = l->rules && l->rules->whiteouts ?
				     whiteout_of(name, len) : WHITEOUT_NONE;
	const struct nametree_node *n = nametree_node(&l->names, parent);
	int ret;

	switch (kind) {
	case WHITEOUT_NAME:
		ret = add_whiteout(l, cx, parent, name + WHITEOUT_PREFIX_LEN,
				   len - WHITEOUT_PREFIX_LEN);
		return ret ? ret : 1;
	case WHITEOUT_OPAQUE:
		nametree_dir(&l->names, n->dir)->opaque = true;
		return 1;
	case WHITEOUT_BAD:
		return tarreader_fail(l->r, cx, -EINVAL, "a whiteout of the "
				      "directory that it lies in");
	default:
		return kind == WHITEOUT_OTHER;
	}
}

static int report_losses(struct tarlayer *l, struct context *cx,
			 const struct tarmember *m)
{
	int ret = 0;
	size_t i;

	for (i = 0; i < ENTRY_LOSSES && !ret; i++)
		if (m->losses[i] && !m->link)
			ret = populate_loss(l->p, cx, m->path,
					    (enum entry_loss)i);
	return ret;
}

static int add_member(struct tarlayer *l, struct context *cx,
		      const struct tarmember *m)
{
	const char *wrong = tarpath_check(m->path), *name;
	bool excluded;
	uint32_t parent;
	size_t len;
	int ret;

	if (wrong)
		return tarreader_fail(l->r, cx, -EINVAL, wrong);
	ret = is_excluded(l, cx, m->path, &excluded);
	if (ret || excluded)
		return ret;
	ret = find_parent(l, cx, m->path, &parent, &name, &len);
	if (!ret)
		ret = whiten(l, cx, parent, name, len);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = report_losses(l, cx, m);
	if (ret)
		return ret;
	if (len)
		return add_name(l, cx, m, parent, name, len);
	if (m->link || !S_ISDIR(m->entry.mode))
		return tarreader_fail(l->r, cx, -EINVAL,
				      "the root is not a directory");
	return add_directory(l, cx, m, NAMETREE_TOP);
}

/* Directories come after those that they lie in. */
static enum populate_over what_is_seen(const struct tarlayer *l,
				       const struct nametree_dir *dir)
{
	const struct nametree_node *n = nametree_node(&l->names, dir->node);
	const struct nametree_node *up = nametree_node(&l->names, n->parent);

	if (dir->node != NAMETREE_TOP &&
	    (n->hides ||
	     nametree_dir(&l->names, up->dir)->over != POPULATE_ALL))
		return POPULATE_NOTHING;
	return dir->opaque ? POPULATE_ATTRIBUTES : POPULATE_ALL;
}

static int end_directories(struct tarlayer *l, struct context *cx)
{
	const struct populate_name *names;
	uint32_t i;
	size_t n;
	int ret = 0;

	for (i = 0; i < l->names.dirs.count && !ret; i++) {
		struct nametree_dir *dir = nametree_dir(&l->names, i);
		const struct nametree_node *node =
			nametree_node(&l->names, dir->node);
		uint64_t parent = nametree_node(&l->names, node->parent)->ino;

		dir->over = what_is_seen(l, dir);
		ret = nametree_list(&l->names, cx, i, &names, &n);
		if (!ret)
			ret = populate_end_dir(l->p, cx, node->ino, parent,
					       dir->known ? &dir->entry : NULL,
					       dir->over, names, n);
	}
	return ret;
}

static int run_layer(struct tarlayer *l, struct context *cx)
{
	struct tarmember m;
	int ret = nametree_init(&l->names, cx), found = 1;

	if (!ret)
		ret = populate_begin_dir(
			l->p, cx, 0, NULL, 0,
			&nametree_node(&l->names, NAMETREE_TOP)->ino);
	while (!ret && found) {
		ret = context_cancelled(cx);
		if (!ret)
			ret = finish_current(l, cx);
		if (ret)
			break;
		found = tarreader_next(l->r, cx, &m);
		if (found < 0)
			ret = found;
		else if (found)
			ret = add_member(l, cx, &m);
	}
	return ret ? ret : end_directories(l, cx);
}

/* Puts all members of R into P; see tarsource_run(). */
static int tarlayer_run(struct context *cx, struct tarreader *r,
			const struct entry_rules *rules, uint32_t block_size,
			struct populate *p)
{
	struct tarlayer l = {
		.r = r, .rules = rules, .p = p, .block_size = block_size,
	};
	int ret = run_layer(&l, cx);

	/* The reader is gone before the last chunk is filled. */
	if (l.current)
		tarpayload_drop(l.current);
	payload_put(l.current);
	nametree_fini(&l.names);
	free(l.runs.runs);
	return ret;
}

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, uint32_t block_size,
		  struct populate *p)
{
	struct tarreader *r = NULL;
	int ret = tarreader_open(&r, cx, path, block_size);

	if (!ret)
		ret = tarlayer_run(cx, r, rules, block_size, p);
	if (!ret)
		tarreader_drain(r, cx);
	tarreader_close(r);
	return ret;
}

#else

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, uint32_t block_size,
		  struct populate *p)
{
	(void)rules;
	(void)block_size;
	(void)p;
	return fail_said(cx, -EOPNOTSUPP,
			 "%s: archive: built without libarchive", path);
}

#endif
