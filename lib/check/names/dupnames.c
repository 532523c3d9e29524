// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Duplicate names of a directory.
 *
 * While a directory is read, a set stores the hash tags of its names.  A tag
 * that occurs twice is a suspect: its directory is read again, and the names
 * with that tag are compared.  A directory too large for the set is read
 * several times, for a part of its names each, so that memory is bounded.  A
 * million names need one reading.
 *
 * Most directories are small: the set starts at a kilobyte and doubles.  The
 * slot of a tag follows from the tag.  Names can be chosen so that all tags
 * collide, so a set in which a search gets long counts as full.
 *
 * The number of suspects per directory is limited.  Their names are stored in
 * lists, one per tag, in one array.  Two names rarely share a tag; for names
 * made to collide, the list is limited.
 */
#include "check/names/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"

#define SLOTS_MIN 256u
#define STEPS_MAX 512u
#define SUSPECTS_MAX 1024u
#define NAMES_MAX 16u	/* limit of names kept for a tag */

/* Makes room for N cleared slots in *SLOTS. */
static int dupnames_make_room(struct context *cx, uint32_t **slots,
			      size_t *room, size_t n)
{
	if (*room < n) {
		free(*slots);
		*room = 0;
		*slots = malloc(n * sizeof(**slots));
		if (!*slots)
			return fail(cx, -ENOMEM, "table of names");
		*room = n;
	}
	memset(*slots, 0, n * sizeof(**slots));
	return 0;
}

int dupnames_clear_set(struct nameset *set, struct context *cx)
{
	set->used = 0;
	set->nslots = SLOTS_MIN;
	return dupnames_make_room(cx, &set->slots, &set->room, SLOTS_MIN);
}

/* The slot of TAG, or the free slot for it; NULL after a long search. */
static uint32_t *dupnames_find_slot(uint32_t *slots, size_t nslots,
				    uint32_t tag)
{
	size_t i = tag & (nslots - 1);
	unsigned int steps = STEPS_MAX;

	while (slots[i] && slots[i] != tag) {
		if (!--steps)
			return NULL;
		i = (i + 1) & (nslots - 1);
	}
	return &slots[i];
}

int dupnames_add_tag(struct nameset *set, struct context *cx, uint32_t tag)
{
	uint32_t *slot, *slots;
	size_t i, room, nslots = 2 * set->nslots;
	int err;

	if (set->used >= set->nslots / 2) {
		if (nslots > cx->max_memory / 4 / sizeof(*slot))
			return -ENOBUFS;
		err = dupnames_make_room(cx, &set->spare, &set->spare_room,
					 nslots);
		if (err)
			return err;
		for (i = 0; i < set->nslots; i++) {
			if (!set->slots[i])
				continue;
			slot = dupnames_find_slot(set->spare, nslots,
						  set->slots[i]);
			if (!slot)
				return -ENOBUFS;
			*slot = set->slots[i];
		}
		slots = set->slots;
		room = set->room;
		set->slots = set->spare;
		set->room = set->spare_room;
		set->nslots = nslots;
		set->spare = slots;
		set->spare_room = room;
	}
	slot = dupnames_find_slot(set->slots, set->nslots, tag);
	if (!slot)
		return -ENOBUFS;
	if (*slot)
		return 0;
	*slot = tag;
	set->used++;
	return 1;
}

bool dupnames_has_tag(const struct nameset *set, uint32_t tag)
{
	const uint32_t *slot = dupnames_find_slot(set->slots, set->nslots, tag);

	return slot && *slot;
}

void dupnames_free_set(struct nameset *set)
{
	free(set->slots);
	free(set->spare);
	*set = (struct nameset){ .slots = NULL };
}

struct keptname {
	uint64_t ino;
	uint32_t next; /* index + 1 */
	uint8_t len;
	char name[NILFS_NAME_LEN];
};

int dupnames_remember(struct keptnames *k, struct context *cx,
		       struct dupnames_suspect *s,
		       const struct dirent_entry *entry, uint64_t *ino)
{
	struct keptname *name;
	unsigned int n = 0;
	uint32_t i;

	for (i = s->kept; i && n < NAMES_MAX; i = name->next, n++) {
		name = &k->names[i - 1];
		if (name->len != entry->name_len ||
		    memcmp(name->name, entry->name, name->len))
			continue;
		*ino = name->ino;
		return 1;
	}
	if (i)
		return 0;
	if (array_push(cx, &k->names, &k->count, &k->room, (struct keptname){
			.ino = entry->ino, .next = s->kept,
			.len = entry->name_len }))
		return -ENOMEM;
	name = &k->names[k->count - 1];
	memcpy(name->name, entry->name, entry->name_len);
	s->kept = (uint32_t)k->count;
	return 0;
}

void dupnames_forget(struct keptnames *k)
{
	free(k->names);
	*k = (struct keptnames){ .names = NULL };
}

/* State while directories are read again. */
struct again {
	struct names *n;
	uint64_t ino;
	uint32_t dir;
	uint32_t part, nparts; /* 0 parts: compare the names of suspects */
	struct dupnames_suspect *suspects;
	size_t nsuspects;
	struct keptnames kept;
};

