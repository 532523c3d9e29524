// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first log.
 *
 * A volume begins as one log: a summary block, the blocks of five files and a
 * super root.  The files follow each other without gaps: the root directory,
 * the ifile (a descriptor, a bitmap, as many blocks as the reserved inodes
 * take), one block each of cpfile and sufile, and the DAT.  All are small
 * enough for direct block maps, whatever the size of the device: the sufile
 * has only its first block, since a hole in it means clean segments.
 *
 * Virtual block numbers count from 1 in the order of the log, so the DAT,
 * which has none of its own, is filled by counting.
 *
 * Fields are what nilfs-utils writes, and block counts of inodes are in
 * blocks here, not in the kernel's sectors.  It makes no user file: what old
 * versions of nilfs-utils did (".nilfs") is of no use any more.
 */
#include "mkfs/firstlog.h"

#include <string.h>
#include <sys/stat.h>

#include "base/checked.h"
#include "base/crc.h"
#include "disk/checkpoint.h"
#include "disk/dirent.h"
#include "disk/palloc.h"
#include "disk/segusage.h"
#include "disk/superroot.h"

#define FIRST_CNO NILFS_CNO_MIN
#define ROOT_LINKS 2

enum { ROOT, IFILE, CPFILE, SUFILE, DAT, FILES };

struct file {
	uint64_t ino;
	uint32_t nblocks;
	uint32_t index;		/* of its first block in the log */
	uint64_t ptr;		/* of its first block, as the map has it */
};

struct firstlog {
	const struct plan *plan;
	const struct nilfs_geometry *g;
	uint8_t *buf;
	struct palloc inodes, entries;
	struct file files[FILES];
	uint32_t nblocks;
	uint64_t vblocknrs;	/* in use, the reserved number 0 included */
};

static void place(struct firstlog *log, unsigned int file, uint64_t ino,
		  uint32_t nblocks)
{
	struct file *f = &log->files[file];

	f->ino = ino;
	f->nblocks = nblocks;
	f->index = log->nblocks;
	if (file == DAT) {
		f->ptr = log->g->first_data_block + log->nblocks;
	} else {
		f->ptr = log->vblocknrs;
		log->vblocknrs += nblocks;
	}
	log->nblocks += nblocks;
}

/* Descriptor, bitmap and the blocks of the first COUNT entries. */
static uint32_t palloc_nblocks(const struct palloc *p, uint64_t count)
{
	return (uint32_t)palloc_entry_blkoff(p, count - 1) + 1;
}

static void lay_out(struct firstlog *log, const struct nilfs_geometry *g)
{
	memset(log, 0, sizeof(*log));
	log->g = g;
	log->nblocks = 1;
	log->vblocknrs = 1;
	palloc_init(&log->inodes, g->block_size, g->inode_size);
	palloc_init(&log->entries, g->block_size, g->dat_entry_size);
	place(log, ROOT, NILFS_ROOT_INO, 1);
	place(log, IFILE, NILFS_IFILE_INO,
	      palloc_nblocks(&log->inodes, g->first_ino));
	place(log, CPFILE, NILFS_CPFILE_INO, 1);
	place(log, SUFILE, NILFS_SUFILE_INO, 1);
	place(log, DAT, NILFS_DAT_INO,
	      palloc_nblocks(&log->entries, log->vblocknrs));
	log->nblocks++;
}

uint32_t firstlog_nblocks(const struct nilfs_geometry *g)
{
	struct firstlog log;

	lay_out(&log, g);
	return log.nblocks;
}

static void *block_at(const struct firstlog *log, uint32_t index)
{
	return log->buf + (size_t)index * log->g->block_size;
}

static void *file_block(const struct firstlog *log, unsigned int file,
			uint64_t blkoff)
{
	return block_at(log, log->files[file].index + (uint32_t)blkoff);
}

