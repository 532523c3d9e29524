// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A sum of each file of an image in memory.
 *
 * Files are met in the ifile, not by their names: one that has lost its name
 * is still to be what it was.  What cannot be read gets a sum of its own, so
 * that it differs from what could.
 */
#include "treesum.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arena.h"
#include "base/crc.h"
#include "tests/testdev/memory.h"
#include "disk/inode.h"
#include "vol/blockscan.h"
#include "vol/cptable.h"
#include "vol/dir.h"
#include "vol/extent.h"
#include "vol/root.h"
#include "vol/volume.h"

/* What reads an image. */
struct summer {
	struct context cx;
	struct volume *vol;
	const char *bytes;
	size_t size;
	struct treesum *to;
};

static void add_file(struct treesum *t, uint64_t cno, uint64_t ino,
		     uint32_t sum)
{
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->files = realloc(t->files, t->room * sizeof(*t->files));
		if (!t->files)
			arena_die("memory");
	}
	t->files[t->count++] = (struct treesum_file){ cno, ino, sum };
}

/*
 * The inode, but for what a move of its blocks changes; of a directory also
 * without what depends on how its entries are packed.
 */
static uint32_t sum_inode(const struct nilfs_inode *inode)
{
	struct nilfs_inode kept = *inode;

	if (inode_has_bmap(inode))
		memset(kept.i_bmap, 0, sizeof(kept.i_bmap));
	if (S_ISDIR(le16_get(inode->i_mode))) {
		kept.i_size = le64_make(0);
		kept.i_blocks = le64_make(0);
	}
	return crc32_le(0, &kept, sizeof(kept));
}

static uint32_t sum_extent(const struct summer *s, const struct extent *e,
			   uint32_t sum)
{
	uint32_t block = s->vol->geo.block_size;
	uint64_t i, off, at;

	for (i = 0; i < e->count; i++) {
		off = e->blkoff + i;
		at = (e->blocknr + i) * block;
		sum = crc32_le(sum, &off, sizeof(off));
		if (at <= s->size - block)
			sum = crc32_le(sum, s->bytes + at, block);
	}
	return sum;
}

static uint32_t sum_blocks(struct summer *s, struct file *file, uint32_t sum)
{
	struct extent_cursor cur;
	struct extent e;
	int ret = extent_cursor_open(&cur, &s->cx, file, 0);

	if (!ret) {
		while ((ret = extent_cursor_next(&cur, &s->cx, UINT32_MAX,
						 &e)) > 0)
			sum = sum_extent(s, &e, sum);
		extent_cursor_close(&cur);
	}
	fail_clear(&s->cx);
	return ret ? ~sum : sum;
}

/*
 * The entries, in whatever order and place they are.  What ".." is follows from
 * the entry of the directory in its parent, and a type from the inode.
 */
static uint32_t sum_names(struct summer *s, struct file *file, uint32_t sum)
{
	struct dir_cursor cur;
	struct dir_entry e;
	uint32_t name;
	int ret = dir_cursor_open(&cur, &s->cx, file);

	if (!ret) {
		while ((ret = dir_cursor_next(&cur, &s->cx, &e)) > 0) {
			if (!strcmp(e.name, ".."))
				continue;
			name = crc32_le(0, &e.ino, sizeof(e.ino));
			sum += crc32_le(name, e.name, e.len);
		}
		dir_cursor_close(&cur);
	}
	fail_clear(&s->cx);
	return ret ? ~sum : sum;
}

static uint32_t sum_content(struct summer *s, struct file *file, uint32_t sum)
{
	if (S_ISDIR(le16_get(file->inode.i_mode)))
		return sum_names(s, file, sum);
	return sum_blocks(s, file, sum);
}

static void sum_file(struct summer *s, struct root *root, uint64_t cno,
		     uint64_t ino)
{
	struct nilfs_inode inode;
	struct file file;
	uint32_t sum;

	if (root_inode(root, &s->cx, ino, &inode)) {
		fail_clear(&s->cx);
		return;
	}
	sum = sum_inode(&inode);
	if (inode_has_bmap(&inode)) {
		if (file_init(&file, &s->cx, s->vol, ino, &inode)) {
			fail_clear(&s->cx);
			sum = ~sum;
		} else {
			sum = sum_content(s, &file, sum);
		}
	}
	add_file(s->to, cno, ino, sum);
}

static void sum_root(struct summer *s, struct root *root, uint64_t cno)
{
	struct blockscan scan = { 0 };
	struct palloc_block b;
	uint64_t ino;
	int ret = blockscan_open(&scan, &s->cx, &root->ifile, 0);

	while (!ret && blockscan_next(&scan, &s->cx) > 0) {
		palloc_locate(&s->vol->ifile_palloc, scan.blkoff, &b);
		blockscan_put(&scan);
		if (b.kind != PALLOC_ENTRIES)
			continue;
		for (ino = b.first; ino < b.first + b.count; ino++)
			if (!inode_is_private(ino) && ino != NILFS_SKETCH_INO)
				sum_file(s, root, cno, ino);
	}
	blockscan_close(&scan);
	fail_clear(&s->cx);
}

static void sum_checkpoint(struct summer *s, uint64_t cno)
{
	struct root root;

	if (root_open(&root, &s->cx, s->vol, cno))
		fail_clear(&s->cx);
	else
		sum_root(s, &root, cno);
}

static void sum_volume(struct summer *s)
{
	uint64_t *cnos = NULL;
	size_t count = 0, i;

	sum_checkpoint(s, TREESUM_LATEST);
	if (cptable_list(s->vol, &s->cx, true, &cnos, &count)) {
		fail_clear(&s->cx);
		return;
	}
	for (i = 0; i < count; i++)
		sum_checkpoint(s, cnos[i]);
	free(cnos);
}

void treesum_take(struct treesum *t, const char *bytes, size_t size)
{
	static const struct volume_options as_mounted = {
		.roll_forward = true,
	};
	struct summer s = { .bytes = bytes, .size = size, .to = t };
	struct dev *dev;

	*t = (struct treesum){ 0 };
	context_init(&s.cx);
	if (memory_open_const(&dev, &s.cx, bytes, size))
		arena_die(s.cx.failure);
	if (!volume_open(&s.vol, &s.cx, dev, &as_mounted)) {
		sum_volume(&s);
		volume_close(s.vol);
	}
	dev_close(dev);
}

void treesum_free(struct treesum *t)
{
	free(t->files);
	*t = (struct treesum){ 0 };
}

static int compare(const void *pa, const void *pb)
{
	const struct treesum_file *a = pa, *b = pb;

	if (a->cno != b->cno)
		return a->cno < b->cno ? -1 : 1;
	return a->ino < b->ino ? -1 : a->ino > b->ino;
}

const struct treesum_file *treesum_find(const struct treesum *t, uint64_t cno,
					uint64_t ino)
{
	const struct treesum_file key = { .cno = cno, .ino = ino };

	return t->count ? bsearch(&key, t->files, t->count,
				  sizeof(*t->files), compare) : NULL;
}
