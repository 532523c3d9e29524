// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Deferred files.
 *
 * A file that fits into a segment is not split at the end of the segment.  If it
 * does not fit into the rest of the segment it waits, and later, smaller files fill
 * the rest.  Once the segment is full, or too many files wait, a new segment begins
 * with the waiting files, in their order of arrival.  Two kinds of files are split
 * and never wait: files larger than a segment, and files without which a large rest
 * of the segment would stay unused.
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

static int place_file(struct context *cx, struct writer *w, uint64_t ino,
		      const struct nilfs_inode *inode,
		      const struct newfile_run *runs, size_t nruns,
		      struct payload *payload)
{
	struct nilfs_inode placed = *inode;
	int err = newfile_place(w, cx, ino, &placed, runs, nruns, payload);

	return err ? err : inodes_write(w, cx, ino, &placed);
}

/*
 * Places waiting files that fit, the earliest first.  With FIRST, the file that has
 * waited longest is placed whether it fits or not.
 */
static int place_waiting(struct deferred *d, struct context *cx,
			 struct writer *w, bool first)
{
	struct deferred_file *file;
	uint64_t room;
	size_t i, j;
	int err = 0;

	for (; d->n && !err; first = false) {
		room = newfile_room(w);
		if (!first && room && room < d->least)
			break;
		for (i = 0; !first && i < d->n; i++)
			if (newfile_fits(w, d->files[i]->nblocks))
				break;
		if (i == d->n)
			break;
		file = d->files[i];
		d->n--;
		memmove(&d->files[i], &d->files[i + 1],
			(d->n - i) * sizeof(d->files[0]));
		d->least = UINT64_MAX;
		for (j = 0; j < d->n; j++)
			if (d->files[j]->nblocks < d->least)
				d->least = d->files[j]->nblocks;
		err = place_file(cx, w, file->ino, &file->inode, file->runs,
				 file->nruns, file->payload);
		free(file);
	}
	return err;
}

/*
 * Begins a new segment with the file that has waited longest.  The rest of the
 * current segment stays unused, unless that file is split to fill it.
 */
static int begin_segment(struct deferred *d, struct context *cx,
			 struct writer *w)
{
	int err = newfile_skip_wastes(w) ? 0 : newfile_skip(w, cx);

	return err ? err : place_waiting(d, cx, w, true);
}

int deferred_place(struct deferred *d, struct context *cx, struct writer *w,
		   uint64_t ino, const struct nilfs_inode *inode,
		   const struct newfile_run *runs, size_t nruns,
		   struct payload *payload, bool later)
{
	struct deferred_file *file;
	uint64_t nblocks = 0;
	size_t i;
	int err;

	for (i = 0; i < nruns; i++)
		nblocks += runs[i].count;
	err = place_waiting(d, cx, w, false);
	if (!err && !newfile_fits(w, nblocks)) {
		if (!later)
			err = newfile_skip_wastes(w) ? 0 : newfile_skip(w, cx);
		else if (d->n == DEFERRED_MAX)
			err = begin_segment(d, cx, w);
	}
	if (!err && (!later || newfile_fits(w, nblocks)))
		return place_file(cx, w, ino, inode, runs, nruns, payload);
	file = err ? NULL : malloc(sizeof(*file) + nruns * sizeof(*runs));
	if (!file) {
		payload_put(payload);
		return err ? err : fail(cx, -ENOMEM, "deferred file");
	}
	*file = (struct deferred_file){
		.ino = ino,
		.inode = *inode,
		.payload = payload,
		.nblocks = nblocks,
		.nruns = nruns,
	};
	memcpy(file->runs, runs, nruns * sizeof(*runs));
	if (!d->n || nblocks < d->least)
		d->least = nblocks;
	d->files[d->n++] = file;
	return 0;
}

int deferred_finish(struct deferred *d, struct context *cx, struct writer *w)
{
	int err = place_waiting(d, cx, w, false);

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
