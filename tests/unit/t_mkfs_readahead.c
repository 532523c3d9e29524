// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that are read ahead: which, what is known of them, and for how long. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "mkfs/source/readahead.h"
#include "tap.h"
#include "tree.h"

#define FILES 1300
#define BLOCK 1024u
#define SMALL 8192u

struct setup {
	struct tree tree;
	struct context cx;
	struct readahead *ra;
	struct sourcedir *dir;
	int fd;
	struct populate_name names[FILES];
	char text[FILES][16];
	struct payload *payloads[FILES];
};

static size_t size_of(size_t i)
{
	static const size_t special[] = { 0, 1, 1024, 4096, 8191, 8192, 8193,
					  20000 };

	return i % 50 < 8 ? special[i % 50] : i * 7919 % 3000 + 1;
}

static void make_files(struct setup *s)
{
	size_t i;

	tree_make(&s->tree);
	for (i = 0; i < FILES; i++) {
		snprintf(s->text[i], sizeof(s->text[i]), "file%zu", i);
		tree_file(&s->tree, s->text[i], size_of(i), (unsigned int)i);
		s->names[i] = (struct populate_name){
			.name = s->text[i],
			.len = (uint8_t)strlen(s->text[i]),
			.type = NILFS_FT_REG_FILE,
		};
	}
}

/* LATER: seconds that have gone by since the files were made. */
static void begin(struct setup *s, unsigned int threads, uint64_t memory,
		  int later)
{
	struct statx st;

	context_init(&s->cx);
	s->cx.threads = threads;
	s->cx.max_memory = memory;
	if (sourcedir_open_top(&s->dir, &s->cx, s->tree.path, 0, &st) ||
	    readahead_open(&s->ra, &s->cx, BLOCK, time(NULL) + later))
		exit(99);
	s->fd = sourcedir_use(s->dir, &s->cx);
	readahead_begin(s->ra, s->dir, s->fd, s->names, FILES);
}

static void end(struct setup *s)
{
	readahead_end(s->ra);
	sourcedir_unuse(s->dir);
	sourcedir_put(s->dir);
	readahead_close(s->ra);
}

static struct readahead_file *look(struct setup *s, size_t i)
{
	struct readahead_file *file = NULL;

	if (readahead_look(s->ra, &s->cx, i, &file))
		exit(99);
	return file;
}

/* How many bytes of file I are wrong in its blocks. */
static size_t wrong_bytes(struct setup *s, size_t i)
{
	uint32_t blocks = (uint32_t)((size_of(i) + BLOCK - 1) / BLOCK);
	struct payload *p = s->payloads[i];
	uint8_t buf[SMALL];
	size_t at, wrong = 0;

	memset(buf, 0xee, sizeof(buf));
	if (p->ops->fill(p, &s->cx, 0, 1, buf) ||
	    (blocks > 1 &&
	     p->ops->fill(p, &s->cx, 1, blocks - 1, buf + BLOCK)))
		return 1;
	for (at = 0; at < sizeof(buf); at++)
		wrong += buf[at] != (at < size_of(i) ?
				     tree_byte((unsigned int)i, at) :
				     at < blocks * BLOCK ? 0 : 0xee);
	return wrong;
}

static void test_content(unsigned int threads, int later)
{
	static struct setup s;
	size_t i, unknown = 0, sizes = 0, kept = 0, wrong = 0;
	struct readahead_file *file;

	make_files(&s);
	begin(&s, threads, 64 << 20, later);
	for (i = 0; i < FILES; i++) {
		file = look(&s, i);
		unknown += !file;
		if (!file)
			continue;
		sizes += file->st.stx_size == size_of(i) &&
			 file->st.stx_mtime.tv_sec == (int64_t)i &&
			 S_ISREG(file->st.stx_mode);
		kept += !file->payload == (size_of(i) && size_of(i) <= SMALL);
		s.payloads[i] = file->payload;
		if (i % 3)
			file->payload = NULL;
		else
			s.payloads[i] = NULL;
	}
	is_int(unknown, 0, "all files are known");
	is_int(sizes, FILES, "with what statx() returns");
	is_int(kept, 0, "the small ones with their content");
	end(&s);
	tree_remove(&s.tree);
	for (i = 0; i < FILES; i++) {
		if (s.payloads[i])
			wrong += wrong_bytes(&s, i) != 0;
		payload_put(s.payloads[i]);
	}
	is_int(wrong, 0, "which stays when the files are gone");
}

