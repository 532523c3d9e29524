// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of options: what they store, what they refuse, their help. */
#include "cli/option.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/help.h"
#include "tap.h"

struct options {
	bool all;
	unsigned int verbose;
	int mode, choice;
	uint64_t checkpoint, size;
	uint32_t small;
	int64_t offset;
	const char *label;
	size_t called;
	struct option_list words;
	int maybe;
};

struct common {
	bool json;
};

static int call(struct context *cx, const char *arg, void *where)
{
	if (!strcmp(arg, "bad"))
		return fail(cx, -EINVAL, "called with bad");
	*(size_t *)where += strlen(arg);
	return 0;
}

static const char *const choices[] = { "auto", "on", "off", NULL };

#define AT(member) offsetof(struct options, member)
static const struct cli_option rows[] = {
	{ 'a', "all", NULL, "everything", OPTION_FLAG, AT(all) },
	{ 'v', NULL, NULL, "more", OPTION_COUNT, AT(verbose) },
	{ 'y', "yes", NULL, "yes", OPTION_SET, AT(mode), 1, 5 },
	{ 'n', "no", NULL, "no", OPTION_SET, AT(mode), 1, 6 },
	{ 'c', "checkpoint", "CNO", "look at CNO", OPTION_U64, AT(checkpoint) },
	{ 0, "small", "N", "a small number", OPTION_U32, AT(small) },
	{ 0, "some", "N", "not too few", OPTION_U32, AT(small), .least = 3 },
	{ 0, "share", "N", "not too many", OPTION_U64, AT(checkpoint),
	  .most = 100 },
	{ 0, "block", "SIZE", "both", OPTION_SIZE, AT(size), .least = 1024,
	  .most = 65536 },
	{ 0, "offset", "N", "a signed number", OPTION_I64, AT(offset) },
	{ 's', "size", "SIZE", "a size", OPTION_SIZE, AT(size) },
	{ 'L', "label", "TEXT", "a label", OPTION_STRING, AT(label) },
	{ 0, "when", "WHEN", "a choice", OPTION_CHOICE, AT(choice), 0, 0,
	  choices, NULL },
	{ 'w', "word", "WORD", "one more word", OPTION_LIST, AT(words) },
	{ 0, "maybe", "[=WHEN]", "a choice with an own value", OPTION_CHOICE,
	  AT(maybe), 0, 2, choices, NULL },
	{ 0, "call", "X", NULL, OPTION_CALL, AT(called), 0, 0, NULL, call },
	{ 0, "either", NULL, "not with yes or no", OPTION_FLAG, AT(all),
	  .against = 1 },
	{ 0, "other", NULL, "the same", OPTION_FLAG, AT(all), .against = 1 },
	{ 0 },
};
static const struct cli_option common_rows[] = {
	{ 0, "json", NULL, "as JSON", OPTION_FLAG,
	  offsetof(struct common, json) },
	{ 0 },
};

static struct context cx;
static struct options o;
static struct common common;

