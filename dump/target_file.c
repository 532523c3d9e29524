// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Structures that set changes, found in a file: entries of the metadata files,
 * inodes, nodes of block maps, entries of directories.  target_find() calls these
 * finders; target.c has those of superblocks and logs.
 */
#include <errno.h>
#include <string.h>

#include "cli/option.h"
#include "disk/checkpoint.h"
#include "disk/dirent.h"
#include "disk/segusage.h"
#include "dump/common/position.h"
#include "dump/common/subject.h"
#include "dump/target.h"
#include "vol/dir.h"

int target_file_inode(struct target *t, struct target_source *source,
		      const struct target_index *index)
{
	struct subject s;
	struct position p;
	int err;

	err = subject_find(&s, source->cx, &source->root, index->text);
	if (!err)
		err = position_of_inode(&p, source->cx, &source->root, s.ino);
	if (!err)
		target_set(t, source, p.blocknr, p.offset,
			   field_table_find("inode"));
	return err;
}

int target_file_bmap(struct target *t, struct target_source *source,
		     const struct target_index *index)
{
	unsigned int level = index->count > 2 ?
		(unsigned int)index->numbers[2] : 1;
	uint64_t ptr = 0, blocknr = 0;
	struct subject s;
	struct file file;
	int ret;

	if (index->count < 2 || !level || level >= NILFS_BTREE_LEVEL_MAX)
		return fail(source->cx, -EINVAL,
			    "bmap:%s: not INO/BLKOFF or INO/BLKOFF/LEVEL",
			    index->text);
	ret = subject_read(&s, source->cx, &source->root, index->numbers[0]);
	if (!ret)
		ret = subject_file(&s, source->cx, &source->root, &file);
	if (!ret)
		ret = blockmap_lookup_at_level(&file.map, source->cx,
					       index->numbers[1], level, &ptr);
	if (ret < 0)
		return ret;
	if (!ret)
		return fail_said(source->cx, -ENOENT, "bmap:%s: no such node "
				 "(the root is in the inode)", index->text);
	ret = blockmap_resolve(&file.map, source->cx, ptr, &blocknr);
	if (!ret)
		target_log_set_node(t, source, blocknr);
	return ret;
}

int target_file_dat(struct target *t, struct target_source *source,
		    const struct target_index *index)
{
	struct position p;
	int err;

	err = position_of_dat_entry(&p, source->cx, source->vol,
				 index->numbers[0]);
	if (!err)
		target_set(t, source, p.blocknr, p.offset,
			   field_table_find("dat_entry"));
	return err;
}

/* TABLE at byte OFFSET of block BLKOFF of FILE. */
static int set_in_file(struct target *t, struct target_source *source,
		       struct file *file, uint64_t blkoff, uint32_t offset,
		       const char *table)
{
	struct position p;
	int err;

	err = position_in_file(&p, source->cx, file, blkoff, offset);
	if (!err)
		target_set(t, source, p.blocknr, p.offset,
			   field_table_find(table));
	return err;
}

int target_file_checkpoint(struct target *t, struct target_source *source,
			   const struct target_index *index)
{
	const struct nilfs_geometry *geo = &source->vol->geo;
	uint64_t cno = index->numbers[0];

	if (!cno)
		return fail_said(source->cx, -ENOENT,
				 "checkpoint 0: the first one is 1");
	return set_in_file(t, source, &source->vol->cpfile,
			   checkpoint_blkoff(geo, cno),
			   checkpoint_offset(geo, cno), "checkpoint");
}

int target_file_cpheader(struct target *t, struct target_source *source,
			 const struct target_index *index)
{
	(void)index;
	return set_in_file(t, source, &source->vol->cpfile, 0, 0,
			   "cpfile_header");
}

int target_file_segment(struct target *t, struct target_source *source,
			const struct target_index *index)
{
	const struct nilfs_geometry *geo = &source->vol->geo;
	uint64_t segnum = index->numbers[0];
	const char *table =
		geo->segment_usage_size >= NILFS_EXT_SEGMENT_USAGE_SIZE ?
			"segment_usage_ext" : "segment_usage";

	if (segnum >= geo->nsegments)
		return fail_said(source->cx, -ENOENT,
				 "segment %llu: the volume has %llu",
				 (unsigned long long)segnum,
				 (unsigned long long)geo->nsegments);
	return set_in_file(t, source, &source->vol->sufile,
			   segusage_blkoff(geo, segnum),
			   segusage_offset(geo, segnum), table);
}

int target_file_suheader(struct target *t, struct target_source *source,
			 const struct target_index *index)
{
	bool extended = source->vol->geo.segment_usage_size >=
			NILFS_EXT_SEGMENT_USAGE_SIZE;

	(void)index;
	return set_in_file(t, source, &source->vol->sufile, 0, 0,
			   extended ? "sufile_header_ext" : "sufile_header");
}

