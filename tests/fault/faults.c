// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A writing job under every fault.
 *
 *	faults [OPTION...] JOB FILE... -- COMMAND...
 *
 * COMMAND is a tool that is linked with inject.c; the FILEs, of the current
 * directory, are what it works on.  It is run without a fault, and then with
 * the first, second, ... call of each kind failing, each time on what the FILEs
 * hold now; and what power cuts would leave of them is made from a trace.  A
 * run has failed
 *
 *   - if it ends by a signal or a sanitizer, or does not end;
 *   - if it ends as the one without a fault, and what it leaves is not that, or
 *     names fewer losses, and not that there may be more;
 *   - if it ends otherwise and says nothing, or with success;
 *   - if the judge calls what it left neither the old nor the new state.
 *
 * Prints a line for each kind: JOB, kind, runs, failures.
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"
#include "powercut.h"

#define SANITIZER_STATUS 99

extern char **environ;

/* What a fault is called, and whether the job must be done in spite of it. */
static const struct fault_way {
	const char *name;
	enum inject_kind kind;
	enum inject_way way;
	bool harmless;
} ways[] = {
	{ "read", INJECT_READ, INJECT_ONCE },
	{ "reads", INJECT_READ, INJECT_ALWAYS },
	{ "read-short", INJECT_READ, INJECT_SHORT, true },
	{ "read-signal", INJECT_READ, INJECT_SIGNAL, true },
	{ "write", INJECT_WRITE, INJECT_ONCE },
	{ "writes", INJECT_WRITE, INJECT_ALWAYS },
	{ "write-full", INJECT_WRITE, INJECT_FULL },
	{ "write-short", INJECT_WRITE, INJECT_SHORT, true },
	{ "write-signal", INJECT_WRITE, INJECT_SIGNAL, true },
	{ "flush", INJECT_FLUSH, INJECT_ONCE },
	{ "discard", INJECT_DISCARD, INJECT_ONCE },
	{ "resize", INJECT_RESIZE, INJECT_ONCE },
	{ "zone", INJECT_ZONE, INJECT_ONCE },
	{ "open", INJECT_OPEN, INJECT_ONCE },
	{ "memory", INJECT_MALLOC, INJECT_ONCE },
	{ "memories", INJECT_MALLOC, INJECT_ALWAYS },
	{ "thread", INJECT_THREAD, INJECT_ONCE },
};

static const char *const cut_names[] = {
	[CUT_CLEAN] = "cut", [CUT_TORN] = "cut-torn", [CUT_LOST] = "cut-lost",
	[CUT_REORDERED] = "cut-reordered",
};

struct run {
	int status;		/* as wait() has it */
	char *said;
};

struct job {
	const char *name, *judge, *kinds;
	const char *none;	/* a verdict that is no loss, or NULL */
	bool last;		/* the last line judges only jobs done */
	char **command;
	uint64_t most;		/* runs of a kind; others are left out evenly */
	uint64_t tail;		/* only that many of the last calls, or 0 */
	struct inject *inject;
	struct filestate before;
	const char *old, *new;	/* verdicts */
	struct run done;	/* without a fault */
	uint64_t counted[INJECT_KINDS];
};

struct row {
	uint64_t tried, failed;
};

/* A file is known by its number: there may be no memory for its name. */
static void drop_paths(char *text)
{
	char *path, *end;

	while ((path = strstr(text, ", /")) && (end = strstr(path, ": "))) {
		memmove(path, end, strlen(end) + 1);
		text = path;
	}
}

static char *read_words(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = size < 0 ? NULL : calloc(1, (size_t)size + 1);

	if (!text || pread(fd, text, (size_t)size, 0) != size)
		err(99, "what the job said");
	close(fd);
	drop_paths(text);
	return text;
}

static struct run run_command(struct job *j)
{
	posix_spawn_file_actions_t actions;
	struct run r = { 0 };
	int said = memfd_create("said", MFD_CLOEXEC);
	pid_t pid;

	memset(j->inject->counted, 0, sizeof(j->inject->counted));
	j->inject->happened = false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, said, 1);
	posix_spawn_file_actions_adddup2(&actions, said, 2);
	if (posix_spawnp(&pid, j->command[0], &actions, NULL, j->command,
			 environ))
		err(99, "%s", j->command[0]);
	posix_spawn_file_actions_destroy(&actions);
	if (waitpid(pid, &r.status, 0) != pid)
		err(99, "wait");
	r.said = read_words(said);
	return r;
}

/* The length of TEXT without its last line. */
static size_t length_of_first(const char *text)
{
	size_t n = strlen(text);

	if (n)
		n--;
	while (n && text[n - 1] != '\n')
		n--;
	return n;
}

/* Whether two verdicts are the same for a job that is not done. */
static bool is_like(const struct job *j, const char *a, const char *b)
{
	size_t n = length_of_first(a);

	if (!j->last)
		return !strcmp(a, b);
	return n == length_of_first(b) && !strncmp(a, b, n);
}

