// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules of f2fs in Linux 3.11, as far as they matter to what is moved:
 *
 * - Holes are written where fewer than "overprovision" segments are free or
 *   will be, by all logs but that of nodes.  A hole is what was dead at the
 *   last checkpoint already.
 * - Segments without valid blocks are free after the next checkpoint.
 * - The cleaner runs where no more than "reserved" segments are free, beside
 *   what dirty nodes will take.  It makes a checkpoint, moves victims until
 *   there are enough, and makes another.
 * - Victims and segments with holes are both searched from where the last
 *   search of either has ended, and no further than the window; or, to see
 *   what that does, each from where its own has.
 *
 * One thing is added: a run makes a checkpoint when fewer than eight segments
 * are free.  Without it a window of 20 runs out of space.
 */
#include "slack.h"

#include <stdlib.h>
#include <string.h>

#define FEW 8u

bool slack_open(struct slack *s)
{
	uint32_t places = s->nsegments * SLACK_BLOCKS, i;

	s->segments = calloc(s->nsegments, sizeof(*s->segments));
	s->at = malloc(places * sizeof(*s->at));
	s->owner = malloc(places * sizeof(*s->owner));
	s->valid = calloc(places, 1);
	s->valid_then = calloc(places, 1);
	s->dirty = calloc(s->nnodes, 1);
	if (!s->segments || !s->at || !s->owner || !s->valid ||
	    !s->valid_then || !s->dirty)
		return false;
	memset(s->at, 0xff, places * sizeof(*s->at));
	s->nfree = s->nsegments;
	for (i = 0; i < SLACK_LOGS; i++)
		s->current[i] = SLACK_NONE;
	return true;
}

void slack_close(struct slack *s)
{
	free(s->segments);
	free(s->at);
	free(s->owner);
	free(s->valid);
	free(s->valid_then);
	free(s->dirty);
}

/* Data goes to the right of the last segment, nodes to the left. */
static uint32_t find_free(const struct slack *s, enum slack_log log)
{
	uint32_t from = s->current[log], n = s->nsegments, step, i;

	if (from == SLACK_NONE)
		from = log == SLACK_NODE ? n - 1 : 0;
	for (step = 0; step < n; step++) {
		i = log == SLACK_NODE ? (from + n - step) % n :
					(from + step) % n;
		if (s->segments[i].state == SLACK_FREE)
			return i;
	}
	return SLACK_NONE;
}

/* What becomes of a segment that no log ends in. */
static void settle(struct slack *s, uint32_t i)
{
	struct slack_segment *g = &s->segments[i];

	if (g->state == SLACK_FREE || g->state == SLACK_PREFREE)
		return;
	g->state = g->valid ? SLACK_USED : SLACK_PREFREE;
	s->nprefree += !g->valid;
}

static uint32_t cost(const struct slack *s, uint32_t i, enum slack_log log)
{
	const struct slack_segment *g = &s->segments[i];

	if (g->state != SLACK_USED || g->valid == SLACK_BLOCKS ||
	    (log < SLACK_LOGS && g->log != log))
		return SLACK_NONE;
	return log < SLACK_LOGS ? g->taken : g->valid;
}

uint32_t slack_victim(struct slack *s, enum slack_log log)
{
	uint32_t best = SLACK_NONE, least = SLACK_BLOCKS, looked = 0, c;
	uint32_t *last = &s->last_victim[s->apart && log < SLACK_LOGS];
	uint32_t i = *last;

	for (;; i++) {
		if (i >= s->nsegments) {
			if (!*last)
				return best;
			*last = i = 0;
		}
		c = cost(s, i, log);
		if (c >= SLACK_BLOCKS)
			continue;
		if (c < least) {
			best = i;
			least = c;
		}
		if (looked++ >= s->window) {
			*last = i;
			return best;
		}
	}
}

static bool is_short(const struct slack *s)
{
	return s->nfree + s->nprefree < s->overprovision;
}

static void next_segment(struct slack *s, enum slack_log log)
{
	uint32_t old = s->current[log], i = SLACK_NONE;

	if (old != SLACK_NONE)
		settle(s, old);
	if (log != SLACK_NODE && is_short(s))
		i = slack_victim(s, log);
	s->reuses[log] = i != SLACK_NONE;
	if (i == SLACK_NONE) {
		i = find_free(s, log);
		if (i == SLACK_NONE) {
			s->failed = true;
			return;
		}
		s->nfree--;
	}
	s->segments[i].state = SLACK_CURRENT;
	s->segments[i].log = log;
	s->current[log] = i;
	s->offset[log] = 0;
}

