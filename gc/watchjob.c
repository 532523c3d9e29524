// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The service: --watch and --status.
 *
 * The service writes its state to a file in /run, one number or text in a line, which
 * --status reads.  So the two need no connection, and a service that was killed is
 * recognized by its process number.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/service.h"
#include "dev/devfile.h"
#include "dev/output.h"
#include "disk/reserve.h"
#include "gc/job.h"
#include "gc/live/watch.h"
#include "gc/moving.h"
#include "live/cleanerlock.h"
#include "live/live.h"
#include "vol/volume.h"

#define FOLDER "nilfs2-gc"

/* nilfs_cleanerd.conf: min_clean_segments, max_clean_segments; if the other limit is
   given. */
#define LOW_PERCENT 10
#define HIGH_PERCENT 20

/* Candidates of a run: what is cleaned until the next count. */
#define CANDIDATES 65536

/* The most memory of caches and tables. */
#define MEMORY (32u << 20)

/* The minimum interval between two writes of the file, in milliseconds. */
#define WRITE_MS 1000

static const char *const states[] = {
	[WATCH_IDLE] = "idle",
	[WATCH_CLEANING] = "cleaning",
	[WATCH_STUCK] = "stuck",
	[WATCH_WAITING] = "waiting",
	[WATCH_UNMOUNTED] = "unmounted",
};

