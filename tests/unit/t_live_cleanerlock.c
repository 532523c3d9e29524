// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lock of the cleaner: who excludes whom, and what happens when its owner is
 * killed, with other processes that wait for it as nilfs_cleanerd does, by sem_wait().
 */
#include "live/cleanerlock.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/live.h"
#include "tap.h"

/* The name of the semaphore of a volume on device NUMBER, as libnilfs makes it. */
static void name_of(const struct live *l, char name[64])
{
	snprintf(name, 64, "/nilfs-cleaner-%llu", (unsigned long long)l->number);
}

/* A child that takes the lock, writes a byte, and keeps it until it is killed. */
static pid_t start_owner(const struct live *l)
{
	struct cleanerlock *c;
	struct context cx;
	int ends[2];
	char byte;
	pid_t pid;

	must(pipe(ends));
	pid = fork();
	must(pid);
	if (!pid) {
		context_init(&cx);
		if (cleanerlock_take(&c, &cx, l, 5))
			_exit(1);
		must(write(ends[1], "x", 1));
		for (;;)
			pause();
	}
	close(ends[1]);
	is_int(read(ends[0], &byte, 1), 1, "another process takes the lock");
	close(ends[0]);
	return pid;
}

/* A child that waits for the semaphore without a limit, and exits when it has it. */
static pid_t start_waiter(const struct live *l)
{
	char name[64];
	sem_t *sem;
	pid_t pid = fork();

	must(pid);
	if (!pid) {
		name_of(l, name);
		sem = sem_open(name, O_CREAT, 0700, 1);
		while (sem_wait(sem) && errno == EINTR)
			;
		sem_post(sem);
		_exit(0);
	}
	/* Until it waits. */
	usleep(100000);
	return pid;
}

static void end(pid_t pid, int sig)
{
	if (sig)
		kill(pid, sig);
	must(waitpid(pid, NULL, 0));
}

int main(void)
{
	/* No device of a mount has this number. */
	char dir[] = "/dir";
	struct live l = { .dir = dir, .number = (dev_t)1 << 40 |
						 (dev_t)getpid() };
	struct cleanerlock *c = NULL;
	char name[64], pid_text[24];
	struct context cx;
	pid_t owner, waiter;
	int waited;

	context_init(&cx);
	name_of(&l, name);
	sem_unlink(name);
	is_int(cleanerlock_take(&c, &cx, &l, 0), 0, "a free lock");
	/* Its semaphore is one that this process has created. */
	owner = fork();
	must(owner);
	if (!owner)
		_exit(cleanerlock_take(&c, &cx, &l, 1) != -EBUSY);
	must(waitpid(owner, &waited, 0));
	is_int(waited, 0, "another process does not get it");
	cleanerlock_release(c);

	owner = start_owner(&l);
	is_int(cleanerlock_take(&c, &cx, &l, 1), -EBUSY, "the lock of another");
	snprintf(pid_text, sizeof(pid_text), ": %ld (", (long)owner);
	ok(strstr(cx.failure, pid_text), "its owner is named");
	waiter = start_waiter(&l);
	is_int(cleanerlock_take(&c, &cx, &l, 1), -EBUSY, "while others wait");
	end(owner, SIGKILL);
	/* It might have passed on to one that was looked at before. */
	is_int(cleanerlock_take(&c, &cx, &l, 1), -EBUSY,
	       "a lock without an owner, after a few looks");
	is_int(cleanerlock_take(&c, &cx, &l, 5), 0,
	       "a lock whose owner was killed, for which others wait");
	cleanerlock_release(c);
	end(waiter, 0);
	ok(true, "the one that waited has it then");

	owner = start_owner(&l);
	end(owner, SIGKILL);
	is_int(cleanerlock_take(&c, &cx, &l, 5), 0, "a lock whose owner was killed");
	owner = fork();
	must(owner);
	if (!owner)
		_exit(cleanerlock_take(&c, &cx, &l, 1) != -EBUSY);
	must(waitpid(owner, &waited, 0));
	is_int(waited, 0, "it is held then");
	cleanerlock_release(c);
	is_int(cleanerlock_take(&c, &cx, &l, 0), 0, "and free again");
	cleanerlock_release(c);
	sem_unlink(name);
	return tap_done();
}
