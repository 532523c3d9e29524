// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Placements.
 *
 * dac: Chiang, Lee and Chang, "Using data clustering to improve cleaning
 * performance for flash memory", Software: Practice and Experience 29(3), 1999.
 * A block is promoted by a class when the user rewrites it, and demoted by one
 * when the cleaner moves it.
 *
 * sepbit: Wang et al., "Separating data via block invalidation time inference
 * for write amplification reduction in log-structured storage", FAST 2022.  A
 * write of the user is short-lived (class 0) if it replaces a block that lived
 * for less than l writes, otherwise class 1.  A block moved from class 0 goes
 * to class 2, any other to class 3, 4 or 5 by its age: below 4l, below 16l, and
 * older.  l is the mean lifetime of the last 16 cleaned segments of class 0,
 * from when they were opened.  Their queue of recent writes, by which short
 * lifetimes are found, is never longer than l or than the live blocks, and
 * changes by one with each write; a write that left it counts as long ago.
 * Here the queue is only a length, as times are kept of all blocks.
 *
 * age: the classes of "gc.nilfs2 --order age" for each single block.
 *
 * future: classes of equal ratio by the time until the block is rewritten.  A
 * block that is moved is classified again by the remaining time.
 */
#include "gc/sim/volume/simplace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gc/sim/volume/simchain.h"
#include "gc/sim/volume/simclass.h"
#include "gc/sim/volume/simresidual.h"
#include "gc/sim/volume/simvol.h"

static unsigned int choose_survivors(struct simvol *v, uint32_t id,
				     enum simplace_cause why)
{
	(void)v, (void)id;
	return why != SIMPLACE_USER;
}

static unsigned int choose_temperature(struct simvol *v, uint32_t id,
				       enum simplace_cause why)
{
	(void)why;
	return id >= v->config.hot;
}

/* From 1, the youngest; each class is half as old as the next. */
static unsigned int choose_age(struct simvol *v, uint32_t id,
			       enum simplace_cause why)
{
	struct simplace *p = &v->place;
	uint64_t now = v->totals.user, age = now - p->written[id];
	uint64_t begin = now / 2;
	unsigned int class = p->classes;

	if (why == SIMPLACE_USER) {
		p->written[id] = now + 1;
		return 0;
	}
	if (why == SIMPLACE_HELD)
		return class;
	for (; class > 1 && age < begin; begin /= 2)
		class--;
	return class;
}

static unsigned int choose_dac(struct simvol *v, uint32_t id,
			       enum simplace_cause why)
{
	uint8_t *level = &v->place.levels[id];

	if (why == SIMPLACE_HELD)
		return 0;
	if (*level == SIMPLACE_LEVEL_NONE)
		*level = 0;
	else if (why == SIMPLACE_MOVED)
		*level -= *level > 0;
	else
		*level += *level + 1u < v->place.classes;
	return *level;
}

/* Number of segments of class 0 per mean lifetime. */
#define LIVES 16u

static void clean_sepbit(struct simvol *v, uint32_t segnum)
{
	struct simplace *p = &v->place;

	p->was_short = !v->origin[segnum].log;
	if (!p->was_short)
		return;
	p->lives += (double)(v->totals.user - v->origin[segnum].opened);
	if (++p->ended < LIVES)
		return;
	p->span = p->lives / LIVES;
	p->lives = 0;
	p->ended = 0;
}

static unsigned int choose_sepbit(struct simvol *v, uint32_t id,
				  enum simplace_cause why)
{
	struct simplace *p = &v->place;
	uint64_t now = v->totals.user + 1, last = p->written[id];
	double age = (double)(v->totals.user - last);
	bool is_short;

	if (why == SIMPLACE_HELD)
		return 5;
	if (why == SIMPLACE_MOVED && p->was_short)
		return 2;
	if (why == SIMPLACE_MOVED)
		return 3u + (age >= 4 * p->span) + (age >= 16 * p->span);
	is_short = last && now - last < p->queue &&
		   (double)(now - last) < p->span;
	p->written[id] = now;
	/* One more write is in the queue, and the excess leaves it. */
	p->queue++;
	if ((double)p->queue <= fmin((double)(v->nwritten - v->ngarbage),
				     p->span))
		return !is_short;
	p->queue--;
	if ((double)p->queue > p->span)
		p->queue--;
	return !is_short;
}

/*
 * Class 0 is for blocks rewritten within a segment of writes; each further
 * class has twice the time.
 */
static unsigned int choose_future(struct simvol *v, uint32_t id,
				  enum simplace_cause why)
{
	struct simplace *p = &v->place;
	unsigned int last = p->classes - 1, class = 0;
	uint64_t left, end = v->config.blocks;

	if (why == SIMPLACE_HELD)
		return last;
	if (why == SIMPLACE_USER)
		p->next[id] = p->ahead[v->totals.user];
	if (p->next[id] == SIMPLACE_NEVER)
		return last;
	left = p->next[id] - v->totals.user;
	for (; class < last && left >= end; end *= 2)
		class++;
	return class;
}

