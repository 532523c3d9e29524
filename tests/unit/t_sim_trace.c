// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traces: what lines of other programs mean, as these programs define them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gc/sim/simtrace.h"

#include "tap.h"

#define STEPS 256

/* What a trace of TEXT does, a word a step. */
static int steps_of(const char *text, enum simtrace_format format, char *steps)
{
	char path[] = "/tmp/t_sim_trace.XXXXXX";
	int fd = mkstemp(path), ret;
	FILE *f = fdopen(fd, "w");
	struct context cx;
	struct simtrace t;
	struct simop op;

	fputs(text, f);
	fclose(f);
	context_init(&cx);
	ret = simtrace_open(&t, &cx, path, format, 4096);
	*steps = '\0';
	while (!ret && (ret = simtrace_next(&t, &cx, &op)) > 0) {
		sprintf(steps + strlen(steps), "%c%llu+%llu ",
			op.kind == SIMOP_WRITE ? 'w' :
			op.kind == SIMOP_TRIM  ? 't' : 's',
			(unsigned long long)op.block,
			(unsigned long long)op.count);
		ret = 0;
	}
	simtrace_close(&t);
	unlink(path);
	return ret;
}

static void has_steps(const char *text, const char *want, const char *name)
{
	char steps[STEPS];

	is_int(steps_of(text, SIMTRACE_GUESS, steps), 0, "it is read");
	is_str(steps, want, name);
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
		  "w0+2 w5+1 w3+1 s0+0 t0+2 ",
		  "fio's iolog: files after each other, parts of blocks");
	has_steps("fio version 3 iolog\n"
		  "0 /mnt/a add\n"
		  "12 /mnt/a write 4096 4096\n"
		  "13 /mnt/a datasync 0 0\n",
		  "w1+1 s0+0 ", "the same with times");
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
		  "w1+2 s0+0 w4+1 t1+1 ",
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
		  "w1+2 w0+2 s0+0 t1+2 t1+2 ",
		  "lines with commas: deleted are whole blocks that exist");
}

static void test_bad(void)
{
	char steps[STEPS];

	is_int(steps_of("", SIMTRACE_GUESS, steps), -EINVAL, "nothing");
	is_int(steps_of("what,is,this\n", SIMTRACE_GUESS, steps), -EINVAL,
	       "nothing that is written");
	is_int(steps_of("1,write,18446744073709551615,18446744073709551615\n"
			"1,write,9223372036854775808,1\n"
			"1,write,-1,4096\n", SIMTRACE_CSV, steps), -EINVAL,
	       "numbers that are no places");
	is_int(steps_of("1,write,4611686018427387000,4096\n", SIMTRACE_CSV,
			steps), -EINVAL, "a place past what can be simulated");
	is_int(steps_of("fio version 2 iolog\nf write 0 4096\n"
			"g trim 0 4096\nf trim 9000 1\n", SIMTRACE_FIO, steps),
	       0, "trims of what was not written");
	is_str(steps, "w0+1 ", "... are nothing");
}

/* A trace may be long: who is asked to stop does so. */
static void test_cancelled(void)
{
	char path[] = "/tmp/t_sim_trace.XXXXXX";
	int fd = mkstemp(path);
	volatile sig_atomic_t stop = 1;
	struct context cx;
	struct simtrace t;

	if (!ok(write(fd, "0,write,0,4096\n", 15) == 15, "a trace"))
		return;
	close(fd);
	context_init(&cx);
	cx.cancel = &stop;
	is_int(simtrace_open(&t, &cx, path, SIMTRACE_GUESS, 4096), -EINTR,
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
	test_cancelled();
	return tap_done();
}
