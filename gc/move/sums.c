// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verifying the checksums of logs whose blocks are moved.
 *
 * A moved block gets the checksum of its new log, so earlier damage must be
 * detected before.  The checksum covers all blocks of a log, so the bad block
 * is not known: the message lists the first few files with blocks there.
 *
 * A single flipped bit can be located (check/logs/logbits.h), in a log so short
 * that other damage rarely looks like one.  A device with patches then corrects
 * it for all reads: nothing is written in place, which zones would not allow,
 * and a dry run or a copy must not do.  A load made before may contain the
 * wrong bit, so it has to be made again.
 *
 * Logs are read while the batch is written, which takes effect later: on a disk
 * this costs no extra time.  Trials and forecasts write logs to an overlay,
 * partly without content.  So logs are verified on the device underneath, and
 * only if the log there is the one to be moved.
 *
 * The number of correct logs of a segment is recorded for the batch after a
 * trial.  All logs with a block to be moved are in the load, and until the
 * segment is written again their number can only decrease.
 */
#include "gc/move/sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pool.h"
#include "base/search.h"
#include "check/logs/logbits.h"
#include "dev/patched.h"
#include "disk/inode.h"
#include "gc/move/load.h"
#include "vol/cptable.h"
#include "vol/logcheck.h"
#include "vol/root.h"
#include "vol/translate.h"
#include "vol/tree.h"
#include "vol/volume.h"

/*
 * Owners of blocks, for messages.
 *
 * A run of a load has the inode.  Its path is that of the latest state, or, if the
 * block does not belong to that, of a checkpoint that keeps it: preferably a
 * snapshot.  Finding a path needs a walk through all directories, so only a few are
 * searched.
 */

#define BLAME_MAX 380
#define FILES_NAMED 4

/* A checkpoint that has virtual block VBLOCKNR, or 0. */
static int blame_find_checkpoint(struct context *cx, struct volume *vol,
				 uint64_t vblocknr, uint64_t *cno)
{
	struct nilfs_dat_entry de;
	uint64_t *cnos;
	size_t n, i;
	int plain, ret = translate_entry(vol, cx, vblocknr, &de);

	*cno = 0;
	for (plain = 0; plain < 2 && !ret && !*cno; plain++) {
		cnos = NULL;
		n = 0;
		ret = cptable_list(vol, cx, !plain, &cnos, &n);
		i = ret ? 0 : search_lower_bound(cnos, n, le64_get(de.de_end));
		if (i && cnos[i - 1] >= le64_get(de.de_start))
			*cno = cnos[i - 1];
		free(cnos);
	}
	return ret;
}

/* Appends to TEXT, after LEN of its bytes, and returns the new length. */
__attribute__((format(printf, 3, 4)))
static size_t blame_append(char *text, size_t len, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text + len, BLAME_MAX - len, format, args);
	va_end(args);
	return n < 0 || (size_t)n >= BLAME_MAX - len ? BLAME_MAX - 1 :
						       len + (size_t)n;
}

/* Appends the path of the file of RUN. */
static int append_path(char *text, size_t *len, struct context *cx,
		       struct volume *vol, const struct load_run *run)
{
	char *path = NULL;
	struct root root;
	uint64_t cno = 0;
	int ret = run->current ? 0 : blame_find_checkpoint(cx, vol,
							   run->entry.vblocknr, &cno);

	if (!ret)
		ret = root_open(&root, cx, vol, cno);
	if (!ret)
		ret = tree_find_path(&root, cx, run->entry.ino, &path);
	if (ret == -ENOMEM || ret == -EINTR)
		return ret;
	fail_clear(cx);
	if (cno)
		*len = blame_append(text, *len, "checkpoint %" PRIu64 ": ",
				    cno);
	*len = path ? blame_append(text, *len, "%s", path) :
		      blame_append(text, *len, "inode %" PRIu64, run->entry.ino);
	free(path);
	return 0;
}

/* Sets *RUN and *MARK to those with BLOCKNR, or to NULL; whether there is one. */
static bool blame_find_block(const struct load *load, uint64_t blocknr,
			     const struct load_run **run,
			     const struct load_mark **mark)
{
	const struct load_run *r = load->runs;
	size_t i;

	*run = NULL;
	*mark = NULL;
	for (i = 0; i < load->has.nruns && !*run; i++, r++)
		if (blocknr >= r->blocknr &&
		    blocknr - r->blocknr < r->entry.count)
			*run = r;
	for (i = 0; i < load->has.nmarks && !*mark; i++)
		if (load->marks[i].blocknr == blocknr)
			*mark = &load->marks[i];
	return *run || *mark;
}

