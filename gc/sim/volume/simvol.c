// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulated volume.
 *
 * A block is live if the map of logical blocks refers to it: owner[place] is
 * the block written there, and it is live if at[owner[place]] is that place.
 * So a block becomes dead when its logical block is mapped elsewhere, and need not be
 * removed from a list; the cleaner examines the places of a segment as a real one reads the
 * summaries of its logs.  Blocks needed by snapshots follow from the birth and
 * death of a place, which are recorded only if there is a history.
 *
 * Segments are reused in the order in which they became clean.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE (2u << 20)

/*
 * N times NONE.  Accesses to maps are scattered, so large pages save most of
 * the time; without them the maps work too.
 */
static uint32_t *alloc_nones(size_t n)
{
	size_t bytes = (n * sizeof(uint32_t) / LARGE_PAGE + 1) * LARGE_PAGE;
	uint32_t *p = aligned_alloc(LARGE_PAGE, bytes);

	if (!p)
		return NULL;
	madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0xff, bytes);
	return p;
}

/* Opens the placement of BLOCKS blocks of data. */
static int open_place(struct simplace *p, struct context *cx,
		      const struct simplace_kind *kind, uint32_t classes,
		      uint64_t blocks)
{
	*p = (struct simplace){
		.kind = kind,
		.classes = classes ? classes : kind->classes,
		.logs = simplace_logs(kind, classes),
		.span = INFINITY,
	};
	if (kind->levels)
		p->levels = malloc(blocks);
	if (kind->times)
		p->written = calloc(blocks, sizeof(*p->written));
	if (kind->ahead)
		p->next = malloc(blocks * sizeof(*p->next));
	if ((kind->levels && !p->levels) || (kind->times && !p->written) ||
	    (kind->ahead && !p->next))
		return fail(cx, -ENOMEM, "placement of %llu blocks",
			    (unsigned long long)blocks);
	if (p->levels)
		memset(p->levels, SIMPLACE_LEVEL_NONE, blocks);
	if (p->next)
		memset(p->next, 0xff, blocks * sizeof(*p->next));
	return 0;
}

int simvol_open(struct simvol *v, struct context *cx,
		const struct simvol_config *config)
{
	const struct simvol_config *c = config;
	uint32_t n = c->nsegments, i;
	int ret = 0;

	*v = (struct simvol){ .config = *c, .cno = 1 };
	if (!n || !c->data)
		return fail(cx, -EINVAL, "volume: no segments or no blocks");
	if (c->blocks < 2)
		return fail(cx, -EINVAL, "volume: a segment has no room for a "
			    "summary and a block");
	if ((uint64_t)n * c->blocks >= SIMVOL_NONE)
		return fail(cx, -EINVAL, "volume: more than %" PRIu32
			    " blocks; take larger ones", SIMVOL_NONE - 1);
	if (c->data > (uint64_t)n * c->blocks)
		return fail(cx, -EINVAL, "volume: %" PRIu64 " blocks of data "
			    "do not fit", c->data);
	if (c->summary_span == 1)
		return fail(cx, -EINVAL, "volume: a summary block describes "
			    "itself only");
	ret = simlayers_open(v, cx);
	if (ret)
		return ret;
	v->nplaces = n * c->blocks;
	v->nclean = n;
	v->protect_cno = SIMVOL_NONE;
	for (i = 0; i < SIMVOL_LOGS; i++)
		v->logs[i].segnum = SIMVOL_NONE;
	v->at = alloc_nones(v->nlogical);
	v->owner = alloc_nones(v->nplaces);
	v->segments = calloc(n, sizeof(*v->segments));
	v->needed = calloc(n, sizeof(*v->needed));
	v->state = calloc(n, sizeof(*v->state));
	v->wear = calloc(n, sizeof(*v->wear));
	v->clean = calloc(n, sizeof(*v->clean));
	v->origin = calloc(n, sizeof(*v->origin));
	if (c->history) {
		v->birth = calloc(v->nplaces, sizeof(*v->birth));
		v->death = calloc(v->nplaces, sizeof(*v->death));
	}
	if (c->holes) {
		v->holes.stamp = calloc(v->nplaces, sizeof(*v->holes.stamp));
		v->holes.waiting = calloc(n, sizeof(*v->holes.waiting));
		v->holes.since = calloc(n, sizeof(*v->holes.since));
	}
	if (!v->at || !v->owner || !v->segments || !v->needed || !v->state ||
	    !v->wear || !v->clean || !v->origin ||
	    (c->history && (!v->birth || !v->death)) ||
	    (c->holes && (!v->holes.stamp || !v->holes.waiting || !v->holes.since)))
		return fail(cx, -ENOMEM, "volume of %" PRIu32 " blocks",
			    v->nplaces);
	if (c->dat_fanout && c->dat_allocates)
		ret = simentry_open(v, cx);
	if (ret)
		return ret;
	ret = open_place(&v->place, cx, c->placement ? c->placement :
			 &simplace_list[0], c->classes, c->data);
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		v->clean[i] = i;
		v->segments[i].segnum = i;
		v->segments[i].blocks = c->blocks;
	}
	return v->place.kind->open ? v->place.kind->open(v, cx) : 0;
}

