// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files that tools create: what they never write to or replace, when they get
 * their name, what is left of those that do not, and who may read them.
 */
#include "config.h"

#include "dev/lock.h"
#include "dev/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

/* What renameat2() fails with, as on a file system that does not have it. */
static int rename_error;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	long a[5];
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 5; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_renameat2 && rename_error) {
		errno = rename_error;
		return -1;
	}
	return __real_syscall(number, a[0], a[1], a[2], a[3], a[4]);
}

/* What fsync() fails with for a directory. */
static int flush_error;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct stat st;

	if (flush_error && !fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		errno = flush_error;
		return -1;
	}
	return __real_fsync(fd);
}

static const struct output_how keep = { .there = OUTPUT_KEEP };
static const struct output_how force = { .there = OUTPUT_REPLACE };
static struct context cx;

/* Puts TEXT into the new file PATH. */
static int put(const char *path, const char *text, const struct output_how *how)
{
	struct output *o;
	int err = output_open(&o, &cx, path, how);

	if (!err && write(o->fd, text, strlen(text)) < 0)
		err = -errno;
	if (!err)
		err = output_commit(o, &cx);
	output_close(o);
	return err;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		ok(false, "write of %s", path);
}

static const char *content(const char *path)
{
	static char text[64];
	FILE *file = fopen(path, "r");

	text[0] = '\0';
	if (file) {
		if (!fgets(text, sizeof(text), file))
			text[0] = '\0';
		fclose(file);
	}
	return text;
}

/* Files in this directory, hidden ones as well. */
static unsigned int count(void)
{
	DIR *dir = opendir(".");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n - 2;
}

static unsigned int mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & 07777;
}

static void test_new(void)
{
	const struct output_how volume = { .volume = true };
	struct output *o;

	is_int(output_open(&o, &cx, "new", &keep), 0, "a file");
	is_int(access("new", F_OK), -1, "has no name at first");
	is_int(count(), 1, "but one that is hidden");
	is_int(write(o->fd, "text", 4), 4, "is written");
	is_int(output_commit(o, &cx), 0, "and complete");
	output_close(o);
	is_str(content("new"), "text", "it is there then");
	is_int(count(), 1, "and nothing else");
	is_int(mode_of("new"), 0640, "of the user's umask");
	unlink("new");
	is_int(output_open(&o, &cx, "./new", &keep), 0, "another one");
	output_close(o);
	is_int(count(), 0, "that is not completed goes");
	is_int(put("new", "text", &volume), 0, "one of a volume");
	is_int(mode_of("new"), 0600, "is for its owner");
	unlink("new");
	is_int(put("none/new", "text", &keep), -ENOENT, "without a directory");
	ok(strstr(cx.failure, "none/new"), "none: %s", cx.failure);
}

/* Refused with and without --force, and what that may have led to unharmed. */
static void test_never(const char *path, int err, const char *what)
{
	const char *const inputs[] = { "image", NULL };
	const struct output_how both[] = {
		{ .there = OUTPUT_ASK, .stream = true, .inputs = inputs },
		{ .there = OUTPUT_REPLACE, .stream = true, .inputs = inputs },
	};
	unsigned int i, before = count();

	for (i = 0; i < 2; i++) {
		is_int(put(path, "text", &both[i]), err, what);
		ok(!strncmp(cx.failure, path, strlen(path)) &&
		   strstr(cx.failure, "give the name of a new file"),
		   "with a remedy: %s", cx.failure);
		is_int(output_check(&cx, path, &both[i]), err, "or asked");
	}
	is_str(content("image"), "volume", "what is there stays");
	is_int(count(), before, "and nothing is left");
}

static void test_refused(void)
{
	int fd, device = -1;

	write_text("image", "volume");
	is_int(mkdir("folder", 0777), 0, "a directory");
	is_int(symlink("image", "link"), 0, "a link");
	is_int(symlink("absent", "dangling"), 0, "a link to nothing");
	is_int(link("image", "other"), 0, "another name");
	write_text("locked", "volume");
	test_never("image", -EINVAL, "the input");
	test_never("other", -EINVAL, "the input by another name");
	test_never("link", -ELOOP, "a symbolic link");
	test_never("dangling", -ELOOP, "a symbolic link to nothing");
	is_int(access("absent", F_OK), -1, "makes nothing");
	test_never("folder", -EISDIR, "a directory");
	test_never("folder/", -EISDIR, "a directory by its name");
	test_never("/dev/tty", -EEXIST, "a terminal");
	if (mknod("loop", S_IFBLK | 0600, 7 << 8) == 0)
		device = 0;
	if (device)
		ok(true, "# SKIP no block device can be made");
	else
		test_never("loop", -EEXIST, "a block device");

	is_int(put("locked", "text", &keep), -EEXIST, "a file that exists");
	ok(!strstr(cx.failure, "--force"), "for good: %s", cx.failure);
	is_str(content("locked"), "volume", "stays");
	fd = open("locked", O_RDWR);
	is_int(lock_file(&cx, "locked", fd, true), 0, "one in use");
	is_int(put("locked", "text", &force), -EBUSY, "is not replaced either");
	close(fd);
	is_str(content("locked"), "volume", "it stays");
}

