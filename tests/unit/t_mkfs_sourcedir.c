// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directories of a source that are closed and opened again without their
 * users, and the failures these get when files have changed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mkfs/source/sourcedir.h"
#include "tap.h"
#include "tree.h"

#define DEPTH 3000

static unsigned int open_descriptors(void)
{
	unsigned int n = 0;
	int fd;

	for (fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Puts a chain of DEPTH directories "d" into TREE. */
static void make_deep(const struct tree *tree)
{
	int fd = dup(tree->fd), next, i;

	for (i = 0; i < DEPTH; i++) {
		if (mkdirat(fd, "d", 0755))
			break;
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY);
		close(fd);
		fd = next;
	}
	close(fd);
	is_int(i, DEPTH, "a deep tree can be made");
}

/* True where the descriptor that DIR gives is inode INO. */
static bool leads_to(struct sourcedir *dir, struct context *cx, uint64_t ino)
{
	int fd = sourcedir_use(dir, cx);
	struct stat st;
	bool good;

	if (fd < 0)
		return false;
	good = !fstat(fd, &st) && st.st_ino == ino;
	sourcedir_unuse(dir);
	return good;
}

static void test_deep(const struct tree *tree)
{
	static struct sourcedir *dirs[DEPTH + 1];
	static uint64_t inos[DEPTH + 1];
	unsigned int before = open_descriptors(), bad = 0;
	struct context cx;
	struct statx st;
	int i, err;

	context_init(&cx);
	err = sourcedir_open_top(&dirs[0], &cx, tree->path, 16, &st);
	inos[0] = st.stx_ino;
	for (i = 1; !err && i <= DEPTH; i++) {
		err = sourcedir_open(&dirs[i], &cx, dirs[i - 1], "d", 1, &st);
		inos[i] = st.stx_ino;
	}
	ok(!err, "%d levels are opened", DEPTH);
	ok(open_descriptors() <= before + 17, "few of them are kept open");
	for (i = DEPTH; i >= 0; i--)
		bad += !leads_to(dirs[i], &cx, inos[i]);
	is_int(bad, 0, "each is found again on the way up");
	for (i = 0; i <= DEPTH; i += 500)
		bad += !leads_to(dirs[i], &cx, inos[i]);
	is_int(bad, 0, "and on the way down");
	for (i = 0; i <= DEPTH; i++)
		sourcedir_put(dirs[i]);
	is_int(open_descriptors(), before, "none is left open");
}

/* With few descriptors, DIR is closed once these two have been used. */
static void push_out(struct sourcedir *a, struct sourcedir *b,
		     struct context *cx)
{
	leads_to(a, cx, 0);
	leads_to(b, cx, 0);
}

static void test_replaced(const struct tree *tree)
{
	struct sourcedir *top, *a = NULL, *b = NULL, *c = NULL;
	struct context cx;
	struct statx st;
	char want[256];
	uint64_t ino;

	context_init(&cx);
	tree_dir(tree, "a");
	tree_dir(tree, "b");
	tree_dir(tree, "c");
	tree_dir(tree, "other");
	ok(!sourcedir_open_top(&top, &cx, tree->path, 2, &st) &&
	   !sourcedir_open(&b, &cx, top, "b", 1, &st) &&
	   !sourcedir_open(&c, &cx, top, "c", 1, &st) &&
	   !sourcedir_open(&a, &cx, top, "a", 1, &st), "three directories");
	ino = st.stx_ino;
	push_out(b, c, &cx);
	ok(leads_to(a, &cx, ino), "one that was closed is found again");
	push_out(b, c, &cx);
	renameat(tree->fd, "a", tree->fd, "moved");
	is_int(sourcedir_use(a, &cx), -ESTALE, "not once it is gone");
	snprintf(want, sizeof(want), "%s/a: changed while being read",
		 tree->path);
	is_str(cx.failure, want, "and the text names it");
	renameat(tree->fd, "other", tree->fd, "a");
	is_int(sourcedir_use(a, &cx), -ESTALE, "nor if it is another one");
	must(symlinkat("moved", tree->fd, "link"));
	renameat(tree->fd, "a", tree->fd, "other");
	renameat(tree->fd, "link", tree->fd, "a");
	is_int(sourcedir_use(a, &cx), -ESTALE, "nor by a symbolic link");
	sourcedir_put(a);
	is_int(sourcedir_open(&a, &cx, top, "a", 1, &st), -ESTALE,
	       "a symbolic link is no directory");
	ok(!a, "and nothing is open");
	sourcedir_put(top);
	sourcedir_put(b);
	sourcedir_put(c);
}

static void test_files(const struct tree *tree)
{
	struct sourcedir *top;
	struct context cx;
	struct statx st;
	char byte = 0;
	int fd;

	context_init(&cx);
	tree_file(tree, "file", 10, 3);
	must(symlinkat("file", tree->fd, "to-file"));
	mkfifoat(tree->fd, "fifo", 0644);
	if (sourcedir_open_top(&top, &cx, tree->path, 0, &st))
		return;
	fd = sourcedir_open_file(top, &cx, "file", 4);
	ok(fd >= 0 && read(fd, &byte, 1) == 1, "a file is opened");
	is_int((uint8_t)byte, tree_byte(3, 0), "and has its content");
	close(fd);
	is_int(sourcedir_open_file(top, &cx, "to-file", 7), -ESTALE,
	       "a symbolic link is not followed");
	is_int(sourcedir_open_file(top, &cx, "none", 4), -ESTALE,
	       "a file that is gone has changed");
	fd = sourcedir_open_file(top, &cx, "fifo", 4);
	ok(fd >= 0, "a FIFO does not hold it up");
	close(fd);
	sourcedir_put(top);
}

static void test_paths(const struct tree *tree)
{
	char path[SOURCEDIR_PATH_MAX], name[256], want[256];
	struct sourcedir *top, *dir, *below;
	struct context cx;
	struct statx st;

	context_init(&cx);
	memset(name, 'x', 255);
	name[255] = '\0';
	tree_dir(tree, name);
	if (sourcedir_open_top(&top, &cx, tree->path, 0, &st))
		return;
	ok(sourcedir_is_below(top, &st), "the top is below itself");
	sourcedir_path(top, NULL, 0, path);
	is_str(path, tree->path, "the path of the top");
	sourcedir_path(top, "a\nb", 3, path);
	snprintf(want, sizeof(want), "%s/a\\x0ab", tree->path);
	is_str(path, want, "a name with a newline is shown safely");
	sourcedir_open(&dir, &cx, top, name, 255, &st);
	ok(!sourcedir_is_below(top, &st), "a directory is not above its own");
	sourcedir_path(dir, NULL, 0, path);
	ok(!strncmp(path, tree->path, strlen(tree->path)) &&
	   strlen(path) == strlen(tree->path) + 256, "a long name fits");
	mkdirat(sourcedir_use(dir, &cx), name, 0755);
	sourcedir_unuse(dir);
	sourcedir_open(&below, &cx, dir, name, 255, &st);
	ok(sourcedir_is_below(below, &st), "a directory is below itself");
	sourcedir_path(below, "end", 3, path);
	ok(!strncmp(path, "...", 3) &&
	   !strcmp(path + strlen(path) - 4, "/end") &&
	   strlen(path) == SOURCEDIR_PATH_MAX - 1,
	   "a path that is too long loses its beginning");
	sourcedir_put(top);
	sourcedir_put(dir);
	sourcedir_put(below);
}

int main(void)
{
	struct tree tree;

	tree_make(&tree);
	make_deep(&tree);
	test_deep(&tree);
	test_replaced(&tree);
	test_files(&tree);
	test_paths(&tree);
	tree_remove(&tree);
	return tap_done();
}