void simvol_close(struct simvol *v)
{
	unsigned int k;

	for (k = 0; k < SIMVOL_KINDS; k++) {
		free(v->layers[k].dirty);
		free(v->layers[k].words);
	}
	if (v->place.kind && v->place.kind->close)
		v->place.kind->close(&v->place);
	simentry_close(v);
	free(v->place.levels);
	free(v->place.written);
	free(v->place.next);
	free(v->ages.of);
	free(v->ages.sum);
	free(v->ages.youngest);
	free(v->ages.n);
	free(v->holes.stamp);
	free(v->holes.waiting);
	free(v->holes.since);
	free(v->at);
	free(v->owner);
	free(v->birth);
	free(v->death);
	free(v->segments);
	free(v->needed);
	free(v->state);
	free(v->wear);
	free(v->clean);
	free(v->snapshots);
	free(v->origin);
	*v = (struct simvol){ 0 };
}

/* The number of garbage blocks of SEGNUM. */
static uint32_t garbage_of(const struct simvol *v, uint32_t segnum)
{
	return v->state[segnum] == SIMVOL_FULL ?
		       v->segments[segnum].written - v->needed[segnum] : 0;
}

void simvol_count(struct simvol *v)
{
	uint32_t i;

	v->nwritten = v->ngarbage = 0;
	for (i = 0; i < v->config.nsegments; i++) {
		v->nwritten += v->segments[i].written;
		v->ngarbage += garbage_of(v, i);
	}
}

void simvol_set_state(struct simvol *v, uint32_t segnum,
		      enum simvol_state state)
{
	v->ngarbage -= garbage_of(v, segnum);
	v->state[segnum] = (uint8_t)state;
	v->ngarbage += garbage_of(v, segnum);
	simvol_notify(v, segnum);
}

void simvol_release(struct simvol *v, uint32_t segnum)
{
	uint32_t n = v->config.nsegments, end, i;

	for (i = 0; v->entries.of && i < v->segments[segnum].written; i++)
		simentry_free(v, segnum * v->config.blocks + i);
	v->ngarbage -= garbage_of(v, segnum);
	v->nwritten -= v->segments[segnum].written;
	if (v->ages.of)
		v->ages.youngest[segnum] = 0;
	v->segments[segnum] = (struct policy_segment){
		.segnum = segnum,
		.blocks = v->segments[segnum].blocks,
	};
	v->wear[segnum]++;
	v->totals.released++;
	end = (uint32_t)(((uint64_t)v->clean_first + v->nclean) % n);
	v->clean[end] = segnum;
	v->nclean++;
	simvol_set_state(v, segnum, SIMVOL_CLEAN);
}

void simvol_end_log(struct simvol *v, unsigned int log)
{
	uint32_t segnum = v->logs[log].segnum;

	v->logs[log].segnum = SIMVOL_NONE;
	if (segnum == SIMVOL_NONE)
		return;
	v->origin[segnum].ended = v->totals.user;
	simvol_set_state(v, segnum, SIMVOL_FULL);
	if (v->config.frees_dead && !v->needed[segnum])
		simvol_release(v, segnum);
}

