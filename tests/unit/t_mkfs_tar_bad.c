// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs: archives that no tar program makes, or should not have made.  They are
 * put together here, from the format of POSIX (ustar, pax), one block of 512
 * bytes after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mkfs_standin.h"

#include "tap.h"

#define BLOCK 512

static struct context cx;
static struct populate calls;
static char archive[1 << 16];
static size_t used;

/* What a header says, besides the usual. */
struct header {
	const char *link;
	const char *size;	/* octal digits, where not that of the data */
	const char *uid;
	const char *major;
	unsigned int mode;
};

/* DIGITS octal digits and a zero byte. */
static void put_octal(char *at, unsigned int digits, size_t value)
{
	at[digits] = '\0';
	while (digits--) {
		at[digits] = (char)('0' + value % 8);
		value /= 8;
	}
}

static void seal_header(char *h)
{
	unsigned int sum = 0, i;

	memset(h + 148, ' ', 8);
	for (i = 0; i < BLOCK; i++)
		sum += (unsigned char)h[i];
	put_octal(h + 148, 6, sum);
}

static void add_full(const char *name, char type, const char *data,
		     const struct header *with)
{
	size_t len = strlen(data);
	char *h = archive + used;

	memset(h, 0, BLOCK);
	memcpy(h, name, strlen(name) < 100 ? strlen(name) : 100);
	put_octal(h + 100, 7, with->mode ? with->mode : 0644);
	snprintf(h + 108, 8, "%s", with->uid ? with->uid : "0000001");
	put_octal(h + 116, 7, 2);
	put_octal(h + 124, 11, len);
	if (with->size)
		snprintf(h + 124, 12, "%s", with->size);
	put_octal(h + 136, 11, 1000);
	h[156] = type;
	memcpy(h + 157, with->link ? with->link : "",
	       with->link ? strlen(with->link) : 0);
	memcpy(h + 257, "ustar\00000", 8);
	if (with->major)
		snprintf(h + 329, 8, "%s", with->major);
	seal_header(h);
	used += BLOCK;
	memset(archive + used, 0, (len + BLOCK - 1) / BLOCK * BLOCK);
	memcpy(archive + used, data, len);
	used += (len + BLOCK - 1) / BLOCK * BLOCK;
}

static void add(const char *name, char type, const char *data)
{
	static const struct header plain;

	add_full(name, type, data, &plain);
}

static void add_link(const char *name, char type, const char *link)
{
	add_full(name, type, "", &(struct header){ .link = link });
}

static bool save(const void *bytes, size_t len)
{
	FILE *file = fopen("b.tar", "w");

	return file && fwrite(bytes, 1, len, file) == len && !fclose(file);
}

/* Reads what was added so far, and starts again. */
static int take_with(const struct entry_rules *rules)
{
	size_t len = used;

	memset(archive + used, 0, 2 * BLOCK);
	used = 0;
	if (!save(archive, len + 2 * BLOCK))
		exit(99);
	return standin_read_tar(&calls, &cx, "b.tar", STANDIN_AT_ONCE, rules);
}

static int take(void)
{
	return take_with(NULL);
}

static void is_refused(const char *text, const char *name)
{
	is_int(take(), -EINVAL, name);
	if (!ok(strstr(cx.failure, text) && strstr(cx.failure, "b.tar"),
		"and the text says why"))
		printf("# %s\n", cx.failure);
}

static bool has(const char *path, const char *content)
{
	const struct standin_file *f = standin_find(&calls, path);

	return f && f->entry.size == strlen(content) &&
	       !memcmp(f->blocks, content, strlen(content));
}

static unsigned int links(const char *path)
{
	const struct standin_file *f = standin_find(&calls, path);

	return f ? f->links : 0;
}

