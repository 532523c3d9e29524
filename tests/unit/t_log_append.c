// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checkpoints on checkpoints, without a superblock in between: files are
 * added, replaced and removed, some checkpoints become snapshots.  Each of
 * them must go on reading as it did when it was made.
 */
#include "log_volume.h"

#include <stdlib.h>
#include <string.h>

#include "tests/testdev/fault.h"
#include "vol/cptable.h"
#include "vol/recovery.h"

#include "tap.h"

#define LAYERS_MAX 40

/* What the files were in each checkpoint. */
struct history {
	struct log_file *files[LAYERS_MAX];
	size_t nfiles[LAYERS_MAX];
	unsigned int n;
};

static uint64_t chance(uint64_t *state, uint64_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (*state >> 33) % n;
}

static void remember(struct history *h, const struct log_volume *v)
{
	size_t bytes = v->nfiles * sizeof(*v->files);

	h->files[h->n] = malloc(bytes + 1);
	memcpy(h->files[h->n], v->files, bytes);
	h->nfiles[h->n++] = v->nfiles;
}

static struct newfile_run any_run(uint64_t *state)
{
	static const uint64_t sizes[] = { 0, 1, 2, 5, 6, 7, 40, 70, 300 };
	struct newfile_run run = {
		chance(state, 8) ? 0 : chance(state, 200),
		sizes[chance(state, 9)],
	};

	return run;
}

/* One layer's changes. */
static int change_files(struct log_volume *v, struct writer *w,
			uint64_t *state)
{
	size_t i, old = v->nfiles;
	struct newfile_run run;
	int ret = 0;

	for (i = 0; i < old && !ret; i++) {
		if (v->files[i].gone || chance(state, 4))
			continue;
		run = any_run(state);
		if (chance(state, 3))
			ret = log_volume_replace(v, w, &v->files[i], &run, 1);
		else
			ret = log_volume_remove(v, w, &v->files[i]);
	}
	for (i = 0; i < 8 && !ret; i++) {
		run = any_run(state);
		ret = log_volume_place(v, w, log_volume_add(v, &run, 1));
	}
	return ret ? ret : log_volume_place_root(v, w, true);
}

static int first_layer(struct log_volume *v, struct writer *w, uint64_t *state)
{
	struct newfile_run run;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < 20 && !ret; i++) {
		run = any_run(state);
		ret = log_volume_place(v, w, log_volume_add(v, &run, 1));
	}
	return ret ? ret : log_volume_place_root(v, w, false);
}

static int open_writer(struct log_volume *v, struct writer **w,
		       const struct recovery *at, struct volume **below,
		       const struct writer_options *options)
{
	int ret;

	if (!at->cno)
		return writer_create(w, &v->cx, v->dev, &v->g, options);
	ret = volume_open_at(below, &v->cx, v->dev, &v->g, at);
	return ret ? ret : writer_open(w, &v->cx, *below, options);
}

/* Writes one more checkpoint and says in AT where it is. */
static int write_layer(struct log_volume *v, const struct log_shape *shape,
		       struct recovery *at, uint64_t *state)
{
	struct writer_options options = log_volume_options(shape);
	struct volume *below = NULL;
	struct writer *w = NULL;
	int ret;

	options.snapshot = at->cno % 3 == 1;
	options.time += at->cno;
	ret = open_writer(v, &w, at, &below, &options);
	if (!ret)
		ret = at->cno ? change_files(v, w, state) :
				first_layer(v, w, state);
	if (!ret)
		ret = writer_commit(w, &v->cx, &v->end);
	if (!ret)
		writer_recovery(w, &v->end, at);
	else
		printf("# %s\n", v->cx.failure);
	writer_close(w);
	volume_close(below);
	return ret;
}

static bool reads_all(struct log_volume *v, struct volume *vol,
		      const struct history *h, unsigned int layer)
{
	bool good = true;
	size_t i;

	for (i = 0; i < h->nfiles[layer]; i++) {
		const struct log_file *f = &h->files[layer][i];

		if (f->gone || log_volume_reads(v, vol, layer + 1, f, NULL))
			continue;
		printf("# checkpoint %u, file %zu: %s\n", layer + 1, i,
		       v->cx.failure);
		good = false;
	}
	return good;
}

