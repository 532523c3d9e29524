// SPDX-License-Identifier: GPL-2.0-or-later
/* Records calls of a source; a wrong call ends the test. */
#include "mkfs_standin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "disk/inode.h"
#include "mkfs/tar/tarsource.h"

#define STEP 7

static uint64_t new_file(struct populate *p, const struct entry *e)
{
	struct standin_file *f = &p->files[p->n];

	if (p->n == STANDIN_INODES)
		exit(99);
	if (e) {
		f->entry = *e;
		snprintf(f->target, sizeof(f->target), "%.*s",
			 (int)e->target_len, e->target ? e->target : "");
	}
	f->links = 1;
	return p->n++;
}

static void fill(struct standin_file *f, uint64_t from, uint64_t to)
{
	struct context cx;
	int ret;

	context_init(&cx);
	if (from >= to)
		return;
	ret = f->payload->ops->fill(f->payload, &cx, from,
				    (uint32_t)(to - from),
				    f->blocks + from * STANDIN_BLOCK);
	if (ret)
		f->failed = ret;
}

struct share {
	struct standin_file *file;
	uint64_t first;
};

static void *fill_share(void *arg)
{
	struct share *s = arg;
	uint64_t at, end;

	for (at = s->first; at < s->file->nblocks; at += 3 * STEP) {
		end = at + STEP < s->file->nblocks ? at + STEP :
						     s->file->nblocks;
		fill(s->file, at, end);
	}
	return NULL;
}

static void fill_by_threads(struct standin_file *f)
{
	pthread_t threads[3];
	struct share shares[3];
	size_t i;

	for (i = 0; i < 3; i++) {
		shares[i] = (struct share){ f, i * STEP };
		pthread_create(&threads[i], NULL, fill_share, &shares[i]);
	}
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* Blocks that are asked for when a file is placed; the rest comes later. */
static uint64_t early(const struct populate *p, const struct standin_file *f)
{
	if (p->order == STANDIN_THREADS)
		return f->nblocks;
	return p->order == STANDIN_AT_THE_END ? 0 : f->nblocks - f->nblocks / 3;
}

static void fill_early(struct populate *p, struct standin_file *f)
{
	uint64_t at = early(p, f);

	if (p->order == STANDIN_THREADS)
		fill_by_threads(f);
	else if (p->order != STANDIN_BACKWARDS)
		fill(f, 0, at);
	else
		for (; at; at--)
			fill(f, at - 1, at);
}

static void fill_rest(struct populate *p)
{
	struct standin_file *f;

	for (f = p->files; f < p->files + p->n; f++) {
		if (!f->payload)
			continue;
		fill(f, early(p, f), f->nblocks);
		payload_put(f->payload);
		f->payload = NULL;
	}
}

int populate_begin_dir(struct populate *p, struct context *cx, uint64_t parent,
		       const char *name, size_t len, uint64_t *ino)
{
	(void)cx;
	(void)parent;
	(void)name;
	(void)len;
	*ino = new_file(p, NULL);
	p->files[*ino].entry.mode = S_IFDIR;
	return 0;
}

int populate_end_dir(struct populate *p, struct context *cx, uint64_t ino,
		     uint64_t parent, const struct entry *e,
		     enum populate_over over,
		     const struct populate_name *names, size_t n)
{
	(void)over;
	struct standin_file *f = &p->files[ino];
	size_t i;

	(void)cx;
	if (parent >= p->n || n > STANDIN_NAMES)
		exit(99);
	f->known = e;
	if (e)
		f->entry = *e;
	for (i = 0; i < n; i++) {
		memcpy(f->name[i], names[i].name, names[i].len);
		f->ino[i] = names[i].ino;
		if (i && strcmp(f->name[i - 1], f->name[i]) >= 0)
			exit(99);
		if (inode_dirent_type(p->files[f->ino[i]].entry.mode) !=
		    names[i].type)
			exit(99);
	}
	f->n = n;
	return 0;
}

int populate_file(struct populate *p, struct context *cx, const struct entry *e,
		  const struct newfile_run *runs, size_t nruns,
		  struct payload *payload, bool later, uint64_t *ino)
{
	struct standin_file *f;
	size_t i;

	(void)cx;
	(void)later;
	*ino = new_file(p, e);
	f = &p->files[*ino];
	if (nruns > STANDIN_RUNS)
		exit(99);
	f->payload = payload;
	f->nruns = nruns;
	for (i = 0; i < nruns; i++) {
		f->runs[i] = runs[i];
		f->nblocks += runs[i].count;
	}
	f->blocks = malloc(f->nblocks * STANDIN_BLOCK + 1);
	if (payload)
		fill_early(p, f);
	return 0;
}

const struct populate_needs *populate_needs(const struct populate *p)
{
	static const struct populate_needs needs = {
		.block_size = STANDIN_BLOCK,
	};

	(void)p;
	return &needs;
}

int populate_special(struct populate *p, struct context *cx,
		     const struct entry *e, uint64_t *ino)
{
	(void)cx;
	*ino = new_file(p, e);
	return 0;
}

/* The stand-in is the first layer: there is none below. */
int populate_old_name(struct populate *p, struct context *cx, uint64_t parent,
		      const char *name, size_t len, uint64_t *ino,
		      uint8_t *type)
{
	(void)p;
	(void)cx;
	(void)parent;
	(void)name;
	(void)len;
	(void)ino;
	(void)type;
	return 0;
}

int populate_old_link(struct populate *p, struct context *cx, uint64_t ino,
		      char target[SYMLINK_TARGET_MAX + 1], size_t *len)
{
	(void)p;
	(void)ino;
	(void)target;
	*len = 0;
	return fail(cx, -EINVAL, "no layer below");
}

int populate_link(struct populate *p, struct context *cx, uint64_t ino)
{
	(void)cx;
	p->files[ino].links++;
	return 0;
}

int populate_unlink(struct populate *p, struct context *cx, uint64_t ino)
{
	(void)cx;
	p->files[ino].links--;
	return 0;
}

int populate_loss(struct populate *p, struct context *cx, const char *path,
		  enum entry_loss loss)
{
	(void)cx;
	(void)path;
	p->losses[loss]++;
	return 0;
}

void standin_forget(struct populate *p)
{
	uint64_t i;

	for (i = 0; i < p->n; i++) {
		payload_put(p->files[i].payload);
		free(p->files[i].blocks);
	}
	memset(p, 0, sizeof(*p));
}

int standin_read_tar(struct populate *p, struct context *cx, const char *path,
		     enum standin_order order,
		     const struct entry_rules *rules)
{
	int ret;

	standin_forget(p);
	fail_clear(cx);
	p->order = order;
	ret = tarsource_run(cx, path, rules, NULL, p);
	fill_rest(p);
	return ret;
}

const struct standin_file *standin_find(const struct populate *p,
					const char *path)
{
	const struct standin_file *f = p->files;
	size_t len, i;

	while (*path) {
		len = strcspn(path, "/");
		for (i = 0; i < f->n; i++)
			if (strlen(f->name[i]) == len &&
			    !memcmp(f->name[i], path, len))
				break;
		if (i == f->n)
			return NULL;
		f = &p->files[f->ino[i]];
		path += len;
		path += strspn(path, "/");
	}
	return f;
}
