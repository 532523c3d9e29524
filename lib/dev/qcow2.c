// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Images in the format qcow2.
 *
 * The format is that of QEMU's docs/interop/qcow2.rst.  The disk is divided into
 * clusters.  A table of two levels contains the place of each cluster in the file; a
 * cluster without an entry reads as zeros.  Entries of level 1 refer to tables of
 * level 2, of one cluster each.  All numbers are big-endian.
 *
 * When an image is created, clusters are allocated in the order in which they are
 * first written.  A few tables of level 2 are in memory; the others are written to
 * their places.  Every cluster of the file has one user, so the reference counts are
 * written at the end.
 */
#include "config.h"

#include "dev/qcow2.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/checked.h"

#define MAGIC 0x514649fbu
#define HEADER_BYTES 104u
#define REFCOUNT_ORDER 4u		/* 16 bits each */
#define LEAST_BITS 14u
#define MOST_BITS 21u
#define L1_MAX (UINT64_C(32) << 20)	/* bytes; QCOW_MAX_L1_SIZE */
#define L1_USUAL (UINT64_C(4) << 20)	/* of a created image */
#define OFFSET_MASK UINT64_C(0x00fffffffffffe00)
#define COPIED (UINT64_C(1) << 63)	/* one reference */
#define COMPRESSED (UINT64_C(1) << 62)
#define READS_ZERO UINT64_C(1)
#define TABLES 16u			/* of level 2 in memory */

struct header {
	uint32_t magic, version;
	uint64_t backing_offset;
	uint32_t backing_size, cluster_bits;
	uint64_t size;
	uint32_t crypt, l1_size;
	uint64_t l1_offset, refcount_offset;
	uint32_t refcount_clusters, nb_snapshots;
	uint64_t snapshots_offset;
	uint64_t incompatible, compatible, autoclear;
	uint32_t refcount_order, header_length;
	uint64_t extensions;		/* none */
};

struct table {
	uint64_t number;		/* in level 1 */
	bool used, dirty;
	uint64_t *entries;
};

struct qcow2 {
	struct dev dev;
	unsigned int bits;		/* of a cluster's size */
	size_t cluster;			/* that size, bytes */
	uint64_t per_table;		/* entries of a table of level 2 */
	uint64_t l1_offset;		/* bytes */
	/* Of a created image: */
	uint64_t *l1;
	uint64_t l1_size;		/* entries */
	struct table tables[TABLES];
	uint64_t next;			/* the first free cluster */
};

/* Allocates the next cluster of the file, which grows by many at once. */
static int take_cluster(struct qcow2 *q, struct context *cx, uint64_t *off)
{
	struct dev *file = q->dev.under;

	*off = q->next << q->bits;
	if (*off + q->cluster > file->size) {
		int err = dev_resize(file, cx, *off + (q->cluster << 6));

		if (err)
			return err;
	}
	q->next++;
	return 0;
}

static int write_table(struct qcow2 *q, struct context *cx, struct table *t)
{
	int err = !t->dirty ? 0 :
		  dev_write(q->dev.under, cx,
			    be64toh(q->l1[t->number]) & OFFSET_MASK,
			    t->entries, q->cluster);

	t->dirty = t->dirty && err;
	return err;
}

/* Gets table NUMBER in memory.  MAKE: a missing table is created, otherwise NULL. */
static int get_table(struct qcow2 *q, struct context *cx, uint64_t number,
		     bool make, struct table **tp)
{
	struct table *t = &q->tables[number % TABLES];
	uint64_t off = be64toh(q->l1[number]) & OFFSET_MASK;
	int err = 0;

	*tp = t;
	if (t->used && t->number == number)
		return 0;
	*tp = NULL;
	if (!off && !make)
		return 0;
	if (!t->entries)
		t->entries = malloc(q->cluster);
	if (!t->entries)
		return fail(cx, -ENOMEM, "%s: table", q->dev.name);
	if (t->used)
		err = write_table(q, cx, t);
	if (err)
		return err;
	t->used = false;
	err = off ? dev_read(q->dev.under, cx, off, t->entries, q->cluster) :
		    take_cluster(q, cx, &off);
	if (err)
		return err;
	if (!q->l1[number]) {
		memset(t->entries, 0, q->cluster);
		q->l1[number] = htobe64(off | COPIED);
		t->dirty = true;
	}
	t->number = number;
	t->used = true;
	*tp = t;
	return 0;
}

