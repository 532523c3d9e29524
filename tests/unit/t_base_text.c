// SPDX-License-Identifier: GPL-2.0-or-later
/* Sizes, names, times and UUIDs as text. */
#include "config.h"

#include "base/size.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "base/uuidtext.h"

#include <errno.h>
#include <time.h>

#include "tap.h"

static void test_size_parse(void)
{
	static const struct {
		const char *text;
		int ret;
		uint64_t bytes;
	} rows[] = {
		{"0", 0, 0},
		{"4096", 0, 4096},
		{"4096B", 0, 4096},
		{"1k", 0, 1024},
		{"16M", 0, 16777216},
		{"8MiB", 0, 8388608},
		{"8mib", 0, 8388608},
		{"100MB", 0, 100000000},
		{"1kB", 0, 1000},
		{"1.5G", 0, 1610612736},
		{"0.1K", 0, 102},
		{"2.5EB", 0, 2500000000000000000},
		{"1T", 0, 1099511627776},
		{"15E", 0, UINT64_C(15) << 60},
		{"15.9999999999999999999E", 0, UINT64_C(18446744073709551614)},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 77},
		{"16E", -ERANGE, 77},
		{"99999999999999999999999", -ERANGE, 77},
		{"", -EINVAL, 77},
		{"M", -EINVAL, 77},
		{"-1", -EINVAL, 77},
		{"+1", -EINVAL, 77},
		{" 1", -EINVAL, 77},
		{"1 M", -EINVAL, 77},
		{"1Mi", -EINVAL, 77},
		{"1MiBs", -EINVAL, 77},
		{"1.5", -EINVAL, 77},
		{"1.M", -EINVAL, 77},
		{".5M", -EINVAL, 77},
		{"0x10", -EINVAL, 77},
		{"1,5M", -EINVAL, 77},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t bytes = 77;
		int ret = size_parse(rows[i].text, &bytes);

		ok(ret == rows[i].ret && bytes == rows[i].bytes,
		   "size '%s': %d, %llu", rows[i].text, ret,
		   (unsigned long long)bytes);
	}
}

static void test_size_format(void)
{
	char buf[SIZE_TEXT_MAX];

	is_str(size_format(0, buf), "0 B", "nothing");
	is_str(size_format(1023, buf), "1023 B", "bytes");
	is_str(size_format(1024, buf), "1 KiB", "one unit");
	is_str(size_format(1536, buf), "1.5 KiB", "one digit");
	is_str(size_format(16777216, buf), "16 MiB", "whole units");
	is_str(size_format(1048575, buf), "1.0 MiB",
	       "rounding may reach the next unit");
	is_str(size_format(2097152 + 52428, buf), "2.0 MiB", "rounded down");
	is_str(size_format(2097152 + 52429, buf), "2.1 MiB", "rounded up");
	is_str(size_format(UINT64_MAX, buf), "16.0 EiB", "the largest");
}

static void is_escaped(const char *name, size_t len, const char *want)
{
	char buf[256];

	is_int(text_escape(buf, sizeof(buf), name, len), strlen(want), want);
	is_str(buf, want, "and its text");
}

static void test_text(void)
{
	char buf[8];

	is_escaped("plain name.txt", 14, "plain name.txt");
	is_escaped("a\nb\tc\x7f", 6, "a\\x0ab\\x09c\\x7f");
	is_escaped("back\\slash", 10, "back\\\\slash");
	is_escaped("\0", 1, "\\x00");
	is_escaped("\xc3\xa9t\xc3\xa9", 5, "\xc3\xa9t\xc3\xa9");
	is_escaped("\xe2\x82\xac \xf0\x9f\x98\x80", 8,
		   "\xe2\x82\xac \xf0\x9f\x98\x80");
	is_escaped("\xe9t\xe9", 3, "\\xe9t\\xe9");
	is_escaped("\xe2\x82", 2, "\\xe2\\x82");
	is_escaped("\xc0\xaf", 2, "\\xc0\\xaf");
	is_escaped("\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf");
	is_escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");
	is_escaped("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80");
	is_escaped("\xc2\x9b", 2, "\\xc2\\x9b");
	is_escaped("\xe2\x80\xae"
		   "exe",
		   6,
		   "\\xe2\\x80\\xae"
		   "exe");

	is_int(text_escape(buf, sizeof(buf), "abcdef\ng", 8), 6,
	       "a text that does not fit");
	is_str(buf, "abcdef", "is not cut inside an escape");
	is_int(text_escape(buf, 1, "a", 1), 0, "room for nothing");
}

