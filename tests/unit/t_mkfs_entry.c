// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs: owners, maps, times and exclusion.  What a pattern leaves out is what
 * GNU tar leaves out of an archive of the same tree, asked for on the spot;
 * the rest follows from the definitions in the header.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mkfs/populate/entry.h"

#include "tap.h"

static struct context cx;

static struct entry applied(const struct entry_rules *rules, uint32_t uid,
			    uint32_t gid)
{
	struct entry e = { .uid = uid, .gid = gid };

	entry_apply(rules, &e);
	return e;
}

static void test_owner(void)
{
	static const char *const bad[] = {
		"", ":", "1:", "a", "1:a", "-1", "1:-1", " 1", "1 ", "0x1",
		"4294967295", "1:4294967296", "99999999999999999999", "1:2:3",
	};
	struct entry_rules rules = { 0 };
	struct entry e;
	size_t i;

	is_int(entry_parse_owner(&cx, "7", &rules), 0, "an owner alone");
	e = applied(&rules, 1, 2);
	ok(e.uid == 7 && e.gid == 2, "leaves the group");
	rules = (struct entry_rules){ 0 };
	is_int(entry_parse_owner(&cx, ":8", &rules), 0, "a group alone");
	e = applied(&rules, 1, 2);
	ok(e.uid == 1 && e.gid == 8, "leaves the owner");
	is_int(entry_parse_owner(&cx, "4294967294:0", &rules), 0, "both");
	e = applied(&rules, 1, 2);
	ok(e.uid == 4294967294 && e.gid == 0, "set both");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rules = (struct entry_rules){ 0 };
		is_int(entry_parse_owner(&cx, bad[i], &rules), -EINVAL,
		       bad[i]);
		ok(!rules.set_uid && !rules.set_gid, "changes nothing");
	}
}

static void test_maps(void)
{
	static const char *const bad[] = {
		"", "1", "1:", "1:2:", "1:2:0", "1:2,", ",1:2", "1:2:3:4",
		"4294967295:0", "0:4294967295", "0:1:4294967295",
		"4294967294:0:2", "1:2:4294967296", "5:0:5,7:100", "3:4,3:5",
		"a:b",
	};
	struct entry_rules rules = { 0 };
	struct entry_map *none = NULL;
	size_t i, n = 0;

	is_int(entry_parse_map(&cx, "--uid-map", "0:100000:10,500:7",
			       &rules.uid_maps, &rules.nuid_maps), 0,
	       "two ranges");
	is_int(entry_parse_map(&cx, "--uid-map", "10:1",
			       &rules.uid_maps, &rules.nuid_maps), 0,
	       "a third one is added");
	is_int(applied(&rules, 0, 0).uid, 100000, "the first of a range");
	is_int(applied(&rules, 9, 0).uid, 100009, "the last of it");
	is_int(applied(&rules, 10, 0).uid, 1, "the one behind, of its own");
	is_int(applied(&rules, 500, 0).uid, 7, "a range of one");
	is_int(applied(&rules, 501, 0).uid, 501, "unmapped ids stay");
	is_int(applied(&rules, 100000, 0).uid, 100000,
	       "what was mapped to is not mapped again");
	is_int(applied(&rules, 5, 5).gid, 5, "groups have their own map");
	is_int(entry_parse_map(&cx, "--gid-map", "0:1:4294967294",
			       &rules.gid_maps, &rules.ngid_maps), 0,
	       "as long as a range can be");
	is_int(applied(&rules, 0, 4294967293).gid, 4294967294,
	       "and its last id");
	is_int(entry_parse_owner(&cx, "3", &rules), 0, "with an owner");
	is_int(applied(&rules, 9, 0).uid, 3, "the owner overrides");
	entry_rules_fini(&rules);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is_int(entry_parse_map(&cx, "--gid-map", bad[i], &none, &n),
		       -EINVAL, bad[i]);
		ok(!strncmp(cx.failure, "--gid-map: ", 11),
		   "names the option");
		free(none);
		none = NULL;
		n = 0;
	}
}