static void test_paths(void)
{
	static const char *const bad[] = {
		"../x", "..", "a/../b", "a/..", "/../x", "./../x", "a/b/../../c",
	};
	char name[300];
	size_t i;

	add("/a/b", '0', "1");
	add("./a//./c", '0', "2");
	add("..a/...", '0', "3");
	add("d/", '5', "");
	is_int(take(), 0, "paths that lead down");
	ok(has("a/b", "1") && has("a/c", "2") && has("..a/...", "3"),
	   "lie below the root");
	ok(standin_find(&calls, "d") && calls.files[0].n == 3,
	   "also a directory with a slash");
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		add("before", '0', "x");
		add(bad[i], '0', "x");
		is_refused(bad[i], bad[i]);
	}
	memset(name, 'n', 256);
	name[256] = '\0';
	add("././@LongLink", 'L', name);
	add("n", '0', "x");
	is_refused("255", "a name that is too long");
	add("././@LongLink", 'L', name + 1);
	add("n", '0', "x");
	is_int(take(), 0, "one that just fits");
	ok(has(name + 1, "x"), "is there");
	add("sub/f", '0', "");
	add("sub/f/g", '0', "");
	is_refused("below sub/f, which", "a file in a file");
	add_link("s", '2', "/etc");
	add("s/passwd", '0', "x");
	is_int(take(), 0, "a file after a symbolic link");
	ok(has("etc/passwd", "x"), "is where the link leads");
	add_link("s", '2', "t");
	add_link("t", '2', "s");
	add("s/f", '0', "x");
	is_refused("too many", "a file below a loop of links");
	add_link("s", '2', "");
	is_refused("member s", "a symbolic link to nothing");
	add(".", '0', "x");
	is_refused("root", "a root that is a file");
}

static void test_directories(void)
{
	const struct standin_file *f;

	add("p/q/f", '0', "1");
	is_int(take(), 0, "parents without entries");
	f = standin_find(&calls, "p/q");
	ok(f && !f->known && !calls.files[0].known, "have no attributes");
	add("p/q/f", '0', "1");
	add_full("p/q", '5', "", &(struct header){ .mode = 0700 });
	add_full("./", '5', "", &(struct header){ .mode = 0711 });
	add("p/q/g", '0', "2");
	is_int(take(), 0, "and that come later");
	f = standin_find(&calls, "p/q");
	ok(f && f->known && f->entry.mode == (S_IFDIR | 0700) && f->n == 2,
	   "have theirs");
	ok(calls.files[0].known &&
	   calls.files[0].entry.mode == (S_IFDIR | 0711),
	   "so has the root");
	add_full("d", '5', "", &(struct header){ .mode = 0700 });
	add("d/x", '0', "1");
	add_full("d/", '5', "", &(struct header){ .mode = 0750 });
	is_int(take(), 0, "a directory twice");
	f = standin_find(&calls, "d");
	ok(f && f->entry.mode == (S_IFDIR | 0750) && has("d/x", "1"),
	   "keeps its files");
	is_int(take(), 0, "an archive of nothing");
	is_int(calls.n, 1, "is a root");
}

static void test_twice(void)
{
	const struct standin_file *f;

	add("f", '0', "old");
	add("f", '0', "newer");
	is_int(take(), 0, "a file twice");
	ok(has("f", "newer"), "is the later one");
	ok(calls.files[1].links == 0 && calls.files[2].links == 1,
	   "the other has no name");
	add("f", '0', "old");
	add_link("g", '1', "./f");
	add("f", '0', "new");
	is_int(take(), 0, "a file replaced under one of two names");
	ok(has("f", "new") && has("g", "old"), "has its second one still");
	is_int(links("g"), 1, "and only that");
	add("f", '0', "old");
	add("f", '5', "");
	add("f/x", '0', "x");
	is_int(take(), 0, "a directory instead of a file");
	ok(has("f/x", "x") && calls.files[1].links == 0, "takes its name");
	add("f", '5', "");
	add("f", '0', "x");
	is_refused("was a directory", "a file instead of a directory");
	add("f", '0', "x");
	add_link("f", '2', "t");
	is_int(take(), 0, "a symbolic link instead of a file");
	f = standin_find(&calls, "f");
	ok(f && S_ISLNK(f->entry.mode) && !strcmp(f->target, "t"),
	   "takes its name");
}

