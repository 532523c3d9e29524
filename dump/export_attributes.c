// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Owner, mode and times of exported files.
 *
 * Without root the owner cannot be kept, and no file system supports every
 * time: both are counted, and the export continues.
 */
#include "config.h"

#include "dump/export_attributes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/inode.h"

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

int export_attributes_failed(struct context *cx, const char *what)
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

int export_attributes_set(struct export_tally *tally, struct context *cx,
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
