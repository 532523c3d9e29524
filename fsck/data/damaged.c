// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The blocks of files in what a check found to be damaged.
 *
 * If a flipped bit explains the checksum of a log, only the block of that bit is
 * damaged. Otherwise any block of the log may be the damaged one. The lifetime of a
 * block in the DAT is the range of checkpoints that have it. Metadata files are left
 * out, because other passes read and report them.
 */
#include "fsck/data/damaged.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/damage.h"
#include "check/logs/listings.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/summary.h"
#include "vol/translate.h"

#define LEAST_BLOCK 1024

int damaged_init(struct damaged_places *p, struct context *cx, struct dev *dev)
{
	return sparse_init(&p->logs, cx, dev->size / LEAST_BLOCK) ?:
	       sparse_init(&p->flips, cx, dev->size / LEAST_BLOCK) ?:
	       sparse_init(&p->blocks, cx, dev->size / LEAST_BLOCK);
}

void damaged_note(struct damaged_places *p, const struct finding *f)
{
	bool flipped = f->place.kind == PLACE_BLOCK &&
		       (f->rule == RULE_LOG_BIT || f->rule == RULE_LOG_DATA_BIT ||
			f->rule == RULE_LOG_TAIL_BIT);
	bool is_block = flipped || (f->place.kind == PLACE_BLOCK &&
				    f->rule == RULE_DEV_UNREADABLE);
	struct context quiet = { .threads = 1 };

	if (is_block || f->rule == RULE_LOG_DATASUM ||
	    f->rule == RULE_LOG_DATASUM_DEAD)
		p->incomplete |= sparse_add(is_block ? &p->blocks : &p->logs,
					    &quiet, f->place.number) < 0;
	if (flipped)
		p->incomplete |= sparse_add(&p->flips, &quiet, f->place.number) < 0;
}

void damaged_fini(struct damaged_places *p)
{
	sparse_fini(&p->logs);
	sparse_fini(&p->blocks);
	sparse_fini(&p->flips);
}

/* Adds block BLOCKNR of the device, which a log lists as B, in the checkpoints that
   have it. A FLIPPED one is proven. */
static int add_block(struct damaged *d, struct context *cx, uint64_t blocknr,
		     const struct segsum_block *b, bool proven, bool flipped)
{
	struct damaged_run *last = d->nruns ? &d->runs[d->nruns - 1] : NULL;
	struct damaged_run run = {
		.ino = b->ino, .proven = proven, .flipped = flipped,
		.is_node = b->is_node,
		.first = b->is_node ? 0 : b->blkoff,
		.last = b->is_node ? 0 : b->blkoff,
	};
	struct nilfs_dat_entry de;
	int err;

	if (!b->is_virtual || inode_is_metadata(b->ino))
		return 0;
	err = translate_entry(d->vol, cx, b->vblocknr, &de);
	d->incomplete |= err && err != -ENOENT;
	if (err)
		return damage_forgive(cx, err);
	if (le64_get(de.de_blocknr) != blocknr)
		return 0;
	run.from = search_lower_bound(d->cnos, d->ncnos, le64_get(de.de_start));
	run.end = search_lower_bound(d->cnos, d->ncnos, le64_get(de.de_end));
	if (run.from >= run.end)
		return 0;
	if (last && last->ino == run.ino && last->from == run.from &&
	    last->end == run.end && last->proven == proven &&
	    last->flipped == flipped &&
	    last->is_node == run.is_node &&
	    (run.is_node || last->last + 1 == run.first)) {
		last->last = run.last;
		return 0;
	}
	return array_push(cx, &d->runs, &d->nruns, &d->runs_room, run);
}

/* Adds the blocks of the log at PSEG: those of P, or, without any, all. */
static int add_log(struct damaged *d, struct context *cx, uint64_t pseg,
		   const struct damaged_places *p)
{
	const struct nilfs_geometry *geo = &d->vol->geo;
	struct nilfs_segment_summary ss;
	struct summary s = { .vol = NULL };
	struct segsum_block b;
	uint64_t end;
	int ret = dev_read(d->vol->dev, cx, pseg << geo->block_bits, &ss,
			   sizeof(ss));

	if (!ret && segsum_check(geo, &ss, pseg) != RULE_OK)
		ret = fail(cx, -EUCLEAN, "log");
	end = ret ? 0 : pseg + le32_get(ss.ss_nblocks);
	if (!ret && sparse_next(&p->blocks, pseg, end) < end)
		return 0;
	if (!ret)
		ret = summary_read(&s, cx, d->vol, pseg, &ss);
	while (!ret && (ret = summary_next(&s, cx, &b)) > 0)
		ret = add_block(d, cx, pseg + b.index, &b, false, false);
	summary_free(&s);
	d->incomplete |= ret < 0;
	return damage_forgive(cx, ret);
}

