// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traces.
 *
 * Each line becomes an event.  Its volume and file are looked up by name, and
 * the blocks of a write are entered into the map of addresses.  Their numbers
 * are known only after the last line, so a stored step has a slot of that map
 * instead of block numbers.
 */
#include "gc/sim/trace/simtrace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/sort.h"
#include "base/text.h"
#include "gc/sim/trace/simbytes.h"
#include "gc/sim/trace/simreplay.h"
#include "gc/sim/writers/simop.h"

/* Lines between two checks for too many bad ones. */
#define PATIENCE 0xffffu
/* A format must be recognized within this number of lines. */
#define GUESSES 100
/* Bytes by which it is. */
#define HEAD 65536u
#define NAME_SHOWN 64u
#define VOLUMES_SHOWN 8u

static bool is_file_name(const struct simtrace_file *file, struct simformat_text name)
{
	return file->len == name.len && !memcmp(file->name, name.at, name.len);
}

/*
 * The number of the file NAME, or -1: a hash table finds the first file with
 * the same hash, or the second, and so on; the name itself decides.
 */
static int64_t find_file(struct simtrace *t, struct simformat_text name,
			 uint64_t *hash, uint64_t *same)
{
	const struct pairtable_entry *entry;

	if (t->last_file && is_file_name(&t->files[t->last_file - 1], name))
		return t->last_file - 1;
	*hash = text_hash(name.at, name.len);
	for (*same = 0; ; ++*same) {
		entry = pairtable_find(&t->names, *same, *hash);
		if (!entry)
			return -1;
		if (is_file_name(&t->files[entry->value - 1], name))
			break;
	}
	t->last_file = (uint32_t)entry->value;
	return t->last_file - 1;
}

static bool is_chosen(const struct simtrace *t, const char *volume)
{
	const char *want = t->config.volume;

	return !want || !strcmp(want, "each") || !strcmp(want, volume);
}

/* Adds the file NAME, and its volume: all that have a file name share one. */
static int add_trace_file(struct simtrace *t, struct context *cx,
			  const struct simformat_event *e,
			  struct simformat_text name, uint64_t hash, uint64_t same)
{
	bool is_new = !e->file.len || !t->shared;
	size_t volume = is_new ? t->nvolumes : t->shared - 1;
	struct simtrace_volume *v;
	char *text;
	int err;

	if (array_reserve(cx, &t->files, &t->files_room, t->nfiles + 1) ||
	    array_reserve(cx, &t->extents, &t->extents_room, t->nfiles + 1) ||
	    (is_new && array_reserve(cx, &t->volumes, &t->volumes_room,
				     t->nvolumes + 1)))
		return -ENOMEM;
	text = calloc(1, name.len + 1);
	if (!text)
		return fail(cx, -ENOMEM, "%s", t->config.path);
	memcpy(text, name.at, name.len);
	v = &t->volumes[volume];
	if (is_new) {
		*v = (struct simtrace_volume){
			.name = strdup(e->file.len ? "" : text),
		};
		t->nvolumes += v->name != NULL;
	}
	err = v->name ? pairtable_add(&t->names, cx, same, hash,
				      t->nfiles + 1) :
			fail(cx, -ENOMEM, "%s", t->config.path);
	if (err) {
		free(text);
		return err;
	}
	t->is_ambiguous = !t->config.volume && t->nvolumes > 1;
	if (e->file.len)
		t->shared = (uint32_t)volume + 1;
	t->files[t->nfiles] = (struct simtrace_file){
		.name = text, .len = name.len, .chosen = is_chosen(t, v->name),
	};
	t->extents[t->nfiles++] = (struct simaddress_file){
		.volume = (uint32_t)volume,
	};
	t->last_file = (uint32_t)t->nfiles;
	return 0;
}

/* Stores a step of VOLUME, N numbers of which the first two are set here. */
static int keep_step(struct simtrace *t, struct context *cx,
		     struct simtrace_volume *v, enum simop_kind kind,
		     uint64_t count, uint64_t *numbers, unsigned int n)
{
	uint64_t now = (t->latest - t->origin) / 1000;

	/* Never 0. */
	numbers[0] = count << 2 | ((uint64_t)kind + 1);
	numbers[1] = now - v->span;
	v->span = now;
	return simreplay_keep(&t->spool, &v->steps, cx, numbers, n);
}