/*
 * Gets the entry of cluster NUMBER of the disk: its place, a reference to a compressed
 * cluster, or 0 if it reads as zeros.
 */
static int find_cluster(struct qcow2 *q, struct context *cx, uint64_t number,
			uint64_t *entry)
{
	uint64_t n = q->per_table, table, be = 0;
	struct table *t;
	int err;

	if (q->l1) {
		err = get_table(q, cx, number / n, false, &t);
		*entry = err || !t ? 0 :
			 be64toh(t->entries[number % n]) & OFFSET_MASK;
		return err;
	}
	err = dev_read(q->dev.under, cx, q->l1_offset +
		       number / n * sizeof(be), &be, sizeof(be));
	table = err ? 0 : be64toh(be) & OFFSET_MASK;
	if (table)
		err = dev_read(q->dev.under, cx, table + number % n * sizeof(be),
			       &be, sizeof(be));
	*entry = err || !table ? 0 : be64toh(be);
	if (!(*entry & COMPRESSED))
		*entry = *entry & READS_ZERO ? 0 : *entry & OFFSET_MASK;
	return err;
}

/* Reads N bytes at SKIP of the compressed cluster to which ENTRY refers. */
static int inflate_cluster(struct qcow2 *q, struct context *cx, uint64_t entry,
			   uint64_t skip, char *to, size_t n)
{
	unsigned int where = 62 - (q->bits - 8);
	uint64_t off = entry & ((UINT64_C(1) << where) - 1);
	uint64_t sectors = (entry & ~(COMPRESSED | COPIED)) >> where;
	size_t len = (size_t)((sectors + 1) * 512 - off % 512);
	z_stream z = { .next_in = NULL };
	unsigned char *in, *out;
	int err = 0;

	/* The last cluster of the file may end before its sector does. */
	if (off < q->dev.under->size && len > q->dev.under->size - off)
		len = (size_t)(q->dev.under->size - off);
	in = malloc(len);
	out = malloc(q->cluster);
	if (!in || !out)
		err = fail(cx, -ENOMEM, "%s: compressed cluster", q->dev.name);
	if (!err)
		err = dev_read(q->dev.under, cx, off, in, len);
	/* A window of 4 KiB, and no header. */
	if (!err && inflateInit2(&z, -12) != Z_OK)
		err = fail(cx, -ENOMEM, "%s: compressed cluster", q->dev.name);
	if (!err) {
		z.next_in = in;
		z.avail_in = (uInt)len;
		z.next_out = out;
		z.avail_out = (uInt)q->cluster;
		inflate(&z, Z_SYNC_FLUSH);
		if (z.avail_out)
			err = fail(cx, -EIO, "%s: compressed cluster at byte %"
				   PRIu64, q->dev.name, off);
		inflateEnd(&z);
	}
	if (!err)
		memcpy(to, out + skip, n);
	free(in);
	free(out);
	return err;
}

static int qcow2_read(struct dev *dev, struct context *cx, uint64_t off,
		      void *buf, size_t len)
{
	struct qcow2 *q = (struct qcow2 *)dev;
	char *to = buf;
	uint64_t entry, skip;
	size_t n;
	int err = 0;

	for (; len && !err; off += n, to += n, len -= n) {
		skip = off & (q->cluster - 1);
		n = len < q->cluster - skip ? len : (size_t)(q->cluster - skip);
		err = find_cluster(q, cx, off >> q->bits, &entry);
		if (!err && entry & COMPRESSED)
			err = inflate_cluster(q, cx, entry, skip, to, n);
		else if (!err && entry)
			err = dev_read(dev->under, cx, entry + skip, to, n);
		else
			memset(to, 0, n);
	}
	return err;
}

