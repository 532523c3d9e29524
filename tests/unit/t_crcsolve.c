// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which flipped bit explains a checksum, and what an exchanged block does to
 * it: against the definition, by trying every bit.
 */
#include "base/crc.h"

#include <string.h>

#include "sample.h"
#include "tap.h"

#define SEED 0x1b2c3d4e

static void fill(unsigned char *p, size_t len, uint32_t v)
{
	while (len--) {
		v = v * 1664525u + 1013904223u;
		*p++ = (unsigned char)(v >> 24);
	}
}

/* Every bit of a message of LEN bytes, of a long one a sample, and of its checksum. */
static void test_every_bit(unsigned int len)
{
	unsigned char text[1024] = {0};
	uint32_t sum, wrong = 0;
	unsigned int bit;
	char name[64];

	fill(text, len, len);
	sum = crc32_le(SEED, text, len);
	for (bit = 0; bit < 8 * len; bit++) {
		if (len > 64 && !is_sampled(bit, 7))
			continue;
		text[bit / 8] ^= (unsigned char)(1u << bit % 8);
		wrong += crc32_le_bit(sum, crc32_le(SEED, text, len), len) !=
			 bit;
		text[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (bit = 0; bit < 32; bit++)
		wrong += crc32_le_bit(sum ^ 1u << bit, sum, len) !=
			 8 * len + bit;
	snprintf(name, sizeof(name), "every bit of %u bytes is found", len);
	is_int(wrong, 0, name);
}

/* The bit that makes the sum of TEXT equal to SUM, by trying. */
static uint64_t by_trying(uint32_t sum, unsigned char *text, unsigned int len)
{
	uint64_t found = CRCSOLVE_NONE;
	uint32_t computed = crc32_le(SEED, text, len);
	unsigned int bit;

	for (bit = 0; bit < 8 * len; bit++) {
		text[bit / 8] ^= (unsigned char)(1u << bit % 8);
		if (crc32_le(SEED, text, len) == sum)
			found = bit;
		text[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (bit = 0; bit < 32; bit++)
		if ((sum ^ 1u << bit) == computed)
			found = 8 * len + bit;
	return found;
}

/* Two flipped bits, or any difference, are not taken for one. */
static void test_others(void)
{
	unsigned char text[40];
	uint32_t sum, wrong = 0, i;

	fill(text, sizeof(text), 5);
	sum = crc32_le(SEED, text, sizeof(text));
	for (i = 1; i < 320; i++) {
		if (!is_sampled(i, 3))
			continue;
		text[0] ^= 1;
		text[i / 8] ^= (unsigned char)(1u << i % 8);
		wrong += crc32_le_bit(sum, crc32_le(SEED, text, 40), 40) !=
			 by_trying(sum, text, 40);
		text[0] ^= 1;
		text[i / 8] ^= (unsigned char)(1u << i % 8);
	}
	is_int(wrong, 0, "two bits are not one");
	for (i = 0; i < 200; i++) {
		uint32_t other = sum ^ (i + 1) * 2654435761u;

		wrong += crc32_le_bit(other, sum, 40) !=
			 by_trying(other, text, 40);
	}
	is_int(wrong, 0, "nor is any other difference");
	ok(crc32_le_bit(sum, sum, 40) == CRCSOLVE_NONE,
	   "no bit explains what is no difference");
}

/* The first bits of messages that are not in memory. */
static void test_long(void)
{
	static const uint64_t lengths[] = {1 << 20, 8 << 20,
					   CRCSOLVE_BYTES_MAX};
	static const unsigned char one[] = {0x10};
	uint32_t wrong = 0, sum;
	size_t i;

	for (i = 0; i < 3; i++) {
		sum = crc32_le_zeros(crc32_le(0, one, 1), lengths[i] - 1);
		wrong += crc32_le_bit(77, 77 ^ sum, lengths[i]) != 4;
		wrong += crc32_le_bit(77, 77 ^ sum, lengths[i] - 1) !=
			 CRCSOLVE_NONE;
	}
	is_int(wrong, 0, "a bit at the beginning of a long message is found");
	ok(crc32_le_bit(1, 2, CRCSOLVE_BYTES_MAX + 1) == CRCSOLVE_NONE,
	   "a message that is too long has no answer");
}

static void test_exchange(void)
{
	unsigned char text[1000], other[128];
	uint32_t sum, wrong = 0;
	size_t at;

	fill(other, sizeof(other), 9);
	for (at = 0; at + sizeof(other) <= sizeof(text); at++) {
		fill(text, sizeof(text), 8);
		sum = crc32_le(SEED, text, sizeof(text));
		sum ^= crc32_le_exchange(text + at, other, sizeof(other),
					 sizeof(text) - at - sizeof(other));
		memcpy(text + at, other, sizeof(other));
		wrong += sum != crc32_le(SEED, text, sizeof(text));
	}
	is_int(wrong, 0, "the sum after an exchange, anywhere in a message");
}

int main(void)
{
	static const unsigned int lengths[] = {1, 2, 3, 4, 7, 64, 280};
	size_t i;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		test_every_bit(lengths[i]);
	test_others();
	test_long();
	test_exchange();
	return tap_done();
}
