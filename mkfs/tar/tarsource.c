// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tar archive as a source; needs libarchive.
 */
#include "config.h"

#include "mkfs/tar/tarsource.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "disk/ondisk.h"
#include "mkfs/populate/populate.h"
#include "mkfs/tar/layerpath.h"
#include "mkfs/tar/nametree.h"
#include "mkfs/tar/tarpayload.h"
#include "mkfs/tar/tarreader.h"
#include "vol/root.h"
#include "vol/treedigest.h"

#ifdef HAVE_LIBARCHIVE

/*
 * Building a tree from members.
 *
 * Files are placed in the order of the archive.  At that time only the number of their
 * directory is needed; its names are known at the end.  A directory may be mentioned
 * by its members before its own member, or without one.
 *
 * A path is relative to the root of the volume.  Repeated slashes, leading slashes and
 * "." are ignored.  A path with ".." is refused.  If a name occurs
 * twice, the later member replaces the earlier one, as in unpacking.  A member below a
 * symbolic link, of this archive or of a lower layer, goes where the link leads.
 */

/*
 * Files up to this size may be deferred, so that they are not split.  Their content
 * stays in memory until they are placed.
 */
#define LATER_BYTES (64u << 10)

struct tarlayer {
	struct tarreader *r;
	const struct entry_rules *rules;	/* NULL: none */
	struct populate *p;
	const struct populate_needs *needs;
	struct nametree names;
	struct payload *current;	/* of the current member, or NULL */
	struct tarpayload_runs runs;		/* of the member, without zeros */
	struct layerpath path;		/* of the member */
};

/* Whether the rules exclude PATH; leading slashes and dots are ignored. */
static int is_excluded(const struct tarlayer *l, struct context *cx,
		       const char *path)
{
	size_t len, used = 0;
	const char *name;
	char *plain;
	int ret;

	if (!l->rules || !l->rules->nexclude)
		return 0;
	plain = malloc(strlen(path) + 1);
	if (!plain)
		return fail(cx, -ENOMEM, "%s", path);
	while ((len = layerpath_next(&path, &name))) {
		if (used)
			plain[used++] = '/';
		memcpy(plain + used, name, len);
		used += len;
	}
	plain[used] = '\0';
	ret = used && entry_excluded(l->rules, plain);
	free(plain);
	return ret;
}

/* Makes NODE, new or a file so far, a directory. */
static int begin_dir(struct tarlayer *l, struct context *cx, uint32_t node)
{
	struct nametree_node *n = nametree_node(&l->names, node);
	uint64_t parent = nametree_node(&l->names, n->parent)->ino;
	int ret = populate_begin_dir(l->p, cx, parent, n->name, n->len,
				     &n->ino);

	return ret ? ret : nametree_make_dir(&l->names, cx, node);
}

/*
 * Finds the directory node of l->path, creating missing ones, and its last component;
 * *LEN is 0 for the root itself.
 */
static int find_parent(struct tarlayer *l, struct context *cx,
		       uint32_t *parent, const char **name, size_t *len)
{
	char below[FAILURE_TEXT_MAX];
	const char *path = l->path.real, *next;
	size_t next_len;
	uint32_t node;
	int ret;

	if (l->path.below) {
		snprintf(below, sizeof(below), "lies below %.*s, which is not a "
			 "directory", (int)l->path.below, l->path.real);
		return tarreader_fail(l->r, cx, -EINVAL, below);
	}
	*parent = NAMETREE_TOP;
	*len = layerpath_next(&path, name);
	while ((next_len = layerpath_next(&path, &next))) {
		/* Only the target of a symbolic link may have such a name here. */
		ret = *len > NILFS_NAME_LEN ?
			      tarreader_fail(l->r, cx, -EINVAL,
					     "lies below a name of more than "
					     "255 bytes") :
			      nametree_add(&l->names, cx, *parent, *name, *len,
					   &node);
		if (!ret && layerpath_is_gone(nametree_node(&l->names, node)))
			ret = begin_dir(l, cx, node);
		if (ret)
			return ret;
		*parent = node;
		*name = next;
		*len = next_len;
	}
	return 0;
}