/* Writes to an image in creation, and allocates clusters. */
static int qcow2_write(struct dev *dev, struct context *cx, uint64_t off,
		       const void *buf, size_t len)
{
	struct qcow2 *q = (struct qcow2 *)dev;
	uint64_t number, at, skip, *entry;
	const char *from = buf;
	struct table *t;
	size_t n;
	int err = 0;

	for (; len && !err; off += n, from += n, len -= n) {
		number = off >> q->bits;
		skip = off & (q->cluster - 1);
		n = len < q->cluster - skip ? len : (size_t)(q->cluster - skip);
		err = get_table(q, cx, number / q->per_table, true, &t);
		if (err)
			break;
		entry = &t->entries[number % q->per_table];
		at = be64toh(*entry) & OFFSET_MASK;
		if (!at) {
			err = take_cluster(q, cx, &at);
			if (err)
				break;
			*entry = htobe64(at | COPIED);
			t->dirty = true;
		}
		err = dev_write(dev->under, cx, at + skip, from, n);
	}
	return err;
}

/* Only for an image that is read: in one that is created, a search replaces tables. */
static bool qcow2_is_hole(struct dev *dev, uint64_t off, uint64_t len)
{
	struct qcow2 *q = (struct qcow2 *)dev;
	struct context cx;
	uint64_t number, at;
	bool hole = !q->l1;

	context_init(&cx);
	for (number = off >> q->bits; hole && number <= (off + len - 1) >> q->bits;
	     number++)
		hole = !find_cluster(q, &cx, number, &at) && !at;
	return hole;
}

static void qcow2_close(struct dev *dev)
{
	struct qcow2 *q = (struct qcow2 *)dev;
	unsigned int i;

	for (i = 0; i < TABLES; i++)
		free(q->tables[i].entries);
	free(q->l1);
	free(q);
}

static const struct dev_ops qcow2_ops = {
	.read = qcow2_read,
	.write = qcow2_write,
	.is_hole = qcow2_is_hole,
	.stops = true,
	.close = qcow2_close,
};

