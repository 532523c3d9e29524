// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One tree over another: what is kept, what is replaced, what ends.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "filled.h"
#include "tap.h"
#include "tree.h"

static const struct log_shape shape = { 1024, 64, 300, 0, 0, 2, true };

struct seen {
	bool found;
	uint64_t ino;
	struct nilfs_inode inode;
};

static struct seen look(struct filled *f, const char *path)
{
	struct seen seen = { .found = false };
	struct root root;

	if (filled_look(f, &root) ||
	    dir_resolve(&root, &f->v.cx, path, &seen.ino))
		return seen;
	seen.found = !root_inode(&root, &f->v.cx, seen.ino, &seen.inode);
	return seen;
}

static unsigned int links_of(struct filled *f, const char *path)
{
	struct seen seen = look(f, path);

	return seen.found ? le16_get(seen.inode.i_links_count) : 0;
}

/* True where PATH is the file that tree_file() makes of SIZE and SEED. */
static bool is_file(struct filled *f, const char *path, size_t size,
		    unsigned int seed)
{
	struct seen seen = look(f, path);
	uint32_t block_size = f->v.g.block_size;
	const void *block;
	struct file file;
	size_t at, last;
	bool good;

	if (!seen.found || !S_ISREG(le16_get(seen.inode.i_mode)) ||
	    le64_get(seen.inode.i_size) != size ||
	    inode_mtime(&seen.inode).sec != seed)
		return false;
	good = !file_init(&file, &f->v.cx, f->vol, seen.ino, &seen.inode);
	for (at = 0; good && at < size; at += block_size) {
		if (file_block(&file, &f->v.cx, at / block_size, &block) != 1)
			return false;
		last = (size - at < block_size ? size - at : block_size) - 1;
		good = *(const uint8_t *)block == tree_byte(seed, at) &&
		       ((const uint8_t *)block)[last] ==
			       tree_byte(seed, at + last);
		file_put(&file, block);
	}
	return good;
}

/* Inodes in use, by the checkpoint: what freeing gives back. */
static uint64_t inodes_in_use(struct filled *f)
{
	struct root root;

	return filled_look(f, &root) ? 0 : le64_get(root.cp.cp_inodes_count);
}

static void make_lower(const struct tree *tree)
{
	tree_dir(tree, "kept");
	tree_file(tree, "kept/file", 3000, 10);
	tree_dir(tree, "both");
	tree_dir(tree, "both/sub");
	tree_file(tree, "both/sub/below", 100, 11);
	tree_file(tree, "both/below", 200, 12);
	tree_file(tree, "both/replaced", 20000, 13);
	tree_file(tree, "to-dir", 2000, 14);
	tree_dir(tree, "to-file");
	tree_dir(tree, "to-file/a");
	tree_dir(tree, "to-file/a/b");
	tree_file(tree, "to-file/a/b/deep", 5000, 15);
	tree_file(tree, "to-file/x", 5000, 16);
	tree_file(tree, "linked", 4000, 17);
	must(linkat(tree->fd, "linked", tree->fd, "both/linked-1", 0));
	must(linkat(tree->fd, "linked", tree->fd, "to-file/a/linked-2", 0));
	tree_file(tree, "all-gone", 4000, 18);
	must(linkat(tree->fd, "all-gone", tree->fd, "to-file/all-gone", 0));
	tree_file(tree, "to-link", 10, 19);
}

static void make_upper(const struct tree *tree)
{
	tree_dir(tree, "both");
	must(fchmodat(tree->fd, "both", 0711, 0));
	tree_file(tree, "both/replaced", 700, 23);
	tree_file(tree, "both/new", 70000, 24);
	tree_dir(tree, "both/newsub");
	tree_dir(tree, "both/sub");
	tree_file(tree, "both/sub/new", 1, 25);
	tree_dir(tree, "to-dir");
	tree_file(tree, "to-dir/in", 10, 26);
	tree_file(tree, "to-file", 30, 27);
	tree_file(tree, "both/linked-1", 40, 28);
	tree_file(tree, "all-gone", 50, 29);
	must(linkat(tree->fd, "all-gone", tree->fd, "new-link", 0));
	must(symlinkat("kept", tree->fd, "to-link"));
}

struct before {
	struct seen root, kept, kept_file, both, sub, below, linked;
};

static void remember(struct filled *f, struct before *b)
{
	b->root = look(f, "/");
	b->kept = look(f, "/kept");
	b->kept_file = look(f, "/kept/file");
	b->both = look(f, "/both");
	b->sub = look(f, "/both/sub");
	b->below = look(f, "/both/below");
	b->linked = look(f, "/linked");
}

static bool untouched(struct filled *f, const char *path,
		      const struct seen *was)
{
	struct seen is = look(f, path);

	return was->found && is.found && is.ino == was->ino &&
	       !memcmp(&is.inode, &was->inode, sizeof(is.inode));
}

