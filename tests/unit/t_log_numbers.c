// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers of a persistent allocator, where calls of its file fail as well. */
#include "log/tables/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log_fakedat.h"
#include "tap.h"

#define BS 1024
#define GROUPS 4
#define PER_GROUP (8 * BS)

/* A file on a fake device, one call of which fails, and what must be in use. */
struct volume {
	struct context cx;
	struct fakedat f;
	struct metafile_env env;
	struct metafile *m;
	struct numbers n;
	uint8_t used[GROUPS * PER_GROUP];
	unsigned int calls, fails; /* the call that does, 0: none */
};

static int call(struct volume *v, struct context *cx)
{
	return ++v->calls == v->fails ? fail(cx, -EIO, "to fail") : 0;
}

static int read_or_fail(void *arg, struct context *cx, enum metafile_kind kind,
			uint64_t ptr, void *buf)
{
	struct volume *v = arg;
	int ret = call(v, cx);

	return ret ? ret : v->f.env.read(&v->f, cx, kind, ptr, buf);
}

static int alloc_or_fail(void *arg, struct context *cx, uint64_t *vblocknr)
{
	struct volume *v = arg;
	int ret = call(v, cx);

	return ret ? ret : v->f.env.alloc(&v->f, cx, vblocknr);
}

static int end_or_fail(void *arg, struct context *cx, uint64_t vblocknr,
		       enum metafile_kind kind)
{
	struct volume *v = arg;
	int ret = call(v, cx);

	return ret ? ret : v->f.env.end(&v->f, cx, vblocknr, kind);
}

/* All is written, and read again from the device when it is needed. */
static void write_and_reopen(struct volume *v)
{
	struct metafile_block *blocks = NULL;
	struct nilfs_inode inode = {0};
	const void *data;
	size_t n = 0, i;
	void *own;

	if (metafile_collect(v->m, &v->cx, true, 0, &blocks, &n))
		abort();
	for (i = 0; i < n; i++) {
		fakedat_write(&v->f, METAFILE_MULTI, &blocks[i],
			      fakedat_place(&v->f));
		if (metafile_take(v->m, &v->cx, &blocks[i], &own, &data))
			abort();
		free(own);
	}
	free(blocks);
	metafile_inode(v->m, &inode);
	metafile_close(v->m);
	if (metafile_open(&v->m, &v->cx, &v->env, BS, 6, METAFILE_MULTI,
			  &inode))
		abort();
	v->n.m = v->m;
	numbers_forget(&v->n);
}

static int take(struct volume *v, uint32_t want)
{
	uint64_t first;
	uint32_t count, i;
	int ret;

	for (; want; want -= count) {
		ret = numbers_take(&v->n, &v->cx, want, &first, &count);
		if (ret)
			return ret;
		for (i = 0; i < count; i++)
			if (v->used[first + i]++)
				return -EEXIST;
	}
	return 0;
}

static int give(struct volume *v, uint64_t nr)
{
	v->used[nr] = 0;
	return numbers_give(&v->n, &v->cx, nr);
}

/* Two full groups and a bit of the third, on the device. */
static struct volume *volume_new(bool through)
{
	struct volume *v = calloc(1, sizeof(*v));

	if (!v)
		abort();
	context_init(&v->cx);
	fakedat_init(&v->f, BS);
	v->env = (struct metafile_env){
		.arg = v,
		.alloc = alloc_or_fail,
		.end = end_or_fail,
		.read = read_or_fail,
	};
	if (metafile_open(&v->m, &v->cx, &v->env, BS, 6, METAFILE_MULTI,
			  NULL) ||
	    numbers_init(&v->n, &v->cx, v->m, BS, 32) ||
	    take(v, 2 * PER_GROUP + 5) || numbers_sync(&v->n, &v->cx))
		abort();
	write_and_reopen(v);
	v->n.through = through;
	v->calls = 0;
	return v;
}

static void volume_free(struct volume *v)
{
	numbers_fini(&v->n);
	metafile_close(v->m);
	fakedat_fini(&v->f);
	free(v);
}

/* What goes through to the file is there already. */
static int enter(struct volume *v, int ret)
{
	return ret || v->n.through ? ret : numbers_sync(&v->n, &v->cx);
}

