// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses of a repair, and their report.
 *
 * Losses are added in the order of checkpoints, files and offsets, so a range
 * grows at the end of the list and has one entry.
 *
 * An inode does not contain its name. So the tree of each state with losses is
 * walked once to find the paths of all its losses.
 */
#include "fsck/account/losslist.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/inoset.h"
#include "base/text.h"
#include "check/damage.h"
#include "vol/root.h"
#include "vol/tree.h"

/* Whether LOSS is a name in a directory. */
static bool is_loss_of_name(const struct loss *loss)
{
	return loss->kind == LOSS_NAME || loss->kind == LOSS_RENAMED;
}

/* Whether LOSS has more than one inode, and so has no path. */
static bool is_of_several(const struct loss *loss)
{
	return loss->last_ino > loss->ino;
}

/* Sets the paths of losses [FIRST, END) that exist in checkpoint CNO of VOL. */
static int search_state(struct losslist *l, struct context *cx, size_t first,
			size_t end, struct volume *vol, uint64_t cno)
{
	const struct tree_options how = {.recursive = true};
	struct inoset wanted = {.words = {.slots = NULL}};
	struct tree *tree = NULL;
	struct tree_item item;
	struct root root;
	struct loss *loss;
	size_t i;
	int ret = 0;

	for (i = first; i < end && ret >= 0; i++) {
		loss = &l->items[i];
		if (!loss->path && !is_of_several(loss))
			ret = inoset_add(&wanted, cx, is_loss_of_name(loss) ?
						      loss->dir : loss->ino);
	}
	if (ret >= 0 && wanted.words.used)
		ret = root_open(&root, cx, vol, cno);
	if (!ret && wanted.words.used)
		ret = tree_open(&tree, cx, &root, "/", &how);
	while (!ret && tree && (ret = tree_next(tree, cx, &item)) > 0) {
		fail_clear(cx);
		ret = 0;
		if (item.kind == TREE_LEAVE || !inoset_has(&wanted, item.ino))
			continue;
		for (i = first; i < end; i++) {
			loss = &l->items[i];
			if (loss->path || is_of_several(loss) ||
			    item.ino != (is_loss_of_name(loss) ? loss->dir : loss->ino))
				continue;
			if (!is_loss_of_name(loss))
				loss->path = strndup(item.path, item.path_len);
			else if (asprintf(&loss->path, "%s/%s",
					  item.path_len > 1 ? item.path : "",
					  loss->name) < 0)
				loss->path = NULL;
		}
	}
	tree_close(tree);
	inoset_fini(&wanted);
	return damage_forgive(cx, ret);
}

int losslist_find_paths(struct losslist *l, struct context *cx,
			struct volume *before, struct volume *after)
{
	const struct loss *first;
	size_t at, end;
	int err = 0;

	for (at = 0; at < l->n && !err; at = end) {
		/* The losses of one state. */
		first = &l->items[at];
		for (end = at; end < l->n &&
			       l->items[end].latest == first->latest &&
			       l->items[end].cno == first->cno &&
			       !l->items[end].ino == !first->ino; end++)
			;
		if (!first->ino)
			continue;
		err = search_state(l, cx, at, end, after,
				   first->latest ? 0 : first->cno);
		if (!err && before)
			err = search_state(l, cx, at, end, before, first->cno);
		if (err == -ENOMEM) {
			fail_clear(cx);
			err = 0;
		}
	}
	return err;
}

/* The number of lines printed unless all are requested. */
#define FEW_LINES 20u

/* The key of a kind, and the text about its inode or bytes. */
static const struct {
	const char *key, *fate;
} kinds[] = {
	[LOSS_ZERO] = {"zero", "are zero now"},
	[LOSS_STALE] = {"stale", "are of an older version now"},
	[LOSS_TRUNCATED] = {"truncated", "were cut off"},
	[LOSS_UNKNOWN] = {"unknown",
			  "could not be read: names in them may be lost"},
	[LOSS_SUSPECT] = {"suspect", "may have wrong content"},
	[LOSS_ATTRIBUTES] = {"attributes",
			     "attributes may have changed"},
	[LOSS_LINKS] = {"links", NULL},
	[LOSS_PERHAPS] = {"perhaps", "may have been a lost file"},
	[LOSS_REMOVED] = {"removed", "the file was removed"},
	[LOSS_NAME] = {"name", "the name was removed"},
	[LOSS_RENAMED] = {"renamed", "its former name was removed"},
	[LOSS_CHECKPOINT] = {"checkpoint", NULL},
	[LOSS_TIME] = {"time", NULL},
	[LOSS_MARK] = {"mark", NULL},
	[LOSS_MARKS] = {"marks", NULL},
	[LOSS_NEWER] = {"newer", NULL},
	[LOSS_SUPER] = {"superblock", NULL},
	[LOSS_SYNCED] = {"synced", NULL},
};

