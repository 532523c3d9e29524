// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tar archive as a source; needs libarchive.
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
#include "mkfs/tar/nametree.h"
#include "mkfs/tar/tarpayload.h"
#include "mkfs/tar/tarreader.h"

#ifdef HAVE_LIBARCHIVE

/*
 * Building a tree from members.
 *
 * Files are placed in the order of the archive.  At that time only the number of their
 * directory is needed; its names are known at the end.  A directory may be mentioned
 * by its members before its own member, or without one.
 *
 * A path is relative to the root of the volume.  Repeated slashes, leading slashes and
 * "." are ignored.  A path that leads out of the volume is refused.  If a name occurs
 * twice, the later member replaces the earlier one, as in unpacking.
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
};

/*
 * Takes the first component of *PATH: advances *PATH, sets *NAME, and returns its
 * length; 0: there is no component.
 */
static size_t next_name(const char **path, const char **name)
{
	size_t len;

	do {
		*path += strspn(*path, "/");
		*name = *path;
		len = strcspn(*path, "/");
		*path += len;
	} while (len == 1 && **name == '.');
	return len;
}

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
	while ((len = next_name(&path, &name))) {
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

/* Whether N only hides a name of lower layers. */
static bool is_gone(const struct nametree_node *n)
{
	return n->type == NILFS_FT_UNKNOWN;
}

/*
 * Finds the directory of a member, creating missing ones, and the last component of
 * PATH; *LEN is 0 for the root itself.
 */
static int find_parent(struct tarlayer *l, struct context *cx,
		       const char *path, uint32_t *parent, const char **name,
		       size_t *len)
{
	const struct nametree_node *n;
	const char *next;
	size_t next_len;
	uint32_t node;
	int ret;

	*parent = NAMETREE_TOP;
	*len = next_name(&path, name);
	while ((next_len = next_name(&path, &next))) {
		ret = nametree_add(&l->names, cx, *parent, *name, *len, &node);
		if (ret)
			return ret;
		n = nametree_node(&l->names, node);
		if (is_gone(n))
			ret = begin_dir(l, cx, node);
		else if (n->type != NILFS_FT_DIR)
			ret = tarreader_fail(l->r, cx, -EINVAL,
					     "lies below a file");
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

/* A place in this layer merged with the layers below, as of the current member. */
struct merged {
	uint32_t node;		/* of this layer, or NAMETREE_NONE */
	uint64_t ino;
	uint8_t type;
	bool hidden;		/* lower layers are hidden there */
};

/* Goes from directory AT to NAME: 1, 0 if there is no such name. */
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

/*
 * Adds one more name for the file that the member links to, in this layer or below, as
 * if all members so far had been unpacked.
 */
static int add_link(struct tarlayer *l, struct context *cx,
		    const struct tarmember *m, struct nametree_node *n)
{
	struct merged to = {
		.node = NAMETREE_TOP,
		.ino = nametree_node(&l->names, NAMETREE_TOP)->ino,
		.type = NILFS_FT_DIR,
	};
	const char *path = m->link, *name;
	size_t len;
	int ret = 1;

	while (ret > 0 && (len = next_name(&path, &name)))
		ret = step_merge(l, cx, &to, name, len);
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
				      "unknown file type");
	if (n->type == NILFS_FT_REG_FILE)
		return tarsource_add_file(l, cx, m, &n->ino);
	if (n->type == NILFS_FT_SYMLINK && !m->entry.target_len)
		return tarreader_fail(l->r, cx, -EINVAL,
				      "symbolic link with an empty target");
	if (m->entry.target_len >= l->needs->block_size)
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

/* Adds the member as NAME of PARENT; replaces a file of that name. */
static int add_name(struct tarlayer *l, struct context *cx,
		    const struct tarmember *m, uint32_t parent,
		    const char *name, size_t len)
{
	bool is_dir = !m->link && S_ISDIR(m->entry.mode);
	uint32_t node, same = NAMETREE_TOP;
	const char *path = m->link;
	struct nametree_node *n;
	int ret = nametree_add(&l->names, cx, parent, name, len, &node);

	if (ret)
		return ret;
	n = nametree_node(&l->names, node);
	if (!is_gone(n)) {
		while (path && same != NAMETREE_NONE &&
		       (len = next_name(&path, &name)))
			same = nametree_find(&l->names, same, name, len);
		/* A hard link of a name to itself has no effect. */
		if (m->link && same == node)
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
	if (m->link)
		return add_link(l, cx, m, n);
	return is_dir ? add_directory(l, cx, m, node) : add_inode(l, cx, m, n);
}

/* Applies NAME if it is a whiteout: 1, otherwise 0. */
static int whiten(struct tarlayer *l, struct context *cx, uint32_t parent,
		  const char *name, size_t len)
{
	enum entry_whiteout kind = l->rules && l->rules->whiteouts ?
					   entry_whiteout(name, len) :
					   WHITEOUT_NONE;
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
	const char *path = m->path, *name;
	uint32_t parent;
	size_t len, i;
	int ret;

	while ((len = next_name(&path, &name))) {
		if (len == 2 && name[0] == '.' && name[1] == '.')
			return tarreader_fail(l->r, cx, -EINVAL,
					      "leads out of the volume");
		if (len > NILFS_NAME_LEN)
			return tarreader_fail(l->r, cx, -EINVAL,
					      "name of more than 255 bytes");
	}
	ret = is_excluded(l, cx, m->path);
	if (!ret)
		ret = find_parent(l, cx, m->path, &parent, &name, &len);
	if (!ret)
		ret = whiten(l, cx, parent, name, len);
	if (ret)
		return ret < 0 ? ret : 0;
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
	const struct nametree *t = &l->names;
	const struct populate_name *names;
	uint32_t i;
	size_t n;
	int ret = 0;

	for (i = 0; i < t->dirs.count && !ret; i++) {
		struct nametree_dir *dir = nametree_dir(t, i);
		const struct nametree_node *node = nametree_node(t, dir->node);
		const struct nametree_node *up = nametree_node(t, node->parent);

		dir->over = dir->opaque ? POPULATE_ATTRIBUTES : POPULATE_ALL;
		if (dir->node != NAMETREE_TOP &&
		    (node->hides ||
		     nametree_dir(t, up->dir)->over != POPULATE_ALL))
			dir->over = POPULATE_NOTHING;
		ret = nametree_list(&l->names, cx, i, &names, &n);
		if (!ret)
			ret = populate_end_dir(l->p, cx, node->ino, up->ino,
					       dir->known ? &dir->entry : NULL,
					       dir->over, names, n);
	}
	return ret;
}

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, struct populate *p)
{
	const struct populate_needs *needs = populate_needs(p);
	struct tarlayer l = { .rules = rules, .p = p, .needs = needs };
	struct tarmember m;
	int ret = tarreader_open(&l.r, cx, path, needs->block_size), found = 1;

	if (!ret)
		ret = nametree_init(&l.names, cx);
	if (!ret)
		ret = populate_begin_dir(
			p, cx, 0, NULL, 0,
			&nametree_node(&l.names, NAMETREE_TOP)->ino);
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
	if (!ret)
		tarreader_drain(l.r, cx);
	tarreader_close(l.r);
	return ret;
}

#else

int tarsource_run(struct context *cx, const char *path,
		  const struct entry_rules *rules, struct populate *p)
{
	(void)rules;
	(void)p;
	return fail_said(cx, -EOPNOTSUPP,
			 "%s: archive: built without libarchive", path);
}

#endif