static int take_event(struct simtrace *t, struct context *cx,
		      enum simformat_kind kind, const struct simformat_event *e)
{
	struct simformat_text name = e->file.len ? e->file : e->volume;
	uint64_t numbers[SIMREPLAY_NUMBERS], hash = 0, same = 0, slot = 0;
	uint64_t bs = t->config.block_size, first, end, count;
	struct simtrace_volume *v;
	int64_t file;
	size_t i;
	int err = 0;

	/* The clock of the trace, which never goes back. */
	if (e->timed) {
		if (!t->has_times)
			t->origin = t->latest = e->time;
		t->has_times = true;
		t->counts.unordered += e->time < t->latest;
		if (e->time > t->latest)
			t->latest = e->time;
	}
	switch (kind) {
	case SIMFORMAT_WRITE:
		t->counts.writes++;
		if (!e->length)
			return 0;
		file = find_file(t, name, &hash, &same);
		if (file < 0) {
			err = add_trace_file(t, cx, e, name, hash, same);
			if (err)
				return err;
			file = (int64_t)t->nfiles - 1;
		}
		v = &t->volumes[t->extents[file].volume];
		v->writes++;
		if (!t->files[file].chosen || t->is_ambiguous)
			return 0;
		first = e->offset / bs;
		end = e->offset + e->length;
		count = div_round_up(end, bs) - first;
		if (count >= UINT32_MAX)
			return fail(cx, -EINVAL, "%s: reaches further than can "
				    "be simulated", t->config.path);
		if (t->extents[file].end < end)
			t->extents[file].end = end;
		v->written += count;
		err = simaddress_touch(&t->addresses, cx, (uint32_t)file, first,
				       count, &slot);
		if (err)
			return err;
		/* Small differences of either sign are small numbers. */
		slot -= v->slot;
		v->slot += slot + count;
		numbers[2] = slot << 1 ^ (0 - (slot >> 63));
		return keep_step(t, cx, v, SIMOP_WRITE, count, numbers, 3);
	case SIMFORMAT_TRIM:
		t->counts.trims++;
		file = find_file(t, name, &hash, &same);
		if (file < 0 || !t->files[file].chosen || t->is_ambiguous)
			return 0;
		numbers[2] = (uint64_t)file;
		numbers[3] = e->offset;
		numbers[4] = e->length;
		return keep_step(t, cx, &t->volumes[t->extents[file].volume],
				 SIMOP_TRIM, 0, numbers, 5);
	case SIMFORMAT_SYNC:
		/* Of a device or file, or of all if none is named. */
		t->counts.syncs++;
		file = name.len ? find_file(t, name, &hash, &same) : -1;
		if (file < 0 && name.len)
			return 0;
		for (i = 0; i < t->nvolumes && !err; i++)
			if ((file < 0 || t->extents[file].volume == i) &&
			    is_chosen(t, t->volumes[i].name))
				err = keep_step(t, cx, &t->volumes[i],
						SIMOP_SYNC, 0, numbers, 2);
		return err;
	case SIMFORMAT_READ:
		t->counts.reads++;
		return 0;
	case SIMFORMAT_OTHER:
	case SIMFORMAT_BAD:
		break;
	}
	return 0;
}

/* Counts a line that is not a read, write, trim or flush; takes the event of others. */
static int take_kind(struct simtrace *t, struct context *cx,
		     enum simformat_kind kind, const struct simformat_event *e)
{
	if (kind != SIMFORMAT_BAD && e->far) {
		kind = SIMFORMAT_BAD;
		t->counts.far++;
	}
	t->counts.other += kind == SIMFORMAT_OTHER;
	if (kind == SIMFORMAT_BAD && !t->counts.bad++)
		t->counts.first_bad = t->counts.lines;
	return take_event(t, cx, kind, e);
}

/* -EINVAL if more than one of a hundred lines is not understood. */
static int check_bad(const struct simtrace *t, struct context *cx)
{
	const char *format = t->format ? t->format->name : "that is asked for";

	if (t->counts.bad <= t->counts.lines / 100)
		return 0;
	if (t->counts.far == t->counts.bad)
		return fail_said(cx, -EINVAL, "%s: %" PRIu64 " of %" PRIu64
				 " lines reach beyond 2^62 bytes, the first is "
				 "line %" PRIu64, t->config.path, t->counts.far,
				 t->counts.lines, t->counts.first_bad);
	return fail_said(cx, -EINVAL, "%s: %" PRIu64 " of %" PRIu64 " lines "
			 "are not of the format %s, the first is line %" PRIu64
			 "; --trace-format names another one", t->config.path,
			 t->counts.bad, t->counts.lines, format,
			 t->counts.first_bad);
}

