// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A source that changes under the reader's hands, and one that has more than
 * goes on a volume: what is reported, and what is left out.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "filled.h"
#include "tap.h"
#include "tree.h"

static const struct log_shape shape = { 4096, 64, 40, 0, 0, 2, false };

/* What happens to "dir/file" between the walk and the commit. */
struct change {
	const char *name;
	void (*make)(int dirfd);
};

static void reset_time(int dirfd)
{
	struct timespec times[2] = { { .tv_sec = 7 }, { .tv_sec = 7 } };

	utimensat(dirfd, "file", times, 0);
}

static void write_more(int dirfd)
{
	int fd = openat(dirfd, "file", O_WRONLY | O_APPEND);

	must(write(fd, "more", 4));
	close(fd);
	reset_time(dirfd);
}

static void write_less(int dirfd)
{
	int fd = openat(dirfd, "file", O_WRONLY);

	must(ftruncate(fd, 4999));
	close(fd);
	reset_time(dirfd);
}

/* The size stays as it was, and so does the first chunk. */
static void write_same_size(int dirfd)
{
	int fd = openat(dirfd, "file", O_WRONLY);

	must(pwrite(fd, "other", 5, 2000));
	close(fd);
}

static void write_and_reset(int dirfd)
{
	struct timespec times[2];
	struct stat st;

	fstatat(dirfd, "file", &st, 0);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	write_same_size(dirfd);
	utimensat(dirfd, "file", times, 0);
}

static void leave_alone(int dirfd)
{
	(void)dirfd;
}

static void replace(int dirfd)
{
	char data[5000] = { 'x' };
	int fd = openat(dirfd, "new", O_WRONLY | O_CREAT, 0644);

	must(write(fd, data, sizeof(data)));
	close(fd);
	renameat(dirfd, "new", dirfd, "file");
	reset_time(dirfd);
}

static void vanish(int dirfd)
{
	unlinkat(dirfd, "file", 0);
}

static void become_link(int dirfd)
{
	renameat(dirfd, "file", dirfd, "moved");
	must(symlinkat("moved", dirfd, "file"));
}

static void become_fifo(int dirfd)
{
	unlinkat(dirfd, "file", 0);
	mkfifoat(dirfd, "file", 0644);
}

static const struct change changes[] = {
	{ "a file that grows", write_more },
	{ "a file that shrinks", write_less },
	{ "a file that is written to", write_same_size },
	{ "one whose time is put back then", write_and_reset },
	{ "a file that is replaced", replace },
	{ "a file that vanishes", vanish },
	{ "a file that becomes a symbolic link", become_link },
	{ "a file that becomes a FIFO", become_fifo },
};

struct happening {
	const struct change *change;
	int dirfd;
};

static void happen(void *arg)
{
	struct happening *h = arg;

	h->change->make(h->dirfd);
}

static void test_change(const struct change *change)
{
	struct happening h = { .change = change };
	struct filled f;
	struct tree tree;
	char want[256];

	tree_make(&tree);
	tree_dir(&tree, "dir");
	tree_file(&tree, "dir/file", 5000, 7);
	h.dirfd = openat(tree.fd, "dir", O_RDONLY);
	filled_init(&f, &shape);
	f.meanwhile = happen;
	f.arg = &h;
	is_int(filled_tree(&f, tree.path), -ESTALE, change->name);
	snprintf(want, sizeof(want), "%s/dir/file: changed while being read",
		 tree.path);
	is_str(f.v.cx.failure, want, "is given by its name");
	close(h.dirfd);
	filled_fini(&f);
	tree_remove(&tree);
}

static void test_unchanged(void)
{
	static const struct change nothing = { "nothing", leave_alone };
	struct happening h = { .change = &nothing };
	struct filled f;
	struct tree tree;

	tree_make(&tree);
	tree_file(&tree, "file", 5000, 7);
	h.dirfd = tree.fd;
	filled_init(&f, &shape);
	f.meanwhile = happen;
	f.arg = &h;
	ok(!filled_tree(&f, tree.path), "a file that is not changed is fine");
	filled_fini(&f);
	tree_remove(&tree);
}

/* The kernel makes these up: they have content and no size. */
static void test_made_up(void)
{
	struct filled f;

	filled_init(&f, &shape);
	is_int(filled_tree(&f, "/proc/sys/kernel/random"), -ESTALE,
	       "an empty file that has content");
	is_int(filled_tree(&f, "/nowhere"), -ENOENT, "no such tree");
	is_str(f.v.cx.failure, "/nowhere", "is given by its name");
	is_int(filled_tree(&f, "/dev/null"), -ENOTDIR, "no directory");
	filled_fini(&f);
}

static bool has(struct filled *f, const char *path)
{
	struct root root;
	uint64_t ino;

	return !filled_look(f, &root) &&
	       !dir_resolve(&root, &f->v.cx, path, &ino);
}

static void test_left_out(void)
{
	static const char *const patterns[] = { "*.o", "./a/b" };
	struct entry_rules rules = { .exclude = patterns, .nexclude = 2 };
	struct walk_skip skip;
	struct filled f;
	struct tree tree;
	struct stat st;

	tree_make(&tree);
	tree_dir(&tree, "a");
	tree_dir(&tree, "a/a");
	tree_dir(&tree, "a/a/b");
	tree_dir(&tree, "a/b");
	tree_file(&tree, "a/b/lost", 1, 1);
	tree_file(&tree, "a/a/b/kept", 1, 1);
	tree_file(&tree, "a/a/lost.o", 1, 1);
	tree_file(&tree, "b", 1, 1);
	tree_file(&tree, "a/image", 10, 1);
	must(linkat(tree.fd, "a/image", tree.fd, "same-image", 0));
	fstatat(tree.fd, "a/image", &st, 0);
	skip = (struct walk_skip){ st.st_dev, st.st_ino };
	filled_init(&f, &shape);
	f.walk.rules = &rules;
	f.walk.skip = &skip;
	ok(!filled_tree(&f, tree.path), "a tree with parts left out");
	ok(!has(&f, "/a/b") && !has(&f, "/a/a/lost.o"), "they are not there");
	ok(has(&f, "/a/a/b/kept") && has(&f, "/b"), "all else is");
	ok(!has(&f, "/a/image") && !has(&f, "/same-image"),
	   "the image is not in itself, by any name");
	is_int(f.notes.skipped, 2, "which is noted");
	filled_fini(&f);
	tree_remove(&tree);
}

