// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report of damaged files: a line or a section for each byte range, the latest
 * state first; then for each file where a whole version is.
 */
#include "fsck/data/damaged.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"

#define PATH_SHOWN 768
#define WHEN_MAX   160

/* The number of snapshots among the checkpoints [FROM, END) of the list. */
static size_t count_snapshots(const struct damaged *d, size_t from, size_t end)
{
	return search_lower_bound(d->snapshots, d->nsnapshots,
				  d->cnos[end - 1] + 1) -
	       search_lower_bound(d->snapshots, d->nsnapshots, d->cnos[from]);
}

static bool is_latest(const struct damaged *d, size_t at)
{
	return d->cnos[at] == d->vol->latest.cno;
}

/* "in the latest state and checkpoints 3 to 9, of which 2 are snapshots" */
static void format_when(const struct damaged *d, size_t from, size_t end,
			char text[WHEN_MAX])
{
	const bool latest = is_latest(d, end - 1);
	const size_t older = latest ? end - 1 : end;
	size_t snapshots = from < older ? count_snapshots(d, from, older) : 0;
	const bool one = from + 1 == older;
	int n = snprintf(text, WHEN_MAX, latest ? "in the latest state%s" : "in%s",
			 latest && from < older ? " and" : "");

	if (from < older)
		n += snprintf(text + n, WHEN_MAX - (size_t)n, " %s%s %" PRIu64,
			      one && snapshots ? "snapshot" : "checkpoint",
			      one ? "" : "s", d->cnos[from]);
	if (from < older && !one)
		n += snprintf(text + n, WHEN_MAX - (size_t)n, " to %" PRIu64,
			      d->cnos[older - 1]);
	if (snapshots && !one)
		snprintf(text + n, WHEN_MAX - (size_t)n, ", of which %zu %s",
			 snapshots, snapshots == 1 ? "is a snapshot" :
						     "are snapshots");
}

/* The path, or the inode number without one. */
static void format_name(uint64_t ino, const char *path, char text[PATH_SHOWN])
{
	if (path)
		text_escape(text, PATH_SHOWN, path, strlen(path));
	else
		snprintf(text, PATH_SHOWN, "inode %" PRIu64, ino);
}

/* Prints RUN in the checkpoints [FROM, END), in which its file is in state S. */
static void print_run(const struct damaged *d, struct report *r,
		      const struct damaged_run *run,
		      const struct damaged_state *s, size_t from, size_t end)
{
	const uint32_t bits = d->vol->geo.block_bits;
	uint64_t first = run->is_node ? 0 : run->first << bits;
	uint64_t limit = run->is_node ? s->size : (run->last + 1) << bits;
	char when[WHEN_MAX], name[PATH_SHOWN];

	if (s->size > first && s->size < limit)
		limit = s->size;
	format_when(d, from, end, when);
	format_name(run->ino, s->path, name);
	if (report_is_text(r) && run->is_node)
		report_text(r, "%s: %s: its block map, and so any byte, %s",
			    run->proven ? "damaged" : "perhaps damaged", name, when);
	else if (report_is_text(r))
		report_text(r, "%s: %s: bytes %" PRIu64 " to %" PRIu64 ", %s",
			    run->proven ? "damaged" : "perhaps damaged", name,
			    first, limit - 1, when);
	if (report_is_text(r))
		return;
	report_begin(r, "file", NULL);
	report_string(r, "path", "Path", s->path);
	report_u64(r, "inode", "Inode", run->ino);
	report_bool(r, "proven", "Proven", run->proven);
	report_bool(r, "map", "Map", run->is_node);
	report_u64(r, "offset", "Offset", first);
	report_u64(r, "length", "Length", limit - first);
	report_bool(r, "latest", "Latest", is_latest(d, end - 1));
	report_u64(r, "last_checkpoint", "Last checkpoint", d->cnos[end - 1]);
	report_u64(r, "checkpoint", "Checkpoint", d->cnos[from]);
	report_u64(r, "checkpoints", "Checkpoints", end - from);
	report_u64(r, "snapshots", "Snapshots", count_snapshots(d, from, end));
	report_end(r);
}

