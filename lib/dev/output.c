// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Files that a tool creates.
 *
 * A name that is given by mistake may be that of the input image, of another image,
 * or of a device; a link with that name may have been made by another user.  So no
 * existing file is opened for writing.  The file is created with a hidden name in
 * the same directory, and renamed when it is complete, so that an incomplete file
 * never has the final name.  The rename fails if the name exists, so that a file
 * created in the meantime is not lost.
 *
 * A process that is killed leaves the file with its hidden name.
 */
#include "config.h"

#include "dev/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "dev/probe.h"

#define TRIES 1000u	/* attempts to find an unused hidden name */
#define PART_OF_NAME 200	/* bytes of the final name in the hidden one */

#define OTHER_NAME "give the name of a new file"

static int check_inputs(const struct output *o, struct context *cx,
			const struct stat *st)
{
	const char *const *input = o->how.inputs;
	struct stat in;

	for (; input && *input; input++)
		if (!stat(*input, &in) && in.st_dev == st->st_dev &&
		    in.st_ino == st->st_ino)
			return fail(cx, -EINVAL, "%s: is the input itself; "
				    OTHER_NAME, o->path);
	return 0;
}

/* The inherited descriptor that PATH refers to, or -1. */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	unsigned int i;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (i = 0; i < 2; i++) {
		size_t len = strlen(folders[i]);
		unsigned long n;
		char *end;

		if (strncmp(path, folders[i], len) || path[len] < '0' ||
		    path[len] > '9')
			continue;
		n = strtoul(path + len, &end, 10);
		if (!*end && n <= INT_MAX)
			return (int)n;
	}
	return -1;
}

/* Whether ST is a pipe or a device without content that could be lost. */
static bool is_stream(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) ||
	       (S_ISCHR(st->st_mode) &&
		(st->st_rdev == makedev(1, 3) || st->st_rdev == makedev(1, 7)));
}

/*
 * Opens the directory and examines an existing file of that name: a file to be
 * replaced, a stream, or a file that is refused.  *FD: the descriptor that the path
 * refers to, or -1; descriptors opened by the tool itself have FD_CLOEXEC.
 */
static int output_examine(struct output *o, struct context *cx, int *fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	const char *slash = strrchr(o->path, '/');
	const struct stat *st = &o->there;
	int own, lock, ret = 0;
	struct probe_use use;
	char *folder;

	*fd = o->how.stream ? descriptor_of(o->path) : -1;
	if (*fd >= 0) {
		ret = fcntl(*fd, F_GETFL);
		own = fcntl(*fd, F_GETFD);
		if (ret < 0 || own < 0 || own & FD_CLOEXEC ||
		    (ret & O_ACCMODE) == O_RDONLY || fstat(*fd, &o->there))
			return fail_said(cx, -EBADF, "%s: is not open for "
					 "writing; " OTHER_NAME, o->path);
		return check_inputs(o, cx, &o->there);
	}
	o->name = slash ? slash + 1 : o->path;
	if (slash && !*o->name)
		return fail_said(cx, -EISDIR, "%s: is the name of a directory; "
				 OTHER_NAME, o->path);
	folder = slash ? strndup(o->path, (size_t)(o->name - o->path)) :
			 strdup(".");
	if (!folder)
		return fail(cx, -ENOMEM, "%s: create", o->path);
	o->dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o->dir < 0)
		ret = fail(cx, -errno, "%s: cannot be created in %s", o->path,
			   folder);
	else if (!fstatat(o->dir, o->name, &o->there, AT_SYMLINK_NOFOLLOW))
		o->replaces = true;
	else if (errno != ENOENT)
		ret = fail(cx, -errno, "%s", o->path);
	free(folder);
	if (!o->replaces)
		return ret;
	ret = check_inputs(o, cx, st);
	if (ret)
		return ret;
	if (S_ISLNK(st->st_mode))
		return fail_said(cx, -ELOOP, "%s: is a symbolic link, which is "
				 "not followed; " OTHER_NAME, o->path);
	if (S_ISDIR(st->st_mode))
		return fail_said(cx, -EISDIR, "%s: is a directory; " OTHER_NAME,
				 o->path);
	if (o->how.stream && is_stream(st))
		return 0;
	if (!S_ISREG(st->st_mode))
		return fail_said(cx, -EEXIST, "%s: is %s, which is not written "
				 "to; " OTHER_NAME, o->path,
				 S_ISBLK(st->st_mode) ? "a block device" :
				 S_ISCHR(st->st_mode) ? "a character device" :
				 S_ISFIFO(st->st_mode) ? "a pipe" : "no file");
	if (o->how.there != OUTPUT_REPLACE)
		return fail_said(cx, -EEXIST, "%s: exists; " OTHER_NAME "%s",
				 o->path, o->how.there == OUTPUT_ASK ?
				 ", or replace this one by --force" : "");
	/* A program that uses the file would continue with a file without a name. */
	if (probe_mounted(cx, o->path, NULL, &use))
		fail_clear(cx);
	else if (use.kind != PROBE_UNUSED)
		return fail(cx, -EBUSY, "%s: is in use by %s; " OTHER_NAME,
			    o->path, use.where[0] ? use.where : "the system");
	lock = openat(o->dir, o->name,
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (lock < 0)
		return 0;
	/* Any lock, as of lock_file(). */
	if (!fcntl(lock, F_OFD_GETLK, &whole) && whole.l_type != F_UNLCK)
		ret = fail(cx, -EBUSY, "%s: is in use by another process; "
			   OTHER_NAME, o->path);
	close(lock);
	return ret;
}

