/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for populate.c: it records the calls of a source, and asks for
 * chunks in orders in which workers could.
 */
#ifndef NILFS2_TESTS_MKFS_STANDIN_H
#define NILFS2_TESTS_MKFS_STANDIN_H

#include "mkfs/populate/populate.h"

#define STANDIN_BLOCK 4096u
#define STANDIN_INODES 256
#define STANDIN_NAMES 64
#define STANDIN_RUNS 64

/* When and how the content of a file is asked for. */
enum standin_order {
	STANDIN_AT_ONCE,	/* two thirds when it is placed, then the rest */
	STANDIN_BACKWARDS,	/* the same, block by block from the end */
	STANDIN_THREADS,	/* by three threads when it is placed */
	STANDIN_AT_THE_END,	/* when the source is through */
	STANDIN_ORDERS
};

struct standin_file {
	struct entry entry;
	bool known;		/* a directory with attributes */
	struct payload *payload;
	struct newfile_run runs[STANDIN_RUNS];
	size_t nruns;
	uint64_t nblocks;
	char *blocks;
	int failed;		/* of the payload */
	char target[300];
	unsigned int links;
	char name[STANDIN_NAMES][256];
	uint64_t ino[STANDIN_NAMES];
	size_t n;		/* of names */
};

/* Inode numbers are places in the list; the root comes first. */
struct populate {
	struct standin_file files[STANDIN_INODES];
	uint64_t n;
	enum standin_order order;
	uint64_t losses[ENTRY_LOSSES];
};

/* Reads an archive into P, which is emptied first, and all content. */
int standin_read_tar(struct populate *p, struct context *cx, const char *path,
		     enum standin_order order,
		     const struct entry_rules *rules);
void standin_forget(struct populate *p);

/* The file that PATH ("" for the root) leads to, or NULL. */
const struct standin_file *standin_find(const struct populate *p,
					const char *path);

#endif
