// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generated workloads against the definitions of their distributions.
 *
 * A share P of N draws has a deviation of sqrt(N P (1 - P)); five of these are
 * exceeded once in two million times, and with a fixed seed always or never.
 */
#include <errno.h>
#include <math.h>

#include "gc/sim/writers/simwork.h"

#include "tap.h"

#define DRAWS 1000000u
#define RANKS 1000u

static bool is_share(uint64_t count, double p)
{
	return fabs((double)count - DRAWS * p) <=
	       5 * sqrt(DRAWS * p * (1 - p)) + 0.5;
}

/* Probabilities in proportion to 1 / rank^skew. */
static void test_zipf(double skew)
{
	static uint64_t counts[RANKS + 1];
	struct simrandom random = { 7 };
	struct simdist_zipf z;
	uint64_t i, out = 0, tail = 0, rank;
	double sum = 0, tail_p = 0;
	unsigned int wrong = 0;

	memset(counts, 0, sizeof(counts));
	simdist_zipf_init(&z, RANKS, skew);
	for (i = 0; i < DRAWS; i++) {
		rank = simdist_zipf_next(&z, &random);
		out += rank < 1 || rank > RANKS;
		counts[rank <= RANKS ? rank : 0]++;
	}
	for (i = 1; i <= RANKS; i++)
		sum += pow((double)i, -skew);
	for (i = 1; i <= RANKS; i++) {
		double p = pow((double)i, -skew) / sum;

		wrong += i <= 100 && !is_share(counts[i], p);
		tail += i > 100 ? counts[i] : 0;
		tail_p += i > 100 ? p : 0;
	}
	ok(!out && !wrong && is_share(tail, tail_p), "Zipf of skew %g", skew);
}

/* Of a thousand million ranks: the harmonic numbers by Euler's constant. */
static void test_many_ranks(void)
{
	const double gamma = 0.57721566490153286;
	struct simrandom random = { 8 };
	struct simdist_zipf z;
	uint64_t i, low = 0, rank, out = 0;

	simdist_zipf_init(&z, 1000000000, 1);
	for (i = 0; i < DRAWS; i++) {
		rank = simdist_zipf_next(&z, &random);
		out += rank < 1 || rank > 1000000000;
		low += rank <= 1000;
	}
	ok(!out && is_share(low, (log(1000) + gamma + 0.0005) /
				 (log(1e9) + gamma)),
	   "Zipf of many ranks");
	simdist_zipf_init(&z, 1, 1);
	is_int(simdist_zipf_next(&z, &random), 1, "Zipf of one rank");
}

/* The share of draws of TEXT that are at most LIMIT is P. */
static void has_share(const char *text, uint64_t limit, double p)
{
	struct simrandom random = { 9 };
	struct context cx;
	struct simdist d;
	uint64_t i, low = 0;

	context_init(&cx);
	must(simdist_parse(&cx, "--size", text, &d));
	for (i = 0; i < DRAWS; i++)
		low += simdist_next(&d, &random, UINT64_MAX) <= limit;
	ok(is_share(low, p), "%s: a share of %g up to %llu", text, p,
	   (unsigned long long)limit);
}

static void test_distributions(void)
{
	has_share("fixed:8", 7, 0);
	has_share("fixed:8", 8, 1);
	has_share("uniform:1:64", 16, 0.25);
	has_share("uniform:10:10", 10, 1);
	/* Rounded: up to 100.5. */
	has_share("exponential:1000", 100, 1 - exp(-0.1005));
	has_share("exponential:1000", 1000, 1 - exp(-1.0005));
	has_share("lognormal:1000.5:2", 1000, 0.5);
	/* A deviation above it: Phi(1). */
	has_share("lognormal:1000:1", 2718, 0.8413447461);
	has_share("pareto:100:1.5", 199, 1 - pow(199.5 / 100, -1.5));
}

static void is_refused(const char *text, const char *want)
{
	struct context cx;
	struct simdist d;

	context_init(&cx);
	ok(simdist_parse(&cx, "--size", text, &d) == -EINVAL &&
	   strstr(cx.failure, want), "'%s': %s", text, cx.failure);
}

static void test_refused(void)
{
	struct context cx;
	double v;

	context_init(&cx);
	is_refused("", "is no distribution");
	is_refused("fix:3", "is no distribution");
	is_refused("fixed", "has 1 numbers");
	is_refused("fixed:1:2", "has 1 numbers");
	is_refused("pareto:1", "has 2 numbers");
	is_refused("pareto:1:0", "'0' is not a number from 0.001 to "
		   "281474976710656");
	is_refused("fixed:0", "'0' is not a number from 1 to 281474976710656");
	is_refused("fixed:1.2.3", "is not a number");
	is_refused("fixed:nan", "is not a number");
	is_refused("fixed:1e9", "is not a number");
	is_refused("uniform:9:8", "9 is more than 8");
	ok(simdist_number(&cx, "--skew", "-1", 0, 9, &v) == -EINVAL &&
	   simdist_number(&cx, "--skew", "10", 0, 9, &v) == -EINVAL &&
	   !simdist_number(&cx, "--skew", "0.99", 0, 9, &v) && v == 0.99,
	   "a number");
}

