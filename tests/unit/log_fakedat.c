// SPDX-License-Identifier: GPL-2.0-or-later
/* A device in memory and virtual block numbers. */
#include "log_fakedat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int call(struct fakedat *f, struct context *cx)
{
	if (f->calls_left && !--f->calls_left) {
		f->calls_left = 1;
		return fail(cx, -ENOSPC, "a call that was to fail");
	}
	return 0;
}

static void *grow(void *items, uint64_t room, uint64_t more, size_t size)
{
	uint8_t *moved = realloc(items, (room + more) * size);

	if (!moved)
		abort();
	memset(moved + room * size, 0, more * size);
	return moved;
}

static void need_room(struct fakedat *f, uint64_t number)
{
	uint64_t more = f->room ? f->room : 1024;

	if (number < f->room)
		return;
	f->blocknr = grow(f->blocknr, f->room, more, sizeof(*f->blocknr));
	f->given = grow(f->given, f->room, more, 1);
	f->ended = grow(f->ended, f->room, more, 1);
	f->superseded = grow(f->superseded, f->room, more, 1);
	f->written = grow(f->written, f->room, more, 1);
	f->device = grow(f->device, f->room, more, f->block_size);
	f->room += more;
}

static int fake_alloc(void *arg, struct context *cx, uint64_t *vblocknr)
{
	struct fakedat *f = arg;

	if (call(f, cx))
		return -ENOSPC;
	*vblocknr = ++f->next_vblocknr;
	need_room(f, *vblocknr);
	f->given[*vblocknr] = 1;
	return 0;
}

static int fake_end(void *arg, struct context *cx, uint64_t vblocknr,
		    enum metafile_kind kind)
{
	struct fakedat *f = arg;

	(void)kind;
	if (call(f, cx))
		return -ENOSPC;
	f->ended[vblocknr]++;
	return 0;
}

static int fake_superseded(void *arg, struct context *cx, uint64_t blocknr)
{
	struct fakedat *f = arg;

	if (call(f, cx))
		return -ENOSPC;
	f->superseded[blocknr]++;
	return 0;
}

static int fake_read(void *arg, struct context *cx, enum metafile_kind kind,
		     uint64_t ptr, void *buf)
{
	struct fakedat *f = arg;
	const void *block = fakedat_block(f, kind, ptr);

	if (call(f, cx))
		return -ENOSPC;
	if (!block)
		return fail(cx, -EIO, "nothing is at %llu",
			    (unsigned long long)ptr);
	memcpy(buf, block, f->block_size);
	f->reads++;
	return 0;
}

void fakedat_init(struct fakedat *f, uint32_t block_size)
{
	memset(f, 0, sizeof(*f));
	f->env = (struct metafile_env){
		f, fake_alloc, fake_end, fake_superseded, fake_read,
	};
	f->block_size = block_size;
	need_room(f, 0);
}

void fakedat_fini(struct fakedat *f)
{
	free(f->blocknr);
	free(f->given);
	free(f->ended);
	free(f->superseded);
	free(f->written);
	free(f->device);
}

uint64_t fakedat_place(struct fakedat *f)
{
	need_room(f, ++f->next_blocknr);
	return f->next_blocknr;
}

void fakedat_write(struct fakedat *f, enum metafile_kind kind,
		   const struct metafile_block *block, uint64_t blocknr)
{
	memcpy(f->device + blocknr * f->block_size, block->data, f->block_size);
	f->written[blocknr] = 1;
	if (kind == METAFILE_DAT)
		return;
	if (f->blocknr[block->ptr])
		f->rewritten = true;
	f->blocknr[block->ptr] = blocknr;
}

const void *fakedat_block(const struct fakedat *f, enum metafile_kind kind,
			  uint64_t ptr)
{
	if (kind != METAFILE_DAT && ptr >= f->room)
		return NULL;
	if (kind != METAFILE_DAT)
		ptr = f->blocknr[ptr];
	if (!ptr || ptr >= f->room || !f->written[ptr])
		return NULL;
	return f->device + ptr * f->block_size;
}

uint64_t fakedat_live(const struct fakedat *f, enum metafile_kind kind)
{
	uint64_t i, n = 0;

	if (f->rewritten)
		return UINT64_MAX;
	for (i = 0; i < f->room && kind != METAFILE_DAT; i++) {
		if (f->ended[i] > 1)
			return UINT64_MAX;
		n += f->given[i] && !f->ended[i];
	}
	for (i = 0; i < f->room && kind == METAFILE_DAT; i++) {
		if (f->superseded[i] > f->written[i])
			return UINT64_MAX;
		n += f->written[i] && !f->superseded[i];
	}
	return n;
}
