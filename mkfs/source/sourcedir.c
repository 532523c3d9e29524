// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directories of a source.
 *
 * Each directory refers to its parent and its own name there.  So its path is
 * computed only on demand, and a closed descriptor can be opened again: from the
 * nearest open ancestor, name by name, never following a symbolic link, and with a
 * check that it is the same directory.  Directories that are opened on the way stay
 * open, since a walk that returns from a deep tree needs them next.
 *
 * Unused open directories form a list, most recently used first; the top is always in
 * use.  One lock protects all of this.
 */
#include "config.h"

#include "mkfs/source/sourcedir.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/*
 * O_NOATIME is permitted only to the owner of a file; if the open fails, it is repeated
 * without the flag.  For directories this is tried each time.  For files, which are
 * many, it is not tried again after the first failure.
 */

/*
 * Opens directory NAME at FD, with additional FLAGS; *ST is the result of statx().
 * -errno.
 */
static int sourcedir_open_directory(int fd, const char *name, int flags,
				    struct statx *st)
{
	int opened, err;

	flags |= O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	opened = openat(fd, name, flags | O_NOATIME);
	if (opened < 0 && errno == EPERM)
		opened = openat(fd, name, flags);
	if (opened < 0)
		return -errno;
	if (!statx(opened, "", AT_EMPTY_PATH, STATX_BASIC_STATS, st))
		return opened;
	err = -errno;
	close(opened);
	return err;
}

/*
 * A path for messages.
 *
 * A file refers to its name and its directory, and that to its own name and parent, so
 * a path is built from its end.  If it is too long, the end of it is kept.
 */

struct pathtail {
	char *path;
	size_t at;		/* start of the text */
	bool cut;		/* the beginning did not fit */
};

static const char cut_mark[] = { '.', '.', '.' };

/* Prepends TEXT of LEN bytes, or only the end of it. */
static void sourcedir_put_text(struct pathtail *tail, const char *text, size_t len)
{
	bool fits = len + sizeof(cut_mark) <= tail->at;

	if (tail->cut)
		return;
	if (!fits) {
		text += len - (tail->at - sizeof(cut_mark));
		len = tail->at - sizeof(cut_mark);
		/* Do not cut a UTF-8 character. */
		for (; len && (*text & 0xc0) == 0x80; len--)
			text++;
	}
	tail->at -= len;
	memcpy(tail->path + tail->at, text, len);
	if (fits)
		return;
	tail->cut = true;
	tail->at -= sizeof(cut_mark);
	memcpy(tail->path + tail->at, cut_mark, sizeof(cut_mark));
}

/*
 * Descriptors above 64 make the kernel enlarge its table, for which a process with
 * threads waits milliseconds.  Opening a directory again takes microseconds.
 */
#define MOST_OPEN 48u
#define LEAST_OPEN 2u

struct tree {
	pthread_mutex_t lock;
	int noatime;			/* for files: O_NOATIME until it fails */
	char *path;			/* of the top */
	unsigned int open, most_open;
	struct sourcedir *first, *last;	/* open and not in use */
};

struct sourcedir {
	struct tree *tree;
	struct sourcedir *parent;	/* NULL: the top; held */
	struct sourcedir *child;	/* temporary link while a path is opened */
	struct sourcedir *earlier, *later;	/* in the list of unused ones */
	uint64_t dev, ino;
	unsigned int refs, users;
	int fd;				/* -1: closed */
	uint8_t len;
	char name[];
};

static void list_remove(struct sourcedir *dir)
{
	struct tree *tree = dir->tree;

	*(dir->earlier ? &dir->earlier->later : &tree->first) = dir->later;
	*(dir->later ? &dir->later->earlier : &tree->last) = dir->earlier;
	dir->earlier = NULL;
	dir->later = NULL;
}

static void close_one(struct sourcedir *dir)
{
	list_remove(dir);
	close(dir->fd);
	dir->fd = -1;
	dir->tree->open--;
}

/* Stores the descriptor FD of DIR, which is in use until it is released. */
static void sourcedir_opened(struct sourcedir *dir, int fd)
{
	struct tree *tree = dir->tree;

	dir->fd = fd;
	dir->users = 1;
	tree->open++;
	while (tree->open > tree->most_open && tree->last)
		close_one(tree->last);
}

