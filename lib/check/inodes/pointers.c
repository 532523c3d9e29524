// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Checks of pointers, and of inodes with their maps.
 *
 * A block is copied on write together with the block that contains the pointer
 * to it.  So it must be live in every checkpoint in which that block is live.
 * This is checked once per pointer.  If several blocks point to one whose
 * lifetime is too short, only the first is reported.  A virtual block that is
 * visited again is used twice, unless another checkpoint visited it.  Pointers
 * of metadata files are compared with the logs, because a wrong one makes
 * everything below it garbage; in other files the double use shows it.  Numbers
 * without an entry are reported once per block of the DAT, and not at all if
 * the DAT's own map is broken.
 *
 * An inode is in use by the bitmap.  A deleted inode keeps its bytes but has no
 * links (nilfs_evict_inode()), so an inode with links and no bit will be
 * allocated twice.  A bit without links is a file that was open when its last
 * name was removed; in the newest checkpoint it is never freed, which is
 * harmless.  The size of such a directory may be 0 (nilfs_rmdir()).
 *
 * The walk of the map is compared with the inode.  i_blocks includes nodes, in
 * units of 512 bytes; only the block of the root that mkfs.nilfs2 of
 * nilfs-utils wrote counts as 1.  Blocks after the size, and holes in
 * directories (nilfs_check_page()), are errors.  The target of a symbolic link
 * is read.  A map that was not walked whole is not compared.  Link counts are
 * compared with names elsewhere.
 */
#include "check/inodes/ifilewalk.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "check/check.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "check/logs/mapsums.h"
#include "disk/inode.h"
#include "vol/root.h"
#include "vol/symlink.h"

#define READAHEAD_NODES 32u
#define SECTOR 512
#define DIR_PAGE 4096	/* page size on most machines */

void pointers_init(struct pointers *p, struct check *check,
		   struct volume *vol, struct sparse *reported)
{
	*p = (struct pointers){ .check = check, .vol = vol,
				.reported = reported, .least = UINT64_MAX };
	vblocks_init(&p->vblocks[0], vol, &check->datruns);
	vblocks_init(&p->vblocks[1], vol, &check->datruns);
}

void pointers_fini(struct pointers *p)
{
	vblocks_fini(&p->vblocks[0]);
	vblocks_fini(&p->vblocks[1]);
}

static struct place place_of_pointer(const struct pointers *p,
				     const struct mapcheck_pointer *ptr)
{
	return place_map(p->cno, p->ino, ptr->key, ptr->level);
}

static void report_pointer(struct pointers *p,
			   const struct mapcheck_pointer *ptr, enum rule rule,
			   uint64_t got)
{
	p->partial |= rule == RULE_BMAP_TWICE ? POINTERS_REVISITED : POINTERS_LOST;
	if (!p->check->dat_broken || rule == RULE_BMAP_TWICE)
		findings_got(p->check->findings, rule,
			     place_of_pointer(p, ptr), got);
}

/* Reports RULE, that PTR leads to no entry in use, once per block of the DAT;
   without a bitmap, the whole group is free. */
static void report_gap(struct pointers *p,
		       const struct mapcheck_pointer *ptr, enum rule rule)
{
	const struct vblocks *v = &p->vblocks[ptr->level > 0];

	p->partial |= POINTERS_LOST;
	if (rule == RULE_BMAP_VBLOCK_MISSING || !v->bitmap) {
		if (ptr->ptr >= p->silent_start && ptr->ptr < p->silent_end)
			return;
		p->silent_start = v->first;
		p->silent_end = v->first + v->count;
	}
	report_pointer(p, ptr, rule, ptr->ptr);
}

/* Whether BLOCKNR is in a segment in use.  The last segment is tested first. */
static inline bool is_in_used_segment(struct pointers *p, uint64_t blocknr)
{
	const struct nilfs_geometry *g = &p->vol->geo;
	const struct bitmap *used = &p->check->used_segments;
	uint64_t segnum;

	if (blocknr >= p->used_start && blocknr < p->used_end)
		return true;
	if (!geometry_has_block(g, blocknr))
		return false;
	segnum = geometry_segment_of(g, blocknr);
	if (used->bits && !bitmap_test(used, segnum))
		return false;
	p->used_start = geometry_segment_start(g, segnum);
	p->used_end = geometry_segment_end(g, segnum);
	return true;
}

