// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair of superblocks.
 *
 * The superblock that the volume was opened with is correct: its fields are
 * copied to the other one, which is written first. If they differ in fields
 * that never change, the other one may be tried (states.c). If the volume could
 * not be opened, each copy is tried with a corrected checksum on an overlay; if
 * it leads to a super root, its numbers are correct. If both are lost, the logs
 * on the device have the necessary fields (volscan.c), except for the label and
 * similar ones.
 */
#include "fsck/plan/fixers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "check/damage.h"
#include "check/pass/passes.h"
#include "dev/overlay.h"
#include "dev/zone.h"
#include "disk/super.h"
#include "fsck/super/rootsearch.h"

struct copies {
	uint64_t offset[2];	/* 0: the copy does not exist */
	struct nilfs_super_block sb[2];
	bool read[2];
	bool keeps_wiped;	/* the first copy must not be written */
};

/* Reads both copies; an unreadable one is zeros. */
static int read_copies(struct fixer_job *job, struct context *cx,
		       struct copies *s)
{
	int i, err = 0;

	memset(s, 0, sizeof(*s));
	s->keeps_wiped = findings_count(job->check->findings, RULE_SB_WIPED);
	s->offset[0] = NILFS_SB_OFFSET_BYTES;
	s->offset[1] = super_offset2(job->dev->size);
	for (i = 0; i < 2 && s->offset[i] && !err; i++) {
		err = dev_read(job->dev, cx, s->offset[i], &s->sb[i],
			       sizeof(s->sb[i]));
		s->read[i] = !err;
		if (err)
			memset(&s->sb[i], 0, sizeof(s->sb[i]));
		err = damage_forgive(cx, err);
	}
	return err;
}

/* Whether the second copy can be written at its place. */
static bool has_second(const struct dev *dev,
		       const struct nilfs_super_block *sb, uint64_t offset)
{
	if (!offset || super_bad_offset2(sb, offset))
		return false;
	return zone_is_in_place(dev->zones, offset);
}

/* Writes SB to both copies, to USED last, each flushed. USED is valid, and may
   be the only valid copy until the other one is flushed. */
static int write_copies(struct fixer_job *job, struct context *cx,
			const struct copies *s, int used,
			struct nilfs_super_block *sb)
{
	unsigned int state = le16_get(sb->s_state);
	int n, err = 0;

	sb->s_dev_size = le64_make(job->dev->size);
	sb->s_wtime = le64_make(job->time);
	sb->s_state = le16_make((uint16_t)(state & ~NILFS_RESIZE_FS));
	sb->s_sum = le32_make(super_checksum(sb));
	for (n = 0; n < 2 && !err; n++) {
		int i = n ? used : !used;

		if (i ? !has_second(job->dev, sb, s->offset[1]) :
			s->keeps_wiped)
			continue;
		if (s->read[i] && !memcmp(&s->sb[i], sb, sizeof(*sb)))
			continue;
		err = dev_write(job->dev, cx, s->offset[i], sb, sizeof(*sb));
		if (!err)
			err = dev_flush(job->dev, cx);
		if (!err)
			fixers_note(job, "superblock %d: rewritten", i + 1);
	}
	return err;
}

/* Replaces numbers of SB that the kernel rejects by those of the OTHER copy. */
static void borrow_fields(struct nilfs_super_block *sb,
			  const struct nilfs_super_block *other)
{
	uint32_t percentage = le32_get(sb->s_r_segments_percentage);

	if (le32_get(sb->s_first_ino) < NILFS_USER_INO)
		sb->s_first_ino = le32_make(NILFS_USER_INO);
	if (percentage >= 1 && percentage <= 99)
		return;
	percentage = le32_get(other->s_r_segments_percentage);
	if (percentage < 1 || percentage > 99)
		percentage = VOLSCAN_RESERVED;
	sb->s_r_segments_percentage = le32_make(percentage);
}

/*
 * Names the latest log that was found. The clean flag is meaningless in a copy
 * that was not in use: with JUDGED it is set if a mount need not search for
 * logs after that log.
 */
static void set_cursor(struct nilfs_super_block *sb,
		       const struct recovery *latest, bool judged)
{
	unsigned int state = le16_get(sb->s_state) & ~NILFS_VALID_FS;

	sb->s_last_cno = le64_make(latest->cno);
	sb->s_last_pseg = le64_make(latest->pseg_start);
	sb->s_last_seq = le64_make(latest->seq);
	if (judged && !latest->orphans_start)
		state |= NILFS_VALID_FS;
	if (judged)
		sb->s_state = le16_make((uint16_t)state);
}

