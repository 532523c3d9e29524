// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses of a repair, and how they are reported.
 *
 * Losses are added in the order of checkpoints, files and offsets, so a range
 * grows at the end of the list and one entry stands for all of it.
 */
#include "fsck/account/losslist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/timefmt.h"

/* Lines of text that are printed unless all are wanted. */
#define FEW_LINES 20u

static const char *const kind_keys[] = {
	[LOSS_ZERO] = "zero",		[LOSS_STALE] = "stale",
	[LOSS_TRUNCATED] = "truncated", [LOSS_UNKNOWN] = "unknown",
	[LOSS_SUSPECT] = "suspect",	[LOSS_ATTRIBUTES] = "attributes",
	[LOSS_LINKS] = "links",		[LOSS_REMOVED] = "removed",
	[LOSS_NAME] = "name",		[LOSS_RENAMED] = "renamed",
	[LOSS_CHECKPOINT] = "checkpoint",
	[LOSS_MARK] = "mark",		[LOSS_MARKS] = "marks",
	[LOSS_SYNCED] = "synced",
};

static bool is_range(const struct loss *loss)
{
	return loss->kind <= LOSS_SUSPECT;
}

static bool continues(const struct loss *last, const struct loss *loss)
{
	if (last->kind != loss->kind || last->latest != loss->latest)
		return false;
	if (loss->kind == LOSS_CHECKPOINT)
		return !loss->snapshot && !last->snapshot &&
		       last->last + 1 == loss->cno;
	if (last->cno != loss->cno || last->from != loss->from)
		return false;
	if (loss->kind == LOSS_ATTRIBUTES)
		return last->last_ino + 1 == loss->ino;
	return is_range(loss) && last->ino == loss->ino &&
	       last->offset + last->length == loss->offset;
}

static void extend(struct loss *last, const struct loss *loss)
{
	last->length += loss->length;
	last->last = loss->last;
	last->last_ino = loss->last_ino;
}

static struct loss *grow(struct losslist *l, struct context *cx)
{
	struct loss *items;

	if (l->n >= LOSSLIST_MOST)
		return NULL;
	items = array_grow(cx, l->items, &l->room, l->n + 1, sizeof(*items));
	if (!items) {
		fail_clear(cx);
		return NULL;
	}
	l->items = items;
	return &items[l->n];
}

void losslist_add(struct losslist *l, struct context *cx,
		  const struct loss *loss, const char *name, size_t len)
{
	struct loss *to;
	char *copy = NULL;

	if (l->n && continues(&l->items[l->n - 1], loss)) {
		extend(&l->items[l->n - 1], loss);
		return;
	}
	to = grow(l, cx);
	if (to && name)
		copy = strndup(name, len);
	if (!to || (name && !copy)) {
		l->more++;
		return;
	}
	*to = *loss;
	to->name = copy;
	to->path = NULL;
	l->n++;
}

void losslist_fini(struct losslist *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		free(l->items[i].name);
		free(l->items[i].path);
	}
	free(l->items);
	memset(l, 0, sizeof(*l));
}

bool losslist_is_name(const struct loss *loss)
{
	return loss->kind == LOSS_NAME || loss->kind == LOSS_RENAMED;
}

bool losslist_is_of_several(const struct loss *loss)
{
	return loss->last_ino > loss->ino;
}

uint64_t losslist_count(const struct losslist *l)
{
	return l->n + l->more;
}

#define WHAT_MAX 128
#define PATH_SHOWN 768
#define WHOSE_MAX  (PATH_SHOWN + 64)

static void checkpoint_text(const struct loss *loss, char what[WHAT_MAX])
{
	char time[TIMEFMT_ISO_MAX] = "";

	if (loss->time)
		timefmt_iso((int64_t)loss->time, time);
	if (loss->kind == LOSS_SYNCED)
		snprintf(what, WHAT_MAX, "latest state: data of fdatasync() in "
			 "the log at block %" PRIu64, loss->block);
	else if (loss->kind == LOSS_MARKS)
		snprintf(what, WHAT_MAX,
			 "marks of snapshots that were set "
			 "last, of checkpoints up to %" PRIu64 ", if any",
			 loss->last);
	else if (loss->kind == LOSS_MARK)
		snprintf(what, WHAT_MAX,
			 "checkpoint %" PRIu64 " is no longer a snapshot",
			 loss->cno);
	else if (loss->cno != loss->last)
		snprintf(what, WHAT_MAX, "checkpoints %" PRIu64 " to %" PRIu64,
			 loss->cno, loss->last);
	else
		snprintf(what, WHAT_MAX, "%s %" PRIu64 "%s%s",
			 loss->snapshot ? "snapshot" : "checkpoint", loss->cno,
			 time[0] ? " of " : "", time);
}

static void range_text(const struct loss *loss, char what[WHAT_MAX])
{
	static const char *const fates[] = {
		[LOSS_ZERO] = "are zero now",
		[LOSS_STALE] = "are of an older version now",
		[LOSS_TRUNCATED] = "were cut off",
		[LOSS_UNKNOWN] = "could not be read, and are not as they were",
		[LOSS_SUSPECT] = "may not be what was written",
	};
	int n = snprintf(what, WHAT_MAX, "bytes %" PRIu64 " to %" PRIu64 " %s",
			 loss->offset, loss->offset + loss->length - 1,
			 fates[loss->kind]);

	if (loss->kind == LOSS_STALE && loss->from)
		snprintf(what + n, WHAT_MAX - (size_t)n,
			 ", of checkpoint %" PRIu64, loss->from);
}