/*
 * Whether PTR, of a metadata file, leads to a block of another file by a
 * readable log, and the log is right: 1, 0.  Either error is reported.  PTR is
 * wrong if the block has a shorter lifetime, or if the log names a file that
 * existed.
 */
static int is_foreign(struct pointers *p, struct context *cx,
		      const struct mapcheck_pointer *ptr)
{
	struct check *c = p->check;
	const struct sparse *listed = check_listed(c, p->ino);
	struct nilfs_inode inode;
	struct segsum_block b;
	struct vblock vb;
	struct root root;
	uint64_t segnum;
	int ret;

	if (!listed || ptr->ptr >= listed->bits ||
	    sparse_test(listed, ptr->ptr) || c->dat_broken)
		return 0;
	ret = vblocks_find(&p->vblocks[ptr->level > 0], cx, ptr->ptr, &vb);
	if (ret != VBLOCKS_USED)
		return ret < 0 ? ret : 0;
	if (!geometry_has_block(&p->vol->geo, vb.blocknr) ||
	    sparse_test(&c->claimed, vb.blocknr))
		return 0;
	segnum = geometry_segment_of(&p->vol->geo, vb.blocknr);
	if (!bitmap_test(&c->used_segments, segnum) ||
	    bitmap_test(&c->broken_segments, segnum) || c->logs_shut ||
	    findings_count(c->findings, RULE_SU_BEHIND) ||
	    findings_count(c->findings, RULE_SU_CLEAN_HOLDS))
		return 0;
	if (!lifetime_contains(&vb.life, &ptr->within))
		goto other_owner;
	ret = listings_find_block(cx, c, vb.blocknr, &b);
	if (ret < 0) {
		ret = damage_forgive(cx, ret);
		if (ret)
			return ret;
		goto log_wrong;
	}
	/*
	 * A block that no log lists is no reason to doubt a log.  The latest
	 * state shows whether the file existed, unless PTR hides that part of
	 * its ifile.
	 */
	if (!ret || b.vblocknr != ptr->ptr || inode_is_private(b.ino) ||
	    b.ino == NILFS_ROOT_INO || ptr->level ||
	    ptr->key == palloc_entry_blkoff(&p->vol->ifile_palloc, b.ino))
		goto other_owner;
	ret = root_open(&root, cx, p->vol, 0) ?:
	      root_inode_bytes(&root, cx, b.ino, &inode);
	if (ret < 0) {
		ret = damage_forgive(cx, ret);
		if (ret)
			return ret;
		goto other_owner;
	}
	if (ret && !inode_is_empty(&inode))
		goto other_owner;
log_wrong:
	findings_got(c->findings, RULE_LOG_PLACE, place_of_pointer(p, ptr),
		     ptr->ptr);
	return 0;
other_owner:
	report_pointer(p, ptr, RULE_BMAP_OWNER, ptr->ptr);
	return 1;
}

/* Whether the blocks of file INO are summed up. */
static inline bool is_summed(const struct pointers *p)
{
	return p->check->sums && !p->check->sums->closed &&
	       !inode_is_metadata(p->ino);
}

