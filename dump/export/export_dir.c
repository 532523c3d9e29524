// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Export to a directory.
 *
 * The names come from an untrusted image, so no paths are used: each file is
 * created, never opened, in the current directory, and no link is followed.
 * One directory is open at a time; the way back is "..", which must be the
 * directory that was left, by device and inode number.
 *
 * A directory gets its own attributes when it is left: after that only names of
 * hard links are added to it.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "disk/inode.h"
#include "dump/export/export_sink.h"

/*
 * Owner, mode and times of exported files.
 *
 * Without root the owner cannot be kept, and no file system supports every
 * time: both are counted, and the export continues.
 */

/* Errors after which no other file can be written either. */
static bool is_fatal(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
	case EIO:
	case EROFS:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EINTR:
		return true;
	default:
		return false;
	}
}

/* The errno of a call on a file of the target, as the ops of a sink return. */
static int export_attributes_failed(struct context *cx, const char *what)
{
	int error = errno;

	fail(cx, -error, "%s", what);
	return is_fatal(error) ? -error : error;
}

/*
 * Sets the owner, or counts where that is not allowed; then the set-ID bits,
 * which would give the wrong user's rights away, leave *MODE.
 */
static int set_owner(struct export_tally *tally, int fd, const char *name,
		     const struct nilfs_inode *inode, mode_t *mode)
{
	int flags = *name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;

	if (!fchownat(fd, name, le32_get(inode->i_uid), le32_get(inode->i_gid),
		      flags))
		return 0;
	if (errno != EPERM && errno != EINVAL)
		return -1;
	tally->losses[EXPORT_LOSS_OWNER]++;
	if (S_ISREG(*mode) && *mode & (S_ISUID | S_ISGID)) {
		*mode &= ~(mode_t)(S_ISUID | S_ISGID);
		tally->losses[EXPORT_LOSS_SETID]++;
	}
	return 0;
}

/*
 * A file system silently truncates times that it cannot store.  Any can store
 * those of 1970 to 2038, so only others are checked.
 */
static int check_times(struct export_tally *tally, struct context *cx, int fd,
		       const char *name, const struct timespec *want)
{
	struct stat st;

	if (want->tv_sec >= 0 && want->tv_sec <= INT32_MAX)
		return 0;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return export_attributes_failed(cx, "times");
	if (st.st_mtim.tv_sec != want->tv_sec ||
	    st.st_mtim.tv_nsec != want->tv_nsec)
		tally->losses[EXPORT_LOSS_TIME]++;
	return 0;
}

/* Sets the times of NAME in FD, or of FD itself where NAME is empty. */
static int set_times(struct export_tally *tally, struct context *cx, int fd,
		     const char *name, const struct nilfs_inode *inode)
{
	struct inode_time mtime = inode_mtime(inode);
	struct timespec times[2];

	times[0] = times[1] =
		(struct timespec){.tv_sec = mtime.sec, .tv_nsec = mtime.nsec};
	if (*name ? utimensat(fd, name, times, AT_SYMLINK_NOFOLLOW)
		  : futimens(fd, times))
		return export_attributes_failed(cx, "times");
	return check_times(tally, cx, fd, name, times);
}

/*
 * Sets owner, mode and times of NAME in FD, or of FD itself where NAME is
 * empty, in this order: a change of the owner takes the set-ID bits away.
 * What is not allowed or does not fit is counted in TALLY.  Returns as the
 * ops of a sink do.
 */
static int export_attributes_set(struct export_tally *tally, struct context *cx,
				 int fd, const char *name,
				 const struct nilfs_inode *inode)
{
	mode_t mode = le16_get(inode->i_mode);

	if (set_owner(tally, fd, name, inode, &mode))
		return export_attributes_failed(cx, "owner");
	if (!S_ISLNK(mode) &&
	    (*name ? fchmodat(fd, name, mode & ~(mode_t)S_IFMT,
			      AT_SYMLINK_NOFOLLOW)
		   : fchmod(fd, mode & ~(mode_t)S_IFMT)))
		return export_attributes_failed(cx, "mode");
	return set_times(tally, cx, fd, name, inode);
}

struct place {
	dev_t dev;
	ino_t ino;
};

struct export_dir {
	struct export_sink sink;
	int top;	     /* the target */
	int current;	     /* the current directory */
	struct place *above; /* the directories over it */
	size_t depth, room;
};

