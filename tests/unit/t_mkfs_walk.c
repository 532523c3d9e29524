// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A directory tree on a volume: everything that was in the tree is there as it
 * was, and a tree that changes meanwhile is noticed.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "filled.h"
#include "tap.h"
#include "tree.h"

#define MANY 100000
#define DEPTH 3000

static const struct log_shape shape = { 1024, 256, 400, 0, 0, 2, false };

static void set_time(const struct tree *tree, const char *path, int64_t sec,
		     long nsec)
{
	struct timespec times[2] = { { sec, nsec }, { sec, nsec } };

	utimensat(tree->fd, path, times, AT_SYMLINK_NOFOLLOW);
}

static void make_names(const struct tree *tree)
{
	char name[256];
	int c;

	tree_dir(tree, "names");
	for (c = 1; c < 256; c++) {
		snprintf(name, sizeof(name), "names/%c%c", c, c);
		if (c != '/' && c != '.')
			tree_file(tree, name, (size_t)c, (unsigned int)c);
	}
	memset(name, 'n', 255);
	name[255] = '\0';
	tree_file(tree, name, 1, 1);
	tree_file(tree, "-", 1, 2);
	tree_file(tree, "...", 1, 3);
}

static void make_kinds(const struct tree *tree)
{
	char target[1024];

	memset(target, 't', sizeof(target));
	target[1023] = '\0';
	must(symlinkat("short", tree->fd, "short-link"));
	must(symlinkat(target, tree->fd, "longest-link"));
	mkfifoat(tree->fd, "fifo", 0600);
	mknodat(tree->fd, "socket", S_IFSOCK | 0755, 0);
	/* Only root can; without it there is nothing to compare. */
	mknodat(tree->fd, "char", S_IFCHR | 0640, makedev(4, 1027));
	mknodat(tree->fd, "block", S_IFBLK | 0640, makedev(259, 70000));
	tree_file(tree, "set-id", 10, 4);
	must(fchmodat(tree->fd, "set-id", 06711, 0));
	must(getuid() ? 0 : fchownat(tree->fd, "set-id", 12345, 4000000000u,
				     0));
	tree_file(tree, "before-1970", 10, 5);
	set_time(tree, "before-1970", -86400 * 365, 999999999);
	tree_file(tree, "far-future", 10, 6);
	set_time(tree, "far-future", 10LL << 30, 1);
	set_time(tree, "fifo", 77, 88);
	set_time(tree, "short-link", 99, 11);
}

static void make_sizes(const struct tree *tree)
{
	static const size_t sizes[] = { 0, 1, 1023, 1024, 1025, 6143, 6144,
					6145, 100000, 3000000 };
	char name[64];
	unsigned int i;

	tree_dir(tree, "sizes");
	tree_dir(tree, "sizes/deeper");
	tree_dir(tree, "sizes/empty");
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		snprintf(name, sizeof(name), "sizes/deeper/%zu", sizes[i]);
		tree_file(tree, name, sizes[i], i);
	}
	must(linkat(tree->fd, "sizes/deeper/100000", tree->fd, "a-link", 0));
	must(linkat(tree->fd, "sizes/deeper/100000", tree->fd, "sizes/z-link",
		    0));
	must(linkat(tree->fd, "short-link", tree->fd, "sizes/linked-link",
		    0));
}

/* Holes, data that begins and ends within a block, a hole at the end. */
static void make_sparse(const struct tree *tree)
{
	int fd = openat(tree->fd, "sparse", O_RDWR | O_CREAT, 0644);
	char data[20000];

	memset(data, 's', sizeof(data));
	must(pwrite(fd, data, 100, 5000));
	must(pwrite(fd, data, sizeof(data), 1000003));
	must(pwrite(fd, data, 1, 4 << 20));
	must(ftruncate(fd, 16 << 20));
	close(fd);
	fd = openat(tree->fd, "ends-in-data", O_RDWR | O_CREAT, 0644);
	must(pwrite(fd, data, 5001, 100000));
	close(fd);
	fd = openat(tree->fd, "only-hole", O_RDWR | O_CREAT, 0644);
	must(ftruncate(fd, 1 << 20));
	close(fd);
}

static bool is_zero(const char *bytes, size_t n)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, n - 1);
}

