// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blocks IMAGE [EVERY [FIRST]]: repairs of a volume with a block that storage
 * has spoilt.
 *
 * Each block of metadata is zeroed, filled with noise, gets the content of
 * another one, as a misdirected write leaves it, or only half of that, as a
 * torn one does; with the checksum of its log as it was and, as a fault of
 * memory leaves it, right again.  A repair must hold what mending.h says.
 * With EVERY, only every so many changes are tried, beginning with number
 * FIRST, which the last line printed tells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "damage.h"
#include "dev/memory.h"
#include "disk/segsum.h"
#include "dump/logfind.h"
#include "dump/seal.h"
#include "mending.h"
#include "vol/volume.h"

int fsck_main(int argc, char **argv);

enum change { ZEROED, NOISE, OTHER, TORN, CHANGES };

static const char *const change_names[CHANGES] = {
	"zeroed", "noise", "another", "half of another",
};

struct fuzz {
	struct arena arena;
	char *sound;		/* the image as it was */
	struct context cx;
	struct dev *dev;	/* the image of the arena */
	struct dev *sound_dev;
	struct volume *vol;	/* the sound image */
	struct damage damage;
	unsigned long number, every, first, bad;
	struct mending mending;
};

static void die(struct fuzz *f, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, f->cx.failure);
	exit(99);
}

/* The same numbers on every system (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void fill(struct fuzz *f, const struct damage_range *r,
		 enum change change)
{
	const struct damage_range *other;
	char *bytes = f->arena.bytes + r->offset;
	uint64_t state = f->number;
	uint32_t i;

	other = &f->damage.ranges[next_random(&state) % f->damage.count];
	if (change == ZEROED) {
		memset(bytes, 0, r->len);
	} else if (change == NOISE) {
		for (i = 0; i < r->len; i++)
			bytes[i] = (char)next_random(&state);
	} else {
		i = change == TORN ? r->len / 2 : 0;
		if (other->len >= r->len)
			memcpy(bytes + i, f->sound + other->offset + i,
			       r->len - i);
	}
}

static void ignore_sum(void *arg, const char *structure, const char *field,
		       uint32_t old, uint32_t new)
{
	(void)arg, (void)structure, (void)field, (void)old, (void)new;
}

/* A summary that is gone says nothing of what its checksum covers. */
static bool seal(struct fuzz *f, uint64_t blocknr)
{
	static const struct seal_watcher nobody = { .sum = ignore_sum };
	const struct nilfs_geometry *geo = &f->vol->geo;
	struct logfind find;

	if (blocknr >= geometry_segment_end(geo, geo->nsegments - 1))
		return false;
	if (logfind_block(&find, &f->cx, f->vol, blocknr))
		die(f, "the log of a block");
	return find.part == LOGFIND_PAYLOAD &&
	       !seal_log(f->dev, &f->cx, &f->vol->geo, find.log.pseg,
			 blocknr - find.log.pseg, &nobody);
}

static void try_change(struct fuzz *f, uint64_t blocknr, enum change change,
		       bool sealed)
{
	const char *wrong;

	printf("blocks EVERY %lu: block %llu, %s, checksums %s\n",
	       f->number - 1, (unsigned long long)blocknr,
	       change_names[change], sealed ? "right" : "left");
	wrong = mending_run(&f->mending);
	if (wrong) {
		printf("FAILED: %s\n", wrong);
		if (!f->bad++)
			arena_keep(&f->arena, "blocks.image");
	}
}

/* Whether it is this change's turn. */
static bool wanted(struct fuzz *f)
{
	unsigned long number = f->number++;

	return number >= f->first && (number - f->first) % f->every == 0;
}

/* All that the change and its checksums may have touched. */
static void undo(struct fuzz *f, uint64_t offset)
{
	uint64_t segment = (uint64_t)f->vol->geo.blocks_per_segment
			   << f->vol->geo.block_bits;

	offset = offset / segment * segment;
	if (segment > f->arena.size - offset)
		segment = f->arena.size - offset;
	memcpy(f->arena.bytes + offset, f->sound + offset, segment);
}

static void try_block(struct fuzz *f, const struct damage_range *r)
{
	uint64_t blocknr = r->offset >> f->vol->geo.block_bits;
	enum change change;

	for (change = 0; change < CHANGES; change++) {
		if (!wanted(f))
			continue;
		fill(f, r, change);
		if (memcmp(f->arena.bytes + r->offset, f->sound + r->offset,
			   r->len)) {
			try_change(f, blocknr, change, false);
			if (seal(f, blocknr))
				try_change(f, blocknr, change, true);
		}
		undo(f, r->offset);
	}
}

static void open_all(struct fuzz *f, const char *path)
{
	arena_load(&f->arena, path);
	f->sound = malloc(f->arena.size);
	if (!f->sound)
		arena_die("memory");
	memcpy(f->sound, f->arena.bytes, f->arena.size);
	context_init(&f->cx);
	mending_open(&f->mending, &f->arena, fsck_main);
	f->mending.lossy = true;
	if (memory_open(&f->dev, &f->cx, f->arena.bytes, f->arena.size) ||
	    memory_open_const(&f->sound_dev, &f->cx, f->sound,
			      f->arena.size) ||
	    volume_open(&f->vol, &f->cx, f->sound_dev, NULL))
		die(f, path);
	if (damage_open(&f->damage, f->sound, f->arena.size))
		exit(99);
}

static void close_all(struct fuzz *f)
{
	damage_close(&f->damage);
	volume_close(f->vol);
	dev_close(f->sound_dev);
	dev_close(f->dev);
	mending_close(&f->mending);
	fclose(f->arena.errors);
	free(f->sound);
}

#undef main
int main(int argc, char **argv)
{
	struct fuzz f = { .every = 1 };
	size_t i;

	if (argc < 2) {
		fprintf(stderr, "usage: blocks IMAGE [EVERY [FIRST]]\n");
		return 2;
	}
	if (argc > 2)
		f.every = strtoul(argv[2], NULL, 0);
	if (argc > 3)
		f.first = strtoul(argv[3], NULL, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	open_all(&f, argv[1]);
	for (i = 0; i < f.damage.count; i++)
		try_block(&f, &f.damage.ranges[i]);
	close_all(&f);
	printf("%lu changes\n", f.number);
	return f.bad != 0;
}
