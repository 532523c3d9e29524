// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Continuing after the latest checkpoint.
 *
 * The metadata files begin as in that checkpoint, and the first log follows its
 * last one, with the same sequence number.  Live-block counts are used if they
 * are marked as exact for that checkpoint; otherwise a kernel without the
 * extension has written, and they are counted again.
 */
#include "log/inherit.h"

#include <errno.h>
#include <sys/stat.h>

#include "disk/segusage.h"
#include "log/writer_parts.h"
#include "vol/cptable.h"
#include "vol/liveness.h"
#include "vol/root.h"
#include "vol/sutable.h"
#include "vol/volume.h"

int inherit_files(struct writer *w, struct context *cx,
		  const struct inherit_inodes *from)
{
	const struct {
		struct metafile **m;
		uint64_t ino;
		enum metafile_kind kind;
		const struct nilfs_inode *inode;
	} files[] = {
		{ &w->dat_file, NILFS_DAT_INO, METAFILE_DAT, from->dat },
		{ &w->cpfile, NILFS_CPFILE_INO, METAFILE_SINGLE, from->cpfile },
		{ &w->sufile, NILFS_SUFILE_INO, METAFILE_SINGLE, from->sufile },
		{ &w->ifile, NILFS_IFILE_INO, METAFILE_MULTI, from->ifile },
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 4 && !ret; i++)
		ret = metafile_open(files[i].m, cx, &w->env, w->g.block_size,
				    files[i].ino, files[i].kind,
				    files[i].inode);
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
	ret = inherit_files(w, cx, &(struct inherit_inodes){
		inodes[0].to, inodes[1].to, inodes[2].to, inodes[3].to,
	});
	if (ret)
		return ret;
	w->ifile_blocks = metafile_nblocks(w->ifile);
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
	w->ifile_blocks = metafile_nblocks(w->ifile);
	ret = numbers_init(&w->inos, cx, w->ifile, w->g.block_size,
			   w->g.inode_size);
	w->inos.next = w->g.first_ino;
	return ret;
}

static int inherit_checkpoint(struct writer *w, struct context *cx,
			      struct volume *vol)
{
	struct root root;
	int ret = root_open(&root, cx, vol, 0);

	if (!ret)
		ret = inherit_metadata(w, cx, vol, &root.cp, 0);
	return ret ? ret : cptable_list(vol, cx, true, &w->dat.snapshots,
					&w->dat.nsnapshots);
}

/* Corrects the counts of SEGNUM by what LIVE (NULL: nothing) says. */
static int correct(struct writer *w, struct context *cx, uint64_t segnum,
		   const struct nilfs_segment_usage_ext *su,
		   const struct liveness *live)
{
	struct liveness_counts n;
	int32_t held, all;

	if (!live)
		return 0;
	n = liveness_of(live, segnum);
	held = (int32_t)(n.snapshot - le32_get(su->su_nsnapshot_blks));
	all = (int32_t)(n.current + n.snapshot - le32_get(su->su_nlive_blks));
	return segments_correct(&w->segments, cx, segnum, all, held);
}

static int walk_segments(struct writer *w, struct context *cx,
			 struct volume *vol, const struct liveness *live)
{
	struct nilfs_segment_usage_ext su;
	struct sutable_cursor cur;
	uint64_t segnum;
	int ret = sutable_cursor_open(&cur, cx, vol, false);

	while (!ret &&
	       (ret = sutable_cursor_next(&cur, cx, &segnum, &su)) > 0) {
		if (segusage_is_dirty(&su.su))
			w->segments.used = segnum + 1;
		ret = correct(w, cx, segnum, &su, live);
	}
	sutable_cursor_close(&cur);
	return ret;
}

static int inherit_segments(struct writer *w, struct context *cx,
			    struct volume *vol)
{
	struct segments *s = &w->segments;
	struct nilfs_sufile_header header;
	struct liveness *live = NULL;
	int ret = sutable_header(vol, cx, &header);

	if (ret)
		return ret;
	s->nclean = le64_get(header.sh_ncleansegs);
	s->ndirty = le64_get(header.sh_ndirtysegs);
	s->last_alloc = le64_get(header.sh_last_alloc);
	ret = w->g.has_live_blks ? sutable_is_exact(vol, cx) : 1;
	if (!ret)
		ret = liveness_count(vol, cx, UINT64_MAX, &live);
	if (ret >= 0)
		ret = walk_segments(w, cx, vol, live);
	liveness_free(live);
	return ret;
}

/* The kernel's cursor: nilfs_store_log_cursor(), nilfs_shift_to_next(). */
static int inherit_place(struct writer *w, struct context *cx,
			 const struct recovery *latest)
{
	struct appender *a = &w->appender;

	if (latest->orphans_start)
		return fail(cx, -EUCLEAN, "block %llu: logs after the latest "
			    "super root have not been rolled forward",
			    (unsigned long long)latest->orphans_start);
	if (latest->nextnum >= w->g.nsegments ||
	    latest->nextnum == latest->segnum)
		return fail(cx, -EUCLEAN, "segment %llu: cannot be the next",
			    (unsigned long long)latest->nextnum);
	a->segnum = latest->segnum;
	a->nextnum = latest->nextnum;
	a->seq = latest->seq;
	a->offset = (uint32_t)latest->offset;
	return 0;
}

int inherit_volume(struct writer *w, struct context *cx, struct volume *vol)
{
	int ret = inherit_place(w, cx, &vol->latest);

	if (!ret)
		ret = inherit_checkpoint(w, cx, vol);
	return ret ? ret : inherit_segments(w, cx, vol);
}
