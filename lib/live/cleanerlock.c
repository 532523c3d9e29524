// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lock of the cleaner.
 *
 * It is a named POSIX semaphore with the value 1, "/nilfs-cleaner-DEVICE", as of
 * libnilfs (nilfs_lock_cleaner()).  A semaphore has no owner, and keeps the value 0 if
 * the process that has taken it is killed; then every cleaner waits for ever.  But a
 * process that uses a semaphore has its file mapped, and one that waits for it is in a
 * system call with an address in this mapping.  So the owner has ended if all others
 * that map the file wait.  A file lock on the file excludes that two processes find
 * this out at once.  The processes are looked at one after the other, and the lock may
 * pass meanwhile from one that is not looked at yet to one that was: so it is taken over
 * only after many looks in a row that show no owner.
 */
#include "config.h"

#include "live/cleanerlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "dev/probe.h"
#include "live/live.h"

#define PAUSE_MS 50

/* So many looks in a row show no owner of a lock that is taken over. */
#define LOOKS 10

/* Pauses in which others may take it first. */
#define YIELDS 20

struct cleanerlock {
	sem_t *sem;
	bool held;
	const struct live *live;
	char file[PATH_MAX];	/* of the semaphore */
};

/* The processes that have mapped the file of a semaphore. */
struct users {
	char text[200];		/* "123 (nilfs_cleanerd), 124 (...)" */
	bool any, waits;	/* one of them waits, or may: not each
				   kernel shows it */
	bool owner;		/* one of them does not */
	long daemon;		/* nilfs_cleanerd, or 0 */
};

/*
 * Looks at the process PID; FILE is that of the semaphore.  The process that has created
 * it has mapped it by another name.
 */
static void add_user(struct users *u, const char *pid, const struct stat *file)
{
	unsigned long long from, to, inode, number, at;
	unsigned int maj, min;
	size_t len = strlen(u->text);
	char name[64] = "?", call[256];
	bool maps = false, waits = false, known = false;
	char *line = NULL;
	char path[64];
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	f = fopen(path, "re");
	while (f && getline(&line, &room, f) >= 0) {
		if (sscanf(line, "%llx-%llx %*s %*s %x:%x %llu", &from, &to,
			   &maj, &min, &inode) != 5 ||
		    makedev(maj, min) != file->st_dev || inode != file->st_ino)
			continue;
		maps = true;
		/* "NUMBER ARGUMENT ...", or "running". */
		known = probe_line(call, sizeof(call), "/proc/%s/syscall", pid);
		waits |= known &&
			 sscanf(call, "%llu %llx", &number, &at) == 2 &&
			 at >= from && at < to;
	}
	free(line);
	if (f)
		fclose(f);
	if (!maps)
		return;
	u->any = true;
	probe_line(name, sizeof(name), "/proc/%s/comm", pid);
	if (!strcmp(name, "nilfs_cleanerd"))
		u->daemon = atol(pid);
	u->waits |= waits || !known;
	if (waits)
		return;
	u->owner = true;
	snprintf(u->text + len, sizeof(u->text) - len, "%s%s (%s)",
		 len ? ", " : "", pid, name);
}

static void find_users(struct users *u, const char *file)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct stat st;
	char own[24];
	bool blind;

	snprintf(own, sizeof(own), "%ld", (long)getpid());
	*u = (struct users){ .owner = !dir || stat(file, &st) };
	/* Without these, the owner is unknown. */
	blind = u->owner;
	while (!blind && (entry = readdir(dir)))
		if (strspn(entry->d_name, "0123456789") ==
			    strlen(entry->d_name) &&
		    strcmp(entry->d_name, own))
			add_user(u, entry->d_name, &st);
	if (dir)
		closedir(dir);
}