static void open_work(struct simwork *w, struct context *cx,
		      const char *name, const char *size, const char *lifetime)
{
	struct simwork_config c = {
		.kind = simwork_find(name), .data = 100000, .hot = 10000,
		.hot_writes = 80, .file_blocks = 1, .skew = 1,
		.sequential = 30, .seed = 3,
	};

	context_init(cx);
	must(simdist_parse(cx, "--size", size, &c.size));
	must(simdist_parse(cx, "--lifetime", lifetime, &c.lifetime));
	must(simwork_open(w, cx, &c));
}

static void test_bounded(void)
{
	uint64_t i, hot = 0, first = 0;
	struct context cx;
	struct simwork w;
	struct simop op;
	double sum = 0;

	open_work(&w, &cx, "bounded-zipf", "fixed:1", "fixed:1");
	simwork_skip(&w);
	for (i = 0; i < DRAWS; i++) {
		simwork_next(&w, &op);
		hot += op.block < 10000;
		first += !op.block;
	}
	for (i = 1; i <= 10000; i++)
		sum += 1 / (double)i;
	ok(is_share(hot, 0.8) && is_share(first, 0.8 / sum),
	   "bounded Zipf: the hot share, and the most popular block");
	simwork_close(&w);
}

static void test_mixed(void)
{
	uint64_t i, next = 0, follows = 0, trims = 0;
	struct context cx;
	struct simwork w;
	struct simop op;

	open_work(&w, &cx, "mixed", "fixed:1", "fixed:1");
	w.config.trims = 20;
	simwork_skip(&w);
	for (i = 0; i < DRAWS; i++) {
		simwork_next(&w, &op);
		follows += op.block == next;
		next += op.block == next;
		next %= 100000;
		trims += op.kind == SIMOP_TRIM;
	}
	/* One of 100,000 others is the next one, too. */
	ok(is_share(follows, 0.3 + 0.7e-5), "30 %% in sequence");
	ok(is_share(trims, 0.2), "20 %% trims");
	simwork_close(&w);
}

/* Does OP on LIVE: how many blocks were not as they should have been. */
static unsigned int do_op(bool *live, const struct simop *op, int64_t *nlive)
{
	bool writes = op->kind == SIMOP_WRITE;
	unsigned int wrong = !op->count;
	uint64_t i;

	for (i = op->block; i < op->block + op->count; i++) {
		wrong += i >= 100000 || live[i] == writes;
		live[i] = writes;
		*nlive += writes ? 1 : -1;
	}
	return wrong;
}

/*
 * Little's law: the blocks that live are what is written in a lifetime, however
 * large the files are.  Where lives are longer than there is room, it is full.
 */
static void test_lifetimes(const char *size, const char *lifetime, double want)
{
	static bool live[100000];
	int64_t nlive = 0, sum = 0, samples = 0;
	uint64_t written = 0;
	unsigned int wrong = 0;
	struct context cx;
	struct simwork w;
	struct simop op;

	memset(live, 0, sizeof(live));
	open_work(&w, &cx, "lifetimes", size, lifetime);
	while (written < 3000000) {
		simwork_next(&w, &op);
		wrong += do_op(live, &op, &nlive);
		written += op.kind == SIMOP_WRITE ? op.count : 0;
		if (written < 500000)
			continue;
		sum += nlive;
		samples++;
	}
	is_int(wrong, 0, "files share no block, and trim what they had");
	ok(fabs((double)sum / (double)samples - want) < want / 20,
	   "%s, %s: %lld blocks live", size, lifetime,
	   (long long)(sum / samples));
	simwork_close(&w);
}

static void test_from_full(void)
{
	static bool live[100000];
	unsigned int i, wrong = 0;
	int64_t nlive = 100000;
	struct context cx;
	struct simwork w;
	struct simop op;

	memset(live, 1, sizeof(live));
	open_work(&w, &cx, "lifetimes", "uniform:1:30", "exponential:50000");
	simwork_skip(&w);
	for (i = 0; i < 100000; i++) {
		simwork_next(&w, &op);
		wrong += do_op(live, &op, &nlive);
	}
	is_int(wrong, 0, "from a volume that is full");
	simwork_close(&w);
}

int main(void)
{
	static const double skews[] = { 0, 0.5, 0.99, 1, 1.2, 2, 5 };
	size_t i;

	for (i = 0; i < sizeof(skews) / sizeof(skews[0]); i++)
		test_zipf(skews[i]);
	test_many_ranks();
	test_distributions();
	test_refused();
	test_bounded();
	test_mixed();
	test_lifetimes("fixed:4", "exponential:40000", 40000);
	test_lifetimes("lognormal:8:1.5", "uniform:1:60000", 30000);
	test_lifetimes("uniform:1:10", "fixed:1000000", 100000);
	test_from_full();
	return tap_done();
}
