// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changing properties of a volume that are in its superblocks alone.
 *
 * No log contains them: checksums of logs are seeded with s_crc_seed, which
 * stays when the UUID changes.  Both copies become the active superblock with
 * the new properties, so the older one gets its log as well.
 */
#include "gc/tune/tune.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "disk/super.h"
#include "gc/move/target.h"
#include "log/newsupers.h"
#include "vol/volume.h"

#define LABEL_MAX sizeof(((struct nilfs_super_block *)0)->s_volume_name)

#define AT(member) offsetof(struct nilfs_super_block, member)

/* A field of 2 or 4 bytes, which is NONE for numbers below 1. */
static const struct tune_row {
	const char *option;
	int64_t min, max;
	size_t offset, bytes;
	uint32_t none;
} rows[TUNE_NUMBERS] = {
	[TUNE_CHECK_INTERVAL] = { "--check-interval", 0, UINT32_MAX,
				  AT(s_checkinterval), 4, 0 },
	/* The kernel sets 0 to its default at the next mount. */
	[TUNE_MAX_MOUNTS] = { "--max-mounts", -1, UINT16_MAX - 1,
			      AT(s_max_mnt_count), 2, UINT16_MAX },
	[TUNE_COMMIT_INTERVAL] = { "--commit-interval", 0, UINT32_MAX,
				   AT(s_c_interval), 4, 0 },
	[TUNE_COMMIT_BLOCKS] = { "--commit-blocks", 0, UINT32_MAX,
				 AT(s_c_block_max), 4, 0 },
};

const char *tune_option(enum tune_number number)
{
	return rows[number].option;
}

int tune_check(struct context *cx, const struct tune *t)
{
	const struct tune_row *row;
	int64_t value;
	size_t i;

	if (t->label && strlen(t->label) > LABEL_MAX)
		return fail(cx, -EINVAL, "--label: %zu bytes are more than %zu",
			    strlen(t->label), LABEL_MAX);
	for (i = 0; i < TUNE_NUMBERS; i++) {
		row = &rows[i];
		value = t->numbers[i];
		if (value != TUNE_KEEP &&
		    (value < row->min || value > row->max))
			return fail(cx, -EINVAL, "%s: %lld is not in %lld..%lld",
				    row->option, (long long)value,
				    (long long)row->min, (long long)row->max);
	}
	return 0;
}

static void apply_changes(struct nilfs_super_block *sb, const struct tune *t)
{
	const struct tune_row *row;
	int64_t value;
	le32 number;
	size_t i;

	if (t->label) {
		memset(sb->s_volume_name, 0, LABEL_MAX);
		memcpy(sb->s_volume_name, t->label, strlen(t->label));
	}
	if (t->uuid)
		memcpy(sb->s_uuid, t->uuid, sizeof(sb->s_uuid));
	for (i = 0; i < TUNE_NUMBERS; i++) {
		row = &rows[i];
		value = t->numbers[i];
		if (value == TUNE_KEEP)
			continue;
		number = le32_make(value > 0 ? (uint32_t)value : row->none);
		/* Little-endian: a field of 2 bytes gets the lower ones. */
		memcpy((char *)sb + row->offset, &number, row->bytes);
	}
	sb->s_sum = le32_make(super_checksum(sb));
}

/* Whether SB, a copy on the volume, has the properties of T already. */
static bool has_properties(const struct nilfs_super_block *sb,
			   const struct tune *t)
{
	struct nilfs_super_block with = *sb;

	apply_changes(&with, t);
	return super_check(sb) == RULE_OK && !memcmp(&with, sb, sizeof(with));
}

int tune_set(struct tune_done *done, struct context *cx, struct dev *dev,
	     const struct tune *t)
{
	struct volume *vol;
	uint64_t offset2;
	int ret = target_open_volume(&vol, cx, dev);

	if (ret)
		goto out;
	offset2 = newsupers_offset2(vol);
	done->super = *volume_super(vol);
	done->changed = !has_properties(&vol->super[0], t) ||
			(offset2 && !has_properties(&vol->super[1], t));
	apply_changes(&done->super, t);
	if (done->changed)
		ret = newsupers_write(cx, dev, &done->super, offset2);
out:
	volume_close(vol);
	return ret;
}
