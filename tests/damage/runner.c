// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All cases of an image, each in a process of its own.
 *
 * A crash or a hang of fsck is the outcome of one case and must not end the
 * run.  Each worker has a copy of the image in memory, and starts a process
 * for each of its cases, which changes that copy; what differs from the sound
 * image afterwards is copied back.  Outcomes come to the parent as lines in a
 * pipe, short enough to be written at once.
 */
#include "runner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "many.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/random.h"

#define PIECE 65536u

/* The cases of one image, while they run. */
struct run {
	const struct bench *bench;
	const struct runner_options *options;
	const char *name, *path;
	arena_main *main_of;
	struct damage_case *cases;
	size_t count;
	int pipe[2];
};

void runner_open(struct bench *b, const char *path, uint64_t seed)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	*b = (struct bench){.seed = seed};
	if (fd < 0 || fstat(fd, &st))
		arena_die(path);
	b->size = (size_t)st.st_size;
	b->sound = mmap(NULL, b->size, PROT_READ, MAP_SHARED, fd, 0);
	if (b->sound == MAP_FAILED)
		arena_die(path);
	close(fd);
	targets_find(&b->targets, b->sound, b->size);
	state_take(&b->state, b->sound, b->size);
}

void runner_close(struct bench *b)
{
	targets_free(&b->targets);
	state_free(&b->state);
	munmap((void *)(uintptr_t)b->sound, b->size);
}

/* Steps C through all cases of B: false at the end. */
static bool next_case(const struct bench *b, size_t *number,
		      struct damage_case *c)
{
	size_t n = (*number)++, ways = 2 * SPOIL_MANY;

	if (n / ways >= b->targets.count)
		return false;
	c->target = &b->targets.all[n / ways];
	c->spoil = (enum spoil)(n % ways / 2);
	c->matched = n % 2;
	return true;
}

/* Several damages of a whole volume, of a seed. */
static const struct target volume = {.kind = TARGET_VOLUME};

bool runner_find(const struct bench *b, const char *id, struct damage_case *c)
{
	unsigned long long seed;
	int n = 0;

	if (sscanf(id, "%llu-many%n", &seed, &n) == 1 && n && !id[n]) {
		*c = (struct damage_case){&volume, SPOIL_MANY, false, seed};
		return true;
	}
	char other[CASE_ID_MAX];
	size_t number = 0;

	while (next_case(b, &number, c)) {
		case_id(c, other);
		if (!strcmp(id, other))
			return true;
	}
	return false;
}

static bool is_wanted(const struct run *r, const struct damage_case *c,
		      uint64_t number)
{
	const struct runner_options *o = r->options;
	uint64_t state = o->seed << 32 ^ number;
	char id[CASE_ID_MAX];

	case_id(c, id);
	return (!o->only || !strcmp(id, o->only)) &&
	       o->kinds[c->target->kind] && o->spoils[c->spoil] &&
	       o->sums[c->matched] && next_random(&state) % o->every == 0 &&
	       (c->target->kind < TARGET_BLOCKS || c->spoil == SPOIL_BIT);
}

static void choose_cases(struct run *r)
{
	const struct runner_options *o = r->options;
	size_t number = 0, ways = 2 * SPOIL_MANY;
	struct damage_case c = {&volume, SPOIL_MANY, false, o->seed};

	r->cases = calloc(r->bench->targets.count * ways + o->many + 1,
			  sizeof(c));
	if (!r->cases)
		arena_die("memory");
	for (; r->count < o->many; c.seed += o->every)
		r->cases[r->count++] = c;
	if (o->many)
		return;
	while (next_case(r->bench, &number, &c))
		if (is_wanted(r, &c, number))
			r->cases[r->count++] = c;
}

static void send(const struct run *r, size_t number, const struct outcome *o)
{
	char line[sizeof(o->first) + 128];
	int n;

	n = snprintf(line, sizeof(line), "%zu %d %d %d %u %u %u %s %s\n", number,
		     (int)o->verdict, o->status, o->second, o->differing,
		     o->unnamed, o->losses, o->option ? o->option : "-", o->first);
	if (write(r->pipe[1], line, (size_t)n) != n)
		_exit(99);
}

void runner_write(const char *path, const char *bytes, size_t size)
{
	static const char zeros[PIECE];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	size_t at, n;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		arena_die(path);
	for (at = 0; at < size; at += n) {
		n = size - at < PIECE ? size - at : PIECE;
		if (memcmp(bytes + at, zeros, n) &&
		    pwrite(fd, bytes + at, n, (off_t)at) != (ssize_t)n)
			arena_die(path);
	}
	close(fd);
}

