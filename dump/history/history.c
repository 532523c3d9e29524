// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * history: every version of a file over all checkpoints.
 *
 * Checkpoints are visited from the oldest on.  One whose ifile has the same map
 * as the one before has the same files.  Otherwise the virtual number of the
 * block that has the inode is looked up in the ifile: if it is the same as
 * before, so is the inode, and nothing is read.  A version is printed as soon as
 * it has ended, so that only the present ones are in memory.
 *
 * For a path there is a first round that collects the files that it leads to;
 * numbers are reused, so that a file is a number and a generation.  Only the
 * numbers are followed then.
 */
#include "dump/common/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pairtable.h"
#include "base/text.h"
#include "check/names/filenames.h"
#include "disk/inode.h"
#include "disk/palloc.h"
#include "dump/common/fields.h"
#include "dump/common/image.h"
#include "dump/files/listing.h"
#include "out/table.h"
#include "vol/cptable.h"
#include "vol/mapdiff.h"

/*
 * A file in consecutive checkpoints, in which neither its inode nor its names
 * differ.
 */
struct version {
	uint64_t first, last;	/* checkpoints */
	uint64_t checkpoints;	/* that have it */
	uint64_t created;	/* the time of the first one */
	uint64_t ino;
	struct nilfs_inode inode;
	/*
	 * Blocks that differ from the version before, in the first one all;
	 * only valid if KNOWN, because maps may be damaged.
	 */
	uint64_t changed;
	bool known;
	const char *names; /* paths, each with a NUL after it */
	size_t names_len;
};

/* An inode number that is followed. */
struct follower {
	struct filenames names;
	uint64_t ptr;		  /* of the block of the ifile; 0: none */
	bool read;		  /* PTR is valid */
	bool there;		  /* INODE is a file that is followed */
	struct nilfs_inode inode; /* in the checkpoint visited last */
	bool open;		  /* VERSION goes on */
	struct version version;
	char *paths; /* of it */
	size_t paths_room;
};

struct history {
	struct tool *tool;
	struct volume *vol;
	struct trail path;	/* of the first round */
	bool any_file;		/* no generations are listed */
	struct pairtable files; /* inode number and generation */
	struct follower *followers;
	size_t count, room;
	uint64_t *cnos;
	size_t checkpoints;
	struct root root; /* the checkpoint visited last */
	bool has_root;	  /* it is open */
	bool same;	  /* it has the files of the one before */

	struct table table;
	char *names; /* of a version, as text */
	size_t names_room;
	bool found, broken;
};

enum {
	FIRST,
	LAST,
	CREATED,
	INODE,
	GENERATION,
	MODE,
	LINKS,
	UID,
	GID,
	SIZE,
	CHANGED,
	MODIFIED,
	NAME,
	COLUMNS
};

static const struct column columns[COLUMNS] = {
	[FIRST] = { "first", "FIRST", VALUE_U64, 6 },
	[LAST] = { "last", "LAST", VALUE_U64, 6 },
	[CREATED] = { "created", "CREATED", VALUE_TIME, 25 },
	[INODE] = { "inode", "INODE", VALUE_U64, 6 },
	[GENERATION] = { "generation", "GENERATION", VALUE_U64, 10 },
	[MODE] = { "mode", "MODE", VALUE_PLAIN, 10 },
	[LINKS] = { "links", "LINKS", VALUE_U64, 5 },
	[UID] = { "uid", "UID", VALUE_U64, 5 },
	[GID] = { "gid", "GID", VALUE_U64, 5 },
	[SIZE] = { "size", "SIZE", VALUE_SIZE, 10 },
	[CHANGED] = { "changed_blocks", "CHANGED", VALUE_U64, 7 },
	[MODIFIED] = { "mtime", "MODIFIED", VALUE_TIME, 25 },
	[NAME] = { "names", "NAME", VALUE_PLAIN, 0 },
};

static const struct column name_columns[] = {
	{ "path", NULL, VALUE_STRING, 0 },
};

static struct value changed_of(const struct version *v)
{
	return v->known ? value_u64(v->changed) : value_absent();
}

