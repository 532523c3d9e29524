// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traces: what lines of other programs mean, as these programs define them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gc/sim/trace/simreplay.h"

#include "tap.h"

#define STEPS 256

/* What the VOLUME of the trace in the file PATH does, a word a step. */
static int steps_of_file(const char *path, const struct simtrace_config *config,
			 char *steps)
{
	struct simtrace_config c = *config;
	struct simreplay replay = { 0 };
	struct context cx;
	struct simtrace t;
	struct simop op;
	int ret;

	c.path = path;
	c.block_size = 4096;
	context_init(&cx);
	ret = simtrace_open(&t, &cx, &c);
	*steps = '\0';
	if (!ret)
		ret = simreplay_open(&replay, &cx, &t, 0);
	while (!ret && (ret = simreplay_next(&replay, &cx, &op)) > 0) {
		sprintf(steps + strlen(steps), "%c%llu+%llu ",
			op.kind == SIMOP_WRITE ? 'w' :
			op.kind == SIMOP_TRIM  ? 't' : 's',
			(unsigned long long)op.block,
			(unsigned long long)op.count);
		ret = 0;
	}
	simreplay_close(&replay);
	simtrace_close(&t);
	return ret;
}

/* The same for LEN bytes at TEXT. */
static int steps_of_bytes(const void *text, size_t len,
			  const struct simtrace_config *config, char *steps)
{
	char path[] = "/tmp/t_sim_trace.XXXXXX";
	int fd = mkstemp(path), ret;
	FILE *f = fdopen(fd, "w");

	fwrite(text, 1, len, f);
	fclose(f);
	ret = steps_of_file(path, config, steps);
	unlink(path);
	return ret;
}

static int steps_of(const char *text, const struct simtrace_config *config,
		    char *steps)
{
	return steps_of_bytes(text, strlen(text), config, steps);
}

static const struct simtrace_config dense, raw = { .raw = true };

/* TEXT does WANT with blocks numbered without gaps, and RAW with gaps. */
static void has_steps(const char *text, const char *want, const char *with_gaps,
		      const char *name)
{
	char steps[STEPS];

	is_int(steps_of(text, &dense, steps), 0, "it is read");
	is_str(steps, want, name);
	is_int(steps_of(text, &raw, steps), 0, "it is read with its addresses");
	is_str(steps, with_gaps, "... does the same with gaps");
}

static void test_fio(void)
{
	/* HOWTO of fio, "Trace file format v2". */
	has_steps("fio version 2 iolog\n"
		  "/mnt/a add\n"
		  "/mnt/b add\n"
		  "/mnt/a open\n"
		  "/mnt/a write 0 8192\n"
		  "/mnt/b write 4096 4096\n"
		  "/mnt/a read 0 4096\n"
		  "/mnt/a write 12288 100\n"
		  "/mnt/a wait 1000\n"
		  "/mnt/a sync 0 0\n"
		  "/mnt/a trim 0 8192\n"
		  "/mnt/a close\n",
		  "w0+2 w3+1 w2+1 s0+0 t0+2 ", "w0+2 w5+1 w3+1 s0+0 t0+2 ",
		  "fio's iolog: files after each other, parts of blocks");
	has_steps("fio version 3 iolog\n"
		  "0 /mnt/a add\n"
		  "12 /mnt/a write 4096 4096\n"
		  "13 /mnt/a datasync 0 0\n",
		  "w0+1 s0+0 ", "w1+1 s0+0 ", "the same with times");
	has_steps("0, 0, 4096\n1, 8192, 4096\n1, 0, 4096\n", "w1+1 w0+1 ",
		  "w2+1 w0+1 ", "fio's first version");
}