/* An inode with no blocks yet. */
static void fill_inode(const struct firstlog *log, struct nilfs_inode *inode,
		       uint16_t mode, uint16_t links)
{
	inode->i_ctime = le64_make(log->plan->ctime);
	inode->i_mtime = le64_make(log->plan->ctime);
	inode->i_mode = le16_make(mode);
	inode->i_links_count = le16_make(links);
}

/* Lists the blocks of FILE in its inode. */
static void fill_map(const struct firstlog *log, struct nilfs_inode *inode,
		     unsigned int file)
{
	const struct file *f = &log->files[file];
	uint32_t i;

	inode->i_blocks = le64_make(f->nblocks);
	for (i = 0; i < f->nblocks; i++)
		inode->i_bmap[1 + i] = le64_make(f->ptr + i);
}

static void fill_root(const struct firstlog *log)
{
	uint32_t first_len = dirent_rec_len(1);
	struct nilfs_dir_entry entry = {
		.inode = le64_make(NILFS_ROOT_INO),
		.rec_len = dirent_rec_len_encode(first_len),
		.name_len = 1,
		.file_type = NILFS_FT_DIR,
		.name = "..",
	};
	uint8_t *block = file_block(log, ROOT, 0);

	memcpy(block, &entry, offsetof(struct nilfs_dir_entry, name) + 1);
	entry.rec_len =
		dirent_rec_len_encode(log->g->block_size - first_len);
	entry.name_len = 2;
	memcpy(block + first_len, &entry,
	       offsetof(struct nilfs_dir_entry, name) + 2);
}

/* Marks the first COUNT entries of a file as in use. */
static void fill_palloc(const struct firstlog *log, unsigned int file,
			const struct palloc *p, uint64_t count)
{
	struct nilfs_palloc_group_desc *desc = file_block(log, file, 0);
	uint8_t *bitmap = file_block(log, file, 1);
	uint32_t i;

	for (i = 0; i < p->groups_per_desc; i++)
		desc[i].pg_nfrees = le32_make(p->entries_per_group);
	desc[0].pg_nfrees = le32_make(p->entries_per_group - (uint32_t)count);
	for (i = 0; i < count; i++)
		bitmap[i / 8] |= (uint8_t)(1 << i % 8);
}

static void *palloc_entry(const struct firstlog *log, unsigned int file,
			  const struct palloc *p, uint64_t nr)
{
	uint8_t *block = file_block(log, file, palloc_entry_blkoff(p, nr));

	return block + palloc_entry_offset(p, nr);
}

/* The metadata files have their inodes elsewhere. */
static bool has_ifile_inode(uint64_t ino)
{
	return ino && (ino < NILFS_DAT_INO || ino > NILFS_IFILE_INO);
}

static void fill_ifile(const struct firstlog *log)
{
	const struct palloc *p = &log->inodes;
	struct nilfs_inode *inode;
	uint64_t ino;

	fill_palloc(log, IFILE, p, log->g->first_ino);
	for (ino = 1; ino < log->g->first_ino; ino++) {
		inode = palloc_entry(log, IFILE, p, ino);
		if (ino != NILFS_ROOT_INO && has_ifile_inode(ino))
			fill_inode(log, inode, S_IFREG, 1);
	}
	inode = palloc_entry(log, IFILE, p, NILFS_ROOT_INO);
	fill_inode(log, inode, S_IFDIR | 0755, ROOT_LINKS);
	fill_map(log, inode, ROOT);
	inode->i_size = le64_make(log->g->block_size);
}

static void fill_checkpoint(const struct firstlog *log,
			    struct nilfs_checkpoint *cp)
{
	uint32_t nblocks = log->files[ROOT].nblocks +
			   log->files[IFILE].nblocks;

