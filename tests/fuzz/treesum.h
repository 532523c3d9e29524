/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sum of each file of an image in memory, in the latest checkpoint and in
 * every snapshot: of its inode, but for where its blocks are, and of the
 * content of each of its blocks, or of the entries of a directory.
 */
#ifndef NILFS2_TESTS_FUZZ_TREESUM_H
#define NILFS2_TESTS_FUZZ_TREESUM_H

#include <stddef.h>
#include <stdint.h>

#define TREESUM_LATEST 0	/* as the number of a checkpoint */

struct treesum_file {
	uint64_t cno, ino;
	uint32_t sum;
};

struct treesum {
	struct treesum_file *files;	/* by checkpoint and inode */
	size_t count, room;
};

/*
 * Sums up the image of SIZE bytes at BYTES, as a mount would find it: with the
 * data-sync logs after the latest super root.  What cannot be read has other
 * sums, or no files.  To be freed with treesum_free().
 */
void treesum_take(struct treesum *t, const char *bytes, size_t size);
void treesum_free(struct treesum *t);

/* The file with INO in checkpoint CNO, or NULL. */
const struct treesum_file *treesum_find(const struct treesum *t, uint64_t cno,
					uint64_t ino);

#endif
