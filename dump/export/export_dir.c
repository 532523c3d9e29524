// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Export to a directory.
 *
 * The names come from an untrusted image, so no paths are used: each file is
 * created, never opened, in the current directory, and no link is followed.  One
 * directory is open at a time; its parent is opened as "..", and must have the
 * device and inode number that it had before.  The attributes of a directory are
 * set when it is left.
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
 * The errno of a call on a file of the target, as the ops of a sink return it:
 * negative if other files cannot be written either.
 */
static int target_failed(struct context *cx, const char *what)
{
	int error = errno;

	fail(cx, -error, "%s", what);
	switch (error) {
	case ENOSPC:
	case EDQUOT:
	case EIO:
	case EROFS:
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EINTR:
		return -error;
	default:
		return error;
	}
}

/*
 * Sets owner, mode and times of NAME in FD, or of FD itself where NAME is
 * empty, in this order, as a change of the owner clears the set-ID bits.  If the
 * owner cannot be set, neither are the set-ID bits, which would give the rights of
 * another user.  A file system may silently truncate times outside 1970 to 2038,
 * so these are read again.  Losses are counted in TALLY.  Returns as the ops of a
 * sink.
 */
static int set_attributes(struct export_tally *tally, struct context *cx,
			  int fd, const char *name,
			  const struct nilfs_inode *inode)
{
	const struct inode_time mtime = inode_mtime(inode);
	const struct timespec want = {
		.tv_sec = mtime.sec, .tv_nsec = mtime.nsec,
	};
	const struct timespec times[2] = {want, want};
	const int flags = *name ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;
	mode_t mode = le16_get(inode->i_mode);
	struct stat st;

	if (fchownat(fd, name, le32_get(inode->i_uid), le32_get(inode->i_gid),
		     flags)) {
		if (errno != EPERM && errno != EINVAL)
			return target_failed(cx, "owner");
		tally->losses[EXPORT_LOSS_OWNER]++;
		if (S_ISREG(mode) && mode & (S_ISUID | S_ISGID)) {
			mode &= ~(mode_t)(S_ISUID | S_ISGID);
			tally->losses[EXPORT_LOSS_SETID]++;
		}
	}
	if (!S_ISLNK(mode) &&
	    (*name ? fchmodat(fd, name, mode & ~(mode_t)S_IFMT,
			      AT_SYMLINK_NOFOLLOW)
		   : fchmod(fd, mode & ~(mode_t)S_IFMT)))
		return target_failed(cx, "mode");
	if (*name ? utimensat(fd, name, times, AT_SYMLINK_NOFOLLOW)
		  : futimens(fd, times))
		return target_failed(cx, "times");
	if (want.tv_sec >= 0 && want.tv_sec <= INT32_MAX)
		return 0;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return target_failed(cx, "times");
	if (st.st_mtim.tv_sec != want.tv_sec ||
	    st.st_mtim.tv_nsec != want.tv_nsec)
		tally->losses[EXPORT_LOSS_TIME]++;
	return 0;
}

struct place {
	dev_t dev;
	ino_t ino;
};

struct export_dir {
	struct export_sink sink;
	int top;	     /* the target */
	int current;	     /* the current directory */
	struct place *above; /* its parent directories */
	size_t depth, room;
};

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int dir_enter(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	struct export_dir *d = (struct export_dir *)sink;
	struct stat st;
	int fd, err = 0;

	if (!*file->path) /* the target itself is open */
		return 0;
	if (mkdirat(d->current, file->name, 0700) &&
	    !(file->late && errno == EEXIST))
		return target_failed(cx, "directory");
	fd = openat(d->current, file->name, OPEN_DIRECTORY);
	if (fd < 0)
		return target_failed(cx, "directory");
	if (fstat(d->current, &st))
		err = target_failed(cx, "directory");
	if (!err)
		err = array_reserve(cx, &d->above, &d->room, d->depth + 1);
	if (err) {
		close(fd);
		return err;
	}
	d->above[d->depth++] = (struct place){st.st_dev, st.st_ino};
	if (d->current != d->top)
		close(d->current);
	d->current = fd;
	return 0;
}

static int dir_leave(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	struct export_dir *d = (struct export_dir *)sink;
	const struct place *above;
	struct stat st;
	int fd = d->top, ret = 0;

	if (!*file->path)
		return file->inode ? set_attributes(&sink->tally, cx, fd, "",
						    file->inode)
				   : 0;
	above = &d->above[--d->depth];
	if (d->depth) {
		fd = openat(d->current, "..", OPEN_DIRECTORY);
		if (fd < 0)
			return fail(cx, -errno, "parent directory");
		if (fstat(fd, &st) || st.st_dev != above->dev ||
		    st.st_ino != above->ino) {
			close(fd);
			return fail(cx, -ESTALE,
				    "directory was moved during the export");
		}
	}
	if (file->inode)
		ret = set_attributes(&sink->tally, cx, d->current, "",
				     file->inode);
	close(d->current);
	d->current = fd;
	return ret;
}

