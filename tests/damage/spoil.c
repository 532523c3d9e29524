// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Damage, the same for the same case and seed.
 *
 * Zeros are what a lost write to fresh storage leaves, random bytes what a
 * broken medium does, another block a misdirected write, half of it a torn
 * one, an older version a write that was acknowledged and never done.  With
 * the checksums left as they are storage did it, with matching ones memory did
 * before they were computed, or a defect of a driver.
 */
#include "spoil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump/common/seal.h"
#include "many.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/random.h"
#include "tests/testdev/memory.h"

const char *spoil_name(enum spoil spoil)
{
	static const char *const names[SPOIL_KINDS] = {
		[SPOIL_ZEROS] = "zeros",   [SPOIL_RANDOM] = "random",
		[SPOIL_OTHER] = "another", [SPOIL_HALF] = "half",
		[SPOIL_OLDER] = "older",   [SPOIL_BIT] = "bit",
		[SPOIL_MANY] = "many",
	};

	return names[spoil];
}

void case_id(const struct damage_case *c, char id[CASE_ID_MAX])
{
	static const char *const parts[TARGET_KINDS] = {
		[TARGET_SUMMARY] = "s",
		[TARGET_PAYLOAD] = "d",
		[TARGET_SUPER_ROOT] = "r",
	};
	const struct target *t = c->target;

	if (c->spoil == SPOIL_MANY) {
		snprintf(id, CASE_ID_MAX, "%llu-many",
			 (unsigned long long)c->seed);
		return;
	}
	snprintf(id, CASE_ID_MAX, "%llu%s-%s-%s",
		 (unsigned long long)(parts[t->kind] ? t->pseg : t->blocknr),
		 parts[t->kind] ? parts[t->kind] : "", spoil_name(c->spoil),
		 c->matched ? "matched" : "left");
}

static void fill_random(char *bytes, uint32_t len, uint64_t state)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		bytes[i] = (char)next_random(&state);
}

static const struct target *pick_block(const struct targets *targets,
				       uint64_t state)
{
	const struct target *t;

	do {
		t = &targets->all[next_random(&state) % targets->count];
	} while (t->kind >= TARGET_BLOCKS);
	return t;
}

static void fill(const struct damage_case *c, const struct targets *targets,
		 uint64_t state, char *bytes, const char *sound)
{
	const struct target *t = c->target;
	uint32_t half = c->spoil == SPOIL_HALF ? t->len / 2 : 0;
	uint64_t from;

	bytes += t->offset;
	switch (c->spoil) {
	case SPOIL_ZEROS:
		memset(bytes, 0, t->len);
		break;
	case SPOIL_RANDOM:
		fill_random(bytes, t->len, state);
		break;
	case SPOIL_OTHER:
	case SPOIL_HALF:
		from = pick_block(targets, state)->offset + half;
		memcpy(bytes + half, sound + from, t->len - half);
		break;
	case SPOIL_OLDER:
		from = t->older << targets->geo.block_bits;
		memcpy(bytes, sound + from, t->len);
		break;
	default:
		from = next_random(&state) % (8ull * t->len);
		bytes[from / 8] ^= (char)(1 << from % 8);
	}
}

static void ignore_sum(void *arg, const char *structure, const char *field,
		       uint32_t old, uint32_t new)
{
	(void)arg, (void)structure, (void)field, (void)old, (void)new;
}

static bool seal(const struct target *t, const struct targets *targets,
		 char *bytes, size_t size)
{
	static const struct seal_watcher watcher = {.sum = ignore_sum};
	struct context cx;
	struct dev *dev;
	int err;

	context_init(&cx);
	if (memory_open(&dev, &cx, bytes, size))
		arena_die(cx.failure);
	err = seal_log(dev, &cx, &targets->geo, t->pseg, t->blocknr - t->pseg,
		       &watcher);
	dev_close(dev);
	return !err;
}

static bool is_possible(const struct damage_case *c)
{
	const struct target *t = c->target;

	if (t->kind >= TARGET_BLOCKS && c->spoil != SPOIL_BIT)
		return false;
	if (c->spoil == SPOIL_OLDER && !t->older)
		return false;
	return !(t->is_content && c->matched);
}

bool spoil_do(const struct damage_case *c, const struct targets *targets,
	      uint64_t seed, char *bytes, const char *sound, size_t size)
{
	const struct target *t = c->target;
	uint64_t state = seed << 48 ^ (uint64_t)c->spoil << 40 ^ t->offset;
	char text[MANY_TEXT_MAX];
	bool done;

	if (c->spoil == SPOIL_MANY) {
		many_do(c->seed, targets, bytes, sound, size, text);
		return true;
	}
	if (!is_possible(c))
		return false;
	fill(c, targets, state, bytes, sound);
	done = memcmp(bytes + t->offset, sound + t->offset, t->len) &&
	       (!c->matched || seal(t, targets, bytes, size));
	if (!done)
		memcpy(bytes + t->offset, sound + t->offset, t->len);
	return done;
}
