// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON, sections and tables: the same calls in three forms. */
#include "out/histogram.h"
#include "out/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "out/table.h"
#include "tap.h"

static struct context cx;

static struct out *memory(void)
{
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	return out;
}

/* Compares what was put with WANT, closes. */
static void is_put(struct out *out, const char *want, const char *name)
{
	is_str(out_memory(out, NULL), want, name);
	out_close(out, &cx);
}

static void is_escaped(const char *bytes, size_t len, const char *want,
		       bool faithful, const char *name)
{
	struct out *out = memory();
	struct json json;

	json = (struct json){ .out = out };
	is_int(json_string(&json, NULL, bytes, len), faithful,
	       faithful ? "is faithful" : "is not faithful");
	is_put(out, want, name);
}

static void test_escapes(void)
{
	is_escaped("plain", 5, "\"plain\"", true, "letters stay");
	is_escaped("\"\\/", 3, "\"\\\"\\\\/\"", true, "quote and backslash");
	is_escaped("\b\t\n\v\f\r", 6, "\"\\b\\t\\n\\u000b\\f\\r\"", true,
		   "controls with a letter of their own, and one without");
	is_escaped("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"",
		   true, "other controls");
	is_escaped("\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7", 9,
		   "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\xa7\"", true,
		   "UTF-8 of two, three and four bytes stays");
	is_escaped("a\xff" "b", 3, "\"a\xef\xbf\xbd" "b\"", false,
		   "a byte that is never UTF-8");
	is_escaped("\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"", false,
		   "an overlong slash");
	is_escaped("\xed\xa0\x80", 3,
		   "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", false,
		   "a surrogate");
	is_escaped("\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"", false,
		   "a character cut short");
}

#define AMONG 24

/* QUOTE, tildes with SHOWN for the one at AT, QUOTE; closes. */
static bool is_among(struct out *out, unsigned int at, const char *shown,
		     const char *quote)
{
	char tildes[AMONG + 1] = "", want[64];
	bool same;

	memset(tildes, '~', AMONG);
	snprintf(want, sizeof(want), "%s%.*s%s%s%s", quote, (int)at, tildes,
		 shown, tildes + at + 1, quote);
	same = !strcmp(out_memory(out, NULL), want);
	out_close(out, &cx);
	return same;
}

/* A special character is seen wherever it stands among plain ones. */
static void test_escape_places(void)
{
	static const struct {
		char c;
		const char *text, *json;
	} special[] = {
		{ '\x01', "\\x01", "\\u0001" }, { '\x1f', "\\x1f", "\\u001f" },
		{ '\x7f', "\\x7f", "\\u007f" }, { '\\', "\\\\", "\\\\" },
		{ '\xff', "\\xff", "\xef\xbf\xbd" }, { '"', "\"", "\\\"" },
		{ ' ', " ", " " },
	};
	unsigned int i, at, wrong = 0;
	char name[AMONG];

	for (i = 0; i < sizeof(special) / sizeof(special[0]) * AMONG; i++) {
		struct value v = value_bytes(name, AMONG);
		struct out *text = memory(), *quoted = memory();
		unsigned int n = i / AMONG;
		struct json json;

		at = i % AMONG;
		memset(name, '~', AMONG);
		name[at] = special[n].c;
		value_put(text, VALUE_STRING, NULL, &v, 0, false);
		wrong += !is_among(text, at, special[n].text, "");
		json = (struct json){ .out = quoted };
		json_string(&json, NULL, name, AMONG);
		wrong += !is_among(quoted, at, special[n].json, "\"");
	}
	is_int(wrong, 0, "each is escaped in any place");
}