static struct export_dir *dir_of(struct export_sink *sink)
{
	return (struct export_dir *)sink;
}

static int remember_place(struct export_dir *d, struct context *cx)
{
	struct stat st;

	if (fstat(d->current, &st))
		return export_attributes_failed(cx, "directory");
	if (array_reserve(cx, &d->above, &d->room, d->depth + 1))
		return -ENOMEM;
	d->above[d->depth++] = (struct place){st.st_dev, st.st_ino};
	return 0;
}

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int dir_enter(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	struct export_dir *d = dir_of(sink);
	int fd, err;

	if (!*file->path) /* the target itself, which is open */
		return 0;
	if (mkdirat(d->current, file->name, 0700) &&
	    !(file->late && errno == EEXIST))
		return export_attributes_failed(cx, "directory");
	fd = openat(d->current, file->name, OPEN_DIRECTORY);
	if (fd < 0)
		return export_attributes_failed(cx, "directory");
	err = remember_place(d, cx);
	if (err) {
		close(fd);
		return err;
	}
	if (d->current != d->top)
		close(d->current);
	d->current = fd;
	return 0;
}

/* Opens the parent of the current directory. */
static int open_above(struct export_dir *d, struct context *cx, int *fd)
{
	const struct place *want = &d->above[--d->depth];
	struct stat st;

	if (!d->depth) {
		*fd = d->top;
		return 0;
	}
	*fd = openat(d->current, "..", OPEN_DIRECTORY);
	if (*fd < 0)
		return fail(cx, -errno, "way back out of the directory");
	if (!fstat(*fd, &st) && st.st_dev == want->dev &&
	    st.st_ino == want->ino)
		return 0;
	return fail(cx, -ESTALE, "directory was moved during the export");
}

static int dir_leave(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	struct export_dir *d = dir_of(sink);
	int above = -1, ret = 0;

	if (*file->path) {
		ret = open_above(d, cx, &above);
		if (ret) {
			if (above >= 0)
				close(above);
			return ret;
		}
	}
	if (file->inode)
		ret = export_attributes_set(&d->sink.tally, cx, d->current, "",
					    file->inode);
	if (*file->path) {
		close(d->current);
		d->current = above;
	}
	return ret;
}

