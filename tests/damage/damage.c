// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * damage: what fsck.nilfs2 restores of a volume whose metadata is damaged.
 *
 * Every live block of metadata and every log of an image is damaged, one at a
 * time, in each way; fsck -y repairs it, and what is left is compared with the
 * sound image.  The result is a table; README.md says what its columns mean.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "tests/fuzz/arena.h"

int fsck_main(int argc, char **argv);

static const char usage_text[] =
	"usage: damage [OPTIONS] IMAGE...\n"
	"       damage [-S SEED] make IMAGE CASE OUT\n"
	"\n"
	"  -k, --kinds LIST    what is damaged: "
	"DAT,DAT-node,cpfile,cpfile-node,\n"
	"                      SUFILE,SUFILE-node,ifile,ifile-node,directory,\n"
	"                      file-node,log-summary,log-data,log-root\n"
	"  -d, --damage LIST   how: zeros,random,another,half,older,bit\n"
	"  -s, --sums LIST     checksums of the log: left,matched\n"
	"  -e, --every N       run about one of N cases\n"
	"  -c, --case CASE     run this one only\n"
	"  -S, --seed N        other random bytes, another sample\n"
	"  -j, --jobs N        run N cases at once\n"
	"  -m, --many N        run N cases of several damages at once, and no other;\n"
	"                      their seeds are that of -S and those after it, or\n"
	"                      every Nth of these as -e says\n"
	"  -o, --options       repair with each option, too: none may lose more\n"
	"  -D, --differences   print a line for all that differs\n"
	"  -l, --list          print a line for each case not restored\n"
	"  -L, --list-all      print a line for each case\n"
	"  -K, --keep DIR      leave the repaired volumes there, as CASE.img, "
	"that\n"
	"                      are restored or named\n"
	"  -t, --totals        print no table for each image\n"
	"  -f, --fail LIST     fail where a case ends as: "
	"restored,unproved,false,\n"
	"                      named,refused,gone,unseen,option,LOST,status,crash\n"
	"                      (default: none)\n";

static _Noreturn void usage(void)
{
	fputs(usage_text, stderr);
	exit(2);
}

static const char *kind_name(unsigned int i)
{
	return target_kind_name((enum target_kind)i);
}

static const char *damage_name(unsigned int i)
{
	return spoil_name((enum spoil)i);
}

static const char *sums_name(unsigned int i)
{
	return i ? "matched" : "left";
}

static const char *end_name(unsigned int i)
{
	return verdict_name((enum verdict)i);
}

/* Sets in FLAGS those that LIST names, and no others. */
static void choose(char *list, bool *flags, unsigned int count,
		   const char *(*name_of)(unsigned int i))
{
	char *word, *rest = list;
	unsigned int i;

	memset(flags, 0, count * sizeof(*flags));
	while ((word = strsep(&rest, ","))) {
		for (i = 0; i < count && strcmp(word, name_of(i)); i++)
			continue;
		if (i == count)
			usage();
		flags[i] = true;
	}
}

static unsigned long number_in(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*end || !n)
		usage();
	return n;
}

static const struct option long_options[] = {
	{"kinds", required_argument, NULL, 'k'},
	{"damage", required_argument, NULL, 'd'},
	{"sums", required_argument, NULL, 's'},
	{"every", required_argument, NULL, 'e'},
	{"case", required_argument, NULL, 'c'},
	{"seed", required_argument, NULL, 'S'},
	{"jobs", required_argument, NULL, 'j'},
	{"many", required_argument, NULL, 'm'},
	{"options", no_argument, NULL, 'o'},
	{"differences", no_argument, NULL, 'D'},
	{"list", no_argument, NULL, 'l'},
	{"list-all", no_argument, NULL, 'L'},
	{"keep", required_argument, NULL, 'K'},
	{"totals", no_argument, NULL, 't'},
	{"fail", required_argument, NULL, 'f'},
	{NULL, 0, NULL, 0},
};

/* What the command line asks for. */
struct request {
	struct runner_options runner;
	bool only_totals, options, differences;
	bool bad[VERDICTS]; /* how no case may end */
};