/* Rows of the status: numbers. */
static const struct {
	const char *key, *label;
	size_t offset;
} rows[] = {
#define ROW(key, member, label) { key, label, offsetof(struct watch_status, member) }
	ROW("segments", segments, "Segments"),
	ROW("clean", clean, "Clean segments"),
	ROW("clean_low", low, "Cleaning begins below"),
	ROW("clean_high", high, "Cleaning ends at"),
	ROW("runs", runs, "Runs of cleaning"),
	ROW("segments_cleaned", victims, "Segments cleaned"),
	ROW("segments_left", skipped, "Segments skipped"),
	ROW("calls", calls, "Calls of the kernel"),
	ROW("blocks_moved", moved, "Blocks moved"),
	ROW("blocks_forgotten", freed, "Virtual blocks freed"),
	ROW("longest_ms", longest, "Longest call in milliseconds"),
#undef ROW
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static uint64_t *row_of(struct watch_status *s, size_t i)
{
	return (uint64_t *)((char *)s + rows[i].offset);
}

static void find_file(char path[PATH_MAX], const struct live *live)
{
	char name[32];

	snprintf(name, sizeof(name), "%u:%u", major(live->number),
		 minor(live->number));
	service_path(path, PATH_MAX, SERVICE_RUNTIME, FOLDER, name);
}

struct service {
	struct tool *tool;
	char file[PATH_MAX];
	uint64_t written;	/* by the clock; 0: never */
	enum watch_state state;
	char problem[FAILURE_TEXT_MAX];	/* that was printed last */
	bool ready, failed;
};

/* Writes STATUS to the file; a failure is reported once. */
static void write_status(struct service *s, const struct watch_status *status)
{
	const struct output_how how = { .there = OUTPUT_REPLACE };
	struct watch_status copy = *status;
	struct output *o;
	struct context cx;
	size_t i;
	int ret;

	context_child(&s->tool->cx, &cx);
	cx.cancel = NULL;
	ret = output_open(&o, &cx, s->file, &how);
	if (!ret) {
		dprintf(o->fd, "pid %ld\nstate %s\n", (long)getpid(),
			states[status->state]);
		for (i = 0; i < ROWS; i++)
			dprintf(o->fd, "%s %" PRIu64 "\n", rows[i].key,
				*row_of(&copy, i));
		if (status->problem[0])
			dprintf(o->fd, "problem %s\n", status->problem);
		fchmod(o->fd, 0644);
		ret = output_commit(o, &cx);
	}
	output_close(o);
	if (ret && !s->failed) {
		s->failed = true;
		tool_warn(s->tool, "%s: --status will not work", cx.failure);
	}
}

static void show_change(void *arg, const struct watch_status *status)
{
	struct service *s = arg;
	const char *dir = s->tool->argv[0];
	bool problem = strcmp(status->problem, s->problem) != 0;
	bool changed = !s->written || status->state != s->state || problem;
	char text[FAILURE_TEXT_MAX + 64];

	if (!changed && tool_clock() - s->written < WRITE_MS)
		return;
	write_status(s, status);
	s->written = tool_clock();
	snprintf(text, sizeof(text), "%sSTATUS=%s, %" PRIu64 " of %" PRIu64
		 " segments clean%s%s\n", s->ready ? "" : "READY=1\n",
		 states[status->state], status->clean, status->segments,
		 status->problem[0] ? ": " : "", status->problem);
	service_notify(text);
	s->ready = true;
	if (problem)
		tool_warn(s->tool, "%s", status->problem);
	memcpy(s->problem, status->problem, sizeof(s->problem));
	if (changed && !problem && status->state != WATCH_WAITING)
		tool_detail(s->tool, "%s: %s, %" PRIu64 " of %" PRIu64
			    " segments clean", dir, states[status->state],
			    status->clean, status->segments);
	s->state = status->state;
}

/* A limit in segments of a volume of G: AMOUNT, or PERCENT if none is given. */
static uint64_t limit_segments(const struct options_amount *amount, uint64_t percent,
			       const struct nilfs_geometry *g)
{
	const struct options_amount usual = { OPTIONS_PERCENT, percent };

	return options_segments(amount->unit == OPTIONS_WORTH ? &usual : amount,
				(uint64_t)g->blocks_per_segment << g->block_bits,
				g->nsegments);
}

int watchjob_run(struct tool *tool, const struct options *o)
{
	struct watch_options options = {
		.clean = moving_online_options(o),
		.speed = o->speed,
		.clock = tool_clock,
		.now = service_now,
		.wait = tool_wait,
		.changed = show_change,
	};
	struct service s = { .tool = tool };
	struct live *live = NULL;
	struct dev *dev = NULL;
	struct watch_status status;
	struct nilfs_geometry g = { 0 };
	struct volume *vol = NULL;
	char folder[PATH_MAX];
	long daemon;
	int ret = live_open(&live, &tool->cx, tool->argv[0]);

	if (ret)
		return ret;
	daemon = cleanerlock_daemon(live);
	if (daemon)
		ret = fail_said(&tool->cx, -EBUSY, "%s: nilfs_cleanerd is running "
				"(process %ld); stop it, and mount with the "
				"option nogc, by which mount.nilfs2 starts none",
				live->dir, daemon);
	else if (live->read_only)
		ret = fail_said(&tool->cx, -EROFS, "%s: mounted read-only",
				live->dir);
	if (!ret)
		ret = live_permitted(live, &tool->cx);
	if (!ret)
		ret = devfile_open(&dev, &tool->cx, live->device, DEVFILE_READ);
	if (!ret)
		ret = volume_open_bare(&vol, &tool->cx, dev);
	if (!ret) {
		g = vol->geo;
		options.reserve = reserve_segments(
			g.nsegments, le32_get(volume_super(vol)->s_r_segments_percentage));
	}
	volume_close(vol);
	dev_close(dev);
	if (!ret)
		find_file(s.file, live);
	/* A directory that is open cannot be unmounted. */
	live_close(live);
	if (ret)
		return ret;
	options.clean.most = CANDIDATES;
	options.block_size = g.block_size;
	options.segment_blocks = g.blocks_per_segment;
	if (o->low.unit != OPTIONS_WORTH || o->high.unit != OPTIONS_WORTH) {
		options.low = limit_segments(&o->low, LOW_PERCENT, &g);
		options.high = limit_segments(&o->high, HIGH_PERCENT, &g);
		if (options.low >= options.high || options.high > g.nsegments)
			return tool_usage(tool, "--low: %" PRIu64 " segments are not "
					  "less than --high, %" PRIu64 " of %" PRIu64,
					  options.low, options.high, g.nsegments);
	}
	snprintf(folder, sizeof(folder), "%s", s.file);
	*strrchr(folder, '/') = '\0';
	mkdir(folder, 0755);
	options.arg = &s;
	if (tool->cx.max_memory > MEMORY)
		tool->cx.max_memory = MEMORY;
	ret = watch_run(&status, &tool->cx, tool->argv[0], &options);
	status.state = ret ? WATCH_STUCK : status.state;
	service_notify("STOPPING=1\n");
	write_status(&s, &status);
	return ret;
}

int watchjob_status(struct tool *tool)
{
	struct report *r = &tool->report;
	struct live *live = NULL;
	struct watch_status status = { .problem = "" };
	char path[PATH_MAX], line[FAILURE_TEXT_MAX + 64], state[32] = "";
	bool running;
	long pid = 0;
	size_t i;
	FILE *f;
	int ret = live_open(&live, &tool->cx, tool->argv[0]);

	if (ret)
		return ret;
	find_file(path, live);
	live_close(live);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = '\0';
		value[strcspn(value, "\n")] = '\0';
		if (!strcmp(line, "pid"))
			pid = atol(value);
		else if (!strcmp(line, "state"))
			snprintf(state, sizeof(state), "%s", value);
		else if (!strcmp(line, "problem"))
			snprintf(status.problem, sizeof(status.problem), "%s",
				 value);
		for (i = 0; i < ROWS; i++)
			if (!strcmp(line, rows[i].key))
				*row_of(&status, i) = strtoull(value, NULL, 10);
	}
	if (f)
		fclose(f);
	running = pid > 0 && (!kill((pid_t)pid, 0) || errno == EPERM);
	if (!running && !status.segments) {
		tool_warn(tool, "%s: gc.nilfs2 --watch does not run",
			  tool->argv[0]);
		return JOB_UNDONE;
	}
	report_begin(r, "status", NULL);
	report_bool(r, "running", "Running", running);
	report_value(r, VALUE_U64, "process", "Process",
		     running ? value_u64((uint64_t)pid) : value_absent());
	report_string(r, "state", "State", state);
	for (i = 0; i < ROWS; i++)
		report_u64(r, rows[i].key, rows[i].label, *row_of(&status, i));
	report_value(r, VALUE_STRING, "problem", "Last problem",
		     status.problem[0] ? value_string(status.problem) :
					 value_absent());
	report_end(r);
	return running ? 0 : JOB_UNDONE;
}
