/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The fields of every disk structure as data.  Printing, JSON, setting a field by
 * name and deliberate damage all use these tables.
 */
#ifndef NILFS2_DISK_FIELD_H
#define NILFS2_DISK_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum field_kind {
	FIELD_UINT,		/* shown as a decimal number */
	FIELD_HEX,
	FIELD_OCTAL,
	FIELD_TIME,		/* seconds since 1970 */
	FIELD_FLAGS,		/* bits with names */
	FIELD_CHOICE,		/* values with names */
	FIELD_SUM,		/* a checksum */
	FIELD_PAD,		/* reserved or unused */
	FIELD_UUID,		/* 16 bytes */
	FIELD_TEXT,		/* ends with a zero byte if shorter */
	FIELD_STRUCT,		/* another structure: `inner` */
};

/* The name of a bit (FIELD_FLAGS) or value (FIELD_CHOICE); ends with NULL. */
struct field_name {
	uint64_t value;
	const char *name;
};

struct field {
	const char *name;	/* the kernel's */
	uint32_t offset;	/* bytes from the beginning of the structure */
	uint32_t size;		/* bytes of one element */
	uint32_t count;		/* elements; more than 1 in an array */
	enum field_kind kind;
	const struct field_name *names;		/* or NULL */
	const struct field_table *inner;	/* or NULL */
};

struct field_table {
	const char *name;	/* without the kernel's "nilfs_" */
	uint32_t size;		/* bytes of the structure */
	uint32_t nfields;
	const struct field *fields;	/* in the order of their offsets */
};

/* The tables of all structures; ends with a NULL name. */
extern const struct field_table field_table_all[];

/* The table of the structure with that name ("super_block"), or NULL. */
const struct field_table *field_table_find(const char *name);

/* The field with that name, the first of a path, in TABLE itself, or NULL. */
const struct field *field_find(const struct field_table *table,
			       const char *name);

/*
 * Follows PATH ("cp_ifile_inode.i_bmap[2]") from TABLE and fills FIELD with the
 * result: the offset is from the beginning of TABLE's structure, the count is 1 if
 * the path has an index.  -ENOENT if there is no such field, -ERANGE if there is no
 * such element.  The inodes of a super root are placed for an inode size of 128
 * (superroot_inode() supports other sizes).
 */
int field_resolve(const struct field_table *table, const char *path,
		  struct field *field);

/* True for a field of 1 to 8 bytes that is a number, including padding. */
bool field_is_number(const struct field *field);

/*
 * Gets or sets element I of FIELD in the structure at BASE as a number.  False if it
 * is not a number, there is no such element, or VALUE is too large.
 */
bool field_get(const struct field *field, const void *base, uint32_t i,
	       uint64_t *value);
bool field_set(const struct field *field, void *base, uint32_t i,
	       uint64_t value);

/* The number of bytes of FIELD, which begin at its offset in the structure. */
size_t field_length(const struct field *field);

/*
 * Copies LEN bytes into FIELD and zeroes the rest of it, for texts and UUIDs.  False
 * if LEN exceeds the field, or for a UUID differs from its size.
 */
bool field_set_bytes(const struct field *field, void *base, const void *bytes,
		     size_t len);

#endif