/* Takes SEM, whose file is FILE, if its owner has ended.  *LOOKS have shown none. */
static bool take_over(sem_t *sem, const char *file, unsigned int *looks)
{
	int value, fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct users u;
	bool taken = false;

	if (fd < 0)
		return false;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		find_users(&u, file);
		/* The owner may have released it just now. */
		taken = !sem_trywait(sem);
		if (!taken) {
			*looks = !u.owner && !sem_getvalue(sem, &value) &&
				 value <= 0 ? *looks + 1 : 0;
			taken = *looks == LOOKS;
		}
	}
	close(fd);
	return taken;
}

/* The name of the semaphore of L, and that of its file. */
static void find_names(const struct live *l, char name[NAME_MAX], char file[PATH_MAX])
{
	snprintf(name, NAME_MAX, "/nilfs-cleaner-%llu",
		 (unsigned long long)l->number);
	snprintf(file, PATH_MAX, "/dev/shm/sem.%s", name + 1);
}

long cleanerlock_daemon(const struct live *l)
{
	char name[NAME_MAX], file[PATH_MAX];
	struct users u;

	find_names(l, name, file);
	find_users(&u, file);
	return u.daemon;
}

/*
 * Waits for the semaphore of C: first up to a second in which others, if there are any,
 * may take it, then at most SECONDS.
 */
static int wait_for(struct cleanerlock *c, struct context *cx, unsigned int seconds)
{
	uint64_t tries = (uint64_t)seconds * (1000 / PAUSE_MS), i;
	unsigned int looks = 0;
	struct timespec end;
	struct users u;
	int ret = 0;

	for (i = 0; i < YIELDS && !context_cancelled(cx); i++) {
		find_users(&u, c->file);
		if (!u.any)
			break;
		usleep(PAUSE_MS * 1000);
	}
	for (i = 0; !ret; i++) {
		/* A short time, in the system call that add_user() finds. */
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_nsec += PAUSE_MS * 1000000L;
		end.tv_sec += end.tv_nsec / 1000000000L;
		end.tv_nsec %= 1000000000L;
		c->held = !sem_timedwait(c->sem, &end);
		if (c->held)
			break;
		ret = errno == ETIMEDOUT || errno == EINTR ?
			      context_cancelled(cx) :
			      fail(cx, -errno, "%s: lock of the cleaner",
				   c->live->dir);
		/* A process that has just mapped it may be about to take it. */
		c->held = !ret && i % 4 == 3 && take_over(c->sem, c->file, &looks);
		if (c->held)
			break;
		if (!ret && i >= tries) {
			find_users(&u, c->file);
			ret = fail_said(cx, -EBUSY, "%s: another cleaner is at work: "
					"%s; stop it, or wait for it", c->live->dir,
					u.text[0] ? u.text : "unknown process");
		}
	}
	return ret;
}

int cleanerlock_take(struct cleanerlock **cp, struct context *cx,
		     const struct live *l, unsigned int seconds)
{
	struct cleanerlock *c = calloc(1, sizeof(*c));
	char name[NAME_MAX];
	int ret;

	if (!c)
		return fail(cx, -ENOMEM, "%s: lock of the cleaner", l->dir);
	c->live = l;
	find_names(l, name, c->file);
	c->sem = sem_open(name, O_CREAT, S_IRWXU, 1);
	if (c->sem == SEM_FAILED) {
		ret = fail(cx, -errno, "%s: lock of the cleaner: %s", l->dir,
			   c->file);
		free(c);
		return ret;
	}
	ret = wait_for(c, cx, seconds);
	if (ret)
		cleanerlock_release(c);
	else
		*cp = c;
	return ret;
}

int cleanerlock_lend(struct cleanerlock *c, struct context *cx)
{
	struct users u;
	int ret;

	find_users(&u, c->file);
	if (!u.waits)
		return 0;
	c->held = false;
	sem_post(c->sem);
	/* Whatever has it, the job goes on after that, or a signal ends it. */
	ret = wait_for(c, cx, UINT_MAX);
	return ret ? ret : 1;
}

void cleanerlock_release(struct cleanerlock *c)
{
	if (!c)
		return;
	if (c->held)
		sem_post(c->sem);
	sem_close(c->sem);
	free(c);
}