/* Repairs both copies, with the fields that never change from OTHER, NULL:
   their own. */
static int repair_by_volume(struct fixer_job *job, struct context *cx,
			    const struct copies *s,
			    const struct nilfs_super_block *other)
{
	const struct volume *vol = job->vol;
	int used = vol->super_used;
	struct nilfs_super_block sb = vol->super[used];

	if (other)
		pass_super_borrow(&sb, other);
	if (findings_count(job->check->findings, RULE_SB_FIRST_INO_USED))
		sb.s_first_ino = le32_make(NILFS_USER_INO);
	borrow_fields(&sb, &s->sb[!used]);
	set_cursor(&sb, &vol->latest, used != vol->choice.index);
	return write_copies(job, cx, s, used, &sb);
}

/* Sets the sizes and counts of SB, which led to VOL, to those that the SUFILE
   and the log of the super root agree on: 1, or 0 if they do not agree. */
static int prove_sizes(struct fixer_job *job, struct context *cx,
		       const struct volume *vol, struct nilfs_super_block *sb)
{
	struct volscan_volume v = {
		.crc_seed = vol->geo.crc_seed,
		.block_size = vol->geo.block_size,
		.segment_blocks = vol->geo.blocks_per_segment,
		.nroots = 1,
		.roots[0].offset = vol->latest.pseg_start
				   << vol->geo.block_bits,
	};
	int err = dev_read(job->dev, cx, v.roots[0].offset, &v.roots[0].ss,
			   sizeof(v.roots[0].ss));

	return err ? err : volscan_super(sb, cx, job->dev, &v);
}

/*
 * Tries each copy with a corrected checksum as the only one: 1 if one of them
 * leads to a super root and both were repaired with it. Fields that never
 * change are taken from a copy with a valid checksum, or if both copies agree
 * on them, or if logs prove them.
 */
static int repair_by_copies(struct fixer_job *job, struct context *cx,
			    const struct copies *s)
{
	static const struct nilfs_super_block none;
	struct recovery latest = { 0 };
	struct nilfs_super_block best = none, sb;
	struct nilfs_geometry geo, other;
	struct volume *vol;
	struct dev *overlay;
	int i, err, ret, used = -1;
	bool right[2] = { !super_check(&s->sb[0]), !super_check(&s->sb[1]) };
	bool alike = !super_geometry(&s->sb[0], job->dev->size, &geo) &&
		     !super_geometry(&s->sb[1], job->dev->size, &other) &&
		     geometry_is_same(&geo, &other);

	for (i = 0; i < 2; i++) {
		if (!s->read[i])
			continue;
		sb = s->sb[i];
		if (right[!i] && !right[i])
			pass_super_borrow(&sb, &s->sb[!i]);
		sb.s_magic = le16_make(NILFS_SUPER_MAGIC);
		sb.s_bytes = le16_make(NILFS_SB_BYTES);
		borrow_fields(&sb, &s->sb[!i]);
		/* The latest log may be after the log that the copy names. */
		sb.s_state = le16_make((uint16_t)(le16_get(sb.s_state) &
						  ~NILFS_VALID_FS));
		sb.s_sum = le32_make(super_checksum(&sb));
		err = overlay_open(&overlay, cx, job->dev, false);
		if (err)
			return err;
		vol = NULL;
		err = dev_write(overlay, cx, NILFS_SB_OFFSET_BYTES, &sb,
				sizeof(sb));
		if (!err && has_second(overlay, &sb, s->offset[1]))
			err = dev_write(overlay, cx, s->offset[1], &none,
					sizeof(none));
		if (!err)
			err = volume_open(&vol, cx, overlay, NULL);
		ret = err || right[0] || right[1] || alike ? !err :
		      prove_sizes(job, cx, vol, &sb);
		if (ret < 0)
			err = ret;
		if (ret > 0 && (used < 0 || vol->latest.cno > latest.cno)) {
			used = i;
			best = sb;
			latest = vol->latest;
		}
		volume_close(vol);
		dev_close(overlay);
		/* The device is too small, but its rest may still exist. */
		if (!err && super_geometry(&sb, job->dev->size, &geo) ==
				    RULE_SB_DEVICE_SIZE)
			return 0;
		if (err && err != -EUCLEAN && err != -EOPNOTSUPP &&
		    err != -EIO)
			return err;
		fail_clear(cx);
	}
	if (used < 0)
		return 0;
	/* A copy that led to a super root may have a wrong label; a copy with a
	   valid checksum has not. */
	if (right[!used] && !right[used]) {
		best.s_ctime = s->sb[!used].s_ctime;
		memcpy(best.s_uuid, s->sb[!used].s_uuid, sizeof(best.s_uuid));
		memcpy(best.s_volume_name, s->sb[!used].s_volume_name,
		       sizeof(best.s_volume_name));
	}
	set_cursor(&best, &latest, true);
	err = write_copies(job, cx, s, used, &best);
	return err ? err : 1;
}

