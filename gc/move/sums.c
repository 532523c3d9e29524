// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifying the checksums of logs whose blocks are moved.
 *
 * A moved block is covered by the checksum of its new log, so earlier damage
 * must be found before.  The checksum covers all blocks of a log, so the bad
 * one is not known: all files with blocks there are named, up to a few.
 *
 * Trials and forecasts write logs to an overlay, partly without content.  Logs
 * are verified on the device underneath, and only if the log there is the one
 * to be moved.
 *
 * What is moved after a trial was verified by it.  How many logs of a segment
 * were right is remembered: all that have a block to be moved are in the load,
 * and until the segment is written again they only become fewer.
 */
#include "gc/move/sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "check/logs/logdata.h"
#include "gc/move/load.h"
#include "vol/root.h"
#include "vol/tree.h"
#include "vol/volume.h"

#define FILES_NAMED 4

struct summing {
	struct sums *s;
	const struct load *load;
	struct logdata *data;	/* one a worker */
	bool *right;		/* of each log, verified now or before */
	uint64_t wrong;		/* the first one, or the number of all */
};

void sums_fini(struct sums *s)
{
	free(s->good);
	s->good = NULL;
	s->ngood = 0;
}

static void note_wrong(struct summing *u, uint64_t job)
{
	uint64_t first = __atomic_load_n(&u->wrong, __ATOMIC_RELAXED);

	while (job < first &&
	       !__atomic_compare_exchange_n(&u->wrong, &first, job, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static uint64_t segment_of(const struct load *load, size_t i)
{
	return geometry_segment_of(&load->facts->vol->geo, load->logs[i].pseg);
}

/* The logs of a segment are in a row: the first one after that of log I. */
static size_t next_segment(const struct load *load, size_t i)
{
	uint64_t segnum = segment_of(load, i);

	while (i < load->has.nlogs && segment_of(load, i) == segnum)
		i++;
	return i;
}

/* What lives only becomes less: no more logs than before are the same ones. */
static void find_known(struct summing *u)
{
	size_t i, end;

	for (i = 0; i < u->load->has.nlogs; i = end) {
		end = next_segment(u->load, i);
		if (end - i <= u->s->good[segment_of(u->load, i)])
			memset(&u->right[i], true, end - i);
	}
}

static void note_good(struct summing *u)
{
	size_t i, end;

	for (i = 0; i < u->load->has.nlogs; i = end) {
		uint16_t *good = &u->s->good[segment_of(u->load, i)];

		end = next_segment(u->load, i);
		if (!memchr(&u->right[i], 0, end - i) && end - i > *good)
			*good = end - i < UINT16_MAX ? (uint16_t)(end - i) :
						       UINT16_MAX;
	}
}

static int sum_up(struct context *cx, void *arg, unsigned int worker,
		  uint64_t job)
{
	struct summing *u = arg;
	const struct load_log *log = &u->load->logs[job];
	const struct nilfs_geometry *geo = &u->load->facts->vol->geo;
	struct nilfs_segment_summary ss;
	int ret;

	if (u->right[job])
		return 0;
	ret = dev_read(u->s->dev, cx, log->pseg << geo->block_bits, &ss,
		       sizeof(ss));
	if (!ret && memcmp(&ss, &log->ss, sizeof(ss)))
		return 0;
	if (!ret)
		ret = logdata_is_right(&u->data[worker], cx, u->s->dev, geo,
				       log->pseg, &ss);
	if (ret == -EIO) {
		fail_clear(cx);
		return 0;
	}
	if (ret > 0) {
		u->right[job] = true;
		return 0;
	}
	note_wrong(u, job);
	return ret ? ret : -EUCLEAN;
}

void sums_forget(struct sums *s, const struct load *load)
{
	size_t i;

	for (i = 0; i < load->has.nvictims; i++)
		if (load->victims[i] < s->ngood)
			s->good[load->victims[i]] = 0;
}

static bool is_in(const struct load_run *run, const struct load_log *log)
{
	return run->blocknr >= log->pseg &&
	       run->blocknr - log->pseg < le32_get(log->ss.ss_nblocks);
}

/* The first inode above INO with a block in LOG that is moved, or 0. */
static uint64_t next_inode(const struct load *load, const struct load_log *log,
			   uint64_t ino)
{
	const struct load_run *run = load->runs;
	uint64_t next = 0;
	size_t i;

	for (i = 0; i < load->has.nruns; i++, run++)
		if (is_in(run, log) && run->what.ino > ino &&
		    (!next || run->what.ino < next))
			next = run->what.ino;
	return next;
}

/* Appends a path of INO in the latest state to the LEN bytes of TEXT. */
static size_t append_path(char text[FAILURE_TEXT_MAX], size_t len,
			  struct context *cx, struct root *root, uint64_t ino)
{
	char *path = NULL;
	int n;

	if (tree_find_path(root, cx, ino, &path))
		n = snprintf(text + len, FAILURE_TEXT_MAX - len,
			     " inode %" PRIu64, ino);
	else
		n = snprintf(text + len, FAILURE_TEXT_MAX - len, " %s", path);
	free(path);
	return n < 0 || (size_t)n >= FAILURE_TEXT_MAX - len ?
		       FAILURE_TEXT_MAX - 1 : len + (size_t)n;
}

/* The failure for LOG, with the files that it has blocks of. */
static int blame(const struct load *load, struct context *cx,
		 const struct load_log *log)
{
	char text[FAILURE_TEXT_MAX] = "";
	struct root root;
	uint64_t ino = 0;
	size_t len = 0;
	unsigned int i;
	int ret = root_open(&root, cx, load->facts->vol, 0);

	for (i = 0; !ret && i < FILES_NAMED &&
		    (ino = next_inode(load, log, ino)); i++)
		len = append_path(text, len, cx, &root, ino);
	if (ret == -ENOMEM || context_cancelled(cx))
		return ret ? ret : -EINTR;
	return fail(cx, -EUCLEAN, "the log at block %" PRIu64 " does not match "
		    "its checksum; blocks of%.380s%s", log->pseg,
		    *text ? text : " metadata",
		    ino && next_inode(load, log, ino) ? " and others" : "");
}

static int sum_logs(struct summing *u, struct context *cx)
{
	unsigned int n = pool_workers(cx, u->load->has.nlogs), i;
	int ret;

	u->data = calloc(n, sizeof(*u->data));
	if (!u->data)
		return fail(cx, -ENOMEM, "%u workers", n);
	ret = pool_run(cx, u->load->has.nlogs, sum_up, u);
	for (i = 0; i < n; i++)
		logdata_free(&u->data[i]);
	free(u->data);
	return ret;
}

static int reserve_good(struct sums *s, uint64_t nsegments)
{
	uint16_t *good;

	if (nsegments <= s->ngood)
		return 0;
	good = realloc(s->good, nsegments * sizeof(*good));
	if (!good)
		return -ENOMEM;
	memset(good + s->ngood, 0, (nsegments - s->ngood) * sizeof(*good));
	s->good = good;
	s->ngood = nsegments;
	return 0;
}

int sums_check(struct sums *s, struct context *cx, const struct load *load,
	       uint64_t *bad)
{
	struct summing u = { .s = s, .load = load, .wrong = load->has.nlogs };
	int ret;

	*bad = 0;
	if (!load->has.nlogs)
		return 0;
	u.right = calloc(load->has.nlogs, sizeof(*u.right));
	if (!u.right || reserve_good(s, load->facts->vol->geo.nsegments)) {
		free(u.right);
		return fail(cx, -ENOMEM, "checksums of %zu logs",
			    load->has.nlogs);
	}
	find_known(&u);
	ret = sum_logs(&u, cx);
	if (!ret)
		note_good(&u);
	free(u.right);
	if (ret != -EUCLEAN)
		return ret;
	*bad = load->logs[u.wrong].pseg;
	return blame(load, cx, &load->logs[u.wrong]);
}
