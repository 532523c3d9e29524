// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Duplicate names of a directory.
 *
 * While directories are read a set keeps the hash tags of one of them.  A tag
 * that occurs twice makes its directory a suspect; suspects are read again, and
 * names with suspected tags compared.  A directory too large for the set is
 * read several times, for a part of its names each, so that memory is bounded
 * and a million names need one reading.
 *
 * The number of suspects remembered for a directory is limited.
 */
#include "check/names/dupnames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "check/names/dirread.h"
#include "check/names/keptnames.h"
#include "check/names/names.h"

#define SUSPECTS_MAX 1024u

/* A directory read again. */
struct again {
	struct names *n;
	uint64_t ino;
	uint32_t dir;
	uint32_t part, nparts; /* 0 parts: the names of suspects */
	struct dupnames_suspect *suspects;
	size_t nsuspects;
	struct keptnames kept;
};

static int suspect_name(struct dupnames *d, struct context *cx, uint32_t dir,
			uint32_t tag)
{
	if (d->nsuspects >= SUSPECTS_MAX)
		return 0;
	if (array_reserve(cx, &d->suspects, &d->suspects_room,
			  d->nsuspects + 1))
		return -ENOMEM;
	d->suspects[d->nsuspects++] = (struct dupnames_suspect){ dir, tag, 0 };
	return 0;
}

static int add_tag(struct dupnames *d, struct context *cx, uint32_t dir,
		   uint32_t tag)
{
	int ret;

	if (d->full)
		return 0;
	ret = nameset_add(&d->set, cx, tag);
	d->full = ret == -ENOBUFS;
	if (d->full)
		return 0;
	return ret ? ret < 0 ? ret : 0 : suspect_name(d, cx, dir, tag);
}

int dupnames_begin(struct dupnames *d, struct context *cx, uint32_t dir)
{
	d->dir = dir;
	d->names = 0;
	d->full = false;
	return nameset_clear(&d->set, cx);
}

int dupnames_add(struct dupnames *d, struct context *cx,
		 const struct dirent_entry *entry)
{
	d->names++;
	return add_tag(d, cx, d->dir,
		       nameset_tag(entry->name, entry->name_len));
}

void dupnames_reread(struct dupnames *d)
{
	d->full = true;
}

int dupnames_end(struct dupnames *d, struct context *cx)
{
	if (!d->full)
		return 0;
	if (array_reserve(cx, &d->bigs, &d->bigs_room, d->nbigs + 1))
		return -ENOMEM;
	d->bigs[d->nbigs++] = (struct dupnames_big){ d->dir, d->names };
	return 0;
}

static void report_second(struct again *a, const struct blockbatch_item *item,
			  uint32_t offset)
{
	names_report(a->n, &(struct finding){
		.rule = RULE_DIR_DUPLICATE,
		.place = place_name(a->n->root.cno, a->ino, item->blkoff,
				    offset),
	}, item->vblocknr << 16 ^ offset);
}

static bool is_below(const void *item, const void *key)
{
	const struct dupnames_suspect *suspect = item;

	return suspect->tag < *(const uint32_t *)key;
}

struct dupnames_suspect *dupnames_find(struct dupnames_suspect *suspects,
				       size_t n, uint32_t tag)
{
	size_t i = search_first(suspects, n, sizeof(*suspects), is_below, &tag);

	return i < n && suspects[i].tag == tag ? &suspects[i] : NULL;
}

/* A name of suspect S. */
static int compare_names(struct again *a, struct context *cx,
			 struct dupnames_suspect *s,
			 const struct dirent_entry *e,
			 const struct blockbatch_item *item)
{
	uint64_t ino;
	int ret = keptnames_meet(&a->kept, cx, s, e, &ino);

	if (ret > 0)
		report_second(a, item, e->offset);
	return ret < 0 ? ret : 0;
}