	cp->cp_cno = le64_make(FIRST_CNO);
	cp->cp_create = le64_make(log->plan->ctime);
	cp->cp_nblk_inc = le64_make(log->nblocks);
	cp->cp_inodes_count = le64_make(1);
	cp->cp_blocks_count = le64_make(nblocks);
	fill_inode(log, &cp->cp_ifile_inode, S_IFREG, 1);
	fill_map(log, &cp->cp_ifile_inode, IFILE);
}

static void fill_cpfile(const struct firstlog *log)
{
	const struct nilfs_geometry *g = log->g;
	uint64_t last = FIRST_CNO + checkpoint_count(g, 0) - 1, cno;
	uint8_t *block = file_block(log, CPFILE, 0);
	struct nilfs_cpfile_header *header = (void *)block;
	struct nilfs_checkpoint *cp;

	header->ch_ncheckpoints = le64_make(1);
	for (cno = FIRST_CNO + 1; cno <= last; cno++) {
		cp = (void *)(block + checkpoint_offset(g, cno));
		cp->cp_flags = le32_make(1u << NILFS_CHECKPOINT_INVALID);
		cp->cp_cno = le64_make(cno);
	}
	fill_checkpoint(log, (void *)(block + checkpoint_offset(g, FIRST_CNO)));
}

/* Segments that must not be used are all in the first block. */
static void flag_unusable(const struct firstlog *log, uint8_t *block)
{
	const struct nilfs_geometry *g = log->g;
	struct nilfs_segment_usage *su;
	uint64_t segnum;

	if (!log->plan->zoned.unusable)
		return;
	for (segnum = 0; segnum < g->nsegments; segnum++) {
		if (!zoneplan_unusable(log->plan, segnum))
			continue;
		su = (void *)(block + segusage_offset(g, segnum));
		su->su_flags = le32_make(1u << NILFS_SEGMENT_USAGE_ERROR);
	}
}

/* Segment 0 has the log; the kernel goes to plan->next then. */
static void fill_sufile(const struct firstlog *log)
{
	const struct nilfs_geometry *g = log->g;
	uint64_t clean = g->nsegments - 2 - log->plan->zoned.unusable;
	uint8_t *block = file_block(log, SUFILE, 0);
	struct nilfs_sufile_header *header = (void *)block;
	struct nilfs_segment_usage_ext *su =
		(void *)(block + segusage_offset(g, 0));
	struct nilfs_segment_usage *next =
		(void *)(block + segusage_offset(g, log->plan->next));
	le32 in_use = le32_make(1u << NILFS_SEGMENT_USAGE_ACTIVE |
				1u << NILFS_SEGMENT_USAGE_DIRTY);

	flag_unusable(log, block);
	header->sh_ncleansegs = le64_make(clean);
	header->sh_ndirtysegs = le64_make(2);
	header->sh_last_alloc = le64_make(g->nsegments - 1);
	su->su.su_lastmod = le64_make(log->plan->ctime);
	su->su.su_nblocks = le32_make(log->nblocks);
	su->su.su_flags = in_use;
	next->su_flags = in_use;
	if (g->has_live_blks) {
		/* All but the summary and the super root. */
		su->su_nlive_blks = le32_make(log->nblocks - 2);
		su->su_nlive_lastmod = le64_make(log->plan->ctime);
	}
}

static void fill_dat(const struct firstlog *log)
{
	const struct palloc *p = &log->entries;
	uint64_t vblocknr, first = log->g->first_data_block;

	fill_palloc(log, DAT, p, log->vblocknrs);
	for (vblocknr = 1; vblocknr < log->vblocknrs; vblocknr++) {
		struct nilfs_dat_entry *de =
			palloc_entry(log, DAT, p, vblocknr);

		/* Number 1 is the first block after the summary. */
		de->de_blocknr = le64_make(first + vblocknr);
		de->de_start = le64_make(FIRST_CNO);
		de->de_end = le64_make(NILFS_CNO_MAX);
	}
}

