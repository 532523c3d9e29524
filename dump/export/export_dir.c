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
 * The errno of a call on a file of the target, as the ops of a sink return;
 * negative after what keeps other files from being written too.
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
 * empty, in this order: a change of the owner takes the set-ID bits away.
 * Without root the owner cannot be kept, and then not the set-ID bits, which
 * would give the wrong user's rights away.  No file system supports every time:
 * it is silently truncated, and any can store those of 1970 to 2038.  What is
 * not allowed or does not fit is counted in TALLY.  Returns as the ops of a sink.
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
	struct place *above; /* the directories over it */
	size_t depth, room;
};

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static int dir_enter(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	struct export_dir *d = (struct export_dir *)sink;
	struct stat st;
	int fd, err = 0;

	if (!*file->path) /* the target itself, which is open */
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
			return fail(cx, -errno, "way back out of the directory");
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

/* Writes what is no hole; the size makes the hole at the end. */
static int copy_content(struct export_dir *d, struct context *cx, int fd,
			struct content *content)
{
	struct content_piece piece = {.offset = 0};
	size_t done;
	ssize_t n;
	int ret;

	while ((ret = content_next(content, cx, &piece)) > 0) {
		for (done = 0; done < piece.len; done += (size_t)n) {
			n = pwrite(fd, content->buffer + done, piece.len - done,
				   (off_t)(piece.offset + done));
			if (n < 0 && errno != EINTR)
				return target_failed(cx, "write");
			if (n < 0)
				n = 0;
		}
		ret = context_cancelled(cx);
		if (ret)
			return ret;
		export_sink_count(&d->sink, piece.len);
	}
	if (ret < 0)
		return ret == -ENOMEM ? ret : -ret;
	if (piece.offset + piece.len < content->size &&
	    ftruncate(fd, (off_t)content->size))
		return target_failed(cx, "size");
	return 0;
}

static int put_regular(struct export_dir *d, struct context *cx,
		       const struct export_file *file)
{
	int fd, ret, err;

	fd = openat(d->current, file->name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return target_failed(cx, "file");
	ret = copy_content(d, cx, fd, file->content);
	/* A file that was cut short still gets its attributes. */
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

	/* The way to the first one, part by part. */
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
			return target_failed(cx, "way to the first hard link");
		dir = next;
	}
	if (linkat(dir, name, d->current, file->name, 0)) {
		/* A device that could not be made was counted once. */
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
		return put_regular(d, cx, file);
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
