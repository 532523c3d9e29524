// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The size of the sources, known before they are read.
 *
 * It costs a walk, a tenth of the time of a run, so it is asked for only where
 * progress is shown, or an old volume would be lost to one that has no room.
 * What goes wrong here will go wrong again where it is told.
 */
#include "config.h"

#include "mkfs/measure.h"

#include <fcntl.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stopped(const struct context *cx)
{
	return cx->cancel && *cx->cancel;
}

/* Bytes in blocks of BLOCK_SIZE that hold data; 0 of what cannot be read. */
static uint64_t measure_data(const char *path, uint64_t block_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t bytes = 0, end = 0;
	off_t data, hole = 0;

	while (fd >= 0 && (data = lseek(fd, hole, SEEK_DATA)) >= 0 &&
	       (hole = lseek(fd, data, SEEK_HOLE)) > data) {
		uint64_t first = (uint64_t)data / block_size * block_size;

		if (first < end)
			first = end;
		end = ((uint64_t)hole + block_size - 1) / block_size *
		      block_size;
		bytes += end > first ? end - first : 0;
	}
	if (fd >= 0)
		close(fd);
	return bytes;
}

/* As measure_data() by what ST says: more where space was only reserved. */
static uint64_t measure_allocated(const struct stat *st, uint64_t block_size)
{
	uint64_t size = ((uint64_t)st->st_size + block_size - 1) / block_size *
			block_size;
	uint64_t allocated = (uint64_t)st->st_blocks * 512;

	return size < allocated ? size : allocated;
}

static uint64_t least_of_tree(const struct context *cx, const char *path,
			      const struct measure_how *how, bool exactly)
{
	char *paths[] = { strdup(path), NULL };
	int flags = FTS_PHYSICAL | FTS_NOCHDIR |
		    (how->one_file_system ? FTS_XDEV : 0);
	FTS *tree = paths[0] ? fts_open(paths, flags, NULL) : NULL;
	uint64_t bytes = 0;
	FTSENT *entry;

	while (tree && !is_stopped(cx) && (entry = fts_read(tree))) {
		const struct stat *st = entry->fts_statp;

		if (entry->fts_info != FTS_F || !S_ISREG(st->st_mode) ||
		    st->st_nlink > 1 || (st->st_dev == how->skip.dev &&
					 st->st_ino == how->skip.ino))
			continue;
		bytes += exactly ?
				 measure_data(entry->fts_path, how->block_size) :
				 measure_allocated(st, how->block_size);
	}
	if (tree)
		fts_close(tree);
	free(paths[0]);
	return bytes;
}

static uint64_t least(const struct context *cx, const char *const *sources,
		      size_t n, const struct measure_how *how, bool exactly)
{
	uint64_t bytes = 0;
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++)
		if (!stat(sources[i], &st) && S_ISDIR(st.st_mode))
			bytes += least_of_tree(cx, sources[i], how, exactly);
	return bytes;
}

uint64_t measure_excess(const struct context *cx, const char *const *sources,
			size_t n, const struct measure_how *how)
{
	uint64_t bytes = least(cx, sources, n, how, false);

	if (bytes > how->room)
		bytes = least(cx, sources, n, how, true);
	return bytes > how->room ? bytes : 0;
}

static uint64_t measure_tree(const struct context *cx, const char *path)
{
	char *paths[] = { strdup(path), NULL };
	uint64_t bytes = 0;
	FTSENT *entry;
	FTS *tree;

	tree = paths[0] ? fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL) :
			  NULL;
	while (tree && !is_stopped(cx) && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_F)
			bytes += (uint64_t)entry->fts_statp->st_size;
	if (tree)
		fts_close(tree);
	free(paths[0]);
	return bytes;
}

/* An archive has the bytes of its members where it is not compressed. */
static uint64_t measure_archive(const char *path, uint64_t size)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".tar") ? size : 0;
}

uint64_t measure_sources(const struct context *cx, const char *const *sources,
			 size_t n)
{
	uint64_t bytes = 0, one;
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		if (stat(sources[i], &st))
			return 0;
		if (S_ISDIR(st.st_mode))
			one = measure_tree(cx, sources[i]);
		else
			one = measure_archive(sources[i],
					      (uint64_t)st.st_size);
		if (!one)
			return 0;
		bytes += one;
	}
	return bytes;
}