/* By inode; then the newest checkpoints first, and blocks ascending. */
static int compare_runs(const void *a, const void *b)
{
	const struct damaged_run *x = a, *y = b;

	return sort_order(x->ino, y->ino) ?: sort_order(y->end, x->end) ?:
	       sort_order(y->from, x->from) ?: sort_order(x->first, y->first) ?:
	       sort_order(x->last, y->last);
}

static int gather(struct damaged *d, struct context *cx,
		  const struct damaged_places *p)
{
	const uint64_t end = d->vol->geo.nblocks < p->blocks.bits ?
			     d->vol->geo.nblocks : p->blocks.bits;
	struct segsum_block b;
	uint64_t at;
	size_t i, n = 0;
	int ret = 0;

	for (at = sparse_next(&p->blocks, 0, end); at < end && ret >= 0;
	     at = sparse_next(&p->blocks, at + 1, end)) {
		ret = listings_find_block(cx, d->c, at, &b);
		if (ret > 0)
			ret = add_block(d, cx, at, &b, true,
					sparse_test(&p->flips, at));
	}
	for (at = sparse_next(&p->logs, 0, end); at < end && ret >= 0;
	     at = sparse_next(&p->logs, at + 1, end))
		ret = add_log(d, cx, at, p) ?: context_cancelled(cx);
	if (ret < 0)
		return ret;
	sort_in_place(d->runs, d->nruns, sizeof(*d->runs), compare_runs);
	for (i = 0; i < d->nruns; i = n) {
		for (n = i; n < d->nruns && d->runs[n].ino == d->runs[i].ino; n++)
			;
		if (d->nfiles == DAMAGED_FILES_MAX) {
			d->more++;
			continue;
		}
		ret = array_push(cx, &d->files, &d->nfiles, &d->files_room,
				   (struct damaged_file){
					.ino = d->runs[i].ino,
					.run = i, .runs_end = n, .next = i,
					.end = d->ncnos, .least = d->ncnos,
					.names = { .ino = d->runs[i].ino },
				   });
		if (ret)
			return ret;
	}
	return 0;
}

static void free_files(struct damaged_file *files, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		while (files[i].nstates)
			free(files[i].states[--files[i].nstates].path);
		free(files[i].states);
		free(files[i].whole_path);
		filenames_fini(&files[i].names);
	}
	free(files);
}

int damaged_report(const struct damaged_places *p, struct tool *tool,
		   const struct check *c, bool all)
{
	struct damaged d = {
		.c = c, .vol = c->vol, .tool = tool, .incomplete = p->incomplete,
	};
	struct context *cx = &tool->cx;
	int err = 0;

	d.any = p->incomplete || sparse_count(&p->logs) || sparse_count(&p->blocks);
	/* Without the listings of the logs no block has an owner. */
	if (d.vol && c->logindex && !c->dat_broken) {
		err = cptable_list(d.vol, cx, false, &d.cnos, &d.ncnos) ?:
		      cptable_list(d.vol, cx, true, &d.snapshots,
				   &d.nsnapshots) ?:
		      gather(&d, cx, p);
		if (!err && d.nfiles)
			err = damagednames_find(&d, cx);
	} else {
		d.incomplete = true;
	}
	d.incomplete |= damage_is(err) || err == -ENOMEM;
	if (err != -EINTR) {
		fail_clear(cx);
		err = 0;
		damagedprint_report(&d, &tool->report, all ? SIZE_MAX :
						       FINDINGS_SHOWN);
	}
	free_files(d.files, d.nfiles);
	free_files(d.former, d.nformer);
	free(d.runs);
	free(d.snapshots);
	free(d.cnos);
	return err;
}
