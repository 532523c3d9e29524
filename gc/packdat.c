// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packing the DAT: batches that do nothing else.
 *
 * Each writes metadata, under numbers of its own, and what it frees is room for
 * the next one: this goes on until the DAT does not get smaller.
 */
#include "gc/packdat.h"

#include "gc/datuse.h"
#include "gc/packplan.h"
#include "gc/target.h"

/* Clean segments that are none of the batch's. */
#define KEPT_SEGMENTS 2

struct packing {
	struct volume *vol;
	struct facts facts;
	struct load load;
	struct renumber renumber;
};

static uint64_t room(const struct packing *p)
{
	uint64_t clean = p->facts.clean;

	clean -= clean < KEPT_SEGMENTS ? clean : KEPT_SEGMENTS;
	return clean * p->vol->geo.blocks_per_segment;
}

static int make_plan(struct packing *p, struct context *cx, uint64_t protect)
{
	int ret = facts_gather(&p->facts, cx, p->vol, protect);

	load_init(&p->load, &p->facts);
	renumber_init(&p->renumber, p->vol);
	if (!ret)
		ret = packplan_make(cx, &p->load, &p->renumber, room(p));
	if (!ret)
		load_sort(&p->load, false);
	return ret;
}

/* 1, or 0 where there is nothing to be had. */
static int run_batch(struct packing *p, struct context *cx,
		     const struct packdat_options *o,
		     struct batch_totals *totals)
{
	struct batch_options options = o->batch;
	uint64_t bad;
	int ret;

	if (!p->renumber.n)
		return 0;
	options.front = true;
	ret = batch_run(&p->load, cx, p->vol, &options, totals, &bad);
	return ret ? ret : 1;
}

/* Whether the DAT has room for fewer than *NUMBERS, which become those: 1, 0. */
static int is_less(struct context *cx, struct volume *vol, uint64_t *numbers)
{
	struct datuse sparse;
	int ret = datuse_find(&sparse, cx, vol);

	if (!ret)
		ret = sparse.numbers < *numbers;
	*numbers = sparse.numbers;
	datuse_free(&sparse);
	return ret;
}

static int pack_once(struct context *cx, struct dev *dev,
		     const struct packdat_options *o, uint64_t *numbers,
		     struct batch_totals *totals)
{
	struct packing p = { .vol = NULL };
	int ret = volume_open(&p.vol, cx, dev, NULL);

	if (!ret)
		ret = target_check_volume(cx, p.vol);
	if (!ret)
		ret = is_less(cx, p.vol, numbers);
	if (ret > 0)
		ret = make_plan(&p, cx, o->protect);
	if (!ret)
		ret = run_batch(&p, cx, o, totals);
	load_fini(&p.load);
	renumber_fini(&p.renumber);
	facts_fini(&p.facts);
	volume_close(p.vol);
	return ret;
}

int packdat_run(struct context *cx, struct dev *dev,
		const struct packdat_options *options,
		struct batch_totals *totals)
{
	uint64_t numbers = UINT64_MAX;
	int ret;

	do {
		ret = pack_once(cx, dev, options, &numbers, totals);
	} while (ret > 0);
	return ret;
}

/* With half a segment's blocks less there may be one less in use. */
int packdat_promises(struct context *cx, struct dev *dev)
{
	struct datuse sparse = { .n = 0 };
	struct volume *vol;
	int ret = volume_open(&vol, cx, dev, NULL);

	if (!ret)
		ret = datuse_find(&sparse, cx, vol);
	if (!ret)
		ret = datuse_count(&sparse, datuse_spare(vol)) >=
		      vol->geo.blocks_per_segment / 2;
	datuse_free(&sparse);
	volume_close(vol);
	return ret;
}
