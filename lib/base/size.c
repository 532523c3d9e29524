// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sizes for people.
 *
 * strtoull() is not used, because it accepts signs and blanks and reports overflow
 * through errno.  Floating point is not used, because a fraction of a unit must be
 * exact if it is a whole number of bytes.
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

int size_parse(const char *text, uint64_t *bytes)
{
	uint64_t value = 0, fraction = 0, scale = 1, unit;
	const char *p = text;
	size_t i, digits = 0;
	bool point, fits = true;

	for (; *p >= '0' && *p <= '9'; p++)
		fits = fits && checked_mul(value, 10, &value) &&
		       checked_add(value, (uint64_t)(*p - '0'), &value);
	if (p == text)
		return -EINVAL;
	point = *p == '.';
	if (point) {
		digits = strspn(++p, "0123456789");
		/* Digits after the 18th are less than a byte of any unit. */
		for (i = 0; i < digits && i < 18; i++) {
			fraction = fraction * 10 + (uint64_t)(p[i] - '0');
			scale *= 10;
		}
		p += digits;
	}
	unit = unit_size(p);
	if (!unit || (point && (!digits || unit == 1)))
		return -EINVAL;
	if (!fits || !checked_mul(value, unit, &value) ||
	    !checked_add(value, wide_mul_div(fraction, unit, 0, scale), &value))
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
