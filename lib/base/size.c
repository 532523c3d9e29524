// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sizes as people write and read them.
 *
 * Done by hand because strtoull() takes signs and blanks and reports too
 * large numbers through errno, and because a fraction of a unit must come out
 * exact where it is a whole number of bytes, which floating point does not
 * promise.
 */
#include "base/size.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/checked.h"
#include "base/wide.h"

static const char units[] = "KMGTPE";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes of the unit named TEXT, 0 if it is not a unit. */
static uint64_t unit_size(const char *text)
{
	uint64_t base = 1024, size = 1;
	const char *unit;

	if (!*text || !strcasecmp(text, "B"))
		return 1;
	for (unit = units; *unit; unit++)
		if (!strncasecmp(unit, text, 1))
			break;
	if (!*unit)
		return 0;
	if (!strcasecmp(text + 1, "B"))
		base = 1000;
	else if (text[1] && strcasecmp(text + 1, "iB"))
		return 0;
	for (; unit >= units; unit--)
		size *= base;
	return size;
}

/* Digits past the 18th after the point are less than a byte of any unit. */
static uint64_t fraction_of(const char *digits, size_t count, uint64_t unit)
{
	uint64_t value = 0, scale = 1;
	size_t i;

	for (i = 0; i < count && i < 18; i++) {
		value = value * 10 + (uint64_t)(digits[i] - '0');
		scale *= 10;
	}
	return wide_mul_div(value, unit, 0, scale);
}

int size_parse(const char *text, uint64_t *bytes)
{
	uint64_t value = 0, unit;
	const char *p = text, *fraction = NULL;
	size_t digits = 0;
	bool fits = true;

	for (; is_digit(*p); p++)
		fits = fits && checked_mul(value, 10, &value) &&
		       checked_add(value, (uint64_t)(*p - '0'), &value);
	if (p == text)
		return -EINVAL;
	if (*p == '.') {
		fraction = ++p;
		while (is_digit(*p))
			p++;
		digits = (size_t)(p - fraction);
	}
	unit = unit_size(p);
	if (!unit || (fraction && (!digits || unit == 1)))
		return -EINVAL;
	if (!fits || !checked_mul(value, unit, &value) ||
	    !checked_add(value, fraction_of(fraction, digits, unit), &value))
		return -ERANGE;
	*bytes = value;
	return 0;
}

char *size_format(uint64_t bytes, char buf[SIZE_TEXT_MAX])
{
	unsigned int unit, shift;
	uint64_t tenths;

	for (unit = 0; unit < 6 && bytes >> (10 * unit) >= 1024; unit++)
		;
	if (!unit) {
		snprintf(buf, SIZE_TEXT_MAX, "%" PRIu64 " B", bytes);
		return buf;
	}
	shift = 10 * unit;
	if (!(bytes & ((UINT64_C(1) << shift) - 1))) {
		snprintf(buf, SIZE_TEXT_MAX, "%" PRIu64 " %ciB", bytes >> shift,
			 units[unit - 1]);
		return buf;
	}
	tenths = wide_mul_div(bytes, 10, UINT64_C(1) << (shift - 1),
			      UINT64_C(1) << shift);
	if (tenths >= 10240 && unit < 6) {
		tenths = 10;
		unit++;
	}
	snprintf(buf, SIZE_TEXT_MAX, "%" PRIu64 ".%u %ciB", tenths / 10,
		 (unsigned int)(tenths % 10), units[unit - 1]);
	return buf;
}