/* The repaired volume, for the kernel to judge. */
static void keep_image(const struct run *r, size_t number,
		       const struct arena *arena)
{
	char id[CASE_ID_MAX], path[STATE_PATH_MAX];

	case_id(&r->cases[number], id);
	snprintf(path, sizeof(path), "%s/%s.img", r->options->keep, id);
	runner_write(path, arena->bytes, arena->size);
}

static _Noreturn void run_case(const struct run *r, size_t number,
			       struct arena *arena)
{
	const struct checker checker = {arena, r->main_of};
	struct outcome o;

	verdict_find(&o, r->bench, &r->cases[number], &checker);
	if (r->options->keep && o.verdict <= VERDICT_NAMED)
		keep_image(r, number, arena);
	send(r, number, &o);
	_exit(0);
}

static void try_case(const struct run *r, size_t number, struct arena *arena)
{
	const struct bench *b = r->bench;
	struct outcome crash = {.verdict = VERDICT_CRASH};
	pid_t pid;
	int status;

	if (!spoil_do(&r->cases[number], &b->targets, b->seed, arena->bytes,
		      b->sound, b->size))
		return;
	pid = fork();
	if (pid < 0)
		arena_die("fork");
	if (!pid)
		run_case(r, number, arena);
	waitpid(pid, &status, 0);
	if (status) {
		crash.status = status;
		send(r, number, &crash);
	}
	arena_restore(arena, b->sound);
}

static _Noreturn void work(const struct run *r, unsigned int worker)
{
	struct arena arena;
	size_t i;

	close(r->pipe[0]);
	arena_load(&arena, r->path);
	for (i = worker; i < r->count; i += r->options->jobs)
		try_case(r, i, &arena);
	_exit(0);
}

/* What a case of several damages does. */
static void print_many(const struct run *r, const struct damage_case *c)
{
	const struct bench *b = r->bench;
	char *bytes = mmap(NULL, b->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[MANY_TEXT_MAX];

	if (bytes == MAP_FAILED)
		arena_die("memory");
	memcpy(bytes, b->sound, b->size);
	many_do(c->seed, &b->targets, bytes, b->sound, b->size, text);
	munmap(bytes, b->size);
	printf("DAMAGE %llu%s\n", (unsigned long long)c->seed, text);
}

static void print_case(const struct run *r, const struct damage_case *c,
		       const struct outcome *o)
{
	const struct target *t = c->target;
	char id[CASE_ID_MAX];

	case_id(c, id);
	if (c->spoil == SPOIL_MANY)
		print_many(r, c);
	printf("CASE %s %s %s block=%" PRIu64 " ino=%" PRIu64 " at=%" PRIu64
	       " level=%u cp=%" PRIu64
	       " damage=%s sums=%s %s exit=%d second=%d "
	       "differ=%u unnamed=%u losses=%u option=%s first=%s\n",
	       r->name, id, target_kind_name(t->kind), t->blocknr, t->ino,
	       t->blkoff, t->level, t->cno, spoil_name(c->spoil),
	       c->matched ? "matched" : "left", verdict_name(o->verdict),
	       o->status, o->second, o->differing, o->unnamed, o->losses,
	       o->option, *o->first ? o->first : "-");
}

static void collect(const struct run *r, struct table *table)
{
	FILE *in = fdopen(r->pipe[0], "r");
	struct outcome o;
	char *line = NULL;
	size_t size = 0, number;
	char option[32];
	int at;

	if (!in)
		arena_die("pipe");
	while (getline(&line, &size, in) > 0) {
		if (sscanf(line, "%zu %d %d %d %u %u %u %31s %n", &number,
			   (int *)&o.verdict, &o.status, &o.second,
			   &o.differing, &o.unnamed, &o.losses, option,
			   &at) < 8 ||
		    number >= r->count)
			continue;
		o.option = option;
		line[strcspn(line, "\n")] = '\0';
		snprintf(o.first, sizeof(o.first), "%s", line + at);
		table_add(table, &r->cases[number], o.verdict);
		if (r->options->list_all ||
		    (r->options->list && o.verdict != VERDICT_RESTORED))
			print_case(r, &r->cases[number], &o);
	}
	free(line);
	fclose(in);
}

void runner_run(const struct bench *b, const char *name, const char *path,
		const struct runner_options *o, arena_main *main_of,
		struct table *table)
{
	struct run r = {b, o, name, path, main_of, NULL, 0, {-1, -1}};
	unsigned int i;
	pid_t pid;

	choose_cases(&r);
	if (pipe(r.pipe))
		arena_die("pipe");
	fflush(stdout);
	for (i = 0; i < o->jobs; i++) {
		pid = fork();
		if (pid < 0)
			arena_die("fork");
		if (!pid)
			work(&r, i);
	}
	close(r.pipe[1]);
	collect(&r, table);
	while (wait(NULL) > 0)
		continue;
	free(r.cases);
}