static bool is_range(const struct loss *loss)
{
	return loss->kind <= LOSS_SUSPECT;
}

void losslist_add(struct losslist *l, struct context *cx,
		  const struct loss *loss, const char *name, size_t len)
{
	struct loss *last = l->n ? &l->items[l->n - 1] : NULL;
	bool is_next = last && last->kind == loss->kind &&
		       last->latest == loss->latest;
	char *copy = NULL;

	if (is_next && loss->kind == LOSS_CHECKPOINT)
		is_next = !loss->snapshot && !last->snapshot &&
			  last->is_unsure == loss->is_unsure &&
			  last->last + 1 == loss->cno;
	else if (is_next && (loss->kind == LOSS_ATTRIBUTES ||
			     loss->kind == LOSS_PERHAPS))
		is_next = last->cno == loss->cno && last->from == loss->from &&
			  last->is_unsure == loss->is_unsure &&
			  last->last_ino + 1 == loss->ino;
	else
		is_next = is_next && is_range(loss) && last->cno == loss->cno &&
			  last->from == loss->from && last->ino == loss->ino &&
			  last->offset + last->length == loss->offset;
	if (is_next) {
		last->length += loss->length;
		last->last = loss->last;
		last->last_ino = loss->last_ino;
		return;
	}
	if (l->n >= LOSSLIST_MAX ||
	    array_reserve(cx, &l->items, &l->room, l->n + 1) ||
	    (name && !(copy = strndup(name, len)))) {
		fail_clear(cx);
		l->more++;
		return;
	}
	l->items[l->n] = *loss;
	l->items[l->n].name = copy;
	l->items[l->n++].path = NULL;
}

static void shorten_list(struct losslist *l, size_t n)
{
	while (l->n > n) {
		l->n--;
		free(l->items[l->n].name);
		free(l->items[l->n].path);
	}
}

void losslist_drop(struct losslist *l, size_t first)
{
	size_t i;

	for (i = first; i < l->n; i++)
		if (!l->items[i].is_open)
			return;
	if (!l->more)
		shorten_list(l, first);
}

void losslist_fini(struct losslist *l)
{
	shorten_list(l, 0);
	free(l->items);
	memset(l, 0, sizeof(*l));
}

uint64_t losslist_count(const struct losslist *l)
{
	return l->n + l->more;
}

#define PATH_SHOWN 768
#define WHOSE_MAX  (PATH_SHOWN + 128)

static void put_checkpoint(const struct loss *loss, struct report *r)
{
	const char *unsure = loss->is_unsure ? ": may have been deleted before" :
					       "";
	char time[VALUE_TEXT_MAX] = "";
	const char *of;

	if (loss->time)
		value_time_text(r->out, (int64_t)loss->time, time);
	of = time[0] ? " of " : "";
	if (loss->kind == LOSS_SYNCED)
		report_text(r,
			    "lost: latest state: data of fdatasync() in the "
			    "log at block %" PRIu64, loss->block);
	else if (loss->kind == LOSS_NEWER)
		report_text(r,
			    "lost: data written after checkpoint %" PRIu64
			    "%s%s, if any, and snapshot flags set since then",
			    loss->cno, of, time);
	else if (loss->kind == LOSS_SUPER)
		report_text(r, "lost: superblock: label, UUID and other "
			       "properties may have changed");
	else if (loss->kind == LOSS_MARKS)
		report_text(r,
			    "lost: snapshot flags set last, of checkpoints up "
			    "to %" PRIu64 ", if any",
			    loss->last);
	else if (loss->kind == LOSS_TIME)
		report_text(r,
			    "lost: checkpoint %" PRIu64 ": its time may have "
			    "changed, and is %s now", loss->cno, time);
	else if (loss->kind == LOSS_MARK)
		report_text(r,
			    "lost: checkpoint %" PRIu64 " is no longer a "
			    "snapshot", loss->cno);
	else if (loss->cno != loss->last)
		report_text(r, "lost: checkpoints %" PRIu64 " to %" PRIu64 "%s",
			    loss->cno, loss->last, unsure);
	else
		report_text(r, "lost: %s %" PRIu64 "%s%s%s",
			    loss->snapshot ? "snapshot" : "checkpoint",
			    loss->cno, of, time, unsure);
}

/* Prints a loss of "inode 12" or "inodes 12 to 27", with the path if known, or
   of a range of bytes. */
