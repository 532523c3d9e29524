// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where paths of an archive lead.
 *
 * Layers are unpacked one over the other, so a member below a symbolic link, of a lower
 * layer or of its own archive, goes where the link leads, and a link never leads out of
 * the root.  A path is followed from the top; a link or ".." in it gives another path,
 * which begins at the top again.
 */
#include "config.h"

#include "mkfs/tar/layerpath.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "disk/ondisk.h"

/* The most symbolic links in a path, as other tools that unpack layers have it. */
#define LINKS_MAX 255

size_t layerpath_next(const char **path, const char **name)
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

bool layerpath_is_gone(const struct nametree_node *n)
{
	return n->type == NILFS_FT_UNKNOWN;
}

int layerpath_step(const struct layerpath *l, struct context *cx,
		   struct merged *at, const char *name, size_t len)
{
	const struct nametree_node *n = NULL;

	if (at->type != NILFS_FT_DIR)
		return 0;
	if (at->node != NAMETREE_NONE) {
		n = nametree_node(l->names, at->node);
		at->hidden |= n->hides || nametree_dir(l->names,
						       n->dir)->opaque;
		at->node = nametree_find(l->names, at->node, name, len);
		n = at->node == NAMETREE_NONE ?
			    NULL : nametree_node(l->names, at->node);
	}
	if (n && !layerpath_is_gone(n)) {
		at->ino = n->ino;
		at->type = n->type;
		return 1;
	}
	if (at->hidden || (n && n->hides))
		return 0;
	return populate_old_name(l->p, cx, at->ino, name, len, &at->ino,
				 &at->type);
}

int layerpath_target(const struct layerpath *l, struct context *cx,
		     const struct merged *at,
		     char target[SYMLINK_TARGET_MAX + 1])
{
	size_t len;

	if (at->node == NAMETREE_NONE ||
	    nametree_node(l->names, at->node)->type != NILFS_FT_SYMLINK)
		return populate_old_link(l->p, cx, at->ino, target, &len);
	snprintf(target, SYMLINK_TARGET_MAX + 1, "%s",
		 nametree_target(l->names, at->node));
	return 0;
}

int layerpath_follow(struct layerpath *l, struct context *cx,
		     const char *path, struct merged *at)
{
	char target[SYMLINK_TARGET_MAX + 1], *text = NULL, *joined;
	size_t used = 0, len;
	unsigned int links = 0;
	const char *name, *rest;
	bool up;
	int ret = 0;

	while (!ret) {
		if (!used) {
			*at = (struct merged){
				.node = NAMETREE_TOP,
				.ino = nametree_node(l->names,
						     NAMETREE_TOP)->ino,
				.type = NILFS_FT_DIR,
			};
			l->below = 0;
		}
		len = layerpath_next(&path, &name);
		rest = path;
		if (array_reserve(cx, &l->real, &l->room, used + len + 2)) {
			ret = -ENOMEM;
			break;
		}
		memcpy(l->real + used, name, len);
		l->real[used + len] = '\0';
		if (!layerpath_next(&rest, &name))
			break;
		/* Only targets have "..", and what is missing is no link. */
		up = len == 2 && !memcmp(l->real + used, "..", 2);
		target[0] = '\0';
		if (!up) {
			ret = layerpath_step(l, cx, at, l->real + used, len);
			if (!ret)
				at->type = NILFS_FT_UNKNOWN;
			if (ret < 0)
				break;
			ret = 0;
			if (at->type != NILFS_FT_SYMLINK) {
				used += len;
				if (!l->below && at->type != NILFS_FT_DIR &&
				    at->type != NILFS_FT_UNKNOWN)
					l->below = used;
				l->real[used++] = '/';
				continue;
			}
			ret = layerpath_target(l, cx, at, target);
			if (!ret && ++links > LINKS_MAX)
				ret = tarreader_fail(l->r, cx, -EINVAL,
						     "too many symbolic links "
						     "lead there");
		} else if (used) {
			for (used--; used && l->real[used - 1] != '/'; used--)
				;
		}
		/* Begin at the top again, where no link is left to that point. */
		if (!ret && asprintf(&joined, "%.*s/%s/%s",
				     *target == '/' ? 0 : (int)used, l->real,
				     target, path) < 0)
			ret = fail(cx, -ENOMEM, "%s", path);
		if (ret)
			break;
		free(text);
		text = joined;
		path = text;
		used = 0;
	}
	free(text);
	return ret;
}
