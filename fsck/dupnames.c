// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that a directory has twice.
 *
 * While directories are read a set keeps the tags of one of them.  A tag that
 * is met twice makes its directory a suspect, hardly ever without a reason;
 * suspects are read once more, and names of suspected tags compared.  Of a
 * directory that is too large for the set the names are looked at in parts, a
 * reading for each, so that memory has a bound and a million names need one
 * reading.
 *
 * A directory full of suspects is as broken as one with a thousand of them:
 * past that many none are remembered, nor are many names of one tag.
 */
#include "fsck/dupnames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sort.h"
#include "fsck/dirread.h"
#include "fsck/names.h"

#define SUSPECTS_MAX 1024u
#define KEPT_MAX 16u /* names of one tag */

/* A name that others of its tag are compared with. */
struct kept {
	uint32_t next; /* index + 1 */
	uint8_t len;
	char name[NILFS_NAME_LEN];
};

/* A directory read again. */
struct again {
	struct names *n;
	uint64_t ino;
	uint32_t dir;
	uint32_t part, nparts; /* 0 parts: the names of suspects */
	struct dupnames_suspect *suspects;
	size_t nsuspects;
	struct kept *kept;
	size_t nkept, kept_room;
};

static int suspect(struct dupnames *d, struct context *cx, uint32_t dir,
		   uint32_t tag)
{
	struct dupnames_suspect *s;

	if (d->nsuspects >= SUSPECTS_MAX)
		return 0;
	s = array_grow(cx, d->suspects, &d->suspects_room, d->nsuspects + 1,
		       sizeof(*s));
	if (!s)
		return -ENOMEM;
	d->suspects = s;
	s[d->nsuspects++] = (struct dupnames_suspect){ dir, tag, 0 };
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
	return ret ? ret < 0 ? ret : 0 : suspect(d, cx, dir, tag);
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

int dupnames_end(struct dupnames *d, struct context *cx)
{
	struct dupnames_big *bigs;

	if (!d->full)
		return 0;
	bigs = array_grow(cx, d->bigs, &d->bigs_room, d->nbigs + 1,
			  sizeof(*bigs));
	if (!bigs)
		return -ENOMEM;
	d->bigs = bigs;
	bigs[d->nbigs++] = (struct dupnames_big){ d->dir, d->names };
	return 0;
}

static bool is_kept(const struct dirent_entry *e, const struct kept *k)
{
	return k->len == e->name_len && !memcmp(k->name, e->name, k->len);
}

static void tell(struct again *a, const struct blockbatch_item *item,
		 uint32_t offset)
{
	names_tell(a->n, &(struct finding){
		.rule = RULE_DIR_DUPLICATE,
		.place = place_name(a->n->root.cno, a->ino, item->blkoff,
				    offset),
	}, item->vblocknr << 16 ^ offset);
}

/* A name of suspect S: one of those kept, or one to keep. */
static int compare(struct again *a, struct context *cx,
		   struct dupnames_suspect *s, const struct dirent_entry *e,
		   const struct blockbatch_item *item)
{
	struct kept *kept;
	unsigned int n = 0;
	uint32_t i;

	for (i = s->kept; i && n < KEPT_MAX; i = a->kept[i - 1].next, n++) {
		if (!is_kept(e, &a->kept[i - 1]))
			continue;
		tell(a, item, e->offset);
		return 0;
	}
	if (i)
		return 0;
	kept = array_grow(cx, a->kept, &a->kept_room, a->nkept + 1,
			  sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	a->kept = kept;
	kept[a->nkept].next = s->kept;
	kept[a->nkept].len = e->name_len;
	memcpy(kept[a->nkept].name, e->name, e->name_len);
	s->kept = (uint32_t)++a->nkept;
	return 0;
}

static struct dupnames_suspect *find_suspect(const struct again *a,
					     uint32_t tag)
{
	size_t low = 0, high = a->nsuspects;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->suspects[middle].tag < tag)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->nsuspects && a->suspects[low].tag == tag ?
		       &a->suspects[low] :
		       NULL;
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
	s = find_suspect(a, tag);
	return s ? compare(a, cx, s, e, item) : 0;
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

static int order(const void *a, const void *b)
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
	free(a.kept);
	return err;
}

int dupnames_settle(struct names *n, struct context *cx)
{
	struct dupnames *d = &n->dups;
	size_t i, count;
	int err = 0;

	for (i = 0; i < d->nbigs && !err; i++)
		err = look_for_suspects(n, cx, &d->bigs[i]);
	sort_in_place(d->suspects, d->nsuspects, sizeof(*d->suspects), order);
	for (i = 0; i < d->nsuspects && !err; i += count)
		err = settle_dir(n, cx, i, &count);
	d->nbigs = d->nsuspects = 0;
	return err;
}

void dupnames_fini(struct dupnames *d)
{
	nameset_fini(&d->set);
	free(d->suspects);
	free(d->bigs);
}