const struct simplace_kind simplace_list[] = {
	{ "one", "one log for all", .classes = 1 },
	{ "survivors", "moved blocks have their own log", .classes = 2,
	  .choose = choose_survivors },
	{ "hot-cold", "hot blocks have their own log, by an oracle", .classes = 2,
	  .choose = choose_temperature },
	{ "age", "moved blocks have logs of classes by age", .classes = 6,
	  .least = 1, .users_log = true, .choose = choose_age, .times = true },
	{ "dac", "up a class when written, down when moved", .classes = 6,
	  .least = 2, .choose = choose_dac, .levels = true },
	{ "sepbit", "by inferred times of death", .classes = 6,
	  .choose = choose_sepbit, .clean = clean_sepbit, .times = true },
	{ "midas", "by moves, queues of sizes that a model chooses",
	  .classes = 8, .least = 3, .most = SIMCHAIN_GROUPS, .ends_few = 3,
	  .choose = simmidas_choose, .clean = simmidas_clean, .times = true,
	  .open = simmidas_open, .close = simmidas_close,
	  .victim = simmidas_victim, .guards = simmidas_guards },
	{ "sfs", "by hotness, divided as that of segments", .classes = 12,
	  .least = 2, .choose = simclass_choose, .classify = simclass_sfs,
	  .clean = simclass_clean, .forget = simclass_forget, .times = true,
	  .open = simclass_open, .close = simclass_close },
	{ "multilog", "down when moved, up by the time between writes",
	  .classes = 6, .least = 2, .choose = simclass_choose,
	  .classify = simclass_multilog, .clean = simclass_clean,
	  .forget = simclass_forget, .times = true, .open = simclass_open,
	  .close = simclass_close },
	{ "fadac", "by writes less moves, over a fading mean", .classes = 6,
	  .least = 2, .choose = simclass_choose, .classify = simclass_fadac,
	  .ask = simclass_ask_fadac, .times = true, .open = simclass_open,
	  .close = simclass_close },
	{ "warcip", "by the nearest mean interval between writes",
	  .classes = 6, .least = 3, .choose = simclass_choose,
	  .classify = simclass_warcip, .times = true, .open = simclass_open,
	  .close = simclass_close },
	{ "sfr", "by fading counts of ranges of 512 blocks", .classes = 12,
	  .least = 2, .choose = simrange_choose, .ask = simrange_ask_sfr,
	  .range_blocks = 512, .open = simrange_open, .close = simrange_close },
	{ "mq", "by queues of ranges of 256 blocks", .classes = 12,
	  .least = 2, .choose = simrange_choose, .ask = simrange_ask_mq,
	  .range_blocks = 256, .open = simrange_open, .close = simrange_close },
	{ "eti", "by counts of extents", .classes = 3,
	  .choose = simrange_choose_extent, .ask = simrange_ask_eti,
	  .open = simrange_open, .close = simrange_close },
	{ "residual", "by expected residual lives", .classes = 6,
	  .least = 2, .ends_few = 2, .choose = simresidual_choose,
	  .forget = simresidual_forget, .words = true,
	  .open = simresidual_open, .close = simresidual_close },
	{ "future", "by known times of death", .classes = 12, .least = 2,
	  .choose = choose_future, .ahead = true },
};

#define KINDS (sizeof(simplace_list) / sizeof(simplace_list[0]))

const char *simplace_word(size_t i)
{
	return i < KINDS ? simplace_list[i].name : NULL;
}

const struct simplace_kind *simplace_find(const char *name)
{
	size_t i;

	for (i = 0; i < KINDS; i++)
		if (!strcmp(simplace_list[i].name, name))
			return &simplace_list[i];
	return NULL;
}

/*
 * The future of a run: its operations are read once in advance.  Four bytes are
 * stored for each written block.
 */

int simplace_ahead_open(struct simahead *a, struct context *cx,
			uint64_t blocks)
{
	size_t bytes = blocks * sizeof(*a->latest);

	*a = (struct simahead){ .blocks = blocks };
	a->latest = malloc(bytes);
	a->first = malloc(bytes);
	if (!a->latest || !a->first)
		return fail(cx, -ENOMEM, "future of all blocks");
	memset(a->latest, 0xff, bytes);
	memset(a->first, 0xff, bytes);
	return 0;
}

void simplace_ahead_close(struct simahead *a)
{
	free(a->next);
	free(a->latest);
	free(a->first);
	*a = (struct simahead){ 0 };
}

int simplace_ahead_add(struct simahead *a, struct context *cx,
		       const struct simop *op)
{
	uint64_t i;

	if (op->kind == SIMOP_SYNC)
		return 0;
	if (op->block > a->blocks || op->count > a->blocks - op->block)
		return fail(cx, -EINVAL, "the user writes after the end of the volume");
	if (op->count >= SIMPLACE_NEVER - a->n)
		return fail(cx, -EINVAL, "--placement future: too many writes");
	for (i = op->block; i < op->block + op->count; i++) {
		if (op->kind == SIMOP_WRITE && a->n == a->room) {
			size_t room = a->room ? 2 * a->room : 0x10000;
			uint32_t *grown = realloc(a->next,
						  room * sizeof(*grown));

			if (!grown)
				return fail(cx, -ENOMEM,
					    "future of all writes");
			a->next = grown;
			a->room = room;
		}
		/* The previous write of the block ends. */
		if (a->latest[i] != SIMPLACE_NEVER)
			a->next[a->latest[i]] = (uint32_t)a->n;
		else if (a->first[i] == SIMPLACE_NEVER)
			a->first[i] = (uint32_t)a->n;
		a->latest[i] = SIMPLACE_NEVER;
		if (op->kind == SIMOP_WRITE) {
			a->latest[i] = (uint32_t)a->n;
			a->next[a->n++] = SIMPLACE_NEVER;
		}
	}
	return 0;
}
