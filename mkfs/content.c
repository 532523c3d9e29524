// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing layers as checkpoints.
 *
 * Each source becomes one checkpoint, written by its own writer.  Between two
 * layers the volume is opened at the end of its last log, since it has no
 * superblock yet.  An empty volume is one layer with only the root directory.  A
 * redundant volume has one more checkpoint, with the metadata of the last layer again.
 *
 * The position of a block depends on sizes and names, never on the content of
 * files, so the same code computes the space that is needed.  A forecast runs on
 * a device that is larger than any need and keeps writes in memory, without the
 * blocks of files.  Segments are used one after the other, so the number of used
 * segments is the number of segments needed.
 */
#include "config.h"

#include "mkfs/content.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/uuidtext.h"
#include "dev/overlay.h"
#include "disk/reserve.h"
#include "log/directwriter.h"
#include "log/exactcounts.h"
#include "mkfs/populate/rewrite.h"
#include "mkfs/tar/tarsource.h"
#include "vol/sutable.h"
#include "vol/volume.h"

#define ARCHIVE_LOG_BYTES (8u << 20)

int content_check(struct context *cx, const char *const *sources, size_t n)
{
	unsigned int inputs = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!strcmp(sources[i], "-")) {
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

/* One layer while it is written. */
struct layer {
	struct content *c;
	struct plan *plan;
	const char *source;	/* NULL: only the root directory */
	bool first;
	bool again;		/* no source: the metadata below once more */
	bool snapshot;		/* its checkpoint becomes a snapshot */
	bool last;
	struct writer *writer;
	struct populate *populate;
};

static void content_report_counts(void *arg)
{
	struct layer *l = arg;
	struct populate_counts sum = l->c->counts;

	populate_add_counts(l->populate, &sum);
	l->c->progress(l->c->arg, &sum, sum.bytes);
}

/* A NULL source is the root directory only. */
static bool is_archive(const char *source)
{
	struct stat st;

	return source && (!strcmp(source, "-") ||
			  (!stat(source, &st) && !S_ISDIR(st.st_mode)));
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
		.progress = c->progress ? content_report_counts : NULL,
		.arg = l,
	};
	uint64_t root;
	int ret = populate_open(&l->populate, cx, l->writer, below, &options);

	if (ret)
		return ret;
	if (is_archive(l->source)) {
		ret = tarsource_run(cx, l->source, c->walk.rules,
				    c->base ? below : NULL, l->populate);
	} else if (l->source) {
		ret = walk_run(cx, l->source, &c->walk, l->populate,
			       &c->notes);
	} else {
		ret = populate_begin_dir(l->populate, cx, 0, NULL, 0, &root);
		if (!ret)
			ret = populate_end_dir(l->populate, cx, root, root,
					       NULL, POPULATE_ALL, NULL, 0);
	}
	return ret ? ret : populate_finish(l->populate, cx);
}

/*
 * Sets the size of the volume, which its last commit computes from the segments in
 * use.
 */
static uint64_t settle_plan(void *arg, uint64_t used)
{
	struct layer *l = arg;

	if (l->last)
		plan_settle(l->plan, used);
	return l->plan->g.nsegments;
}

/*
 * Logs after the base that no checkpoint contains are dropped.  The layers are one
 * change, so no mount may find the first of them by the chain of logs before the
 * superblocks name the last one.
 */
static int open_layer_writer(struct layer *l, struct context *cx,
			     struct dev *dev, struct volume *below,
			     const struct writer_options *options)
{
	const struct directwriter_known known = {
		.orphans_go = true,
		.fresh_segment = true,
	};
	uint64_t changed;
	int ret;

	if (!below)
		return writer_create(&l->writer, cx, dev, &l->plan->g, options);
	if (!l->c->base || !l->first)
		return writer_open(&l->writer, cx, below, options);
	ret = directwriter_open(&l->writer, cx, below, options, &known);
	if (!ret)
		ret = sutable_is_exact(below, cx);
	/* The counts of live blocks are wrong after an older kernel has written. */
	return ret ? (ret < 0 ? ret : 0) :
		     exactcounts_count(l->writer, cx, below, options->time,
				       &changed);
}

/* Workers read files until the writer is closed. */
static int write_layer(struct layer *l, struct context *cx, struct dev *dev,
		       struct volume *below, struct recovery *at)
{
	uint32_t log_blocks = ARCHIVE_LOG_BYTES >> l->plan->g.block_bits;
	struct content *c = l->c;
	struct writer_options options = {
		.time = l->plan->ctime,
		.collect = c->collect,
		.allocate = c->allocate,
		.digest = c->digest,
		.snapshot = l->snapshot,
		.apart = l->again,
		.nsegments = l->plan->fit ? settle_plan : NULL,
		.arg = l,
	};
	int ret;

