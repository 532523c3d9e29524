// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The snapshots of --keep.
 *
 * A snapshot has no name and no owner on disk, and the calls of the kernel can write
 * none.  So the host has a record, a text with the number and time of each snapshot
 * that the rule has made.  A snapshot that is not in the record counts as made by hand:
 * if the record is lost, all snapshots are kept.  Both values must match, since numbers
 * are used again after a rollback, and on copies with the same UUID.
 */
#include "gc/keeping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/search.h"
#include "base/uuidtext.h"
#include "cli/outfile.h"
#include "cli/service.h"
#include "disk/checkpoint.h"
#include "live/live.h"
#include "out/table.h"
#include "vol/cptable.h"

#define FOLDER "nilfs2-gc"
#define HEAD "# gc.nilfs2 --keep has made these snapshots: number, time of creation\n"

/* The longest line of a record that is read. */
#define LINE 128

struct keep_point *keeping_find(const struct keeping *k, uint64_t cno)
{
	size_t i = search_number(k->points, k->n, sizeof(*k->points), cno);

	return i < k->n && k->points[i].cno == cno ? &k->points[i] : NULL;
}

static int push_live(void *arg, struct context *cx, const struct nilfs_cpinfo *info)
{
	struct keeping *k = arg;

	return array_push(cx, &k->points, &k->n, &k->room, (struct keep_point){
		.cno = info->ci_cno,
		.time = info->ci_create,
		.minor = nilfs_cpinfo_minor(info),
	});
}

static int list_points(struct keeping *k, struct context *cx,
		       const struct options *o, struct volume *vol)
{
	struct cptable_cursor cur;
	struct nilfs_checkpoint cp;
	int ret;

	if (!vol)
		return live_each_checkpoint(o->live, cx, NILFS_CHECKPOINT,
					    push_live, k);
	ret = cptable_cursor_open(&cur, cx, vol);
	while (!ret && (ret = cptable_cursor_next(&cur, cx, &cp)) > 0)
		ret = array_push(cx, &k->points, &k->n, &k->room,
				 (struct keep_point){
			.cno = cur.cno - 1,
			.time = le64_get(cp.cp_create),
			.minor = checkpoint_is_minor(&cp),
		});
	cptable_cursor_close(&cur);
	return ret;
}

/* Finds the standard name of the record, by the UUID of the volume. */
static int find_record(struct keeping *k, struct context *cx, struct dev *dev,
		       struct volume *vol)
{
	static const uint8_t none[16];
	char name[UUIDTEXT_MAX + 8];
	struct volume *bare = NULL;
	uint8_t uuid[16];
	int ret = vol ? 0 : volume_open_bare(&bare, cx, dev);

	if (ret)
		return ret;
	memcpy(uuid, volume_super(vol ? vol : bare)->s_uuid, sizeof(uuid));
	volume_close(bare);
	if (!memcmp(uuid, none, sizeof(uuid)))
		return fail_said(cx, -EINVAL, "%s: has no UUID, which names the "
				 "record of --keep; set one by --uuid, or name a "
				 "file by --keep-state", k->volume);
	uuidtext_format(uuid, name);
	strcat(name, ".keep");
	service_path(k->path, sizeof(k->path), SERVICE_STATE, FOLDER, name);
	k->standard = true;
	return 0;
}

static int read_record(struct keeping *k, struct context *cx)
{
	FILE *f = fopen(k->path, "re");
	struct keep_point *p;
	uint64_t cno, time;
	char line[LINE];
	size_t number = 0;
	int end, ret = 0;

	if (!f)
		return errno == ENOENT ? 0 : fail(cx, -errno, "%s", k->path);
	while (!ret && fgets(line, sizeof(line), f)) {
		number++;
		if (*line == '#')
			continue;
		end = 0;
		if (sscanf(line, "%" SCNu64 " %" SCNu64 "%n", &cno, &time,
			   &end) != 2 || strcmp(line + end, "\n")) {
			ret = fail_said(cx, -EINVAL, "%s: line %zu is not that of "
					"a record of --keep; correct or remove "
					"it: what is not in the record counts as "
					"made by hand", k->path, number);
			break;
		}
		k->recorded++;
		p = keeping_find(k, cno);
		if (p && p->time == time)
			p->recorded = true;
	}
	if (!ret && ferror(f))
		ret = fail(cx, -errno, "%s", k->path);
	fclose(f);
	return ret;
}

int keeping_open(struct keeping *k, struct tool *tool, struct context *cx,
		 const struct options *o, struct dev *dev, struct volume *vol)
{
	int ret = 0;

	*k = (struct keeping){ .volume = tool->argv[0] };
	if (!o->keep_state)
		ret = find_record(k, cx, dev, vol);
	else if (strlen(o->keep_state) >= sizeof(k->path))
		ret = fail(cx, -ENAMETOOLONG, "--keep-state");
	else
		strcpy(k->path, o->keep_state);
	if (!ret)
		ret = list_points(k, cx, o, vol);
	if (!ret)
		ret = read_record(k, cx);
	return ret ? ret : keep_choose(cx, &o->keep, tool->out->zone, k->points,
				       k->n);
}

void keeping_close(struct keeping *k)
{
	free(k->points);
	*k = (struct keeping){ .points = NULL };
}

