// SPDX-License-Identifier: GPL-2.0-or-later
/* Products of 128 bits and their quotients, beside what algebra says of them. */
#include "config.h"

#include "base/wide.h"

#include "tap.h"

#define MOST UINT64_MAX

static void test_known(void)
{
	static const struct {
		uint64_t a, b, high, low;
	} rows[] = {
		{ 0, MOST, 0, 0 },
		{ 1, MOST, 0, MOST },
		{ MOST, MOST, MOST - 1, 1 },	/* 2^128 - 2 2^64 + 1 */
		{ UINT64_C(1) << 63, 2, 1, 0 },
		{ UINT64_C(1) << 32, UINT64_C(1) << 32, 1, 0 },
		/* (2^32 + 1)(2^32 - 1) = 2^64 - 1 */
		{ UINT64_C(0x100000001), UINT64_C(0xffffffff), 0, MOST },
		/* 10^38 */
		{ UINT64_C(10000000000000000000), UINT64_C(10000000000000000000),
		  UINT64_C(0x4b3b4ca85a86c47a), UINT64_C(0x098a224000000000) },
	};
	struct wide v;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		v = wide_mul(rows[i].a, rows[i].b);
		ok(v.high == rows[i].high && v.low == rows[i].low,
		   "product %zu", i);
		v = wide_mul(rows[i].b, rows[i].a);
		ok(v.high == rows[i].high && v.low == rows[i].low,
		   "product %zu the other way round", i);
	}
}

/* Numbers of every length, from a fixed sequence. */
static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (*state ^ *state >> 29) >> (*state >> 58);
}

/* (A B + ADD) - Q C, of which the rest must be less than C. */
static bool is_quotient(uint64_t a, uint64_t b, uint64_t add, uint64_t c,
			uint64_t q)
{
	struct wide product = wide_mul(a, b), back = wide_mul(q, c);
	uint64_t low = product.low + add;
	uint64_t high = product.high + (low < add);

	high -= back.high + (low < back.low);
	low -= back.low;
	return !high && low < c;
}

/* A (B + 1) = A B + A. */
static void test_products(void)
{
	unsigned int i, wrong = 0;
	uint64_t state = 2, a, b;
	struct wide v, more;

	for (i = 0; i < 1000000; i++) {
		a = next(&state);
		b = next(&state) >> 1;
		if (i % 4 == 0)
			b |= UINT32_MAX;
		v = wide_mul(a, b);
		more = wide_mul(a, b + 1);
		wrong += more.low != v.low + a ||
			 more.high != v.high + (more.low < v.low);
	}
	is_int(wrong, 0, "products are distributive");
}

static void test_quotients(void)
{
	unsigned int i, wrong = 0, large = 0;
	uint64_t state = 1, a, b, add, c, q;

	for (i = 0; i < 1000000; i++) {
		a = next(&state);
		b = next(&state);
		c = next(&state) | 1;
		add = next(&state);
		/* The quotient fits where the product's high half is less. */
		if (wide_mul(a, b).high + 1 >= c)
			continue;
		q = wide_mul_div(a, b, add, c);
		large += wide_mul(a, b).high != 0;
		wrong += !is_quotient(a, b, add, c, q);
	}
	ok(large > 50000, "%u quotients of more than 64 bits", large);
	is_int(wrong, 0, "each times the divisor, and the rest, is the product");
}

static void test_edges(void)
{
	ok(wide_mul_div(MOST, MOST, 0, MOST) == MOST, "x * x / x is x");
	ok(wide_mul_div(MOST, MOST, MOST - 1, MOST) == MOST,
	   "a sum less than the divisor changes nothing");
	ok(wide_mul_div(MOST, 1, MOST, 2) == MOST,
	   "a sum of more than 64 bits is carried");
	ok(wide_mul_div(MOST, MOST, 0, 1) == 1,
	   "the low half of a quotient that does not fit");
	ok(wide_mul_div(MOST, 10000, MOST / 2, MOST) == 10000, "all of it");
}

int main(void)
{
	test_known();
	test_products();
	test_quotients();
	test_edges();
	return tap_done();
}