int pointers_check(struct pointers *p, struct context *cx,
		   const struct mapcheck_pointer *ptr, struct vblock *target)
{
	struct check *c = p->check;
	struct mapsum sum = { 0 };
	struct vblock vb = { 0 };
	bool late, there;
	int fresh, first = 1, state = is_foreign(p, cx, ptr);

	if (state)
		return state < 0 ? state : 0;

	/* New, or visited in another checkpoint, or twice in this one. */
	fresh = damage_add(&c->referenced, cx, ptr->ptr);
	if (fresh >= 0)
		first = p->walk ? damage_add(p->walk, cx, ptr->ptr) : fresh;
	if (fresh == -EUCLEAN || first == -EUCLEAN) {
		fail_clear(cx);
		report_gap(p, ptr, RULE_BMAP_VBLOCK_MISSING);
		return 0;
	}
	if (fresh < 0 || first < 0)
		return fresh < 0 ? fresh : first;
	if (!first) {
		report_pointer(p, ptr, RULE_BMAP_TWICE, ptr->ptr);
		return 0;
	}

	state = vblocks_find(&p->vblocks[ptr->level > 0], cx, ptr->ptr,
			    &vb);
	if (state < 0)
		return state;
	/* Everything else was checked on the first visit. */
	if (!fresh && state != VBLOCKS_USED)
		return 0;
	if (state == VBLOCKS_MISSING)
		report_gap(p, ptr, RULE_BMAP_VBLOCK_MISSING);
	if (state == VBLOCKS_UNKNOWN)
		p->partial |= POINTERS_LOST;
	if (state == VBLOCKS_MISSING || state == VBLOCKS_UNKNOWN)
		return 0;
	if (fresh) {
		there = is_in_used_segment(p, vb.blocknr);
		if (state == VBLOCKS_FREE)
			report_gap(p, ptr, RULE_BMAP_VBLOCK_FREE);
		else if (!vb.blocknr)
			report_pointer(p, ptr, RULE_BMAP_VBLOCK_UNWRITTEN,
				       ptr->ptr);
		else if (!there)
			report_pointer(p, ptr, RULE_BMAP_BLOCK_UNUSED,
				       vb.blocknr);
		/* A block without an entry in use is followed too. */
		if (!there)
			return 0;
	}
	/* If the entry is wrong, the lifetime is that of the block with the
	   pointer, so that the blocks below are not reported as well. */
	*target = vb;
	late = vb.life.start > ptr->within.start;
	if (state == VBLOCKS_FREE || !lifetime_contains(&vb.life, &ptr->within))
		target->life = ptr->within;
	if (state != VBLOCKS_FREE && !lifetime_contains(&vb.life, &ptr->within)) {
		p->partial |= POINTERS_LOST;
		first = sparse_add(p->reported, cx, ptr->ptr);
		if (first < 0 && !c->dat_broken)
			fail_clear(cx);
		if (first && !c->dat_broken)
			findings_differ(c->findings, RULE_BMAP_LIFETIME,
					place_of_pointer(p, ptr),
					late ? ptr->within.start :
					       ptr->within.end,
					late ? vb.life.start : vb.life.end);
	}
	if (!fresh)
		return 0;
	if (!ptr->level && state == VBLOCKS_USED && is_summed(p)) {
		mapsum_add(&sum, ptr->ptr, p->ino, ptr->key);
		mapsums_add(c->sums->mapped, p->ino, &sum);
	}
	/* The latest state was visited first: any other block that is live now
	   was not ended with its last checkpoint. */
	if (p->walk && !c->tree_broken && target->life.end == NILFS_CNO_MAX)
		state = sparse_add(&c->lingering, cx, ptr->ptr);
	return state < 0 ? state : fresh;
}

/*
 * Fast path for data blocks: the number of consecutive pointers of B from FROM
 * on that are valid and not visited before.  After 0, pointers_check() must
 * examine the first one.
 */
static uint32_t check_run(struct pointers *p,
			  const struct mapcheck_blocks *b, uint32_t from)
{
	struct vblocks *v = &p->vblocks[0];
	const le64 *ptrs = b->ptrs + from;
	uint64_t first = le64_get(ptrs[0]);
	struct mapsum sum = { 0 };
	struct vblock vb;
	uint32_t n, i;

	if (p->walk || !vblocks_has(v, first))
		return 0;
	for (n = 0; n < b->count - from; n++) {
		uint64_t number = first + n;

		if (le64_get(ptrs[n]) != number || !vblocks_has(v, number))
			break;
		if (vblocks_at(v, number, &vb) != VBLOCKS_USED ||
		    !is_in_used_segment(p, vb.blocknr) ||
		    !lifetime_contains(&vb.life, &b->within))
			break;
	}
	n = sparse_add_run(&p->check->referenced, first, n);
	if (!n || !is_summed(p))
		return n;
	for (i = 0; i < n; i++)
		mapsum_add(&sum, first + i, p->ino,
			   b->keys ? le64_get(b->keys[from + i]) : from + i);
	mapsums_add(p->check->sums->mapped, p->ino, &sum);
	return n;
}