/* Reads one line: 1, 0 at the end. */
static int take_line(struct simtrace *t, struct context *cx,
		     struct simbytes *b)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct simformat_event e = SIMFORMAT_EVENT_NONE;
	enum simformat_kind kind = SIMFORMAT_BAD;
	const char *rest;
	char *line;
	size_t len, have;
	/* A format is guessed by the lines that follow, too. */
	int ret = t->format ? 0 : simbytes_peek(b, cx, HEAD, &rest, &have);

	if (!ret)
		ret = simbytes_line(b, cx, &line, &len);
	if (ret <= 0)
		return ret;
	t->counts.lines++;
	/*
	 * A UTF-8 byte order mark is at the start of a file, and in
	 * concatenated files at the start of a line.
	 */
	if (len >= sizeof(mark) - 1 && !memcmp(line, mark, sizeof(mark) - 1)) {
		line += sizeof(mark) - 1;
		len -= sizeof(mark) - 1;
	}
	/* Lines that belong to no format. */
	if (!line[strspn(line, " \t")] || (*line == '#' && len)) {
		t->counts.other++;
		return 1;
	}
	/* The first line of a known format determines it. */
	if (!t->format) {
		simbytes_peek(b, cx, 0, &rest, &have);
		t->format = simformat_guess(line, len, rest, have);
		if (!t->format && t->counts.lines >= GUESSES)
			return fail_said(cx, -EINVAL, "%s: none of the first "
					 "lines is of a known format of traces",
					 t->config.path);
	}
	if (t->format)
		kind = t->format->parse(&t->state, line, len, &e);
	/* In the first line fields without any digit are a heading. */
	if (kind == SIMFORMAT_BAD && t->counts.lines == 1 &&
	    strpbrk(line, ",;") && !line[strcspn(line, "0123456789")])
		kind = SIMFORMAT_OTHER;
	ret = take_kind(t, cx, kind, &e);
	return ret ? ret : 1;
}

/* Reads one record, with the data that follows it: 1, 0 at the end. */
static int take_record(struct simtrace *t, struct context *cx,
		       struct simbytes *b)
{
	struct simformat_event e = SIMFORMAT_EVENT_NONE;
	enum simformat_kind kind = SIMFORMAT_BAD;
	const char *bytes;
	size_t have, pdu = SIMFORMAT_NO_RECORD;
	int ret = simbytes_peek(b, cx, SIMFORMAT_RECORD, &bytes, &have);

	if (ret || !have)
		return ret;
	t->counts.cut = have < SIMFORMAT_RECORD && t->counts.lines;
	if (t->counts.cut)
		return 0;
	t->counts.lines++;
	if (have >= SIMFORMAT_RECORD)
		kind = simformat_parse_record(&t->state, bytes, &e, &pdu);
	/* The start of the next one is unknown. */
	if (pdu == SIMFORMAT_NO_RECORD)
		return fail_said(cx, -EINVAL, "%s: record %" PRIu64 " is none "
				 "of blktrace", t->config.path,
				 t->counts.lines);
	ret = take_kind(t, cx, kind, &e);
	simbytes_take(b, SIMFORMAT_RECORD);
	if (!ret)
		ret = simbytes_peek(b, cx, pdu, &bytes, &have);
	t->counts.cut = have < pdu;
	simbytes_take(b, have < pdu ? have : pdu);
	return ret ? ret : 1;
}

static int compare_writes(const void *a, const void *b)
{
	const struct simtrace_volume *const *x = a, *const *y = b;

	if ((*x)->writes != (*y)->writes)
		return (*x)->writes > (*y)->writes ? -1 : 1;
	return strcmp((*x)->name, (*y)->name);
}

