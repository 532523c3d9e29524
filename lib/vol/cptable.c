// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checkpoints of a volume.
 *
 * Only blocks that exist are visited: deleting checkpoints leaves holes, and
 * a long-lived volume has far more of them than checkpoints.
 */
#include "vol/cptable.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/timefmt.h"
#include "disk/checkpoint.h"
#include "vol/volume.h"

int cptable_header(struct volume *vol, struct context *cx,
		   struct nilfs_cpfile_header *header)
{
	int ret = file_copy(&vol->cpfile, cx, 0, 0, header, sizeof(*header));

	if (!ret)
		return fail(cx, -EUCLEAN, "cpfile: has no header block");
	return ret < 0 ? ret : 0;
}

int cptable_read(struct volume *vol, struct context *cx, uint64_t cno,
		 struct nilfs_checkpoint *cp)
{
	int ret = 0;

	if (cno && cno <= vol->latest.cno)
		ret = file_copy(&vol->cpfile, cx,
				checkpoint_blkoff(&vol->geo, cno),
				checkpoint_offset(&vol->geo, cno), cp,
				sizeof(*cp));
	if (ret < 0)
		return ret;
	if (!ret || checkpoint_is_invalid(cp))
		return fail_said(cx, -ENOENT, "checkpoint %llu: does not exist",
				 (unsigned long long)cno);
	return 0;
}

int cptable_cursor_open(struct cptable_cursor *cur, struct context *cx,
			struct volume *vol)
{
	return cptable_cursor_open_at(cur, cx, vol, 1);
}

int cptable_cursor_open_at(struct cptable_cursor *cur, struct context *cx,
			   struct volume *vol, uint64_t cno)
{
	memset(cur, 0, sizeof(*cur));
	cur->vol = vol;
	cur->first = cno;
	return blockscan_open(&cur->scan, cx, &vol->cpfile,
			      checkpoint_blkoff(&vol->geo, cno));
}

int cptable_cursor_next(struct cptable_cursor *cur, struct context *cx,
			struct nilfs_checkpoint *cp)
{
	const struct nilfs_geometry *geo = &cur->vol->geo;
	int ret;

	for (;;) {
		if (!cur->scan.block) {
			ret = blockscan_next(&cur->scan, cx);
			if (ret <= 0)
				return ret;
			cur->cno = checkpoint_first(geo, cur->scan.blkoff);
			cur->block_end = cur->cno +
				checkpoint_count(geo, cur->scan.blkoff);
			if (cur->cno < cur->first)
				cur->cno = cur->first;
		}
		while (cur->cno < cur->block_end) {
			if (cur->cno > cur->vol->latest.cno)
				return 0;
			memcpy(cp, (const char *)cur->scan.block +
			       checkpoint_offset(geo, cur->cno), sizeof(*cp));
			cur->cno++;
			if (!checkpoint_is_invalid(cp))
				return 1;
		}
		blockscan_put(&cur->scan);
	}
}

void cptable_cursor_close(struct cptable_cursor *cur)
{
	blockscan_close(&cur->scan);
}

int cptable_list(struct volume *vol, struct context *cx, bool snapshots,
		 uint64_t **cnos, size_t *count)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	size_t capacity = 0;
	int ret;

	*cnos = NULL;
	*count = 0;
	ret = cptable_cursor_open(&cur, cx, vol);
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		ret = 0;
		if (snapshots && !checkpoint_is_snapshot(&cp))
			continue;
		ret = array_reserve(cx, cnos, &capacity, *count + 1);
		if (ret)
			break;
		(*cnos)[(*count)++] = cur.cno - 1;
	}
	cptable_cursor_close(&cur);
	if (ret) {
		free(*cnos);
		*cnos = NULL;
		*count = 0;
	}
	return ret;
}

int cptable_at(struct volume *vol, struct context *cx, int64_t time,
	       uint64_t *cno)
{
	char wanted[TIMEFMT_ISO_MAX], created[TIMEFMT_ISO_MAX];
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int64_t at, first = 0;
	uint64_t oldest = 0;
	int ret = cptable_cursor_open(&cur, cx, vol);

	*cno = 0;
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0) {
		ret = 0;
		at = (int64_t)le64_get(cp.cp_create);
		if (at <= time)
			*cno = cur.cno - 1;
		if (!oldest)
			first = at;
		oldest = oldest ? oldest : cur.cno - 1;
	}
	cptable_cursor_close(&cur);
	if (!ret && !*cno)
		ret = fail_said(cx, -ENOENT, "%s: there was no checkpoint yet; the "
				"oldest, %llu, is of %s", timefmt_iso(time, wanted),
				(unsigned long long)oldest,
				timefmt_iso(first, created));
	return ret;
}