static void test_blkparse(void)
{
	/* Queued requests count, what becomes of them does not. */
	has_steps("  8,16 1 1 0.000000000  4162  Q   W 8 + 16 [dd]\n"
		  "  8,16   1     2  0.000000100  4162  G   W 8 + 16 [dd]\n"
		  "  8,16   1     3  0.000000200  4162  C   W 8 + 16 [0]\n"
		  "  8,16   0     4  0.000000300  4162  Q  RA 64 + 8 [cat]\n"
		  "  8,16   0     5  0.000000400  4162  Q FWS [jbd2]\n"
		  "  8,16   0     6  0.000000500  4162  Q  WS 32 + 8 [dd]\n"
		  "  8,16   0     7  0.000000600  4162  Q   D 8 + 8 [rm]\n"
		  "CPU0 (sdb):\n Reads Queued:        1,     4KiB\n",
		  "w0+2 s0+0 w2+1 t0+1 ", "w1+2 s0+0 w4+1 t1+1 ",
		  "blkparse: sectors, flushes, discards");
}

static void test_csv(void)
{
	has_steps("time,operation,offset,length\n"
		  "0.5,write,4096,8192\n"
		  "0.6,read,0,4096\n"
		  "0.7,W,4000,200\r\n"
		  "0.8,sync\n"
		  "0.9,delete,4095,8193\n"
		  "1.0,delete,4095,99999\n",
		  "w1+2 w0+2 s0+0 t1+2 t1+2 ", "w1+2 w0+2 s0+0 t1+2 t1+2 ",
		  "lines with commas: deleted are whole blocks that exist");
	has_steps("offset,length,operation\n4096,1,write\n0,1,write\n",
		  "w1+1 w0+1 ", "w1+1 w0+1 ", "a heading gives the order");
	/* More than 64 blocks, and two such runs far from each other. */
	has_steps("0,write,1048576,413696\n1,write,1099511627776,8192\n"
		  "2,trim,1200128,1099511627776\n",
		  "w0+101 w101+2 t37+66 ",
		  "w256+101 w268435456+2 t293+268435165 ",
		  "addresses are dense, however far from each other");
}

static void fails_with(const char *text, const struct simtrace_config *config,
		       const char *name)
{
	char steps[STEPS];

	is_int(steps_of(text, config, steps), -EINVAL, name);
}

static void test_bad(void)
{
	const struct simtrace_config csv = { .format = 7 };
	char steps[STEPS];

	is_str(simformat_names[csv.format], "csv", "a format by its number");
	fails_with("", &dense, "nothing");
	fails_with("what,is,this\n", &dense, "nothing that is written");
	fails_with("1,write,18446744073709551615,18446744073709551615\n"
		   "1,write,9223372036854775808,1\n"
		   "1,write,-1,4096\n", &csv, "numbers that are no places");
	fails_with("1,write,4611686018427387000,4096\n", &raw,
		   "a place past what can be simulated");
	fails_with("1,write,0,4611686018427387000\n", &dense,
		   "a length past what can be simulated");
	is_int(steps_of("fio version 2 iolog\nf write 0 4096\n"
			"g trim 0 4096\nf trim 9000 1\n", &dense, steps),
	       0, "trims of what was not written");
	is_str(steps, "w0+1 ", "... are nothing");
}

/* Zeros in a line end nothing: "w" with some after it is no word. */
static void test_zeros(void)
{
	static const char text[] = "0,write,0,4096\n0,w\0\0\0\0\0\0\0,0,1\n";
	struct simtrace_config config = { .format = 7 };
	char steps[STEPS];

	is_int(steps_of_bytes(text, sizeof(text) - 1, &config, steps), -EINVAL,
	       "zeros in a line");
}

/* Opens a trace of GOOD writes and BAD lines that mean nothing. */
static int open_mixed(struct simtrace *t, struct context *cx, unsigned int good,
		      unsigned int bad)
{
	char path[] = "/tmp/t_sim_trace.XXXXXX";
	const struct simtrace_config config = {
		.path = path, .block_size = 4096,
	};
	int fd = mkstemp(path), ret;
	FILE *f = fdopen(fd, "w");

	fprintf(f, "0,write,0,4096\n");
	for (; good > 1; good--)
		fprintf(f, "1,write,4096,4096\n");
	for (; bad; bad--)
		fprintf(f, "1,scribble,4096,4096\n");
	fclose(f);
	ret = simtrace_open(t, cx, &config);
	unlink(path);
	return ret;
}

