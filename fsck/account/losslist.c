// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Losses of a repair, and how they are reported.
 *
 * Losses are added in the order of checkpoints, files and offsets, so a range
 * grows at the end of the list and one entry stands for all of it.
 *
 * Paths of inodes.
 *
 * An inode does not contain its name, so the directories of a state are read
 * from the root until all wanted inodes were found; once for each state with
 * losses.  Directories are in a table with the index of their parent, from
 * which paths are built.
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
#include "base/timefmt.h"
#include "check/damage.h"
#include "vol/dir.h"
#include "vol/root.h"

#define PATH_DEPTH_MAX 4096u

struct directory {
	uint64_t ino;
	size_t parent;
	char *name; /* NULL: the root */
};

/* Of one state. */
struct search {
	struct losslist *l;
	size_t first, end; /* losses */
	struct root root;
	struct inoset wanted; /* inodes */
	struct inoset seen;   /* directories */
	struct directory *dirs;
	size_t ndirs, dirs_room;
};

/* Whether LOSS is a name in a directory. */
static bool is_name(const struct loss *loss)
{
	return loss->kind == LOSS_NAME || loss->kind == LOSS_RENAMED;
}

/* Whether LOSS is of more than one inode, and so has no path. */
static bool is_of_several(const struct loss *loss)
{
	return loss->last_ino > loss->ino;
}

static char *join_path(const struct search *s, size_t dir, const char *name)
{
	size_t len = 2, depth = 0, i;
	char *path, *at;

	if (!name) {
		name = s->dirs[dir].name;
		dir = s->dirs[dir].parent;
	}
	len += name ? strlen(name) : 0;
	for (i = dir; s->dirs[i].name; i = s->dirs[i].parent) {
		len += strlen(s->dirs[i].name) + 1;
		if (++depth > PATH_DEPTH_MAX)
			return NULL;
	}
	path = malloc(len);
	if (!path)
		return NULL;
	at = path + len - 1;
	*at = '\0';
	for (i = dir; name; i = s->dirs[i].parent) {
		at -= strlen(name);
		memcpy(at, name, strlen(name));
		*--at = '/';
		name = s->dirs[i].name;
	}
	if (!*at)
		*--at = '/';
	memmove(path, at, strlen(at) + 1);
	return path;
}

/* INO is NAME in DIR, or with a NULL name DIR itself. */
static void set_paths(struct search *s, uint64_t ino, size_t dir,
		      const char *name)
{
	struct loss *loss = &s->l->items[s->first];
	size_t i;

	if (!inoset_has(&s->wanted, ino))
		return;
	for (i = s->first; i < s->end; i++, loss++) {
		if (loss->path || is_of_several(loss))
			continue;
		if (is_name(loss) && loss->dir == ino && !name)
			loss->path = join_path(s, dir, loss->name);
		else if (!is_name(loss) && loss->ino == ino)
			loss->path = join_path(s, dir, name);
	}
}

static int add_dir(struct search *s, struct context *cx, uint64_t ino,
		   size_t parent, const char *name)
{
	int ret = inoset_add(&s->seen, cx, ino);
	char *copy = NULL;

	if (ret <= 0)
		return ret;
	if (array_reserve(cx, &s->dirs, &s->dirs_room, s->ndirs + 1) ||
	    (name && !(copy = strdup(name))))
		return -ENOMEM;
	s->dirs[s->ndirs++] = (struct directory){ino, parent, copy};
	return 0;
}

/* Reads the directories of checkpoint CNO of VOL, if losses are without a
   path. */
static int search_state(struct search *s, struct context *cx,
			struct volume *vol, uint64_t cno)
{
	const struct loss *loss = &s->l->items[s->first];
	struct dir_entry entry;
	struct dir_cursor cur;
	struct file file;
	bool any = false;
	size_t i;
	int ret = 0;

