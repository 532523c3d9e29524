// SPDX-License-Identifier: GPL-2.0-or-later
/* The field tables: complete, without overlap, true to the structures. */
#include "disk/field.h"
#include "disk/ondisk.h"

#include <errno.h>

#include "tap.h"

/* Fields tile the structure: each begins where the last one ended. */
static void test_tiling(const struct field_table *t)
{
	uint32_t i, end = 0, gaps = 0;

	for (i = 0; i < t->nfields; i++) {
		gaps += t->fields[i].offset != end;
		end = t->fields[i].offset + field_length(&t->fields[i]);
	}
	is_int(gaps, 0, t->name);
	is_int(end, t->size, "is covered to its end");
}

static void test_inner(const struct field_table *t)
{
	uint32_t i, bad = 0;

	for (i = 0; i < t->nfields; i++) {
		const struct field *f = &t->fields[i];

		bad += (f->kind == FIELD_STRUCT) != (f->inner != NULL);
		bad += (f->kind == FIELD_FLAGS || f->kind == FIELD_CHOICE) !=
		       (f->names != NULL);
		bad += f->inner && f->inner->size != f->size;
		bad += field_is_number(f) && f->size > 8;
	}
	is_int(bad, 0, "kinds agree with names and inner tables");
}

static void test_numbers(void)
{
	const struct field_table *t = field_table_find("super_block");
	struct nilfs_super_block sb = { .s_magic = le16_make(0x3434) };
	const struct field *f = field_find(t, "s_magic");
	uint64_t v;

	ok(f && field_get(f, &sb, 0, &v) && v == 0x3434, "s_magic is read");
	ok(field_set(f, &sb, 0, 0x1234) && le16_get(sb.s_magic) == 0x1234,
	   "and set");
	ok(!field_set(f, &sb, 0, 0x10000), "but not beyond 16 bits");
	ok(!field_get(f, &sb, 1, &v), "there is but one");
	is_int(le16_get(sb.s_minor_rev_level), 0, "the field before is left");
	is_int(le16_get(sb.s_bytes), 0, "the field after is left");
	f = field_find(t, "s_nsegments");
	ok(field_set(f, &sb, 0, UINT64_MAX) && field_get(f, &sb, 0, &v) &&
		   v == UINT64_MAX,
	   "64 bits");
	ok(!field_get(field_find(t, "s_uuid"), &sb, 0, &v),
	   "a UUID is no number");
	is_int(field_find(t, "s_sum")->kind, FIELD_SUM, "s_sum is a checksum");
	ok(!field_find(t, "s_su"), "part of a name is no name");
	ok(!field_find(t, "s_sums"), "nor more than a name");
}

static void test_bytes(void)
{
	const struct field_table *t = field_table_find("super_block");
	const struct field *f = field_find(t, "s_volume_name");
	struct nilfs_super_block sb;
	char longer[81] = { 0 };

	memset(&sb, 0xff, sizeof(sb));
	ok(field_set_bytes(f, &sb, "label", 5), "a label is set");
	is_str(sb.s_volume_name, "label", "and ends with a zero");
	is_int(sb.s_volume_name[79], 0, "the old label is gone");
	is_int(sb.s_uuid[15], 0xff, "nothing before it has changed");
	is_int(le32_get(sb.s_c_interval), 0xffffffff, "nothing behind");
	ok(!field_set_bytes(f, &sb, longer, 81), "81 bytes are too many");
	f = field_find(t, "s_uuid");
	ok(!field_set_bytes(f, &sb, longer, 15), "a UUID has 16 bytes");
	ok(field_set_bytes(f, &sb, "0123456789abcdef", 16) &&
		   !memcmp(sb.s_uuid, "0123456789abcdef", 16),
	   "no fewer, no more");
}

static void test_resolve(void)
{
	const struct field_table *t = field_table_find("checkpoint");
	struct nilfs_checkpoint cp = { 0 };
	struct field f;
	uint64_t v;

	is_int(field_resolve(t, "cp_cno", &f), 0, "a field");
	is_int(f.offset, offsetof(struct nilfs_checkpoint, cp_cno), "in place");
	is_int(field_resolve(t, "cp_ifile_inode.i_bmap[2]", &f), 0,
	       "an element of an inner structure");
	cp.cp_ifile_inode.i_bmap[2] = le64_make(77);
	ok(field_get(&f, &cp, 0, &v) && v == 77, "is read");
	is_int(f.count, 1, "alone");
	is_int(field_resolve(t, "cp_ifile_inode.i_bmap", &f), 0, "an array");
	ok(f.count == 7 && field_get(&f, &cp, 2, &v) && v == 77,
	   "has elements");
	is_int(field_resolve(t, "cp_ifile_inode.i_bmap[7]", &f), -ERANGE,
	       "no element 7");
	is_int(field_resolve(t, "cp_ifile_inode.i_bmap[4294967298]", &f),
	       -ERANGE, "2 + 2^32 is not 2");
	is_int(field_resolve(t, "cp_cno[1]", &f), -ERANGE, "no array");
	is_int(field_resolve(t, "cp_cno.x", &f), -ENOENT, "no structure");
	is_int(field_resolve(t, "cp_ifile_inode.", &f), -ENOENT, "no end");
	is_int(field_resolve(t, "cp_ifile_inode.i_bmap[2", &f), -ENOENT,
	       "no bracket");
	is_int(field_resolve(t, "cp_ifile_inode.i_bmap[2]x", &f), -ENOENT,
	       "no dot");
	is_int(field_resolve(t, "", &f), -ENOENT, "no name");
}

int main(void)
{
	const struct field_table *t;

	for (t = field_table_all; t->name; t++) {
		test_tiling(t);
		test_inner(t);
		ok(field_table_find(t->name) == t, "%s is found", t->name);
	}
	ok(!field_table_find("nothing"), "nothing is not found");
	test_numbers();
	test_bytes();
	test_resolve();
	return tap_done();
}
