// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfs: archives as a source.  A tree is put into archives by tar programs,
 * and what comes out is compared with the tree itself: lstat(2) and pread(2)
 * are the witnesses.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mkfs_standin.h"

#include "sample.h"
#include "tap.h"

static struct context cx;
static struct populate calls;

/* True where F has the bytes of the file at PATH, holes being zeros. */
static bool same_content(const struct standin_file *f, const char *path)
{
	char want[STANDIN_BLOCK], zeros[STANDIN_BLOCK] = "";
	int fd = open(path, O_RDONLY);
	uint64_t at = 0, in = 0, blkoff;
	size_t run = 0;
	bool same = fd >= 0;

	for (blkoff = 0; same && blkoff * STANDIN_BLOCK < f->entry.size; blkoff++) {
		const char *got = zeros;

		memset(want, 0, sizeof(want));
		same = pread(fd, want, STANDIN_BLOCK, (off_t)(blkoff * STANDIN_BLOCK)) > 0;
		if (run < f->nruns && blkoff == f->runs[run].blkoff + in) {
			got = f->blocks + at++ * STANDIN_BLOCK;
			if (++in == f->runs[run].count) {
				run++;
				in = 0;
			}
		}
		same = same && !memcmp(got, want, STANDIN_BLOCK);
	}
	close(fd);
	return same && run == f->nruns;
}

static bool same_attributes(const struct standin_file *f, const struct stat *st,
			    bool nsec)
{
	return f->entry.mode == st->st_mode && f->entry.uid == st->st_uid &&
	       f->entry.gid == st->st_gid &&
	       f->entry.mtime == st->st_mtim.tv_sec &&
	       f->entry.mtime_nsec == (nsec ? st->st_mtim.tv_nsec : 0);
}

static bool same_file(const char *top, const char *path, bool nsec)
{
	const struct standin_file *f = standin_find(&calls, path);
	char name[512], target[300] = "";
	struct stat st;

	snprintf(name, sizeof(name), "%s/%s", top, path);
	if (!f || lstat(name, &st) || !same_attributes(f, &st, nsec))
		return false;
	if (S_ISREG(st.st_mode))
		return f->entry.size == (uint64_t)st.st_size &&
		       f->links == st.st_nlink && same_content(f, name);
	if (S_ISLNK(st.st_mode))
		return readlink(name, target, sizeof(target) - 1) > 0 &&
		       !strcmp(target, f->target);
	return true;
}

#define LONG_NAME                                                           \
	"llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"  \
	"llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"  \
	"llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"  \
	"llllllllllllllllllllllllllllllllllllllllllllllllllllllll"

static const char *const paths[] = {
	"", "d", "d/empty", "d/one", "d/4095", "d/4096", "d/4097", "d/later",
	"d/now", "d/e", "d/e/huge", "d/e/hard", "d/e/sparse", "d/e/holes",
	"sym", "fifo", "\xc3\xa4", "\xff\xfe bad", "new\nline",
	"back\\slash", "old", "older", LONG_NAME,
};

#define PATHS (sizeof(paths) / sizeof(paths[0]))

static int sh(const char *command)
{
	char line[2048];

	snprintf(line, sizeof(line), "{ %s; } >/dev/null 2>&1", command);
	return system(line);
}

static const struct {
	const char *name;
	size_t bytes;
} contents[] = {
	{ "d/empty", 0 }, { "d/one", 1 }, { "d/4095", 4095 },
	{ "d/4096", 4096 }, { "d/4097", 4097 }, { "d/later", 65536 },
	{ "d/now", 65537 }, { "d/e/huge", 1333333 }, { "d/e/holes", 12345 },
	{ "d/e/sparse", 0 }, { "old", 3 }, { "older", 0 }, { "\xc3\xa4", 5 },
	{ "\xff\xfe bad", 6 }, { "new\nline", 7 }, { "back\\slash", 8 },
	{ LONG_NAME, 9 },
};