/* What is done with a file that was not read before: 0, or the failure.  This goes
   on after RET, with a group that may not be the one in memory. */
static int give_and_take_first(struct volume *v, int ret)
{
	if (!ret)
		ret = give(v, 9);
	v->n.next = 3;
	if (!ret)
		ret = take(v, 2);
	return enter(v, ret);
}

static int give_and_take(struct volume *v)
{
	return give_and_take_first(v, give(v, PER_GROUP + 7));
}

static int take_of_last(struct volume *v)
{
	int ret = take(v, 3);

	return enter(v, ret);
}

/* Groups without room are passed over by their descriptors. */
static int take_from_first(struct volume *v)
{
	v->n.next = 0;
	return take_of_last(v);
}

/* What the group in memory was changed in is entered before another is read. */
static int take_of_two(struct volume *v)
{
	return give_and_take_first(v, take(v, 1));
}

static int give_loaded(struct volume *v)
{
	int ret = take(v, 1);

	if (!ret)
		ret = give(v, 2 * PER_GROUP + 1);
	return enter(v, ret);
}

static int give_only(struct volume *v)
{
	return give(v, 9);
}

static int test_only(struct volume *v)
{
	int ret = numbers_test(&v->n, &v->cx, 2 * PER_GROUP + 5);

	if (!ret)
		ret = numbers_test(&v->n, &v->cx, 9);
	return ret == 1 ? 0 : ret;
}

static int (*const uses[])(struct volume *) = {
	give_and_take, take_of_last, take_from_first, take_of_two,
	give_loaded,   give_only,    test_only,
};

/* What differs from USED in the file, descriptors included. */
static unsigned int differences(struct volume *v)
{
	unsigned int bad = 0;
	uint64_t group;
	uint32_t i, frees;
	const void *data;

	for (group = 0; group < 3; group++) {
		struct nilfs_palloc_group_desc desc;

		if (metafile_look(v->m, &v->cx,
				  palloc_bitmap_blkoff(&v->n.p, group),
				  &data) != 1)
			return 1000;
		for (i = 0, frees = 0; i < PER_GROUP; i++) {
			bool used = v->used[group * PER_GROUP + i];

			bad += palloc_bit(data, i) != used;
			frees += !used;
		}
		if (metafile_look(v->m, &v->cx,
				  palloc_desc_blkoff(&v->n.p, group),
				  &data) != 1)
			return 1000;
		memcpy(&desc,
		       (const char *)data + palloc_desc_offset(&v->n.p, group),
		       sizeof(desc));
		bad += le32_get(desc.pg_nfrees) != frees;
	}
	return bad;
}

static void test_use(int (*use)(struct volume *), bool through)
{
	struct volume *v = volume_new(through);
	unsigned int calls, at, unsaid = 0;

	is_int(use(v), 0, "numbers are given and taken");
	calls = v->calls;
	is_int(differences(v), 0, "as the bitmaps and the counts have it");
	volume_free(v);
	ok(calls > 0, "by calls of the file");
	for (at = 1; at <= calls; at++) {
		v = volume_new(through);
		v->fails = at;
		if (use(v) != -EIO) {
			printf("# call %u of %u fails unnoticed\n", at, calls);
			unsaid++;
		}
		volume_free(v);
	}
	is_int(unsaid, 0, "each of which is reported if it fails");
}

static void test_twice(void)
{
	struct volume *v = volume_new(false);

	is_int(numbers_give(&v->n, &v->cx, 2 * PER_GROUP + 100), -EUCLEAN,
	       "a number that is free cannot be given");
	is_int(give(v, 5), 0, "one that is not can,");
	is_int(numbers_give(&v->n, &v->cx, 5), -EUCLEAN, "but not twice");
	is_int(take(v, 1), 0, "nor in a group in memory");
	is_int(numbers_give(&v->n, &v->cx, 2 * PER_GROUP + 100), -EUCLEAN,
	       "that has it free");
	volume_free(v);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		test_use(uses[i], false);
		test_use(uses[i], true);
	}
	test_twice();
	return tap_done();
}
