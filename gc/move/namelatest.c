// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making both superblocks name the latest log.
 *
 * Older ones protect younger segments from being cleaned (ns_prot_seq).
 */
#include "gc/move/namelatest.h"

#include "disk/super.h"
#include "gc/move/target.h"
#include "log/newsupers.h"
#include "vol/protection.h"
#include "vol/sutable.h"
#include "vol/volume.h"

static int name_both(struct context *cx, struct dev *dev, struct volume *vol,
		     uint64_t time)
{
	struct writer_end end = {
		.cno = vol->latest.cno,
		.pseg = vol->latest.pseg_start,
		.seq = vol->latest.seq,
	};
	struct nilfs_sufile_header header;
	int ret = sutable_header(vol, cx, &header);

	if (ret)
		return ret;
	end.clean_segments = le64_get(header.sh_ncleansegs);
	return newsupers_name(cx, dev, vol, &end, time,
			      le16_get(volume_super(vol)->s_state));
}

int namelatest_run(struct context *cx, struct dev *dev, uint64_t time)
{
	struct volume *vol;
	int ret = target_open_volume(&vol, cx, dev);

	if (!ret && protection_seq(vol) < vol->latest.seq)
		ret = name_both(cx, dev, vol, time);
	volume_close(vol);
	return ret;
}