/* Why that state is none that may be, or NULL. */
static const char *judge_state(const struct job *j, const char *verdict)
{
	if (!verdict)
		return "the judge fails";
	if (is_like(j, verdict, j->old) || is_like(j, verdict, j->new) ||
	    (j->none && !strcmp(verdict, j->none)))
		return NULL;
	return "neither the old state nor the new one";
}

static bool has_line(const char *text, const char *line, size_t len)
{
	while (strncmp(text, line, len)) {
		text = strchr(text, '\n');
		if (!text)
			return false;
		text++;
	}
	return true;
}

/* Whether LINE, of LEN, names a loss. */
static bool is_loss(const char *line, size_t len)
{
	return !strncmp(line, "lost: ", 6) &&
	       strncmp(line, "lost: nothing", len - 1);
}

/*
 * Whether SAID has all losses that WITHOUT, of the job without a fault, has, or
 * that there may be more.
 */
static bool names_losses(const char *said, const char *without)
{
	const char *line = without, *end;

	if (strstr(said, "lost: perhaps more: ") ||
	    strstr(said, " more, for which there was no memory"))
		return true;
	for (; (end = strchr(line, '\n')); line = end + 1)
		if (is_loss(line, (size_t)(end + 1 - line)) &&
		    !has_line(said, line, (size_t)(end + 1 - line)))
			return false;
	return true;
}

static const char *judge_done(const struct job *j, const struct run *r,
			      const char *verdict)
{
	if (!verdict || strcmp(verdict, j->new))
		return "success, and the result is another";
	return names_losses(r->said, j->done.said) ?
	       NULL : "success, and a loss is not named";
}

static const char *judge_run(const struct job *j, const struct fault_way *w,
			     const struct run *r, const char *verdict)
{
	if (!WIFEXITED(r->status) || WEXITSTATUS(r->status) == SANITIZER_STATUS)
		return "it does not end by itself";
	if (WEXITSTATUS(r->status) == 124)
		return "it does not end";
	if (r->status == j->done.status)
		return judge_done(j, r, verdict);
	if (w->harmless)
		return "that must not matter";
	if (!r->status)
		return "success";
	if (!*r->said || *r->said == '\n')
		return "a failure without a message";
	return judge_state(j, verdict);
}

/* Every how many of N, so that there are no more than asked for. */
static uint64_t step_of(const struct job *j, uint64_t n)
{
	return j->most && n > j->most ? (n + j->most - 1) / j->most : 1;
}

static void note(struct row *row, const struct job *j, const char *kind,
		 uint64_t at, const char *why, const char *verdict,
		 const struct run *r)
{
	row->tried++;
	if (!why)
		return;
	row->failed++;
	printf("# %s, %s %" PRIu64 ": %s", j->name, kind, at, why);
	if (r)
		printf("; status %#x: %.*s", (unsigned int)r->status,
		       (int)strcspn(r->said, "\n"), r->said);
	printf("\n");
	if (verdict && getenv("FAULTS_VERBOSE"))
		printf("%s", verdict);
	if (r && getenv("FAULTS_VERBOSE"))
		printf("%s", r->said);
}

static void print_row(const struct job *j, const char *kind,
		      const struct row *row)
{
	if (row->tried)
		printf("%-14s %-14s %6" PRIu64 " %6" PRIu64 "\n", j->name,
		       kind, row->tried, row->failed);
	fflush(stdout);
}

static struct run run_before(struct job *j, struct filestate *after)
{
	struct run r;

	filestate_store(&j->before);
	r = run_command(j);
	filestate_load(after);
	return r;
}

static uint64_t try_way(struct job *j, const struct fault_way *w)
{
	uint64_t n = j->counted[w->kind], step = step_of(j, n), at;
	struct row row = { 0 };
	struct filestate after;
	const char *verdict;
	struct run r;

	j->inject->kind = w->kind;
	j->inject->way = w->way;
	at = 1 + (n - 1) % step;
	while (j->tail && at + j->tail <= n)
		at += step;
	for (; at <= n; at += step) {
		j->inject->at = at;
		r = run_before(j, &after);
		verdict = filestate_judge(&after, j->judge);
		note(&row, j, w->name, at, judge_run(j, w, &r, verdict),
		     verdict, &r);
		filestate_free(&after);
		free(r.said);
	}
	j->inject->at = 0;
	print_row(j, w->name, &row);
	return row.failed;
}

static uint64_t try_cuts(struct job *j, const struct powercut *p,
			 enum cut_way way)
{
	uint64_t n = powercut_count(p), step = step_of(j, n), at;
	struct row row = { 0 };
	struct filestate after;
	const char *verdict;

	for (at = 1; at <= n; at += step) {
		powercut_make(p, &j->before, way, at, &after);
		verdict = filestate_judge(&after, j->judge);
		note(&row, j, cut_names[way], at, judge_state(j, verdict),
		     verdict, NULL);
		filestate_free(&after);
	}
	print_row(j, cut_names[way], &row);
	return row.failed;
}

