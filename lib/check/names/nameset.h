/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of one directory, as tags of 32 bits: whether one may have been
 * there before.
 */
#ifndef NILFS2_CHECK_NAMESET_H
#define NILFS2_CHECK_NAMESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/context.h"
#include "base/le.h"

/* All zero is the empty set. */
struct nameset {
	uint32_t *slots;	/* 0: free */
	uint32_t *spare;	/* what it grows into */
	size_t nslots, room, spare_room;
	size_t used;
};

static inline uint64_t nameset_mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

static inline uint64_t nameset_word(const char *name, uint32_t len)
{
	le64 word;

	memcpy(&word, name, sizeof(word));
	return len < 8 ? le64_get(word) & ((UINT64_C(1) << 8 * len) - 1) :
			 le64_get(word);
}

/* The tag of a name in a directory entry, which has room for the name rounded
   up to 4 bytes past a multiple of 8: never 0. */
static inline uint32_t nameset_tag(const char *name, uint32_t len)
{
	uint64_t h = len;
	uint32_t at;
	le32 word;

	memcpy(&word, name, sizeof(word));
	h = nameset_mix(h, len < 4 ? le32_get(word) &
					     ((UINT32_C(1) << 8 * len) - 1) :
				     le32_get(word));
	for (at = 4; at < len; at += 8)
		h = nameset_mix(h, nameset_word(name + at, len - at));
	h = nameset_mix(h, 0);
	return (uint32_t)(h >> 32) | !(uint32_t)(h >> 32);
}

/* The tag of a name in directory INO, where a set has several directories. */
static inline uint32_t nameset_tag_in(uint64_t ino, const char *name,
				      uint32_t len)
{
	uint32_t tag = (uint32_t)(nameset_mix(ino, nameset_tag(name, len)) >>
				  32);

	return tag | !tag;
}

/* Makes it empty.  -ENOMEM. */
int nameset_clear(struct nameset *set, struct context *cx);

/* Adds TAG: 1 where it is new, 0 where it is there, -ENOBUFS (without a text)
   where a quarter of the memory budget is full, -ENOMEM. */
int nameset_add(struct nameset *set, struct context *cx, uint32_t tag);

/* Whether TAG is in SET, which has been cleared once. */
bool nameset_has(const struct nameset *set, uint32_t tag);

void nameset_fini(struct nameset *set);

#endif
