// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The common end of all changes.
 *
 * The volume is marked as unmounted, since its latest log is the one that the
 * superblocks name.  Its error flag is kept.
 */
#include "gc/move/onelog.h"

#include "gc/plan/zoning.h"
#include "log/directwriter.h"
#include "log/newsupers.h"
#include "vol/sutable.h"

int onelog_commit(struct writer *w, struct context *cx, struct volume *vol,
		  uint64_t time, struct writer_end *end)
{
	unsigned int state = le16_get(volume_super(vol)->s_state);
	int ret = writer_commit(w, cx, end);

	return ret ? ret : newsupers_name(cx, vol->dev, vol, end, time,
					  state | NILFS_VALID_FS);
}

int onelog_append(struct context *cx, struct volume *vol,
		  const struct writer_options *options, onelog_change *change,
		  void *arg, struct writer_end *end)
{
	struct directwriter_known known = { .unusable = NULL };
	struct zoning zones = { .vol = NULL };
	struct writer *w = NULL;
	int ret = zoning_open(&zones, cx, vol);

	zoning_fill(&zones, &known);
	if (!ret)
		ret = directwriter_open(&w, cx, vol, options, &known);
	if (!ret)
		ret = change(arg, cx, w);
	if (!ret)
		ret = onelog_commit(w, cx, vol, options->time, end);
	writer_close(w);
	zoning_close(&zones);
	return ret;
}

int onelog_latest(struct writer_end *end, struct context *cx,
		  struct volume *vol)
{
	struct nilfs_sufile_header header;
	int ret = sutable_header(vol, cx, &header);

	if (ret)
		return ret;
	*end = (struct writer_end){
		.cno = vol->latest.cno,
		.pseg = vol->latest.pseg_start,
		.seq = vol->latest.seq,
		.clean_segments = le64_get(header.sh_ncleansegs),
	};
	return 0;
}