static void test_links(void)
{
	add("d/f", '0', "x");
	add_link("d/g", '1', "/d/./f");
	add_link("d/g", '1', "d/g");
	add("x", 'x', "13 mtime=1.5\n");
	add_full("d/h", '1', "x", &(struct header){ .link = "d/f" });
	add("last", '0', "y");
	is_int(take(), 0, "hard links, one with content of its own");
	is_int(links("d/f"), 3, "three names");
	ok(has("d/g", "x") && has("d/h", "x") && has("last", "y"),
	   "of one file");
	add_link("g", '1', "f");
	add("f", '0', "x");
	is_refused("member g", "a hard link before its file");
	add("d", '5', "");
	add_link("g", '1', "d");
	is_refused("directory", "a hard link to a directory");
	add("f", '0', "x");
	add_link("d/g", '1', "../f");
	is_refused("member d/g", "a hard link that leads out");
}

static void test_numbers(void)
{
	static const struct {
		struct header header;
		char type;
	} bad[] = {
		/* Base 256: -1, UINT32_MAX; then 13 bits of a major. */
		{ { .uid = "\xff\xff\xff\xff\xff\xff\xff" }, '0' },
		{ { .major = "0010000" }, '3' },
		{ { .major = "0010000" }, '4' },
		{ { .size = "77777777777" }, '0' },
		{ { .size = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff" },
		  '0' },
		{ { .size = "-1" }, '0' },
	};
	const struct standin_file *f;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		add("ok", '0', "x");
		add_full("odd", bad[i].type, "", &bad[i].header);
		if (!ok(take() == -EINVAL || calls.files[2].failed,
			"odd number %zu is refused", i))
			printf("# %s\n", cx.failure);
	}
	add_full("odd", '3', "", &(struct header){ .major = "0007777" });
	is_int(take(), 0, "the largest major number");
	f = standin_find(&calls, "odd");
	ok(f && S_ISCHR(f->entry.mode) && f->entry.major == 4095 &&
	   f->entry.uid == 1 && f->entry.gid == 2 && f->entry.mtime == 1000,
	   "and the usual ones");
	add("x", 'x', "22 uid=4294967295\n");
	add("f", '0', "");
	is_refused("", "an owner in a header that is cut short");
	add("x", 'x', "18 uid=4294967295\n");
	add("f", '0', "");
	is_refused("owner", "the owner that is not allowed");
}

/* One record of a pax header, its own length in front. */
static void put_record(char *to, const char *text)
{
	size_t len = strlen(text) + 2, digits = 1;

	digits = len + 1 < 10 ? 1 : len + 2 < 100 ? 2 : 3;
	sprintf(to + strlen(to), "%zu %s\n", len + digits, text);
}