enum keeping_fate keeping_decide(struct keeping *k, uint64_t cno, bool was,
				 bool by_hand)
{
	struct keep_point *p = keeping_find(k, cno);
	enum keeping_fate fate;

	if (by_hand || (was && !(p && p->recorded)))
		fate = KEEPING_HAND;
	else if (p && p->periods)
		fate = was ? KEEPING_KEPT : KEEPING_NEW;
	else
		fate = was ? KEEPING_DROPPED : KEEPING_PLAIN;
	if (p)
		p->fate = (uint8_t)fate;
	return fate;
}

static int say_state(const struct keeping *k, struct context *cx, int ret)
{
	char text[FAILURE_TEXT_MAX];

	if (!ret || !k->standard)
		return ret;
	memcpy(text, cx->failure, sizeof(text));
	return fail(cx, ret, "%.300s; --keep-state names another file", text);
}

int keeping_check(const struct keeping *k, struct context *cx)
{
	const char *const inputs[] = { k->volume, NULL };
	const struct output_how how = {
		.there = OUTPUT_REPLACE, .inputs = inputs,
	};
	char folder[PATH_MAX];

	if (k->standard) {
		strcpy(folder, k->path);
		*strrchr(folder, '/') = '\0';
		mkdir(folder, 0755);
	}
	return say_state(k, cx, output_check(cx, k->path, &how));
}

int keeping_write(struct keeping *k, struct context *cx, bool done)
{
	const char *const inputs[] = { k->volume, NULL };
	const struct output_how how = {
		.there = OUTPUT_REPLACE, .volume = true, .inputs = inputs,
	};
	const struct keep_point *p;
	size_t i, lines = 0;
	struct outfile file;
	int ret;

	for (i = 0; i < k->n; i++)
		lines += k->points[i].fate == KEEPING_KEPT ||
			 (done && k->points[i].fate == KEEPING_NEW);
	if (lines == k->recorded)
		return 0;
	ret = outfile_open(&file, cx, k->path, &how);
	if (ret)
		return say_state(k, cx, ret);
	out_string(file.out, HEAD);
	for (i = 0; i < k->n; i++) {
		p = &k->points[i];
		if (p->fate == KEEPING_KEPT || (done && p->fate == KEEPING_NEW))
			out_printf(file.out, "%" PRIu64 " %" PRIu64 "\n",
				   p->cno, p->time);
	}
	ret = outfile_close(&file, cx, 0);
	if (!ret)
		k->recorded = lines;
	return say_state(k, cx, ret);
}

void keeping_undo(struct keeping *k, uint64_t first)
{
	struct keep_point *p;

	for (p = k->points; p < k->points + k->n; p++)
		if (p->cno < first)
			continue;
		else if (p->fate == KEEPING_DROPPED)
			p->fate = KEEPING_KEPT;
		else if (p->fate == KEEPING_NEW)
			p->fate = KEEPING_PLAIN;
}

int keeping_forgive(struct keeping *k, struct tool *tool, struct context *cx,
		    uint64_t cno, int ret)
{
	struct keep_point *p = keeping_find(k, cno);

	if (ret == -EBUSY && p && p->fate == KEEPING_DROPPED) {
		tool_warn(tool, "%s", cx->failure);
		p->fate = KEEPING_KEPT;
		k->busy++;
	} else if (ret == -ENOENT && p && p->fate == KEEPING_NEW) {
		p->fate = KEEPING_PLAIN;
		k->vanished++;
	} else {
		keeping_undo(k, cno);
		return ret;
	}
	fail_clear(cx);
	return 0;
}

void keeping_report(const struct keeping *k, struct report *r)
{
	static const struct value_flag periods[] = {
		{ 1 << KEEP_LAST, "last" }, { 1 << KEEP_HOURLY, "hourly" },
		{ 1 << KEEP_DAILY, "daily" }, { 1 << KEEP_WEEKLY, "weekly" },
		{ 1 << KEEP_MONTHLY, "monthly" }, { 1 << KEEP_YEARLY, "yearly" },
		{ 0, NULL },
	};
	static const char *const fates[] = {
		[KEEPING_HAND] = "by hand",
		[KEEPING_NEW] = "new",
		[KEEPING_KEPT] = "kept",
		[KEEPING_DROPPED] = "dropped",
	};
	enum { CHECKPOINT, CREATED, FATE, PERIODS };
	static const struct column columns[] = {
		[CHECKPOINT] = { "checkpoint", "CHECKPOINT", VALUE_U64, 10 },
		[CREATED] = { "created", "CREATED", VALUE_TIME, 25 },
		[FATE] = { "result", "RESULT", VALUE_STRING, 8 },
		[PERIODS] = { "periods", "NEWEST OF PERIODS", VALUE_FLAGS, 0,
			      periods },
	};
	const struct keep_point *p;
	struct table t;

	table_begin(&t, r, "checkpoints", columns, 4);
	for (p = k->points; p < k->points + k->n; p++)
		if (p->fate != KEEPING_PLAIN)
			table_row(&t, (struct value[]){
				[CHECKPOINT] = value_u64(p->cno),
				[CREATED] = value_u64(p->time),
				[FATE] = value_string(fates[p->fate]),
				[PERIODS] = value_u64(p->periods),
			});
	table_end(&t);
}