static void put_inode(const struct loss *loss, struct report *r)
{
	char whose[WHOSE_MAX], path[PATH_SHOWN], from[48] = "";
	const char *fate = kinds[loss->kind].fate;
	int n = snprintf(whose, WHOSE_MAX,
			 loss->latest ? "latest state: inode" :
					"snapshot %" PRIu64 ": inode",
			 loss->cno);

	if (loss->last_ino == UINT64_MAX)
		n += snprintf(whose + n, WHOSE_MAX - (size_t)n,
			      "s from %" PRIu64 " on", loss->ino);
	else if (is_of_several(loss))
		n += snprintf(whose + n, WHOSE_MAX - (size_t)n,
			      "s %" PRIu64 " to %" PRIu64, loss->ino,
			      loss->last_ino);
	else
		n += snprintf(whose + n, WHOSE_MAX - (size_t)n, " %" PRIu64,
			      loss->ino);
	if (loss->path) {
		text_escape(path, sizeof(path), loss->path,
			    strlen(loss->path));
		snprintf(whose + n, WHOSE_MAX - (size_t)n, ", %s", path);
	}
	if (loss->kind == LOSS_STALE && loss->from)
		snprintf(from, sizeof(from), ", of checkpoint %" PRIu64,
			 loss->from);
	if (is_range(loss))
		report_text(r,
			    "lost: %s: bytes %" PRIu64 " to %" PRIu64 " %s%s",
			    whose, loss->offset,
			    loss->offset + loss->length - 1, fate, from);
	else if (loss->kind == LOSS_ATTRIBUTES && loss->from)
		report_text(r,
			    "lost: %s: attributes are of checkpoint %" PRIu64
			    "%s", whose, loss->from,
			    loss->is_unsure ? ", and may have changed since" :
					      "");
	else if (loss->kind == LOSS_LINKS)
		report_text(r,
			    "lost: %s: the link count is %" PRIu64
			    ", and was %" PRIu64, whose, loss->length,
			    loss->offset);
	else if (loss->kind == LOSS_PERHAPS && is_of_several(loss))
		report_text(r, "lost: %s: may have been lost files",
			    whose);
	else
		report_text(r, "lost: %s: %s", whose, fate);
}

static void put_loss_number(struct report *r, const char *key, const char *label,
			    uint64_t number, bool present)
{
	report_value(r, VALUE_U64, key, label,
		     present ? value_u64(number) : value_absent());
}

void losslist_report(const struct losslist *l, struct report *r, bool all)
{
	size_t i, shown = all || l->n <= FEW_LINES ? l->n : FEW_LINES;
	const struct loss *loss;

	if (report_is_text(r)) {
		for (i = 0; i < shown; i++) {
			loss = &l->items[i];
			loss->ino ? put_inode(loss, r) :
				    put_checkpoint(loss, r);
		}
		if (shown < l->n)
			report_text(r,
				    "lost: %zu more, which -v and --json list",
				    l->n - shown);
		if (l->more)
			report_text(r,
				    "lost: %" PRIu64 " more, for which there "
				    "was no memory",
				    l->more);
		if (l->incomplete)
			report_text(r, "lost: perhaps more: the state before "
				       "the repair could not be compared "
				       "completely");
		else if (!losslist_count(l))
			report_text(r, "lost: nothing");
		return;
	}
	report_list(r, "losses");
	for (i = 0; i < l->n; i++) {
		loss = &l->items[i];
		report_begin(r, "loss", NULL);
		report_string(r, "kind", "Kind", kinds[loss->kind].key);
		report_u64(r, "checkpoint", "Checkpoint", loss->cno);
		put_loss_number(r, "last_checkpoint", "Last checkpoint", loss->last,
				loss->kind == LOSS_CHECKPOINT ||
					loss->kind == LOSS_MARKS);
		report_bool(r, "latest", "Latest", loss->latest);
		report_bool(r, "snapshot", "Snapshot", loss->snapshot);
		report_bool(r, "unsure", "Unsure", loss->is_unsure);
		put_loss_number(r, "inode", "Inode", loss->ino, loss->ino);
		put_loss_number(r, "last_inode", "Last inode", loss->last_ino,
				loss->last_ino && loss->last_ino != UINT64_MAX);
		report_string(r, "path", "Path", loss->path);
		put_loss_number(r, "block", "Block", loss->block, loss->block);
		put_loss_number(r, "offset", "Offset", loss->offset, is_range(loss));
		put_loss_number(r, "length", "Length", loss->length, is_range(loss));
		put_loss_number(r, "links_before", "Links before", loss->offset,
				loss->kind == LOSS_LINKS);
		put_loss_number(r, "links", "Links", loss->length,
				loss->kind == LOSS_LINKS);
		put_loss_number(r, "from_checkpoint", "From checkpoint", loss->from,
				loss->from);
		report_value(r, VALUE_TIME, "time", "Time", value_nonzero(loss->time));
		report_end(r);
	}
	report_end(r);
}