static void unuse(struct sourcedir *dir)
{
	struct tree *tree = dir->tree;

	if (--dir->users)
		return;
	dir->later = tree->first;
	*(tree->first ? &tree->first->earlier : &tree->last) = dir;
	tree->first = dir;
}

static int cannot_open(const struct sourcedir *dir, struct context *cx,
		       const char *name, size_t len, int err)
{
	/* It was a directory when the parent was read. */
	if (err == -ENOTDIR || err == -ELOOP || err == -ENOENT)
		return sourcedir_fail(dir, cx, name, len, -ESTALE,
				      "changed while being read");
	return sourcedir_fail(dir, cx, name, len, err, "open");
}

int sourcedir_use(struct sourcedir *dir, struct context *cx)
{
	struct sourcedir *d, *parent;
	struct statx st = { .stx_ino = 0 };
	int fd = 0, err = 0;

	pthread_mutex_lock(&dir->tree->lock);
	/* Open it again, from the nearest open ancestor. */
	for (d = dir; d->fd < 0; d = d->parent)
		d->parent->child = d;
	if (!d->users)
		list_remove(d);
	d->users++;
	while (d != dir && !err) {
		parent = d;
		d = d->child;
		fd = sourcedir_open_directory(parent->fd, d->name, O_NOFOLLOW, &st);
		if (fd >= 0 &&
		    (st.stx_ino != d->ino || sourcedir_device(&st) != d->dev)) {
			close(fd);
			fd = -ENOENT;
		}
		if (fd >= 0)
			sourcedir_opened(d, fd);
		unuse(parent);
		if (fd < 0)
			err = cannot_open(d, cx, NULL, 0, fd);
	}
	pthread_mutex_unlock(&dir->tree->lock);
	return err ? err : dir->fd;
}

void sourcedir_unuse(struct sourcedir *dir)
{
	pthread_mutex_lock(&dir->tree->lock);
	unuse(dir);
	pthread_mutex_unlock(&dir->tree->lock);
}

static struct sourcedir *sourcedir_make(struct tree *tree, struct sourcedir *parent,
					const char *name, size_t len)
{
	struct sourcedir *dir = calloc(1, sizeof(*dir) + len + 1);

	if (!dir)
		return NULL;
	dir->tree = tree;
	dir->parent = parent;
	dir->refs = 1;
	dir->fd = -1;
	dir->len = (uint8_t)len;
	memcpy(dir->name, name, len);
	return dir;
}

int sourcedir_try_file(struct sourcedir *dir, const char *name)
{
	int *noatime = &dir->tree->noatime;
	int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
		    __atomic_load_n(noatime, __ATOMIC_RELAXED);
	int fd;

	/*
	 * Do not block on a file that has been replaced by a FIFO.  Wait for another
	 * process that holds a lease, as any open does.
	 */
	while ((fd = openat(dir->fd, name, flags)) < 0) {
		if (errno == EPERM && flags & O_NOATIME) {
			__atomic_store_n(noatime, 0, __ATOMIC_RELAXED);
			flags &= ~O_NOATIME;
		} else if (errno == EWOULDBLOCK && flags & O_NONBLOCK) {
			flags &= ~O_NONBLOCK;
		} else {
			return -errno;
		}
	}
	return fd;
}

int sourcedir_open_file(struct sourcedir *dir, struct context *cx,
			const char *name, size_t len)
{
	int fd = sourcedir_use(dir, cx);

	if (fd < 0)
		return fd;
	fd = sourcedir_try_file(dir, name);
	sourcedir_unuse(dir);
	return fd < 0 ? cannot_open(dir, cx, name, len, fd) : fd;
}

int sourcedir_open(struct sourcedir **dirp, struct context *cx,
		   struct sourcedir *parent, const char *name, size_t len,
		   struct statx *st)
{
	struct tree *tree = parent->tree;
	struct sourcedir *dir;
	int fd;

