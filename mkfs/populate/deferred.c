// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deferred files.
 *
 * A file that fits into a segment is not split at its end.  If it does not fit
 * into the rest of the segment it waits, and smaller ones that come after it
 * fill the rest.  Once the segment is full, or too many wait, a new segment
 * begins with those that wait, in the order in which they came.  A file larger
 * than a segment is split anyway and never waits; and so is one where nothing
 * else could use the rest of the segment, and much would stay unused.
 *
 * The order depends on sizes only, never on time.
 */
#include "mkfs/populate/deferred.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/inodes.h"

struct deferred_file {
	uint64_t ino;
	struct nilfs_inode inode;
	struct payload *payload;
	uint64_t nblocks;
	size_t nruns;
	struct newfile_run runs[];
};

static uint64_t count_blocks(const struct newfile_run *runs, size_t nruns)
{
	uint64_t nblocks = 0;
	size_t i;

	for (i = 0; i < nruns; i++)
		nblocks += runs[i].count;
	return nblocks;
}

static int place_file(struct context *cx, struct writer *w, uint64_t ino,
		      const struct nilfs_inode *inode,
		      const struct newfile_run *runs, size_t nruns,
		      struct payload *payload)
{
	struct nilfs_inode placed = *inode;
	int err;

	err = newfile_place(w, cx, ino, &placed, runs, nruns, payload);
	if (err)
		return err;
	return inodes_write(w, cx, ino, &placed);
}

static int put_off(struct deferred *d, struct context *cx, uint64_t ino,
		   const struct nilfs_inode *inode,
		   const struct newfile_run *runs, size_t nruns,
		   struct payload *payload)
{
	struct deferred_file *file;

	file = malloc(sizeof(*file) + nruns * sizeof(*runs));
	if (!file) {
		payload_put(payload);
		return fail(cx, -ENOMEM, "file put off");
	}
	file->ino = ino;
	file->inode = *inode;
	file->payload = payload;
	file->nblocks = count_blocks(runs, nruns);
	file->nruns = nruns;
	memcpy(file->runs, runs, nruns * sizeof(*runs));
	if (!d->n || file->nblocks < d->least)
		d->least = file->nblocks;
	d->files[d->n++] = file;
	return 0;
}

static void take_out(struct deferred *d, size_t i)
{
	d->n--;
	memmove(&d->files[i], &d->files[i + 1],
		(d->n - i) * sizeof(d->files[0]));
	d->least = UINT64_MAX;
	for (i = 0; i < d->n; i++)
		if (d->files[i]->nblocks < d->least)
			d->least = d->files[i]->nblocks;
}

/* The first file that fits, or `n`. */
static size_t find_fitting(const struct deferred *d, const struct writer *w)
{
	uint64_t room = newfile_room(w);
	size_t i;

	if (room && room < d->least)
		return d->n;
	for (i = 0; i < d->n; i++)
		if (newfile_fits(w, d->files[i]->nblocks))
			break;
	return i;
}

static int place_waiting(struct deferred *d, struct context *cx,
			 struct writer *w, size_t i)
{
	struct deferred_file *file = d->files[i];
	int err;

	take_out(d, i);
	err = place_file(cx, w, file->ino, &file->inode, file->runs,
			 file->nruns, file->payload);
	free(file);
	return err;
}

static int place_fitting(struct deferred *d, struct context *cx,
			 struct writer *w)
{
	size_t i;
	int err;

	while (d->n) {
		i = find_fitting(d, w);
		if (i == d->n)
			break;
		err = place_waiting(d, cx, w, i);
		if (err)
			return err;
	}
	return 0;
}

/* Leaves the rest of the segment, unless the next file is split for it. */
static int skip_rest(struct context *cx, struct writer *w)
{
	return newfile_skip_wastes(w) ? 0 : newfile_skip(w, cx);
}

/* Begins a new segment with the one that has waited longest. */
static int begin_segment(struct deferred *d, struct context *cx,
			 struct writer *w)
{
	int err;

	err = skip_rest(cx, w);
	if (!err && d->n)
		err = place_waiting(d, cx, w, 0);
	if (!err)
		err = place_fitting(d, cx, w);
	return err;
}

/* Makes room for one more: a new segment, if it must be. */
static int make_room(struct deferred *d, struct context *cx,
		     struct writer *w, uint64_t nblocks, bool later)
{
	int err;

	err = place_fitting(d, cx, w);
	if (err || newfile_fits(w, nblocks))
		return err;
	if (!later)
		return skip_rest(cx, w);
	return d->n < DEFERRED_MAX ? 0 : begin_segment(d, cx, w);
}

int deferred_place(struct deferred *d, struct context *cx, struct writer *w,
		   uint64_t ino, const struct nilfs_inode *inode,
		   const struct newfile_run *runs, size_t nruns,
		   struct payload *payload, bool later)
{
	uint64_t nblocks = count_blocks(runs, nruns);
	int err;

	err = make_room(d, cx, w, nblocks, later);
	if (err) {
		payload_put(payload);
		return err;
	}
	if (!later || newfile_fits(w, nblocks))
		return place_file(cx, w, ino, inode, runs, nruns, payload);
	return put_off(d, cx, ino, inode, runs, nruns, payload);
}

int deferred_finish(struct deferred *d, struct context *cx, struct writer *w)
{
	int err;

	err = place_fitting(d, cx, w);
	while (!err && d->n)
		err = begin_segment(d, cx, w);
	return err;
}

void deferred_fini(struct deferred *d)
{
	size_t i;

	for (i = 0; i < d->n; i++) {
		payload_put(d->files[i]->payload);
		free(d->files[i]);
	}
	d->n = 0;
}