	for (i = s->first; i < s->end && ret >= 0; i++, loss++) {
		if (loss->path || is_of_several(loss))
			continue;
		ret = inoset_add(&s->wanted, cx,
				 is_name(loss) ? loss->dir : loss->ino);
		any = true;
	}
	if (ret >= 0)
		ret = any ? root_open(&s->root, cx, vol, cno) : 0;
	if (any && !ret)
		ret = add_dir(s, cx, NILFS_ROOT_INO, 0, NULL);
	for (i = 0; i < s->ndirs && !ret; i++) {
		set_paths(s, s->dirs[i].ino, i, NULL);
		cur = (struct dir_cursor){.at_broken_block = false};
		ret = root_file(&s->root, cx, s->dirs[i].ino, &file);
		if (!ret)
			ret = dir_cursor_open(&cur, cx, &file);
		while (!ret &&
		       (ret = dir_cursor_next_sound(&cur, cx, &entry)) > 0) {
			ret = 0;
			if (dir_is_dots(&entry))
				continue;
			if (entry.type == NILFS_FT_DIR)
				ret = add_dir(s, cx, entry.ino, i, entry.name);
			else
				set_paths(s, entry.ino, i, entry.name);
		}
		dir_cursor_close(&cur);
		ret = damage_forgive(cx, ret);
		ret = ret ? ret : context_cancelled(cx);
	}
	while (s->ndirs)
		free(s->dirs[--s->ndirs].name);
	inoset_fini(&s->wanted);
	inoset_fini(&s->seen);
	return damage_forgive(cx, ret);
}

int losslist_find_paths(struct losslist *l, struct context *cx,
			struct volume *before, struct volume *after)
{
	struct search s = {.l = l};
	const struct loss *first, *last;
	int err = 0;

	for (; s.end < l->n && !err; s.first = s.end) {
		/* Those of one state. */
		first = last = &l->items[s.first];
		for (; s.end < l->n && last->latest == first->latest &&
		       last->cno == first->cno && !last->ino == !first->ino;
		     last++)
			s.end++;
		if (!first->ino)
			continue;
		err = search_state(&s, cx, after,
				   first->latest ? 0 : first->cno);
		if (!err && before)
			err = search_state(&s, cx, before, first->cno);
		if (err == -ENOMEM) {
			fail_clear(cx);
			err = 0;
		}
	}
	free(s.dirs);
	return err;
}

/* Lines of text that are printed unless all are wanted. */
#define FEW_LINES 20u

