// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vast IMAGE KIND NUMBER: fills a new volume with NUMBER of something:
 *
 *	segments	in use, each by one file of 48 blocks
 *	names		of files without blocks, in one directory
 *	links		names in one directory, as many of each file as can be
 *	extents		of one file
 *
 * All blocks of files are zero, and such blocks stay holes of the image:
 * metadata of a large volume, on little space.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dev/devfile.h"
#include "gc/move/onelog.h"
#include "log/newfile.h"
#include "log/write/payload.h"
#include "mkfs/populate/populate.h"

#define TIME 1700000000
#define FILE_BLOCKS 48u
#define NAME_BYTES 12u
#define MEMORY (UINT64_C(1) << 30)

/* A device over another one that does not write blocks of zeros. */
struct holes {
	struct dev dev;
	size_t block_size;
};

static const uint8_t zeros[65536];

static int holes_read(struct dev *dev, struct context *cx, uint64_t off,
		      void *buf, size_t len)
{
	return dev_read(dev->under, cx, off, buf, len);
}

static int holes_write(struct dev *dev, struct context *cx, uint64_t off,
		       const void *buf, size_t len)
{
	const struct holes *h = (const struct holes *)dev;
	const uint8_t *bytes = buf;
	size_t at, n;
	int ret = 0;

	for (at = 0; at < len && !ret; at += n) {
		n = len - at < h->block_size ? len - at : h->block_size;
		if (memcmp(bytes + at, zeros, n) != 0)
			ret = dev_write(dev->under, cx, off + at, bytes + at,
					n);
	}
	return ret;
}

static int holes_flush(struct dev *dev, struct context *cx)
{
	return dev_flush(dev->under, cx);
}

static void holes_close(struct dev *dev)
{
	(void)dev;
}

static const struct dev_ops holes_ops = {
	.read = holes_read,
	.write = holes_write,
	.flush = holes_flush,
	.close = holes_close,
};

/* Content of zeros, as much as is asked for. */
struct zeros {
	struct payload payload;
	uint32_t block_size;
};

static int zeros_fill(struct payload *p, struct context *cx, uint64_t at,
		      uint32_t count, void *buf)
{
	const struct zeros *z = (const struct zeros *)p;

	(void)cx;
	(void)at;
	memset(buf, 0, (size_t)count * z->block_size);
	return 0;
}

static void zeros_free(struct payload *p)
{
	free(p);
}

static const struct payload_ops zeros_ops = {
	.fill = zeros_fill,
	.free = zeros_free,
};

struct vast {
	struct context cx;
	struct holes holes;
	struct dev *dev;
	struct volume *vol;
	struct writer *w;
	struct populate *p;
	struct populate_name *names;
	char (*texts)[NAME_BYTES];
	size_t nnames;
};

static void add_name(struct vast *v, uint64_t ino)
{
	size_t i = v->nnames++;

	v->names[i] = (struct populate_name){
		.name = v->texts[i],
		.len = (uint8_t)snprintf(v->texts[i], NAME_BYTES, "f%zu", i),
		.type = NILFS_FT_REG_FILE,
		.ino = ino,
	};
}

/* A file of N runs, which end at block END: its name, too. */
static int add_file(struct vast *v, const struct newfile_run *runs, size_t n,
		    uint64_t end)
{
	const uint32_t bs = (uint32_t)v->holes.block_size;
	const struct entry e = {
		.mode = S_IFREG | 0644, .mtime = TIME, .size = end * bs,
	};
	struct zeros *z = n ? malloc(sizeof(*z)) : NULL;
	uint64_t ino = 0;
	int ret;

	if (n && !z)
		return fail(&v->cx, -ENOMEM, "content of a file");
	if (z) {
		payload_init(&z->payload, &zeros_ops);
		z->block_size = bs;
	}
	ret = populate_file(v->p, &v->cx, &e, runs, n, z ? &z->payload : NULL,
			    false, &ino);
	add_name(v, ino);
	return ret;
}

