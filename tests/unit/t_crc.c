// SPDX-License-Identifier: GPL-2.0-or-later
/* crc32_le() against its definition and the published check value. */
#include "base/crc.h"

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
	return tap_done();
}