static void test_memory(void)
{
	static struct setup s;
	size_t i, unknown = 0, content = 0, freed = 0;
	struct readahead_file *file;

	make_files(&s);
	begin(&s, 2, 2 << 20, 3600);
	for (i = 0; i < FILES; i++) {
		file = look(&s, i);
		unknown += !file;
		if (!file || !file->payload)
			continue;
		content += file->st.stx_size;
		s.payloads[i] = file->payload;
		file->payload = NULL;
	}
	is_int(unknown, 0, "without memory all files are known, too");
	/* Each thread may leave a part of the memory that is hardly used. */
	ok(content > 200000 && content < 2 << 18, "but less content is kept");
	for (i = 0; i < FILES; i++) {
		payload_put(s.payloads[i]);
		s.payloads[i] = NULL;
	}
	readahead_end(s.ra);
	readahead_begin(s.ra, s.dir, s.fd, s.names, FILES);
	for (i = 0; i < FILES; i++) {
		file = look(&s, i);
		freed += file && file->payload;
	}
	ok(freed > FILES / 2, "until others let go of theirs");
	end(&s);
	tree_remove(&s.tree);
}

/* What is no file, what is not there any more, what is something else now. */
static void test_others(void)
{
	static struct setup s;
	struct readahead_file *file;
	char path[128];

	make_files(&s);
	unlinkat(s.tree.fd, "file8", 0);
	unlinkat(s.tree.fd, "file9", 0);
	must(symlinkat("file11", s.tree.fd, "file9"));
	unlinkat(s.tree.fd, "file10", 0);
	mkfifoat(s.tree.fd, "file10", 0600);
	s.names[11].type = NILFS_FT_DIR;
	s.names[12].type = NILFS_FT_UNKNOWN;
	snprintf(path, sizeof(path), "%s/file13", s.tree.path);
	setxattr(path, "user.one", "1", 1, 0);
	begin(&s, 2, 64 << 20, 3600);
	look(&s, 0);
	ok(!look(&s, 8), "of a file that is gone nothing is known");
	file = look(&s, 9);
	ok(file && S_ISLNK(file->st.stx_mode) && !file->payload,
	   "a symbolic link is one, whatever the directory says");
	file = look(&s, 10);
	ok(file && S_ISFIFO(file->st.stx_mode) && !file->payload,
	   "a FIFO is not waited for");
	ok(!look(&s, 11), "directories are not looked at");
	file = look(&s, 12);
	ok(file && !file->payload, "what has no type is not opened");
	file = look(&s, 13);
	if (getxattr(path, "user.one", NULL, 0) < 0)
		ok(true, "# SKIP no extended attributes here");
	else
		is_int(file ? file->losses : 0, 1 << ENTRY_XATTR,
		       "extended attributes are seen");
	is_int(look(&s, 14)->losses, 0, "where there are some");
	end(&s);
	tree_remove(&s.tree);
}

static void test_few(void)
{
	static struct setup s;
	struct readahead_file *file = NULL;

	make_files(&s);
	begin(&s, 2, 64 << 20, 3600);
	readahead_begin(s.ra, s.dir, s.fd, s.names, READAHEAD_LEAST - 1);
	ok(!readahead_look(s.ra, &s.cx, 0, &file) && !file,
	   "a few files are not read ahead");
	end(&s);
	tree_remove(&s.tree);
}

/* A directory that is left in the middle, and the next one. */
static void test_leave(void)
{
	static struct setup s;
	size_t i, wrong = 0;

	make_files(&s);
	begin(&s, 3, 64 << 20, 3600);
	for (i = 0; i < 100; i++)
		look(&s, i);
	readahead_end(s.ra);
	for (i = 0; i < 1000; i++)
		unlinkat(s.tree.fd, s.text[i], 0);
	readahead_begin(s.ra, s.dir, s.fd, s.names + 1000, FILES - 1000);
	for (i = 1000; i < FILES; i++) {
		struct readahead_file *file = look(&s, i - 1000);

		wrong += !file || file->st.stx_size != size_of(i);
	}
	is_int(wrong, 0, "the next directory begins with its own names");
	end(&s);
	tree_remove(&s.tree);
}

int main(void)
{
	test_content(1, 0);
	test_content(1, 3600);
	test_content(3, 0);
	test_content(3, 3600);
	test_memory();
	test_others();
	test_few();
	test_leave();
	return tap_done();
}
