// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The output of logs: what reaches the device, by any number of workers, on a
 * device that takes writes anywhere and on one that wants them in sequence;
 * failures and the wish to stop.
 */
#include "config.h"

#include "log/write/logout.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "disk/segsum.h"
#include "log/write/loglayout.h"
#include "tests/testdev/memory.h"

#include "sample.h"
#include "tap.h"

#define BLOCK 1024u
#define BLOCKS 11500u
#define FIRST 1u
#define LOGS 60
#define FILES_MAX 40
#define NEVER UINT32_MAX

static const struct nilfs_geometry g = {
	.block_size = BLOCK,
	.block_bits = 10,
	.blocks_per_segment = 1u << 20,
	.first_data_block = FIRST,
	.nsegments = 1,
	.nblocks = BLOCKS,
	.crc_seed = 0x12345,
};

/* A device that notes how it is written. */
struct watch {
	struct dev dev;
	struct dev *under;
	pthread_mutex_t lock;
	bool sequential;	/* takes writes only at the end of the last */
	uint64_t end;
	uint64_t most;		/* bytes of the longest write */
	uint64_t fail_at;	/* the write of this byte fails */
	uint64_t allocated;	/* bytes */
	uint64_t allocated_to;
	uint32_t asks, asks_again;
};

struct run {
	struct watch watch;
	struct context cx;
	struct logout *out;
	struct logout_digest digest;
	uint8_t *image;		/* what is on the device */
	uint8_t *want;		/* what should be */
	struct dev *source;	/* blocks to be moved */
	bool forecast;		/* some files have no content */
	bool filled[BLOCKS];
	atomic_uint twice, made, freed, fills;
	uint32_t fail_fill;	/* the file with this number and later fail */
	uint32_t stop_fill;
	volatile sig_atomic_t stop;
	uint32_t next;		/* block of the next log */
	uint32_t files;
	uint32_t blocks;	/* of payload */
	uint32_t starts[LOGS];
};

/* A file whose block B is made of its number and B. */
struct file {
	struct payload payload;
	struct run *r;
	uint32_t number;
	uint32_t blocknr;	/* where its first block should end up */
};

static uint32_t rnd(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) % n;
}

static void pattern(uint8_t *buf, uint32_t number, uint64_t at)
{
	uint64_t v = ((uint64_t)number << 32 | at) * 0x9e3779b97f4a7c15;
	uint32_t i;

	for (i = 0; i < BLOCK; i += sizeof(v), v += 0x123456789abcdef1)
		memcpy(buf + i, &v, sizeof(v));
}

static int file_fill(struct payload *p, struct context *cx, uint64_t at,
		     uint32_t count, void *buf)
{
	struct file *f = (struct file *)p;
	struct timespec short_time = {0, 20000}, long_time = {0, 3000000};
	uint32_t i;

	f->r->fills++;
	if (f->number % 16 == 3)
		nanosleep(&short_time, NULL);
	if (f->number == f->r->stop_fill)
		__atomic_store_n(&f->r->stop, 1, __ATOMIC_RELAXED);
	/* Let the others be the first to fail. */
	if (f->number == f->r->fail_fill)
		nanosleep(&long_time, NULL);
	if (f->number >= f->r->fail_fill)
		return fail(cx, f->number == f->r->fail_fill ? -ESTALE : -EIO,
			    "file %u", f->number);
	for (i = 0; i < count; i++) {
		f->r->twice += f->r->filled[f->blocknr + at + i];
		f->r->filled[f->blocknr + at + i] = true;
		pattern((uint8_t *)buf + i * BLOCK, f->number, at + i);
	}
	return 0;
}

static void file_free(struct payload *p)
{
	((struct file *)p)->r->freed++;
	free(p);
}

static const struct payload_ops file_ops = {
	.fill = file_fill,
	.free = file_free,
};

/* In a forecast. */
static const struct payload_ops blank_ops = {
	.free = file_free,
};

static int watch_write(struct dev *dev, struct context *cx, uint64_t off,
		       const void *buf, size_t len)
{
	struct watch *w = (struct watch *)dev;
	bool good;

	pthread_mutex_lock(&w->lock);
	good = !w->sequential || off == w->end;
	w->end = off + len;
	if (len > w->most)
		w->most = len;
	pthread_mutex_unlock(&w->lock);
	if (!good)
		return fail(cx, -EDOM, "write out of sequence");
	if (w->fail_at >= off && w->fail_at - off < len)
		return fail(cx, -EIO, "medium");
	return dev_write(w->under, cx, off, buf, len);
}

