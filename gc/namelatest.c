// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both superblocks name the latest log.
 *
 * Those that name older ones keep what is younger than these from being cleaned
 * (ns_prot_seq).
 */
#include "gc/namelatest.h"

#include "disk/super.h"
#include "gc/target.h"
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
	int ret = volume_open(&vol, cx, dev, NULL);

	if (!ret)
		ret = target_check_volume(cx, vol);
	if (!ret && protection_seq(vol) < vol->latest.seq)
		ret = name_both(cx, dev, vol, time);
	volume_close(vol);
	return ret;
}