	/*
	 * Blocks of an archive stay in memory until their log is laid out.  This
	 * matters for segments that are much longer than usual.
	 */
	if (is_archive(l->source) && l->plan->g.blocks_per_segment > log_blocks)
		options.log_blocks = log_blocks;
	zoneplan_writer(l->plan, &options);
	ret = open_layer_writer(l, cx, dev, below, &options);
	if (!ret)
		ret = l->again ? rewrite_metadata(l->writer, cx, below) :
				 fill_layer(l, cx, below);
	if (!ret)
		ret = writer_commit(l->writer, cx, &c->end);
	if (!ret)
		writer_recovery(l->writer, &c->end, at);
	writer_close(l->writer);
	if (!ret) {
		/* Each layer continues the digest of the one below. */
		const le64 words[2] = {
			le64_make(c->end.digest.words[0]),
			le64_make(c->end.digest.words[1]),
		};
		uint8_t uuid[16];

		if (l->again)
			c->redundant_blocks = c->end.blocks;
		else
			populate_add_counts(l->populate, &c->counts);
		c->written += c->end.blocks;
		memcpy(uuid, c->uuid, sizeof(uuid));
		uuidtext_of(uuid, words, sizeof(words), c->uuid);
	}
	populate_close(l->populate);
	return ret;
}

uint64_t content_measure(const struct content *c, const struct context *cx)
{
	uint64_t bytes = 0, one;
	struct stat st;
	FTSENT *entry;
	FTS *tree;
	size_t i, len;

	for (i = 0; i < c->nsources; i++) {
		char *paths[] = { strdup(c->sources[i]), NULL };

		len = strlen(c->sources[i]);
		one = 0;
		if (!paths[0] || stat(paths[0], &st)) {
			free(paths[0]);
			return 0;
		}
		/* The size of an uncompressed archive is near the size of its members. */
		if (!S_ISDIR(st.st_mode) && len > 4 &&
		    !strcmp(paths[0] + len - 4, ".tar"))
			one = (uint64_t)st.st_size;
		tree = S_ISDIR(st.st_mode) ?
			       fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL) :
			       NULL;
		while (tree && !(cx->cancel && *cx->cancel) &&
		       (entry = fts_read(tree)))
			if (entry->fts_info == FTS_F)
				one += (uint64_t)entry->fts_statp->st_size;
		if (tree)
			fts_close(tree);
		free(paths[0]);
		if (!one)
			return 0;
		bytes += one;
	}
	return bytes;
}

int content_write(struct content *c, struct context *cx, struct dev *dev,
		  struct plan *plan)
{
	size_t i, n = c->nsources ? c->nsources : 1;
	size_t ncheckpoints = n + c->redundant;
	struct volume *below = NULL;
	struct recovery at;	/* the end of the layer below */
	int ret = 0;

	for (i = 0; i < ncheckpoints && !ret; i++) {
		struct layer l = {
			.c = c,
			.plan = plan,
			.source = i < c->nsources ? c->sources[i] : NULL,
			.again = i == n,
			.first = !i,
			.snapshot = i < n && (c->snapshots == CONTENT_EACH ||
					      (c->snapshots == CONTENT_LAST &&
					       i == n - 1)),
			.last = i == ncheckpoints - 1,
		};

		if (!i && c->base)
			at = c->base->at;
		if (i || c->base)
			ret = volume_open_at(&below, cx, dev, &plan->g, &at);
		if (!ret)
			ret = write_layer(&l, cx, dev, below, &at);
		volume_close(below);
		below = NULL;
	}
	return ret;
}

static int zeros_read(struct dev *dev, struct context *cx, uint64_t off,
		      void *buf, size_t len)
{
	(void)dev;
	(void)cx;
	(void)off;
	memset(buf, 0, len);
	return 0;
}

int content_forecast(struct forecast *f, struct context *cx,
		     const struct plan *plan, const struct content *content)
{
	/* Sufficient below an overlay, which neither writes to it nor closes it. */
	static const struct dev_ops ops = { .read = zeros_read };
	uint64_t least = reserve_min_segments(plan->reserved), used;
	struct dev zeros = {
		.ops = &ops,
		.name = "forecast",
		.sector_size = 512,
	};
	struct dev *dev;
	int ret;

	*f = (struct forecast){ .plan = *plan, .content = *content };
	f->content.forecast = true;
	f->content.digest = false;
	f->content.allocate = 0;
	if (!content->base && !plan->zoned.zones && plan->size < CONTENT_ROOM)
		plan_limit(&f->plan, CONTENT_ROOM);
	zeros.size = f->plan.size;
	ret = overlay_open(&dev, cx, content->base ? content->base->dev : &zeros,
			   false);
	if (ret)
		return ret;
	/* A block device has no other size. */
	if (f->plan.size > dev->size && dev_resize(dev, cx, f->plan.size))
		ret = fail(cx, -ENOSPC, "%s: too small", dev->name);
	if (!ret)
		ret = content_write(&f->content, cx, dev, &f->plan);
	dev_close(dev);
	used = f->content.end.used_segments;
	if (!ret)
		f->nsegments = f->plan.fit  ? f->plan.g.nsegments :
			       used > least ? used :
					      least;
	return ret;
}