static void put_row(struct history *h, const struct version *v)
{
	const struct nilfs_inode *inode = &v->inode;
	const char *path = v->names, *end = v->names + v->names_len;
	char mode[FIELDS_MODE_MAX];
	size_t len = 0;

	/* The names, escaped, with commas between them. */
	for (; path < end; path += strlen(path) + 1) {
		size_t size = strlen(path), room = TEXT_ESCAPED_MAX(size) + 2;

		if (array_reserve(&h->tool->cx, &h->names, &h->names_room,
				  len + room))
			break;
		if (len) {
			memcpy(h->names + len, ", ", 2);
			len += 2;
		}
		len += text_escape(h->names + len, room - 2, path, size);
	}
	fields_mode(mode, le16_get(inode->i_mode));
	table_row(&h->table, (struct value[]){
		[FIRST] = value_u64(v->first),
		[LAST] = value_u64(v->last),
		[CREATED] = value_u64(v->created),
		[INODE] = value_u64(v->ino),
		[GENERATION] = value_u64(le32_get(inode->i_generation)),
		[MODE] = value_bytes(mode, sizeof(mode) - 1),
		[LINKS] = value_u64(le16_get(inode->i_links_count)),
		[UID] = value_u64(le32_get(inode->i_uid)),
		[GID] = value_u64(le32_get(inode->i_gid)),
		[SIZE] = value_u64(le64_get(inode->i_size)),
		[CHANGED] = changed_of(v),
		[MODIFIED] = value_u64(le64_get(inode->i_mtime)),
		[NAME] = len ? value_bytes(h->names, len) : value_absent(),
	});
}

static void put_section(struct report *r, const struct version *v)
{
	const struct nilfs_inode *i = &v->inode;
	const char *path = v->names, *end = v->names + v->names_len;
	uint16_t mode = le16_get(i->i_mode);
	uint32_t major, minor;
	struct table table;

	report_begin(r, "versions", NULL);
	report_u64(r, "first", NULL, v->first);
	report_u64(r, "last", NULL, v->last);
	report_u64(r, "checkpoints", NULL, v->checkpoints);
	report_time(r, "created", NULL, v->created);
	report_u64(r, "inode", NULL, v->ino);
	report_u64(r, "generation", NULL, le32_get(i->i_generation));
	report_string(r, "type", NULL, listing_type(inode_dirent_type(mode)));
	report_u64(r, "mode", NULL, mode & 07777u);
	report_u64(r, "links", NULL, le16_get(i->i_links_count));
	report_u64(r, "uid", NULL, le32_get(i->i_uid));
	report_u64(r, "gid", NULL, le32_get(i->i_gid));
	report_u64(r, "size", NULL, le64_get(i->i_size));
	report_u64(r, "blocks", NULL, le64_get(i->i_blocks));
	report_value(r, VALUE_U64, "changed_blocks", NULL, changed_of(v));
	report_time(r, "mtime", NULL, le64_get(i->i_mtime));
	report_u64(r, "mtime_nsec", NULL, le32_get(i->i_mtime_nsec));
	report_time(r, "ctime", NULL, le64_get(i->i_ctime));
	report_u64(r, "ctime_nsec", NULL, le32_get(i->i_ctime_nsec));
	if (inode_has_rdev(i)) {
		inode_rdev(i, &major, &minor);
		report_u64(r, "major", NULL, major);
		report_u64(r, "minor", NULL, minor);
	}
	table_begin(&table, r, "names", name_columns, 1);
	for (; path < end; path += strlen(path) + 1) {
		const struct value name = value_string(path);

		table_row(&table, &name);
	}
	table_end(&table);
	report_end(r);
}

/* Goes on after what concerns one checkpoint only. */
static int report_checkpoint(struct history *h, uint64_t cno, int err)
{
	if (!err || image_is_fatal(err))
		return err;
	image_checkpoint_failed(h->tool, cno, err);
	h->broken = true;
	return 0;
}

/* Opens checkpoint CNO, and sees whether it has the files of the last one. */
static int open_checkpoint(struct history *h, struct context *cx, uint64_t cno)
{
	const struct nilfs_inode *ifile = &h->root.cp.cp_ifile_inode;
	struct nilfs_inode before = *ifile;
	int err = root_open(&h->root, cx, h->vol, cno);

	h->same = !err && h->has_root && inode_has_same_map(ifile, &before);
	h->has_root = !err;
	return err;
}

/* The first round: what the path leads to. */

static int add_follower(struct history *h, struct context *cx, uint64_t ino)
{
	size_t i;

	for (i = 0; i < h->count; i++)
		if (h->followers[i].names.ino == ino)
			return 0;
	if (array_reserve(cx, &h->followers, &h->room, h->count + 1))
		return -ENOMEM;
	h->followers[h->count++] = (struct follower){ .names.ino = ino };
	return 0;
}

