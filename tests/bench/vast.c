// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vast IMAGE SEGMENTS: fills a new volume so that SEGMENTS of its segments are in
 * use, each by one file of 48 blocks.  All blocks of files are zero, and
 * such blocks stay holes of the image: metadata of a large volume, on little
 * space.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dev/devfile.h"
#include "gc/move/onelog.h"
#include "log/newfile.h"
#include "mkfs/populate/populate.h"

#define TIME 1700000000
#define FILE_BLOCKS 48u
#define NAME_BYTES 12u

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

struct vast {
	struct context cx;
	struct holes holes;
	struct dev *dev;
	struct volume *vol;
	struct writer *w;
	struct populate *p;
	struct populate_name *names;
	char (*texts)[NAME_BYTES];
};

static int add_file(struct vast *v, size_t i)
{
	const uint32_t bs = (uint32_t)v->holes.block_size;
	const struct newfile_run run = { 0, FILE_BLOCKS };
	const struct entry e = {
		.mode = S_IFREG | 0644,
		.mtime = TIME,
		.size = (uint64_t)FILE_BLOCKS * bs,
	};
	struct populate_name *name = &v->names[i];
	void *data;
	struct payload *payload = payload_memory(NULL, FILE_BLOCKS, bs, &data);
	int ret;

	if (!payload)
		return fail(&v->cx, -ENOMEM, "content of a file");
	name->name = v->texts[i];
	name->len = (uint8_t)snprintf(v->texts[i], NAME_BYTES, "f%zu", i);
	name->type = NILFS_FT_REG_FILE;
	ret = populate_file(v->p, &v->cx, &e, &run, 1, payload, false,
			    &name->ino);
	return ret ? ret : newfile_skip(v->w, &v->cx);
}

static int fill(struct vast *v, size_t segments)
{
	struct populate_counts counts;
	uint64_t root;
	size_t i;
	int ret = populate_begin_dir(v->p, &v->cx, 0, NULL, 0, &root);

	for (i = 0; i < segments && !ret; i++)
		ret = add_file(v, i);
	if (!ret)
		ret = populate_end_dir(v->p, &v->cx, root, root, NULL,
				       POPULATE_ALL, v->names, segments);
	return ret ? ret : populate_finish(v->p, &v->cx, &counts);
}

static int open_all(struct vast *v, const char *path, size_t segments)
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
	v->names = calloc(segments, sizeof(*v->names));
	v->texts = calloc(segments, sizeof(*v->texts));
	if (!v->names || !v->texts)
		return fail(&v->cx, -ENOMEM, "names");
	wo = writer_options_on(v->vol, TIME);
	ret = writer_open(&v->w, &v->cx, v->vol, &wo);
	return ret ? ret : populate_open(&v->p, &v->cx, v->w, v->vol, &po);
}

int main(int argc, char **argv)
{
	size_t segments = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
	struct writer_end end;
	struct vast v = { .holes.block_size = 1 };
	int ret;

	if (!segments) {
		fprintf(stderr, "usage: vast IMAGE SEGMENTS\n");
		return 2;
	}
	context_init(&v.cx);
	v.cx.threads = 2;
	ret = open_all(&v, argv[1], segments);
	if (!ret)
		ret = fill(&v, segments);
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