static void check_snapshots(struct log_volume *v, struct volume *vol,
			    unsigned int layers)
{
	size_t count, i;
	uint64_t *cnos;
	bool good;

	is_int(cptable_list(vol, &v->cx, true, &cnos, &count), 0,
	       "the snapshots are listed");
	good = count == (layers + 1) / 3;
	for (i = 0; i < count && good; i++)
		good = cnos[i] == 3 * i + 2;
	ok(good, "every third checkpoint is one");
	free(cnos);
}

/* How the list ends where the read AT of a disk fails: what was listed. */
static int list_from_bad(struct log_volume *v, uint64_t at, bool *nothing)
{
	const struct fault_plan plan = {
		.kind = FAULT_FAIL, .counted = FAULT_READS, .at = at,
	};
	struct volume *vol = NULL;
	struct dev *bad;
	size_t count = 1;
	uint64_t *cnos = NULL;
	int ret = fault_open(&bad, &v->cx, v->dev, &plan);

	*nothing = true;
	if (ret)
		return ret;
	if (!volume_open(&vol, &v->cx, bad, NULL))
		ret = cptable_list(vol, &v->cx, false, &cnos, &count);
	*nothing = !cnos && !count;
	free(cnos);
	fail_clear(&v->cx);
	volume_close(vol);
	dev_close(bad);
	return ret;
}

static void check_failures(struct log_volume *v, const struct volume *vol)
{
	bool good = true, nothing;
	unsigned int failures = 0;
	uint64_t at;

	for (at = 1; at <= 64; at++) {
		if (list_from_bad(v, at, &nothing) >= 0)
			continue;
		failures++;
		good = good && nothing;
	}
	ok(failures || vol->latest.cno < 10, "the list needs the disk");
	ok(good, "of checkpoints that cannot be read none are listed");
}

static void look(struct log_volume *v, const struct history *h)
{
	struct volume *vol;
	unsigned int i;
	bool good = true;

	is_int(log_volume_write_super(v), 0, "superblocks are written");
	if (volume_open(&vol, &v->cx, v->dev, NULL)) {
		ok(false, "%s", v->cx.failure);
		return;
	}
	is_int(vol->latest.cno, h->n, "the latest checkpoint is the last");
	for (i = 0; i < h->n; i++)
		good = reads_all(v, vol, h, i) && good;
	ok(good, "all checkpoints read as they were");
	ok(log_audit(&v->cx, vol), "the books agree");
	check_snapshots(v, vol, h->n);
	check_failures(v, vol);
	volume_close(vol);
}

static void check_layers(const struct log_shape *shape, unsigned int layers)
{
	struct recovery at = { 0 };
	struct history h = { .n = 0 };
	struct log_volume v;
	uint64_t state = 42;
	unsigned int i;
	int ret = 0;

	printf("# blocks of %u, %u a segment, %u layers\n", shape->block_size,
	       shape->blocks_per_segment, layers);
	log_volume_init(&v, shape);
	for (i = 0; i < layers && !ret; i++) {
		ret = write_layer(&v, shape, &at, &state);
		remember(&h, &v);
	}
	is_int(ret, 0, "all layers are written");
	if (!ret)
		look(&v, &h);
	for (i = 0; i < h.n; i++)
		free(h.files[i]);
	log_volume_fini(&v);
}

int main(void)
{
	static const struct log_shape shapes[] = {
		{ 1024, 32, 4000, 0, 0, 1, true },
		{ 1024, 128, 600, 40, 1, 2, true },
		{ 4096, 64, 800, 0, 4, 1, false },
		{ 4096, 1024, 40, 0, 0, 4, true },
	};
	unsigned int i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		check_layers(&shapes[i], shapes[i].block_size == 1024 ? 24 : 9);
	return tap_done();
}
