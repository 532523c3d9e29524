// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Metadata of a simulated volume.
 *
 * Only the level that describes data is modelled: levels above are a hundredth
 * of it and mostly written once per flush.  A block of the DAT is physical, as
 * in NILFS2, so moving it only changes the levels above.
 */
#include "gc/sim/volume/simvol.h"

#include <errno.h>
#include <stdlib.h>

#include "base/checked.h"

#define WORD_BITS 64u

int simmeta_open(struct simvol *v, struct context *cx)
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
		if (base + count >= SIMVOL_NONE)
			return fail(cx, -EINVAL,
				    "volume: metadata of so many blocks");
		*l = (struct simvol_layer){
			.base = (uint32_t)base,
			.count = (uint32_t)count,
			.fanout = fanouts[kind],
		};
		base += count;
		count = count / WORD_BITS + 1;
		l->dirty = calloc(count, sizeof(*l->dirty));
		l->words = calloc(count / WORD_BITS + 1, sizeof(*l->words));
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
	uint64_t bit = UINT64_C(1) << index % WORD_BITS;
	size_t word = index / WORD_BITS;

	l->ndirty += !(l->dirty[word] & bit);
	l->dirty[word] |= bit;
	l->words[word / WORD_BITS] |= UINT64_C(1) << word % WORD_BITS;
}

void simmeta_touch_layers(struct simvol *v, uint32_t id, bool moved)
{
	const struct simvol_layer *node = &v->layers[SIMVOL_NODE];
	const struct simvol_layer *dat = &v->layers[SIMVOL_DAT];

	if (node->fanout && id < v->config.data &&
	    (!moved || v->config.moves_change_nodes))
		set_dirty(v, SIMVOL_NODE, id / node->fanout);
	if (dat->fanout && id < dat->base)
		set_dirty(v, SIMVOL_DAT, id / dat->fanout);
}

void simmeta_move(struct simvol *v, uint32_t id)
{
	enum simvol_kind kind = simvol_kind_of(v, id);

	set_dirty(v, kind, id - v->layers[kind].base);
	v->totals.moved[kind]++;
}

/* Writes the dirty block INDEX of the layer. */
static inline int write_dirty(struct simvol *v, struct context *cx,
		       enum simvol_kind kind, uint32_t index)
{
	struct simvol_layer *l = &v->layers[kind];
	uint32_t id = l->base + index;
	/*
	 * Old states of metadata are not kept: DAT and nodes of snapshots are
	 * few compared to data.
	 */
	int ret = simvol_append(v, cx, simvol_log_of(v, id, SIMPLACE_USER),
				id, v->at[id] != SIMVOL_NONE);

	if (ret)
		return ret;
	l->dirty[index / WORD_BITS] &= ~(UINT64_C(1) << index % WORD_BITS);
	l->ndirty--;
	v->totals.written[kind]++;
	simmeta_touch(v, id, false);
	return 0;
}

int simmeta_sync(struct simvol *v, struct context *cx, uint32_t first,
		 uint32_t count)
{
	const struct simvol_layer *l = &v->layers[SIMVOL_NODE];
	uint32_t i, last;
	int ret = 0;

	if (!l->fanout || !count)
		return 0;
	last = (first + count - 1) / l->fanout;
	for (i = first / l->fanout; i <= last && !ret; i++)
		if (l->dirty[i / WORD_BITS] >> i % WORD_BITS & 1)
			ret = write_dirty(v, cx, SIMVOL_NODE, i);
	return ret;
}

int simmeta_flush(struct simvol *v, struct context *cx)
{
	unsigned int kind;
	size_t i, word;
	uint32_t index;
	int ret = 0;

	/* Nodes first, since they are described by the DAT. */
	for (kind = SIMVOL_NODE; kind <= SIMVOL_DAT; kind++) {
		const struct simvol_layer *l = &v->layers[kind];

		for (i = 0; !ret && l->ndirty; i++)
			while (l->words[i] && !ret) {
				word = i * WORD_BITS +
				       (size_t)__builtin_ctzll(l->words[i]);
				while (l->dirty[word] && !ret) {
					index = (uint32_t)(word * WORD_BITS) +
						(uint32_t)__builtin_ctzll(
							l->dirty[word]);
					ret = write_dirty(v, cx, kind, index);
				}
				l->words[i] &= l->words[i] - 1;
			}
	}
	v->cno++;
	v->totals.flushes++;
	return ret;
}
