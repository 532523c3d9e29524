// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compaction.
 *
 * The gain of a pass is hard to predict: moving blocks writes metadata, whose
 * old blocks become dead.  So once a batch is not certain to gain, the rest of
 * the pass is made on an overlay first, without the content of moved blocks,
 * and on the volume only if the result is better.  As each pass improves the
 * result there is a last one, and a further run comes to the same conclusion.
 */
#include "gc/compact/compact.h"

#include "base/sort.h"
#include "disk/inode.h"
#include "gc/compact/pass.h"

/* Faults of the order that do not justify moving everything. */
#define FAULTS 4

struct compactor {
	struct compact *c;
	struct collector k;
	bool sorts;
};

/* What a trial does on an overlay; results are in ARG. */
typedef int trial(struct compactor *p, struct context *cx, void *arg);

struct attempt {
	struct compactor *p;
	trial *try;
	void *arg;
};

static int run_attempt(void *arg, struct context *cx)
{
	struct attempt *a = arg;

	return a->try(a->p, cx, a->arg);
}

/* Does it, and as if it had never happened. */
static int attempt(struct compactor *p, struct context *cx, trial *try,
		   void *arg)
{
	struct attempt a = { .p = p, .try = try, .arg = arg };
	struct compact c = *p->c;
	int ret = collector_rehearse(&p->k, cx, run_attempt, &a);

	*p->c = c;
	return ret;
}

/* The result of a pass, or of the rest of one. */
struct passed {
	struct pass *pass;
	struct usedend reach;
	uint64_t written;	/* blocks */
};

static int finish_pass(struct compactor *p, struct context *cx, void *arg)
{
	struct passed *passed = arg;
	uint64_t before = p->k.totals.written;
	int ret = pass_run(passed->pass, cx, &p->k, false);

	passed->written = p->k.totals.written - before;
	return ret ? ret : usedend_measure(&passed->reach, cx, p->k.dev);
}

/* The same as a trial: PASS itself stays where it is. */
static int try_finish(struct compactor *p, struct context *cx, void *arg)
{
	struct passed *passed = arg;
	struct pass *pass = passed->pass, copy;
	int ret = pass_copy(&copy, cx, pass);

	passed->pass = &copy;
	if (!ret)
		ret = finish_pass(p, cx, arg);
	passed->pass = pass;
	pass_fini(&copy);
	return ret;
}

/* What is left of PASS, if it is of any use: 1, or 0. */
static int run_rest(struct compactor *p, struct context *cx,
		    struct pass *pass)
{
	struct usedend before = p->c->after;
	struct passed passed = { .pass = pass };
	int ret;

	if (pass->done)
		return 0;
	ret = attempt(p, cx, try_finish, &passed);
	if (ret || !usedend_is_better(&passed.reach, &before, passed.written))
		return ret;
	ret = finish_pass(p, cx, &passed);
	if (ret)
		return ret;
	p->c->after = passed.reach;
	/* Not, if something could not be read. */
	return usedend_is_better(&passed.reach, &before, 0);
}

/* Batches that certainly gain are not tried before: 1 if any was made. */
static int run_certain(struct compactor *p, struct context *cx,
		       struct pass *pass)
{
	uint64_t batches = p->k.totals.batches;
	int ret = pass_run(pass, cx, &p->k, true);

	if (ret || p->k.totals.batches == batches)
		return ret;
	ret = usedend_measure(&p->c->after, cx, p->k.dev);
	return ret ? ret : 1;
}

/* A pass, as far as it gains: 1 if it does. */
static int compact_pass(struct compactor *p, struct context *cx)
{
	const struct pass_options options = { .in_order = p->sorts };
	struct pass pass;
	int certain, ret;

	pass_init(&pass, &options);
	ret = certain = run_certain(p, cx, &pass);
	if (ret >= 0)
		ret = run_rest(p, cx, &pass);
	pass_fini(&pass);
	return ret ? ret : certain;
}

/* 1 where at least one was of use. */
static int run_passes(struct compactor *p, struct context *cx)
{
	int ret, n = 0;

	while ((ret = compact_pass(p, cx)) > 0)
		n = 1;
	return ret ? ret : n;
}

/* How often what follows in the order does not follow on the volume. */
static uint64_t count_breaks(const struct load *load)
{
	const struct load_run *run = load->runs;
	uint64_t n = 0, at = 0;
	size_t i;

	for (i = 0; i < load->has.nruns; i++, run++) {
		if (inode_is_metadata(run->what.ino))
			continue;
		n += run->blocknr < at;
		at = run->blocknr;
	}
	return n;
}

