// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flushes of a simulated volume: writing its dirty blocks of metadata.
 */
#include "gc/sim/volume/simvol.h"

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
	l->dirty[index / SIMVOL_BITS] &= ~(UINT64_C(1) << index % SIMVOL_BITS);
	l->ndirty--;
	v->totals.written[kind]++;
	simlayers_touch(v, id, false);
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
		if (l->dirty[i / SIMVOL_BITS] >> i % SIMVOL_BITS & 1)
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
				word = i * SIMVOL_BITS +
				       (size_t)__builtin_ctzll(l->words[i]);
				while (l->dirty[word] && !ret) {
					index = (uint32_t)(word * SIMVOL_BITS) +
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