static int add_file(struct history *h, struct context *cx)
{
	struct nilfs_inode inode;
	uint64_t ino;
	int err = filenames_follow(&h->path, cx, &h->root, &ino);

	if (!err)
		err = root_inode(&h->root, cx, ino, &inode);
	if (err == -ENOENT || err == -ENOTDIR) {
		fail_clear(cx);
		return 0;
	}
	if (err)
		return err;
	if (pairtable_find(&h->files, ino, le32_get(inode.i_generation)))
		return 0;
	err = pairtable_add(&h->files, cx, ino, le32_get(inode.i_generation),
			    1);
	return err ? err : add_follower(h, cx, ino);
}

/* Checkpoints that cannot be opened are reported by the second round. */
static int collect_files(struct history *h, struct context *cx)
{
	size_t i;
	int err = 0;

	for (i = 0; i < h->checkpoints && !err; i++) {
		err = open_checkpoint(h, cx, h->cnos[i]);
		if (!err && !h->same)
			err = report_checkpoint(h, h->cnos[i],
						add_file(h, cx));
		if (image_is_fatal(err))
			return err;
		fail_clear(cx);
		err = context_cancelled(cx);
	}
	h->has_root = false;
	return err;
}

/* The second round: their versions. */

static int end_version(struct history *h, struct follower *f)
{
	if (!f->open)
		return 0;
	f->open = false;
	f->version.names = f->paths;
	h->found = true;
	if (report_is_text(&h->tool->report))
		put_row(h, &f->version);
	else
		put_section(&h->tool->report, &f->version);
	return h->tool->out->error;
}

static int count_block(void *arg, struct context *cx,
		       const struct mapdiff_item *item)
{
	uint64_t *count = arg;

	(void)item;
	++*count;
	return *count % 4096 ? 0 : context_cancelled(cx);
}

static int begin_version(struct history *h, struct context *cx,
			 struct follower *f)
{
	struct nilfs_inode before = f->version.inode;
	bool same = f->version.ino && inode_is_same_file(&before, &f->inode);
	size_t len = 0, i;
	int err = 0;

	f->version = (struct version){
		.first = h->root.cno,
		.created = le64_get(h->root.cp.cp_create),
		.ino = f->names.ino,
		.inode = f->inode,
	};
	f->open = true;
	if (inode_has_bmap(&f->inode))
		err = mapdiff_run_file(cx, h->vol, f->names.ino,
				       same ? &before : NULL, &f->inode,
				       count_block, &f->version.changed);
	f->version.known = !err;
	err = report_checkpoint(h, h->root.cno, err);
	for (i = 0; i < f->names.count && !err; i++) {
		const char *path = trail_path(&f->names.items[i].trail);
		size_t size = strlen(path) + 1;

		if (array_reserve(cx, &f->paths, &f->paths_room, len + size))
			return -ENOMEM;
		memcpy(f->paths + len, path, size);
		len += size;
	}
	f->version.names_len = len;
	return err;
}

/* Reads the inode in the present checkpoint. */
static int read_follower(struct history *h, struct context *cx,
			 struct follower *f)
{
	uint64_t ino = f->names.ino, ptr = 0, generation;
	int ret = blockmap_lookup(
		&h->root.ifile.map, cx,
		palloc_entry_blkoff(&h->vol->ifile_palloc, ino), &ptr);

	if (ret < 0)
		return ret;
	if (!ret)
		ptr = 0;
	if (f->read && f->ptr == ptr)
		return 0;
	f->read = true;
	f->ptr = ptr;
	f->there = false;
	ret = root_inode(&h->root, cx, ino, &f->inode);
	if (ret == -ENOENT) {
		fail_clear(cx);
		return 0;
	}
	generation = le32_get(f->inode.i_generation);
	f->there = !ret && (h->any_file ||
			    pairtable_find(&h->files, ino, generation));
	return ret;
}

/* The names that lead to the file, which is in the present checkpoint. */
static int update_names(struct history *h, struct context *cx,
			struct follower *f)
{
	uint64_t ino = 0;
	int err = -ENOENT;