/* The key of a kind, and what became of an inode or bytes of it. */
static const struct {
	const char *key, *fate;
} kinds[] = {
	[LOSS_ZERO] = {"zero", "are zero now"},
	[LOSS_STALE] = {"stale", "are of an older version now"},
	[LOSS_TRUNCATED] = {"truncated", "were cut off"},
	[LOSS_UNKNOWN] = {"unknown",
			  "could not be read: names in them may be lost"},
	[LOSS_SUSPECT] = {"suspect", "may not be what was written"},
	[LOSS_ATTRIBUTES] = {"attributes",
			     "attributes may not be what they were"},
	[LOSS_LINKS] = {"links", NULL},
	[LOSS_PERHAPS] = {"perhaps", "may have been a file that is lost"},
	[LOSS_REMOVED] = {"removed", "the file was removed"},
	[LOSS_NAME] = {"name", "the name was removed"},
	[LOSS_RENAMED] = {"renamed", "the name that it had was removed"},
	[LOSS_CHECKPOINT] = {"checkpoint", NULL},
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

static bool continues(const struct loss *last, const struct loss *loss)
{
	if (last->kind != loss->kind || last->latest != loss->latest)
		return false;
	if (loss->kind == LOSS_CHECKPOINT)
		return !loss->snapshot && !last->snapshot &&
		       last->last + 1 == loss->cno;
	if (last->cno != loss->cno || last->from != loss->from ||
	    last->is_unsure != loss->is_unsure)
		return false;
	if (loss->kind == LOSS_ATTRIBUTES || loss->kind == LOSS_PERHAPS)
		return last->last_ino + 1 == loss->ino;
	return is_range(loss) && last->ino == loss->ino &&
	       last->offset + last->length == loss->offset;
}

void losslist_add(struct losslist *l, struct context *cx,
		  const struct loss *loss, const char *name, size_t len)
{
	struct loss *last = l->n ? &l->items[l->n - 1] : NULL;
	char *copy = NULL;

	if (last && continues(last, loss)) {
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

void losslist_drop(struct losslist *l, size_t first)
{
	size_t i;

	for (i = first; i < l->n; i++)
		if (!l->items[i].is_open)
			return;
	while (l->n > first && !l->more) {
		l->n--;
		free(l->items[l->n].name);
		free(l->items[l->n].path);
	}
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

uint64_t losslist_count(const struct losslist *l)
{
	return l->n + l->more;
}

#define WHAT_MAX 128
#define PATH_SHOWN 768
#define WHOSE_MAX  (PATH_SHOWN + 64)

static void put_checkpoint(const struct loss *loss, struct report *r)
{
	char time[TIMEFMT_ISO_MAX] = "";
	const char *of;

	if (loss->time)
		timefmt_iso((int64_t)loss->time, time);
	of = time[0] ? " of " : "";
	if (loss->kind == LOSS_SYNCED)
		report_text(r,
			    "lost: latest state: data of fdatasync() in the "
			    "log at block %" PRIu64, loss->block);
	else if (loss->kind == LOSS_NEWER)
		report_text(r,
			    "lost: what was written after checkpoint %" PRIu64
			    "%s%s, if anything, and marks of snapshots that "
			    "were set since then", loss->cno, of, time);
	else if (loss->kind == LOSS_SUPER)
		report_text(r, "lost: superblock: label, UUID and other "
			       "properties may not be what they were");
	else if (loss->kind == LOSS_MARKS)
		report_text(r,
			    "lost: marks of snapshots that were set last, of "
			    "checkpoints up to %" PRIu64 ", if any",
			    loss->last);
	else if (loss->kind == LOSS_MARK)
		report_text(r,
			    "lost: checkpoint %" PRIu64 " is no longer a "
			    "snapshot", loss->cno);
	else if (loss->cno != loss->last)
		report_text(r, "lost: checkpoints %" PRIu64 " to %" PRIu64,
			    loss->cno, loss->last);
	else
		report_text(r, "lost: %s %" PRIu64 "%s%s",
			    loss->snapshot ? "snapshot" : "checkpoint",
			    loss->cno, of, time);
}

/* What became of an inode, or of bytes of it. */
static void what_text(const struct loss *loss, char what[WHAT_MAX])
{
	const char *fate = kinds[loss->kind].fate;
	int n;

	if (is_range(loss)) {
		n = snprintf(what, WHAT_MAX,
			     "bytes %" PRIu64 " to %" PRIu64 " %s",
			     loss->offset, loss->offset + loss->length - 1,
			     fate);
		if (loss->kind == LOSS_STALE && loss->from)
			snprintf(what + n, WHAT_MAX - (size_t)n,
				 ", of checkpoint %" PRIu64, loss->from);
	} else if (loss->kind == LOSS_ATTRIBUTES && loss->from)
		snprintf(what, WHAT_MAX,
			 "attributes are of checkpoint %" PRIu64 "%s",
			 loss->from,
			 loss->is_unsure ? ", and may have changed since" : "");
	else if (loss->kind == LOSS_LINKS)
		snprintf(what, WHAT_MAX,
			 "the link count is %" PRIu64 ", and was %" PRIu64,
			 loss->length, loss->offset);
	else
		snprintf(what, WHAT_MAX, "%s",
			 loss->kind == LOSS_PERHAPS && is_of_several(loss) ?
				 "may have been files that are lost" : fate);
}

/* A loss of "inode 12" or "inodes 12 to 27", with the path where that is
   known. */
static void put_inode(const struct loss *loss, struct report *r)
{
	char state[64], what[WHAT_MAX], whose[WHOSE_MAX], path[PATH_SHOWN];
	int n;

	if (loss->last_ino == UINT64_MAX)
		n = snprintf(whose, WHOSE_MAX, "inodes from %" PRIu64 " on",
			     loss->ino);
	else if (is_of_several(loss))
		n = snprintf(whose, WHOSE_MAX, "inodes %" PRIu64 " to %" PRIu64,
			     loss->ino, loss->last_ino);
	else
		n = snprintf(whose, WHOSE_MAX, "inode %" PRIu64, loss->ino);
	if (loss->path) {
		text_escape(path, sizeof(path), loss->path,
			    strlen(loss->path));
		snprintf(whose + n, WHOSE_MAX - (size_t)n, ", %s", path);
	}
	snprintf(state, sizeof(state),
		 loss->latest ? "latest state" : "snapshot %" PRIu64,
		 loss->cno);
	what_text(loss, what);
	report_text(r, "lost: %s: %s: %s", state, whose, what);
}

static void put_number(struct report *r, const char *key, const char *label,
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
			report_text(r, "lost: perhaps more: not all of what "
				       "was there before the repair could be "
				       "compared");
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
		put_number(r, "last_checkpoint", "Last checkpoint", loss->last,
			   loss->kind == LOSS_CHECKPOINT ||
				   loss->kind == LOSS_MARKS);
		report_value(r, VALUE_BOOL, "latest", "Latest",
			     value_bool(loss->latest));
		report_value(r, VALUE_BOOL, "snapshot", "Snapshot",
			     value_bool(loss->snapshot));
		put_number(r, "inode", "Inode", loss->ino, loss->ino);
		put_number(r, "last_inode", "Last inode", loss->last_ino,
			   loss->last_ino && loss->last_ino != UINT64_MAX);
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
			     loss->time ? value_u64(loss->time) :
					  value_absent());
		report_end(r);
	}
	report_end(r);
}
