// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of a damaged directory block, and names for what needs another one.
 *
 * A block is packed, one field of it is spoilt, and what is found again must be
 * the names that were packed, as far as they lead somewhere.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "disk/dirpack.h"
#include "fsck/names/namefix.h"

#include "tap.h"

#define BLOCK 1024u
#define SELF 20u	/* the directory */
#define FIRST 100u	/* inodes of names: as many as NAMES, plain files */
#define NAMES 12u
#define MISSING (FIRST + NAMES)

static struct context cx;
static struct inodelist list;
static uint8_t block[BLOCK];
static uint32_t at[NAMES]; /* where each entry is */

static void add_inode(uint64_t ino, uint16_t mode, uint8_t type)
{
	struct nilfs_inode inode = {
		.i_mode = le16_make(mode), .i_links_count = le16_make(1),
	};

	if (inodelist_add(&list, &cx, ino, type | INODELIST_EXISTS |
			  INODELIST_ALLOCATED, &inode))
		exit(99);
}

static void make_inodes(void)
{
	unsigned int i;

	add_inode(NILFS_ROOT_INO, S_IFDIR, NILFS_FT_DIR);
	add_inode(SELF, S_IFDIR, NILFS_FT_DIR);
	for (i = 0; i < NAMES; i++)
		add_inode(FIRST + i, S_IFREG, NILFS_FT_REG_FILE);
}

/* Names of one letter and more: "a", "bb", "ccc", ... */
static void make_block(void)
{
	struct dirpack p;
	unsigned int i;
	char name[NAMES];

	dirpack_init(&p, block, BLOCK);
	dirpack_add(&p, SELF, NILFS_FT_DIR, ".", 1);
	dirpack_add(&p, NILFS_ROOT_INO, NILFS_FT_DIR, "..", 2);
	for (i = 0; i < NAMES; i++) {
		memset(name, 'a' + (int)i, i + 1);
		at[i] = p.used;
		dirpack_add(&p, FIRST + i, NILFS_FT_REG_FILE, name,
			    (uint8_t)(i + 1));
	}
	dirpack_end(&p);
}

static struct nilfs_dir_entry *entry_at(uint32_t offset)
{
	return (struct nilfs_dir_entry *)(block + offset);
}

/* The names among what is between FROM and END, a bit each. */
static unsigned int search(struct entrywalk *w, uint32_t from, uint32_t end)
{
	struct entrywalk_entry entry;
	unsigned int found = 0, i;

	while (entrywalk_search(w, from, end, &entry)) {
		i = (unsigned int)(entry.e.ino - FIRST);
		if (entry.e.name_len == i + 1 &&
		    entry.e.name[0] == (char)('a' + i))
			found |= 1u << i;
		from = entry.e.offset + entry.e.rec_len;
	}
	return found;
}

/* The inodes whose names are found, a bit each; *FATES: all others. */
static unsigned int walk(uint64_t blkoff, unsigned int *fates)
{
	struct entrywalk_entry entry;
	struct entrywalk w;
	unsigned int found = 0;

	*fates = 0;
	entrywalk_init(&w, &list, SELF, blkoff, block, BLOCK);
	while (entrywalk_next(&w, &entry)) {
		if (entry.fate == ENTRYWALK_NAME && !entry.bad_name)
			found |= 1u << (entry.e.ino - FIRST);
		else
			*fates |= 1u << entry.fate | entry.bad_name << 30;
		found |= search(&w, entry.end,
				entry.e.offset + entry.e.rec_len);
	}
	return w.it.verdict ? found | search(&w, w.it.offset, BLOCK) : found;
}

#define ALL ((1u << NAMES) - 1)
#define DOTS (1u << ENTRYWALK_DOT | 1u << ENTRYWALK_DOTDOT)