	f->names.changed = false;
	if (h->path.count && !h->path.climbs)
		err = filenames_follow(&h->path, cx, &h->root, &ino);
	fail_clear(cx);
	err = !err && ino == f->names.ino
		      ? filenames_add(&f->names, cx, h->path.path, h->path.len)
		      : 0;
	if (!err)
		err = filenames_update(&f->names, cx, &h->root, &f->inode);
	return report_checkpoint(h, h->root.cno, err);
}

static void extend_version(struct history *h, struct follower *f)
{
	f->version.last = h->root.cno;
	f->version.checkpoints++;
}

static int visit_follower(struct history *h, struct context *cx,
			  struct follower *f)
{
	int err = read_follower(h, cx, f);

	if (err)
		return report_checkpoint(h, h->root.cno, err);
	if (!f->there)
		return end_version(h, f);
	err = update_names(h, cx, f);
	if (!err && (!f->open || f->names.changed ||
		     memcmp(&f->inode, &f->version.inode, sizeof(f->inode)))) {
		err = end_version(h, f);
		if (!err)
			err = begin_version(h, cx, f);
	}
	if (!err)
		extend_version(h, f);
	return err;
}

static int visit_checkpoint(struct history *h, struct context *cx, uint64_t cno)
{
	int err = open_checkpoint(h, cx, cno);
	size_t i;

	if (err)
		return report_checkpoint(h, cno, err);
	for (i = 0; i < h->count && !err; i++) {
		struct follower *f = &h->followers[i];

		if (!h->same)
			err = visit_follower(h, cx, f);
		else if (f->open)
			extend_version(h, f);
	}
	return err ? err : context_cancelled(cx);
}

/* Of an inode, or of all that is at a path at some time. */
static int show_versions(struct history *h, const char *what)
{
	struct context *cx = &h->tool->cx;
	uint64_t ino = 0;
	size_t i;
	int err;

	h->any_file = *what >= '0' && *what <= '9';
	if (!h->any_file) {
		err = filenames_set_trail(&h->path, cx, what, strlen(what));
		if (err)
			return err;
	} else if (option_number(cx, "INO|PATH", what, UINT64_MAX, &ino)) {
		return tool_usage(h->tool, "'%s' is no inode number", what);
	} else if (inode_is_private(ino)) {
		return tool_usage(h->tool, "inode %llu is not one of a file",
				  (unsigned long long)ino);
	}
	err = cptable_list(h->vol, cx, false, &h->cnos, &h->checkpoints);
	if (!err)
		err = h->any_file ? add_follower(h, cx, ino)
				  : collect_files(h, cx);
	for (i = 0; i < h->checkpoints && !err; i++)
		err = visit_checkpoint(h, cx, h->cnos[i]);
	for (i = 0; i < h->count && !err; i++)
		err = end_version(h, &h->followers[i]);
	if (err || h->found)
		return err;
	if (!h->any_file)
		return fail_said(cx, -ENOENT, "%s: in no checkpoint", what);
	return fail_said(cx, -ENOENT, "inode %llu: in no checkpoint",
			 (unsigned long long)ino);
}

static int history_run(struct tool *tool, const void *options)
{
	struct history h = { .tool = tool };
	struct report *r = &tool->report;
	struct dump_image im = { .dev = NULL };
	size_t i;
	int err = image_open(&im, tool, tool->argv[0], NULL);

	(void)options;
	h.vol = im.vol;
	if (!err && report_is_text(r)) {
		table_begin(&h.table, r, "versions", columns, COLUMNS);
		err = show_versions(&h, tool->argv[1]);
		table_end(&h.table);
	} else if (!err) {
		report_list(r, "versions");
		err = show_versions(&h, tool->argv[1]);
		if (!err)
			report_end(r);
	}
	for (i = 0; i < h.count; i++) {
		filenames_fini(&h.followers[i].names);
		free(h.followers[i].paths);
	}
	free(h.followers);
	free(h.cnos);
	free(h.names);
	pairtable_fini(&h.files);
	filenames_free_trail(&h.path);
	image_close(&im);
	return err ? err : h.broken;
}

const struct cli_command history_command = {
	.name = "history",
	.summary = "the versions of a file over all checkpoints",
	.synopsis = "IMAGE PATH|INO",
	.about =
	"Shows each version of the files that are at PATH in some checkpoint, or have\n"
	"the inode number INO: the first and the last checkpoint that has it, the time\n"
	"of the first one, attributes, blocks changed since the version before, and all\n"
	"names.  cat -c and export -c get it.",
	.min_args = 2,
	.max_args = 2,
	.run = history_run,
};
