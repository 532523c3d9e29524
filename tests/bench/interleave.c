// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * interleave [OPTION...] LABEL=COMMAND...: whole processes, measured.
 *
 * Every round runs every command once, so that whatever else the machine
 * does falls on all of them alike.  A command's output goes to /dev/null;
 * plain words are executed directly, anything else by the shell.  A command
 * that fails ends it all: a benchmark of failures is worth nothing.
 *
 *	-n ROUNDS	how many (5)
 *	-r LABEL	the command that the others are compared with
 *	-b COMMAND	run before each command, unmeasured
 *	-a COMMAND	run after each command; what it prints is shown
 *	-d DEVICE	count what is read of a block device, as in /sys/block
 *	-s SECONDS	a command that takes longer gets two rounds, no more
 *	-o FILE		add the figures to FILE too, a line for each command: -t, the
 *			label, wall time (median, least), CPU time (median, least),
 *			MiB resident and read, separated by tabs
 *	-t TITLE	of the table in that file
 *
 * For each label: wall time (median, least, greatest), CPU time (median,
 * least), the greatest resident set of its processes, bytes read (median),
 * and the ratios of the median and the least wall time, and of the median CPU
 * time, to the reference's.
 * On a busy machine the least times are the ones to believe.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS_MAX 32
#define ROUNDS_MAX 1001
#define ROUNDS_SLOW 2
#define WORDS_MAX 64

enum { WALL, CPU, READ, MEASURES };

struct command {
	char label[40];
	char note[24];
	const char *line;
	double of[MEASURES][ROUNDS_MAX];
	int rounds;		/* so far */
	long rss;		/* KiB, the greatest */
};

struct plan {
	struct command *commands;
	const char *reference, *before, *after, *device, *file, *title;
	int n, rounds;
	double slow;		/* ms, 0: however long it takes */
};