static int choose_volumes(struct simtrace *t, struct context *cx)
{
	const struct simtrace_volume **sorted;
	const char *want = t->config.volume;
	char list[FAILURE_TEXT_MAX / 2], name[NAME_SHOWN];
	size_t i, used = 0;

	t->chosen = calloc(t->nvolumes, sizeof(*t->chosen));
	if (!t->chosen)
		return fail(cx, -ENOMEM, "%s", t->config.path);
	for (i = 0; i < t->nvolumes; i++)
		if (is_chosen(t, t->volumes[i].name))
			t->chosen[t->nchosen++] = i;
	if (t->nchosen && !t->is_ambiguous)
		return 0;
	/* The most written volumes, as text. */
	sorted = calloc(t->nvolumes, sizeof(*sorted));
	if (!sorted)
		return fail(cx, -ENOMEM, "%s", t->config.path);
	for (i = 0; i < t->nvolumes; i++)
		sorted[i] = &t->volumes[i];
	sort_in_place(sorted, t->nvolumes, sizeof(*sorted), compare_writes);
	for (i = 0; i < t->nvolumes && i < VOLUMES_SHOWN &&
		    used < sizeof(list); i++) {
		text_escape(name, sizeof(name), sorted[i]->name,
			    strlen(sorted[i]->name));
		used += (size_t)snprintf(list + used, sizeof(list) - used,
					 "%s%s (%" PRIu64 " writes)",
					 i ? ", " : "", name,
					 sorted[i]->writes);
	}
	free(sorted);
	if (want)
		return fail_said(cx, -EINVAL, "%s: no volume %s is written; "
				 "of %zu: %s", t->config.path, want,
				 t->nvolumes, list);
	return fail_said(cx, -EINVAL, "%s: %zu volumes are written, and "
			 "--volume chooses none; most: %s", t->config.path,
			 t->nvolumes, list);
}

int simtrace_open(struct simtrace *t, struct context *cx,
		  const struct simtrace_config *config)
{
	const struct simformat *format;
	struct simbytes b;
	const char *bytes;
	bool records = false;
	uint64_t *blocks;
	size_t have, i;
	int ret;

	*t = (struct simtrace){ .config = *config };
	if (config->format)
		t->format = &simformat_list[config->format - 1];
	ret = simbytes_open(&b, cx, config->path);
	if (!ret)
		ret = simbytes_peek(&b, cx, SIMFORMAT_RECORD, &bytes, &have);
	if (!ret) {
		/* Records have no lines, so the first bytes decide. */
		format = t->format ? t->format : simformat_guess(bytes, have, "", 0);
		records = format && !format->parse;
		if (records)
			t->format = format;
	}
	while (!ret && (ret = records ? take_record(t, cx, &b) :
					take_line(t, cx, &b)) > 0) {
		ret = 0;
		if (t->counts.lines & PATIENCE)
			continue;
		if (config->progress)
			config->progress(config->arg, b.taken);
		if (t->counts.lines > PATIENCE)
			ret = check_bad(t, cx);
		if (!ret)
			ret = context_cancelled(cx);
	}
	simbytes_close(&b);
	if (!ret && !t->format)
		ret = fail_said(cx, -EINVAL, "%s: no line is of a known "
				"format of traces", config->path);
	if (!ret)
		ret = check_bad(t, cx);
	if (!ret && !t->nvolumes)
		ret = fail_said(cx, -EINVAL, "%s: no write in the trace",
				config->path);
	if (!ret)
		ret = choose_volumes(t, cx);
	if (ret)
		return ret;
	blocks = calloc(t->nvolumes, sizeof(*blocks));
	if (!blocks)
		return fail(cx, -ENOMEM, "%s", t->config.path);
	ret = simaddress_settle(&t->addresses, cx, t->extents, t->nfiles,
				config->raw, config->block_size, blocks);
	for (i = 0; i < t->nvolumes; i++)
		t->volumes[i].blocks = blocks[i];
	free(blocks);
	return ret;
}

void simtrace_close(struct simtrace *t)
{
	size_t i;

	for (i = 0; i < t->nvolumes; i++) {
		free(t->volumes[i].name);
		free(t->volumes[i].steps.page);
		free(t->volumes[i].steps.pages);
	}
	for (i = 0; i < t->nfiles; i++)
		free(t->files[i].name);
	free(t->volumes);
	free(t->files);
	free(t->extents);
	free(t->chosen);
	pairtable_fini(&t->names);
	simaddress_fini(&t->addresses);
	if (t->spool.file)
		close(t->spool.file - 1);
	*t = (struct simtrace){ 0 };
}

uint64_t simtrace_bytes(const struct simtrace *t)
{
	uint64_t bytes = simaddress_bytes(&t->addresses);
	size_t i;

	for (i = 0; i < t->nvolumes; i++) {
		const struct simspool_stream *s = &t->volumes[i].steps;

		bytes += (s->page ? SIMSPOOL_PAGE : 0) +
			 s->room * sizeof(*s->pages);
	}
	for (i = 0; i < t->nfiles; i++)
		bytes += t->files[i].len + 1;
	return bytes + t->volumes_room * sizeof(*t->volumes) +
	       t->files_room * sizeof(*t->files) +
	       t->extents_room * sizeof(*t->extents) +
	       t->names.room * sizeof(*t->names.slots);
}