/* Parses LINE, split at blanks, into O and COMMON. */
static int parse(const char *line, bool stop_at_word)
{
	static char copy[256];
	static char *argv[32];
	const struct option_set sets[] = {
		{ rows, &o },
		{ common_rows, &common },
	};
	int argc = 0;
	char *word;

	option_free(sets, 2);
	memset(&o, 0, sizeof(o));
	memset(&common, 0, sizeof(common));
	fail_clear(&cx);
	snprintf(copy, sizeof(copy), "tool %s", line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return option_parse(&cx, sets, 2, argc, argv, stop_at_word);
}

static void test_stores(void)
{
	is_int(parse("-a -vv image -c 0x10 --json --size=16M word", false), 7,
	       "words go after the options");
	ok(o.all && common.json, "flags of both sets");
	is_int(o.verbose, 2, "a count");
	is_int(o.checkpoint, 16, "a number in hexadecimal");
	is_int(o.size, 16 << 20, "a size");
	parse("--offset -5 --small 4294967295 -L name --when off", false);
	is_int(o.offset, -5, "a negative number");
	is_int(o.small, UINT32_MAX, "the largest small number");
	is_str(o.label, "name", "a text");
	is_int(o.choice, 2, "a choice by index");
	parse("--offset -9223372036854775808 --call abc --call d", false);
	is_int(o.offset, INT64_MIN, "the least signed number");
	is_int(o.called, 4, "a call for each use");
	is_int(parse("-a info -c x", true), 2,
	       "the first word stops the parse");
	is_int(parse("-a -- -v", false), 3, "nothing is an option after --");
}

static void test_lists(void)
{
	parse("-w a --word=b -a -wc", false);
	is_int(o.words.count, 3, "an option three times");
	ok(!strcmp(o.words.items[0], "a") && !strcmp(o.words.items[1], "b") &&
	   !strcmp(o.words.items[2], "c"), "has its arguments in order");
	parse("-a", false);
	ok(!o.words.count && !o.words.items, "not at all: nothing");
}

static void test_optional(void)
{
	is_int(parse("--maybe on", false), 2, "what may be left out");
	is_int(o.maybe, 2, "has its value where it is");
	parse("--maybe=on", false);
	is_int(o.maybe, 1, "and takes what follows an equals sign");
}

#define NO_NUMBER " is not a number from 0 to 18446744073709551615"

static void is_refused(const char *line, const char *text)
{
	is_int(parse(line, false), -EINVAL, line);
	is_str(cx.failure, text, "and the text says why");
}

static void test_refusals(void)
{
	is_refused("--nope", "unrecognized option '--nope'");
	is_refused("--checkpiont=5",
		   "unrecognized option '--checkpiont=5': did you mean "
		   "'--checkpoint'?");
	is_refused("--cxall", "unrecognized option '--cxall'");
	is_refused("-Z", "unrecognized option '-Z'");
	is_refused("-aZ", "unrecognized option '-Z'");
	is_refused("-c", "option '-c' needs an argument");
	is_refused("--label", "option '--label' needs an argument");
	is_refused("--all=3", "option '--all' takes no argument");
	is_refused("-c ten", "--checkpoint: 'ten'" NO_NUMBER);
	is_refused("-c -1", "--checkpoint: '-1'" NO_NUMBER);
	is_refused("-c 12x", "--checkpoint: '12x'" NO_NUMBER);
	is_refused("-c 1e400", "--checkpoint: '1e400'" NO_NUMBER);
	is_refused("--checkpoint=", "--checkpoint: ''" NO_NUMBER);
	is_refused("-c 18446744073709551616",
		   "--checkpoint: '18446744073709551616'" NO_NUMBER);
	is_refused("--small 4294967296",
		   "--small: '4294967296' is not a number from 0 to 4294967295");
	is_refused("--offset 9223372036854775808",
		   "--offset: 9223372036854775808 is too large");
	is_refused("-s 12Q", "--size: '12Q' is not a size from 0 to "
		   "18446744073709551615");
	is_refused("--maybe=never",
		   "--maybe: unknown value 'never'; choose auto, on, off");
	is_refused("-w", "option '-w' needs an argument");
	is_refused("--when never",
		   "--when: unknown value 'never'; choose auto, on, off");
	is_refused("--call bad", "called with bad");
}

static void test_ranges(void)
{
	parse("--some 3 --share 100 --block 64K", false);
	ok(o.small == 3 && o.checkpoint == 100 && o.size == 65536,
	   "both ends of a range are in it");
	is_refused("--some 2",
		   "--some: '2' is not a number from 3 to 4294967295");
	is_refused("--share 101",
		   "--share: '101' is not a number from 0 to 100");
	is_refused("--block 1023",
		   "--block: '1023' is not a size from 1024 to 65536");
	is_refused("--block 65K",
		   "--block: '65K' is not a size from 1024 to 65536");
	is_refused("--block 32E",
		   "--block: '32E' is not a size from 1024 to 65536");
	is_refused("--share 18446744073709551616",
		   "--share: '18446744073709551616' is not a number from 0 to "
		   "100");
}

static void test_groups(void)
{
	is_int(parse("-y -y", false), 3, "one row twice is no conflict");
	is_int(o.mode, 5, "and sets its value");
	is_refused("-y --no", "--yes and --no exclude each other");
	is_int(parse("--either --other --either", false), 4,
	       "options against a group are no conflict among themselves");
	is_refused("--either --no", "--either and --no exclude each other");
	is_refused("-y --other", "--yes and --other exclude each other");
}

static void is_prefix(const char *text, const char *want, const char *name)
{
	ok(!strncmp(text, want, strlen(want)), "%s", name);
}

static void test_help(void)
{
	static const struct cli_option few[] = {
		{ 'a', "all", NULL, "everything", OPTION_FLAG, 0 },
		{ 'v', NULL, NULL,
		  "a text that is too long for one line and has to be wrapped "
		  "at a blank",
		  OPTION_FLAG, 0 },
		{ 0, "size", "SIZE", "a size", OPTION_SIZE, 0 },
		{ 0, "maybe", "[=WHEN]", "a choice", OPTION_CHOICE, 0 },
		{ 0, "hidden", NULL, NULL, OPTION_FLAG, 0 },
		{ 0 },
	};
	static const struct cli_heading headings[] = {
		{ "Sizes", "size all" }, { "Others", "maybe" }, { NULL, NULL },
	};
	struct out *out;

	if (out_open_memory(&cx, &out))
		exit(99);
	help_options(out, few, NULL);
	is_prefix(out_memory(out, NULL), "\nOptions:\n"
	       "  -a, --all                   everything\n"
	       "  -v                          "
	       "a text that is too long for one line and has to be\n"
	       "                              wrapped at a blank\n"
	       "      --size SIZE             a size\n"
	       "      --maybe[=WHEN]          a choice\n",
	       "letters, names, arguments; wrapped; the hidden one left out");
	out_close(out, &cx);
	if (out_open_memory(&cx, &out))
		exit(99);
	help_options(out, few, headings);
	is_prefix(out_memory(out, NULL), "\nSizes:\n"
	       "      --size SIZE             a size\n"
	       "  -a, --all                   everything\n"
	       "\nOthers:\n"
	       "      --maybe[=WHEN]          a choice\n"
	       "  -v                          "
	       "a text that is too long for one line and has to be\n"
	       "                              wrapped at a blank\n"
	       "      --json                  print JSON\n",
	       "headings, in their order; the rest under the last one");
	out_close(out, &cx);
}

static void test_distance(void)
{
	is_int(option_distance("same", "same"), 0, "the same word");
	is_int(option_distance("chekpoints", "checkpoints"), 1, "a letter less");
	is_int(option_distance("segmments", "segments"), 1, "one more");
	is_int(option_distance("serments", "segments"), 1, "another one");
	is_int(option_distance("hisotry", "history"), 1, "two that are swapped");
	is_int(option_distance("hisotri", "history"), 2, "two slips");
	ok(option_distance("hsotri", "history") == OPTION_FAR, "three are many");
	is_int(option_distance("mpa", "map"), 1, "a short word");
	ok(option_distance("ls", "du") == OPTION_FAR, "another one");
	ok(option_distance("l", "ls") == OPTION_FAR, "one that is too short");
	ok(option_distance("", "ls") == OPTION_FAR, "an empty one");
}

int main(void)
{
	context_init(&cx);
	test_stores();
	test_lists();
	test_optional();
	test_refusals();
	test_ranges();
	test_groups();
	test_help();
	test_distance();
	return tap_done();
}