/* Prints the ranges of F while fewer than MOST were printed; *N counts them all. */
static void print_file(const struct damaged *d, struct report *r,
		       const struct damaged_file *f, size_t most, size_t *n)
{
	size_t i, k, from, end;

	for (i = f->run; i < f->runs_end; i++) {
		const struct damaged_run *run = &d->runs[i];

		for (k = 0; k < f->nstates; k++) {
			const struct damaged_state *s = &f->states[k];

			if (s->end <= run->from)
				break;
			from = run->from > s->from ? run->from : s->from;
			end = run->end < s->end ? run->end : s->end;
			if (from < end && (*n)++ < most)
				print_run(d, r, run, s, from, end);
		}
	}
}

/* Prints where a whole version of F is, if it was named before. */
static void print_whole(const struct damaged *d, struct report *r,
			const struct damaged_file *f)
{
	const char *path = f->nstates ? f->states[0].path : NULL;
	char name[PATH_SHOWN], there[PATH_SHOWN];
	uint64_t cno = f->has_whole ? d->cnos[f->whole] : 0;
	bool latest = f->has_whole && is_latest(d, f->whole);
	size_t i;
	bool flipped = f->run < f->runs_end;
	const bool moved = f->has_whole && f->whole_path && path &&
			   strcmp(f->whole_path, path);

	for (i = f->run; i < f->runs_end; i++)
		flipped &= d->runs[i].flipped;
	format_name(f->ino, path, name);
	format_name(f->ino, f->whole_path, there);
	if (report_is_text(r) && flipped)
		report_text(r, "restore: %s: only bits are flipped, which the "
			    "checksums of logs prove: fsck.nilfs2 -y --data "
			    "corrects them", name);
	if (report_is_text(r) && !f->has_whole && !flipped)
		report_text(r, "restore: %s: no checkpoint has a whole copy", name);
	else if (report_is_text(r) && f->has_whole)
		report_text(r, "restore: %s%s%s as of %s %" PRIu64 "%s is whole",
			    name, moved ? ": its version " : "",
			    moved ? there : "",
			    count_snapshots(d, f->whole, f->whole + 1) ?
				    "snapshot" : "checkpoint",
			    cno, latest ? ", the latest state," : "");
	if (report_is_text(r))
		return;
	report_begin(r, "file", NULL);
	report_string(r, "path", "Path", path);
	report_u64(r, "inode", "Inode", f->ino);
	report_value(r, VALUE_U64, "checkpoint", "Checkpoint", value_nonzero(cno));
	report_string(r, "path_then", "Path then", f->whole_path);
	report_bool(r, "latest", "Latest", latest);
	report_bool(r, "snapshot", "Snapshot", f->has_whole &&
		    count_snapshots(d, f->whole, f->whole + 1));
	report_bool(r, "flipped", "Flipped", flipped);
	report_end(r);
}

void damagedprint_report(const struct damaged *d, struct report *r, size_t most)
{
	const struct damaged_file *lists[] = { d->files, d->former };
	const size_t counts[] = { d->nfiles, d->nformer };
	size_t n = 0, files = 0, i, k;

	if (!report_is_text(r)) {
		report_begin(r, "data", NULL);
		report_bool(r, "complete", "Complete", !d->incomplete);
		report_u64(r, "more", "More", d->more);
		report_list(r, "damaged");
	}
	for (i = 0; i < 2; i++)
		for (k = 0; k < counts[i]; k++)
			print_file(d, r, &lists[i][k], most, &n);
	if (!report_is_text(r)) {
		report_end(r);
		report_list(r, "restore");
	} else if (n > most) {
		report_text(r, "damaged: %zu more, which --all shows", n - most);
	}
	for (i = 0; i < 2; i++)
		for (k = 0; k < counts[i]; k++)
			if (lists[i][k].nstates && files++ < most)
				print_whole(d, r, &lists[i][k]);
	if (!report_is_text(r)) {
		report_end(r);
		report_end(r);
		return;
	}
	if (files > most)
		report_text(r, "restore: %zu more files, which --all shows",
			    files - most);
	if (d->more)
		report_text(r, "damaged: %" PRIu64 " more files, for which there "
			    "was no memory", d->more);
	if (d->incomplete && d->any)
		report_text(r, "damaged: perhaps more: not everything could be "
			    "read");
}