static void test_time(void)
{
	char buf[TIMEFMT_ISO_MAX], want[64];
	unsigned int wrong = 0;
	int64_t t;

	is_str(timefmt_iso(0, buf), "1970-01-01T00:00:00Z", "the epoch");
	is_str(timefmt_iso(-1, buf), "1969-12-31T23:59:59Z", "before it");
	is_str(timefmt_iso(951782400, buf), "2000-02-29T00:00:00Z",
	       "a leap day");
	is_str(timefmt_iso(253402300799, buf), "9999-12-31T23:59:59Z",
	       "the last four-digit year");
	is_str(timefmt_iso(253402300800, buf), "+10000-01-01T00:00:00Z",
	       "the first with five");
	is_str(timefmt_iso(-62167219201, buf), "-0001-12-31T23:59:59Z",
	       "before year 0");
	is_str(timefmt_iso(INT64_MAX, buf), "+292277026596-12-04T15:30:07Z",
	       "the end of time");
	is_str(timefmt_iso(INT64_MIN, buf), "-292277022657-01-27T08:29:52Z",
	       "its beginning");
	for (t = -60000000000; t < 250000000000; t += 7654321) {
		time_t when = (time_t)t;
		struct tm tm;

		/* It may have 32 bits. */
		if (when != t)
			continue;
		gmtime_r(&when, &tm);
		snprintf(want, sizeof(want), "%04d-%02d-%02dT%02d:%02d:%02dZ",
			 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
			 tm.tm_hour, tm.tm_min, tm.tm_sec);
		wrong += strcmp(timefmt_iso(t, buf), want) != 0;
	}
	is_int(wrong, 0, "agrees with gmtime_r() over ten thousand years");
	is_str(timefmt_zone(951782400, 0, buf), "2000-02-29 00:00:00 +0000",
	       "in UTC");
	is_str(timefmt_zone(951782400, 5 * 3600 + 1800, buf),
	       "2000-02-29 05:30:00 +0530", "east of it");
	is_str(timefmt_zone(951782400, -3 * 3600 - 59, buf),
	       "2000-02-28 21:00:00 -0300", "west, without seconds");
	is_str(timefmt_zone(INT64_MAX, 3600, buf),
	       "+292277026596-12-04 15:30:07 +0000", "no later time");
	ok(timefmt_parse("2000-02-29 05:30:00 +0530", &t) && t == 951782400,
	   "a time with an offset is read");
	ok(timefmt_parse("2000-02-28 21:00:00 -0300", &t) && t == 951782400,
	   "one below zero, too");
	ok(!timefmt_parse("2000-02-29 00:00:00", &t) &&
	   !timefmt_parse("2000-02-29 00:00:00 +000", &t) &&
	   !timefmt_parse("2000-02-29 00:00:00 +00000", &t) &&
	   !timefmt_parse("2000-02-29 00:00:00 +0060", &t),
	   "one without a whole offset is not");
	ok(timefmt_parse("2000-02-29T00:00:00Z", &t) && t == 951782400,
	   "a time is read");
	ok(!timefmt_parse("2000-02-29", &t) &&
		   !timefmt_parse("2000-02-29T00:00:00Z ", &t),
	   "all of it, and nothing else");
}

/* The vectors are those of the authors of FNV. */
static void test_hash(void)
{
	ok(text_hash("", 0) == UINT64_C(0xcbf29ce484222325) &&
		   text_hash("a", 1) == UINT64_C(0xaf63dc4c8601ec8c) &&
		   text_hash("foobar", 6) == UINT64_C(0x85944171f73967e8),
	   "a hash of bytes");
}

static void test_uuid(void)
{
	static const char text[] = "0123abcd-4567-89ef-8000-00c04fd430c8";
	uint8_t uuid[16], other[16];
	char buf[UUIDTEXT_MAX];

	is_int(uuidtext_parse("0123ABCD-4567-89EF-8000-00C04FD430C8", uuid), 0,
	       "a UUID is read");
	ok(uuid[0] == 0x01 && uuid[3] == 0xcd && uuid[15] == 0xc8,
	   "into bytes in the order of the text");
	is_str(uuidtext_format(uuid, buf), text, "and written in lower case");
	is_int(uuidtext_parse("0123abcd-4567-89ef-8000-00c04fd430c", other),
	       -EINVAL, "too short");
	is_int(uuidtext_parse("0123abcd-4567-89ef-8000-00c04fd430cg", other),
	       -EINVAL, "no hexadecimal digit");
	is_int(uuidtext_parse("{123abcd-4567-89ef-8000-00c04fd430c8", other),
	       -EINVAL, "another form");
	uuidtext_make("random", uuid);
	uuidtext_make("random", other);
	ok(memcmp(uuid, other, 16), "random ones differ");
	ok(uuid[6] >> 4 == 4 && uuid[8] >> 6 == 2, "and are of version 4");
}

int main(void)
{
	test_size_parse();
	test_size_format();
	test_text();
	test_time();
	test_hash();
	test_uuid();
	return tap_done();
}
