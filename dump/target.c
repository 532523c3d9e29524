// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Structures that set changes, found by their place on the device: superblocks,
 * logs, and the records and blocks in a log.  target_find() calls these finders;
 * target_file.c has those of structures in files.
 */
#include "dump/target.h"

#include <errno.h>
#include <string.h>

#include "cli/option.h"
#include "disk/segsum.h"
#include "disk/super.h"
#include "dump/common/image.h"
#include "vol/summary.h"

int target_need_volume(struct target_source *source)
{
	int err;

	if (source->whole)
		return 0;
	volume_close(source->vol);
	err = volume_open(&source->vol, source->cx, source->dev, NULL);
	if (!err)
		err = image_root(&source->root, source->cx, source->vol,
				 source->cno);
	source->whole = !err;
	return err;
}

void target_source_close(struct target_source *source)
{
	volume_close(source->vol);
	source->vol = NULL;
}

void target_set(struct target *t, struct target_source *source,
		uint64_t blocknr, uint32_t offset,
		const struct field_table *table)
{
	t->byte = (blocknr << source->vol->geo.block_bits) + offset;
	t->length = table->size;
	t->table = *table;
	t->cover = TARGET_COVER_BLOCK;
}

void target_add_field(struct target *t, const struct field *field)
{
	uint32_t end = field->offset + field->size * field->count;

	if (t->table.nfields && t->table.fields != t->fields)
		memcpy(t->fields, t->table.fields,
		       t->table.nfields * sizeof(*t->fields));
	t->table.fields = t->fields;
	t->fields[t->table.nfields++] = *field;
	if (end > t->length)
		t->length = end;
	t->table.size = t->length;
}

int target_super(struct target *t, struct target_source *source,
		 const struct target_index *index)
{
	uint64_t offset = index->numbers[0] == 1 ? NILFS_SB_OFFSET_BYTES : 0;

	if (index->numbers[0] == 2)
		offset = super_offset2(source->dev->size);
	if (!offset)
		return fail_said(source->cx, -ENOENT,
				 "super:%s: no such superblock", index->text);
	t->byte = offset;
	t->table = *field_table_find("super_block");
	t->length = t->table.size;
	t->cover = TARGET_COVER_SUPER;
	return 0;
}

static int check_block(struct target_source *source, uint64_t blocknr)
{
	if (blocknr < source->vol->geo.nblocks)
		return 0;
	return fail_said(source->cx, -ENOENT, "block %llu: the device has %llu",
			 (unsigned long long)blocknr,
			 (unsigned long long)source->vol->geo.nblocks);
}

/* Makes the target the structure of TABLE at byte OFFSET of the log at PSEG. */
static void set_in_log(struct target *t, struct target_source *source,
		       uint64_t pseg, uint32_t offset, const char *table)
{
	target_set(t, source, pseg, offset, field_table_find(table));
	t->cover = TARGET_COVER_LOG;
	t->log = pseg;
}

int target_log(struct target *t, struct target_source *source,
	       const struct target_index *index)
{
	set_in_log(t, source, index->numbers[0], 0, "segment_summary");
	return check_block(source, t->log);
}

/* Reads the summary of the log at block PSEG, which must be decodable. */
static int read_summary(struct summary *s, struct target_source *source,
			uint64_t pseg)
{
	struct nilfs_segment_summary ss;
	int err;

	err = check_block(source, pseg);
	if (!err)
		err = dev_read(source->dev, source->cx,
			       pseg << source->vol->geo.block_bits, &ss,
			       sizeof(ss));
	if (err)
		return err;
	return summary_read(s, source->cx, source->vol, pseg, &ss);
}

int target_log_finfo(struct target *t, struct target_source *source,
		     const struct target_index *index)
{
	uint32_t block_size = source->vol->geo.block_size, at = 0;
	struct summary s = { .vol = source->vol };
	struct segsum_block b = { .index = 0 };
	int ret;

	ret = read_summary(&s, source, index->numbers[0]);
	while (!ret) {
		/* A finfo does not cross the end of a block. */
		at = s.iter.offset;
		if (at % block_size + sizeof(struct nilfs_finfo) > block_size)
			at += block_size - at % block_size;
		ret = summary_next(&s, source->cx, &b);
		if (ret <= 0 || (!b.file_block &&
				 b.finfo == index->numbers[1]))
			break;
		ret = 0;
	}
	summary_free(&s);
	if (ret > 0)
		set_in_log(t, source, index->numbers[0], at, "finfo");
	else if (!ret)
		ret = fail_said(source->cx, -ENOENT, "finfo:%s: no such file",
				index->text);
	return ret > 0 ? 0 : ret;
}

int target_log_binfo(struct target *t, struct target_source *source,
		     const struct target_index *index)
{
	struct summary s = { .vol = source->vol };
	struct segsum_block b = { .index = 0 };
	const char *table;
	int ret;

	ret = read_summary(&s, source, index->numbers[0]);
	while (!ret && (ret = summary_next(&s, source->cx, &b)) > 0)
		ret = b.index == index->numbers[1];
	if (b.is_virtual)
		table = b.is_node ? "binfo_v_node" : "binfo_v";
	else
		table = b.is_node ? "binfo_dat" : "binfo_dat_data";
	if (ret > 0)
		set_in_log(t, source, index->numbers[0], s.iter.offset -
			   field_table_find(table)->size, table);
	else if (!ret)
		ret = fail_said(source->cx, -ENOENT, "binfo:%s: no such block",
				index->text);
	summary_free(&s);
	return ret > 0 ? 0 : ret;
}

int target_log_superroot(struct target *t, struct target_source *source,
			 const struct target_index *index)
{
	struct field_table table = *field_table_find("super_root");
	uint64_t blocknr;
	int err;

	if (*index->text) {
		err = option_number(source->cx, "superroot", index->text,
				    UINT64_MAX, &blocknr);
		if (!err)
			err = check_block(source, blocknr);
	} else {
		err = target_need_volume(source);
		blocknr = err ? 0 : source->vol->latest.super_root;
	}
	if (err)
		return err;
	/* With longer inodes, the second and third are elsewhere. */
	if (source->vol->geo.inode_size != sizeof(struct nilfs_inode))
		table.nfields -= 2;
	target_set(t, source, blocknr, 0, &table);
	return 0;
}

void target_log_set_node(struct target *t, struct target_source *source,
			 uint64_t blocknr)
{
	uint32_t max = bmap_node_max(source->vol->geo.block_size);
	struct field array = {
		.name = "key",
		.offset = sizeof(struct nilfs_btree_node) +
			  NILFS_BTREE_NODE_EXTRA_PAD_SIZE,
		.size = sizeof(le64),
		.count = max,
		.kind = FIELD_UINT,
	};

	target_set(t, source, blocknr, 0, field_table_find("btree_node"));
	target_add_field(t, &array);
	array.name = "ptr";
	array.offset += max * array.size;
	target_add_field(t, &array);
}

int target_log_node(struct target *t, struct target_source *source,
		    const struct target_index *index)
{
	target_log_set_node(t, source, index->numbers[0]);
	return check_block(source, index->numbers[0]);
}

int target_log_block(struct target *t, struct target_source *source,
		     const struct target_index *index)
{
	const struct field bytes = {
		.name = "byte",
		.size = 1,
		.count = source->vol->geo.block_size,
		.kind = FIELD_HEX,
	};
	const struct field_table table = { .name = "block" };

	target_set(t, source, index->numbers[0], 0, &table);
	target_add_field(t, &bytes);
	return check_block(source, index->numbers[0]);
}