static bool write_noise(const char *name, size_t bytes)
{
	uint32_t state = (uint32_t)bytes + 1;
	FILE *file = fopen(name, "w");

	if (!file)
		return false;
	for (; bytes; bytes--) {
		state = state * 1664525 + 1013904223;
		putc((int)(state >> 24), file);
	}
	return !fclose(file);
}

/* Makes the tree in the directory "t". */
static bool make_tree(void)
{
	bool good = !sh("mkdir -p t/d/e") && !chdir("t");
	size_t i;

	for (i = 0; i < sizeof(contents) / sizeof(contents[0]); i++)
		good = good && write_noise(contents[i].name, contents[i].bytes);
	good = good && !symlink("t\xc3\xa4/\xff", "sym") &&
	       !mkfifo("fifo", 0640) && !link("d/e/huge", "d/e/hard") &&
	       !sh("chmod 4751 d/one && truncate -s 1M d/e/sparse &&"
		   "printf y | dd of=d/e/sparse bs=1 seek=700000 conv=notrunc;"
		   "truncate -s 900001 d/e/holes; touch -d @-1.5 old;"
		   "touch -d @-100000.25 older;"
		   "touch -d @1700000000.123456789 d/one d");
	return !chdir("..") && good;
}

static void compare(const char *what, bool nsec)
{
	size_t i, names = 0;

	for (i = 0; i < PATHS; i++)
		if (!same_file("t", paths[i], nsec))
			break;
	if (!ok(i == PATHS, "%s: the tree", what))
		printf("# not %s: %s\n", paths[i], cx.failure);
	for (i = 0; i < calls.n; i++)
		names += calls.files[i].n;
	is_int(names, PATHS - 1, "and nothing else");
}

static const struct {
	const char *make;	/* writes the archive of t to a.tar */
	bool nsec;		/* has fractions of seconds */
	bool packed;		/* in one order only, unless all are asked for */
} archives[] = {
	{ "tar --format=gnu -C t -cf a.tar .", false },
	{ "tar --format=posix -C t -cf a.tar .", true },
	{ "tar --format=posix -S -C t -cf a.tar .", true },
	{ "tar --format=posix -S --sparse-version=0.0 -C t -cf a.tar .", true },
	{ "tar --format=posix -S --sparse-version=0.1 -C t -cf a.tar .", true },
	{ "tar --format=gnu -S -C t -cf a.tar .", false },
	{ "tar --format=posix -P --transform=s,^[.],/, -C t -cf a.tar .",
	  true },
	{ "tar --format=posix -C t -czf a.tar .", true, true },
	{ "tar --format=posix -C t -cJf a.tar .", true, true },
	{ "tar --format=posix -C t -cjf a.tar .", true, true },
	{ "tar --format=posix -C t --zstd -cf a.tar .", true, true },
	{ "tar --format=posix -C t -cf - . | lz4 -q >a.tar", true, true },
};

static void test_programs(void)
{
	size_t i, j;

	for (i = 0; i < sizeof(archives) / sizeof(archives[0]); i++) {
		if (sh(archives[i].make)) {
			ok(true, "%s # SKIP not here", archives[i].make);
			continue;
		}
		for (j = 0; j < STANDIN_ORDERS; j++) {
			if (archives[i].packed &&
			    !is_sampled(i + j, STANDIN_ORDERS))
				continue;
			is_int(standin_read_tar(&calls, &cx, "a.tar",
						(enum standin_order)j, NULL),
			       0, archives[i].make);
			compare(archives[i].make, archives[i].nsec);
		}
	}
}

int main(void)
{
	char top[] = "t_mkfs_tar.XXXXXX", command[64];

	context_init(&cx);
	if (!ok(mkdtemp(top) && !chdir(top) && make_tree(), "a tree"))
		return tap_done();
	test_programs();
	standin_forget(&calls);
	snprintf(command, sizeof(command), "rm -rf '%s'", top);
	is_int(chdir("..") || sh(command), 0, "the tree is gone");
	return tap_done();
}