/*
 * The owner of BLOCKNR, a block of LOAD, as "/dir/file block 12" or "checkpoint
 * 4: /file"; as an inode if no path is found.  1; 0 if LOAD neither moves nor
 * rewrites the block; -ENOMEM, -EINTR.
 */
static int blame_block(char text[BLAME_MAX], struct context *cx,
		       const struct load *load, uint64_t blocknr)
{
	const struct load_mark *mark;
	const struct load_run *run;
	size_t len = 0;
	int ret = 0;

	text[0] = '\0';
	if (!blame_find_block(load, blocknr, &run, &mark))
		return 0;
	if (!run) {
		blame_append(text, 0, "inode %" PRIu64, mark->ino);
		return 1;
	}
	if (inode_is_metadata(run->entry.ino))
		len = blame_append(text, 0, "inode %" PRIu64, run->entry.ino);
	else
		ret = append_path(text, &len, cx, load->facts->vol, run);
	if (ret)
		return ret;
	if (!run->entry.node)
		blame_append(text, len, " block %" PRIu64,
			     run->entry.blkoff + (blocknr - run->blocknr));
	return 1;
}

/*
 * The first few files that LOAD moves out of LOG; "metadata" if there is none.
 * -ENOMEM, -EINTR.
 */
static int blame_log(char text[BLAME_MAX], struct context *cx,
		     const struct load *load, const struct load_log *log)
{
	const struct load_run *run, *next;
	unsigned int named;
	uint64_t ino = 0;	/* the last one appended; they are ascending */
	size_t len = 0, i;
	int ret = 0;

	for (named = 0; !ret; named++) {
		for (i = 0, next = NULL; i < load->has.nruns; i++) {
			run = &load->runs[i];
			if (run->blocknr >= log->pseg &&
			    run->blocknr - log->pseg <
				    le32_get(log->ss.ss_nblocks) &&
			    run->entry.ino > ino &&
			    !inode_is_metadata(run->entry.ino) &&
			    (!next || run->entry.ino < next->entry.ino))
				next = run;
		}
		if (!next || named == FILES_NAMED) {
			blame_append(text, len, "%s", next ? " and others" :
				     named ? "" : "metadata");
			break;
		}
		if (named)
			len = blame_append(text, len, ", ");
		ret = append_path(text, &len, cx, load->facts->vol, next);
		ino = next->entry.ino;
	}
	return ret;
}

/* The state of a log; the argument of a job. */
struct summed {
	struct summing *u;
	enum { UNKNOWN, RIGHT, WRONG } state;
};

struct summing {
	struct sums *s;
	const struct load *load;
	struct pool *pool;
	struct summed *logs;	/* parallel to the logs of the load */
};

int sums_open(struct sums *s, struct context *cx, struct dev *dev)
{
	*s = (struct sums){ .dev = NULL };
	return patched_open(&s->dev, cx, dev);
}

void sums_close(struct sums *s)
{
	dev_close(s->dev);
	free(s->good);
	free(s->bad);
	free(s->bits);
	*s = (struct sums){ .dev = NULL };
}

static uint64_t segment_of(const struct load *load, size_t i)
{
	return geometry_segment_of(&load->facts->vol->geo, load->logs[i].pseg);
}

/*
 * The first log after the segment of log I; the logs of a segment are adjacent.
 */
static size_t sums_next_segment(const struct load *load, size_t i)
{
	uint64_t segnum = segment_of(load, i);

	while (i < load->has.nlogs && segment_of(load, i) == segnum)
		i++;
	return i;
}

/* Whether LOG is on the device, and not on an overlay: 1, 0. */
static int is_on_device(const struct sums *s, struct context *cx,
			const struct load *load, const struct load_log *log)
{
	const struct nilfs_geometry *geo = &load->facts->vol->geo;
	struct nilfs_segment_summary ss;
	int ret = dev_read(s->dev, cx, log->pseg << geo->block_bits, &ss,
			   sizeof(ss));

	return ret ? ret : !memcmp(&ss, &log->ss, sizeof(ss));
}

