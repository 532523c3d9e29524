// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: the decoders of single structures.
 *
 * The first byte of an input chooses the decoder, the rest is what it decodes,
 * in a buffer of just that size: a read past its end is an error for
 * AddressSanitizer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "disk/bmap.h"
#include "disk/dirent.h"
#include "disk/field.h"
#include "disk/palloc.h"
#include "disk/segsum.h"
#include "disk/super.h"
#include "disk/superroot.h"

static const struct nilfs_geometry g = {
	.block_size = 1024, .block_bits = 10, .blocks_per_segment = 1024,
	.inode_size = 128, .segment_usage_size = 32, .first_data_block = 4,
	.checkpoint_size = 192, .nsegments = 4,
};

static void decode_super(const void *bytes, size_t len)
{
	struct nilfs_geometry geometry;
	struct super_choice choice;

	(void)len;
	super_choose(bytes, bytes, 1ull << 40, &choice);
	super_geometry(bytes, 1ull << 40, &geometry);
}

static void decode_log(const void *bytes, size_t len)
{
	struct segsum_block block;
	struct segsum_iter it;

	if (segsum_check(&g, bytes, 4))
		return;
	segsum_iter_init(&it, &g, bytes, (uint32_t)len);
	while (segsum_iter_next(&it, &block))
		if (block.index >= g.blocks_per_segment)
			abort();
}

static void decode_node(const void *bytes, size_t len)
{
	struct bmap_node node;

	bmap_node_check((uint32_t)len, bytes);
	bmap_node_read((uint32_t)len, bytes, &node);
	bmap_node_check_entries(&node);
	if (node.nchildren > bmap_node_max((uint32_t)len))
		abort();
	bmap_node_search(&node, 7);
}

static void decode_root(const void *bytes, size_t len)
{
	struct bmap_node node;

	(void)len;
	bmap_root_read(bytes, &node);
	bmap_node_check_entries(&node);
	bmap_node_search(&node, 7);
}

static void decode_entries(const void *bytes, size_t len)
{
	struct dirent_entry entry;
	struct dirent_iter it;

	dirent_check_block(bytes, (uint32_t)len);
	dirent_iter_init(&it, bytes, (uint32_t)len);
	while (dirent_iter_next(&it, &entry))
		if (entry.offset + entry.rec_len > len)
			abort();
}

static void decode_super_root(const void *bytes, size_t len)
{
	(void)len;
	superroot_check(&g, bytes);
}

static const struct decoder {
	void (*decode)(const void *bytes, size_t len);
	size_t least, unit;	/* bytes; 0: no more than that */
} decoders[] = {
	{ decode_super, sizeof(struct nilfs_super_block), 0 },
	{ decode_log, 1024, 1024 },
	{ decode_node, 1024, 0 },
	{ decode_root, 56, 0 },
	{ decode_entries, 1024, 0 },
	{ decode_super_root, 1024, 0 },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct decoder *d;
	size_t len;
	void *copy;

	if (!size)
		return 0;
	d = &decoders[*data % (sizeof(decoders) / sizeof(decoders[0]))];
	if (--size < d->least)
		return 0;
	len = d->unit ? size / d->unit * d->unit : d->least;
	copy = malloc(len);
	if (!copy)
		return 0;
	memcpy(copy, data + 1, len);
	d->decode(copy, len);
	free(copy);
	return 0;
}