static void check_merged(struct filled *f, const struct before *was)
{
	ok(untouched(f, "/kept", &was->kept) &&
	   untouched(f, "/kept/file", &was->kept_file) &&
	   untouched(f, "/both/below", &was->below),
	   "what the upper layer lacks stays as it was, to the last bit");
	is_int(look(f, "/both").ino, was->both.ino, "directories stay");
	is_int(look(f, "/both/sub").ino, was->sub.ino, "subdirectories too");
	is_int(le16_get(look(f, "/both").inode.i_mode), S_IFDIR | 0711,
	       "with the attributes of the upper layer");
	ok(is_file(f, "/both/below", 200, 12) &&
	   is_file(f, "/both/sub/below", 100, 11) &&
	   is_file(f, "/both/new", 70000, 24) &&
	   is_file(f, "/both/sub/new", 1, 25), "they have files of both");
	ok(is_file(f, "/both/replaced", 700, 23), "a file replaces a file");
	ok(is_file(f, "/to-dir/in", 10, 26), "a directory replaces a file");
	ok(is_file(f, "/to-file", 30, 27), "a file replaces a directory");
	ok(S_ISLNK(le16_get(look(f, "/to-link").inode.i_mode)),
	   "a symbolic link replaces a file");
	ok(is_file(f, "/linked", 4000, 17), "a name of three survives");
	is_int(links_of(f, "/linked"), 1, "and is the only one left");
	ok(is_file(f, "/all-gone", 50, 29) &&
	   look(f, "/all-gone").ino == look(f, "/new-link").ino,
	   "a file of the upper layer has two names");
	is_int(links_of(f, "/new-link"), 2, "and two links");
	is_int(links_of(f, "/"), 2 + 3, "the top has three subdirectories");
	is_int(links_of(f, "/both"), 2 + 2, "another has two");
}

static void test_merge(void)
{
	struct tree lower, upper;
	struct before before;
	struct filled f;
	struct root root;

	tree_make(&lower);
	tree_make(&upper);
	make_lower(&lower);
	make_upper(&upper);
	filled_init(&f, &shape);
	if (!ok(!filled_tree(&f, lower.path), "the lower layer"))
		printf("# %s\n", f.v.cx.failure);
	is_int(links_of(&f, "/linked"), 3, "a file with three names");
	remember(&f, &before);
	if (!ok(!filled_tree(&f, upper.path), "the upper layer"))
		printf("# %s\n", f.v.cx.failure);
	check_merged(&f, &before);
	/*
	 * Directories: the top, kept, both, sub, newsub, to-dir.  Files: file,
	 * below twice, replaced, new twice, in, to-file, linked, linked-1,
	 * all-gone, to-link.
	 */
	is_int(inodes_in_use(&f), 6 + 12, "what was replaced is gone");
	ok(!filled_look(&f, &root) && log_audit(&f.v.cx, f.vol),
	   "the volume is whole");
	ok(!root_open(&root, &f.v.cx, f.vol, 1), "the lower layer is there");
	filled_fini(&f);
	tree_remove(&lower);
	tree_remove(&upper);
}

/* The same tree again changes files, but not one directory block. */
static void test_again(void)
{
	struct filled f;
	struct tree tree;
	struct seen was;
	uint64_t inodes;

	tree_make(&tree);
	tree_dir(&tree, "a");
	tree_dir(&tree, "a/b");
	filled_init(&f, &shape);
	ok(!filled_tree(&f, tree.path), "directories");
	was = look(&f, "/a");
	inodes = inodes_in_use(&f);
	ok(!filled_tree(&f, tree.path), "the same over them");
	ok(untouched(&f, "/a", &was), "are the same");
	is_int(inodes_in_use(&f), inodes, "no number was given");
	tree_file(&tree, "a/file", 10, 1);
	ok(!filled_tree(&f, tree.path) && !filled_tree(&f, tree.path) &&
	   !filled_tree(&f, tree.path), "three more layers, with a file");
	is_int(inodes_in_use(&f), inodes + 1, "which is there once");
	ok(log_audit(&f.v.cx, f.vol), "the volume is whole");
	filled_fini(&f);
	tree_remove(&tree);
}

/* A large directory that gets a few names, and loses most files. */
static void test_large(void)
{
	struct tree lower, upper;
	struct filled f;
	char name[64];
	bool good = true;
	int i;

	tree_make(&lower);
	tree_make(&upper);
	for (i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "name-%d", i);
		tree_file(&lower, name, 10, (unsigned int)i);
		if (i % 3)
			tree_file(&upper, name, 2000, (unsigned int)i + 5000);
	}
	tree_file(&upper, "another", 1, 1);
	filled_init(&f, &shape);
	ok(!filled_tree(&f, lower.path) && !filled_tree(&f, upper.path),
	   "a large directory");
	for (i = 0; i < 2000 && good; i += 37) {
		snprintf(name, sizeof(name), "/name-%d", i);
		good = is_file(&f, name, i % 3 ? 2000 : 10,
			       (unsigned int)i + (i % 3 ? 5000 : 0));
	}
	ok(good, "has files of both");
	is_int(inodes_in_use(&f), 2002, "each once");
	ok(log_audit(&f.v.cx, f.vol), "the volume is whole");
	filled_fini(&f);
	tree_remove(&lower);
	tree_remove(&upper);
}

int main(void)
{
	test_merge();
	test_again();
	test_large();
	return tap_done();
}
