// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Several damages at once, the same for the same seed.
 *
 * Single lost blocks are what checkers are tested with; what users have is an
 * overwritten beginning of a partition, a device that loses a range, writes that
 * changed places.  Places are chosen among the blocks of metadata and the logs,
 * so that most damages destroy something.
 */
#include "many.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/le.h"
#include "disk/dirent.h"
#include "disk/ondisk.h"
#include "dump/common/seal.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/random.h"
#include "tests/testdev/memory.h"

/* An image while it is being damaged. */
struct victim {
	const struct targets *targets;
	char *bytes;
	const char *sound;
	size_t size;
	uint64_t nblocks;
	uint64_t state; /* of random numbers */
	char *text;
	size_t len;
};

typedef void damage_fn(struct victim *v);

static uint64_t below(struct victim *v, uint64_t limit)
{
	return next_random(&v->state) % limit;
}

/* 1 to 2^BITS - 1, each power of two as often as any other. */
static uint64_t length(struct victim *v, unsigned int bits)
{
	uint64_t top = UINT64_C(1) << below(v, bits);

	return top + below(v, top);
}

static __attribute__((format(printf, 2, 3))) void
describe(struct victim *v, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(v->text + v->len, MANY_TEXT_MAX - v->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		v->len += (size_t)n;
	if (v->len >= MANY_TEXT_MAX)
		v->len = MANY_TEXT_MAX - 1;
}

static char *block(const struct victim *v, uint64_t blocknr)
{
	return v->bytes + (blocknr << v->targets->geo.block_bits);
}

static const struct target *any_target(struct victim *v)
{
	return &v->targets->all[below(v, v->targets->count)];
}

/* One of the live blocks of metadata, of KIND if that is one. */
static const struct target *any_block(struct victim *v, enum target_kind kind)
{
	const struct target *t = NULL;
	unsigned int tries;

	for (tries = 0; tries < 100000; tries++) {
		t = any_target(v);
		if (kind == TARGET_BLOCKS ? t->kind < TARGET_BLOCKS :
					    t->kind == kind)
			break;
	}
	return t;
}

static void fill_random(struct victim *v, char *at, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		at[i] = (char)next_random(&v->state);
}

/* A range about a target, or, one time in eight, the start of the device. */
static void do_range(struct victim *v)
{
	static const char *const how[] = {"zeros", "random", "foreign"};
	uint64_t n = length(v, 12), first = any_target(v)->blocknr, kind, from;
	uint32_t bits = v->targets->geo.block_bits;

	if (!below(v, 8))
		first = 0;
	else
		first -= below(v, first < n ? first : n);
	if (n > v->nblocks - first)
		n = v->nblocks - first;
	kind = below(v, 3);
	describe(v, " %s:%" PRIu64 "+%" PRIu64, how[kind], first, n);
	if (kind == 0)
		memset(block(v, first), 0, n << bits);
	else if (kind == 1)
		fill_random(v, block(v, first), n << bits);
	else {
		from = below(v, v->nblocks - n + 1);
		memmove(block(v, first), v->sound + (from << bits), n << bits);
	}
}

static void do_swap(struct victim *v)
{
	uint32_t size = v->targets->geo.block_size;
	const struct target *a = any_block(v, TARGET_BLOCKS);
	const struct target *b = any_block(v, TARGET_BLOCKS);
	char *other = malloc(size);

	if (!other)
		arena_die("memory");
	describe(v, " swap:%" PRIu64 "/%" PRIu64, a->blocknr, b->blocknr);
	memcpy(other, block(v, a->blocknr), size);
	memcpy(block(v, a->blocknr), block(v, b->blocknr), size);
	memcpy(block(v, b->blocknr), other, size);
	free(other);
}

/* Up to 64 blocks get what they had before: their writes were lost. */
static void do_stale(struct victim *v)
{
	const struct targets *t = v->targets;
	uint64_t n = length(v, 6), i, at = below(v, t->count), done = 0;

	for (i = 0; i < t->count && done < n; i++, at = (at + 1) % t->count) {
		if (!t->all[at].older)
			continue;
		memcpy(block(v, t->all[at].blocknr),
		       v->sound + (t->all[at].older << t->geo.block_bits),
		       t->geo.block_size);
		done++;
	}
	describe(v, " stale:%" PRIu64 "+%" PRIu64,
		 t->all[(at + t->count - 1) % t->count].blocknr, done);
}

/* The second half of a block is zero or another's. */
static void do_torn(struct victim *v)
{
	uint32_t half = v->targets->geo.block_size / 2;
	const struct target *t = any_block(v, TARGET_BLOCKS);
	const struct target *other = any_block(v, TARGET_BLOCKS);

	describe(v, " torn:%" PRIu64, t->blocknr);
	memset(block(v, t->blocknr) + half, 0, half);
	if (below(v, 2))
		memcpy(block(v, t->blocknr) + half,
		       block(v, other->blocknr) + half, half);
}

/* All live blocks of a metadata file, in most cases without its nodes. */
static void do_file(struct victim *v)
{
	static const enum target_kind kinds[] = {TARGET_DAT, TARGET_CPFILE,
						 TARGET_SUFILE, TARGET_IFILE};
	const struct targets *t = v->targets;
	enum target_kind kind = kinds[below(v, 4)];
	bool with_nodes = !below(v, 4), zeros = below(v, 2);
	size_t i;

	describe(v, " all:%s%s", target_kind_name(kind),
		 with_nodes ? "+nodes" : "");
	for (i = 0; i < t->count; i++) {
		if (t->all[i].kind != kind &&
		    !(with_nodes && t->all[i].kind == kind + 1))
			continue;
		if (zeros)
			memset(block(v, t->all[i].blocknr), 0,
			       t->geo.block_size);
		else
			fill_random(v, block(v, t->all[i].blocknr),
				    t->geo.block_size);
	}
}

static void ignore_sum(void *arg, const char *structure, const char *field,
		       uint32_t old, uint32_t new)
{
	(void)arg, (void)structure, (void)field, (void)old, (void)new;
}

/* Whether the log at PSEG is as it was. */
static bool is_sound_log(struct victim *v, uint64_t pseg)
{
	const uint64_t at = pseg << v->targets->geo.block_bits;
	const struct nilfs_segment_summary *ss = (const void *)(v->sound + at);
	const uint64_t n = le32_get(ss->ss_nblocks);

	return !memcmp(v->bytes + at, v->sound + at,
		       n << v->targets->geo.block_bits);
}

/*
 * An entry of a directory leads to another inode, with matching checksums: the
 * link counts of both show it.  The checksum of a log with other damages stays.
 */
static void do_entry(struct victim *v)
{
	static const struct seal_watcher watcher = {.sum = ignore_sum};
	const struct targets *t = v->targets;
	const struct target *dir = any_block(v, TARGET_DIRECTORY);
	struct nilfs_dir_entry *de;
	struct dirent_entry e;
	struct dirent_iter it;
	struct context cx;
	struct dev *dev;
	bool is_sealed;

	if (dir->kind != TARGET_DIRECTORY)
		return;
	dirent_iter_init(&it, block(v, dir->blocknr), t->geo.block_size);
	do {
		if (dirent_iter_next(&it, &e) <= 0)
			return;
	} while (!e.ino || e.name[0] == '.' || below(v, 3));
	de = (void *)(block(v, dir->blocknr) + e.offset);
	describe(v, " entry:%" PRIu64 "@%" PRIu32, dir->blocknr, e.offset);
	is_sealed = is_sound_log(v, dir->pseg);
	de->inode = le64_make(NILFS_USER_INO + below(v, 64));
	if (!is_sealed)
		return;
	context_init(&cx);
	if (memory_open(&dev, &cx, v->bytes, v->size))
		arena_die(cx.failure);
	seal_log(dev, &cx, &t->geo, dir->pseg, dir->blocknr - dir->pseg,
		 &watcher);
	dev_close(dev);
}

/* Random bytes in one superblock or in both. */
static void do_super(struct victim *v)
{
	uint64_t which = 1 + below(v, 3), n = length(v, 5), i, at;
	uint64_t second = ((v->size >> 12) - 1) << 12;

	describe(v, " super:%" PRIu64 "+%" PRIu64, which, n);
	for (i = 0; i < n; i++) {
		at = below(v, sizeof(struct nilfs_super_block));
		if (which & 1)
			v->bytes[NILFS_SB_OFFSET_BYTES + at] ^=
				(char)next_random(&v->state);
		if (which & 2)
			v->bytes[second + at] ^= (char)next_random(&v->state);
	}
}

void many_do(uint64_t seed, const struct targets *targets, char *bytes,
	     const char *sound, size_t size, char text[MANY_TEXT_MAX])
{
	static damage_fn *const damages[] = {do_range, do_range, do_range,
					     do_swap,  do_stale, do_torn,
					     do_file,  do_entry, do_super};
	struct victim v = {.targets = targets,
			   .bytes = bytes,
			   .sound = sound,
			   .size = size,
			   .nblocks = size >> targets->geo.block_bits,
			   .state = seed,
			   .text = text};
	uint64_t n = 2 + below(&v, 4);

	*text = '\0';
	if (!below(&v, 8))
		n = 2 + below(&v, 39);
	while (n--)
		damages[below(&v, sizeof(damages) / sizeof(damages[0]))](&v);
}