/* Converts the numbers of H between host and disk byte order. */
static void swap_header(struct header *h)
{
	uint32_t *const words[] = {
		&h->magic, &h->version, &h->backing_size, &h->cluster_bits,
		&h->crypt, &h->l1_size, &h->refcount_clusters,
		&h->nb_snapshots, &h->refcount_order, &h->header_length,
	};
	uint64_t *const longs[] = {
		&h->backing_offset, &h->size, &h->l1_offset,
		&h->refcount_offset, &h->snapshots_offset, &h->incompatible,
		&h->compatible, &h->autoclear,
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = be32toh(*words[i]);
	for (i = 0; i < sizeof(longs) / sizeof(longs[0]); i++)
		*longs[i] = be64toh(*longs[i]);
}

/* Allocates a device of SIZE bytes over FILE, with clusters of 2^BITS bytes. */
static struct qcow2 *qcow2_make(struct context *cx, struct dev *file, uint64_t size,
				unsigned int bits)
{
	struct qcow2 *q = calloc(1, sizeof(*q));

	if (!q) {
		fail(cx, -ENOMEM, "%s: open", file->name);
		return NULL;
	}
	dev_init_over(&q->dev, &qcow2_ops, file);
	q->dev.size = size;
	q->bits = bits;
	q->cluster = (size_t)1 << bits;
	q->per_table = q->cluster / sizeof(uint64_t);
	return q;
}

int qcow2_open(struct dev **devp, struct context *cx, struct dev *file)
{
	uint64_t clusters, tables;
	struct header h = { 0 };
	struct qcow2 *q;
	int err;

	*devp = file;
	if (file->is_block_device || file->size < sizeof(h))
		return 0;
	err = dev_read(file, cx, 0, &h, sizeof(h));
	if (err) {
		fail_clear(cx);
		return 0;
	}
	swap_header(&h);
	if (h.magic != MAGIC)
		return 0;
	if (h.version < 2 || h.version > 3 || h.backing_offset || h.crypt ||
	    (h.version > 2 && h.incompatible))
		return fail_said(cx, -EOPNOTSUPP, "%s: a qcow2 image with a "
				 "backing file, encryption or features that are "
				 "not known: qemu-img convert -O raw makes an "
				 "image of it", file->name);
	if (h.cluster_bits < 9 || h.cluster_bits > MOST_BITS)
		return fail_said(cx, -EUCLEAN, "%s: qcow2 header: clusters of "
				 "2^%" PRIu32 " bytes", file->name,
				 h.cluster_bits);
	clusters = div_round_up(h.size, UINT64_C(1) << h.cluster_bits);
	tables = div_round_up(clusters, UINT64_C(1) << (h.cluster_bits - 3));
	if (h.size > INT64_MAX || tables > h.l1_size ||
	    h.l1_size > L1_MAX / sizeof(uint64_t) || h.l1_offset > file->size ||
	    tables * sizeof(uint64_t) > file->size - h.l1_offset)
		return fail_said(cx, -EUCLEAN, "%s: qcow2 header: its table "
				 "does not fit the disk or the file",
				 file->name);
	q = qcow2_make(cx, file, h.size, h.cluster_bits);
	if (!q)
		return -ENOMEM;
	q->dev.writable = false;
	q->l1_offset = h.l1_offset;
	*devp = &q->dev;
	return 0;
}

int qcow2_create(struct dev **devp, struct context *cx, struct dev *file,
		 uint64_t size)
{
	unsigned int bits = LEAST_BITS;
	struct qcow2 *q;

	size = div_round_up(size, 512) * 512;
	while (bits < MOST_BITS && size >> (2 * bits - 3) >=
					   L1_USUAL / sizeof(uint64_t))
		bits++;
	if (size >> (2 * bits - 3) >= L1_MAX / sizeof(uint64_t))
		return fail_said(cx, -EFBIG, "%s: larger than a qcow2 image "
				 "can be", file->name);
	q = qcow2_make(cx, file, size, bits);
	if (!q)
		return -ENOMEM;
	q->l1_size = (size >> (2 * bits - 3)) + 1;
	q->l1 = calloc(q->l1_size, sizeof(uint64_t));
	if (!q->l1) {
		free(q);
		return fail(cx, -ENOMEM, "%s: table", file->name);
	}
	/* The table of level 1 follows the header. */
	q->l1_offset = q->cluster;
	q->next = 1 + div_round_up(q->l1_size * sizeof(uint64_t),
				   q->cluster);
	*devp = &q->dev;
	return 0;
}

int qcow2_finish(struct dev *dev, struct context *cx)
{
	struct qcow2 *q = (struct qcow2 *)dev;
	uint64_t per_block = q->cluster / sizeof(uint16_t), i, j, be;
	uint64_t blocks = 0, clusters = 0, end = q->next, first, was;
	uint16_t *block;
	struct header h;
	int err = 0;

	for (i = 0; i < TABLES && !err; i++)
		if (q->tables[i].used)
			err = write_table(q, cx, &q->tables[i]);
	/* The reference counts of all clusters follow, including their own clusters: the
	   table that refers to them, and the blocks of counts. */
	do {
		was = end;
		blocks = div_round_up(end, per_block);
		clusters = div_round_up(blocks * sizeof(uint64_t), q->cluster);
		end = q->next + clusters + blocks;
	} while (end != was);
	first = q->next + clusters;
	if (!err)
		err = dev_resize(dev->under, cx, end << q->bits);
	if (err)
		return err;
	block = malloc(q->cluster);
	if (!block)
		return fail(cx, -ENOMEM, "%s: counts", dev->name);
	for (i = 0; i < blocks && !err; i++) {
		be = htobe64((first + i) << q->bits);
		err = dev_write(dev->under, cx,
				(q->next << q->bits) + i * sizeof(be), &be,
				sizeof(be));
		for (j = 0; j < per_block; j++)
			block[j] = htobe16(i * per_block + j < end);
		if (!err)
			err = dev_write(dev->under, cx, (first + i) << q->bits,
					block, q->cluster);
	}
	free(block);
	h = (struct header){
		.magic = MAGIC,
		.version = 3,
		.cluster_bits = q->bits,
		.size = dev->size,
		.l1_size = (uint32_t)q->l1_size,
		.l1_offset = q->l1_offset,
		.refcount_offset = q->next << q->bits,
		.refcount_clusters = (uint32_t)clusters,
		.refcount_order = REFCOUNT_ORDER,
		.header_length = HEADER_BYTES,
	};
	swap_header(&h);
	if (!err)
		err = dev_write(dev->under, cx, q->l1_offset, q->l1,
				q->l1_size * sizeof(uint64_t));
	if (!err)
		err = dev_write(dev->under, cx, 0, &h, sizeof(h));
	return err ? err : dev_flush(dev->under, cx);
}