static void test_json_shapes(void)
{
	const struct value most = value_u64(UINT64_MAX), no = value_bool(false);
	const struct value least = value_u64((uint64_t)INT64_MIN);
	const struct value absent = value_absent();
	struct out *out = memory();
	struct json json;

	json = (struct json){ .out = out };
	json_open(&json, NULL, JSON_WIDE, '{');
	report_json_value(&json, VALUE_U64, NULL, "a", &most);
	json_open(&json, "b", JSON_WIDE, '[');
	json_open(&json, "unseen", JSON_TIGHT, '{');
	report_json_value(&json, VALUE_I64, NULL, "c", &least);
	json_open(&json, "d", JSON_WIDE, '[');
	json_end(&json);
	report_json_value(&json, VALUE_BOOL, NULL, "e", &absent);
	json_end(&json);
	report_json_value(&json, VALUE_BOOL, NULL, NULL, &no);
	json_end(&json);
	json_open(&json, "f", JSON_WIDE, '{');
	json_end(&json);
	json_end(&json);
	is_put(out,
	       "{\n  \"a\": 18446744073709551615,\n  \"b\": [\n"
	       "    {\"c\":-9223372036854775808,\"d\":[],\"e\":null},\n"
	       "    false\n  ],\n  \"f\": {}\n}\n",
	       "wide and tight containers, keys in objects only");
}

static void test_json_depth(void)
{
	struct out *out = memory();
	struct json json;
	int i;

	json = (struct json){ .out = out };
	for (i = 0; i <= JSON_DEPTH_MAX; i++)
		json_open(&json, NULL, JSON_TIGHT, '[');
	for (i = 0; i <= JSON_DEPTH_MAX; i++)
		json_end(&json);
	is_int(out_close(out, &cx), -EOVERFLOW, "nesting has an end");
}

static const struct value_flag flags[] = {
	{ 1, "active" },
	{ 2, "dirty" },
	{ 4, "error" },
	{ 0 },
};

enum { NUMBER, SIGNED, HEX, SIZE, SHARE, TIME, FLAGS, ANSWER, NAME, COLUMNS };
static const struct column columns[COLUMNS] = {
	[NUMBER] = { "number", "NUMBER", VALUE_U64, 8 },
	[SIGNED] = { "signed", "SIGNED", VALUE_I64, 0 },
	[HEX] = { "hex", "HEX", VALUE_HEX, 6 },
	[SIZE] = { "size", "SIZE", VALUE_SIZE, 6 },
	[SHARE] = { "share", "SHARE", VALUE_PERCENT, 6 },
	[TIME] = { "time", "TIME", VALUE_TIME, 25 },
	[FLAGS] = { "flags", "FLAGS", VALUE_FLAGS, 8, flags },
	[ANSWER] = { "answer", "ANSWER", VALUE_BOOL, 0 },
	[NAME] = { "name", "NAME", VALUE_STRING, 0 },
};

static void put_rows(struct report *r)
{
	struct table t;

	table_begin(&t, r, "things", columns, COLUMNS);
	table_row(&t, (struct value[COLUMNS]){
		[NUMBER] = value_u64(42),
		[SIGNED] = value_u64((uint64_t)-7),
		[HEX] = value_u64(0x3434),
		[SIZE] = value_u64(8 << 20),
		[SHARE] = value_percent(1, 3),
		[TIME] = value_u64(1234567890),
		[FLAGS] = value_u64(1 | 4 | 0x80),
		[ANSWER] = value_bool(true),
		[NAME] = value_bytes("a\xff\n", 3),
	});
	table_row(&t, (struct value[COLUMNS]){
		[NUMBER] = value_u64(123456789012),
		[FLAGS] = value_u64(0),
	});
	table_end(&t);
}

