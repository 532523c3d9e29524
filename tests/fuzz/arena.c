// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An image in memory that a tool is run on, within this process.
 *
 * A process for each run would cost more than the run.  So the tool's main()
 * is compiled in under another name, and the image is a file without a name
 * that can be changed and put back as memory.
 */
#include "arena.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__ /* takes four times as long */
#define HANG_CPU_SECONDS 240
#else
#define HANG_CPU_SECONDS 60
#endif
#define HANG_SECONDS 600
#define WORDS_MAX 16
#define PIECE 65536

_Noreturn void arena_die(const char *what)
{
	perror(what);
	exit(99);
}

static void add_range(struct arena *a, off_t begin, off_t end)
{
	a->ranges = realloc(a->ranges, (a->nranges + 1) * sizeof(*a->ranges));
	if (!a->ranges)
		arena_die("memory");
	a->ranges[a->nranges++] = (struct arena_range){ begin, end };
}

void arena_load(struct arena *a, const char *path)
{
	int from = open(path, O_RDONLY), to = memfd_create("image", 0);
	struct stat st;
	off_t data = 0, hole;

	if (from < 0 || to < 0 || fstat(from, &st) ||
	    ftruncate(to, st.st_size))
		arena_die(path);
	a->size = (size_t)st.st_size;
	a->ranges = NULL;
	a->nranges = 0;
	a->bytes = mmap(NULL, a->size, PROT_READ | PROT_WRITE, MAP_SHARED, to,
			0);
	if (a->bytes == MAP_FAILED)
		arena_die("mmap");
	while ((data = lseek(from, data, SEEK_DATA)) >= 0) {
		hole = lseek(from, data, SEEK_HOLE);
		if (pread(from, a->bytes + data, (size_t)(hole - data),
			  data) != hole - data)
			arena_die(path);
		add_range(a, data, hole);
		data = hole;
	}
	close(from);
	a->fd = to;
	snprintf(a->path, sizeof(a->path), "/proc/self/fd/%d", to);
	a->errors = tmpfile();
	if (!a->errors)
		arena_die("temporary file");
}

void arena_close(struct arena *a)
{
	munmap(a->bytes, a->size);
	close(a->fd);
	fclose(a->errors);
	free(a->ranges);
}

/* Makes N bytes at TO what FROM has; writes only what differs. */
static void copy_changed(char *to, const char *from, size_t n)
{
	size_t at, len;

	for (at = 0; at < n; at += len) {
		len = n - at < PIECE ? n - at : PIECE;
		if (memcmp(to + at, from + at, len))
			memcpy(to + at, from + at, len);
	}
}

/* The same, of what the image has that is no hole. */
static void copy_data(const struct arena *a, char *to, const char *from)
{
	off_t data = 0, hole;

	while ((data = lseek(a->fd, data, SEEK_DATA)) >= 0) {
		hole = lseek(a->fd, data, SEEK_HOLE);
		copy_changed(to + data, from + data, (size_t)(hole - data));
		data = hole;
	}
}

void arena_save(const struct arena *a, char *copy)
{
	copy_data(a, copy, a->bytes);
}

void arena_restore(struct arena *a, const char *copy)
{
	const struct arena_range *r = a->ranges;

	copy_data(a, a->bytes, copy);
	for (; r < a->ranges + a->nranges; r++)
		copy_changed(a->bytes + r->begin, copy + r->begin,
			     (size_t)(r->end - r->begin));
}

bool arena_equals(const struct arena *a, const char *copy)
{
	const struct arena_range *r = a->ranges;
	off_t data = 0, hole;

	for (; r < a->ranges + a->nranges; r++)
		if (memcmp(a->bytes + r->begin, copy + r->begin,
			   (size_t)(r->end - r->begin)))
			return false;
	while ((data = lseek(a->fd, data, SEEK_DATA)) >= 0) {
		hole = lseek(a->fd, data, SEEK_HOLE);
		if (memcmp(a->bytes + data, copy + data, (size_t)(hole - data)))
			return false;
		data = hole;
	}
	return true;
}

char *arena_copy(const struct arena *a)
{
	char *copy = calloc(1, a->size);

	if (!copy)
		arena_die("memory");
	arena_save(a, copy);
	return copy;
}

static void limit_time(int cpu_seconds, unsigned int seconds)
{
	const struct itimerval cpu = { .it_value.tv_sec = cpu_seconds };

	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm(seconds);
}

int arena_run(struct arena *a, arena_main *main_of, char **argv, int sink)
{
	int argc = 0, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	int status;

	while (argv[argc])
		argc++;
	rewind(a->errors);
	if (out < 0 || err < 0 || sink < 0 ||
	    ftruncate(fileno(a->errors), 0) ||
	    dup2(sink, STDOUT_FILENO) < 0 ||
	    dup2(fileno(a->errors), STDERR_FILENO) < 0)
		arena_die("redirection");
	limit_time(HANG_CPU_SECONDS, HANG_SECONDS);
	status = main_of(argc, argv);
	limit_time(0, 0);
	fflush(stdout);
	fflush(stderr);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(sink);
	return status;
}

int arena_command(struct arena *a, arena_main *main_of,
		  const char *const *words, int sink)
{
	char copies[WORDS_MAX][64], made[64], *argv[WORDS_MAX + 1] = { NULL };
	const char *word;
	size_t i;
	int status;

	snprintf(made, sizeof(made), P_tmpdir "/arena.%d", getpid());
	for (i = 0; i < WORDS_MAX && words[i]; i++) {
		word = strcmp(words[i], "IMAGE") ? words[i] : a->path;
		word = strcmp(words[i], "NEW") ? word : made;
		snprintf(copies[i], sizeof(copies[i]), "%s", word);
		argv[i] = copies[i];
	}
	status = arena_run(a, main_of, argv, sink);
	unlink(made);
	return status;
}

int arena_complained(struct arena *a, const char *wanted)
{
	char text[64];

	rewind(a->errors);
	while (fgets(text, sizeof(text), a->errors))
		if (!strncmp(text, wanted, strlen(wanted)))
			return 1;
	return 0;
}

void arena_keep(const struct arena *a, const char *name)
{
	FILE *f = fopen(name, "w");

	if (f && fwrite(a->bytes, 1, a->size, f) == a->size)
		printf("the damaged image is %s\n", name);
	if (f)
		fclose(f);
}
