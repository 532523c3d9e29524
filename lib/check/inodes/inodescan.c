// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The inodes of an ifile, each with its map.
 *
 * The bitmap says which are in use.  A deleted inode keeps its bytes, but has
 * no links (nilfs_evict_inode() writes it before it frees it), so that links
 * without a bit are a number that will be given out twice.  A bit without
 * links is a file that was open when the last name went.  A checkpoint of that
 * moment may well have it, its size already 0 if it is a directory
 * (nilfs_rmdir()); in the newest checkpoint it is one that will never be
 * freed, which does no harm.
 *
 * What a walk over the map counted is compared with the inode.  i_blocks
 * counts nodes too, in units of 512 bytes; only the root is left with the one
 * block that mkfs.nilfs2 of nilfs-utils counted as 1.  Truncation takes all
 * blocks past the size, and directories have no holes, which the kernel refuses
 * to read (nilfs_check_page()).  The target of a
 * symbolic link is read, as directories are.  Of a map that could not be walked
 * whole, or part of which was walked for another checkpoint, nothing is known
 * and nothing said.
 *
 * Names are looked at elsewhere, and so is whether links are as many as names.
 */
#include "check/inodes/inodescan.h"

#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "check/check.h"
#include "check/damage.h"
#include "disk/inode.h"
#include "vol/symlink.h"

#define SECTOR 512
#define DIR_PAGE 4096	/* of memory, on most machines */

void inodescan_init(struct inodescan *s, struct check *check,
		    struct volume *vol, struct sparse *reported)
{
	memset(s, 0, sizeof(*s));
	s->check = check;
	s->least = UINT64_MAX;
	pointers_init(&s->pointers, check, vol, reported);
}

void inodescan_fini(struct inodescan *s)
{
	pointers_fini(&s->pointers);
}

static struct place place_of(const struct inodescan *s)
{
	return place_inode(s->pointers.cno, s->ino);
}

static void report_broken(const struct inodescan *s, enum rule rule)
{
	findings_broken(s->check->findings, rule, place_of(s));
}

/* Of nodes only. */
static int visit_pointer(void *arg, struct context *cx,
			 const struct mapcheck_pointer *p, uint64_t *blocknr,
			 struct lifetime *life)
{
	struct inodescan *s = arg;
	struct target target = { .blocknr = 0 };
	int ret = pointers_check(&s->pointers, cx, s->ino, p, &target);

	s->nodes++;
	*blocknr = target.blocknr;
	if (ret <= 0) {
		s->whole = false;
		return ret;
	}
	*life = target.life;
	pointers_read_node(&s->pointers, cx, target.blocknr);
	return 1;
}

static int visit_blocks(void *arg, struct context *cx,
			const struct mapcheck_blocks *b)
{
	struct inodescan *s = arg;
	uint32_t i = 0, last = 0, n;
	struct target target;
	int ret = 0;

	while (i < b->count && ret >= 0) {
		if (!b->keys && !le64_get(b->ptrs[i])) {
			i++;
			continue;
		}
		n = pointers_check_run(&s->pointers, s->ino, b, i);
		if (!n) {
			const struct mapcheck_pointer p = {
				.key = b->keys ? le64_get(b->keys[i]) : i,
				.ptr = le64_get(b->ptrs[i]),
				.within = b->within,
			};

			ret = pointers_check(&s->pointers, cx, s->ino, &p,
					     &target);
			n = 1;
		}
		s->blocks += n;
		i += n;
		last = i - 1;
	}
	if (s->blocks)
		s->last_key = b->keys ? le64_get(b->keys[last]) : last;
	return ret < 0 ? ret : 0;
}

static void check_blocks(const struct inodescan *s,
			 const struct nilfs_inode *inode)
{
	uint64_t unit = s->pointers.vol->geo.block_size / SECTOR;
	uint64_t want = (s->blocks + s->nodes) * unit;
	uint64_t got = le64_get(inode->i_blocks);
	uint64_t pages = div_round_up(le64_get(inode->i_size), DIR_PAGE);

	if (got == want)
		return;
	if (s->ino == NILFS_ROOT_INO && got == want - unit + 1)
		return;
	findings_differ(s->check->findings, RULE_INODE_BLOCKS, place_of(s),
			want, got);
	/*
	 * nilfs_find_entry() reads page after page, and marks the volume as
	 * erroneous if there are more than i_blocks allows.
	 */
	got /= DIR_PAGE / SECTOR;
	if (S_ISDIR(le16_get(inode->i_mode)) && pages && got < pages - 1)
		findings_differ(s->check->findings, RULE_INODE_DIR_COUNT,
				place_of(s), pages, got);
}

/*
 * How the size fits what the map holds.  The kernel's cleaner refuses to move a
 * block past the size of the largest file (nilfs_ioctl_move_inode_block()).
 */