/* Reads the member to its end, to check that it is complete. */
static int pass_over(struct tarlayer *l, struct context *cx,
		     const struct tarmember *m)
{
	uint64_t at, end, block_size = l->needs->block_size;
	char buf[16384];
	size_t i, len;
	int ret = 0;

	for (i = 0; i < m->nruns && !ret; i++) {
		at = m->runs[i].blkoff * block_size;
		end = at + m->runs[i].count * block_size;
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

static int tarsource_add_file(struct tarlayer *l, struct context *cx,
			      const struct tarmember *m, uint64_t *ino)
{
	const struct newfile_run *runs = m->runs;
	struct payload *payload = NULL;
	size_t nruns = m->nruns;
	int ret = 0;

	if (nruns && l->needs->holes) {
		ret = tarpayload_spool(cx, l->r, m, l->needs->block_size,
				       &l->runs, &payload);
		runs = l->runs.runs;
		nruns = l->runs.n;
	} else if (l->needs->forecast) {
		ret = pass_over(l, cx, m);
	} else if (nruns) {
		payload = tarpayload_make(l->r, m, l->needs->block_size);
		if (!payload)
			return fail(cx, -ENOMEM, "member of an archive");
		l->current = payload_hold(payload);
	}
	return ret ? ret : populate_file(l->p, cx, &m->entry, runs, nruns,
					 payload, m->entry.size <= LATER_BYTES,
					 ino);
}

/* Finds TO, the file that the member links to, as if all so far were unpacked. */
static int find_linked(struct tarlayer *l, struct context *cx,
		       const struct tarmember *m, struct merged *to)
{
	const char *path = m->link, *name;
	bool up = false;
	size_t len;
	int ret;

	while ((len = layerpath_next(&path, &name)))
		up |= len == 2 && !memcmp(name, "..", 2);
	ret = layerpath_follow(&l->path, cx, m->link, to);
	if (ret)
		return ret;
	name = strrchr(l->path.real, '/');
	name = name ? name + 1 : l->path.real;
	ret = *name ? layerpath_step(&l->path, cx, to, name, strlen(name)) : 1;
	if (ret >= 0 && up)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "hard link to a path with ..");
	if (!ret)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "hard link to a file that did not "
				      "precede it");
	return ret < 0 ? ret : 0;
}

/* Makes NODE one more name of TO, in this layer or below. */
static int add_link(struct tarlayer *l, struct context *cx,
		    const struct merged *to, uint32_t node)
{
	struct nametree_node *n = nametree_node(&l->names, node);
	char target[SYMLINK_TARGET_MAX + 1];
	int ret = 0;

	if (to->type == NILFS_FT_DIR)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "hard link to a directory");
	if (to->type == NILFS_FT_SYMLINK) {
		ret = layerpath_target(&l->path, cx, to, target);
		if (!ret)
			ret = nametree_set_target(&l->names, cx, node, target,
						  strlen(target));
	}
	if (ret)
		return ret;
	n->ino = to->ino;
	n->type = to->type;
	return populate_link(l->p, cx, n->ino);
}

static int add_inode(struct tarlayer *l, struct context *cx,
		     const struct tarmember *m, uint32_t node)
{
	struct nametree_node *n = nametree_node(&l->names, node);
	int ret = 0;

	n->type = inode_dirent_type(m->entry.mode);
	if (n->type == NILFS_FT_UNKNOWN)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "unknown file type");
	if (n->type == NILFS_FT_REG_FILE)
		return tarsource_add_file(l, cx, m, &n->ino);
	if (n->type == NILFS_FT_SYMLINK && !m->entry.target_len)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "symbolic link with an empty target");
	if (m->entry.target_len >= l->needs->block_size)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "symbolic link too long for a block");
	if (n->type == NILFS_FT_SYMLINK)
		ret = nametree_set_target(&l->names, cx, node, m->entry.target,
					  m->entry.target_len);
	if (ret)
		return ret;
	return populate_special(l->p, cx, &m->entry, &n->ino);
}

static int add_directory(struct tarlayer *l, struct context *cx,
			 const struct tarmember *m, uint32_t node)
{
	struct nametree_node *n = nametree_node(&l->names, node);
	struct nametree_dir *dir;
	int ret = 0;

	n->made = true;
	if (n->type != NILFS_FT_DIR)
		ret = begin_dir(l, cx, node);
	if (ret)
		return ret;
	dir = nametree_dir(&l->names, n->dir);
	dir->known = true;
	dir->entry = m->entry;
	return 0;
}