static int take_name(struct again *a, struct context *cx,
		     const struct dirent_entry *e,
		     const struct blockbatch_item *item)
{
	uint32_t tag = nameset_tag(e->name, e->name_len);
	struct dupnames_suspect *s;

	if (a->nparts) {
		if ((uint64_t)tag * a->nparts >> 32 != a->part)
			return 0;
		return add_tag(&a->n->dups, cx, a->dir, tag);
	}
	s = dupnames_find(a->suspects, a->nsuspects, tag);
	return s ? compare_names(a, cx, s, e, item) : 0;
}

static int take_block(void *arg, struct context *cx,
		      const struct blockbatch_item *item, const void *data,
		      int err)
{
	struct again *a = arg;
	struct dirent_entry e;
	struct dirent_iter it;

	if (!data) {
		fail_clear(cx);
		return err == -EINTR ? err : 0;
	}
	err = 0;
	dirent_iter_init(&it, data, a->n->root.vol->geo.block_size);
	while (!err && dirent_iter_next(&it, &e))
		if (e.ino)
			err = take_name(a, cx, &e, item);
	return err;
}

static int read_again(struct again *a, struct context *cx)
{
	struct blockbatch batch;
	struct dirread blocks;
	int err;

	a->ino = a->n->list.dirs[a->dir].ino;
	err = blockbatch_open(&batch, cx, a->n->root.vol, take_block, a);
	if (!err)
		err = dirread_add(&a->n->root, cx, &a->n->list, a->dir,
				    &batch, &blocks);
	if (!err)
		err = blockbatch_flush(&batch, cx);
	blockbatch_close(&batch);
	return err;
}

/* Parts of so few names that the set holds each, with room for chance. */
static uint32_t parts_of(const struct context *cx, uint64_t names)
{
	uint64_t parts = names / (cx->max_memory / 128 + 1) + 1;

	return parts < UINT32_MAX ? (uint32_t)parts : UINT32_MAX;
}

static int look_for_suspects(struct names *n, struct context *cx,
			     const struct dupnames_big *big)
{
	struct again a = {
		.n = n,
		.dir = big->dir,
		.nparts = parts_of(cx, big->names),
	};
	int err = 0;

	for (; a.part < a.nparts && !err; a.part++) {
		err = dupnames_begin(&n->dups, cx, big->dir);
		if (!err)
			err = read_again(&a, cx);
	}
	return err;
}

static int compare_suspect(const void *a, const void *b)
{
	const struct dupnames_suspect *x = a, *y = b;

	if (x->dir != y->dir)
		return x->dir < y->dir ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

/* Compares the names of the suspects from I on of one directory, *COUNT. */
static int settle_dir(struct names *n, struct context *cx, size_t i,
		      size_t *count)
{
	struct dupnames *d = &n->dups;
	struct again a = {
		.n = n,
		.dir = d->suspects[i].dir,
		.suspects = &d->suspects[i],
	};
	int err;

	while (i + a.nsuspects < d->nsuspects &&
	       a.suspects[a.nsuspects].dir == a.dir)
		a.nsuspects++;
	*count = a.nsuspects;
	err = read_again(&a, cx);
	keptnames_fini(&a.kept);
	return err;
}

int dupnames_gather(struct names *n, struct context *cx)
{
	struct dupnames *d = &n->dups;
	size_t i;
	int err = 0;

	for (i = 0; i < d->nbigs && !err; i++)
		err = look_for_suspects(n, cx, &d->bigs[i]);
	d->nbigs = 0;
	sort_in_place(d->suspects, d->nsuspects, sizeof(*d->suspects),
		      compare_suspect);
	return err;
}

int dupnames_settle(struct names *n, struct context *cx)
{
	struct dupnames *d = &n->dups;
	size_t i, count;
	int err = dupnames_gather(n, cx);

	for (i = 0; i < d->nsuspects && !err; i += count)
		err = settle_dir(n, cx, i, &count);
	d->nsuspects = 0;
	return err;
}

void dupnames_fini(struct dupnames *d)
{
	nameset_fini(&d->set);
	free(d->suspects);
	free(d->bigs);
}