static void test_losses(void)
{
	struct filled f;
	struct tree tree;
	char path[128];
	char want[256];
	int fd;

	tree_make(&tree);
	tree_dir(&tree, "dir");
	tree_file(&tree, "dir/file", 5000, 1);
	tree_file(&tree, "dir/empty", 0, 1);
	tree_file(&tree, "plain", 5000, 1);
	snprintf(path, sizeof(path), "%s/dir/file", tree.path);
	if (setxattr(path, "user.one", "1", 1, 0)) {
		ok(true, "# SKIP no extended attributes here");
		tree_remove(&tree);
		return;
	}
	setxattr(path, "user.two", "2", 1, 0);
	fd = openat(tree.fd, "dir/empty", O_RDONLY);
	fsetxattr(fd, "user.one", "1", 1, 0);
	close(fd);
	fd = openat(tree.fd, "dir", O_RDONLY);
	fsetxattr(fd, "user.one", "1", 1, 0);
	close(fd);
	filled_init(&f, &shape);
	ok(!filled_tree(&f, tree.path), "files with extended attributes");
	is_int(f.counts.losses[ENTRY_XATTR], 3, "are counted");
	is_int(f.counts.losses[ENTRY_ACL], 0, "as nothing else");
	filled_fini(&f);
	filled_init(&f, &shape);
	f.populate.strict = true;
	is_int(filled_tree(&f, tree.path), -EOPNOTSUPP, "or refused");
	snprintf(want, sizeof(want), "%s/dir: has %s, which NILFS2 "
		 "cannot store", tree.path,
		 entry_loss_name(ENTRY_XATTR));
	is_str(f.v.cx.failure, want, "the first of them by its name");
	filled_fini(&f);
	unlinkat(tree.fd, "dir/empty", 0);
	fd = openat(tree.fd, "dir", O_RDONLY);
	fremovexattr(fd, "user.one");
	close(fd);
	filled_init(&f, &shape);
	f.populate.strict = true;
	is_int(filled_tree(&f, tree.path), -EOPNOTSUPP,
	       "where it is found only while it is read, too");
	filled_fini(&f);
	tree_remove(&tree);
}

/* Inode numbers of three files of different sizes show the order. */
static void test_order(void)
{
	static const struct {
		enum walk_order order;
		const char *name;
		const char *first, *second, *third;
	} orders[] = {
		{ WALK_NAME, "by name", "/a", "/a b", "/ab" },
		{ WALK_SIZE, "by size", "/ab", "/a", "/a b" },
		{ WALK_INODE, "by inode", "/a b", "/ab", "/a" },
	};
	uint64_t ino[3] = { 0 };
	struct filled f;
	struct tree tree;
	struct root root;
	struct stat st;
	size_t i;

	tree_make(&tree);
	tree_file(&tree, "a b", 9000, 1);
	tree_file(&tree, "ab", 10, 1);
	tree_file(&tree, "a", 5000, 1);
	fstatat(tree.fd, "a b", &st, 0);
	ino[0] = st.st_ino;
	fstatat(tree.fd, "a", &st, 0);
	for (i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (orders[i].order == WALK_INODE && ino[0] > st.st_ino)
			continue;
		filled_init(&f, &shape);
		f.walk.order = orders[i].order;
		ok(!filled_tree(&f, tree.path) && !filled_look(&f, &root) &&
		   !dir_resolve(&root, &f.v.cx, orders[i].first, &ino[0]) &&
		   !dir_resolve(&root, &f.v.cx, orders[i].second, &ino[1]) &&
		   !dir_resolve(&root, &f.v.cx, orders[i].third, &ino[2]) &&
		   ino[0] < ino[1] && ino[1] < ino[2],
		   "files %s", orders[i].name);
		filled_fini(&f);
	}
	tree_remove(&tree);
}

/* Most systems have terminals on a file system of their own. */
static void test_one_file_system(void)
{
	struct stat top, below;
	struct filled f;

	if (stat("/dev", &top) || stat("/dev/pts", &below) ||
	    access("/dev/pts/ptmx", F_OK) || top.st_dev == below.st_dev) {
		ok(true, "# SKIP nothing is mounted at /dev/pts");
		return;
	}
	filled_init(&f, &shape);
	f.walk.one_file_system = true;
	ok(!filled_tree(&f, "/dev"), "one file system");
	ok(has(&f, "/pts") && !has(&f, "/pts/ptmx"),
	   "others are empty directories");
	filled_fini(&f);
}

static void test_cancelled(void)
{
	volatile sig_atomic_t cancel = 1;
	struct filled f;

	filled_init(&f, &shape);
	f.v.cx.cancel = &cancel;
	is_int(filled_tree(&f, "/"), -EINTR, "the user can end it");
	filled_fini(&f);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		test_change(&changes[i]);
	test_unchanged();
	test_made_up();
	test_left_out();
	test_losses();
	test_order();
	test_one_file_system();
	test_cancelled();
	return tap_done();
}
