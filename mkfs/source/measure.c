// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The size of the sources, before they are read.
 *
 * This takes a walk, a tenth of the time of a run, so it is done only if
 * progress is shown.  Errors are ignored here: they will be reported by the
 * run.
 */
#include "config.h"

#include "mkfs/source/measure.h"

#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_stopped(const struct context *cx)
{
	return cx->cancel && *cx->cancel;
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