static void test_losses(void)
{
	static const char *const records[] = {
		"SCHILY.xattr.user.x=1",
		"SCHILY.xattr.security.selinux=label",
		"SCHILY.xattr.security.capability=x",
		("SCHILY.acl.access=user::rw-,user:a:r--:5,group::r--,"
		 "mask::r--,other::r--"),
		"SCHILY.fflags=schg",
	};
	char all[512] = "";
	size_t i;

	for (i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		put_record(all, records[i]);
	add("x", 'x', all);
	add("f", '0', "x");
	add("g", '0', "x");
	is_int(take(), 0, "a file with all that gets lost");
	is_int(calls.losses[ENTRY_XATTR], 1, "attributes");
	is_int(calls.losses[ENTRY_CAPABILITY], 1, "capabilities");
	is_int(calls.losses[ENTRY_ACL], 1, "an access control list");
	is_int(calls.losses[ENTRY_FLAGS], 1, "flags");
	all[0] = '\0';
	put_record(all, "SCHILY.xattr.security.selinux=label");
	add("x", 'x', all);
	add("f", '0', "x");
	is_int(take(), 0, "a file with a label");
	is_int(calls.losses[ENTRY_XATTR], 0, "loses nothing");
}

static void test_exclude(void)
{
	static const char *const patterns[] = { "d", "./top", "*.o" };
	struct entry_rules rules = { .exclude = patterns, .nexclude = 3 };

	add("d", '5', "");
	add("./d/f", '0', "x");
	add("e/d", '0', "x");
	add("e/top", '0', "1");
	add("/top/x", '0', "x");
	add("a.o", '0', "x");
	add("last", '0', "2");
	is_int(take_with(&rules), 0, "patterns");
	ok(has("e/top", "1") && has("last", "2"), "leave the others");
	is_int(calls.n, 4, "and nothing else: the root, e and two files");
	add("a.o", '0', "x");
	add_link("b", '1', "a.o");
	is_int(take_with(&rules), -EINVAL, "a hard link to what is left out");
}

/* Every cut of an archive but those between members fails. */
static void test_cuts(void)
{
	size_t len, cut;
	bool good = true;

	add("a", '0', "0123456789");
	add("x", 'x', "13 mtime=1.5\n");
	add("b", '0', "0123456789");
	len = used;
	used = 0;
	for (cut = 1; cut < len; cut += 7) {
		int ret;

		if (!save(archive, cut))
			exit(99);
		ret = standin_read_tar(&calls, &cx, "b.tar",
				       STANDIN_AT_THE_END, NULL);
		if (ret != -EINVAL && cut % BLOCK) {
			printf("# cut at %zu: %d\n", cut, ret);
			good = false;
		}
	}
	ok(good, "an archive that is cut in the middle of a block");
}

static void test_others(void)
{
	static const char gzip[] = "\x1f\x8b\x08\0\0\0\0\0\0\3garbage garbage";

	save("", 0);
	is_int(standin_read_tar(&calls, &cx, "b.tar", 0, NULL), -EINVAL,
	       "an empty file");
	save("#!/bin/sh\necho hello\n", 21);
	is_int(standin_read_tar(&calls, &cx, "b.tar", 0, NULL), -EINVAL,
	       "a script");
	save(gzip, sizeof(gzip));
	is_int(standin_read_tar(&calls, &cx, "b.tar", 0, NULL), -EINVAL,
	       "garbage that claims to be compressed");
	is_int(standin_read_tar(&calls, &cx, "none", 0, NULL), -ENOENT,
	       "no file");
	is_int(standin_read_tar(&calls, &cx, ".", 0, NULL), -EINVAL,
	       "a directory");
}

/* Standard input is read to its end, whatever is after the archive. */
static void test_stdin(void)
{
	char rest[16];

	add("f", '0', "x");
	memset(archive + used, 0, 2 * BLOCK);
	memset(archive + used + 2 * BLOCK, 'z', 20000);
	save(archive, used + 2 * BLOCK + 20000);
	used = 0;
	if (!freopen("b.tar", "r", stdin))
		exit(99);
	is_int(standin_read_tar(&calls, &cx, "-", 0, NULL), 0,
	       "standard input");
	ok(has("f", "x"), "has the file");
	is_int(read(0, rest, sizeof(rest)), 0, "and nothing is left");
}

int main(void)
{
	char top[] = "t_mkfs_tar_bad.XXXXXX", command[64];

	context_init(&cx);
	if (!mkdtemp(top) || chdir(top))
		return 99;
	test_paths();
	test_directories();
	test_twice();
	test_links();
	test_numbers();
	test_losses();
	test_exclude();
	test_cuts();
	test_others();
	test_stdin();
	standin_forget(&calls);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	is_int(chdir("..") || system(command), 0, "the folder is gone");
	return tap_done();
}