/* The next place of LOG, SLACK_NONE where there is none in its segment. */
static uint32_t next_place(struct slack *s, enum slack_log log)
{
	uint32_t place;

	if (s->current[log] == SLACK_NONE)
		return SLACK_NONE;
	for (; s->offset[log] < SLACK_BLOCKS; s->offset[log]++) {
		place = s->current[log] * SLACK_BLOCKS + s->offset[log];
		if (!s->valid[place] && !s->valid_then[place])
			return place;
	}
	return SLACK_NONE;
}

static void drop(struct slack *s, uint32_t place)
{
	struct slack_segment *g = &s->segments[place / SLACK_BLOCKS];

	s->valid[place] = 0;
	g->valid--;
	g->taken -= !s->valid_then[place];
	if (!g->valid && g->state == SLACK_USED)
		settle(s, place / SLACK_BLOCKS);
}

static void touch(struct slack *s, uint32_t id)
{
	uint32_t node = id / s->per_node;

	if (id >= s->ndata)
		return;
	s->ndirty += !s->dirty[node];
	s->dirty[node] = 1;
}

void slack_write(struct slack *s, enum slack_log log, uint32_t id)
{
	uint32_t place = next_place(s, log);

	while (place == SLACK_NONE && !s->failed) {
		next_segment(s, log);
		place = next_place(s, log);
	}
	if (s->failed)
		return;
	s->reused += s->reuses[log];
	s->owner[place] = id;
	s->valid[place] = 1;
	s->segments[place / SLACK_BLOCKS].valid++;
	s->segments[place / SLACK_BLOCKS].taken++;
	if (s->at[id] != SLACK_NONE)
		drop(s, s->at[id]);
	s->at[id] = place;
	touch(s, id);
}

static void write_node(struct slack *s, uint32_t node)
{
	if (!s->dirty[node])
		return;
	s->dirty[node] = 0;
	s->ndirty--;
	slack_write(s, SLACK_NODE, s->ndata + node);
}

void slack_sync(struct slack *s, uint32_t id)
{
	write_node(s, id / s->per_node);
}

void slack_checkpoint(struct slack *s)
{
	uint32_t i;

	for (i = 0; i < s->nnodes && s->ndirty; i++)
		write_node(s, i);
	memcpy(s->valid_then, s->valid, s->nsegments * SLACK_BLOCKS);
	for (i = 0; i < s->nsegments; i++) {
		struct slack_segment *g = &s->segments[i];

		g->taken = g->valid;
		if (g->state == SLACK_PREFREE) {
			g->state = SLACK_FREE;
			s->nfree++;
		}
	}
	s->nprefree = 0;
	s->checkpoints++;
}

static void clean(struct slack *s, uint32_t victim)
{
	uint32_t first = victim * SLACK_BLOCKS, i, id;

	s->victims++;
	s->garbage += SLACK_BLOCKS - s->segments[victim].valid;
	s->moved += s->segments[victim].valid;
	for (i = first; i < first + SLACK_BLOCKS && !s->failed; i++) {
		id = s->owner[i];
		if (!s->valid[i])
			continue;
		if (id >= s->ndata && id < s->ndata + s->nnodes) {
			s->ndirty += !s->dirty[id - s->ndata];
			s->dirty[id - s->ndata] = 1;
			write_node(s, id - s->ndata);
		} else {
			slack_write(s, SLACK_MOVED, id);
		}
	}
}

static bool has_enough(const struct slack *s, uint32_t freed)
{
	uint32_t nodes = (s->ndirty + SLACK_BLOCKS - 1) / SLACK_BLOCKS;

	return s->nfree + freed > s->reserved + nodes;
}

void slack_balance(struct slack *s)
{
	uint32_t freed = 0, victim;

	if (has_enough(s, 0))
		return;
	s->runs++;
	slack_checkpoint(s);
	while (!s->failed) {
		victim = slack_victim(s, SLACK_LOGS);
		if (victim == SLACK_NONE)
			break;
		clean(s, victim);
		freed++;
		if (has_enough(s, freed))
			break;
		if (s->nfree < FEW) {
			slack_checkpoint(s);
			freed = 0;
		}
	}
	slack_checkpoint(s);
}