/* Adds the member as NAME of PARENT; replaces a file of that name. */
static int add_name(struct tarlayer *l, struct context *cx,
		    const struct tarmember *m, uint32_t parent,
		    const char *name, size_t len)
{
	bool is_dir = !m->link && S_ISDIR(m->entry.mode);
	struct nametree_node *n;
	struct merged to;
	uint32_t node;
	int ret = nametree_add(&l->names, cx, parent, name, len, &node);

	if (!ret && m->link)
		ret = find_linked(l, cx, m, &to);
	if (ret)
		return ret;
	n = nametree_node(&l->names, node);
	if (!layerpath_is_gone(n)) {
		/* A hard link of a name to itself has no effect. */
		if (m->link && to.node == node)
			return 0;
		if (n->type == NILFS_FT_DIR && !is_dir)
			return tarreader_fail(l->r, cx, -EINVAL,
					      "was a directory before");
		if (n->type != NILFS_FT_DIR) {
			ret = populate_unlink(l->p, cx, n->ino);
			n->type = NILFS_FT_UNKNOWN;
		}
		if (ret)
			return ret;
	}
	if (is_dir)
		return add_directory(l, cx, m, node);
	/* A lower directory of that name is removed, even if another one replaces the file. */
	ret = m->link ? add_link(l, cx, &to, node) :
			add_inode(l, cx, m, node);
	n->hides = true;
	return ret;
}

