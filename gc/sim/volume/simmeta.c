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

static int open_layer(struct simvol_layer *l, uint64_t base, uint64_t covers,
		      uint32_t fanout)
{
	uint64_t count = fanout ? div_round_up(covers, fanout) : 0;

	l->fanout = fanout;
	l->base = (uint32_t)base;
	if (base + count >= SIMVOL_NONE)
		return -EINVAL;
	l->count = (uint32_t)count;
	count = count / WORD_BITS + 1;
	l->dirty = calloc(count, sizeof(*l->dirty));
	l->words = calloc(count / WORD_BITS + 1, sizeof(*l->words));
	return l->dirty && l->words ? 0 : -ENOMEM;
}

int simmeta_open(struct simvol *v, struct context *cx)
{
	const struct simvol_config *c = &v->config;
	struct simvol_layer *node = &v->layers[SIMVOL_NODE];
	struct simvol_layer *dat = &v->layers[SIMVOL_DAT];
	int ret = open_layer(node, c->data, c->data, c->node_fanout);

	if (!ret)
		ret = open_layer(dat, c->data + node->count,
				 c->data + node->count, c->dat_fanout);
	if (ret)
		return fail(cx, ret, "volume: metadata of so many blocks");
	v->nlogical = dat->base + dat->count;
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

static int flush_layer(struct simvol *v, struct context *cx,
		       enum simvol_kind kind)
{
	const struct simvol_layer *l = &v->layers[kind];
	size_t i, word;
	int ret = 0;

	for (i = 0; !ret && l->ndirty; i++)
		for (; l->words[i] && !ret; l->words[i] &= l->words[i] - 1) {
			word = i * WORD_BITS +
			       (size_t)__builtin_ctzll(l->words[i]);
			while (l->dirty[word] && !ret)
				ret = write_dirty(v, cx, kind,
					(uint32_t)(word * WORD_BITS) +
					(uint32_t)__builtin_ctzll(
						l->dirty[word]));
		}
	return ret;
}

int simmeta_flush(struct simvol *v, struct context *cx)
{
	/* Nodes are described by the DAT. */
	int ret = flush_layer(v, cx, SIMVOL_NODE);

	if (!ret)
		ret = flush_layer(v, cx, SIMVOL_DAT);
	v->cno++;
	v->totals.flushes++;
	return ret;
}
