// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A digest of the files of a checkpoint.
 *
 * The same files are in another order on another volume, so the digest is the sum of
 * one for each file, and the names of a file with several count as their sum.  The
 * digest of a file is of 128 bits, by SHA-1.
 */
#include "vol/treedigest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/le.h"
#include "base/pairtable.h"
#include "base/uuidtext.h"
#include "disk/inode.h"
#include "vol/tree.h"

struct treedigest {
	uint64_t sum[2];
	struct pairtable linked; /* by inode number: the sum of the names */
};

static void hash_bytes(const void *bytes, size_t len, uint64_t hash[2])
{
	static const uint8_t space[16];
	le64 words[2];

	uuidtext_of(space, bytes, len, (uint8_t *)words);
	hash[0] = le64_get(words[0]);
	hash[1] = le64_get(words[1]);
}

/* Adds a file with NAMES. */
static void add_file(struct treedigest *d, const struct nilfs_inode *inode,
		     uint64_t names)
{
	struct inode_time mtime = inode_mtime(inode);
	mode_t mode = le16_get(inode->i_mode);
	uint32_t device[2] = { 0, 0 };
	uint64_t hash[2];

	if (inode_has_rdev(inode))
		inode_rdev(inode, &device[0], &device[1]);
	const le64 words[] = {
		le64_make(names),
		le64_make(mode),
		le64_make(le32_get(inode->i_uid)),
		le64_make(le32_get(inode->i_gid)),
		le64_make((uint64_t)mtime.sec),
		le64_make(mtime.nsec),
		le64_make(S_ISREG(mode) || S_ISLNK(mode) ?
				  le64_get(inode->i_size) : 0),
		le64_make((uint64_t)device[0] << 32 | device[1]),
	};

	hash_bytes(words, sizeof(words), hash);
	d->sum[0] += hash[0];
	d->sum[1] += hash[1];
}

static int add_name(struct treedigest *d, struct context *cx,
		    const struct tree_item *item)
{
	mode_t mode = le16_get(item->inode->i_mode);
	struct pairtable_entry *known;
	uint64_t hash[2];

	if (S_ISSOCK(mode))
		return 0;
	hash_bytes(item->path, item->path_len, hash);
	if (S_ISDIR(mode) || le16_get(item->inode->i_links_count) < 2) {
		add_file(d, item->inode, hash[0]);
		return 0;
	}
	known = pairtable_find(&d->linked, 0, item->ino);
	if (known)
		known->value += hash[0];
	return known ? 0 : pairtable_add(&d->linked, cx, 0, item->ino, hash[0]);
}

int treedigest_run(struct context *cx, struct root *root,
		   char text[TREEDIGEST_TEXT])
{
	const struct tree_options how = { .recursive = true, .inodes = true };
	struct treedigest d = { .sum = { 0, 0 } };
	struct nilfs_inode inode;
	struct tree_item item;
	struct tree *tree;
	size_t i;
	int ret = tree_open(&tree, cx, root, "/", &how);

	while (!ret && (ret = tree_next(tree, cx, &item)) > 0) {
		ret = 0;
		if (item.kind == TREE_BROKEN)
			ret = item.error;
		else if (item.kind == TREE_ENTRY)
			ret = add_name(&d, cx, &item);
	}
	tree_close(tree);
	pairtable_sort(&d.linked);
	for (i = 0; i < d.linked.used && !ret; i++) {
		ret = root_inode(root, cx, d.linked.slots[i].ino, &inode);
		if (!ret)
			add_file(&d, &inode, d.linked.slots[i].value);
	}
	pairtable_fini(&d.linked);
	snprintf(text, TREEDIGEST_TEXT, "%016" PRIx64 "%016" PRIx64, d.sum[0],
		 d.sum[1]);
	return ret;
}