static void what_text(const struct loss *loss, char what[WHAT_MAX])
{
	if (is_range(loss))
		range_text(loss, what);
	else if (loss->kind == LOSS_ATTRIBUTES && loss->from)
		snprintf(what, WHAT_MAX,
			 "attributes are of checkpoint %" PRIu64, loss->from);
	else if (loss->kind == LOSS_ATTRIBUTES)
		snprintf(what, WHAT_MAX, "attributes may not be what they "
					 "were");
	else if (loss->kind == LOSS_LINKS)
		snprintf(what, WHAT_MAX,
			 "the link count is %" PRIu64 ", and was %" PRIu64,
			 loss->length, loss->offset);
	else
		snprintf(what, WHAT_MAX, "the %s was removed",
			 loss->kind == LOSS_NAME      ? "name"
			 : loss->kind == LOSS_RENAMED ? "name that it had"
						      : "file");
}

/* "inode 12" or "inodes 12 to 27", with the path where that is known. */
static void whose_text(const struct loss *loss, char whose[WHOSE_MAX])
{
	char path[PATH_SHOWN];
	int n;

	if (losslist_is_of_several(loss))
		n = snprintf(whose, WHOSE_MAX, "inodes %" PRIu64 " to %" PRIu64,
			     loss->ino, loss->last_ino);
	else
		n = snprintf(whose, WHOSE_MAX, "inode %" PRIu64, loss->ino);
	if (!loss->path)
		return;
	text_escape(path, sizeof(path), loss->path, strlen(loss->path));
	snprintf(whose + n, WHOSE_MAX - (size_t)n, ", %s", path);
}

static void put_line(const struct loss *loss, struct report *r)
{
	char state[64], what[WHAT_MAX], whose[WHOSE_MAX];

	if (!loss->ino) {
		checkpoint_text(loss, what);
		report_text(r, "lost: %s", what);
		return;
	}
	snprintf(state, sizeof(state),
		 loss->latest ? "latest state" : "snapshot %" PRIu64,
		 loss->cno);
	what_text(loss, what);
	whose_text(loss, whose);
	report_text(r, "lost: %s: %s: %s", state, whose, what);
}

static void put_text(const struct losslist *l, struct report *r, bool all)
{
	size_t i, shown;

	if (!losslist_count(l) && !l->incomplete) {
		report_text(r, "lost: nothing");
		return;
	}
	shown = all || l->n <= FEW_LINES ? l->n : FEW_LINES;
	for (i = 0; i < shown; i++)
		put_line(&l->items[i], r);
	if (shown < l->n)
		report_text(r, "lost: %zu more, which -v and --json list",
			    l->n - shown);
	if (l->more)
		report_text(r,
			    "lost: %" PRIu64 " more, for which there was "
			    "no memory",
			    l->more);
	if (l->incomplete)
		report_text(r, "lost: perhaps more: not all of what was there "
			       "before the repair could be compared");
}

static void put_number(struct report *r, const char *key, const char *label,
		       uint64_t number, bool present)
{
	report_value(r, VALUE_U64, key, label,
		     present ? value_u64(number) : value_absent());
}

static void put_section(const struct loss *loss, struct report *r)
{
	report_begin(r, "loss", NULL);
	report_string(r, "kind", "Kind", kind_keys[loss->kind]);
	report_u64(r, "checkpoint", "Checkpoint", loss->cno);
	put_number(r, "last_checkpoint", "Last checkpoint", loss->last,
		   loss->kind == LOSS_CHECKPOINT || loss->kind == LOSS_MARKS);
	report_value(r, VALUE_BOOL, "latest", "Latest",
		     value_bool(loss->latest));
	report_value(r, VALUE_BOOL, "snapshot", "Snapshot",
		     value_bool(loss->snapshot));
	put_number(r, "inode", "Inode", loss->ino, loss->ino);
	put_number(r, "last_inode", "Last inode", loss->last_ino,
		   loss->last_ino);
	report_string(r, "path", "Path", loss->path);
	put_number(r, "block", "Block", loss->block, loss->block);
	put_number(r, "offset", "Offset", loss->offset, is_range(loss));
	put_number(r, "length", "Length", loss->length, is_range(loss));
	put_number(r, "links_before", "Links before", loss->offset,
		   loss->kind == LOSS_LINKS);
	put_number(r, "links", "Links", loss->length,
		   loss->kind == LOSS_LINKS);
	put_number(r, "from_checkpoint", "From checkpoint", loss->from,
		   loss->from);
	report_value(r, VALUE_TIME, "time", "Time",
		     loss->time ? value_u64(loss->time) : value_absent());
	report_end(r);
}

void losslist_report(const struct losslist *l, struct report *r, bool all)
{
	size_t i;

	if (report_is_text(r)) {
		put_text(l, r, all);
		return;
	}
	report_list(r, "losses");
	for (i = 0; i < l->n; i++)
		put_section(&l->items[i], r);
	report_end(r);
}
