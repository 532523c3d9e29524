// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What only superblocks know: the label, the UUID, when the volume was made,
 * and what a user tunes.
 *
 * A copy whose checksum is right before the repair knows it.  A wrong checksum
 * still proves these fields where it matches with those of the repaired one.
 * Else a field is lost, if not both copies have it as it is now.
 */
#include "fsck/account/comparesuper.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "disk/field.h"
#include "disk/super.h"

static const char *const properties[] = {
	"s_ctime",
	"s_r_segments_percentage",
	"s_max_mnt_count",
	"s_checkinterval",
	"s_creator_os",
	"s_def_resuid",
	"s_def_resgid",
	"s_uuid",
	"s_volume_name",
	"s_c_interval",
	"s_c_block_max",
	"s_feature_compat",
	"s_feature_compat_ro",
	"s_feature_incompat",
};

#define NPROPERTIES (sizeof(properties) / sizeof(properties[0]))

/* The bytes of property I in SB. */
static char *property(struct nilfs_super_block *sb, size_t i, size_t *len)
{
	const struct field *field =
		field_find(field_table_find("super_block"), properties[i]);

	*len = field_length(field);
	return (char *)sb + field->offset;
}

static bool has_properties(struct nilfs_super_block *sb,
			   struct nilfs_super_block *after)
{
	size_t i, len;

	for (i = 0; i < NPROPERTIES; i++) {
		const char *wanted = property(after, i, &len);

		if (memcmp(wanted, property(sb, i, &len), len))
			return false;
	}
	return true;
}

/* Whether the checksum of SB matches with the properties of AFTER. */
static bool proves(const struct nilfs_super_block *sb,
		   struct nilfs_super_block *after)
{
	struct nilfs_super_block all = *sb;
	size_t i, len;

	for (i = 0; i < NPROPERTIES; i++) {
		const char *from = property(after, i, &len);

		memcpy(property(&all, i, &len), from, len);
	}
	return super_check(&all) == RULE_OK;
}

int comparesuper_run(struct losslist *l, struct context *cx, struct dev *before,
		     const struct nilfs_super_block *after,
		     struct comparesuper_known *known)
{
	const struct loss loss = {.kind = LOSS_SUPER};
	const uint64_t offset[2] = {NILFS_SB_OFFSET_BYTES,
				    super_offset2(before->size)};
	struct nilfs_super_block sb, now = *after;
	int i, err, agree = 0, right = 0, wrong = 0;
	bool is_super;

	for (i = 0; i < 2; i++) {
		if (!offset[i])
			continue;
		err = dev_read(before, cx, offset[i], &sb, sizeof(sb));
		if (err == -EINTR)
			return err;
		fail_clear(cx);
		if (err)
			continue;
		is_super = le16_get(sb.s_magic) == NILFS_SUPER_MAGIC;
		/* Without these two it is not looked at, and may be right. */
		sb.s_magic = le16_make(NILFS_SUPER_MAGIC);
		sb.s_bytes = le16_make(NILFS_SB_BYTES);
		if (is_super || super_check(&sb) == RULE_OK) {
			uint64_t cno = le64_get(sb.s_last_cno);
			bool clean = le16_get(sb.s_state) & NILFS_VALID_FS;

			known->any = true;
			if (cno > known->claimed)
				known->claimed = cno;
			if (clean && cno > known->clean)
				known->clean = cno;
			/* The kernel writes the second one less often, but for
			   an unmount. */
			if (super_check(&sb) == RULE_OK && (!i || clean) &&
			    cno > known->newest)
				known->newest = cno;
		}
		agree += has_properties(&sb, &now);
		right += proves(&sb, &now);
		wrong += super_check(&sb) == RULE_OK && !proves(&sb, &now);
	}
	if (!right && (wrong || agree < 2))
		losslist_add(l, cx, &loss, NULL, 0);
	return 0;
}