static void test_bad_share(void)
{
	struct context cx;
	struct simtrace t;

	context_init(&cx);
	is_int(open_mixed(&t, &cx, 99, 1), 0, "one bad line of a hundred");
	ok(t.counts.bad == 1 && t.counts.writes == 99 && t.counts.lines == 100,
	   "... is counted");
	ok(t.counts.first_bad == 100, "... and where it is");
	simtrace_close(&t);
	is_int(open_mixed(&t, &cx, 98, 2), -EINVAL, "two are too many");
	simtrace_close(&t);
}

/* Two volumes with the same addresses. */
static const char two_volumes[] =
	"0,W,0,4096,1577808000000626\n"
	"1,W,0,8192,1577808000000627\n"
	"0,W,0,4096,1577808000000628\n"
	"7,R,0,4096,1577808000000629\n"
	"1,W,4096,4096,1577808000000620\n";

static void test_volumes(void)
{
	struct simtrace_config config = { .volume = "1" };
	char steps[STEPS];

	fails_with(two_volumes, &dense, "volumes are not laid over each other");
	is_int(steps_of(two_volumes, &config, steps), 0, "one of them");
	is_str(steps, "w0+2 w1+1 ", "... alone");
	config.volume = "7";
	fails_with(two_volumes, &config, "one that is only read");
	config.volume = "each";
	is_int(steps_of(two_volumes, &config, steps), 0, "each");
	is_str(steps, "w0+1 w0+1 ", "... begins with the first one");
	is_int(steps_of("fio version 2 iolog\n/dev/a write 0 4096\n", &dense,
			steps), 0, "a device in an iolog");
	fails_with("fio version 2 iolog\n/dev/a write 0 4096\n"
		   "/dev/b write 0 4096\n", &dense,
		   "devices in an iolog are volumes");
}

/* Steps and their times, of a trace that is longer than a page of them. */
static void test_pages(void)
{
	char path[] = "/tmp/t_sim_trace.XXXXXX";
	const struct simtrace_config config = {
		.path = path, .block_size = 4096,
	};
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct simreplay replay[2];
	unsigned int i, wrong = 0, n = 100000;
	struct context cx;
	struct simtrace t;
	struct simop op;

	for (i = 0; i < n; i++)
		fprintf(f, "%u.%06u,w,%llu,4096\n", i / 1000, i % 1000,
			i * 7919ull % n * 1048576);
	fclose(f);
	context_init(&cx);
	cx.scratch_dir = "/tmp";
	if (!ok(!simtrace_open(&t, &cx, &config), "a long trace"))
		return;
	ok(t.spool.pages > 10, "... is in a file");
	simreplay_open(&replay[0], &cx, &t, 0);
	simreplay_open(&replay[1], &cx, &t, 0);
	for (i = 0; i < 2 * n; i++) {
		unsigned int k = i / 2;

		if (simreplay_next(&replay[i % 2], &cx, &op) != 1 ||
		    op.block != k * 7919ull % n || op.count != 1 ||
		    op.time != k / 1000 * 1000000ull + k % 1000)
			wrong++;
	}
	ok(!wrong, "all steps, for two readers at a time");
	is_int(simreplay_next(&replay[0], &cx, &op), 0, "... and no more");
	simreplay_close(&replay[0]);
	simreplay_close(&replay[1]);
	simtrace_close(&t);
	unlink(path);
}

/* A trace may be long: who is asked to stop does so. */
static void test_cancelled(void)
{
	char path[] = "/tmp/t_sim_trace.XXXXXX";
	const struct simtrace_config config = {
		.path = path, .block_size = 4096,
	};
	int fd = mkstemp(path);
	volatile sig_atomic_t stop = 1;
	struct context cx;
	struct simtrace t;

	if (!ok(write(fd, "0,write,0,4096\n", 15) == 15, "a trace"))
		return;
	close(fd);
	context_init(&cx);
	cx.cancel = &stop;
	is_int(simtrace_open(&t, &cx, &config), -EINTR,
	       "it is not read to its end");
	simtrace_close(&t);
	unlink(path);
}

int main(void)
{
	test_fio();
	test_blkparse();
	test_csv();
	test_bad();
	test_zeros();
	test_bad_share();
	test_volumes();
	test_pages();
	test_cancelled();
	return tap_done();
}