static int add_segments(struct vast *v, size_t n)
{
	const struct newfile_run run = { 0, FILE_BLOCKS };
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		ret = add_file(v, &run, 1, FILE_BLOCKS);
		if (!ret)
			ret = newfile_skip(v->w, &v->cx);
	}
	return ret;
}

static int add_names(struct vast *v, size_t n)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = add_file(v, NULL, 0, 0);
	return ret;
}

static int add_links(struct vast *v, size_t n)
{
	uint64_t ino = 0;
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++) {
		if (i % NILFS_LINK_MAX) {
			ret = populate_link(v->p, &v->cx, ino);
			add_name(v, ino);
		} else {
			ret = add_file(v, NULL, 0, 0);
			ino = v->names[i].ino;
		}
	}
	return ret;
}

/* Every second block of the file is a hole. */
static int add_extents(struct vast *v, size_t n)
{
	struct newfile_run *runs = malloc(n * sizeof(*runs));
	size_t i;
	int ret;

	if (!runs)
		return fail(&v->cx, -ENOMEM, "extents");
	for (i = 0; i < n; i++)
		runs[i] = (struct newfile_run){ 2 * i, 1 };
	ret = add_file(v, runs, n, 2 * n);
	free(runs);
	return ret;
}

static const struct kind {
	const char *name;
	int (*add)(struct vast *v, size_t n);
} kinds[] = {
	{ "segments", add_segments },
	{ "names", add_names },
	{ "links", add_links },
	{ "extents", add_extents },
};

static const struct kind *find_kind(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static int fill(struct vast *v, const struct kind *kind, size_t n)
{
	uint64_t root;
	int ret = populate_begin_dir(v->p, &v->cx, 0, NULL, 0, &root);

	if (!ret)
		ret = kind->add(v, n);
	if (!ret)
		ret = populate_end_dir(v->p, &v->cx, root, root, NULL,
				       POPULATE_ALL, v->names, v->nnames);
	return ret ? ret : populate_finish(v->p, &v->cx);
}

static int open_all(struct vast *v, const char *path, size_t n)
{
	const struct populate_options po = { .time = TIME };
	struct writer_options wo;
	int ret = devfile_open(&v->dev, &v->cx, path, DEVFILE_WRITE);

	if (ret)
		return ret;
	dev_init_over(&v->holes.dev, &holes_ops, v->dev);
	ret = volume_open(&v->vol, &v->cx, &v->holes.dev, NULL);
	if (ret)
		return ret;
	v->holes.block_size = (size_t)1 << v->vol->geo.block_bits;
	v->names = calloc(n, sizeof(*v->names));
	v->texts = calloc(n, sizeof(*v->texts));
	if (!v->names || !v->texts)
		return fail(&v->cx, -ENOMEM, "names");
	wo = writer_options_on(v->vol, TIME);
	ret = writer_open(&v->w, &v->cx, v->vol, &wo);
	return ret ? ret : populate_open(&v->p, &v->cx, v->w, v->vol, &po);
}

int main(int argc, char **argv)
{
	const struct kind *kind = argc == 4 ? find_kind(argv[2]) : NULL;
	size_t n = kind ? strtoull(argv[3], NULL, 10) : 0;
	struct writer_end end;
	struct vast v = { .holes.block_size = 1 };
	int ret;

	if (!n) {
		fprintf(stderr, "usage: vast IMAGE segments|names|links|extents "
				"NUMBER\n");
		return 2;
	}
	context_init(&v.cx);
	v.cx.threads = 2;
	v.cx.max_memory = MEMORY;
	ret = open_all(&v, argv[1], n);
	if (!ret)
		ret = fill(&v, kind, n);
	if (!ret)
		ret = onelog_commit(v.w, &v.cx, v.vol, TIME, &end);
	if (ret)
		fprintf(stderr, "vast: %s\n", v.cx.failure);
	writer_close(v.w);
	populate_close(v.p);
	volume_close(v.vol);
	dev_close(v.dev);
	free(v.names);
	free(v.texts);
	return ret != 0;
}
