// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The structure that the passes of a check share, and the conversion of
 * failures to findings.
 *
 * The readers in lib/vol fail if a volume is broken, because their callers
 * cannot continue.  The checker can.
 */
#include "check/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/damage.h"
#include "check/logs/logindex.h"
#include "vol/sutable.h"

#define NOTE_MAX 512
#define VOLUME_MEMORY_MIN (1u << 20)

void check_note(const struct check *c, const char *fmt, ...)
{
	char text[NOTE_MAX];
	va_list ap;

	if (!c->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->note(c->note_arg, text);
}

int check_damage(struct findings *f, struct context *cx, int err, enum rule rule,
		 struct place place)
{
	if (damage_is(err))
		findings_failed(f, cx, err == -EIO ?
				RULE_DEV_UNREADABLE : rule, place);
	return damage_is(err) ? 0 : err;
}

int check_skip_unreadable(void *arg, struct context *cx, uint64_t blkoff)
{
	(void)arg;
	(void)blkoff;
	fail_clear(cx);
	return 0;
}

int check_open_again(const struct check *c, struct context *cx, unsigned int n,
		     struct volume **volp)
{
	struct context small;
	struct volume *vol;
	int err;

	context_child(cx, &small);
	small.max_memory = c->table_memory / n;
	if (small.max_memory < VOLUME_MEMORY_MIN)
		small.max_memory = VOLUME_MEMORY_MIN;
	err = volume_open_at(&vol, &small, c->dev, &c->vol->geo,
			     &c->vol->latest);
	if (err)
		context_adopt(cx, &small);
	else
		*volp = vol;
	return err;
}

void check_fini(struct check *c)
{
	size_t i;

	bitmap_fini(&c->used_segments);
	bitmap_fini(&c->broken_segments);
	bitmap_fini(&c->live_segments);
	bitmap_fini(&c->unclaimed_segments);
	logindex_close(c->logindex);
	c->logindex = NULL;
	vblocks_runs_fini(&c->datruns);
	sparse_fini(&c->claimed);
	sparse_fini(&c->claimed_twice);
	for (i = 0; i < CHECK_LISTED; i++)
		sparse_fini(&c->listed[i]);
	free(c->sums);
	c->sums = NULL;
	sparse_fini(&c->referenced);
	sparse_fini(&c->lingering);
	sparse_fini(&c->leaked);
	sparse_fini(&c->unmapped);
	free(c->cps);
	c->cps = NULL;
	free(c->snapshots);
	c->snapshots = NULL;
	volume_close(c->vol);
	c->vol = NULL;
}

bool check_knows_sufile(const struct check *c)
{
	const struct findings *f = c->findings;

	return !c->sufile_doubted && !findings_count(f, RULE_SU_UNREADABLE) &&
	       !(c->dat_broken && (findings_count(f, RULE_SU_NBLOCKS) ||
				   findings_count(f, RULE_SU_NCLEAN)));
}

/*
 * A block takes at most a bit in each of three sets: claimed by the DAT,
 * referred to by a file, visited in this checkpoint.  Inodes, which are fewer,
 * take a few bytes each.  That is little for most volumes, but much for a full
 * one of many terabytes, so the default follows the volume.  A budget that is
 * too high costs nothing, because the sets are only as large as their content;
 * everything else is limited by the table memory.
 */
uint64_t check_budget(uint64_t usual, uint64_t blocks, uint64_t memory)
{
	uint64_t more = blocks / 2;

	if (more > memory / 2)
		more = memory / 2;
	return more > UINT64_MAX - usual ? UINT64_MAX : usual + more;
}

void check_raise_budget(struct context *cx, struct volume *vol, uint64_t usual)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t segments = vol->geo.nsegments, clean = 0;
	struct nilfs_sufile_header header;

	if (cx->max_memory != usual || pages <= 0 || size <= 0)
		return;
	/* If the SUFILE cannot be read, all segments count as in use. */
	if (sutable_header(vol, cx, &header))
		fail_clear(cx);
	else
		clean = le64_get(header.sh_ncleansegs);
	if (clean < segments)
		segments -= clean;
	cx->max_memory = check_budget(usual, segments *
				      vol->geo.blocks_per_segment,
				      (uint64_t)pages * (uint64_t)size);
}