/*
 * Sets SB to a copy whose checksum does not match, but whose seed, block size and
 * segments are those of logs of Q: 1, 0 if there is none.
 */
static int take_copy_of_logs(const struct fixer_job *job, const struct copies *s,
			     const struct volscan *q, struct nilfs_super_block *sb)
{
	const struct volscan_volume *v;
	struct nilfs_geometry geo;
	int i;

	for (i = 0; i < 2; i++) {
		*sb = s->sb[i];
		sb->s_bytes = le16_make(NILFS_SB_BYTES);
		if (le16_get(sb->s_magic) != NILFS_SUPER_MAGIC ||
		    super_geometry(sb, job->dev->size, &geo) != RULE_OK)
			continue;
		borrow_fields(sb, &s->sb[!i]);
		sb->s_sum = le32_make(super_checksum(sb));
		for (v = q->volumes; v < q->volumes + q->nvolumes; v++)
			if (v->crc_seed == geo.crc_seed &&
			    v->block_size == geo.block_size &&
			    !(v->segment_blocks % geo.blocks_per_segment))
				return 1;
	}
	return 0;
}

/* Repairs from the volume with the newest logs that lead to a super root; if no
   such log is whole, with the layout of a copy that fits to other logs. */
static int repair_by_logs(struct fixer_job *job, struct context *cx,
			  const struct copies *s)
{
	static const struct nilfs_super_block none;
	const struct nilfs_super_block *rest = &none;
	struct volscan q = { .check = job->check };
	struct nilfs_super_block sb;
	struct volscan_volume *v;
	unsigned int i;
	int ret = volscan_run(&q, cx, job->dev);

	/* Starts with the fields of a damaged copy: the label, the UUID. */
	for (i = 2; i-- > 0;)
		if (le16_get(s->sb[i].s_magic) == NILFS_SUPER_MAGIC &&
		    le32_get(s->sb[i].s_rev_level) == NILFS_CURRENT_REV)
			rest = &s->sb[i];
	for (i = 2; i-- > 0;)
		if (!super_check(&s->sb[i]))
			rest = &s->sb[i];

	while (!ret) {
		v = NULL;
		for (i = 0; i < q.nvolumes; i++)
			if (q.volumes[i].nroots &&
			    (!v || q.volumes[i].newest > v->newest))
				v = &q.volumes[i];
		if (!v && take_copy_of_logs(job, s, &q, &sb))
			return fix_root_restore(job, cx, &sb);
		if (!v)
			return 0;
		sb = *rest;
		ret = volscan_super(&sb, cx, job->dev, v);
		v->nroots = 0;
	}
	if (ret < 0)
		return ret;
	fixers_note(job, "superblocks: rebuilt from logs, with %u bytes a "
		    "block and %u blocks a segment", 1024u <<
		    le32_get(sb.s_log_block_size),
		    le32_get(sb.s_blocks_per_segment));
	return fix_root_restore(job, cx, &sb);
}

int fix_super(struct fixer_job *job, struct context *cx,
	      const struct finding *fixes, size_t n)
{
	bool lost = false, wiped = false;
	struct copies s;
	int ret = read_copies(job, cx, &s);
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		lost |= fixes[i].rule == RULE_SB_LOST;
		wiped |= fixes[i].rule == RULE_SB_WIPED;
	}
	s.keeps_wiped &= !wiped;
	if (job->vol)
		return repair_by_volume(job, cx, &s, NULL);
	ret = repair_by_copies(job, cx, &s);
	if (!ret && lost)
		ret = repair_by_logs(job, cx, &s);
	return ret < 0 ? ret : 0;
}

int fix_super_other(struct fixer_job *job, struct context *cx)
{
	struct copies s;
	int err = read_copies(job, cx, &s);

	return err ? err :
		     repair_by_volume(job, cx, &s,
				      &s.sb[!job->vol->super_used]);
}
