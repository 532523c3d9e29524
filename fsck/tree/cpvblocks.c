// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a checkpoint consists of, by its maps.
 *
 * The DAT cannot tell: a life there may be longer than what had the block, as
 * after a return to an older checkpoint, or be said too long by damage.  So the
 * checker walks that checkpoint as if there were no other, for the set that it
 * leaves; what it finds on the way was told of before.
 */
#include "fsck/tree/cpvblocks.h"

#include "check/ifilewalk.h"
#include "check/vblocks.h"

static void ignore(void *arg, const struct finding *f)
{
	(void)arg;
	(void)f;
}

static int walk(struct check *c, struct context *cx,
		const struct nilfs_checkpoint *cp)
{
	uint64_t cno = le64_get(cp->cp_cno);
	const struct lifetime within = { cno, cno + 1 };
	struct ifilewalk_sums sums;
	struct pointers pointers;
	struct ifilewalk ifile;
	struct sparse told = { 0 };
	int ret = sparse_init(&told, cx, c->referenced.bits);

	pointers_init(&pointers, c, c->vol, &told);
	if (!ret) {
		ret = ifilewalk_init(&ifile, cx, c, &pointers);
		if (!ret)
			ret = ifilewalk_run(&ifile, cx, cno,
					    &cp->cp_ifile_inode, &within,
					    &sums);
		if (!ret)
			ret = !pointers.partial &&
			      !ifilewalk_is_partial(&ifile);
		ifilewalk_fini(&ifile);
	}
	pointers_fini(&pointers);
	sparse_fini(&told);
	return ret;
}

int cpvblocks_gather(struct sparse *set, struct context *cx,
		     const struct check *c, const struct nilfs_checkpoint *cp)
{
	struct check alone = {
		.dev = c->dev,
		.vol = c->vol,
		.used_segments = c->used_segments,
	};
	int ret = findings_open(&alone.findings, cx, ignore, NULL, false);

	if (!ret)
		ret = sparse_init(&alone.referenced, cx,
				  vblocks_end(c->vol, cx));
	if (!ret)
		ret = walk(&alone, cx, cp);
	findings_close(alone.findings);
	*set = alone.referenced;
	return ret;
}