static int check_size(const struct inodescan *s, struct context *cx,
		      const struct nilfs_inode *inode)
{
	struct findings *f = s->check->findings;
	const struct volume *vol = s->pointers.vol;
	uint16_t mode = le16_get(inode->i_mode);
	uint64_t size = le64_get(inode->i_size), got = s->blocks;
	uint64_t want = div_round_up(size, vol->geo.block_size);
	uint64_t limit = INT64_MAX >> vol->geo.block_bits;
	size_t len;
	int ret;

	if (S_ISDIR(mode)) {
		if (got == want && got)
			got = s->last_key + 1;
		if (got != want)
			findings_differ(f, RULE_INODE_DIR_BLOCKS, place_of(s),
					want, got);
		return 0;
	}
	if (s->blocks && s->last_key >= want)
		findings_differ(f, s->last_key < limit ? RULE_INODE_PAST_SIZE :
							 RULE_INODE_PAST_LIMIT,
				place_of(s), want, s->last_key + 1);
	if (!S_ISLNK(mode))
		return 0;
	if (!s->blocks) {
		report_broken(s, RULE_INODE_SYMLINK_BLOCK);
		return 0;
	}
	/* Damage on the way to the target is reported where it is found. */
	ret = symlink_is_whole(s->pointers.vol, cx, s->ino, inode, &len);
	if (!ret)
		findings_differ(f, RULE_INODE_SYMLINK_TARGET, place_of(s),
				size, len);
	return damage_forgive(cx, ret < 0 ? ret : 0);
}

/* Checks an inode alone; false if its map is meaningless. */
static bool check_alone(struct inodescan *s, const struct nilfs_inode *inode)
{
	struct nilfs_inode linked = *inode;
	enum rule rule;

	if (!le16_get(inode->i_links_count) && s->ino != NILFS_ROOT_INO) {
		bool empty = inode_is_empty(inode);

		if (s->pointers.cno == s->check->vol->latest.cno) {
			report_broken(s, empty ? RULE_INODE_EMPTY :
						 RULE_INODE_ORPHAN);
			/* It may have had blocks. */
			if (empty)
				s->pointers.partial |= POINTERS_LOST;
		}
		if (empty)
			return false;
		linked.i_links_count = le16_make(1);
	}
	rule = inode_check(&s->pointers.vol->geo, &linked, s->ino);
	if (rule != RULE_OK)
		report_broken(s, rule);
	s->size_judged = rule == RULE_INODE_SIZE ||
			 rule == RULE_INODE_DIR_SIZE ||
			 rule == RULE_INODE_SYMLINK_SIZE;
	if (rule != RULE_INODE_MODE)
		return true;
	s->pointers.partial = true;
	return false;
}

static int scan_inode(struct inodescan *s, struct context *cx,
		      const struct nilfs_inode *inode,
		      const struct lifetime *life)
{
	const struct mapcheck m = {
		.vol = s->pointers.vol,
		.findings = s->check->findings,
		.cno = s->pointers.cno,
		.ino = s->ino,
		.within = *life,
		.visit = visit_pointer,
		.visit_blocks = visit_blocks,
		.arg = s,
	};
	bool has_map = inode_has_bmap(inode);
	int ret = 0;

	s->blocks = s->nodes = 0;
	s->whole = true;
	s->total_inodes++;
	if (!check_alone(s, inode))
		return 0;
	if (has_map)
		ret = mapcheck_run(&m, cx, inode);
	if (ret > 0) {
		s->pointers.partial = true;
		s->whole = false;
	}
	if (ret < 0 || !s->whole)
		return ret < 0 ? ret : 0;
	s->total_blocks += s->blocks + s->nodes;
	check_blocks(s, inode);
	if (has_map && le16_get(inode->i_links_count) && !s->size_judged)
		ret = check_size(s, cx, inode);
	return ret;
}

/* Whether inode INO is to be checked; a wrong bit is reported. */
static bool is_in_use(struct inodescan *s, const struct nilfs_inode *inode,
		      const uint8_t *bitmap)
{
	const struct palloc *p = &s->pointers.vol->ifile_palloc;
	bool links = le16_get(inode->i_links_count);
	bool bit = bitmap ? palloc_bit(bitmap, palloc_group_offset(p, s->ino)) :
			    links;

	if (s->ino < NILFS_USER_INO) {
		if (!bit && bitmap)
			report_broken(s, RULE_INODE_RESERVED_FREE);
		if (s->ino != NILFS_ROOT_INO)
			return false;
		return true;
	}
	if (links && !bit)
		report_broken(s, RULE_INODE_FREE);
	if (links && s->ino < s->least)
		s->least = s->ino;
	return links || bit;
}

int inodescan_run(struct inodescan *s, struct context *cx,
		  const struct inodescan_block *block, const void *data,
		  const uint8_t *bitmap)
{
	const struct palloc *p = &s->pointers.vol->ifile_palloc;
	uint32_t i, at;
	int err = 0;

	for (i = 0; i < block->count && !err; i++) {
		const struct nilfs_inode *inode = (const void *)
			((const char *)data + (size_t)i * p->entry_size);

		s->ino = block->first + i;
		at = palloc_group_offset(p, s->ino);
		if (block->before && bitmap && palloc_bit(bitmap, at) ==
					       palloc_bit(block->before, at))
			continue;
		if (is_in_use(s, inode, bitmap))
			err = scan_inode(s, cx, inode, &block->life);
	}
	return err;
}