/* A file of the allocator and a number: "dat/N", "ifile/N". */
struct allocator {
	struct file *file;
	const struct palloc *palloc;
	uint64_t number;
};

static int parse_allocator(struct allocator *a, struct target_source *source,
			   const char *text)
{
	size_t len = strcspn(text, "/");

	if (len == 3 && !memcmp(text, "dat", len)) {
		a->file = &source->vol->dat;
		a->palloc = &source->vol->dat_palloc;
	} else if (len == 5 && !memcmp(text, "ifile", len)) {
		a->file = &source->root.ifile;
		a->palloc = &source->vol->ifile_palloc;
	}
	if (!a->file || !text[len])
		return fail(source->cx, -EINVAL, "'%s' is not dat/N or ifile/N",
			    text);
	return option_number(source->cx, "N", text + len + 1, UINT64_MAX,
			     &a->number);
}

int target_file_group(struct target *t, struct target_source *source,
		      const struct target_index *index)
{
	struct allocator a = { .file = NULL };
	int err;

	err = parse_allocator(&a, source, index->text);
	if (err)
		return err;
	return set_in_file(t, source, a.file,
			   palloc_desc_blkoff(a.palloc, a.number),
			   palloc_desc_offset(a.palloc, a.number),
			   "palloc_group_desc");
}

int target_file_bitmap(struct target *t, struct target_source *source,
		       const struct target_index *index)
{
	const struct field bit = {
		.name = "bit", .size = 1, .count = 1, .kind = FIELD_UINT,
	};
	const struct field_table table = { .name = "bitmap" };
	struct allocator a = { .file = NULL };
	uint32_t offset;
	struct position p;
	int err;

	err = parse_allocator(&a, source, index->text);
	if (err)
		return err;
	offset = palloc_group_offset(a.palloc, a.number);
	err = position_in_file(&p, source->cx, a.file,
			    palloc_bitmap_blkoff(a.palloc,
						 palloc_group(a.palloc,
							      a.number)),
			    offset / 8);
	if (err)
		return err;
	target_set(t, source, p.blocknr, p.offset, &table);
	target_add_field(t, &bit);
	t->bit = (int)(offset % 8);
	return 0;
}

/* Makes entry NAME in the directory block BLOCKNR the target: 1, 0 if it is not
   there. */
static int target_search_block(struct target *t, struct target_source *source,
			       uint64_t blocknr, const char *name)
{
	struct field field = {
		.name = "name",
		.offset = offsetof(struct nilfs_dir_entry, name),
		.count = 1,
		.kind = FIELD_TEXT,
	};
	struct dirent_entry de;
	struct dirent_iter it;
	const void *block;
	int found = 0, err;

	err = cache_get(source->vol->cache, source->cx, blocknr, &block);
	if (err)
		return err;
	dirent_iter_init(&it, block, source->vol->geo.block_size);
	while (!found && dirent_iter_next(&it, &de)) {
		found = de.name_len == strlen(name) &&
			!memcmp(de.name, name, de.name_len);
		if (!found)
			continue;
		target_set(t, source, blocknr, de.offset,
			   field_table_find("dir_entry"));
		field.size = de.name_len;
		target_add_field(t, &field);
	}
	cache_put(source->vol->cache, block);
	return found;
}

int target_file_dirent(struct target *t, struct target_source *source,
		       const struct target_index *index)
{
	const char *slash = strrchr(index->text, '/');
	struct context *cx = source->cx;
	struct extent_cursor cur;
	char parent[4096];
	struct subject s;
	struct extent e;
	struct file dir;
	size_t len;
	int ret;

	if (!slash || (size_t)(slash - index->text) >= sizeof(parent))
		return fail(cx, -EINVAL, "dirent:%s: not INO/NAME or a path",
			    index->text);
	len = slash == index->text ? 1 : (size_t)(slash - index->text);
	memcpy(parent, index->text, len);
	parent[len] = '\0';
	ret = subject_find(&s, cx, &source->root, parent);
	if (!ret)
		ret = subject_file(&s, cx, &source->root, &dir);
	if (ret)
		return ret;
	ret = extent_cursor_open(&cur, cx, &dir, 0);
	while (!ret && (ret = extent_cursor_next(&cur, cx, 1, &e)) > 0)
		ret = target_search_block(t, source, e.blocknr, slash + 1);
	extent_cursor_close(&cur);
	if (!ret)
		ret = fail_said(cx, -ENOENT, "inode %llu: no entry '%s'",
				(unsigned long long)dir.ino, slash + 1);
	return ret < 0 ? ret : 0;
}