static int compare_places(const void *a, const void *b)
{
	const struct load_run *x = a, *y = b;

	return x->blocknr < y->blocknr ? -1 : x->blocknr > y->blocknr;
}

/*
 * How often, on the volume, one class meets another: it does not matter for
 * ages which comes first, only that they are apart.
 */
static uint64_t count_borders(struct load *load)
{
	const struct load_run *run = load->runs;
	uint64_t n = 0;
	uint32_t rank = 0;
	size_t i;

	sort_in_place(load->runs, load->has.nruns, sizeof(*load->runs),
		      compare_places);
	for (i = 0; i < load->has.nruns; i++, run++) {
		if (inode_is_metadata(run->what.ino))
			continue;
		n += run->rank != rank;
		rank = run->rank;
	}
	return n;
}

/* What is wrong with the order. */
struct faults {
	uint64_t breaks, borders;
};

/* Of a load of everything. */
static struct faults count_faults(struct collector *k)
{
	struct faults f = { 0 };

	collector_sort(k);
	f.breaks = count_breaks(&k->load);
	if (k->o->order->kind == ORDER_AGE)
		f.borders = count_borders(&k->load);
	return f;
}

static bool is_halved(uint64_t after, uint64_t before)
{
	return before > FAULTS && after <= before / 2;
}

static bool is_less_faulty(const struct faults *after,
			   const struct faults *before)
{
	if (after->breaks > before->breaks || after->borders > before->borders)
		return false;
	return is_halved(after->breaks, before->breaks) ||
	       is_halved(after->borders, before->borders);
}

static int measure_order(struct collector *k, struct context *cx,
			 struct faults *faults)
{
	struct facts *f = &k->facts;
	size_t i;
	int ret = collector_open(k, cx);

	k->unbounded = true;
	for (i = 0; !(ret < 0) && i < f->n; i++)
		ret = collector_add(k, cx, &f->segments[i], UINT64_MAX);
	k->unbounded = false;
	*faults = ret < 0 ? (struct faults){ 0 } : count_faults(k);
	collector_close(k);
	return ret < 0 ? ret : 0;
}

/* Moves everything in order, and then to the front. */
static int sort_once(struct compactor *p, struct context *cx)
{
	const struct pass_options options = { .all = true, .in_order = true };
	struct pass pass;
	int ret;

	pass_init(&pass, &options);
	ret = pass_run(&pass, cx, &p->k, false);
	pass_fini(&pass);
	if (!ret)
		ret = usedend_measure(&p->c->after, cx, p->k.dev);
	if (!ret)
		ret = run_passes(p, cx);
	return ret < 0 ? ret : 0;
}

/* How many faults there would be then. */
static int try_sort(struct compactor *p, struct context *cx, void *faults)
{
	int ret = sort_once(p, cx);

	return ret ? ret : measure_order(&p->k, cx, faults);
}

/*
 * Everything moves if at most half of one kind of fault is left then, and no
 * more of the other: as that cannot be said often, a further run does not say
 * it either.
 */
static int sort_all(struct compactor *p, struct context *cx)
{
	struct faults before, after;
	int ret;

	for (;;) {
		ret = measure_order(&p->k, cx, &before);
		if (ret || (before.breaks <= FAULTS &&
			    before.borders <= FAULTS))
			return ret;
		ret = attempt(p, cx, try_sort, &after);
		if (ret || !is_less_faulty(&after, &before))
			return ret;
		ret = sort_once(p, cx);
		if (ret)
			return ret;
	}
}

/* Passes break an order, and ordering blocks requires passes. */
static int compact_all(struct compactor *p, struct context *cx)
{
	int ret;

	do {
		ret = p->sorts ? sort_all(p, cx) : 0;
		if (!ret)
			ret = run_passes(p, cx);
	} while (ret > 0 && p->sorts);
	return ret < 0 ? ret : 0;
}

int compact_run(struct compact *c, struct context *cx, struct dev *dev,
		const struct compact_options *options)
{
	struct collector_options how = options->how;
	struct order order = { .kind = options->order };
	struct compactor p = { .c = c, .sorts = options->all };
	int ret;

	*c = (struct compact){ 0 };
	how.order = &order;
	collector_init(&p.k, dev, &how);
	ret = usedend_measure(&c->before, cx, dev);
	c->after = c->before;
	if (!ret)
		ret = order_find(&order, cx, dev, options->order);
	if (!ret)
		ret = compact_all(&p, cx);
	if (!ret && p.k.nfailing) {
		ret = collector_finish(&p.k, cx);
		if (!ret)
			ret = usedend_measure(&c->after, cx, dev);
	}
	c->totals = p.k.totals;
	c->left = p.k.nbad;
	collector_fini(&p.k);
	order_close(&order);
	return ret;
}
