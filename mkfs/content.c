// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing layers as checkpoints.
 *
 * Each source becomes one checkpoint, written by its own writer after the ones
 * before: between two layers the volume is opened at the end of its last log,
 * since it has no superblock yet.  An empty volume is one layer with only the
 * root directory.
 */
#include "mkfs/content.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/uuidtext.h"
#include "mkfs/tar/tarsource.h"
#include "vol/volume.h"

static bool is_standard_input(const char *source)
{
	return !strcmp(source, "-");
}

int content_check(struct context *cx, const char *const *sources, size_t n)
{
	unsigned int inputs = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (is_standard_input(sources[i])) {
			inputs++;
			continue;
		}
		if (faccessat(AT_FDCWD, sources[i], R_OK, AT_EACCESS))
			return fail(cx, -errno, "%s: open", sources[i]);
	}
	if (inputs > 1)
		return fail(cx, -EINVAL, "--root: standard input can be read "
			    "once only");
	return 0;
}

#define ARCHIVE_LOG_BYTES (8u << 20)

/* One layer while it is written. */
struct layer {
	struct content *c;
	struct plan *plan;
	const char *source;	/* NULL: the root directory alone */
	bool last;
	struct writer *writer;
	struct populate *populate;
};

static void report_counts(void *arg, const struct populate_counts *counts)
{
	struct layer *l = arg;
	struct populate_counts sum = l->c->counts;

	populate_counts_add(&sum, counts);
	l->c->progress(l->c->arg, &sum, sum.bytes);
}

static int empty_root(struct layer *l, struct context *cx)
{
	uint64_t ino;
	int ret = populate_begin_dir(l->populate, cx, 0, NULL, 0, &ino);

	return ret ? ret : populate_end_dir(l->populate, cx, ino, ino, NULL,
					    POPULATE_ALL, NULL, 0);
}

static bool is_archive(const char *source)
{
	struct stat st;

	return is_standard_input(source) ||
	       (!stat(source, &st) && !S_ISDIR(st.st_mode));
}

static int read_source(struct layer *l, struct context *cx)
{
	const struct walk_options *walk = &l->c->walk;

	if (!l->source)
		return empty_root(l, cx);
	if (!is_archive(l->source))
		return walk_run(cx, l->source, walk, l->populate,
				&l->c->notes);
	return tarsource_run(cx, l->source, walk->rules,
			     l->plan->g.block_size, l->populate);
}

static int fill_layer(struct layer *l, struct context *cx,
		      struct volume *below)
{
	struct content *c = l->c;
	struct populate_options options = {
		.rules = c->walk.rules,
		.time = (int64_t)l->plan->ctime,
		.strict = c->strict,
		.forecast = c->forecast,
		.progress = c->progress ? report_counts : NULL,
		.arg = l,
	};
	struct populate_counts counts;
	int ret = populate_open(&l->populate, cx, l->writer, below, &options);

	if (!ret)
		ret = read_source(l, cx);
	return ret ? ret : populate_finish(l->populate, cx, &counts);
}

/*
 * The size of the volume, computed by its last commit from the segments in use.
 */
static uint64_t settle_plan(void *arg, uint64_t used)
{
	struct layer *l = arg;

	if (l->last)
		plan_settle(l->plan, used);
	return l->plan->g.nsegments;
}

/*
 * Blocks of an archive are in memory until their log is laid out, which matters
 * for segments much longer than usual.
 */
static uint32_t longest_log(const struct layer *l)
{
	uint32_t blocks = ARCHIVE_LOG_BYTES >> l->plan->g.block_bits;

	if (!l->source || !is_archive(l->source) ||
	    l->plan->g.blocks_per_segment <= blocks)
		return 0;
	return blocks;
}

static int open_writer(struct layer *l, struct context *cx, struct dev *dev,
		       struct volume *below)
{
	struct content *c = l->c;
	struct writer_options options = {
		.time = l->plan->ctime,
		.collect = c->collect,
		.log_blocks = longest_log(l),
		.allocate = c->allocate,
		.digest = c->digest,
		.snapshot = c->snapshots == CONTENT_EACH ||
			    (c->snapshots == CONTENT_LAST && l->last),
		.nsegments = l->plan->fit ? settle_plan : NULL,
		.arg = l,
	};

	zoneplan_writer(l->plan, &options);
	if (below)
		return writer_open(&l->writer, cx, below, &options);
	return writer_create(&l->writer, cx, dev, &l->plan->g, &options);
}

/* Each layer continues the digest of the one below. */
static void add_digest(struct content *c)
{
	const struct logsum_digest *d = &c->end.digest;
	const le64 words[2] = {
		le64_make(d->words[0]), le64_make(d->words[1]),
	};
	uint8_t below[16];

	memcpy(below, c->uuid, sizeof(below));
	uuidtext_of(below, words, sizeof(words), c->uuid);
}

/* Workers read files until the writer is closed. */
static int write_layer(struct layer *l, struct context *cx, struct dev *dev,
		       struct volume *below, struct recovery *at)
{
	struct populate_counts counts;
	int ret = open_writer(l, cx, dev, below);

	if (!ret)
		ret = fill_layer(l, cx, below);
	if (!ret)
		ret = writer_commit(l->writer, cx, &l->c->end);
	if (!ret)
		writer_recovery(l->writer, &l->c->end, at);
	writer_close(l->writer);
	if (!ret) {
		populate_get_counts(l->populate, &counts);
		populate_counts_add(&l->c->counts, &counts);
		l->c->written += l->c->end.blocks;
		add_digest(l->c);
	}
	populate_close(l->populate);
	return ret;
}

int content_write(struct content *c, struct context *cx, struct dev *dev,
		  struct plan *plan)
{
	size_t i, n = c->nsources ? c->nsources : 1;
	struct volume *below = NULL;
	struct recovery at;	/* the end of the layer below */
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		struct layer l = {
			.c = c,
			.plan = plan,
			.source = c->nsources ? c->sources[i] : NULL,
			.last = i == n - 1,
		};

		if (i)
			ret = volume_open_at(&below, cx, dev, &plan->g, &at);
		if (!ret)
			ret = write_layer(&l, cx, dev, below, &at);
		volume_close(below);
		below = NULL;
	}
	return ret;
}
