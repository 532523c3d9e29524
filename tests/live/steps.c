// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: counts the steps in which gc.nilfs2 changes a mounted volume with
 * zones, and stops after each; or makes a snapshot at the wrong moment.
 *
 * STEP_LOG: a file that gets the name of each step.  STEP_KILL: the process is killed
 * after so many of them.  STEP_RUN: a command that is run after each, with its number
 * and name.  STEP_SNAPSHOT: a file that is made when, for the duration of the first
 * call that deletes a checkpoint, that is a snapshot: the call fails then.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/blkzoned.h>
#include <linux/nilfs2_api.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	unsigned long request;
	const char *name;
} steps[] = {
	{ NILFS_IOCTL_CLEAN_SEGMENTS, "move" },
	{ NILFS_IOCTL_SET_SUINFO, "set" },
	{ NILFS_IOCTL_SYNC, "sync" },
	{ BLKRESETZONE, "reset" },
};

/* Makes a checkpoint of one of the N periods P a snapshot: its number, or 0. */
static __u64 keep_one(int fd, const struct nilfs_period *p, __u32 n)
{
	struct nilfs_cpmode mode = { .cm_mode = NILFS_SNAPSHOT };
	struct nilfs_cpinfo info;
	struct nilfs_argv argv = {
		.v_base = (uintptr_t)&info,
		.v_size = sizeof(info),
		.v_flags = NILFS_CHECKPOINT,
	};

	for (; n; p++, n--) {
		argv.v_index = p->p_start;
		argv.v_nmembs = 1;
		if (syscall(SYS_ioctl, fd, NILFS_IOCTL_GET_CPINFO, &argv) < 0 ||
		    !argv.v_nmembs || info.ci_cno >= p->p_end)
			continue;
		mode.cm_cno = info.ci_cno;
		if (!syscall(SYS_ioctl, fd, NILFS_IOCTL_CHANGE_CPMODE, &mode))
			return mode.cm_cno;
	}
	return 0;
}

/* NILFS_IOCTL_CLEAN_SEGMENTS with STEP_SNAPSHOT. */
static int clean_segments(int fd, const struct nilfs_argv *argv)
{
	struct nilfs_cpmode mode = { .cm_mode = NILFS_CHECKPOINT };
	const char *made = getenv("STEP_SNAPSHOT");
	int ret;

	if (made && access(made, F_OK))
		mode.cm_cno = keep_one(fd, (void *)(uintptr_t)argv[1].v_base,
				       argv[1].v_nmembs);
	ret = (int)syscall(SYS_ioctl, fd, NILFS_IOCTL_CLEAN_SEGMENTS, argv);
	if (mode.cm_cno) {
		FILE *f = fopen(made, "w");
		int error = errno;

		if (!f || syscall(SYS_ioctl, fd, NILFS_IOCTL_CHANGE_CPMODE, &mode))
			abort();
		fclose(f);
		errno = error;
	}
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	static int n;
	const char *log = getenv("STEP_LOG"), *stop = getenv("STEP_KILL");
	const char *command = getenv("STEP_RUN");
	char text[512];
	va_list ap;
	void *arg;
	size_t i;
	FILE *f;
	int ret;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	ret = request == NILFS_IOCTL_CLEAN_SEGMENTS ?
		      clean_segments(fd, arg) :
		      (int)syscall(SYS_ioctl, fd, request, arg);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].request == request)
			break;
	if (ret < 0 || i == sizeof(steps) / sizeof(steps[0]))
		return ret;
	n++;
	f = log ? fopen(log, "a") : NULL;
	if (f) {
		fprintf(f, "%d %s\n", n, steps[i].name);
		fclose(f);
	}
	if (command) {
		snprintf(text, sizeof(text), "LD_PRELOAD= %s %d %s", command, n,
			 steps[i].name);
		if (system(text))
			abort();
	}
	if (stop && n == atoi(stop))
		kill(getpid(), SIGKILL);
	return ret;
}
