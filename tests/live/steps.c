// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: counts the steps in which gc.nilfs2 changes a mounted volume with
 * zones, and stops after each.
 *
 * STEP_LOG: a file that gets the name of each step.  STEP_KILL: the process is killed
 * after so many of them.  STEP_RUN: a command that is run after each, with its number
 * and name.
 */
#define _GNU_SOURCE
#include <linux/blkzoned.h>
#include <linux/nilfs2_api.h>
#include <signal.h>
#include <stdarg.h>
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
	ret = (int)syscall(SYS_ioctl, fd, request, arg);
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