static void test_mtime(void)
{
	static const struct {
		int64_t mtime;
		uint32_t nsec;
		int64_t want;
		uint32_t want_nsec;
	} clamped[] = {
		{ 1000, 0, 1000, 0 },	{ 1000, 1, 1000, 0 },
		{ 1001, 5, 1000, 0 },	{ 999, 999999999, 999, 999999999 },
		{ -5, 3, -5, 3 },	{ INT64_MAX, 0, 1000, 0 },
		{ INT64_MIN, 0, INT64_MIN, 0 },
	};
	struct entry_rules rules = { .clamp_mtime = true, .mtime = 1000 };
	struct entry e;
	size_t i;

	for (i = 0; i < sizeof(clamped) / sizeof(clamped[0]); i++) {
		e = (struct entry){ .mtime = clamped[i].mtime,
				    .mtime_nsec = clamped[i].nsec };
		entry_apply(&rules, &e);
		ok(e.mtime == clamped[i].want &&
		   e.mtime_nsec == clamped[i].want_nsec, "clamped %lld.%u",
		   (long long)clamped[i].mtime, clamped[i].nsec);
	}
	rules = (struct entry_rules){ .set_mtime = true, .mtime = -7 };
	e = (struct entry){ .mtime = -100, .mtime_nsec = 5 };
	entry_apply(&rules, &e);
	ok(e.mtime == -7 && !e.mtime_nsec, "set, older files too");
	rules = (struct entry_rules){ 0 };
	e = (struct entry){ .mtime = 12, .mtime_nsec = 5 };
	entry_apply(&rules, &e);
	ok(e.mtime == 12 && e.mtime_nsec == 5, "no rule, no change");
}

/* All paths of the tree that tar is asked about; a slash ends directories. */
static const char *const tree[] = {
	"a/", "a/b/", "a/b/c", "a/b/cd", "a/bc", "b/", "b/c/", "b/c/a",
	"b/c/a.o", "b/.o", ".a", "x*y", "xzy", "x\\y", "[a]", "a b", "aXb/",
	"aXb/c", "dir.o/", "dir.o/keep",
};
#define PATHS (sizeof(tree) / sizeof(tree[0]))

static const char *const patterns[] = {
	"a", "b", "c", "a/b", "b/c", "./b", "./b/c", "./c", "./a/b/c", "*.o",
	"a*c", "*", "*/c", "./*/c", "a/*", "?", "./?", "[ab]", "[!ab]", "/b",
	"a/", "x\\*y", "x*y", "\\[a\\]", "[a]", "x\\\\y", "a b", "", "b/*/a",
	"nothing", "./*.o", "c/a", "dir.o", ".o", "b//c", "*c",
};

static bool make_tree(const char *top)
{
	char path[256];
	FILE *file;
	size_t i;

	for (i = 0; i < PATHS; i++) {
		snprintf(path, sizeof(path), "%s/%s", top, tree[i]);
		if (path[strlen(path) - 1] == '/') {
			if (mkdir(path, 0700))
				return false;
			continue;
		}
		file = fopen(path, "w");
		if (!file)
			return false;
		fclose(file);
	}
	return true;
}

/*
 * Marks in LISTED the paths of the tree that tar puts in an archive.  Only
 * patterns for the top get names with "./", where '?' matches the "." too.
 */
static bool ask_tar(const char *top, const char *pattern, bool listed[PATHS])
{
	bool at_top = !strncmp(pattern, "./", 2);
	char command[512], line[256];
	FILE *out;
	size_t i;

	snprintf(command, sizeof(command),
		 "cd '%s' && tar -cf - --exclude='%s' %s |"
		 " tar --quoting-style=literal -tf -", top, pattern,
		 at_top ? "." : "-- * .a");
	memset(listed, 0, PATHS * sizeof(*listed));
	out = popen(command, "r");
	while (out && fgets(line, sizeof(line), out)) {
		line[strcspn(line, "\n")] = '\0';
		for (i = 0; i < PATHS; i++)
			if (!strcmp(line + (at_top ? 2 : 0), tree[i]))
				listed[i] = true;
	}
	return out && !pclose(out);
}

static void compare_with_tar(const char *top, const char *pattern)
{
	struct entry_rules rules = { .exclude = &pattern, .nexclude = 1 };
	bool listed[PATHS];
	char path[256];
	size_t i;

	if (!ok(ask_tar(top, pattern, listed), "tar --exclude='%s'", pattern))
		return;
	for (i = 0; i < PATHS; i++) {
		snprintf(path, sizeof(path), "%s", tree[i]);
		if (path[strlen(path) - 1] == '/')
			path[strlen(path) - 1] = '\0';
		if (entry_excluded(&rules, path) == listed[i])
			break;
	}
	if (!ok(i == PATHS, "'%s' leaves out the same", pattern))
		printf("# not with %s\n", tree[i]);
}

static void test_exclude(void)
{
	struct entry_rules none = { 0 };
	char top[] = "t_mkfs_entry.XXXXXX", command[64];
	size_t i;

	ok(!entry_excluded(&none, "a"), "without patterns nothing is left out");
	if (system("tar --version 2>/dev/null | grep -q 'GNU tar'")) {
		ok(true, "exclusion # SKIP no GNU tar");
		return;
	}
	if (!ok(mkdtemp(top) && make_tree(top), "a tree to ask tar about"))
		return;
	for (i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		compare_with_tar(top, patterns[i]);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	is_int(system(command), 0, "the tree is gone");
}

int main(void)
{
	context_init(&cx);
	test_owner();
	test_maps();
	test_mtime();
	test_exclude();
	return tap_done();
}