static int sum_up(struct context *cx, void *arg, unsigned int worker, bool skip)
{
	struct summed *job = arg;
	struct summing *u = job->u;
	const struct load_log *log = &u->load->logs[job - u->logs];
	int ret = skip ? 0 : is_on_device(u->s, cx, u->load, log);

	(void)worker;
	if (ret > 0) {
		ret = logcheck_is_right(u->s->dev, cx,
					&u->load->facts->vol->geo, log->pseg,
					&log->ss);
		if (ret >= 0)
			job->state = ret ? RIGHT : WRONG;
	}
	if (ret != -EIO)
		return ret < 0 ? ret : 0;
	fail_clear(cx);
	return 0;
}

void sums_forget(struct sums *s, const struct load *load)
{
	const struct nilfs_geometry *geo = &load->facts->vol->geo;
	size_t i, n;

	for (i = 0; i < load->has.nvictims; i++) {
		uint64_t segnum = load->victims[i];

		if (segnum < s->ngood)
			s->good[segnum] = 0;
		for (n = s->nbits; n--;) {
			uint64_t blocknr = s->bits[n] >> 3 >> geo->block_bits;

			if (geometry_segment_of(geo, blocknr) != segnum)
				continue;
			patched_remove(s->dev, blocknr << geo->block_bits,
				       geo->block_size);
			s->bits[n] = s->bits[--s->nbits];
		}
	}
}

/* Counts those in blocks that LOAD moves at their present positions. */
uint64_t sums_bits(const struct sums *s, struct context *cx,
		   const struct load *load)
{
	uint32_t bits = load->facts->vol->geo.block_bits;
	const struct load_mark *mark;
	const struct load_run *run;
	uint64_t n = 0;
	size_t i;
	int ret;

	for (i = 0; i < s->nbits; i++) {
		uint64_t blocknr = s->bits[i] >> 3 >> bits;
		const struct load_log *log = load->logs;
		const struct load_log *end = log + load->has.nlogs;

		if (!blame_find_block(load, blocknr, &run, &mark))
			continue;
		while (log < end &&
		       (blocknr < log->pseg || blocknr - log->pseg >=
						       le32_get(log->ss.ss_nblocks)))
			log++;
		ret = log < end ? is_on_device(s, cx, load, log) : 0;
		if (ret < 0)
			fail_clear(cx);
		n += ret > 0;
	}
	return n;
}

bool sums_is_bad(const struct sums *s, uint64_t segnum)
{
	size_t i = search_lower_bound(s->bad, s->nbad, segnum);

	return i < s->nbad && s->bad[i] == segnum;
}

/*
 * Corrects BIT for all later reads; reports it if it is in a block of the load.
 */
static int correct_bit(struct summing *u, struct context *cx,
		       const struct logbit *bit)
{
	const struct nilfs_geometry *geo = &u->load->facts->vol->geo;
	uint64_t off = bit->byte & ~(uint64_t)(geo->block_size - 1);
	char owner[BLAME_MAX], text[2 * BLAME_MAX];
	struct sums *s = u->s;
	uint8_t *block;
	int ret;

	if (array_reserve(cx, &s->bits, &s->bits_room, s->nbits + 1))
		return -ENOMEM;
	block = malloc(geo->block_size);
	if (!block)
		return fail(cx, -ENOMEM, "block with a flipped bit");
	ret = dev_read(s->dev, cx, off, block, geo->block_size);
	block[bit->byte - off] ^= (uint8_t)(1u << bit->bit);
	if (!ret)
		ret = patched_set(s->dev, cx, off, block, geo->block_size);
	free(block);
	if (ret < 0)
		return ret;
	s->bits[s->nbits++] = bit->byte * 8 + bit->bit;
	ret = blame_block(owner, cx, u->load, off >> geo->block_bits);
	if (ret <= 0 || !s->found)
		return ret < 0 ? ret : 0;
	snprintf(text, sizeof(text), "block %" PRIu64 ": bit %u of byte %"
		 PRIu64 " is flipped, by the checksum of its log (by chance 1 "
		 "in %" PRIu64 "); the moved copy is corrected: %s",
		 off >> geo->block_bits, bit->bit, bit->byte - off,
		 (UINT64_C(1) << 32) / bit->positions, owner);
	s->found(s->arg, text);
	return 0;
}