	*dirp = NULL;
	dir = sourcedir_make(tree, parent, name, len);
	if (!dir)
		return fail(cx, -ENOMEM, "directory of the source");
	fd = sourcedir_use(parent, cx);
	if (fd < 0) {
		free(dir);
		return fd;
	}
	fd = sourcedir_open_directory(fd, dir->name, O_NOFOLLOW, st);
	pthread_mutex_lock(&tree->lock);
	unuse(parent);
	if (fd >= 0) {
		dir->ino = st->stx_ino;
		dir->dev = sourcedir_device(st);
		parent->refs++;
		sourcedir_opened(dir, fd);
		unuse(dir);
	}
	pthread_mutex_unlock(&tree->lock);
	if (fd < 0) {
		free(dir);
		return cannot_open(parent, cx, name, len, fd);
	}
	*dirp = dir;
	return 0;
}

static void free_tree(struct tree *tree)
{
	pthread_mutex_destroy(&tree->lock);
	free(tree->path);
	free(tree);
}

int sourcedir_open_top(struct sourcedir **dirp, struct context *cx,
		       const char *path, unsigned int most_open,
		       struct statx *st)
{
	struct tree *tree = calloc(1, sizeof(*tree));
	struct sourcedir *dir = NULL;
	struct rlimit limit;
	int fd = -ENOMEM;

	*dirp = NULL;
	if (!tree)
		return fail(cx, fd, "%s", path);
	pthread_mutex_init(&tree->lock, NULL);
	tree->noatime = O_NOATIME;
	tree->most_open = most_open;
	if (!most_open) {
		/* Leave a quarter of the process's limit to other files. */
		tree->most_open = MOST_OPEN;
		if (!getrlimit(RLIMIT_NOFILE, &limit) &&
		    limit.rlim_cur / 4 * 3 < MOST_OPEN)
			tree->most_open = (unsigned int)limit.rlim_cur / 4 * 3;
	}
	if (tree->most_open < LEAST_OPEN)
		tree->most_open = LEAST_OPEN;
	tree->path = strdup(path);
	if (tree->path)
		dir = sourcedir_make(tree, NULL, "", 0);
	if (dir)
		fd = sourcedir_open_directory(AT_FDCWD, path, 0, st);
	if (fd < 0) {
		free(dir);
		free_tree(tree);
		return fail(cx, fd, "%s", path);
	}
	dir->ino = st->stx_ino;
	dir->dev = sourcedir_device(st);
	sourcedir_opened(dir, fd);
	*dirp = dir;
	return 0;
}

struct sourcedir *sourcedir_hold(struct sourcedir *dir)
{
	pthread_mutex_lock(&dir->tree->lock);
	dir->refs++;
	pthread_mutex_unlock(&dir->tree->lock);
	return dir;
}

void sourcedir_put(struct sourcedir *dir)
{
	struct sourcedir *parent;
	struct tree *tree;

	if (!dir)
		return;
	tree = dir->tree;
	pthread_mutex_lock(&tree->lock);
	while (dir && !--dir->refs) {
		parent = dir->parent;
		if (!parent)
			unuse(dir);
		if (dir->fd >= 0)
			close_one(dir);
		free(dir);
		dir = parent;
	}
	pthread_mutex_unlock(&tree->lock);
	if (!dir)
		free_tree(tree);
}

bool sourcedir_is_below(const struct sourcedir *dir, const struct statx *st)
{
	for (; dir; dir = dir->parent)
		if (dir->ino == st->stx_ino && dir->dev == sourcedir_device(st))
			return true;
	return false;
}

void sourcedir_path(const struct sourcedir *dir, const char *name, size_t len,
		    char path[SOURCEDIR_PATH_MAX])
{
	char text[TEXT_ESCAPED_MAX(255) + 1] = "/";
	struct pathtail tail = { .path = path, .at = SOURCEDIR_PATH_MAX - 1 };

	path[tail.at] = '\0';
	for (;; dir = dir->parent) {
		if (name && !tail.cut)
			sourcedir_put_text(&tail, text,
					   1 + text_escape(text + 1, sizeof(text) - 1,
							   name, len));
		if (!dir->parent)
			break;
		name = dir->name;
		len = dir->len;
	}
	sourcedir_put_text(&tail, dir->tree->path, strlen(dir->tree->path));
	memmove(path, path + tail.at, SOURCEDIR_PATH_MAX - tail.at);
}

int sourcedir_fail(const struct sourcedir *dir, struct context *cx,
		   const char *name, size_t len, int err, const char *what)
{
	char path[SOURCEDIR_PATH_MAX];

	sourcedir_path(dir, name, len, path);
	return fail(cx, err, "%s: %s", path, what);
}