static void test_replace(void)
{
	const char *const inputs[] = { "image", "absent", NULL };
	const struct output_how ask = { .there = OUTPUT_ASK };
	const struct output_how how = { OUTPUT_REPLACE, .inputs = inputs };
	struct stat before, after;
	struct output *o;
	int fd;

	is_int(put("locked", "text", &ask), -EEXIST, "without --force");
	ok(strstr(cx.failure, "--force"), "it is mentioned: %s", cx.failure);
	chmod("locked", 0604);
	stat("locked", &before);
	fd = open("locked", O_RDONLY);
	is_int(put("locked", "text", &how), 0, "with it a file is replaced");
	stat("locked", &after);
	ok(before.st_ino != after.st_ino, "by another file");
	is_int(after.st_mode & 0777, 0604, "of its mode");
	fstat(fd, &after);
	is_int(after.st_size, 6, "the old one is not written to");
	close(fd);
	is_str(content("locked"), "text", "and the new one has the name");

	is_int(output_open(&o, &cx, "locked", &how), 0, "one that fails");
	output_close(o);
	is_str(content("locked"), "text", "leaves the old one");
	is_int(output_open(&o, &cx, "locked", &how), 0, "one to be replaced");
	rename("other", "locked");
	is_int(output_commit(o, &cx), -EEXIST, "that becomes another file");
	output_close(o);
	is_str(content("locked"), "volume", "stays");
	is_int(output_open(&o, &cx, "locked", &force), 0, "or is removed");
	unlink("locked");
	is_int(output_commit(o, &cx), 0, "is made");
	output_close(o);
	unlink("locked");
}

static void test_meanwhile(int error)
{
	struct output *o;
	unsigned int before = count();

	rename_error = error;
	is_int(output_open(&o, &cx, "new", &force), 0, "a file to be");
	write_text("new", "another");
	is_int(output_commit(o, &cx), -EEXIST, "a file that appears");
	ok(!strncmp(cx.failure, "new: another file has got", 25), "is named: %s",
	   cx.failure);
	output_close(o);
	is_str(content("new"), "another", "and stays");
	unlink("new");
	is_int(put("new", "text", &keep), 0, "without it the name is given");
	is_str(content("new"), "text", "to the new file");
	unlink("new");
	is_int(count(), before, "nothing is left");
	rename_error = 0;
}

/* A directory that cannot be flushed: a new file is not left in it, but one that has
   replaced another stays, because the other is gone. */
static void test_flush(void)
{
	const struct output_how how = { OUTPUT_REPLACE, .volume = true };
	unsigned int before = count();

	flush_error = EIO;
	is_int(put("new", "text", &how), -EIO, "a directory that is not flushed");
	is_int(access("new", F_OK), -1, "does not get the new file");
	write_text("new", "another");
	is_int(put("new", "text", &how), -EIO, "not flushed once more");
	is_str(content("new"), "text", "a file that was replaced has its content");
	flush_error = EINVAL;
	is_int(put("new", "third", &how), 0, "one that has no flush");
	is_str(content("new"), "third", "gets all files");
	flush_error = 0;
	unlink("new");
	is_int(count(), before, "nothing is left here");
}

static void test_stream(void)
{
	const char *const inputs[] = { "image", NULL };
	const struct output_how how = { .stream = true, .inputs = inputs };
	int ends[2], fd;
	char name[32], text[8] = "";

	is_int(put("/dev/null", "text", &how), 0, "/dev/null");
	is_int(put("/dev/null", "text", &keep), -EEXIST, "is no image");
	is_int(put("/dev/full", "text", &how), -ENOSPC, "/dev/full");
	is_int(mkfifo("pipe", 0600), 0, "a pipe");
	fd = open("pipe", O_RDONLY | O_NONBLOCK);
	is_int(put("pipe", "text", &how), 0, "is written to");
	is_int(read(fd, text, 4), 4, "and read");
	close(fd);

	is_int(pipe(ends), 0, "an open descriptor");
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	is_int(put(name, "text", &how), 0, "too");
	is_int(read(ends[0], text, 4), 4, "by its number");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[1]);
	is_int(put(name, "text", &how), 0, "or by that");
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	is_int(put(name, "text", &how), -EBADF, "not one to be read");
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	is_int(put(name, "text", &how), -EBADF, "nor one of the tool itself");
	close(ends[0]);
	close(ends[1]);
	fd = open("image", O_RDWR);
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	is_int(put(name, "text", &how), -EINVAL, "nor the input");
	close(fd);
	is_str(content("image"), "volume", "which stays");
	is_int(put("/dev/fd/77777", "text", &how), -EBADF, "nor any other");
	is_int(output_check(&cx, "/dev/fd/77777", &how), -EBADF, "as is known");
}

int main(void)
{
	char dir[] = "t_dev_output.XXXXXX";

	context_init(&cx);
	umask(027);
	if (!mkdtemp(dir) || chdir(dir))
		return 99;
	test_new();
	test_refused();
	test_replace();
	test_meanwhile(0);
	test_meanwhile(EINVAL);
	test_flush();
	test_stream();
	if (!chdir("..")) {
		char command[64];

		snprintf(command, sizeof(command), "rm -rf %s", dir);
		is_int(system(command), 0, "done");
	}
	return tap_done();
}
