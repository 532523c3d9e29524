// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layers of metadata of a simulated volume: their sizes, and which of their
 * blocks are dirty.  simmeta.c writes these.
 *
 * Only the level that describes data is modelled: levels above are a hundredth
 * of it and mostly written once per flush.  A block of the DAT is physical, as
 * in NILFS2, so moving it only changes the levels above.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"

uint64_t simlayers_entry_blocks(const struct simvol_config *c)
{
	uint64_t places = (uint64_t)c->nsegments * c->blocks;
	uint64_t group = (uint64_t)c->dat_fanout * SIMVOL_GROUP_BLOCKS;

	/* All places may have an entry, and one more group is searched. */
	return (div_round_up(places, group) + 1) * SIMVOL_GROUP_BLOCKS;
}

int simlayers_open(struct simvol *v, struct context *cx)
{
	const uint32_t fanouts[] = {
		[SIMVOL_NODE] = v->config.node_fanout,
		[SIMVOL_DAT] = v->config.dat_fanout,
	};
	uint64_t base = v->config.data, count;
	unsigned int kind;

	/* Nodes describe data, blocks of the DAT both. */
	for (kind = SIMVOL_NODE; kind <= SIMVOL_DAT; kind++) {
		struct simvol_layer *l = &v->layers[kind];

		count = fanouts[kind] ? div_round_up(base, fanouts[kind]) : 0;
		if (kind == SIMVOL_DAT && count && v->config.dat_allocates)
			count = simlayers_entry_blocks(&v->config);
		/* All entries have numbers of 32 bits. */
		if (kind == SIMVOL_DAT && v->config.dat_allocates &&
		    count * fanouts[kind] > UINT32_MAX)
			return fail(cx, -EINVAL,
				    "volume: entries of so many blocks");
		if (base + count >= SIMVOL_NONE)
			return fail(cx, -EINVAL,
				    "volume: metadata of so many blocks");
		*l = (struct simvol_layer){
			.base = (uint32_t)base,
			.count = (uint32_t)count,
			.fanout = fanouts[kind],
		};
		base += count;
		count = count / SIMVOL_BITS + 1;
		l->dirty = calloc(count, sizeof(*l->dirty));
		l->words = calloc(count / SIMVOL_BITS + 1, sizeof(*l->words));
		if (!l->dirty || !l->words)
			return fail(cx, -ENOMEM,
				    "volume: metadata of so many blocks");
	}
	v->nlogical = (uint32_t)base;
	return 0;
}

static inline void set_dirty(struct simvol *v, enum simvol_kind kind,
			     uint32_t index)
{
	struct simvol_layer *l = &v->layers[kind];
	uint64_t bit = UINT64_C(1) << index % SIMVOL_BITS;
	size_t word = index / SIMVOL_BITS;

	l->ndirty += !(l->dirty[word] & bit);
	l->dirty[word] |= bit;
	l->words[word / SIMVOL_BITS] |= UINT64_C(1) << word % SIMVOL_BITS;
}

void simlayers_set_dirty(struct simvol *v, uint32_t id, bool moved)
{
	const struct simvol_layer *node = &v->layers[SIMVOL_NODE];
	const struct simvol_layer *dat = &v->layers[SIMVOL_DAT];

	if (node->fanout && id < v->config.data &&
	    (!moved || v->config.moves_change_nodes))
		set_dirty(v, SIMVOL_NODE, id / node->fanout);
	if (dat->fanout && id < dat->base && !v->entries.of)
		set_dirty(v, SIMVOL_DAT, id / dat->fanout);
}

void simlayers_dirty_entry(struct simvol *v, uint32_t entry)
{
	set_dirty(v, SIMVOL_DAT, entry / v->layers[SIMVOL_DAT].fanout);
}

void simlayers_move(struct simvol *v, uint32_t id)
{
	enum simvol_kind kind = simvol_kind_of(v, id);

	set_dirty(v, kind, id - v->layers[kind].base);
	v->totals.moved[kind]++;
}