static int watch_allocate(struct dev *dev, struct context *cx, uint64_t off,
			  uint64_t len)
{
	struct watch *w = (struct watch *)dev;

	w->allocated += len;
	w->asks++;
	w->asks_again += off < w->allocated_to;
	w->allocated_to = off + len;
	return fail(cx, -ENOSPC, "a failure that does not matter");
}

static void no_close(struct dev *dev)
{
	(void)dev;
}

static const struct dev_ops watch_ops = {
	.write = watch_write,
	.allocate = watch_allocate,
	.close = no_close,
};

static void die_if(bool bad)
{
	if (bad)
		exit(99);
}

static void begin(struct run *r, unsigned int threads, bool sequential,
		  uint32_t chunk_bytes)
{
	const struct logout_options o = {
		.chunk_bytes = chunk_bytes,
		.sequential = sequential,
		.allocate = 1,
		.digest = &r->digest,
	};
	uint32_t i;

	memset(r, 0, sizeof(*r));
	context_init(&r->cx);
	r->cx.threads = threads;
	r->cx.cancel = &r->stop;
	r->fail_fill = r->stop_fill = NEVER;
	r->next = FIRST;
	r->image = calloc(BLOCKS, BLOCK);
	r->want = calloc(BLOCKS, BLOCK);
	die_if(!r->image || !r->want);
	r->watch.dev = (struct dev){
		.ops = &watch_ops,
		.name = "watched",
		.size = (uint64_t)BLOCKS * BLOCK,
		.sector_size = 512,
		.writable = true,
	};
	pthread_mutex_init(&r->watch.lock, NULL);
	r->watch.sequential = sequential;
	r->watch.end = FIRST * BLOCK;
	r->watch.fail_at = UINT64_MAX;
	die_if(memory_open(&r->watch.under, &r->cx, r->image,
			   (size_t)BLOCKS * BLOCK));
	die_if(memory_open(&r->source, &r->cx, NULL, 1000 * BLOCK));
	for (i = 0; i < 1000; i++)
		pattern(r->want, 5, i),
			dev_write(r->source, &r->cx, (uint64_t)i * BLOCK,
				  r->want, BLOCK);
	memset(r->want, 0, BLOCK);
	die_if(logout_open(&r->out, &r->cx, &r->watch.dev, &g, &o));
}

static void end(struct run *r)
{
	logout_close(r->out);
	dev_close(r->source);
	dev_close(r->watch.under);
	pthread_mutex_destroy(&r->watch.lock);
	free(r->want);
	free(r->image);
}

/* Content of COUNT blocks that should end up at WANT, by one of three ways. */
static struct payload *payload_of(struct run *r, uint32_t number,
				  uint32_t count, uint32_t blocknr)
{
	uint8_t *want = r->want + (size_t)blocknr * BLOCK;
	struct file *f = malloc(sizeof(*f));
	struct payload *p;
	void *data;
	uint32_t i;

	die_if(!f);
	*f = (struct file){.r = r, .number = number, .blocknr = blocknr};
	if (r->forecast && number % 16 < 11) {
		payload_init(&f->payload, &blank_ops);
		r->made++;
		return &f->payload;
	}
	payload_init(&f->payload, &file_ops);
	for (i = 0; i < count; i++)
		pattern(want + i * BLOCK, number, i);
	if (number % 4 || count > 500) {
		r->made++;
		return &f->payload;
	}
	free(f);
	if (number % 8) {
		p = payload_memory(NULL, count, BLOCK, &data);
		die_if(!p);
		memcpy(data, want, (size_t)count * BLOCK);
		return p;
	}
	for (i = 0; i < count; i++)
		pattern(want + i * BLOCK, 5, number % 300 + i);
	return payload_device(r->source, number % 300, BLOCK);
}

/* Makes a log of files; the same for the same SEED and place. */
static void make_log(struct run *r, uint32_t *seed, bool large,
		     struct logout_log *log)
{
	struct loglayout_run run = {.cno = 1, .vblocknr = 1};
	const struct loglayout_header h = {.seq = 7, .cno = 1};
	uint32_t i, index, counts[FILES_MAX];
	struct loglayout l;

