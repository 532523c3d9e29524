// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Dead blocks that a cleaner must not free.
 *
 * There are two independent rules.  Segments written since the older superblock
 * are needed to mount by it.  Blocks that were live in a checkpoint of the last
 * minutes or hours are kept because the user may still make that checkpoint a
 * snapshot.
 */
#include "vol/protection.h"

#include "vol/cptable.h"
#include "vol/volume.h"

uint64_t protection_seq(const struct volume *vol)
{
	uint64_t seq = le64_get(volume_super(vol)->s_last_seq), other;
	int i;

	for (i = 0; i < 2; i++) {
		if (vol->choice.verdict[i] != RULE_OK)
			continue;
		other = le64_get(vol->super[i].s_last_seq);
		if (other < seq)
			seq = other;
	}
	return seq;
}

int protection_cno(struct volume *vol, struct context *cx, uint64_t seconds,
		   uint64_t *cno)
{
	uint64_t now = cx->now > 0 ? (uint64_t)cx->now : 0;
	uint64_t since = seconds < now ? now - seconds : 0;
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int ret;

	*cno = vol->latest.cno + 1;
	ret = cptable_cursor_open(&cur, cx, vol);
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		ret = 0;
		if (le64_get(cp.cp_create) < since)
			continue;
		*cno = cur.cno - 1;
		break;
	}
	cptable_cursor_close(&cur);
	return ret;
}
