// SPDX-License-Identifier: GPL-2.0-or-later
/* mkfs: the options that fill a volume, from the command line to the rules. */
#include <errno.h>
#include <stdlib.h>

#include "mkfs/plan/options.h"
#include "mkfs/source/walk.h"

#include "tap.h"

static struct context cx;
static struct mkfs_options o;

/* Parses LINE, split at blanks, into O. */
static int parse(const char *line)
{
	static char copy[256];
	static char *argv[32];
	const struct option_set set = { options_rows, &o };
	char *word;
	int argc = 0, ret;

	option_free(&set, 1);
	o = options_defaults;
	fail_clear(&cx);
	snprintf(copy, sizeof(copy), "mkfs %s", line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	ret = option_parse(&cx, &set, 1, argc, argv, false);
	return ret < 0 ? ret : 0;
}

static void test_size(void)
{
	static const char *const bad[] = {
		"--size +", "--size ++1", "--size auto+", "--size -1",
		"--size Auto", "--size x",
	};
	size_t i;

	parse("");
	is_int(o.size.kind, OPTIONS_SIZE_ASIS, "no size");
	parse("--size 16M");
	ok(o.size.kind == OPTIONS_SIZE_BYTES && o.size.bytes == 16 << 20,
	   "a size");
	parse("--size 16M --size auto");
	ok(o.size.kind == OPTIONS_SIZE_AUTO && !o.size.bytes,
	   "what the content asks for");
	parse("--size +1G");
	ok(o.size.kind == OPTIONS_SIZE_AUTO && o.size.bytes == 1 << 30,
	   "and free space");
	parse("--size auto+1M");
	ok(o.size.kind == OPTIONS_SIZE_AUTO && o.size.bytes == 1 << 20,
	   "the same with auto");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_int(parse(bad[i]), -EINVAL, bad[i]);
}

static void test_choices(void)
{
	parse("");
	ok(o.snapshot == OPTIONS_SNAPSHOT_NONE && o.order == WALK_NAME,
	   "no snapshot, by name");
	parse("--snapshot --sort inode");
	ok(o.snapshot == OPTIONS_SNAPSHOT_EACH && o.order == WALK_INODE,
	   "each, by inode");
	parse("--snapshot=last --sort none -d a -d b");
	ok(o.snapshot == OPTIONS_SNAPSHOT_LAST && o.order == WALK_NONE,
	   "the last, as read");
	is_int(o.roots.count, 2, "two layers");
	is_str(o.roots.items[0], "a", "the lower one first");
	parse("--sort size");
	is_int(o.order, WALK_SIZE, "by size");
	is_int(parse("--snapshot=first"), -EINVAL, "no such snapshot");
}

/* The rules that LINE makes, at the time 5000. */
static int make_rules(const char *line, bool source_date,
		      struct entry_rules *rules)
{
	int ret = parse(line);

	cx.now = 5000;
	return ret ? ret : options_entry_rules(&cx, &o, source_date, rules);
}

/* Where files of the times 1000 and 9000 end up. */
static void test_times(void)
{
	static const struct {
		const char *line;
		bool source_date;
		int64_t old, young;
	} cases[] = {
		{ "", false, 1000, 9000 },
		{ "", true, 1000, 5000 },
		{ "--mtime 3000", false, 3000, 3000 },
		{ "--mtime @3000", true, 3000, 3000 },
		{ "--mtime -3000", true, -3000, -3000 },
		{ "--mtime @0", false, 0, 0 },
		{ "--mtime 3000 --clamp-mtime", false, 1000, 3000 },
		{ "--clamp-mtime --mtime 3000", true, 1000, 3000 },
		{ "--clamp-mtime", true, 1000, 5000 },
	};
	struct entry_rules rules;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct entry old = { .mtime = 1000 }, young = { .mtime = 9000 };

		is_int(make_rules(cases[i].line, cases[i].source_date, &rules),
		       0, cases[i].line);
		entry_apply(&rules, &old);
		entry_apply(&rules, &young);
		is_int(old.mtime, cases[i].old, "an old file");
		is_int(young.mtime, cases[i].young, "a young file");
	}
	is_int(make_rules("--clamp-mtime", false, &rules), -EINVAL,
	       "a clamp needs a time");
	is_int(parse("--mtime now"), -EINVAL, "a time is a number");
	is_int(parse("--mtime @"), -EINVAL, "and has digits");
}

static void test_rules(void)
{
	struct entry e = { .uid = 3, .gid = 4 };
	struct entry_rules rules;

	is_int(make_rules("--uid-map 0:100:9 --gid-map 4:5 --owner :6 "
			  "--exclude x --exclude *.o", false, &rules), 0,
	       "all of it");
	entry_apply(&rules, &e);
	ok(e.uid == 103 && e.gid == 6, "maps and owner");
	ok(entry_excluded(&rules, "a/x") && entry_excluded(&rules, "b.o") &&
	   !entry_excluded(&rules, "b.c"), "both patterns");
	entry_rules_fini(&rules);
	is_int(make_rules("--owner root", false, &rules), -EINVAL,
	       "names are no ids");
	is_int(make_rules("--uid-map 1:2 --gid-map 1", false, &rules),
	       -EINVAL, "half a map, after a whole one");
}

static void test_uuid(void)
{
	static const uint8_t zeros[16];
	uint8_t uuid[16];

	parse("-U content");
	ok(options_uuid_of_content(&o), "a UUID of the content");
	is_int(options_uuid(&cx, &o, uuid), 0, "is accepted");
	ok(!memcmp(uuid, zeros, 16), "and comes later");
	parse("-U clear");
	ok(!options_uuid_of_content(&o), "no other is one");
}

int main(void)
{
	context_init(&cx);
	test_size();
	test_choices();
	test_times();
	test_rules();
	test_uuid();
	parse("");
	return tap_done();
}
