// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of the DAT, allocated as nilfs_palloc_prepare_alloc_entry() does it.
 *
 * A block that is written has a new entry: the first free one from a target on
 * in the group of the target, then from the start of this group, then of the
 * next groups.  For a block that was there the target is the one after its old
 * entry; a new one follows the block before it, or what was allocated last,
 * where the kernel has a target for each file.  An entry stays with a block that
 * is moved, and is free once the segment of the dead block is clean.
 *
 * The blocks of bitmaps are not modelled, one for 32768 entries.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD SIMVOL_BITS

int simentry_open(struct simvol *v, struct context *cx)
{
	struct simvol_entries *e = &v->entries;
	uint32_t i, groups;

	e->group = v->config.dat_fanout * SIMVOL_GROUP_BLOCKS;
	e->count = (uint32_t)(simlayers_entry_blocks(&v->config) *
			      v->config.dat_fanout);
	groups = e->count / e->group;
	e->of = malloc(v->nplaces * sizeof(*e->of));
	e->used = calloc(e->count / WORD + 1, sizeof(*e->used));
	e->nfree = malloc(groups * sizeof(*e->nfree));
	if (!e->of || !e->used || !e->nfree)
		return fail(cx, -ENOMEM, "entries of %u blocks", v->nplaces);
	memset(e->of, 0xff, v->nplaces * sizeof(*e->of));
	for (i = 0; i < groups; i++)
		e->nfree[i] = e->group;
	return 0;
}

void simentry_close(struct simvol *v)
{
	free(v->entries.of);
	free(v->entries.used);
	free(v->entries.nfree);
}

/* The first free entry from FROM on before END, or END. */
static uint32_t find_free(const struct simvol_entries *e, uint32_t from,
			  uint32_t end)
{
	uint64_t word;

	while (from < end) {
		word = ~e->used[from / WORD] >> from % WORD;
		if (word) {
			from += (uint32_t)__builtin_ctzll(word);
			return from < end ? from : end;
		}
		from = (from / WORD + 1) * WORD;
	}
	return end;
}

static uint32_t allocate(struct simvol_entries *e, uint32_t target)
{
	uint32_t found, begin, end;

	if (target >= e->count)
		target = 0;
	begin = target - target % e->group;
	end = begin + e->group;
	found = e->nfree[begin / e->group] ? find_free(e, target, end) : end;
	if (found == end && e->nfree[begin / e->group])
		found = find_free(e, begin, target);
	while (found == end || e->used[found / WORD] >> found % WORD & 1) {
		begin = end < e->count ? end : 0;
		end = begin + e->group;
		found = e->nfree[begin / e->group] ? find_free(e, begin, end) :
						     end;
	}
	e->used[found / WORD] |= UINT64_C(1) << found % WORD;
	e->nfree[found / e->group]--;
	return e->last = found;
}

void simentry_free(struct simvol *v, uint32_t place)
{
	struct simvol_entries *e = &v->entries;
	uint32_t entry = e->of[place];

	if (entry == SIMVOL_NONE)
		return;
	e->of[place] = SIMVOL_NONE;
	e->used[entry / WORD] &= ~(UINT64_C(1) << entry % WORD);
	e->nfree[entry / e->group]++;
}

void simentry_move(struct simvol *v, uint32_t from, uint32_t to)
{
	struct simvol_entries *e = &v->entries;

	e->of[to] = e->of[from];
	e->of[from] = SIMVOL_NONE;
	simlayers_dirty_entry(v, e->of[to]);
}

void simentry_put(struct simvol *v, uint32_t first, uint32_t count)
{
	struct simvol_entries *e = &v->entries;

	for (; count; count--, first++)
		e->of[first] = allocate(e, e->last + 1);
}

void simentry_write(struct simvol *v, uint32_t id, uint32_t old,
		    uint32_t place)
{
	struct simvol_entries *e = &v->entries;
	uint32_t target = e->last + 1;

	if (old != SIMVOL_NONE)
		target = e->of[old] + 1;
	else if (id && v->at[id - 1] != SIMVOL_NONE)
		target = e->of[v->at[id - 1]] + 1;
	/* A hole that is written over. */
	simentry_free(v, place);
	e->of[place] = allocate(e, target);
	simlayers_dirty_entry(v, e->of[place]);
	if (old != SIMVOL_NONE)
		simlayers_dirty_entry(v, e->of[old]);
}
