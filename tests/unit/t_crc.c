// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crc32_le(), by the library of this build, against the definition and the published
 * check value.
 */
#include "base/crc.h"

#include <stdlib.h>
#include <string.h>


#include "tap.h"

/* The definition, bit by bit. */
static uint32_t by_definition(uint32_t crc, const unsigned char *p, size_t len)
{
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/* For each of three sums. */
static void add_byte(uint32_t *sums, unsigned char byte)
{
	int i;

	for (i = 0; i < 3; i++)
		sums[i] = by_definition(sums[i], &byte, 1);
}

#define ROOM (1u << 17)

typedef uint32_t crc_function(uint32_t seed, const void *buf, size_t len);

/* All lengths about a vector or two, and some long ones, at any alignment. */
static void test_function(const char *name, crc_function *fn,
			  const unsigned char *bytes)
{
	static const size_t lengths[] = {
		1000, 1024, 4095, 4096, 4097, 65536, ROOM - 70,
	};
	static const uint32_t seeds[] = {0, ~0u, 0x12345678};
	uint32_t wrong = 0, sums[3];
	size_t i, len;

	for (i = 0; i < 65; i++) {
		memcpy(sums, seeds, sizeof(sums));
		for (len = 1; len < 600; len++) {
			add_byte(sums, bytes[i + len - 1]);
			wrong += i % (len % 7 + 1) == 0 &&
				 fn(seeds[len % 3], bytes + i, len) !=
					 sums[len % 3];
		}
	}
	for (i = 0; i < 3 * sizeof(lengths) / sizeof(*lengths); i++) {
		len = lengths[i / 3];
		wrong += fn(seeds[i % 3], bytes + i * 3, len) !=
			 by_definition(seeds[i % 3], bytes + i * 3, len);
	}
	is_int(wrong, 0, name);
}

static void test_functions(void)
{
	unsigned char *bytes = malloc(ROOM);
	uint32_t i, v = 1;

	for (i = 0; bytes && i < ROOM; i++) {
		v = v * 1664525u + 1013904223u;
		bytes[i] = (unsigned char)(v >> 24);
	}
	ok(bytes, "bytes to count");
	if (!bytes)
		return;
	test_function("crc32_le() is the definition", crc32_le, bytes);
	free(bytes);
}

/* Zeros that are nowhere: of many lengths, and more than there is memory. */
static void test_zeros(void)
{
	static const unsigned char zeros[5000];
	uint32_t wrong = 0, half;
	size_t len;

	for (len = 0; len <= sizeof(zeros); len++)
		wrong += crc32_le_zeros(0xabcdef, len) !=
			 crc32_le(0xabcdef, zeros, len);
	is_int(wrong, 0, "zeros that are nowhere count as if they were there");
	half = crc32_le_zeros(77, (size_t)1 << 30);
	ok(crc32_le_zeros(half, (size_t)1 << 30) ==
		   crc32_le_zeros(77, (size_t)1 << 31),
	   "and a GiB twice as two of them");
	ok(crc32_le_zeros(77, UINT32_MAX) == 77,
	   "and so many that the sum comes round");
}

/* Backwards: the seed that a checksum began with. */
static void test_seed(void)
{
	unsigned char bytes[1000];
	uint32_t wrong = 0, seed = 1;
	size_t len;

	for (len = 0; len < sizeof(bytes); len++)
		bytes[len] = (unsigned char)(len * 31 >> 2);
	for (len = 0; len <= sizeof(bytes); len++) {
		seed = seed * 1664525 + 1013904223;
		wrong += crc32_le_seed(by_definition(seed, bytes, len), bytes,
				       len) != seed;
	}
	is_int(wrong, 0, "the seed follows from the sum and the bytes");
}

int main(void)
{
	unsigned char text[300];
	uint32_t crc;
	size_t i;

	ok(~crc32_le(~0u, "123456789", 9) == 0xcbf43926,
	   "the check value of CRC-32, which inverts before and after");
	ok(crc32_le(0, "\1", 1) == 0x77073096,
	   "seed 0 and one byte: an entry of the usual table");
	ok(crc32_le(0x12345678, "", 0) == 0x12345678, "no bytes: the seed");

	for (i = 0; i < sizeof(text); i++)
		text[i] = i * 7 + 3;
	ok(crc32_le(0xdeadbeef, text, sizeof(text)) ==
		   by_definition(0xdeadbeef, text, sizeof(text)),
	   "300 bytes, as by definition");
	crc = crc32_le(0xdeadbeef, text, 100);
	ok(crc32_le(crc, text + 100, 200) ==
		   crc32_le(0xdeadbeef, text, sizeof(text)),
	   "the sum of the first part is the seed of the second");

	memset(text, 0, sizeof(text));
	ok(crc32_le_zeros(77, sizeof(text)) ==
		   by_definition(77, text, sizeof(text)),
	   "300 zeros that are nowhere");
	test_zeros();
	test_seed();
	test_functions();
	return tap_done();
}