/* Writes the content; a hole at the end is made by the size. */
static int dir_put_regular(struct export_dir *d, struct context *cx,
			   const struct export_file *file)
{
	struct content_part part = {.offset = 0};
	struct content *content = file->content;
	size_t done;
	ssize_t n;
	int fd, ret = 0, err;

	fd = openat(d->current, file->name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return target_failed(cx, "file");
	while (!ret && (ret = content_next(content, cx, &part)) > 0) {
		ret = 0;
		for (done = 0; done < part.len && !ret; done += (size_t)n) {
			n = pwrite(fd, content->buffer + done, part.len - done,
				   (off_t)(part.offset + done));
			if (n < 0 && errno != EINTR)
				ret = target_failed(cx, "write");
			if (n < 0)
				n = 0;
		}
		if (ret)
			goto written;
		ret = context_cancelled(cx);
		if (ret)
			goto written;
		export_sink_count(&d->sink, part.len);
	}
	if (ret < 0)
		ret = ret == -ENOMEM ? ret : -ret;
	else if (part.offset + part.len < content->size &&
		 ftruncate(fd, (off_t)content->size))
		ret = target_failed(cx, "size");
written:
	/* An incomplete file still gets its attributes. */
	if (ret >= 0) {
		err = set_attributes(&d->sink.tally, cx, fd, "", file->inode);
		if (!ret)
			ret = err;
	}
	if (close(fd) && !ret)
		ret = target_failed(cx, "write");
	return ret;
}

static int put_link(struct export_dir *d, struct context *cx,
		    const struct export_file *file)
{
	const char *name = file->linked, *slash;
	char part[NILFS_NAME_LEN + 1];
	int dir = d->top, next, ret = 0;
	size_t len;

	/* Opens the directory of the first link, step by step from the top. */
	for (; (slash = strchr(name, '/')); name = slash + 1) {
		len = (size_t)(slash - name);
		if (len > NILFS_NAME_LEN)
			len = NILFS_NAME_LEN;
		memcpy(part, name, len);
		part[len] = '\0';
		next = openat(dir, part,
			      O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (dir != d->top)
			close(dir);
		if (next < 0)
			return target_failed(cx, "directory of the first hard link");
		dir = next;
	}
	if (linkat(dir, name, d->current, file->name, 0)) {
		/* A device that could not be created was counted once. */
		bool lost = errno == ENOENT && inode_has_rdev(file->inode);

		ret = lost ? 0 : target_failed(cx, "hard link");
	}
	if (dir != d->top)
		close(dir);
	return ret;
}

static int dir_put(struct export_sink *sink, struct context *cx,
		   const struct export_file *file)
{
	struct export_dir *d = (struct export_dir *)sink;
	mode_t mode = le16_get(file->inode->i_mode);
	uint32_t major = 0, minor = 0;

	if (file->linked)
		return put_link(d, cx, file);
	if (S_ISREG(mode))
		return dir_put_regular(d, cx, file);
	if (S_ISLNK(mode)) {
		if (symlinkat(file->target, d->current, file->name))
			return target_failed(cx, "symbolic link");
	} else {
		if (inode_has_rdev(file->inode))
			inode_rdev(file->inode, &major, &minor);
		if (mknodat(d->current, file->name,
			    (mode & (mode_t)S_IFMT) | 0600,
			    makedev(major, minor))) {
			if (!inode_has_rdev(file->inode) || errno != EPERM)
				return target_failed(cx, "special file");
			sink->tally.losses[EXPORT_LOSS_DEVICE]++;
			return 0;
		}
	}
	return set_attributes(&sink->tally, cx, d->current, file->name,
			      file->inode);
}

static void dir_close(struct export_sink *sink)
{
	struct export_dir *d = (struct export_dir *)sink;

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
	.close = dir_close,
};

int export_dir_open(struct export_sink **sink, struct context *cx,
		    const char *path)
{
	struct export_dir *d = calloc(1, sizeof(*d));
	const struct dirent *entry;
	DIR *dir = NULL;
	int err = 0, copy;

	*sink = NULL;
	if (!d)
		return fail(cx, -ENOMEM, "%s", path);
	d->sink.ops = &dir_ops;
	if (mkdir(path, 0777) && errno != EEXIST)
		err = fail(cx, -errno, "%s", path);
	/* PATH itself may be a link. */
	d->top = err ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d->current = d->top;
	if (!err && d->top < 0)
		err = fail(cx, -errno, "%s", path);
	if (!err) {
		copy = openat(d->top, ".", OPEN_DIRECTORY);
		dir = copy < 0 ? NULL : fdopendir(copy);
		if (!dir)
			err = fail(cx, -errno, "%s", path);
		if (!dir && copy >= 0)
			close(copy);
	}
	while (!err && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			err = fail(cx, -ENOTEMPTY, "%s", path);
	if (dir)
		closedir(dir);
	if (err)
		dir_close(&d->sink);
	else
		*sink = &d->sink;
	return err;
}