void pointers_read_node(struct pointers *p, struct context *cx,
			uint64_t blocknr)
{
	p->run = blocknr == p->next_node ? p->run + 1 : 0;
	p->next_node = blocknr + 1;
	if (p->run && blocknr >= p->ahead) {
		cache_readahead(p->vol->cache, cx, blocknr, READAHEAD_NODES);
		p->ahead = blocknr + READAHEAD_NODES;
	}
	if (!p->run)
		p->ahead = 0;
}

static struct place pointers_place(const struct pointers *p)
{
	return place_inode(p->cno, p->ino);
}

static void report_broken_inode(const struct pointers *p, enum rule rule)
{
	findings_broken(p->check->findings, rule, pointers_place(p));
}

/* Called for nodes only. */
static int pointers_visit_pointer(void *arg, struct context *cx,
				  const struct mapcheck_pointer *ptr,
				  uint64_t *blocknr, struct lifetime *life)
{
	struct pointers *p = arg;
	struct vblock target = { .blocknr = 0 };
	int ret = pointers_check(p, cx, ptr, &target);

	p->nodes++;
	*blocknr = target.blocknr;
	if (ret <= 0) {
		p->whole = false;
		return ret;
	}
	*life = target.life;
	pointers_read_node(p, cx, target.blocknr);
	return 1;
}

static int pointers_visit_blocks(void *arg, struct context *cx,
				 const struct mapcheck_blocks *b)
{
	struct pointers *p = arg;
	uint32_t i = 0, last = 0, n;
	struct vblock target;
	int ret = 0;

	while (i < b->count && ret >= 0) {
		if (!b->keys && !le64_get(b->ptrs[i])) {
			i++;
			continue;
		}
		n = check_run(p, b, i);
		if (!n) {
			const struct mapcheck_pointer ptr = {
				.key = b->keys ? le64_get(b->keys[i]) : i,
				.ptr = le64_get(b->ptrs[i]),
				.within = b->within,
			};

			ret = pointers_check(p, cx, &ptr, &target);
			n = 1;
		}
		p->blocks += n;
		i += n;
		last = i - 1;
	}
	if (p->blocks)
		p->last_key = b->keys ? le64_get(b->keys[last]) : last;
	return ret < 0 ? ret : 0;
}

/*
 * Compares INODE with the counts of its map.  The kernel's cleaner refuses to
 * move a block after the largest file size (nilfs_ioctl_move_inode_block()).
 */
static int check_counts(const struct pointers *p, struct context *cx,
			const struct nilfs_inode *inode)
{
	struct findings *f = p->check->findings;
	struct volume *vol = p->vol;
	uint16_t mode = le16_get(inode->i_mode);
	uint64_t unit = vol->geo.block_size / SECTOR;
	uint64_t want = (p->blocks + p->nodes) * unit;
	uint64_t got = le64_get(inode->i_blocks);
	uint64_t size = le64_get(inode->i_size);
	uint64_t pages = div_round_up(size, DIR_PAGE);
	size_t len;
	int ret;

	if (got != want &&
	    (p->ino != NILFS_ROOT_INO || got != want - unit + 1)) {
		findings_differ(f, RULE_INODE_BLOCKS, pointers_place(p), want,
				got);
		/*
		 * nilfs_find_entry() reads page after page, and marks the volume
		 * as erroneous if there are more than i_blocks allows.
		 */
		got /= DIR_PAGE / SECTOR;
		if (S_ISDIR(mode) && pages && got < pages - 1)
			findings_differ(f, RULE_INODE_DIR_COUNT,
					pointers_place(p), pages, got);
	}
	if (!inode_has_bmap(inode) || !le16_get(inode->i_links_count) ||
	    p->size_judged)
		return 0;

	want = div_round_up(size, vol->geo.block_size);
	got = p->blocks;
	if (S_ISDIR(mode)) {
		if (got == want && got)
			got = p->last_key + 1;
		if (got != want)
			findings_differ(f, RULE_INODE_DIR_BLOCKS,
					pointers_place(p), want, got);
		return 0;
	}
	if (p->blocks && p->last_key >= want)
		findings_differ(f,
				p->last_key < (uint64_t)INT64_MAX >>
						vol->geo.block_bits
					? RULE_INODE_PAST_SIZE
					: RULE_INODE_PAST_LIMIT,
				pointers_place(p), want, p->last_key + 1);
	if (!S_ISLNK(mode))
		return 0;
	if (!p->blocks) {
		report_broken_inode(p, RULE_INODE_SYMLINK_BLOCK);
		return 0;
	}
	/* Damage on the way to the target is reported elsewhere. */
	ret = symlink_is_whole(vol, cx, p->ino, inode, &len);
	if (!ret)
		findings_differ(f, RULE_INODE_SYMLINK_TARGET, pointers_place(p),
				size, len);
	return damage_forgive(cx, ret < 0 ? ret : 0);
}

