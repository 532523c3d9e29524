// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the bytes of STRUCTURE:INDEX on the device.
 *
 * One row for each kind of structure has the function that finds it, and what
 * it needs to be opened.  Damage on the path to a structure must not prevent
 * repairing it by hand, so each kind needs as little as possible: superblocks
 * nothing, logs the geometry, the rest a super root.
 */
#include "dump/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "disk/super.h"

enum need { NEED_DEVICE, NEED_GEOMETRY, NEED_VOLUME };

enum parts {
	PARTS_NONE,	/* no index */
	PARTS_FREE,	/* the finder reads the text */
	PARTS_ONE,	/* as many numbers */
	PARTS_TWO,
};

static int target_super(struct target *t, struct target_source *source,
			const struct target_index *index);

static const struct kind {
	const char *name;
	enum need need;
	enum parts parts;
	target_finder *find;
} kinds[] = {
	{ "super", NEED_DEVICE, PARTS_ONE, target_super },
	{ "log", NEED_GEOMETRY, PARTS_ONE, target_log },
	{ "finfo", NEED_GEOMETRY, PARTS_TWO, target_log_finfo },
	{ "binfo", NEED_GEOMETRY, PARTS_TWO, target_log_binfo },
	{ "superroot", NEED_GEOMETRY, PARTS_FREE, target_log_superroot },
	{ "node", NEED_GEOMETRY, PARTS_ONE, target_log_node },
	{ "block", NEED_GEOMETRY, PARTS_ONE, target_log_block },
	{ "inode", NEED_VOLUME, PARTS_FREE, target_file_inode },
	{ "bmap", NEED_VOLUME, PARTS_FREE, target_file_bmap },
	{ "dat", NEED_VOLUME, PARTS_ONE, target_file_dat },
	{ "checkpoint", NEED_VOLUME, PARTS_ONE, target_file_checkpoint },
	{ "cpheader", NEED_VOLUME, PARTS_NONE, target_file_cpheader },
	{ "segment", NEED_VOLUME, PARTS_ONE, target_file_segment },
	{ "suheader", NEED_VOLUME, PARTS_NONE, target_file_suheader },
	{ "group", NEED_VOLUME, PARTS_FREE, target_file_group },
	{ "bitmap", NEED_VOLUME, PARTS_FREE, target_file_bitmap },
	{ "dirent", NEED_VOLUME, PARTS_FREE, target_file_dirent },
};

int target_need_geometry(struct target_source *source)
{
	if (source->vol)
		return 0;
	return volume_open_bare(&source->vol, source->cx, source->dev);
}

int target_need_volume(struct target_source *source)
{
	int err;

	if (source->whole)
		return 0;
	volume_close(source->vol);
	err = volume_open(&source->vol, source->cx, source->dev, NULL);
	if (!err)
		err = root_open(&source->root, source->cx, source->vol,
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

static int target_super(struct target *t, struct target_source *source,
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

/* Parses numbers separated by slashes; false if TEXT is anything else. */
static bool parse_numbers(struct target_index *index)
{
	const char *p = index->text;
	char *end;

	index->count = 0;
	while (index->count < TARGET_PARTS_MAX && *p >= '0' && *p <= '9') {
		errno = 0;
		index->numbers[index->count++] = strtoull(p, &end,
							text_base(p));
		if (errno || (*end && *end != '/'))
			return false;
		if (!*end)
			return true;
		p = end + 1;
	}
	return false;
}

static bool fits(const struct kind *kind, struct target_index *index)
{
	bool numbers = parse_numbers(index);

	switch (kind->parts) {
	case PARTS_NONE:
		return !*index->text;
	case PARTS_ONE:
		return numbers && index->count == 1;
	case PARTS_TWO:
		return numbers && index->count == 2;
	default:
		return true;
	}
}

static const struct kind *find_kind(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].name) == len &&
		    !memcmp(kinds[i].name, text, len))
			return &kinds[i];
	}
	return NULL;
}

int target_find(struct target *t, struct target_source *source,
		const char *text)
{
	size_t len = strcspn(text, ":");
	const struct kind *kind = find_kind(text, len);
	struct target_index index = { .text = text + len + (text[len] == ':') };
	int err = 0;

	*t = (struct target){ .bit = -1 };
	if (!kind || !fits(kind, &index))
		return fail(source->cx, -EINVAL,
			    "'%s' names no structure (see --help)", text);
	if (kind->need == NEED_GEOMETRY)
		err = target_need_geometry(source);
	else if (kind->need == NEED_VOLUME)
		err = target_need_volume(source);
	return err ? err : kind->find(t, source, &index);
}