/*
 * Continues LOG in a segment with holes, if few are clean, or in a clean one.
 */
static int begin_next_segment(struct simvol *v, struct context *cx,
			      struct simvol_log *log)
{
	unsigned int number = (unsigned int)(log - v->logs);
	int64_t segnum = -1;

	simvol_end_log(v, number);
	if (v->nclean < v->config.holes && number != v->place.logs &&
	    v->holes.choose)
		segnum = v->holes.choose(v->holes.arg, number);
	log->fills = segnum >= 0;
	if (!log->fills && !v->nclean)
		return fail(cx, -ENOSPC, "no clean segment is left after %"
			    PRIu64 " blocks of the user", v->totals.user);
	if (log->fills) {
		log->segnum = (uint32_t)segnum;
	} else {
		log->segnum = v->clean[v->clean_first];
		v->clean_first = (v->clean_first + 1) % v->config.nsegments;
		v->nclean--;
		v->origin[log->segnum] = (struct simvol_origin){
			.opened = v->totals.user,
			.log = (uint8_t)number,
		};
	}
	log->offset = 0;
	simvol_set_state(v, log->segnum, SIMVOL_OPEN);
	return 0;
}

/* The next place of LOG, for ID (NONE: for a summary); FILLS: of a hole. */
static inline uint32_t take_place(struct simvol *v, struct simvol_log *log,
				  uint32_t id, bool fills)
{
	struct policy_segment *s = &v->segments[log->segnum];
	uint32_t place = log->segnum * v->config.blocks + log->offset++;

	if (!fills) {
		s->written++;
		v->nwritten++;
	}
	v->owner[place] = id;
	s->lastmod = simvol_time(v);
	if (id == SIMVOL_NONE)
		return place;
	s->live++;
	v->needed[log->segnum]++;
	return place;
}

static bool is_full(const struct simvol *v, const struct simvol_log *log)
{
	return log->segnum == SIMVOL_NONE ||
	       log->offset == v->segments[log->segnum].blocks;
}

/* The next place of LOG, after a summary if one is due. */
static int next_place(struct simvol *v, struct context *cx, unsigned int n,
		      uint32_t id, uint32_t *place)
{
	struct simvol_log *log = &v->logs[n];
	uint32_t span = v->config.summary_span;
	int ret = 0;

	if (is_full(v, log))
		ret = begin_next_segment(v, cx, log);
	if (ret)
		return ret;
	if (span && log->offset % span == 0) {
		take_place(v, log, SIMVOL_NONE, false);
		v->totals.summary++;
		/* The summary may be the last block of a segment. */
		if (is_full(v, log))
			return next_place(v, cx, n, id, place);
	}
	*place = take_place(v, log, id, false);
	return 0;
}

/* Skips to the next hole: dead, and not needed by the last checkpoint. */
static void skip_taken(const struct simvol *v, struct simvol_log *log)
{
	uint32_t place, id;

	for (; log->fills && !is_full(v, log); log->offset++) {
		place = log->segnum * v->config.blocks + log->offset;
		id = v->owner[place];
		if ((id == SIMVOL_NONE || v->at[id] != place) &&
		    v->holes.stamp[place] != v->cno)
			break;
	}
}

/*
 * As next_place() for a volume with holes; ID leaves its old place.  Not
 * inlined, since it would slow down other volumes.
 */
__attribute__((noinline))
static int next_hole(struct simvol *v, struct context *cx, unsigned int n,
		     uint32_t id, uint32_t *place)
{
	struct simvol_log *log = &v->logs[n];
	int ret = 0;

	skip_taken(v, log);
	if (is_full(v, log))
		ret = begin_next_segment(v, cx, log);
	if (ret)
		return ret;
	skip_taken(v, log);
	*place = take_place(v, log, id, log->fills);
	v->totals.filled += log->fills;
	v->holes.stamp[*place] = v->cno;
	if (v->at[id] != SIMVOL_NONE)
		simhistory_holes_drop(v, v->at[id]);
	return 0;
}

