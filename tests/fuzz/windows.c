// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * windows IMAGE COUNT: a check must find the same whether it compares the entries of
 * the DAT with the logs of one segment at a time (claims.h) or of all at once.
 *
 * The image is checked as it is, and with COUNT damages of the DAT and the
 * SUFILE, one at a time: an entry that leads to the block of another one, of the DAT
 * or to any block, bytes that mean nothing, a block of zeros.  The findings are
 * compared, in any order.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "dev/devfile.h"
#include "dev/patched.h"
#include "find/findprint.h"
#include "vol/blockmap.h"
#include "vol/file.h"

#include "random.h"

#define LINE 256u

struct lines {
	char (*text)[LINE];
	size_t n, room;
};

struct bench {
	struct context cx;
	struct dev *file, *patched;
	uint32_t block_size;
	uint64_t *blocks;	/* of the DAT and the SUFILE */
	size_t nblocks, room;
	uint64_t random;
};

static void take(void *arg, const struct finding *f)
{
	struct lines *l = arg;
	char place[PLACE_TEXT_MAX];

	if (l->n == l->room) {
		l->room = 2 * l->room + 64;
		l->text = realloc(l->text, l->room * LINE);
		if (!l->text)
			exit(99);
	}
	findprint_place(&f->place, place);
	snprintf(l->text[l->n++], LINE, "%s: %s: %llu %llu %s",
		 rule_info(f->rule)->slug, place, (unsigned long long)f->want,
		 (unsigned long long)f->got, f->detail ? f->detail : "");
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Checks with TABLE_MEMORY, 0 the usual: the status, and the findings. */
static int check(struct bench *b, uint64_t table_memory, struct lines *l)
{
	const struct check_run run = { .arg = NULL };
	struct check c = { .dev = b->patched, .table_memory = table_memory };
	int ret;

	*l = (struct lines){ 0 };
	if (findings_open(&c.findings, &b->cx, take, l, true))
		exit(99);
	ret = check_volume(&c, &b->cx, &run);
	check_fini(&c);
	findings_close(c.findings);
	fail_clear(&b->cx);
	if (l->n)
		qsort(l->text, l->n, LINE, compare_lines);
	return ret;
}

static void show(const char *title, const struct lines *l)
{
	size_t i;

	printf("%s:\n", title);
	for (i = 0; i < l->n && i < 40; i++)
		printf("  %s\n", l->text[i]);
}

static int compare(struct bench *b, const char *what)
{
	struct lines one, many;
	int first = check(b, 0, &one), second = check(b, 1, &many), bad;
	size_t i;

	bad = first != second || one.n != many.n;
	for (i = 0; !bad && i < one.n; i++)
		bad = strcmp(one.text[i], many.text[i]) != 0;
	if (bad) {
		printf("%s: %d, %d\n", what, first, second);
		show("one window", &one);
		show("a window for each segment", &many);
	}
	free(one.text);
	free(many.text);
	return bad;
}

static void add_blocks(struct bench *b, struct file *file)
{
	struct blockmap_cursor cur;
	struct blockmap_item item;
	uint64_t blocknr;
	int ret = blockmap_cursor_open(&cur, &b->cx, &file->map, 0, true);

	while (!ret && blockmap_cursor_next(&cur, &b->cx, &item) > 0) {
		ret = blockmap_resolve(&file->map, &b->cx, item.ptr, &blocknr);
		if (b->nblocks == b->room) {
			b->room = 2 * b->room + 64;
			b->blocks = realloc(b->blocks,
					    b->room * sizeof(*b->blocks));
			if (!b->blocks)
				exit(99);
		}
		if (!ret)
			b->blocks[b->nblocks++] = blocknr;
	}
	blockmap_cursor_close(&cur);
}

static unsigned int below(struct bench *b, uint64_t n)
{
	return (unsigned int)(next_random(&b->random) % n);
}

/* One block of those, in one of five ways, which WHAT says. */
static void damage(struct bench *b, char *what)
{
	uint64_t blocknr = b->blocks[below(b, b->nblocks)];
	uint64_t off = blocknr * b->block_size;
	unsigned int entries = b->block_size / 32;
	char *block = malloc(b->block_size);
	unsigned int i = below(b, entries);
	unsigned int j = below(b, entries);
	unsigned int kind = below(b, 6), k;
	le64 other = le64_make(b->blocks[below(b, b->nblocks)]);

	if (!block || dev_read(b->file, &b->cx, off, block, b->block_size))
		exit(99);
	for (k = 0; kind == 0 && k < 32; k++)
		block[i * 32 + k] = (char)below(b, 256);
	if (kind == 1)
		memcpy(block + i * 32, block + j * 32, 8);
	if (kind == 2)
		memset(block, 0, b->block_size);
	if (kind == 3)
		block[below(b, b->block_size)] ^= 4;
	for (k = 0; kind == 4 && k < b->block_size; k++)
		block[k] = (char)below(b, 256);
	if (kind == 5)
		memcpy(block + i * 32, &other, sizeof(other));
	snprintf(what, LINE, "block %llu, damage %u, entries %u and %u",
		 (unsigned long long)blocknr, kind, i, j);
	patched_remove(b->patched, 0, UINT64_MAX);
	if (patched_set(b->patched, &b->cx, off, block, b->block_size) < 0)
		exit(99);
	free(block);
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, i;
	struct bench b = { .random = 1 };
	char what[LINE] = "undamaged";
	struct volume *vol;
	int bad;

	if (argc != 3)
		return 2;
	context_init(&b.cx);
	b.cx.threads = 2;
	if (devfile_open(&b.file, &b.cx, argv[1], DEVFILE_READ) ||
	    patched_open(&b.patched, &b.cx, b.file) ||
	    volume_open(&vol, &b.cx, b.file, NULL)) {
		fprintf(stderr, "windows: %s\n", b.cx.failure);
		return 1;
	}
	b.block_size = vol->geo.block_size;
	add_blocks(&b, &vol->dat);
	add_blocks(&b, &vol->sufile);
	volume_close(vol);
	bad = compare(&b, what);
	for (i = 0; i < count && !bad; i++) {
		damage(&b, what);
		bad = compare(&b, what);
	}
	dev_close(b.patched);
	dev_close(b.file);
	free(b.blocks);
	return bad;
}