/* Applies NAME, of that kind: 1, or 0 if it is no whiteout. */
static int whiten(struct tarlayer *l, struct context *cx, uint32_t parent,
		  const char *name, size_t len, enum entry_whiteout kind)
{
	const struct nametree_node *n = nametree_node(&l->names, parent);
	uint32_t node;
	int ret;

	switch (kind) {
	case WHITEOUT_NAME:
		/* A whiteout deletes a name of lower layers, but not of this layer. */
		ret = nametree_add(&l->names, cx, parent,
				   name + WHITEOUT_PREFIX_LEN,
				   len - WHITEOUT_PREFIX_LEN, &node);
		if (ret)
			return ret;
		nametree_node(&l->names, node)->hides = true;
		return 1;
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

static int add_member(struct tarlayer *l, struct context *cx,
		      const struct tarmember *m)
{
	enum entry_whiteout kind = WHITEOUT_NONE;
	const char *path = m->path, *name;
	uint32_t parent = NAMETREE_TOP, node;
	struct merged at;
	bool up = false, out = false;
	size_t len, i, depth = 0;
	int ret;

	while ((len = layerpath_next(&path, &name))) {
		if (len == 2 && !memcmp(name, "..", 2)) {
			up = true;
			out |= !depth;
			depth -= depth > 0;
			continue;
		}
		depth++;
		if (len > NILFS_NAME_LEN)
			return tarreader_fail(l->r, cx, -EINVAL,
					      "name of more than 255 bytes");
	}
	if (up)
		return tarreader_fail(l->r, cx, -EINVAL, out ?
				      "leads out of the volume" :
				      "has .. in its path");
	ret = is_excluded(l, cx, m->path);
	if (!ret)
		ret = layerpath_follow(&l->path, cx, m->path, &at);
	if (!ret && ((l->rules && l->rules->whiteouts) || tarreader_since(l->r))) {
		name = strrchr(l->path.real, '/');
		name = name ? name + 1 : l->path.real;
		kind = entry_whiteout(name, strlen(name));
	}
	/* In a missing directory it removes nothing, and does not make it. */
	if (!ret && kind != WHITEOUT_NONE && kind != WHITEOUT_BAD &&
	    at.type != NILFS_FT_DIR)
		return 0;
	if (!ret)
		ret = find_parent(l, cx, &parent, &name, &len);
	if (!ret)
		ret = whiten(l, cx, parent, name, len, kind);
	if (ret)
		return ret < 0 ? ret : 0;
	for (node = parent; !nametree_node(&l->names, node)->made;
	     node = nametree_node(&l->names, node)->parent)
		nametree_node(&l->names, node)->made = true;
	for (i = 0; i < ENTRY_LOSSES && !ret; i++)
		if (m->losses[i] && !m->link)
			ret = populate_loss(l->p, cx, m->path,
					    (enum entry_loss)i);
	if (ret)
		return ret;
	if (len)
		return add_name(l, cx, m, parent, name, len);
	if (m->link || !S_ISDIR(m->entry.mode))
		return tarreader_fail(l->r, cx, -EINVAL,
				      "the root is not a directory");
	return add_directory(l, cx, m, NAMETREE_TOP);
}

/* Ends directories; a directory is ended after its parent. */
static int end_directories(struct tarlayer *l, struct context *cx)
{
	struct nametree *t = &l->names;
	const struct populate_name *names;
	struct nametree_node *node;
	const struct nametree_node *up;
	struct nametree_dir *dir;
	bool hidden;
	uint32_t i;
	size_t n;
	int ret = 0;

	for (i = 0; i < t->dirs.count; i++) {
		dir = nametree_dir(t, i);
		node = nametree_node(t, dir->node);
		up = nametree_node(t, node->parent);
		hidden = dir->node != NAMETREE_TOP &&
			 (node->hides ||
			  nametree_dir(t, up->dir)->over != POPULATE_ALL);
		dir->over = hidden	? POPULATE_NOTHING :
			    dir->opaque ? POPULATE_ATTRIBUTES :
					  POPULATE_ALL;
		/* Only whiteouts are below it: it goes with the lower one. */
		if (hidden && !node->made) {
			node->type = NILFS_FT_UNKNOWN;
			node->ino = 0;
		}
	}
	for (i = 0; i < t->dirs.count && !ret; i++) {
		dir = nametree_dir(t, i);
		node = nametree_node(t, dir->node);
		up = nametree_node(t, node->parent);
		if (layerpath_is_gone(node))
			continue;
		ret = nametree_list(t, cx, i, &names, &n);
		if (!ret)
			ret = populate_end_dir(l->p, cx, node->ino, up->ino,
					       dir->known ? &dir->entry : NULL,
					       dir->over, names, n);
	}
	return ret;
}

/* Fails if the archive names another state than BASE has. */
static int check_base(const struct tarreader *r, struct context *cx,
		      struct volume *base)
{
	const char *since = tarreader_since(r);
	char here[TREEDIGEST_TEXT], text[160];
	struct root root;
	int ret;

	if (!base || !since)
		return 0;
	ret = root_open(&root, cx, base, 0);
	if (!ret)
		ret = treedigest_run(cx, &root, here);
	if (ret || !strcmp(here, since))
		return ret;
	snprintf(text, sizeof(text), "has the changes to another state than that of "
		 "the volume (digest %s, here %s); nothing was changed", since, here);
	return tarreader_fail(r, cx, -EINVAL, text);
}

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, struct volume *base,
		  struct populate *p)
{
	const struct populate_needs *needs = populate_needs(p);
	struct tarlayer l = { .rules = rules, .p = p, .needs = needs };
	struct tarmember m;
	int ret = tarreader_open(&l.r, cx, path, needs->block_size), found = 1;

	if (!ret)
		ret = check_base(l.r, cx, base);
	if (!ret)
		ret = nametree_init(&l.names, cx);
	l.path = (struct layerpath){ .names = &l.names, .p = p, .r = l.r };
	if (!ret) {
		nametree_node(&l.names, NAMETREE_TOP)->made = true;
		ret = populate_begin_dir(
			p, cx, 0, NULL, 0,
			&nametree_node(&l.names, NAMETREE_TOP)->ino);
	}
	while (!ret && found) {
		ret = context_cancelled(cx);
		/* Detach it from the archive, so that the next member can be read. */
		if (!ret && l.current)
			ret = tarpayload_finish(l.current, cx);
		if (ret)
			break;
		payload_put(l.current);
		l.current = NULL;
		found = tarreader_next(l.r, cx, &m);
		if (found < 0)
			ret = found;
		else if (found)
			ret = add_member(&l, cx, &m);
	}
	if (!ret)
		ret = end_directories(&l, cx);
	/* The reader is closed before the last chunk is filled. */
	if (l.current)
		tarpayload_drop(l.current);
	payload_put(l.current);
	nametree_fini(&l.names);
	free(l.runs.runs);
	free(l.path.real);
	if (!ret)
		tarreader_drain(l.r, cx);
	tarreader_close(l.r);
	return ret;
}

#else

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, struct volume *base,
		  struct populate *p)
{
	(void)base;
	(void)rules;
	(void)p;
	return fail_said(cx, -EOPNOTSUPP,
			 "%s: archive: built without libarchive", path);
}

#endif