	loglayout_init(&l, &g, 1u << 20);
	*log = (struct logout_log){ .blocknr = r->next };
	log->nruns = 1 + rnd(seed, large ? FILES_MAX : 3);
	log->runs = calloc(log->nruns, sizeof(*log->runs));
	die_if(!log->runs);
	for (i = 0; i < log->nruns; i++) {
		counts[i] = 1 + rnd(seed, rnd(seed, 8) ? 20 : large ? 600 : 9);
		run.ino = r->files + i + 11;
		run.count = counts[i];
		die_if(loglayout_add(&l, &r->cx, &run, &index));
	}
	log->npayload = l.npayload;
	log->nsumblk = loglayout_nsumblk(&l);
	die_if(loglayout_close(&l, &r->cx, &h, &log->summary));
	r->next += log->nsumblk;
	for (i = 0; i < log->nruns; i++) {
		log->runs[i].count = counts[i];
		log->runs[i].payload =
			payload_of(r, r->files++, counts[i], r->next);
		r->next += counts[i];
	}
	r->blocks += log->npayload;
	die_if(r->next > BLOCKS);
}

/* Submits all logs; the first failure. */
static int submit(struct run *r, bool large)
{
	uint32_t i, seed = 4711;
	int ret = 0, first = 0;

	for (i = 0; i < LOGS; i++) {
		struct logout_log log;

		r->starts[i] = r->next;
		make_log(r, &seed, large && i % 4 == 1, &log);
		ret = logout_submit(r->out, &r->cx, &log);
		if (!first)
			first = ret;
	}
	ret = logout_wait(r->out, &r->cx);
	return first ? first : ret;
}

/* Whether log I on the device has its sums; enters its summary in R->want. */
static bool sums_are_right(struct run *r, uint32_t i)
{
	uint32_t n = (i + 1 < LOGS ? r->starts[i + 1] : r->next) - r->starts[i];
	const uint8_t *p = r->image + (size_t)r->starts[i] * BLOCK;
	struct nilfs_segment_summary ss;
	struct segsum_crc sum, data;

	memcpy(&ss, p, sizeof(ss));
	if (segsum_check(&g, &ss, r->starts[i]) ||
	    le32_get(ss.ss_nblocks) != n)
		return false;
	memcpy(r->want + (size_t)r->starts[i] * BLOCK, p,
	       (size_t)segsum_nsumblk(&g, &ss) * BLOCK);
	segsum_crc_init(&sum, SEGSUM_SUMSUM, &g, &ss);
	segsum_crc_init(&data, SEGSUM_DATASUM, &g, &ss);
	segsum_crc_update(&sum, p, (size_t)n * BLOCK);
	segsum_crc_update(&data, p, (size_t)n * BLOCK);
	return !segsum_crc_check(&sum, &ss) && !segsum_crc_check(&data, &ss);
}

/* Blocks of logs longer than two, which a chunk of one block can still be. */
static uint64_t cut_blocks(const struct run *r)
{
	uint32_t i, n;
	uint64_t blocks = 0;

	for (i = 0; i < LOGS; i++) {
		n = (i + 1 < LOGS ? r->starts[i + 1] : r->next) - r->starts[i];
		blocks += n > 2 ? n : 0;
	}
	return blocks;
}

static void test_content(unsigned int threads, bool sequential,
			 uint32_t chunk_bytes, uint8_t **first)
{
	static struct run r;
	uint32_t i, wrong = 0;

	begin(&r, threads, sequential, chunk_bytes);
	is_int(submit(&r, true), 0, "logs are written");
	for (i = 0; i < LOGS; i++)
		wrong += !sums_are_right(&r, i);
	is_int(wrong, 0, "with both sums");
	ok(!memcmp(r.image, r.want, (size_t)BLOCKS * BLOCK),
	   "every block is in its place, and nothing else");
	is_int(r.twice, 0, "no block was filled twice");
	if (chunk_bytes == BLOCK)
		is_int(r.watch.allocated, cut_blocks(&r) * BLOCK,
		       "the space of logs that are cut was asked for");
	else if (!sequential)
		ok(r.watch.most <= 2 * (uint64_t)chunk_bytes,
		   "no write is longer than two chunks");
	else
		is_int(r.watch.dev.stats.writes, LOGS, "a write for each log");
	if (!*first) {
		*first = malloc((size_t)BLOCKS * BLOCK + sizeof(r.digest));
		die_if(!*first);
		memcpy(*first, r.image, (size_t)BLOCKS * BLOCK);
		memcpy(*first + (size_t)BLOCKS * BLOCK, &r.digest,
		       sizeof(r.digest));
	}
	ok(!memcmp(*first, r.image, (size_t)BLOCKS * BLOCK) &&
		   !memcmp(*first + (size_t)BLOCKS * BLOCK, &r.digest,
			   sizeof(r.digest)),
	   "bytes and digest are the same for any writer");
	end(&r);
	is_int(r.freed, r.made, "all files are let go");
}