static int write_all(struct context *cx, int fd, const char *bytes,
		     uint64_t len, uint64_t offset)
{
	while (len) {
		ssize_t n = pwrite(fd, bytes, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return export_attributes_failed(cx, "write");
		bytes += n;
		len -= (uint64_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Writes what is no hole; the size makes the hole at the end. */
static int copy_content(struct export_dir *d, struct context *cx, int fd,
			struct content *content)
{
	struct content_piece piece = {.offset = 0};
	int ret;

	for (;;) {
		ret = content_next(content, cx, &piece);
		if (ret <= 0)
			break;
		ret = write_all(cx, fd, content->buffer, piece.len,
				piece.offset);
		if (!ret)
			ret = context_cancelled(cx);
		if (ret)
			return ret;
		export_sink_count(&d->sink, piece.len);
	}
	if (ret < 0)
		return ret == -ENOMEM ? ret : -ret;
	if (piece.offset + piece.len < content->size &&
	    ftruncate(fd, (off_t)content->size))
		return export_attributes_failed(cx, "size");
	return 0;
}

static int put_regular(struct export_dir *d, struct context *cx,
		       const struct export_file *file)
{
	int fd, ret, err;

	fd = openat(d->current, file->name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return export_attributes_failed(cx, "file");
	ret = copy_content(d, cx, fd, file->content);
	/* A file that was cut short still gets its attributes. */
	if (ret >= 0) {
		err = export_attributes_set(&d->sink.tally, cx, fd, "",
					    file->inode);
		if (!ret)
			ret = err;
	}
	if (close(fd) && !ret)
		ret = export_attributes_failed(cx, "write");
	return ret;
}

/* Makes a device, pipe or socket; 1 where that is not allowed. */
static int make_special(struct export_dir *d, struct context *cx,
			const struct export_file *file)
{
	mode_t type = le16_get(file->inode->i_mode) & (mode_t)S_IFMT;
	bool device = inode_has_rdev(file->inode);
	uint32_t major = 0, minor = 0;

	if (device)
		inode_rdev(file->inode, &major, &minor);
	if (!mknodat(d->current, file->name, type | 0600,
		     makedev(major, minor)))
		return 0;
	if (!device || errno != EPERM)
		return export_attributes_failed(cx, "special file");
	d->sink.tally.losses[EXPORT_LOSS_DEVICE]++;
	return -EPERM;
}

static int put_special(struct export_dir *d, struct context *cx,
		       const struct export_file *file)
{
	int ret = make_special(d, cx, file);

	if (ret)
		return ret == -EPERM ? 0 : ret;
	return export_attributes_set(&d->sink.tally, cx, d->current, file->name,
				     file->inode);
}

static int put_symlink(struct export_dir *d, struct context *cx,
		       const struct export_file *file)
{
	if (symlinkat(file->target, d->current, file->name))
		return export_attributes_failed(cx, "symbolic link");
	return export_attributes_set(&d->sink.tally, cx, d->current, file->name,
				     file->inode);
}

/* Opens the directory that PATH is in, part by part; *NAME is the last one. */
static int open_parent(struct export_dir *d, struct context *cx,
		       const char *path, int *dir, const char **name)
{
	char part[NILFS_NAME_LEN + 1];
	const char *slash;
	int fd = d->top;

	for (; (slash = strchr(path, '/')); path = slash + 1) {
		size_t len = (size_t)(slash - path);
		int next;

		if (len > NILFS_NAME_LEN)
			len = NILFS_NAME_LEN;
		memcpy(part, path, len);
		part[len] = '\0';
		next = openat(fd, part,
			      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd != d->top)
			close(fd);
		if (next < 0)
			return export_attributes_failed(
				cx, "way to the first hard link");
		fd = next;
	}
	*dir = fd;
	*name = path;
	return 0;
}

static int put_link(struct export_dir *d, struct context *cx,
		    const struct export_file *file)
{
	const char *name = file->linked;
	int dir = d->top, ret;

	ret = open_parent(d, cx, file->linked, &dir, &name);
	if (ret)
		return ret;
	if (linkat(dir, name, d->current, file->name, 0)) {
		/* A device that could not be made was counted once. */
		bool lost = errno == ENOENT && inode_has_rdev(file->inode);

		ret = lost ? 0 : export_attributes_failed(cx, "hard link");
	}
	if (dir != d->top)
		close(dir);
	return ret;
}

static int dir_put(struct export_sink *sink, struct context *cx,
		   const struct export_file *file)
{
	struct export_dir *d = dir_of(sink);
	mode_t mode = le16_get(file->inode->i_mode);

	if (file->linked)
		return put_link(d, cx, file);
	if (S_ISREG(mode))
		return put_regular(d, cx, file);
	if (S_ISLNK(mode))
		return put_symlink(d, cx, file);
	return put_special(d, cx, file);
}

static int dir_finish(struct export_sink *sink, struct context *cx)
{
	(void)sink;
	(void)cx;
	return 0;
}

static void dir_close(struct export_sink *sink)
{
	struct export_dir *d = dir_of(sink);

	if (d->current >= 0 && d->current != d->top)
		close(d->current);
	if (d->top >= 0)
		close(d->top);
	free(d->above);
	free(d);
}

static const struct export_ops dir_ops = {
	.enter = dir_enter,
	.leave = dir_leave,
	.put = dir_put,
	.finish = dir_finish,
	.close = dir_close,
};

static int check_empty(struct context *cx, int fd, const char *path)
{
	int copy = openat(fd, ".", OPEN_DIRECTORY), err = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (!dir) {
		err = fail(cx, -errno, "%s", path);
		if (copy >= 0)
			close(copy);
		return err;
	}
	while (!err && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = fail(cx, -ENOTEMPTY, "%s", path);
	closedir(dir);
	return err;
}

int export_dir_open(struct export_sink **sink, struct context *cx,
		    const char *path)
{
	struct export_dir *d = calloc(1, sizeof(*d));
	int err = 0;

	*sink = NULL;
	if (!d)
		return fail(cx, -ENOMEM, "%s", path);
	d->sink.ops = &dir_ops;
	if (mkdir(path, 0777) && errno != EEXIST)
		err = fail(cx, -errno, "%s", path);
	/* The user's own PATH may be a link: it is theirs to choose. */
	d->top = err ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d->current = d->top;
	if (!err && d->top < 0)
		err = fail(cx, -errno, "%s", path);
	if (!err)
		err = check_empty(cx, d->top, path);
	if (err)
		dir_close(&d->sink);
	else
		*sink = &d->sink;
	return err;
}
