// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trees of files for tests.
 *
 * Removal goes down by one directory at a time and never remembers more than
 * the way back, for trees deeper than a path can be long.
 */
#include "config.h"

#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void need(int good, const char *what)
{
	if (good)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(99);
}

/* In memory if possible: there are trees of many files. */
void tree_make(struct tree *tree)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || strlen(tmp) > 32)
		tmp = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";
	snprintf(tree->path, sizeof(tree->path), "%s/nilfs2-tree-XXXXXX", tmp);
	need(mkdtemp(tree->path) != NULL, tree->path);
	tree->fd = open(tree->path, O_RDONLY | O_DIRECTORY);
	need(tree->fd >= 0, tree->path);
}

uint8_t tree_byte(unsigned int seed, uint64_t at)
{
	return (uint8_t)(1 + (at * 31 + at / 251 + seed * 7919ULL) % 255);
}

void tree_file(const struct tree *tree, const char *path, size_t size,
	       unsigned int seed)
{
	struct timespec times[2] = { { .tv_sec = seed }, { .tv_sec = seed } };
	uint8_t *data = malloc(size + 1);
	size_t i;
	int fd;

	need(data != NULL, path);
	for (i = 0; i < size; i++)
		data[i] = tree_byte(seed, i);
	fd = openat(tree->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	need(fd >= 0 && write(fd, data, size) == (ssize_t)size, path);
	need(!futimens(fd, times), path);
	close(fd);
	free(data);
}

void tree_dir(const struct tree *tree, const char *path)
{
	need(!mkdirat(tree->fd, path, 0755), path);
}

/* Removes what is in FD; stops at a directory with something in it. */
static int next_full(int fd, char *name, size_t room)
{
	int copy = dup(fd), found = 0;
	struct dirent *de;
	DIR *dir;

	need(copy >= 0, "dup");
	dir = fdopendir(copy);
	need(dir != NULL, "fdopendir");
	rewinddir(dir);
	while (!found && (de = readdir(dir))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (!unlinkat(fd, de->d_name, 0) ||
		    !unlinkat(fd, de->d_name, AT_REMOVEDIR))
			continue;
		snprintf(name, room, "%s", de->d_name);
		found = 1;
	}
	closedir(dir);
	return found;
}

void tree_remove(struct tree *tree)
{
	int fd = dup(tree->fd), next;
	unsigned int depth = 0;
	char name[256];

	for (;;) {
		if (next_full(fd, name, sizeof(name))) {
			next = openat(fd, name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
			depth++;
		} else if (depth) {
			next = openat(fd, "..", O_RDONLY | O_DIRECTORY);
			depth--;
		} else {
			break;
		}
		need(next >= 0, name);
		close(fd);
		fd = next;
	}
	close(fd);
	close(tree->fd);
	need(!rmdir(tree->path), tree->path);
}