static void test_lengths(void)
{
	static const uint32_t lengths[] = { 0, 8, 18, 20, 2000, 65535 };
	unsigned int fates, i, j, missed = 0;

	make_block();
	is_int(walk(0, &fates), ALL, "a sound block has all its names");
	is_int(fates, DOTS, "and '.' and '..'");
	for (i = 0; i < NAMES; i++) {
		for (j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
			make_block();
			entry_at(at[i])->rec_len =
				le16_make((uint16_t)lengths[j]);
			missed += walk(0, &fates) != ALL;
		}
	}
	is_int(missed, 0, "whichever length is spoilt, none is lost");
	make_block();
	entry_at(at[0])->name_len = 200;
	is_int(walk(0, &fates), ALL, "nor with the length of a name");
	make_block();
	entry_at(at[2])->rec_len = le16_make((uint16_t)(at[6] - at[2]));
	is_int(walk(0, &fates), ALL, "nor in a length that hides others");
}

static void test_fates(void)
{
	unsigned int fates;

	make_block();
	entry_at(at[3])->inode = le64_make(MISSING);
	is_int(walk(0, &fates), ALL & ~(1u << 3), "one leads nowhere");
	is_int(fates, DOTS | 1u << ENTRYWALK_DANGLING, "which is said");
	make_block();
	entry_at(at[3])->inode = le64_make(NILFS_DAT_INO);
	walk(0, &fates);
	is_int(fates, DOTS | 1u << ENTRYWALK_RESERVED, "a reserved inode");
	make_block();
	entry_at(at[3])->inode = le64_make(NILFS_ROOT_INO);
	walk(0, &fates);
	is_int(fates, DOTS | 1u << ENTRYWALK_ABOVE, "the root");
	make_block();
	entry_at(at[1])->name[1] = '.';
	entry_at(at[1])->name[0] = '.';
	walk(0, &fates);
	is_int(fates, DOTS | 1u << ENTRYWALK_STRAY, "'..' among the names");
	make_block();
	entry_at(at[1])->name[1] = '/';
	is_int(walk(0, &fates), ALL & ~2u, "a slash in a name");
	is_int(fates, DOTS | 1u << ENTRYWALK_NAME | 1u << 30, "spoils it");
}

/* A block in which files have the places of "." and "..". */
static void test_places(void)
{
	unsigned int fates;

	make_block();
	memmove(block, block + at[0], BLOCK - at[0]);
	entry_at(at[NAMES - 1] - at[0])->rec_len =
		le16_make((uint16_t)(BLOCK - at[NAMES - 1] + at[0]));
	is_int(walk(0, &fates), ALL, "names in the places of '.' and '..'");
	is_int(fates, 0, "are names");
	is_int(walk(1, &fates), ALL, "as in any other block");
	make_block();
	entry_at(16)->name[0] = 'x';
	is_int(walk(0, &fates), ALL, "'..' under another name");
	is_int(fates, DOTS, "is still '..'");
}

static void test_repaired(void)
{
	struct entrywalk_name name;

	entrywalk_name_repair(&name, "a/b\0c", 5, 7);
	is_int(name.len, 5, "a name keeps its length");
	ok(!memcmp(name.name, "a_b_c", 5), "without what cannot be in one");
	entrywalk_name_repair(&name, "", 0, 7);
	is_str(name.name, "#7", "one that is empty");
	entrywalk_name_repair(&name, "..", 2, 7);
	is_str(name.name, "#7", "one that is taken in every directory");
	entrywalk_name_repair(&name, "...", 3, 7);
	is_str(name.name, "...", "and one that is not");
}

