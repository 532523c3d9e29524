// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The newest state of a volume whose checkpoint file may be damaged.
 *
 * The super root names the cpfile, and only the cpfile names the ifile.  If the
 * entry of the latest checkpoint is lost, the log of that checkpoint may have
 * it still.  If it does not, it is derived from logs and DAT.
 *
 * A map can be sound and lead elsewhere.  The logs show where that is the
 * case.
 */
#include "fsck/checkpoints/latestcp.h"

#include <string.h>
#include <sys/stat.h>

#include "check/damage.h"
#include "disk/bmap.h"
#include "disk/checkpoint.h"
#include "fsck/checkpoints/cpblocks.h"
#include "fsck/derive/pieces.h"
#include "log/repairwriter.h"
#include "vol/cptable.h"

/* An entry without a map.  The newest entry that the cpfile has shows what an
   ifile looks like. */
static int make_entry(const struct check *c, struct context *cx,
		      struct nilfs_checkpoint *cp)
{
	struct nilfs_inode *ifile = &cp->cp_ifile_inode;
	struct cptable_cursor cur;
	struct nilfs_checkpoint next;
	int ret = cptable_cursor_open(&cur, cx, c->vol);

	memset(cp, 0, sizeof(*cp));
	ifile->i_mode = le16_make(S_IFREG);
	ifile->i_links_count = le16_make(1);
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &next)) > 0) {
		ret = 0;
		if (S_ISREG(le16_get(next.cp_ifile_inode.i_mode)))
			*cp = next;
	}
	cptable_cursor_close(&cur);
	memset(ifile->i_bmap, 0, sizeof(ifile->i_bmap));
	ifile->i_blocks = le64_make(0);
	cp->cp_flags = le32_make(0);
	cp->cp_cno = le64_make(c->vol->latest.cno);
	return damage_forgive(cx, ret);
}

/* Nothing can be said of what is alive, whatever pointers there are. */
static bool is_dat_lost(const struct check *c)
{
	return c->dat_broken || c->dat_bitmaps_lost;
}

/* The entry as the cpfile has it, else as an older copy, logs and DAT do. */
static int find_entry(struct context *cx, const struct check *c,
		      struct nilfs_checkpoint *cp)
{
	struct volume *vol = c->vol;
	uint64_t cno = vol->latest.cno;
	struct cpblocks copies = { 0 };
	const void *block;
	int ret = file_block(&vol->cpfile, cx,
			     checkpoint_blkoff(&vol->geo, cno), &block);

	if (ret > 0) {
		memcpy(cp, (const char *)block +
		       checkpoint_offset(&vol->geo, cno), sizeof(*cp));
		file_put(&vol->cpfile, block);
		if (checkpoint_check(cp, cno) != RULE_OK ||
		    checkpoint_is_invalid(cp))
			ret = cpblocks_is_followable(c, cx, cp, cno);
	}
	ret = damage_forgive(cx, ret);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = cpblocks_load(&copies, cx, c);
	if (!ret)
		ret = cpblocks_entry(&copies, cx, cno, 0, true, cp);
	if (ret > 0 && checkpoint_is_invalid(cp))
		ret = 0;
	cpblocks_fini(&copies);
	if (!ret && !is_dat_lost(c))
		ret = pieces_checkpoint(c, cx, cno, cp);
	if (!ret)
		ret = make_entry(c, cx, cp);
	return ret < 0 ? ret : 0;
}

/* Marks INO again unless the map of INODE leads to all of it; LOGS: by them. */
static int judge_file(struct latestcp *k, struct context *cx,
		      const struct check *c, uint64_t ino,
		      const struct nilfs_inode *inode, bool logs)
{
	const struct liveblocks_question q = {
		.ino = ino,
		.inode = inode,
		.cno = c->vol->latest.cno,
		.read = findings_count(c->findings, RULE_DEV_UNREADABLE),
		.logs = logs,
	};
	struct liveblocks blocks = { 0 };
	int err = liveblocks_gather(&blocks, cx, c, &q);

	if (!liveblocks_is_whole(&blocks) || !blocks.n)
		k->rebuilt |= REPAIRWRITER_FILE(ino);
	if (k->rebuilt & REPAIRWRITER_FILE(ino) &&
	    (ino == NILFS_CPFILE_INO || !blocks.n ||
	     (bmap_is_btree(inode->i_bmap) && bmap_root_check(inode->i_bmap))))
		k->must |= REPAIRWRITER_FILE(ino);
	liveblocks_fini(&blocks);
	return err;
}

/*
 * Some pointer leads to a number that is free.  If it is one of the cpfile,
 * and wrong, that is to be repaired with the DAT: no log could be written.
 */
static int judge_free(struct latestcp *k, struct context *cx,
		      const struct check *c)
{
	struct volume *vol = c->vol;
	const struct liveblocks_question q = {
		.ino = NILFS_CPFILE_INO,
		.inode = &vol->cpfile.inode,
		.cno = vol->latest.cno,
	};
	/* The next log needs the header, and the next checkpoint. */
	const uint64_t needed[] = {
		0, checkpoint_blkoff(&vol->geo, vol->latest.cno + 1),
	};
	struct liveblocks blocks = { 0 };
	int ret = liveblocks_gather(&blocks, cx, c, &q);
	bool whole = liveblocks_is_whole(&blocks), usable = true;
	const struct liveblock *b;
	const void *block;
	size_t i;

	/* It has a block that the logs have not, but another that is alive. */
	for (i = 0; i < blocks.nlost; i++) {
		b = liveblocks_find(&blocks, blocks.lost[i].blkoff);
		usable &= !b || !b->vblocknr;
	}
	liveblocks_fini(&blocks);
	if (ret || whole)
		return ret;
	for (i = 0; i < 2 && usable; i++) {
		ret = file_block(&vol->cpfile, cx, needed[i], &block);
		if (ret > 0)
			file_put(&vol->cpfile, block);
		usable = !damage_is(ret);
		ret = damage_forgive(cx, ret);
		if (ret < 0)
			return ret;
	}
	if (!usable)
		k->rebuilt = k->must = REPAIRWRITER_FILE(NILFS_CPFILE_INO);
	return 0;
}

bool latestcp_is_doubtful(const struct check *c)
{
	return is_dat_lost(c) ||
	       findings_have_stage(c->findings, RULE_STAGE_NUMBERS);
}

int latestcp_find(struct latestcp *k, struct context *cx,
		  const struct check *c, unsigned int doubted)
{
	int err;

	k->rebuilt = k->must = 0;
	err = find_entry(cx, c, &k->cp);
	if (err || is_dat_lost(c))
		return err;
	if (latestcp_is_doubtful(c))
		return judge_free(k, cx, c);
	err = judge_file(k, cx, c, NILFS_CPFILE_INO, &c->vol->cpfile.inode,
			 doubted & REPAIRWRITER_FILE(NILFS_CPFILE_INO));
	if (!err)
		err = judge_file(k, cx, c, NILFS_IFILE_INO,
				 &k->cp.cp_ifile_inode,
				 doubted & REPAIRWRITER_FILE(NILFS_IFILE_INO));
	return err;
}
