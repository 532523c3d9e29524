/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The image, device or mounted volume that a command shows, opened for reading. */
#ifndef NILFS2_DUMP_IMAGE_H
#define NILFS2_DUMP_IMAGE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "check/damage.h"
#include "cli/tool.h"
#include "dev/dev.h"
#include "out/segmap.h"
#include "vol/root.h"
#include "vol/volume.h"

struct cleanerlock;
struct live;

struct dump_image {
	struct live *live;	/* NULL: not given as the directory of a mount */
	struct cleanerlock *lock;	/* of its cleaner, or NULL */
	struct dev *file;	/* below DEV, or the same */
	struct dev *dev;
	struct volume *vol;
	struct root root;	/* of image_open_root() only */
	/* In a shell: the image from which all but a VOL of its own is borrowed. */
	struct dump_image *shared;
};

/*
 * Opens the device PATH and the volume on it (OPTIONS may be NULL), and warns if it
 * is mounted for writing, as its data may change during the read, and as
 * image_warn_older() does; or the volume mounted on the directory PATH, in a state that
 * does not change.  *IM is closed with image_close(), after a failure too.  Fails as
 * devfile_open(), live_open() and volume_open().  For a line of a shell PATH is not
 * opened, but the image that its lines share, whose volume is opened by the first that
 * needs it.
 */
int image_open(struct dump_image *im, struct tool *tool, const char *path,
	       const struct volume_options *options);

/* The same without image_warn_older(), for a caller that looks for the newest state. */
int image_open_damaged(struct dump_image *im, struct tool *tool, const char *path,
		       const struct volume_options *options);

/*
 * Warns if a superblock of VOL, at PATH, names a newer checkpoint than the latest one
 * that was found, as the log of it is damaged.
 */
void image_warn_older(const struct volume *vol, struct tool *tool, const char *path);

/*
 * As image_open(), and opens checkpoint CNO as `im->root`, by image_root().  RECOVER
 * includes the data that the next mount would replay; it is possible for the latest
 * state only, and with a CNO it is a usage error.  Fails as root_open() too.
 */
int image_open_root(struct dump_image *im, struct tool *tool,
		    const char *path, uint64_t cno, bool recover);

/*
 * Opens checkpoint MOMENT (cli/moment.h; 0: the latest) of VOL: by time, the newest one
 * that is not newer.  Fails as root_open(); the text of -ENOENT names the nearest
 * checkpoints.
 */
int image_root(struct root *root, struct context *cx, struct volume *vol,
	       uint64_t moment);

/* Accepts a structure that is all zero. */
void image_close(struct dump_image *im);

/* Closes the volume only, which the next line of a shell then opens again. */
void image_close_volume(struct dump_image *im);

/*
 * For a command that continues after a failure.  Prints the failure ERR, whose text
 * is in the context, on standard error and in a page, clears it, sets the exit
 * status *STATUS to 1 and returns 0.  The same text follows itself only in a page.  A
 * positive ERR is an exit status and is only set; cancellation (-EINTR) and a closed
 * output (-EPIPE) are returned.  Nothing is done if ERR is 0.
 */
int image_note(struct tool *tool, int *status, int err);

/*
 * Warns that file PATH (LEN bytes, from the disk) failed with ERR, a negative
 * errno, and the failure text, which is cleared.
 */
void image_file_failed(struct tool *tool, const char *path, size_t len,
		       int err);

/* The same for checkpoint CNO. */
void image_checkpoint_failed(struct tool *tool, uint64_t cno, int err);

/* Whether ERR ends a command, as it does not concern one file or checkpoint only. */
static inline bool image_is_fatal(int err)
{
	return damage_is_fatal(err) || err == -EPIPE;
}

/* Fills V for titles. */
void image_describe(const struct dump_image *im, struct segmap_volume *v);

#endif
