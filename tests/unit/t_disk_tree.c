// SPDX-License-Identifier: GPL-2.0-or-later
/* Inodes and directory entries. */
#include "disk/dirent.h"
#include "disk/inode.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static void test_numbers(void)
{
	uint64_t ino, private = 0, metadata = 0;

	for (ino = 0; ino < 20; ino++) {
		private |= (uint64_t)inode_is_private(ino) << ino;
		metadata |= (uint64_t)inode_is_metadata(ino) << ino;
	}
	is_int(private, 0x3fb, "0, 1, 3 to 9 are private");
	is_int(metadata, 0x78, "3 to 6 are metadata files");
}

static void test_types(void)
{
	is_int(inode_dirent_type(S_IFREG | 0644), NILFS_FT_REG_FILE, "file");
	is_int(inode_dirent_type(S_IFDIR | 01777), NILFS_FT_DIR, "directory");
	is_int(inode_dirent_type(S_IFLNK), NILFS_FT_SYMLINK, "symlink");
	is_int(inode_dirent_type(S_IFCHR), NILFS_FT_CHRDEV, "character");
	is_int(inode_dirent_type(S_IFBLK), NILFS_FT_BLKDEV, "block");
	is_int(inode_dirent_type(S_IFIFO), NILFS_FT_FIFO, "fifo");
	is_int(inode_dirent_type(S_IFSOCK), NILFS_FT_SOCK, "socket");
	is_int(inode_dirent_type(0), NILFS_FT_UNKNOWN, "no type");
	is_int(inode_dirent_type(0xf000), NILFS_FT_UNKNOWN, "all types");
}

/* Numbers as Linux encodes them in 32 bits: mmmM MMmm. */
static void test_devices(void)
{
	struct nilfs_inode inode = { 0 };
	uint32_t major_nr, minor_nr;

	is_int(inode_rdev_encode(8, 1), 0x801, "8:1");
	is_int(inode_rdev_encode(0x123, 0xabcde), 0xabc123deLL,
	       "0x123:0xabcde");
	inode.i_bmap[0] = le64_make(0xabc123de);
	inode_rdev(&inode, &major_nr, &minor_nr);
	ok(major_nr == 0x123 && minor_nr == 0xabcde, "and back");
	inode.i_mode = le16_make(S_IFBLK);
	ok(inode_has_rdev(&inode) && !inode_has_bmap(&inode),
	   "a device has a number, no block map");
	inode.i_mode = le16_make(S_IFLNK);
	ok(!inode_has_rdev(&inode) && inode_has_bmap(&inode),
	   "a symlink has a block map");
	inode.i_mode = le16_make(S_IFIFO);
	ok(!inode_has_rdev(&inode) && !inode_has_bmap(&inode),
	   "a fifo has neither");
}

static void test_times(void)
{
	struct nilfs_inode inode = { 0 };

	inode.i_mtime = le64_make(-5);
	inode.i_mtime_nsec = le32_make(7);
	inode.i_ctime = le64_make(1ull << 33);
	is_int(inode_mtime(&inode).sec, -5, "before 1970");
	is_int(inode_mtime(&inode).nsec, 7, "nanoseconds");
	is_int(inode_ctime(&inode).sec, 1ll << 33, "after 2106");
}

static void check(uint64_t ino, uint16_t mode, uint64_t size, uint64_t blocks,
		  enum rule rule, const char *name)
{
	struct nilfs_geometry g = { .block_size = 1024 };
	struct nilfs_inode inode = { 0 };

	inode.i_mode = le16_make(mode);
	inode.i_size = le64_make(size);
	inode.i_blocks = le64_make(blocks);
	inode.i_links_count = le16_make(32000);
	inode.i_ctime_nsec = le32_make(999999999);
	is_int(inode_check(&g, &inode, ino), rule, name);
	inode.i_ctime_nsec = le32_make(1000000000);
	ok(inode_check(&g, &inode, ino) == (rule ? rule : RULE_INODE_NSEC),
	   "a second's worth of nanoseconds");
}

static void test_inodes(void)
{
	check(2, S_IFDIR, 1024, 2, RULE_OK, "a root");
	check(2, S_IFDIR, 0, 2, RULE_INODE_ROOT, "an empty root");
	check(2, S_IFDIR, 1024, 0, RULE_INODE_ROOT, "a root without blocks");
	check(2, S_IFREG, 1024, 2, RULE_INODE_ROOT, "a root of another type");
	check(12, S_IFLNK, 1024, 2, RULE_OK, "a long target");
	check(12, S_IFLNK, 0, 0, RULE_INODE_SYMLINK_SIZE, "no target");
	check(12, S_IFREG, INT64_MAX, 0, RULE_OK, "the largest file");
}

static uint32_t put(uint8_t *block, uint32_t at, uint64_t ino,
		    const char *name, uint32_t rec_len)
{
	struct nilfs_dir_entry *de = (void *)(block + at);

	de->inode = le64_make(ino);
	de->rec_len = dirent_rec_len_encode(rec_len);
	de->name_len = strlen(name);
	de->file_type = NILFS_FT_DIR;
	memcpy(de->name, name, strlen(name));
	return at + rec_len;
}