static void fill_super_root(const struct firstlog *log)
{
	struct nilfs_super_root *sr = block_at(log, log->nblocks - 1);

	sr->sr_bytes = le16_make((uint16_t)superroot_bytes(log->g));
	sr->sr_nongc_ctime = le64_make(log->plan->ctime);
	fill_inode(log, &sr->sr_dat, S_IFREG, 1);
	fill_map(log, &sr->sr_dat, DAT);
	fill_inode(log, &sr->sr_cpfile, S_IFREG, 1);
	fill_map(log, &sr->sr_cpfile, CPFILE);
	fill_inode(log, &sr->sr_sufile, S_IFREG, 1);
	fill_map(log, &sr->sr_sufile, SUFILE);
	sr->sr_sum = le32_make(superroot_checksum(log->g, sr));
}

/* Lists FILE at P, which moves behind it. */
static uint8_t *list_file(const struct firstlog *log, unsigned int file,
			  uint8_t *p)
{
	const struct file *f = &log->files[file];
	struct nilfs_finfo finfo = {
		.fi_ino = le64_make(f->ino),
		.fi_cno = le64_make(FIRST_CNO),
		.fi_nblocks = le32_make(f->nblocks),
		.fi_ndatablk = le32_make(f->nblocks),
	};
	uint32_t i;

	memcpy(p, &finfo, sizeof(finfo));
	p += sizeof(finfo);
	for (i = 0; i < f->nblocks; i++) {
		struct nilfs_binfo_v binfo = {
			.bi_vblocknr = le64_make(f->ptr + i),
			.bi_blkoff = le64_make(i),
		};
		size_t skip = file == DAT ? sizeof(binfo.bi_vblocknr) : 0;

		memcpy(p, (uint8_t *)&binfo + skip, sizeof(binfo) - skip);
		p += sizeof(binfo) - skip;
	}
	return p;
}

static void fill_summary(const struct firstlog *log)
{
	struct nilfs_segment_summary *ss = block_at(log, 0);
	uint8_t *p = log->buf + sizeof(*ss);
	unsigned int file;

	for (file = 0; file < FILES; file++)
		p = list_file(log, file, p);
	ss->ss_magic = le32_make(NILFS_SEGSUM_MAGIC);
	ss->ss_bytes = le16_make(sizeof(*ss));
	ss->ss_flags = le16_make(NILFS_SS_LOGBGN | NILFS_SS_LOGEND |
				 NILFS_SS_SR);
	ss->ss_create = le64_make(log->plan->ctime);
	ss->ss_next =
		le64_make(geometry_segment_start(log->g, log->plan->next));
	ss->ss_nblocks = le32_make(log->nblocks);
	ss->ss_nfinfo = le32_make(FILES);
	ss->ss_sumbytes = le32_make((uint32_t)(p - log->buf));
	ss->ss_cno = le64_make(FIRST_CNO);
}

/* The second sum covers the first. */
static void fill_checksums(const struct firstlog *log)
{
	struct nilfs_segment_summary *ss = block_at(log, 0);
	size_t bytes = (size_t)log->nblocks * log->g->block_size;
	size_t from = offsetof(struct nilfs_segment_summary, ss_magic);

	ss->ss_sumsum = le32_make(crc32_le(log->g->crc_seed, log->buf + from,
					   le32_get(ss->ss_sumbytes) - from));
	from = offsetof(struct nilfs_segment_summary, ss_sumsum);
	ss->ss_datasum = le32_make(crc32_le(log->g->crc_seed, log->buf + from,
					    bytes - from));
}

void firstlog_fill(const struct plan *plan, void *buf)
{
	struct firstlog log;

	lay_out(&log, &plan->g);
	log.plan = plan;
	log.buf = buf;
	fill_root(&log);
	fill_ifile(&log);
	fill_cpfile(&log);
	fill_sufile(&log);
	fill_dat(&log);
	fill_super_root(&log);
	fill_summary(&log);
	fill_checksums(&log);
}
