// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Continuing after the latest checkpoint.
 *
 * The metadata files begin as in that checkpoint.  The first log follows its
 * last one, with the same sequence number.  Live-block counts are used if they
 * are marked as exact for that checkpoint; otherwise a kernel without the
 * extension has written to the volume, and they are counted again.
 */
#include <sys/stat.h>

#include "disk/segusage.h"
#include "log/writer_parts.h"
#include "vol/liveness.h"
#include "vol/sutable.h"
#include "vol/volume.h"

int inherit_files(struct writer *w, struct context *cx, bool fresh)
{
	const struct nilfs_super_root *sr = &w->super_root;
	const struct {
		struct metafile **m;
		uint64_t ino;
		enum metafile_kind kind;
		const struct nilfs_inode *inode;
	} files[] = {
		{ &w->dat_file, NILFS_DAT_INO, METAFILE_DAT, &sr->sr_dat },
		{ &w->cpfile, NILFS_CPFILE_INO, METAFILE_SINGLE,
		  &sr->sr_cpfile },
		{ &w->sufile, NILFS_SUFILE_INO, METAFILE_SINGLE,
		  &sr->sr_sufile },
		{ &w->ifile, NILFS_IFILE_INO, METAFILE_MULTI, &w->ifile_inode },
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 4 && !ret; i++)
		ret = metafile_open(files[i].m, cx, &w->env, w->g.block_size,
				    files[i].ino, files[i].kind,
				    fresh ? NULL : files[i].inode);
	w->dat.m = w->dat_file;
	w->segments.m = w->sufile;
	w->appender.dat_file = w->dat_file;
	if (!ret)
		ret = numbers_init(&w->dat.numbers, cx, w->dat_file,
				   w->g.block_size, w->g.dat_entry_size);
	if (!ret)
		ret = numbers_init(&w->inos, cx, w->ifile, w->g.block_size,
				   w->g.inode_size);
	return ret;
}

int inherit_metadata(struct writer *w, struct context *cx,
		     const struct volume *vol,
		     const struct nilfs_checkpoint *cp, unsigned int rebuilt)
{
	const struct nilfs_inode new = writer_new_inode(w, S_IFREG, 1);
	const struct {
		struct nilfs_inode *to;
		const struct nilfs_inode *from;
		uint64_t ino;
	} inodes[] = {
		{ &w->super_root.sr_dat, &vol->dat.inode, NILFS_DAT_INO },
		{ &w->super_root.sr_cpfile, &vol->cpfile.inode,
		  NILFS_CPFILE_INO },
		{ &w->super_root.sr_sufile, &vol->sufile.inode,
		  NILFS_SUFILE_INO },
		{ &w->ifile_inode, &cp->cp_ifile_inode, NILFS_IFILE_INO },
	};
	unsigned int i;
	int ret;

	w->super_root = vol->super_root;
	for (i = 0; i < 4; i++)
		*inodes[i].to = rebuilt >> inodes[i].ino & 1 ? new :
							     *inodes[i].from;
	w->inodes_count = le64_get(cp->cp_inodes_count);
	w->blocks_count = le64_get(cp->cp_blocks_count);
	ret = inherit_files(w, cx, false);
	if (ret)
		return ret;
	w->ifile_blocks = metafile_facts(w->ifile).nblocks;
	w->inos.next = w->g.first_ino;
	w->dat.aged = true;
	return 0;
}

int inherit_ifile(struct writer *w, struct context *cx,
		  const struct nilfs_checkpoint *cp)
{
	int ret;

	metafile_close(w->ifile);
	w->ifile = NULL;
	numbers_fini(&w->inos);
	w->ifile_inode = cp->cp_ifile_inode;
	w->inodes_count = le64_get(cp->cp_inodes_count);
	w->blocks_count = le64_get(cp->cp_blocks_count);
	ret = metafile_open(&w->ifile, cx, &w->env, w->g.block_size,
			    NILFS_IFILE_INO, METAFILE_MULTI, &w->ifile_inode);
	if (ret)
		return ret;
	w->ifile_blocks = metafile_facts(w->ifile).nblocks;
	ret = numbers_init(&w->inos, cx, w->ifile, w->g.block_size,
			   w->g.inode_size);
	w->inos.next = w->g.first_ino;
	return ret;
}

int inherit_segments(struct writer *w, struct context *cx,
		     struct volume *vol)
{
	struct segments *s = &w->segments;
	struct nilfs_sufile_header header;
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	struct liveness *live = NULL;
	struct liveness_counts n;
	uint64_t segnum;
	int32_t held, all;
	int ret = sutable_header(vol, cx, &header);

	if (ret)
		return ret;
	s->nclean = le64_get(header.sh_ncleansegs);
	s->ndirty = le64_get(header.sh_ndirtysegs);
	s->last_alloc = le64_get(header.sh_last_alloc);
	ret = w->g.has_live_blks ? sutable_is_exact(vol, cx) : 1;
	if (!ret)
		ret = liveness_count(vol, cx, UINT64_MAX, &live);
	if (ret < 0)
		return ret;
	ret = sutable_cursor_open(&cur, cx, vol, false);
	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		if (segusage_is_dirty(&su.su))
			s->used = segnum + 1;
		ret = 0;
		if (!live)
			continue;
		n = liveness_of(live, segnum);
		held = (int32_t)(n.snapshot - le32_get(su.su_nsnapshot_blks));
		all = (int32_t)(n.current + n.snapshot -
				le32_get(su.su_nlive_blks));
		ret = segments_correct(s, cx, segnum, all, held);
	}
	sutable_cursor_close(&cur);
	liveness_free(live);
	return ret;
}