/* Thousandths, in text and as a number of JSON. */
static void test_ratio(void)
{
	static const struct column ratio = { "ratio", "RATIO", VALUE_RATIO, 7 };
	static const struct {
		enum report_mode mode;
		const char *want;
	} cases[] = {
		{ REPORT_TEXT, "  RATIO\n  2.692\n  0.005\n      -\n" },
		{ REPORT_JSON_LINES, "{\"record\":\"r\",\"ratio\":2.692}\n"
		  "{\"record\":\"r\",\"ratio\":0.005}\n"
		  "{\"record\":\"r\",\"ratio\":null}\n" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct out *out = memory();
		struct report r;
		struct table t;

		report_init(&r, out, cases[i].mode);
		table_begin(&t, &r, "r", &ratio, 1);
		table_row(&t, (struct value[]){ value_ratio(2692, 1000) });
		table_row(&t, (struct value[]){ value_ratio(1, 200) });
		table_row(&t, (struct value[]){ value_ratio(1, 0) });
		table_end(&t);
		report_fini(&r);
		is_put(out, cases[i].want, "ratios");
	}
}

static struct out *report_rows(enum report_mode mode, bool in_section)
{
	struct out *out = memory();
	struct report r;

	report_init(&r, out, mode);
	if (in_section)
		report_begin(&r, "outer", "Outer");
	put_rows(&r);
	if (in_section)
		report_end(&r);
	report_fini(&r);
	return out;
}

#define ROW_1                                                                \
	"{\"number\":42,\"signed\":-7,\"hex\":13364,\"size\":8388608,"       \
	"\"share\":33.33,\"time\":1234567890,"                               \
	"\"time_iso\":\"2009-02-13T23:31:30Z\",\"flags\":133,"               \
	"\"flags_names\":[\"active\",\"error\",\"0x80\"],\"answer\":true,"   \
	"\"name\":\"a\xef\xbf\xbd\\n\",\"name_hex\":\"61ff0a\"}"
#define ROW_2                                                                \
	"{\"number\":123456789012,\"signed\":null,\"hex\":null,"             \
	"\"size\":null,\"share\":null,\"time\":null,\"flags\":0,"            \
	"\"flags_names\":[],\"answer\":null,\"name\":null}"

static void test_table(void)
{
	is_put(report_rows(REPORT_TEXT, false),
	       "  NUMBER  SIGNED     HEX    SIZE   SHARE  TIME                     "
	       "  FLAGS     ANSWER  NAME\n"
	       "      42      -7  0x3434   8 MiB   33.3%  2009-02-13 23:31:30 +0000"
	       "  active,error,0x80  yes     a\\xff\\x0a\n"
	       "123456789012       -       -       -       -  -                      "
	       "    -         -       -\n",
	       "text: numbers right, words left, absent is -");
	is_put(report_rows(REPORT_JSON, false),
	       "{\n  \"things\": [\n    " ROW_1 ",\n    " ROW_2 "\n  ]\n}\n",
	       "JSON: an array in the document");
	is_put(report_rows(REPORT_JSON, true),
	       "{\n  \"outer\": {\n    \"things\": [\n      " ROW_1
	       ",\n      " ROW_2 "\n    ]\n  }\n}\n",
	       "JSON: the table of a section is a member of it");
}

static void test_table_lines(void)
{
	struct out *out = report_rows(REPORT_JSON_LINES, false);
	const char *text = out_memory(out, NULL);

	ok(!strncmp(text, "{\"record\":\"things\",\"number\":42,", 31),
	   "JSON lines: each row names its table");
	ok(strstr(text, "\"61ff0a\"}\n{\"record\":\"things\",\"number\":1234"),
	   "and is a line");
	out_close(out, &cx);
	is_put(report_rows(REPORT_JSON_LINES, true),
	       "{\"record\":\"outer\",\"things\":[" ROW_1 "," ROW_2 "]}\n",
	       "a section with its table is one line");
}

static void test_empty(void)
{
	struct out *out = memory();
	struct report r;
	struct table t;

	report_init(&r, out, REPORT_JSON);
	report_fini(&r);
	is_int(out->next - out->buffer, 0, "nothing said, nothing put");
	table_begin(&t, &r, "things", columns, COLUMNS);
	table_end(&t);
	report_fini(&r);
	is_put(out, "{\n  \"things\": []\n}\n", "no rows: an empty array");
}

static struct out *report_sections(enum report_mode mode)
{
	struct out *out = memory();
	struct report r;

	report_init(&r, out, mode);
	report_list(&r, "superblocks");
	report_begin(&r, "superblock", "Superblock 1");
	report_value(&r, VALUE_HEX, "s_magic", "Magic", value_u64(0x3434));
	report_put(&r, VALUE_FLAGS, flags, "s_state", "State", value_u64(2));
	report_begin(&r, "log", "Log");
	report_u64(&r, "sequence", "Sequence", 9);
	report_end(&r);
	report_end(&r);
	report_begin(&r, "superblock", "Superblock 2");
	report_string(&r, "s_volume_name", "Label", NULL);
	report_end(&r);
	report_end(&r);
	report_text(&r, "for people: %d", 1);
	report_fini(&r);
	return out;
}

static void test_sections(void)
{
	is_put(report_sections(REPORT_TEXT),
	       "Superblock 1:\n"
	       "  Magic:                  0x3434\n"
	       "  State:                  dirty\n"
	       "  Log:\n"
	       "    Sequence:             9\n"
	       "Superblock 2:\n"
	       "  Label:                  -\n"
	       "for people: 1\n",
	       "text: titles, indented values in one column");
	is_put(report_sections(REPORT_JSON),
	       "{\n  \"superblocks\": [\n    {\n      \"s_magic\": 13364,\n"
	       "      \"s_state\": 2,\n"
	       "      \"s_state_names\": [\"dirty\"],\n"
	       "      \"log\": {\n        \"sequence\": 9\n      }\n    },\n"
	       "    {\n      \"s_volume_name\": null\n    }\n  ]\n}\n",
	       "JSON: nested objects");
	is_put(report_sections(REPORT_JSON_LINES),
	       "{\"record\":\"superblock\",\"s_magic\":13364,\"s_state\":2,"
	       "\"s_state_names\":[\"dirty\"],\"log\":{\"sequence\":9}}\n"
	       "{\"record\":\"superblock\",\"s_volume_name\":null}\n",
	       "JSON lines: a line per section of a list");
}

static void test_histogram(void)
{
	struct histogram h;
	struct out *out = memory();
	struct report r;

	histogram_linear(&h, 5, 3);
	histogram_add(&h, 0, 1);
	histogram_add(&h, 3, 100);
	histogram_add(&h, 4, 50);
	histogram_add(&h, 99, 1);
	report_init(&r, out, REPORT_TEXT);
	histogram_report(&h, &r, "sizes", VALUE_U64, 10);
	is_put(out,
	       "      FROM          TO       COUNT\n"
	       "         0           1           1  #\n"
	       "         2           3         100  ##########\n"
	       "         4           5          51  ######\n",
	       "bars by the largest; the last bucket takes what is past it");

	out = memory();
	histogram_linear(&h, 99, 4);
	histogram_add(&h, 24, 1);
	histogram_add(&h, 25, 2);
	report_init(&r, out, REPORT_JSON_LINES);
	histogram_report(&h, &r, "ages", VALUE_U64, 10);
	is_put(out,
	       "{\"record\":\"ages\",\"from\":0,\"to\":24,\"count\":1}\n"
	       "{\"record\":\"ages\",\"from\":25,\"to\":49,\"count\":2}\n"
	       "{\"record\":\"ages\",\"from\":50,\"to\":74,\"count\":0}\n"
	       "{\"record\":\"ages\",\"from\":75,\"to\":99,\"count\":0}\n",
	       "equal buckets as JSON, without bars");
}

int main(void)
{
	context_init(&cx);
	test_escapes();
	test_escape_places();
	test_json_shapes();
	test_json_depth();
	test_table();
	test_table_lines();
	test_ratio();
	test_empty();
	test_sections();
	test_histogram();
	return tap_done();
}