/* Compares SIZE bytes of FD with the content of INO on the volume. */
static bool same_content(struct filled *f, int fd, struct root *root,
			 uint64_t ino, uint64_t size)
{
	uint32_t block_size = f->v.g.block_size;
	char *got = malloc(block_size);
	const void *block;
	struct file file;
	bool good = true;
	uint64_t at;
	ssize_t n;
	int found;

	if (root_file(root, &f->v.cx, ino, &file))
		good = false;
	for (at = 0; good && at < size; at += block_size) {
		memset(got, 0, block_size);
		n = pread(fd, got, block_size, (off_t)at);
		found = file_block(&file, &f->v.cx, at / block_size, &block);
		if (n < 0 || found < 0)
			good = false;
		else if (found)
			good = !memcmp(block, got, block_size);
		else
			good = is_zero(got, block_size);
		if (found > 0)
			file_put(&file, block);
	}
	free(got);
	return good;
}

static bool same_target(struct filled *f, int dirfd, const char *name,
			struct root *root, uint64_t ino)
{
	char want[SYMLINK_TARGET_MAX + 1], got[SYMLINK_TARGET_MAX + 1];
	ssize_t n = readlinkat(dirfd, name, want, sizeof(want));
	struct file file;
	size_t len;

	return n > 0 && !root_file(root, &f->v.cx, ino, &file) &&
	       !symlink_target(&file, &f->v.cx, got, &len) &&
	       len == (size_t)n && !memcmp(got, want, len);
}

/* Compares attributes as a user would: with stat(2) of the source. */
static bool same_attributes(const struct nilfs_inode *inode,
			    const struct stat *st)
{
	struct inode_time mtime = inode_mtime(inode);
	uint32_t dev_major = 0, dev_minor = 0;

	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		inode_rdev(inode, &dev_major, &dev_minor);
	return le16_get(inode->i_mode) == st->st_mode &&
	       le32_get(inode->i_uid) == st->st_uid &&
	       le32_get(inode->i_gid) == st->st_gid &&
	       mtime.sec == st->st_mtim.tv_sec &&
	       mtime.nsec == (uint32_t)st->st_mtim.tv_nsec &&
	       makedev(dev_major, dev_minor) ==
		       (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode) ?
				st->st_rdev : 0) &&
	       (S_ISDIR(st->st_mode) ||
		le16_get(inode->i_links_count) == st->st_nlink);
}

static bool same_entry(struct filled *f, int dirfd, const char *name,
		       struct root *root, uint64_t ino)
{
	struct nilfs_inode inode;
	struct stat st;
	bool good;
	int fd;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    root_inode(root, &f->v.cx, ino, &inode))
		return false;
	good = same_attributes(&inode, &st);
	if (S_ISLNK(st.st_mode))
		return good && same_target(f, dirfd, name, root, ino);
	if (!S_ISREG(st.st_mode))
		return good;
	fd = openat(dirfd, name, O_RDONLY);
	good = good && fd >= 0 &&
	       le64_get(inode.i_size) == (uint64_t)st.st_size &&
	       same_content(f, fd, root, ino, (uint64_t)st.st_size);
	close(fd);
	return good;
}

/* Counts names below DIRFD; those that are not as INO has them are bad. */
static unsigned int compare(struct filled *f, int dirfd, struct root *root,
			    uint64_t ino, unsigned int *bad)
{
	DIR *dir = fdopendir(dup(dirfd));
	unsigned int n = 0, subdirs = 0;
	struct nilfs_inode inode;
	struct dirent *de;
	struct file file;
	uint64_t child;
	int fd;

	*bad += root_file(root, &f->v.cx, ino, &file) != 0;
	while ((de = readdir(dir))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		n++;
		if (dir_lookup(&file, &f->v.cx, de->d_name,
			       strlen(de->d_name), &child) ||
		    !same_entry(f, dirfd, de->d_name, root, child)) {
			printf("# %s differs: %s\n", de->d_name,
			       f->v.cx.failure);
			++*bad;
			continue;
		}
		if (de->d_type != DT_DIR)
			continue;
		subdirs++;
		fd = openat(dirfd, de->d_name, O_RDONLY);
		n += compare(f, fd, root, child, bad);
		close(fd);
	}
	closedir(dir);
	if (root_inode(root, &f->v.cx, ino, &inode) ||
	    le16_get(inode.i_links_count) != 2 + subdirs)
		++*bad;
	return n;
}