static void read_option(struct request *r, int option)
{
	struct runner_options *o = &r->runner;

	switch (option) {
	case 'k':
		choose(optarg, o->kinds, TARGET_KINDS, kind_name);
		break;
	case 'd':
		choose(optarg, o->spoils, SPOIL_KINDS, damage_name);
		break;
	case 's':
		choose(optarg, o->sums, 2, sums_name);
		break;
	case 'e':
		o->every = number_in(optarg);
		break;
	case 'c':
		o->only = optarg;
		break;
	case 'S':
		o->seed = number_in(optarg);
		break;
	case 'j':
		o->jobs = (unsigned int)number_in(optarg);
		break;
	case 'm':
		o->many = number_in(optarg);
		break;
	case 'D':
		r->differences = true;
		break;
	case 'o':
		r->options = true;
		break;
	case 'l':
	case 'L':
		o->list = true;
		o->list_all = o->list_all || option == 'L';
		break;
	case 'K':
		o->keep = optarg;
		break;
	case 't':
		r->only_totals = true;
		break;
	case 'f':
		choose(optarg, r->bad, VERDICTS, end_name);
		break;
	default:
		usage();
	}
}

static void read_options(struct request *r, int argc, char **argv)
{
	struct runner_options *o = &r->runner;
	int option;

	*o = (struct runner_options){.every = 1, .seed = 1, .jobs = 2};
	memset(o->kinds, true, sizeof(o->kinds));
	memset(o->spoils, true, sizeof(o->spoils));
	memset(o->sums, true, sizeof(o->sums));
	while ((option = getopt_long(argc, argv, "k:d:s:e:c:S:j:m:oDlLK:tf:",
				     long_options, NULL)) >= 0)
		read_option(r, option);
}

static int make(const char *image, const char *id, const char *out,
		uint64_t seed)
{
	struct damage_case c;
	struct arena arena;
	struct bench b;
	bool done;

	runner_open(&b, image, seed);
	arena_load(&arena, image);
	done = runner_find(&b, id, &c) &&
	       spoil_do(&c, &b.targets, seed, arena.bytes, b.sound, b.size);
	if (done)
		runner_write(out, arena.bytes, arena.size);
	else
		fprintf(stderr, "%s: %s has no such case\n", id, image);
	runner_close(&b);
	arena_close(&arena);
	return !done;
}

/* "NAME" of ".../NAME/image", as the images of the corpus are kept. */
static void name_of(const char *path, char *name, size_t size)
{
	const char *end = strrchr(path, '/'), *start;

	if (!end || strcmp(end, "/image")) {
		snprintf(name, size, "%s", end ? end + 1 : path);
		return;
	}
	for (start = end; start > path && start[-1] != '/'; start--)
		continue;
	snprintf(name, size, "%.*s", (int)(end - start), start);
}

static void run(const char *path, const struct request *r, struct table *all)
{
	struct table table = {0};
	struct bench b;
	char name[64];

	name_of(path, name, sizeof(name));
	runner_open(&b, path, r->runner.seed);
	b.options = r->options;
	b.differences = r->differences;
	runner_run(&b, name, path, &r->runner, fsck_main, &table);
	runner_close(&b);
	if (!r->only_totals)
		table_print(&table, name);
	table_merge(all, &table);
}

static bool ended_badly(const struct table *t, const struct request *r)
{
	enum verdict v;

	for (v = 0; v < VERDICTS; v++)
		if (r->bad[v] && table_count(t, v))
			return true;
	return false;
}

#undef main
int main(int argc, char **argv)
{
	struct request r = {.only_totals = false};
	struct table all = {0};

	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(&r, argc, argv);
	argv += optind;
	argc -= optind;
	if (argc == 4 && !strcmp(argv[0], "make"))
		return make(argv[1], argv[2], argv[3], r.runner.seed);
	if (!argc)
		usage();
	while (argc--)
		run(*argv++, &r, &all);
	table_print_totals(&all);
	return ended_badly(&all, &r);
}
