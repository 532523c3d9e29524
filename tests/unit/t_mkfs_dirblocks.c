// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Directory blocks as the decoder reads them: every entry is there, in order,
 * no block breaks a rule, and none could have held more.
 */
#include <stdlib.h>

#include "disk/dirent.h"
#include "mkfs/populate/dirblocks.h"
#include "tap.h"

#define INO 4711u
#define PARENT 4242u
#define FIRST 100u

struct shape {
	const char *name;
	unsigned int count;
	uint8_t (*len)(unsigned int i);
};

static uint8_t one(unsigned int i)
{
	(void)i;
	return 1;
}

static uint8_t longest(unsigned int i)
{
	(void)i;
	return NILFS_NAME_LEN;
}

static uint8_t mixed(unsigned int i)
{
	return (uint8_t)(1 + i * 2654435761u % NILFS_NAME_LEN);
}

static const struct shape shapes[] = {
	{ "no entry", 0, one },
	{ "one entry", 1, longest },
	{ "short names", 9000, one },
	{ "longest names", 700, longest },
	{ "mixed names", 3000, mixed },
};

static void name_of(unsigned int i, uint8_t len, char *name)
{
	memset(name, 'a' + (int)(i % 26), len);
}

static uint8_t type_of(unsigned int i)
{
	return (uint8_t)(1 + i % (NILFS_FT_MAX - 1));
}

/* By the definition of an entry's length: 12 bytes and the name, in eights. */
static uint32_t length_of(uint8_t len)
{
	return (12u + len + 7u) / 8u * 8u;
}

/* Blocks that entries need which go, in order, where there is room. */
static size_t needed(const struct shape *s, uint32_t block_size)
{
	uint32_t used = 16 + 16, i;
	size_t nblocks = 1;

	for (i = 0; i < s->count; i++) {
		if (used + length_of(s->len(i)) > block_size) {
			nblocks++;
			used = 0;
		}
		used += length_of(s->len(i));
	}
	return nblocks;
}

/* True where ENTRY is the I-th that was put in, "." and ".." being two. */
static bool is_expected(const struct shape *s, unsigned int i,
			const struct dirent_entry *entry)
{
	char name[NILFS_NAME_LEN];
	uint8_t len;

	if (i < 2)
		return entry->ino == (i ? PARENT : INO) &&
		       entry->type == NILFS_FT_DIR &&
		       entry->name_len == i + 1 &&
		       !memcmp(entry->name, "..", i + 1);
	i -= 2;
	if (i >= s->count)
		return false;
	len = s->len(i);
	name_of(i, len, name);
	return entry->ino == FIRST + i && entry->type == type_of(i) &&
	       entry->name_len == len && !memcmp(entry->name, name, len);
}

/* Counts the entries that are as expected; -1 for anything wrong. */
static int read_back(const struct shape *s, const struct dirblocks *d)
{
	struct dirent_entry entry;
	struct dirent_iter it;
	unsigned int i = 0;
	const le16 *rec_len;
	size_t b;

	for (b = 0; b < d->nblocks; b++) {
		const uint8_t *block = d->data + b * d->block_size;

		if (dirent_check_block(block, d->block_size))
			return -1;
		dirent_iter_init(&it, block, d->block_size);
		while (dirent_iter_next(&it, &entry)) {
			rec_len = (const void *)(block + entry.offset + 8);
			if (le16_get(*rec_len) == NILFS_MAX_REC_LEN ||
			    entry.offset % 8)
				return -1;
			if (entry.ino && !is_expected(s, i++, &entry))
				return -1;
		}
		if (it.offset != d->block_size)
			return -1;
	}
	return (int)i;
}

static int build(struct dirblocks *d, struct context *cx,
		 const struct shape *s)
{
	char name[NILFS_NAME_LEN];
	unsigned int i;
	int err;

	err = dirblocks_begin(d, cx, INO, PARENT);
	for (i = 0; !err && i < s->count; i++) {
		name_of(i, s->len(i), name);
		err = dirblocks_add(d, cx, FIRST + i, type_of(i), name,
				    s->len(i));
	}
	dirpack_end(&d->pack);
	return err;
}

static void test_size(uint32_t block_size)
{
	struct dirblocks d = { .block_size = block_size };
	struct context cx;
	size_t i;

	context_init(&cx);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *s = &shapes[i];

		ok(!build(&d, &cx, s), "%s in blocks of %u", s->name,
		   block_size);
		is_int(d.nblocks, needed(s, block_size), "no block too many");
		is_int(read_back(s, &d), (int)s->count + 2,
		       "all of it can be read");
	}
	free(d.data);
}

/* A block of 64 KiB with one entry, which must not be 65536 bytes long. */
static void test_alone(void)
{
	static const struct shape one_more = { "one more", 0, longest };
	struct dirblocks d = { .block_size = 65536 };
	struct shape s = one_more;
	struct context cx;

	context_init(&cx);
	s.count = (65536 - 32) / length_of(NILFS_NAME_LEN) + 1;
	ok(!build(&d, &cx, &s), "an entry alone in a block of 64 KiB");
	is_int(d.nblocks, 2, "it is in the second block");
	is_int(read_back(&s, &d), (int)s.count + 2, "all of it can be read");
	free(d.data);
}

int main(void)
{
	uint32_t block_size;

	for (block_size = 1024; block_size <= 65536; block_size *= 2)
		test_size(block_size);
	test_alone();
	return tap_done();
}