/* Whether NAME is among those asked for. */
static bool is_asked(const struct job *j, const char *name)
{
	size_t len = strlen(name);
	const char *p = j->kinds;

	for (; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, len) && (!p[len] || p[len] == ','))
			return true;
	return !j->kinds;
}

/*
 * Whether a device would keep it itself: emulation, not a change of the job; or it is
 * replaced by another file, which no power cut here leaves in part.
 */
static bool is_beside(const char *name)
{
	size_t n = strlen(name);

	return (n > 6 && !strcmp(name + n - 6, ".zones")) ||
	       !strcmp(name, "record");
}

static bool is_same(const struct file_bytes *a, const struct file_bytes *b)
{
	return a->present == b->present && a->size == b->size &&
	       (!a->size || !memcmp(a->bytes, b->bytes, a->size));
}

/*
 * A call that is not seen cannot fail on purpose: its name is not wrapped if
 * there is none of a usual kind, or if the changes that were seen do not lead to
 * what the job left.
 */
static void check_seen(const struct job *j, const struct powercut *p,
		       const struct filestate *after)
{
	const uint64_t *n = j->counted;
	struct filestate replayed;
	unsigned int i;

	if (!n[INJECT_READ] || !n[INJECT_FLUSH] || !n[INJECT_OPEN] ||
	    !n[INJECT_MALLOC] || !(n[INJECT_WRITE] + n[INJECT_DISCARD]))
		errx(1, "%s: calls are not seen", j->name);
	powercut_replay(p, &j->before, &replayed);
	for (i = 0; filestate_names[i]; i++)
		if (!is_beside(filestate_names[i]) &&
		    !is_same(&replayed.files[i], &after->files[i]))
			errx(1, "%s: changes are not seen", j->name);
	filestate_free(&replayed);
}

/* The run without a fault, of which the others are judged; and its trace. */
static struct powercut *learn(struct job *j)
{
	struct filestate after;
	struct powercut *p;
	struct run *r = &j->done;

	filestate_load(&j->before);
	j->old = filestate_judge(&j->before, j->judge);
	j->inject->trace = memfd_create("trace", 0);
	*r = run_before(j, &after);
	p = powercut_open(j->inject->trace);
	j->inject->trace = -1;
	memcpy(j->counted, j->inject->counted, sizeof(j->counted));
	check_seen(j, p, &after);
	j->new = filestate_judge(&after, j->judge);
	filestate_free(&after);
	/* fsck.nilfs2 ends with 1 when it has repaired. */
	if (!j->old || !j->new || !WIFEXITED(r->status) ||
	    WEXITSTATUS(r->status) > 1)
		errx(1, "%s: fails without a fault: status %#x: %s", j->name,
		     (unsigned int)r->status, r->said);
	return p;
}

static void share_memory(struct job *j)
{
	int fd = memfd_create("inject", 0);
	char text[16];

	if (fd < 0 || ftruncate(fd, sizeof(*j->inject)))
		err(99, "memory");
	j->inject = mmap(NULL, sizeof(*j->inject), PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	if (j->inject == MAP_FAILED)
		err(99, "memory");
	j->inject->trace = -1;
	snprintf(text, sizeof(text), "%d", fd);
	setenv(INJECT_ENV, text, 1);
}

static void parse(struct job *j, int argc, char **argv)
{
	unsigned int n = 0;
	int c;

	while ((c = getopt(argc, argv, "+j:k:lm:n:t:")) != -1) {
		if (c == 'j')
			j->judge = optarg;
		else if (c == 'k')
			j->kinds = optarg;
		else if (c == 'l')
			j->last = true;
		else if (c == 'm')
			j->most = strtoull(optarg, NULL, 10);
		else if (c == 'n')
			j->none = optarg;
		else if (c == 't')
			j->tail = strtoull(optarg, NULL, 10);
		else
			exit(99);
	}
	if (!j->judge || optind == argc)
		errx(99, "-j JUDGE JOB FILE... -- COMMAND...");
	j->name = argv[optind++];
	for (; optind < argc && strcmp(argv[optind], "--"); optind++)
		if (n < FILES_MAX)
			filestate_names[n++] = argv[optind];
	j->command = argv + optind + 1;
}

int main(int argc, char **argv)
{
	struct job j = { 0 };
	struct powercut *p;
	uint64_t failed = 0;
	size_t i;

	parse(&j, argc, argv);
	share_memory(&j);
	setenv("ASAN_OPTIONS", "exitcode=99:detect_leaks=0", 1);
	setenv("UBSAN_OPTIONS", "exitcode=99", 1);
	p = learn(&j);
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (is_asked(&j, ways[i].name))
			failed += try_way(&j, &ways[i]);
	for (i = 0; i < CUT_WAYS; i++)
		if (is_asked(&j, cut_names[i]))
			failed += try_cuts(&j, p, (enum cut_way)i);
	powercut_close(p);
	filestate_free(&j.before);
	free(j.done.said);
	return failed != 0;
}