/* Marks the block at PLACE as dead in the latest state. */
static void mark_dead(struct simvol *v, uint32_t place, uint32_t id,
		      uint32_t death)
{
	uint32_t segnum = place / v->config.blocks;
	struct policy_segment *s = &v->segments[segnum];
	bool held = false;

	if (v->birth) {
		v->death[place] = death;
		held = simhistory_is_held(v, place);
	}
	if (id >= v->config.data)
		s->metadata--;
	v->died[v->origin[segnum].log] += death != 0;
	if (held) {
		s->snapshot += v->config.counts == SIMVOL_EXACT;
		s->live -= v->config.counts != SIMVOL_EXACT && s->live;
	} else {
		s->live -= s->live != 0;
		v->needed[segnum]--;
		v->ngarbage += v->state[segnum] == SIMVOL_FULL;
	}
	if (v->config.frees_dead && !v->needed[segnum] &&
	    v->state[segnum] == SIMVOL_FULL)
		simvol_release(v, segnum);
	else
		simvol_notify(v, segnum);
}

unsigned int simvol_log_of(struct simvol *v, uint32_t id,
			   enum simplace_cause why)
{
	const struct simplace *p = &v->place;

	if (id >= v->config.data)
		return v->config.metadata_log ? p->logs : 0;
	return p->kind->choose ? p->kind->choose(v, id, why) : 0;
}

int simvol_append(struct simvol *v, struct context *cx, unsigned int log,
		  uint32_t id, bool moved)
{
	uint32_t old = v->at[id], place, segnum;
	int ret = v->holes.stamp ? next_hole(v, cx, log, id, &place) :
				   next_place(v, cx, log, id, &place);

	if (ret)
		return ret;
	segnum = place / v->config.blocks;
	v->at[id] = place;
	if (id >= v->config.data)
		v->segments[segnum].metadata++;
	if (v->birth) {
		v->birth[place] = moved ? v->birth[old] : v->cno;
		v->death[place] = SIMVOL_NONE;
	}
	/* Nodes are moved by being written. */
	if (v->entries.of && moved && id < v->config.data)
		simentry_move(v, old, place);
	else if (v->entries.of && id < v->layers[SIMVOL_DAT].base)
		simentry_write(v, id, old, place);
	/* An open segment is not a candidate: no notification is needed. */
	if (v->ages.of && id < v->config.data)
		simchoice_ages_put(v, id, old, segnum, moved);
	if (old != SIMVOL_NONE)
		mark_dead(v, old, id, moved ? 0 : v->cno);
	return 0;
}

int simvol_append_held(struct simvol *v, struct context *cx, unsigned int log,
		       uint32_t place)
{
	uint32_t segnum = place / v->config.blocks, to, id = v->owner[place];
	int ret = next_place(v, cx, log, id, &to);

	if (ret)
		return ret;
	v->birth[to] = v->birth[place];
	v->death[to] = v->death[place];
	v->segments[to / v->config.blocks].snapshot++;
	simvol_notify(v, to / v->config.blocks);
	if (v->entries.of)
		simentry_move(v, place, to);
	/* No state refers to it now. */
	v->death[place] = v->birth[place];
	v->segments[segnum].live -= v->segments[segnum].live != 0;
	v->needed[segnum]--;
	return 0;
}

int simvol_write(struct simvol *v, struct context *cx, uint32_t id)
{
	int ret = simvol_append(v, cx, simvol_log_of(v, id, SIMPLACE_USER), id,
				false);

	if (ret)
		return ret;
	v->now++;
	v->totals.user++;
	v->totals.written[SIMVOL_DATA]++;
	simlayers_touch(v, id, false);
	return 0;
}

void simvol_trim(struct simvol *v, uint32_t id)
{
	uint32_t old = v->at[id];

	if (old == SIMVOL_NONE)
		return;
	if (v->place.kind->forget)
		v->place.kind->forget(v, id);
	v->at[id] = SIMVOL_NONE;
	if (v->ages.of)
		simchoice_ages_drop(v, id, old);
	if (v->holes.stamp)
		simhistory_holes_drop(v, old);
	if (v->entries.of)
		simlayers_dirty_entry(v, v->entries.of[old]);
	mark_dead(v, old, id, v->cno);
	simlayers_touch(v, id, false);
}
