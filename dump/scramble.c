// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replacing names by meaningless ones.
 *
 * Each byte is added to the previous replaced one, and looked up in a random
 * permutation; then the same from the end.  Each step can be reversed, so
 * different names stay different, and each byte depends on all others.  A result
 * of "." or ".." is replaced again until it is another name; this loop ends
 * because the replacement is a permutation of the names.
 */
#include "dump/scramble.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#include "disk/dirent.h"
#include "disk/ondisk.h"

int scramble_init(struct scramble *s, struct context *cx)
{
	uint32_t random[SCRAMBLE_BYTES];
	unsigned int i, j;
	uint8_t swap;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return fail(cx, -errno, "random numbers");
	for (i = 0; i < SCRAMBLE_BYTES; i++)
		s->table[i] = (uint8_t)i;
	for (i = SCRAMBLE_BYTES - 1; i; i--) {
		j = random[i] % (i + 1);
		swap = s->table[i];
		s->table[i] = s->table[j];
		s->table[j] = swap;
	}
	return 0;
}

static bool is_special(const uint8_t *name, size_t len)
{
	return name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'));
}

static void scramble_name(const struct scramble *s, uint8_t *name, size_t len)
{
	unsigned int number, last = 0;
	uint8_t *byte;
	size_t i;

	if (is_special(name, len))
		return;
	do {
		/* To the end and back. */
		for (i = 0; i < 2 * len; i++) {
			byte = &name[i < len ? i : 2 * len - 1 - i];
			if (i % len == 0)
				last = (unsigned int)len;
			/* Bytes of names as numbers without a gap, and back. */
			number = *byte - 1u - (*byte > '/');
			last = s->table[(number + last) % SCRAMBLE_BYTES];
			*byte = (uint8_t)(last + 1 + (last >= '/' - 1u));
		}
	} while (is_special(name, len));
}

/* The bytes between a name and the next entry may be of a removed entry. */
void scramble_names(const struct scramble *s, void *block, uint32_t block_size)
{
	struct dirent_entry entry;
	struct dirent_iter it;
	uint8_t *name, *end;

	dirent_iter_init(&it, block, block_size);
	while (dirent_iter_next(&it, &entry)) {
		name = (uint8_t *)(uintptr_t)entry.name;
		end = (uint8_t *)block + entry.offset + entry.rec_len;
		if (entry.name_len && !memchr(name, 0, entry.name_len) &&
		    !memchr(name, '/', entry.name_len))
			scramble_name(s, name, entry.name_len);
		if (name + entry.name_len < end)
			memset(name + entry.name_len, 0,
			       (size_t)(end - name) - entry.name_len);
	}
}

void scramble_target(char *block, uint32_t block_size)
{
	uint32_t i;

	for (i = 0; i < block_size && block[i]; i++)
		if (block[i] != '/')
			block[i] = 'x';
}