static void die(const char *what, const char *which)
{
	fprintf(stderr, "interleave: %s: %s\n", what, which);
	exit(1);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

/* Bytes that were ever read of the device. */
static double bytes_read(const char *device)
{
	unsigned long long sectors;
	char path[256];
	FILE *f;

	if (!device)
		return 0;
	snprintf(path, sizeof(path), "/sys/block/%s/stat", device);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*u %*u %llu", &sectors) != 1)
		die("cannot read", path);
	fclose(f);
	return (double)sectors * 512;
}

static void execute(const char *line)
{
	char *words[WORDS_MAX + 1], *copy = strdup(line), *rest = NULL, *word;
	int null = open("/dev/null", O_RDWR), n = 0;

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (strpbrk(line, "|&;<>()$`\\\"'*?[#~=%") || !copy) {
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	for (word = strtok_r(copy, " ", &rest); word && n < WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		words[n++] = word;
	words[n] = NULL;
	if (n)
		execvp(words[0], words);
	_exit(127);
}

static void prepare(const struct plan *p)
{
	if (p->before && system(p->before))
		die("failed", p->before);
}

/* The last words of a command's first round stand for all rounds. */
static void take_note(const struct plan *p, struct command *c)
{
	FILE *f = p->after ? popen(p->after, "r") : NULL;

	if (!f)
		return;
	if (fgets(c->note, sizeof(c->note), f))
		c->note[strcspn(c->note, "\n")] = '\0';
	if (pclose(f))
		die("failed", p->after);
}

static bool is_slow(const struct plan *p, const struct command *c)
{
	return p->slow > 0 && c->rounds >= ROUNDS_SLOW &&
	       c->of[WALL][0] > p->slow;
}

static void run(const struct plan *p, struct command *c)
{
	int status, round = c->rounds++;
	struct rusage usage;
	double start, before;
	pid_t pid;

	prepare(p);
	before = bytes_read(p->device);
	start = now();
	pid = fork();
	if (!pid)
		execute(c->line);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
		die("failed", c->line);
	c->of[WALL][round] = (now() - start) * 1e3;
	c->of[CPU][round] =
		(seconds(&usage.ru_utime) + seconds(&usage.ru_stime)) * 1e3;
	c->of[READ][round] = (bytes_read(p->device) - before) / 1048576;
	if (usage.ru_maxrss > c->rss)
		c->rss = usage.ru_maxrss;
	take_note(p, c);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static const struct command *sort_and_find(struct plan *p)
{
	const struct command *reference = &p->commands[0];
	int i, m;

	for (i = 0; i < p->n; i++) {
		for (m = 0; m < MEASURES; m++)
			qsort(p->commands[i].of[m],
			      (size_t)p->commands[i].rounds,
			      sizeof(double), compare);
		if (p->reference && !strcmp(p->commands[i].label, p->reference))
			reference = &p->commands[i];
	}
	return reference;
}

static void report(struct plan *p)
{
	const struct command *base = sort_and_find(p);
	int i, mid, base_mid = base->rounds / 2;

	printf("%-28s %10s %21s %10s %10s %8s %9s %7s %7s %7s  %s\n", "",
	       "wall ms", "[min - max]", "cpu ms", "min", "RSS MiB",
	       "read MiB", "ratio", "of min", "of cpu", p->after ? "after" : "");
	for (i = 0; i < p->n; i++) {
		const struct command *c = &p->commands[i];
		const double *wall = c->of[WALL], *cpu = c->of[CPU];

		mid = c->rounds / 2;
		printf("%-28s %10.2f [%8.2f - %8.2f] %10.2f %10.2f %8.1f %9.2f %7.3f %7.3f %7.3f  %s\n",
		       c->label, wall[mid], wall[0], wall[c->rounds - 1],
		       cpu[mid], cpu[0], (double)c->rss / 1024,
		       c->of[READ][mid], wall[mid] / base->of[WALL][base_mid],
		       wall[0] / base->of[WALL][0],
		       cpu[mid] / base->of[CPU][base_mid], c->note);
	}
}

static void save(const struct plan *p)
{
	FILE *f = p->file ? fopen(p->file, "a") : NULL;
	int i;

	if (p->file && !f)
		die("cannot write", p->file);
	for (i = 0; f && i < p->n; i++) {
		const struct command *c = &p->commands[i];
		int mid = c->rounds / 2;

		fprintf(f, "%s\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%.2f\n",
			p->title, c->label, c->of[WALL][mid], c->of[WALL][0],
			c->of[CPU][mid], c->of[CPU][0], (double)c->rss / 1024,
			c->of[READ][mid]);
	}
	if (f && fclose(f))
		die("cannot write", p->file);
}

static void add_command(struct plan *p, const char *arg)
{
	const char *equals = strchr(arg, '=');
	struct command *c = &p->commands[p->n++];

	if (!equals || p->n == COMMANDS_MAX)
		die("not LABEL=COMMAND, or too many", arg);
	snprintf(c->label, sizeof(c->label), "%.*s", (int)(equals - arg), arg);
	c->line = equals + 1;
}

static void parse(struct plan *p, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+n:r:b:a:d:s:o:t:")) != -1) {
		if (option == 'n')
			p->rounds = atoi(optarg);
		else if (option == 'r')
			p->reference = optarg;
		else if (option == 'b')
			p->before = optarg;
		else if (option == 'a')
			p->after = optarg;
		else if (option == 'd')
			p->device = optarg;
		else if (option == 's')
			p->slow = atof(optarg) * 1e3;
		else if (option == 'o')
			p->file = optarg;
		else if (option == 't')
			p->title = optarg;
		else
			exit(2);
	}
	if (p->rounds < 1 || p->rounds > ROUNDS_MAX)
		die("rounds", "from 1 to 1001");
	for (; optind < argc; optind++)
		add_command(p, argv[optind]);
}

int main(int argc, char **argv)
{
	struct plan p = { .rounds = 5, .title = "" };
	int i, round;

	p.commands = calloc(COMMANDS_MAX, sizeof(*p.commands));
	if (!p.commands)
		return 1;
	parse(&p, argc, argv);
	for (round = 0; round < p.rounds; round++)
		for (i = 0; i < p.n; i++)
			if (!is_slow(&p, &p.commands[i]))
				run(&p, &p.commands[i]);
	report(&p);
	save(&p);
	free(p.commands);
	return 0;
}