/* The device has zeros before, and what is blank stays as it is. */
static void test_forecast(unsigned int threads, bool sequential)
{
	static struct run r;
	uint32_t i, wrong = 0;

	begin(&r, threads, sequential, 16 * BLOCK);
	r.forecast = true;
	is_int(submit(&r, true), 0, "logs of a forecast");
	for (i = 0; i < LOGS; i++)
		wrong += !sums_are_right(&r, i);
	is_int(wrong, 0, "have the sums of what is blank as zeros");
	ok(!memcmp(r.image, r.want, (size_t)BLOCKS * BLOCK),
	   "and write what has content");
	end(&r);
	is_int(r.freed, r.made, "all of it is let go");
}

/* Of the files that may fail, one in three, unless all are asked for. */
static void test_failures(unsigned int threads, bool sequential,
			  unsigned int part)
{
	static struct run r;
	uint32_t i, wrong = 0, leaks = 0;
	char text[32];
	int ret;

	/* Numbers that are 0 by 4 may be memory or a device. */
	for (i = 1; i < 60; i += 4) {
		if (!is_sampled(i / 4 + part, 3))
			continue;
		begin(&r, threads, sequential, 16 * BLOCK);
		r.fail_fill = i;
		ret = submit(&r, true);
		snprintf(text, sizeof(text), "file %u", i);
		wrong += ret != -ESTALE || strcmp(r.cx.failure, text);
		end(&r);
		leaks += r.freed != r.made;
	}
	is_int(wrong, 0, "the failure is that of the first file that fails");

	for (i = 0, wrong = 0; i < 8; i++) {
		begin(&r, threads, sequential, 16 * BLOCK);
		r.watch.fail_at = (FIRST + i * 1000ull) * BLOCK;
		wrong += submit(&r, true) != -EIO ||
			 strcmp(r.cx.failure, "medium");
		end(&r);
		leaks += r.freed != r.made;
	}
	is_int(wrong, 0, "a write that fails is reported");
	is_int(leaks, 0, "and all files are let go");
}

static void test_stop(unsigned int threads, bool sequential)
{
	static struct run r;

	begin(&r, threads, sequential, 16 * BLOCK);
	r.stop_fill = 30;
	is_int(submit(&r, true), -EINTR, "the wish to stop");
	ok(r.fills < 100, "ends the work");
	end(&r);
	is_int(r.freed, r.made, "and nothing is kept");
}

static void test_small(void)
{
	static struct run r;
	struct logout_log log;
	struct logout_digest digest[2];
	uint32_t seed = 1, i;

	begin(&r, 2, false, 0);
	is_int(submit(&r, false), 0, "small logs");
	is_int(r.watch.dev.stats.writes, LOGS, "take one write each");
	is_int(r.watch.allocated, 0, "and ask for no space before");
	make_log(&r, &seed, false, &log);
	log.npayload++;
	is_int(logout_submit(r.out, &r.cx, &log), -EINVAL,
	       "runs that do not make the payload are refused");
	end(&r);
	is_int(r.freed, r.made, "and let go");
	for (i = 0; i < 2; i++) {
		begin(&r, 2, false, 0);
		r.next += i;
		submit(&r, false);
		digest[i] = r.digest;
		end(&r);
	}
	ok(memcmp(&digest[0], &digest[1], sizeof(digest[0])), "elsewhere they have another digest");
	logout_close(NULL);
}

static void test_space(void)
{
	const struct logout_options o = {BLOCK, .allocate = 3 << 20};
	static struct run r;

	begin(&r, 2, false, 0);
	logout_close(r.out);
	die_if(logout_open(&r.out, &r.cx, &r.watch.dev, &g, &o));
	is_int(submit(&r, true), 0, "logs whose space is asked for at once");
	is_int(r.watch.asks, (r.next * BLOCK >> 20) / 3 + 1, "a few times");
	ok(!r.watch.asks_again && r.watch.allocated_to >= r.next * BLOCK,
	   "for all logs, never twice for the same");
	end(&r);
}

int main(void)
{
	static const unsigned int threads[] = {1, 2, 16};
	uint8_t *first = NULL;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		test_content(threads[i], false, 16 * BLOCK, &first);
		test_content(threads[i], false, 1 << 20, &first);
		test_content(threads[i], true, 0, &first);
	}
	test_content(2, false, BLOCK, &first);
	free(first);
	test_small();
	test_space();
	for (i = 0; i < 3; i++) {
		test_forecast(threads[i], false);
		test_forecast(threads[i], true);
		test_failures(threads[i], false, i);
		test_failures(threads[i], true, i + 1);
		test_stop(threads[i], false);
		test_stop(threads[i], true);
	}
	return tap_done();
}