int sums_judge(struct summing *u, struct context *cx, uint64_t *bad)
{
	const struct load *load = u->load;
	struct sums *s = u->s;
	struct logbits lb = { .dev = s->dev, .geo = &load->facts->vol->geo };
	char files[BLAME_MAX];
	bool corrected = false;
	unsigned int bit;
	size_t n = load->has.nlogs, wrong = n, i, at;
	int ret = 0;

	for (i = 0; i < n && ret >= 0; i++) {
		uint64_t segnum = segment_of(load, i);

		if (u->logs[i].state != WRONG)
			continue;
		ret = logbits_header(&lb, cx, load->logs[i].pseg);
		if (ret > 0) {
			ret = logbits_blocks(&lb, cx);
			if (!ret && lb.whole && lb.nbits &&
			    logbits_is_credible(&lb)) {
				for (bit = 0; bit < lb.nbits && !ret; bit++)
					ret = correct_bit(u, cx, &lb.bits[bit]);
				corrected |= !ret;
				continue;
			}
		}
		if (ret < 0)
			break;
		/* Other damage is possible. */
		if (wrong == n)
			wrong = i;
		if (sums_is_bad(s, segnum))
			continue;
		ret = array_reserve(cx, &s->bad, &s->bad_room, s->nbad + 1);
		if (ret)
			break;
		at = search_lower_bound(s->bad, s->nbad, segnum);
		memmove(&s->bad[at + 1], &s->bad[at],
			(s->nbad++ - at) * sizeof(*s->bad));
		s->bad[at] = segnum;
	}
	logbits_fini(&lb);
	if (ret < 0)
		return ret;
	if (corrected)
		return fail(cx, -EAGAIN, "flipped bits were found");
	ret = blame_log(files, cx, load, &load->logs[wrong]);
	if (ret)
		return ret;
	*bad = load->logs[wrong].pseg;
	return fail(cx, -EUCLEAN, "the log at block %" PRIu64 " does not match "
		    "its checksum; blocks of %s; run fsck.nilfs2 -y --data",
		    *bad, files);
}

int sums_begin(struct summing **up, struct context *cx, struct sums *s,
	       const struct load *load)
{
	uint64_t nsegments = load->facts->vol->geo.nsegments;
	size_t i, end, n = load->has.nlogs;
	struct summing *u;
	uint16_t *good;
	bool known;
	int ret;

	*up = NULL;
	if (!n)
		return 0;
	u = calloc(1, sizeof(*u));
	if (!u)
		return fail(cx, -ENOMEM, "checksums of logs");
	u->s = s;
	u->load = load;
	u->logs = calloc(n, sizeof(*u->logs));
	good = nsegments > s->ngood ?
		       realloc(s->good, nsegments * sizeof(*good)) : s->good;
	if (good)
		s->good = good;
	if (!u->logs || !good) {
		sums_end(u);
		return fail(cx, -ENOMEM, "checksums of %zu logs", n);
	}
	for (; s->ngood < nsegments; s->ngood++)
		good[s->ngood] = 0;
	/*
	 * Live blocks only decrease: the same number of logs are the same logs.
	 */
	for (i = 0; i < n;) {
		end = sums_next_segment(load, i);
		known = end - i <= good[segment_of(load, i)];
		for (; i < end; i++)
			u->logs[i] = (struct summed){
				u, known ? RIGHT : UNKNOWN
			};
	}
	/* The queue has room for all jobs, so pool_give() does not wait. */
	ret = pool_open(&u->pool, cx, pool_workers(cx, UINT64_MAX),
			n < UINT32_MAX ? (unsigned int)n : UINT32_MAX);
	for (i = 0; i < n && !ret; i++)
		if (!u->logs[i].state)
			ret = pool_give(u->pool, cx, sum_up, &u->logs[i], NULL);
	if (ret)
		sums_end(u);
	else
		*up = u;
	return ret;
}

int sums_wait(struct summing *u, struct context *cx)
{
	const struct load *load = u ? u->load : NULL;
	size_t i, n, end;
	bool wrong = false;
	int ret = u ? pool_wait(u->pool, cx, NULL) : 0;

	if (!u || ret)
		return ret;
	for (i = 0; i < load->has.nlogs; i = end) {
		uint16_t *good = &u->s->good[segment_of(load, i)];
		bool right = true;

		end = sums_next_segment(load, i);
		for (n = i; n < end; n++) {
			right &= u->logs[n].state == RIGHT;
			wrong |= u->logs[n].state == WRONG;
		}
		if (right && end - i > *good)
			*good = end - i < UINT16_MAX ? (uint16_t)(end - i) :
						       UINT16_MAX;
	}
	return wrong;
}

void sums_end(struct summing *u)
{
	if (!u)
		return;
	pool_close(u->pool);
	free(u->logs);
	free(u);
}
