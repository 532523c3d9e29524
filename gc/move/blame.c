// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Owners of blocks, for messages.
 *
 * A run of a load has the inode.  Its path is that of the latest state, or, if
 * the block does not belong to that, of a checkpoint that keeps it: preferably
 * a snapshot.  Finding a path needs a walk through all directories, so only a
 * few are searched.
 */
#include "gc/move/blame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "disk/inode.h"
#include "vol/cptable.h"
#include "vol/root.h"
#include "vol/translate.h"
#include "vol/tree.h"
#include "vol/volume.h"

#define FILES_NAMED 4

/* A checkpoint that has virtual block VBLOCKNR, or 0. */
static int blame_find_checkpoint(struct context *cx, struct volume *vol,
				 uint64_t vblocknr, uint64_t *cno)
{
	struct nilfs_dat_entry de;
	uint64_t *cnos;
	size_t n, i;
	int plain, ret = translate_entry(vol, cx, vblocknr, &de);

	*cno = 0;
	for (plain = 0; plain < 2 && !ret && !*cno; plain++) {
		cnos = NULL;
		n = 0;
		ret = cptable_list(vol, cx, !plain, &cnos, &n);
		i = ret ? 0 : search_lower_bound(cnos, n, le64_get(de.de_end));
		if (i && cnos[i - 1] >= le64_get(de.de_start))
			*cno = cnos[i - 1];
		free(cnos);
	}
	return ret;
}

/* Appends to TEXT, after LEN of its bytes, and returns the new length. */
__attribute__((format(printf, 3, 4)))
static size_t blame_append(char *text, size_t len, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text + len, BLAME_MAX - len, format, args);
	va_end(args);
	return n < 0 || (size_t)n >= BLAME_MAX - len ? BLAME_MAX - 1 :
						       len + (size_t)n;
}

/* Appends the path of the file of RUN. */
static int append_path(char *text, size_t *len, struct context *cx,
		       struct volume *vol, const struct load_run *run)
{
	char *path = NULL;
	struct root root;
	uint64_t cno = 0;
	int ret = run->current ? 0 : blame_find_checkpoint(cx, vol,
							   run->entry.vblocknr, &cno);

	if (!ret)
		ret = root_open(&root, cx, vol, cno);
	if (!ret)
		ret = tree_find_path(&root, cx, run->entry.ino, &path);
	if (ret == -ENOMEM || ret == -EINTR)
		return ret;
	fail_clear(cx);
	if (cno)
		*len = blame_append(text, *len, "checkpoint %" PRIu64 ": ",
				    cno);
	*len = path ? blame_append(text, *len, "%s", path) :
		      blame_append(text, *len, "inode %" PRIu64, run->entry.ino);
	free(path);
	return 0;
}

/*
 * Sets *RUN and *MARK to those with BLOCKNR, or to NULL; whether there is one.
 */
static bool blame_find_block(const struct load *load, uint64_t blocknr,
			     const struct load_run **run,
			     const struct load_mark **mark)
{
	const struct load_run *r = load->runs;
	size_t i;

	*run = NULL;
	*mark = NULL;
	for (i = 0; i < load->has.nruns && !*run; i++, r++)
		if (blocknr >= r->blocknr &&
		    blocknr - r->blocknr < r->entry.count)
			*run = r;
	for (i = 0; i < load->has.nmarks && !*mark; i++)
		if (load->marks[i].blocknr == blocknr)
			*mark = &load->marks[i];
	return *run || *mark;
}

bool blame_has(const struct load *load, uint64_t blocknr)
{
	const struct load_mark *mark;
	const struct load_run *run;

	return blame_find_block(load, blocknr, &run, &mark);
}

int blame_block(char text[BLAME_MAX], struct context *cx,
		const struct load *load, uint64_t blocknr)
{
	const struct load_mark *mark;
	const struct load_run *run;
	size_t len = 0;
	int ret = 0;

	text[0] = '\0';
	if (!blame_find_block(load, blocknr, &run, &mark))
		return 0;
	if (!run) {
		blame_append(text, 0, "inode %" PRIu64, mark->ino);
		return 1;
	}
	if (inode_is_metadata(run->entry.ino))
		len = blame_append(text, 0, "inode %" PRIu64, run->entry.ino);
	else
		ret = append_path(text, &len, cx, load->facts->vol, run);
	if (ret)
		return ret;
	if (!run->entry.node)
		blame_append(text, len, " block %" PRIu64,
			     run->entry.blkoff + (blocknr - run->blocknr));
	return 1;
}

int blame_log(char text[BLAME_MAX], struct context *cx,
	      const struct load *load, const struct load_log *log)
{
	const struct load_run *run, *next;
	unsigned int named;
	uint64_t ino = 0;	/* the last one appended; they are ascending */
	size_t len = 0, i;
	int ret = 0;

	for (named = 0; !ret; named++) {
		for (i = 0, next = NULL; i < load->has.nruns; i++) {
			run = &load->runs[i];
			if (run->blocknr >= log->pseg &&
			    run->blocknr - log->pseg <
				    le32_get(log->ss.ss_nblocks) &&
			    run->entry.ino > ino &&
			    !inode_is_metadata(run->entry.ino) &&
			    (!next || run->entry.ino < next->entry.ino))
				next = run;
		}
		if (!next || named == FILES_NAMED) {
			blame_append(text, len, "%s", next ? " and others" :
				     named ? "" : "metadata");
			break;
		}
		if (named)
			len = blame_append(text, len, ", ");
		ret = append_path(text, &len, cx, load->facts->vol, next);
		ino = next->entry.ino;
	}
	return ret;
}