static void test_free(void)
{
	struct nameset tags = { .slots = NULL };
	struct entrywalk_name name;
	char longest[NILFS_NAME_LEN];

	memset(longest, 'x', sizeof(longest));
	is_int(dupnames_clear_set(&tags, &cx), 0, "no names");
	entrywalk_name_repair(&name, "name", 4, 7);
	entrywalk_name_find(&name, &cx, &tags, false, 7);
	is_str(name.name, "name", "a name that is free");
	entrywalk_name_repair(&name, "name", 4, 7);
	entrywalk_name_find(&name, &cx, &tags, false, 7);
	is_str(name.name, "name~1", "once more");
	entrywalk_name_repair(&name, "name", 4, 7);
	entrywalk_name_find(&name, &cx, &tags, true, 7);
	is_str(name.name, "name~2", "and again");
	entrywalk_name_repair(&name, "name", 4, 7);
	entrywalk_name_find(&name, &cx, NULL, true, 7);
	is_str(name.name, "name~#7", "where it is not known");
	entrywalk_name_repair(&name, longest, NILFS_NAME_LEN, 7);
	entrywalk_name_find(&name, &cx, &tags, true, 7);
	is_int(name.len, NILFS_NAME_LEN, "the longest is not longer");
	ok(!memcmp(name.name + NILFS_NAME_LEN - 3, "x~1", 3), "at its end");
	dupnames_free_set(&tags);
}

/* Entry N goes, as nilfs_delete_entry() does it. */
static void delete_entry(unsigned int n)
{
	uint32_t before = n ? at[n - 1] : 16, end = at[n] +
			  le16_get(entry_at(at[n])->rec_len);

	entry_at(at[n])->inode = le64_make(0);
	entry_at(before)->rec_len = le16_make((uint16_t)(end - before));
}

/* What was deleted and comes back has its place again. */
static void test_insert(void)
{
	uint8_t sound[BLOCK];
	unsigned int fates, i, n = 0, bad = 0;
	char name[NAMES];

	make_block();
	memcpy(sound, block, BLOCK);
	for (i = 0; i < NAMES; i++) {
		memset(name, 'a' + (int)i, i + 1);
		delete_entry(i);
		bad += !dirpack_insert(block, BLOCK, FIRST + i,
				       NILFS_FT_REG_FILE, name,
				       (uint8_t)(i + 1)) ||
		       memcmp(block, sound, BLOCK) != 0;
	}
	is_int(bad, 0, "a name that comes back has its place again");
	while (dirpack_insert(block, BLOCK, FIRST, NILFS_FT_REG_FILE, "zz", 2))
		n++;
	ok(n > 10 && n < BLOCK / 16, "names until there is no room: %u", n);
	walk(0, &fates);
	is_int(dirent_check_block(block, BLOCK), RULE_OK, "in a sound block");
	is_int(fates, DOTS, "of names");
}

/* Entries that stay where they are; what is left out goes to the one before. */
static void test_skip(void)
{
	uint8_t want[BLOCK], packed[BLOCK];
	struct dirent_entry e;
	struct dirent_iter it;
	struct dirpack p;

	make_block();
	delete_entry(4);
	delete_entry(0);
	memcpy(want, block, BLOCK);
	dirpack_init(&p, packed, BLOCK);
	memcpy(packed, block, BLOCK);
	dirent_iter_init(&it, block, BLOCK);
	while (dirent_iter_next(&it, &e)) {
		dirpack_skip(&p, e.offset);
		dirpack_add(&p, e.ino, e.type, e.name, e.name_len);
	}
	dirpack_end(&p);
	ok(!memcmp(packed, want, BLOCK), "what stays keeps its place");
	dirpack_init(&p, packed, BLOCK);
	dirpack_skip(&p, 64);
	dirpack_add(&p, FIRST, NILFS_FT_REG_FILE, "a", 1);
	dirpack_end(&p);
	dirent_iter_init(&it, packed, BLOCK);
	dirent_iter_next(&it, &e);
	is_int(e.ino, 0, "nothing is before it");
	dirent_iter_next(&it, &e);
	is_int(e.offset, 64, "where it was");
}

int main(void)
{
	context_init(&cx);
	make_inodes();
	test_lengths();
	test_fates();
	test_places();
	test_repaired();
	test_free();
	test_insert();
	test_skip();
	inodelist_fini(&list);
	return tap_done();
}
