// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The reason why the kernel would refuse to mount a volume.
 *
 * Checks and texts are those of Linux, in its order: init_nilfs() in
 * fs/nilfs2/the_nilfs.c, and then load_nilfs().  Only the first failure is
 * reported.  The caller has checked that SB is a valid superblock.
 */
#include "dump/volume/info.h"

#include <stdarg.h>
#include <stdio.h>

#include "disk/super.h"

struct refusal {
	const struct nilfs_super_block *sb;
	uint64_t dev_size;
	uint32_t block_size;
	char *text;
	size_t size;
	const char *prefix;
};

__attribute__((format(printf, 2, 3)))
static bool refuse(const struct refusal *r, const char *format, ...)
{
	int len = snprintf(r->text, r->size, "%s", r->prefix);
	va_list args;

	va_start(args, format);
	vsnprintf(r->text + len, r->size - (size_t)len, format, args);
	va_end(args);
	return true;
}

static bool find_feature(const struct refusal *r, le64 word, uint64_t known,
			 const char *how)
{
	unsigned long long bits = le64_get(word) & ~known;

	return bits && refuse(r, "couldn't mount%s because of unsupported "
			      "optional features (%llx)", how, bits);
}

static bool check_entry(const struct refusal *r, const char *what, le16 entry,
			unsigned int least)
{
	unsigned int size = le16_get(entry);

	if (size > r->block_size)
		return refuse(r, "too large %s size: %u bytes", what, size);
	return size < least &&
	       refuse(r, "too small %s size: %u bytes", what, size);
}

static bool check_layout(struct refusal *r)
{
	const struct nilfs_super_block *sb = r->sb;
	unsigned int shift = le32_get(sb->s_log_block_size);
	unsigned int inode = le16_get(sb->s_inode_size);
	unsigned int ino = le32_get(sb->s_first_ino);
	unsigned int bps = le32_get(sb->s_blocks_per_segment);
	unsigned int percentage = le32_get(sb->s_r_segments_percentage);
	unsigned long long nsegments = le64_get(sb->s_nsegments), nblocks, last;

	if (shift > NILFS_MAX_BLOCK_BITS - NILFS_MIN_BLOCK_BITS)
		return refuse(r, "too large filesystem blocksize: 2 ^ %u KiB",
			      shift);
	r->block_size = NILFS_MIN_BLOCK_SIZE << shift;
	if (le32_get(sb->s_rev_level) < NILFS_MIN_SUPP_REV)
		return refuse(r, "unsupported revision (superblock rev.=%u.%u, "
			      "current rev.=%u.%u). Please check the version "
			      "of mkfs.nilfs(2).", le32_get(sb->s_rev_level),
			      le16_get(sb->s_minor_rev_level),
			      NILFS_CURRENT_REV, NILFS_MINOR_REV);
	if (inode > r->block_size)
		return refuse(r, "too large inode size: %u bytes", inode);
	if (inode < NILFS_MIN_INODE_SIZE)
		return refuse(r, "too small inode size: %u bytes", inode);
	if (offsetof(struct nilfs_super_root, sr_dat) + 3ull * inode >
	    r->block_size)
		return refuse(r, "too large inode size for super root: "
			      "%u bytes", inode);
	if (ino < NILFS_USER_INO)
		return refuse(r, "too small lower limit for non-reserved inode "
			      "numbers: %u", ino);
	if (bps < NILFS_SEG_MIN_BLOCKS)
		return refuse(r, "too short segment: %u blocks", bps);
	if (percentage < 1 || percentage > 99)
		return refuse(r, "invalid reserved segments percentage: %u",
			      percentage);
	if (nsegments > UINT64_MAX / bps)
		return refuse(r, "segment count %llu exceeds upper limit "
			      "(%llu segments)", nsegments,
			      (unsigned long long)UINT64_MAX / bps);
	nblocks = r->dev_size / r->block_size;
	if (nblocks && nblocks < nsegments * bps)
		return refuse(r, "total number of segment blocks %llu exceeds "
			      "device size (%llu blocks)", nsegments * bps,
			      nblocks);
	last = le64_get(sb->s_last_pseg) / bps;
	if (last >= nsegments)
		return refuse(r, "pointed segment number is out of range: "
			      "segnum=%llu, nsegments=%llu", last, nsegments);
	return check_entry(r, "DAT entry", sb->s_dat_entry_size,
			   NILFS_MIN_DAT_ENTRY_SIZE) ||
	       check_entry(r, "checkpoint", sb->s_checkpoint_size,
			   NILFS_MIN_CHECKPOINT_SIZE) ||
	       check_entry(r, "segment usage", sb->s_segment_usage_size,
			   NILFS_MIN_SEGMENT_USAGE_SIZE);
}

bool refusal_find(const struct nilfs_super_block *sb, uint64_t dev_size,
		  char *text, size_t size)
{
	struct refusal r = {
		.sb = sb,
		.dev_size = dev_size,
		.text = text,
		.size = size,
		.prefix = "refused: ",
	};
	bool found;

	if (dev_size < SUPER_MIN_DEVICE)
		return refuse(&r, "device size too small");
	if (find_feature(&r, sb->s_feature_incompat,
			 NILFS_FEATURE_INCOMPAT_SUPP, ""))
		return true;
	/* The kernel checks writable features last. */
	found = check_layout(&r);
	if (!found)
		r.prefix = "refused unless read-only: ";
	return find_feature(&r, sb->s_feature_compat_ro,
			    NILFS_FEATURE_COMPAT_RO_SUPP, " RDWR") || found;
}
