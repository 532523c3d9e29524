// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report of mkfs.nilfs2: the plan, with the names of superblock fields, and
 * the content of the volume.
 */
#include "mkfs/announce.h"

#include <stdio.h>
#include <string.h>

#include "base/uuidtext.h"
#include "disk/super.h"

static void put_zones(struct report *r, const struct plan *plan)
{
	const struct zoneplan *zoned = &plan->zoned;
	const struct zones *zones = zoned->zones;

	report_begin(r, "zones", "Zones");
	report_bool(r, "emulated", "Emulated", zones->emulated);
	report_string(r, "recipe", "Recipe", zoneplan_recipe(plan));
	report_bool(r, "second_superblock", "Second superblock", plan->super2);
	report_size(r, "zone_size", "Zone", zones->size);
	report_size(r, "zone_capacity", "Minimum capacity", zones->capacity);
	report_u64(r, "zones", "Zones", zones->count);
	report_u64(r, "conventional", "Conventional",
		   zone_count(zones, ZONE_CONVENTIONAL));
	report_u64(r, "sequential", "Sequential",
		   zone_count(zones, ZONE_SEQUENTIAL));
	report_u64(r, "unwritable", "Offline or read-only",
		   zone_count(zones, ZONE_UNWRITABLE));
	report_u64(r, "max_open", "Open zones (0: no limit)", zones->max_open);
	report_u64(r, "max_active", "Active zones (0: no limit)",
		   zones->max_active);
	report_u64(r, "usable_segments", "Usable segments",
		   plan->g.nsegments - zoned->unusable);
	report_u64(r, "error_segments", "Segments flagged as bad",
		   zoned->unusable);
	report_size(r, "lost_bytes", "Unused capacity", zoned->lost);
	report_end(r);
}

void announce_plan(struct report *r, const char *path,
		   const struct plan *plan, bool written)
{
	size_t label = strnlen(plan->label, sizeof(plan->label));
	const struct features *f = &plan->features;
	const struct nilfs_geometry *g = &plan->g;
	const struct super_feature *sf;
	char names[128] = "none", uuid[UUIDTEXT_MAX];
	size_t len = 0;

	report_begin(r, "volume",
		     written ? "New volume" : "Planned volume");
	report_string(r, "device", "Device", path);
	report_bool(r, "written", "Written", written);
	report_size(r, "s_dev_size", "Size", plan->size);
	report_size(r, "block_size", "Block size", g->block_size);
	report_u64(r, "s_blocks_per_segment", "Blocks per segment",
		   g->blocks_per_segment);
	report_u64(r, "s_nsegments", "Segments", g->nsegments);
	report_u64(r, "s_r_segments_percentage", "Reserved segments (%)",
		   plan->reserved);
	report_u64(r, "s_first_data_block", "First block of segment 0",
		   g->first_data_block);
	report_value(r, VALUE_HEX, "s_crc_seed", "Checksum seed",
		     value_u64(g->crc_seed));
	report_value(r, VALUE_STRING, "s_volume_name", "Label",
		     value_bytes(plan->label, label));
	report_string(r, "s_uuid", "UUID",
		      uuidtext_format(plan->uuid, uuid));
	report_time(r, "s_ctime", "Creation time", plan->ctime);
	for (sf = super_features; sf->name; sf++) {
		uint64_t word = sf->set == SUPER_COMPAT    ? f->compat :
				sf->set == SUPER_COMPAT_RO ? f->compat_ro :
							     f->incompat;

		if (!(word & sf->bit))
			continue;
		snprintf(names + len, sizeof(names) - len, "%s%s",
			 len ? "," : "", sf->name);
		len = strlen(names);
	}
	report_string(r, "features", "Features", names);
	report_end(r);
	if (plan->zoned.zones)
		put_zones(r, plan);
}

void announce_content(struct report *r, const struct content *c,
		      const struct plan *plan, uint64_t least_size)
{
	static const char *const keys[ENTRY_LOSSES] = {
		[ENTRY_XATTR] = "xattrs",
		[ENTRY_ACL] = "acls",
		[ENTRY_CAPABILITY] = "capabilities",
		[ENTRY_FLAGS] = "flags",
	};
	const struct populate_counts *counts = &c->counts;
	uint64_t clean = c->end.clean_segments;
	unsigned int i;

	/* A forecast is made on a device of any size. */
	if (c->forecast && !plan->zoned.zones && !plan->fit)
		clean = plan->g.nsegments - c->end.used_segments;
	report_begin(r, "content", "Content");
	report_u64(r, "layers", "Layers", c->nsources);
	report_u64(r, "last_cno", "Last checkpoint", c->end.cno);
	report_u64(r, "files", "Files", counts->files);
	report_u64(r, "directories", "Directories", counts->directories);
	report_u64(r, "symlinks", "Symbolic links", counts->symlinks);
	report_u64(r, "specials", "Special files", counts->specials);
	report_u64(r, "links", "Additional hard links", counts->links);
	report_size(r, "bytes", "Size of files", counts->bytes);
	report_size(r, "written_bytes", "Written",
		    c->written * plan->g.block_size);
	report_u64(r, "clean_segments", "Clean segments", clean);
	if (least_size)
		report_size(r, "least_size", "Minimum size",
			    least_size);
	if (!report_is_text(r)) {
		report_begin(r, "lost", NULL);
		for (i = 0; i < ENTRY_LOSSES; i++)
			report_u64(r, keys[i], entry_loss_name(i),
				   counts->losses[i]);
		report_end(r);
	}
	report_end(r);
}