int dupnames_begin(struct dupnames *d, struct context *cx, uint32_t dir)
{
	d->dir = dir;
	d->names = 0;
	d->full = false;
	return dupnames_clear_set(&d->set, cx);
}

int dupnames_add(struct dupnames *d, struct context *cx,
		 const struct dirent_entry *entry)
{
	uint32_t tag = dupnames_tag(entry->name, entry->name_len);
	int ret;

	d->names++;
	if (d->full)
		return 0;
	ret = dupnames_add_tag(&d->set, cx, tag);
	d->full = ret == -ENOBUFS;
	if (d->full)
		return 0;
	/* A tag that is in the set is a suspect. */
	if (ret || d->nsuspects >= SUSPECTS_MAX)
		return ret < 0 ? ret : 0;
	return array_push(cx, &d->suspects, &d->nsuspects, &d->suspects_room,
			  (struct dupnames_suspect){ d->dir, tag, 0 });
}

int dupnames_end(struct dupnames *d, struct context *cx)
{
	return !d->full ? 0 :
		array_push(cx, &d->bigs, &d->nbigs, &d->bigs_room,
			   (struct dupnames_big){ d->dir, d->names });
}

static bool is_suspect_below(const void *item, const void *key)
{
	const struct dupnames_suspect *suspect = item;

	return suspect->tag < *(const uint32_t *)key;
}

struct dupnames_suspect *dupnames_find(struct dupnames_suspect *suspects,
				       size_t n, uint32_t tag)
{
	size_t i = search_first(suspects, n, sizeof(*suspects),
				is_suspect_below, &tag);

	return i < n && suspects[i].tag == tag ? &suspects[i] : NULL;
}

static int dupnames_take_block(void *arg, struct context *cx,
			       const struct blockbatch_item *item,
			       const void *data, int err)
{
	struct again *a = arg;
	struct dupnames_suspect *s;
	struct dirent_entry e;
	struct dirent_iter it;
	uint64_t ino;
	uint32_t tag;

	if (!data) {
		fail_clear(cx);
		return err == -EINTR ? err : 0;
	}
	err = 0;
	dirent_iter_init(&it, data, a->n->root.vol->geo.block_size);
	while (err >= 0 && dirent_iter_next(&it, &e)) {
		if (!e.ino)
			continue;
		tag = dupnames_tag(e.name, e.name_len);
		if (a->nparts) {
			if ((uint64_t)tag * a->nparts >> 32 == a->part)
				err = dupnames_add(&a->n->dups, cx, &e);
			continue;
		}
		s = dupnames_find(a->suspects, a->nsuspects, tag);
		err = s ? dupnames_remember(&a->kept, cx, s, &e, &ino) : 0;
		if (err > 0)
			names_report(a->n, &(struct finding){
				.rule = RULE_DIR_DUPLICATE,
				.place = names_place(a->n, a->ino, item->blkoff,
						     e.offset),
			}, item->vblocknr << 16 ^ e.offset);
	}
	return err < 0 ? err : 0;
}

static int read_again(struct again *a, struct context *cx)
{
	struct blockbatch batch;
	struct inodelist_blocks blocks;
	int err;

	a->ino = a->n->list.dirs[a->dir].ino;
	err = blockbatch_open(&batch, cx, a->n->root.vol, dupnames_take_block,
			      a) ?:
	      inodelist_add_blocks(&a->n->root, cx, &a->n->list, a->dir,
				   false, &batch, &blocks) ?:
	      blockbatch_flush(&batch, cx);
	blockbatch_close(&batch);
	return err;
}

static int compare_suspect(const void *a, const void *b)
{
	const struct dupnames_suspect *x = a, *y = b;

	return sort_order(x->dir, y->dir) ?: sort_order(x->tag, y->tag);
}

int dupnames_gather(struct names *n, struct context *cx)
{
	struct dupnames *d = &n->dups;
	size_t i;
	int err = 0;

	for (i = 0; i < d->nbigs && !err; i++) {
		struct again a = { .n = n, .dir = d->bigs[i].dir };
		/* The names of a part fit the set, with a margin. */
		uint64_t parts = d->bigs[i].names /
				 (cx->max_memory / 128 + 1) + 1;

		a.nparts = parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
		for (; a.part < a.nparts && !err; a.part++)
			err = dupnames_begin(d, cx, a.dir) ?:
			      read_again(&a, cx);
	}
	d->nbigs = 0;
	sort_in_place(d->suspects, d->nsuspects, sizeof(*d->suspects),
		      compare_suspect);
	return err;
}

int dupnames_settle(struct names *n, struct context *cx)
{
	struct dupnames *d = &n->dups;
	size_t i;
	int err = dupnames_gather(n, cx);

	for (i = 0; i < d->nsuspects && !err;) {
		struct again a = {
			.n = n,
			.dir = d->suspects[i].dir,
			.suspects = &d->suspects[i],
		};

		for (; i < d->nsuspects && d->suspects[i].dir == a.dir; i++)
			a.nsuspects++;
		err = read_again(&a, cx);
		dupnames_forget(&a.kept);
	}
	d->nsuspects = 0;
	return err;
}

void dupnames_fini(struct dupnames *d)
{
	dupnames_free_set(&d->set);
	free(d->suspects);
	free(d->bigs);
}