static void test_walk(void)
{
	uint8_t block[1024] = { 0 };
	struct dirent_entry e;
	struct dirent_iter it;
	uint32_t at;

	at = put(block, 0, 2, ".", 16);
	at = put(block, at, 2, "..", 16);
	at = put(block, at, 0, "gone", 32);
	put(block, at, 12, "last", 1024 - at);
	dirent_iter_init(&it, block, 1024);
	ok(dirent_iter_next(&it, &e) && e.ino == 2 && e.name_len == 1, ".");
	ok(dirent_iter_next(&it, &e) && e.ino == 2 && e.offset == 16 &&
		   !memcmp(e.name, "..", e.name_len),
	   "..");
	ok(dirent_iter_next(&it, &e) && !e.ino, "a free entry");
	ok(dirent_iter_next(&it, &e) && e.ino == 12 && e.rec_len == 960 &&
		   e.type == NILFS_FT_DIR && !memcmp(e.name, "last", 4),
	   "the last entry takes the rest");
	ok(!dirent_iter_next(&it, &e) && !it.verdict, "the end");
	is_int(dirent_check_block(block, 1024), RULE_OK, "a sound block");

	put(block, at, 12, "last", 1024 - at - 8);
	is_int(dirent_check_block(block, 1024), RULE_DIR_END,
	       "8 bytes are left over");
	memset(block, 0, sizeof(block));
	is_int(dirent_check_block(block, 1024), RULE_DIR_REC_LEN_SHORT,
	       "a block of zeros");
	memset(block, 0xff, sizeof(block));
	is_int(dirent_check_block(block, 1024), RULE_DIR_SPAN,
	       "a block of ones");
}

static void test_entry(uint64_t ino, uint8_t type, const char *name,
		       uint8_t name_len, enum rule rule, const char *text)
{
	struct dirent_entry e = { .ino = ino, .type = type, .name = name,
				  .name_len = name_len };

	is_int(dirent_check(&e), rule, text);
}

static void test_entries(void)
{
	test_entry(11, 1, "a", 1, RULE_OK, "the first number for users");
	test_entry(2, 2, "..", 2, RULE_OK, "the root");
	test_entry(1, 1, "a", 1, RULE_DIR_PRIVATE_INO, "no inode at all");
	test_entry(9, 1, "a", 1, RULE_DIR_PRIVATE_INO, "a private number");
	test_entry(10, 1, ".sketch", 7, RULE_OK, "the sketch file");
	test_entry(10, 1, ".sketch", 6, RULE_DIR_PRIVATE_INO,
		   "another name for the sketch file");
	test_entry(9, 1, ".sketch", 7, RULE_DIR_PRIVATE_INO,
		   "the sketch file's name for another");
	test_entry(0, 0, "", 0, RULE_OK, "free room may hold anything");
	test_entry(12, 1, "", 0, RULE_DIR_NAME, "no name");
	test_entry(12, 1, "a\0b", 3, RULE_DIR_NAME, "a zero in the name");
	test_entry(12, 0, "a", 1, RULE_DIR_TYPE, "no type");
	test_entry(12, 7, "a", 1, RULE_OK, "the last type");
}

static void test_64k(void)
{
	static uint8_t block[65536];
	struct dirent_entry e;
	struct dirent_iter it;

	put(block, 0, 12, "all", 65536);
	is_int(block[8] | block[9] << 8, 65535, "65536 is stored as 65535");
	dirent_iter_init(&it, block, 65536);
	ok(dirent_iter_next(&it, &e) && e.rec_len == 65536,
	   "an entry that fills 64 KiB");
	ok(!dirent_iter_next(&it, &e) && !it.verdict, "is the only one");
	is_int(dirent_rec_len_decode(dirent_rec_len_encode(65528)), 65528,
	       "other lengths are stored as they are");
}

static void test_lengths(void)
{
	is_int(dirent_rec_len(1), 16, "a name of 1 takes 16 bytes");
	is_int(dirent_rec_len(4), 16, "so does one of 4");
	is_int(dirent_rec_len(5), 24, "one of 5 takes 24");
	is_int(dirent_rec_len(255), 272, "one of 255 takes 272");
}

/* Every two-byte length at a block that ends at a guarded page. */
static void test_guard(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *block = map + page - 1024;
	uint32_t len, at, good = 0;

	mprotect(map + page, page, PROT_NONE);
	for (len = 0; len < 65536; len++) {
		for (at = 0; at + 24 <= 1024; at += 24)
			put(block, at, 12, "name", 24);
		put(block, 960, 12, "name", len);
		good += !dirent_check_block(block, 1024);
	}
	is_int(good, 1, "one length alone fits the end of the block");
	munmap(map, 2 * page);
}

int main(void)
{
	test_numbers();
	test_types();
	test_devices();
	test_times();
	test_inodes();
	test_walk();
	test_entries();
	test_64k();
	test_lengths();
	test_guard();
	return tap_done();
}