int output_open(struct output **op, struct context *cx, const char *path,
		const struct output_how *how)
{
	mode_t mode = how->volume ? S_IRUSR | S_IWUSR : 0666;
	struct output *o = calloc(1, sizeof(*o));
	unsigned int n;
	struct stat st;
	int err, fd;

	*op = NULL;
	if (!o)
		return fail(cx, -ENOMEM, "%s: create", path);
	*o = (struct output){ .path = path, .how = *how, .dir = -1, .fd = -1 };
	err = output_examine(o, cx, &fd);
	if (!err && fd >= 0) {
		o->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (o->fd < 0)
			err = fail(cx, -errno, "%s: open", path);
	} else if (!err && o->replaces && !S_ISREG(o->there.st_mode)) {
		o->fd = openat(o->dir, o->name,
			       O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
		if (o->fd < 0 || fstat(o->fd, &st))
			err = fail(cx, -errno, "%s: open for writing", path);
		else if (!is_stream(&st))
			err = fail_said(cx, -EEXIST, "%s: changed while it was "
					"opened", path);
	} else if (!err) {
		for (n = 0; n < TRIES && o->fd < 0; n++) {
			free(o->hidden);
			o->hidden = NULL;
			if (asprintf(&o->hidden, ".%.*s.nilfs2-%ld.%u",
				     PART_OF_NAME, o->name, (long)getpid(),
				     n) < 0) {
				o->hidden = NULL;
				errno = ENOMEM;
				break;
			}
			o->fd = openat(o->dir, o->hidden, O_RDWR | O_CREAT |
				       O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
			if (o->fd < 0 && errno != EEXIST)
				break;
		}
		if (o->fd < 0) {
			err = fail(cx, -errno, "%s: cannot be created", path);
			free(o->hidden);
			o->hidden = NULL;
		}
	}
	/* Permissions of the replaced file.  A different group gets none. */
	if (!err && o->hidden && o->replaces && !how->volume) {
		mode = o->there.st_mode & 0777;
		if (fchown(o->fd, o->there.st_uid, o->there.st_gid))
			mode &= ~(mode_t)S_IRWXG;
		fchmod(o->fd, mode);
	}
	if (err)
		output_close(o);
	else
		*op = o;
	return err;
}

int output_check(struct context *cx, const char *path,
		 const struct output_how *how)
{
	struct output o = { .path = path, .how = *how, .dir = -1 };
	int fd, err = output_examine(&o, cx, &fd);

	if (o.dir >= 0)
		close(o.dir);
	return err;
}

/* Gives the file its name, unless another file has got it since output_open(). */
static int output_give_name(const struct output *o, struct context *cx)
{
	struct stat now;
	int fd, err = 0;

	if (o->replaces &&
	    !fstatat(o->dir, o->name, &now, AT_SYMLINK_NOFOLLOW)) {
		if (now.st_dev != o->there.st_dev ||
		    now.st_ino != o->there.st_ino)
			goto appeared;
		return renameat(o->dir, o->hidden, o->dir, o->name) ?
			       fail(cx, -errno, "%s: rename", o->path) : 0;
	}
	if (o->replaces && errno != ENOENT)
		return fail(cx, -errno, "%s", o->path);
	if (!syscall(SYS_renameat2, o->dir, o->hidden, o->dir, o->name,
		     RENAME_NOREPLACE))
		return 0;
	if (errno == EEXIST)
		goto appeared;
	if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
		return fail(cx, -errno, "%s: rename", o->path);
	/* Some file systems have no rename without replacement.  There, an empty file
	   takes the name first. */
	fd = openat(o->dir, o->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0600);
	if (fd < 0 && errno == EEXIST)
		goto appeared;
	if (fd < 0)
		return fail(cx, -errno, "%s: create", o->path);
	close(fd);
	if (renameat(o->dir, o->hidden, o->dir, o->name)) {
		err = fail(cx, -errno, "%s: rename", o->path);
		unlinkat(o->dir, o->name, 0);
	}
	return err;
appeared:
	return fail_said(cx, -EEXIST, "%s: another file has got this "
			 "name and is kept; " OTHER_NAME, o->path);
}

int output_commit(struct output *o, struct context *cx)
{
	int fd, err = 0;

	if (o->how.volume && fsync(o->fd))
		err = fail(cx, -errno, "%s: flush", o->path);
	if (close(o->fd) && !err)
		err = fail(cx, -errno, "%s: write", o->path);
	o->fd = -1;
	if (err || !o->hidden)
		return err;
	err = output_give_name(o, cx);
	if (err)
		return err;
	free(o->hidden);
	o->hidden = NULL;
	if (!o->how.volume)
		return 0;
	/* Without the flush a crash could lose the name, or bring the replaced file
	   back.  Some file systems cannot flush a directory: EINVAL. */
	fd = openat(o->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) && errno != EINVAL)) {
		err = fail(cx, -errno, "%s: flush of its directory", o->path);
		/* A replaced file cannot be restored. */
		if (!o->replaces)
			unlinkat(o->dir, o->name, 0);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

void output_close(struct output *o)
{
	if (!o)
		return;
	if (o->hidden)
		unlinkat(o->dir, o->hidden, 0);
	free(o->hidden);
	if (o->fd >= 0)
		close(o->fd);
	if (o->dir >= 0)
		close(o->dir);
	free(o);
}
