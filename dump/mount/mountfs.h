/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a mount, by number, for requests to a file system in user space;
 * independent of libfuse.
 *
 * A node is the number of a file of the mount; 1 is the root directory.  In a mount
 * of one checkpoint every other node is the inode number of the file.  In a mount
 * of all checkpoints the upper bits are the checkpoint number, so that files of
 * different checkpoints are different files; they are 0 for the directories and
 * links above the checkpoints (mountall.h).
 */
#ifndef NILFS2_DUMP_MOUNTFS_H
#define NILFS2_DUMP_MOUNTFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/context.h"
#include "disk/ondisk.h"
#include "dump/mount/mountdir.h"
#include "vol/root.h"
#include "vol/symlink.h"
#include "vol/volume.h"

#define MOUNTFS_TOP UINT64_C(1)

/* Bytes of the longest read. */
#define MOUNTFS_READ_MAX (1u << 20)

/* Checkpoints that are kept open. */
#define MOUNTFS_ROOTS 8

/* A checkpoint by its time. */
struct mountfs_time {
	int64_t time; /* of its creation, in seconds since 1970 */
	uint64_t cno;
};

struct mountfs {
	struct volume *vol;
	bool all;
	unsigned int ino_bits;	/* bits of a node that are the inode number */
	struct stat above;	/* owner and times of files of mountall.h */
	struct root roots[MOUNTFS_ROOTS];
	unsigned int nroots, next_root;
	struct mountdir_hint hint;	/* where the last name was found */
	struct mountfs_time *times;	/* ascending; NULL: not read yet */
	size_t ntimes;
	char *buffer;
};

/*
 * Opens the files of ROOT, or with ROOT NULL of all checkpoints, of VOL
 * (borrowed).  UID and GID are the owner of the files of mountall.h.  Closed with
 * mountfs_fini(), after a failure too.  -ENOMEM, -EOVERFLOW.
 */
int mountfs_init(struct mountfs *fs, struct context *cx, struct volume *vol,
		 const struct root *root, uint32_t uid, uint32_t gid);
void mountfs_fini(struct mountfs *fs);

/*
 * All of the following return 0 or a negative errno with the failure text.
 * Damage of the volume is -EUCLEAN or -EIO.
 */

/* Attributes of NODE; st_ino is the number that users see. */
int mountfs_stat(struct mountfs *fs, struct context *cx, uint64_t node,
		 struct stat *st);

/*
 * Finds NAME in directory PARENT: *NODE and its attributes.  -ENOENT, -ENOTDIR;
 * -EUCLEAN if a part of the directory is lost and NAME is not in the rest.
 */
int mountfs_lookup(struct mountfs *fs, struct context *cx, uint64_t parent,
		   const char *name, uint64_t *node, struct stat *st);

/* An entry of a directory. */
struct mountfs_entry {
	const char *name;
	uint64_t node;	/* 0: "." or "..", or unreadable attributes */
	struct stat st;	/* st_ino only, if the attributes are unreadable */
	uint64_t next;	/* position of the following entry */
};

/* Takes an entry: 0, or 1 if there is no room for it. */
typedef int (*mountfs_take)(void *arg, const struct mountfs_entry *entry);

/*
 * Lists directory NODE from POSITION on (0: the beginning).  All readable entries
 * are listed first.  If others are lost, the call after the last readable entry
 * fails.
 */
int mountfs_list(struct mountfs *fs, struct context *cx, uint64_t node,
		 uint64_t position, mountfs_take take, void *arg);

/* The target of a symbolic link, with a NUL. */
int mountfs_readlink(struct mountfs *fs, struct context *cx, uint64_t node,
		     char target[SYMLINK_TARGET_MAX + 1]);

/*
 * Reads LEN bytes, at most MOUNTFS_READ_MAX, at OFFSET: *BYTES, valid until the
 * next call, and *GOT, which is less than LEN only at the end of the file.
 */
int mountfs_read(struct mountfs *fs, struct context *cx, uint64_t node,
		 uint64_t offset, size_t len, const char **bytes, size_t *got);

/* As lseek() with SEEK_DATA, or SEEK_HOLE if HOLE; -ENXIO. */
int mountfs_seek(struct mountfs *fs, struct context *cx, uint64_t node,
		 uint64_t offset, bool hole, uint64_t *found);

/* Follows nilfs_statfs(). */
int mountfs_statfs(struct mountfs *fs, struct context *cx,
		   struct statvfs *st);

/* Of nodes that are files of a checkpoint (mountnode.c): */

/*
 * Checkpoint CNO, valid until other checkpoints are opened, and the node of
 * inode INO in it; -EOVERFLOW for numbers that no node can have.  Where only one
 * checkpoint is mounted CNO does not matter.
 */
int mountnode_root(struct mountfs *fs, struct context *cx, uint64_t cno,
		   struct root **root);
int mountnode_make(const struct mountfs *fs, struct context *cx, uint64_t cno,
		   uint64_t ino, uint64_t *node);

/* The inode that NODE is, its checkpoint and number. */
int mountnode_inode(struct mountfs *fs, struct context *cx, uint64_t node,
		    struct root **root, uint64_t *ino,
		    struct nilfs_inode *inode);

int mountnode_stat(struct mountfs *fs, struct context *cx, uint64_t node,
		   struct stat *st);

#endif