static void test_everything(void)
{
	struct populate_counts *counts;
	unsigned int bad = 0, n;
	struct filled f;
	struct tree tree;
	struct root root;

	tree_make(&tree);
	make_names(&tree);
	make_kinds(&tree);
	make_sizes(&tree);
	make_sparse(&tree);
	filled_init(&f, &shape);
	if (!ok(!filled_tree(&f, tree.path), "a tree with everything"))
		printf("# %s\n", f.v.cx.failure);
	counts = &f.counts;
	if (ok(!filled_look(&f, &root), "the volume opens")) {
		n = compare(&f, tree.fd, &root, NILFS_ROOT_INO, &bad);
		is_int(bad, 0, "all that is in the tree is as it was");
		is_int(filled_count_names(&f, &root), n,
		       "nothing else is on the volume");
		is_int(counts->files + counts->symlinks + counts->specials +
		       counts->links + counts->directories - 1, n,
		       "it is counted right");
		ok(log_audit(&f.v.cx, f.vol), "the volume is whole");
	}
	is_int(counts->links, 3, "further names of files");
	filled_fini(&f);
	tree_remove(&tree);
}

/* Blocks of 1 KiB with data in the sparse file: by where it was written. */
static void test_holes(void)
{
	struct nilfs_inode inode;
	struct filled f;
	struct tree tree;
	struct root root;
	uint64_t ino;

	tree_make(&tree);
	make_sparse(&tree);
	filled_init(&f, &shape);
	ok(!filled_tree(&f, tree.path) && !filled_look(&f, &root),
	   "files with holes");
	ok(!dir_resolve(&root, &f.v.cx, "/only-hole", &ino) &&
	   !root_inode(&root, &f.v.cx, ino, &inode), "one without data");
	is_int(le64_get(inode.i_blocks), 0, "takes no block");
	ok(!dir_resolve(&root, &f.v.cx, "/sparse", &ino) &&
	   !root_inode(&root, &f.v.cx, ino, &inode), "one with some data");
	/* tmpfs and ext4 know holes of 4 KiB: at most so many of ours. */
	ok(le64_get(inode.i_blocks) / 2 <= 4 + 28 + 4 + 3 &&
	   le64_get(inode.i_blocks) / 2 >= 1 + 20 + 1,
	   "takes few (%llu sectors)",
	   (unsigned long long)le64_get(inode.i_blocks));
	filled_fini(&f);
	tree_remove(&tree);
}

static void test_deep(void)
{
	struct filled f;
	struct tree tree;
	struct root root;
	int fd, next, i;

	tree_make(&tree);
	fd = dup(tree.fd);
	for (i = 0; i < DEPTH; i++) {
		mkdirat(fd, "d", 0755);
		mkdirat(fd, "e", 0755);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	mkfifoat(fd, "bottom", 0644);
	close(fd);
	filled_init(&f, &shape);
	ok(!filled_tree(&f, tree.path), "a tree of %d levels", DEPTH);
	is_int(f.counts.directories, 2 * DEPTH + 1, "all directories");
	is_int(f.counts.specials, 1, "what is at its bottom");
	ok(!filled_look(&f, &root) && log_audit(&f.v.cx, f.vol),
	   "the volume is whole");
	is_int(filled_count_names(&f, &root), 2 * DEPTH + 1, "all names");
	filled_fini(&f);
	tree_remove(&tree);
}

/* Names of the root that do not follow the one before, in name and number. */
static int count_disorder(struct filled *f, struct root *root)
{
	struct dir_entry last = { .ino = 0 }, entry;
	struct dir_cursor cursor;
	struct file file;
	int bad = 0;

	if (root_file(root, &f->v.cx, NILFS_ROOT_INO, &file) ||
	    dir_cursor_open(&cursor, &f->v.cx, &file))
		return -1;
	while (dir_cursor_next(&cursor, &f->v.cx, &entry) > 0) {
		if (entry.name[0] == '.')
			continue;
		bad += strcmp(last.name, entry.name) >= 0 ||
		       last.ino >= entry.ino;
		last = entry;
	}
	dir_cursor_close(&cursor);
	return bad;
}

static void test_wide(void)
{
	struct filled f;
	struct tree tree;
	struct root root;
	char name[32];
	int i;

	tree_make(&tree);
	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "fifo-%d", i);
		mkfifoat(tree.fd, name, 0644);
	}
	filled_init(&f, &shape);
	ok(!filled_tree(&f, tree.path), "a directory of %d names", MANY);
	is_int(f.counts.specials, MANY, "all of them");
	ok(!filled_look(&f, &root), "the volume opens");
	is_int(filled_count_names(&f, &root), MANY, "all names");
	is_int(count_disorder(&f, &root), 0, "in order");
	filled_fini(&f);
	tree_remove(&tree);
}

int main(void)
{
	test_everything();
	test_holes();
	test_deep();
	test_wide();
	return tap_done();
}