/* Checks an inode in use, first alone, then with its map. */
static int scan_inode(struct pointers *p, struct context *cx,
		      const struct nilfs_inode *inode,
		      const struct lifetime *life)
{
	const struct mapcheck m = {
		.vol = p->vol,
		.findings = p->check->findings,
		.cno = p->cno,
		.ino = p->ino,
		.within = *life,
		.visit = pointers_visit_pointer,
		.visit_blocks = pointers_visit_blocks,
		.arg = p,
	};
	struct nilfs_inode linked = *inode;
	bool empty;
	enum rule rule;
	int ret = 0;

	p->blocks = p->nodes = 0;
	p->whole = true;
	p->total_inodes++;
	if (!le16_get(inode->i_links_count) && p->ino != NILFS_ROOT_INO) {
		empty = inode_is_empty(inode);
		/* Of a mounted volume it is a deleted file that is open. */
		if (p->cno == p->check->vol->latest.cno &&
		    (empty || !p->check->mounted)) {
			report_broken_inode(p, empty ? RULE_INODE_EMPTY
						     : RULE_INODE_ORPHAN);
			/* It may have had blocks. */
			if (empty)
				p->partial |= POINTERS_LOST;
		}
		if (empty)
			return 0;
		linked.i_links_count = le16_make(1);
	}
	rule = inode_check(&p->vol->geo, &linked, p->ino);
	if (rule != RULE_OK)
		report_broken_inode(p, rule);
	p->size_judged = rule == RULE_INODE_SIZE ||
			 rule == RULE_INODE_DIR_SIZE ||
			 rule == RULE_INODE_SYMLINK_SIZE;
	/* Without a valid type the map is meaningless. */
	if (rule == RULE_INODE_MODE) {
		p->partial = true;
		return 0;
	}
	if (inode_has_bmap(inode))
		ret = mapcheck_run(&m, cx, inode);
	if (ret > 0) {
		p->partial = true;
		p->whole = false;
	}
	if (ret < 0 || !p->whole)
		return ret < 0 ? ret : 0;
	p->total_blocks += p->blocks + p->nodes;
	return check_counts(p, cx, inode);
}

int pointers_scan_inodes(struct pointers *p, struct context *cx,
			 const struct pointers_block *block, const void *data,
			 const uint8_t *bitmap)
{
	const struct palloc *palloc = &p->vol->ifile_palloc;
	const struct nilfs_inode *inode;
	bool links, bit;
	uint32_t i, at;
	int err = 0;

	for (i = 0; i < block->count && !err; i++) {
		inode = (const void *)((const char *)data +
				       (size_t)i * palloc->entry_size);
		p->ino = block->first + i;
		at = palloc_group_offset(palloc, p->ino);
		links = le16_get(inode->i_links_count);
		bit = bitmap ? palloc_bit(bitmap, at) : links;
		if (block->before && bitmap &&
		    bit == palloc_bit(block->before, at))
			continue;
		if (p->ino < NILFS_USER_INO) {
			if (!bit && bitmap)
				report_broken_inode(p,
						    RULE_INODE_RESERVED_FREE);
			if (p->ino == NILFS_ROOT_INO)
				err = scan_inode(p, cx, inode, &block->life);
			continue;
		}
		if (links && !bit)
			report_broken_inode(p, RULE_INODE_FREE);
		if (links && p->ino < p->least)
			p->least = p->ino;
		if (links || bit)
			err = scan_inode(p, cx, inode, &block->life);
	}
	return err;
}
