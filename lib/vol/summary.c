// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading the summary of a log.
 *
 * A summary is small relative to its log, but its length is read from the disk: it is
 * checked against the log before memory is allocated.
 */
#include "vol/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "disk/rule.h"
#include "vol/volume.h"

static int fail_broken(const struct summary *s, struct context *cx,
		       enum rule rule)
{
	return fail(cx, -EUCLEAN, "log at block %llu: %s",
		    (unsigned long long)s->pseg, rule_info(rule)->text);
}

int summary_read(struct summary *s, struct context *cx, struct volume *vol,
		 uint64_t pseg, const struct nilfs_segment_summary *ss)
{
	uint32_t nblocks;
	enum rule rule;
	char *buf;
	int err;

	s->vol = vol;
	s->pseg = pseg;
	rule = segsum_check(&vol->geo, ss, pseg);
	if (rule != RULE_OK)
		return fail_broken(s, cx, rule);
	nblocks = segsum_nsumblk(&vol->geo, ss);
	buf = array_grow(cx, s->buf, &s->capacity, nblocks,
			 vol->geo.block_size);
	if (!buf)
		return -ENOMEM;
	s->buf = buf;
	err = volume_read_blocks(vol, cx, pseg, nblocks, s->buf);
	if (err)
		return err;
	segsum_iter_init(&s->iter, &vol->geo, s->buf,
			 (size_t)nblocks << vol->geo.block_bits);
	return 0;
}

int summary_next(struct summary *s, struct context *cx,
		 struct segsum_block *b)
{
	if (segsum_iter_next(&s->iter, b))
		return 1;
	if (s->iter.verdict == RULE_OK ||
	    s->iter.verdict == RULE_LOG_SUMBYTES_UNUSED)
		return 0;
	return fail_broken(s, cx, s->iter.verdict);
}

void summary_files(const struct summary *s, char text[SUMMARY_FILES_MAX])
{
	const struct nilfs_geometry *geo = &s->vol->geo;
	const unsigned int most = 8;
	unsigned int named = 0;
	struct segsum_block b;
	struct segsum_iter it;
	size_t len = 0;

	text[0] = '\0';
	segsum_iter_init(&it, geo, s->buf,
			 (size_t)segsum_nsumblk(geo, (const void *)s->buf)
				 << geo->block_bits);
	while (named <= most && len <= SUMMARY_FILES_MAX - sizeof(" and more") &&
	       segsum_iter_next(&it, &b)) {
		if (b.file_block)
			continue;
		if (named++ == most)
			snprintf(text + len, SUMMARY_FILES_MAX - len,
				 " and more");
		else
			len += (size_t)snprintf(text + len,
						SUMMARY_FILES_MAX - len,
						"%s%llu",
						len ? ", " : "inodes ",
						(unsigned long long)b.ino);
	}
}

void summary_free(struct summary *s)
{
	free(s->buf);
	s->buf = NULL;
	s->capacity = 0;
}
