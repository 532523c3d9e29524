// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * extend IMAGE NAME BLOCKS: appends one checkpoint that has one more file, and
 * points both superblocks to it; prints its number.
 *
 * The least that a user of the log writer can do to a volume that another
 * program made.  The file counts in words of eight bytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dev/devfile.h"
#include "disk/dirent.h"
#include "log/inodes.h"
#include "log/newfile.h"
#include "vol/dir.h"
#include "vol/volume.h"

struct extend {
	struct context cx;
	struct dev *dev;
	struct volume *vol;
	struct writer *w;
	const char *name;
	uint64_t blocks;
	uint64_t ino;
	uint32_t block_size;
	/* The directory: the blocks it had, and one more. */
	uint8_t *dir;
	uint64_t dir_blocks;
};

static struct payload *count_words(const struct extend *e)
{
	uint64_t words = e->blocks * e->block_size / 8, i;
	struct payload *p;
	void *data;

	p = payload_memory(NULL, (uint32_t)e->blocks, e->block_size, &data);
	for (i = 0; p && i < words; i++) {
		le64 word = le64_make(i);

		memcpy((char *)data + i * 8, &word, 8);
	}
	return p;
}

static int place_file(struct extend *e)
{
	const struct newfile_run run = { 0, e->blocks };
	struct nilfs_inode inode = {
		.i_size = le64_make(e->blocks * e->block_size),
		.i_mode = le16_make(S_IFREG | 0644),
		.i_links_count = le16_make(1),
	};
	int ret = inodes_alloc(e->w, &e->cx, &e->ino);

	if (!ret)
		ret = newfile_place(e->w, &e->cx, e->ino, &inode, &run, 1,
				    count_words(e));
	return ret ? ret : inodes_write(e->w, &e->cx, e->ino, &inode);
}

/* Reads the blocks of the root directory and adds one with the name. */
static int read_dir(struct extend *e)
{
	struct nilfs_dir_entry de = {
		.rec_len = dirent_rec_len_encode(e->block_size),
		.name_len = (uint8_t)strlen(e->name),
		.file_type = NILFS_FT_REG_FILE,
	};
	size_t bs = e->block_size;
	struct root root;
	struct file file;
	const void *data;
	uint64_t i;
	int ret = root_open(&root, &e->cx, e->vol, 0);

	if (!ret)
		ret = root_file(&root, &e->cx, NILFS_ROOT_INO, &file);
	if (ret)
		return ret;
	e->dir_blocks = le64_get(file.inode.i_size) / bs + 1;
	e->dir = calloc(e->dir_blocks, bs);
	for (i = 0; i < e->dir_blocks - 1; i++) {
		if (file_block(&file, &e->cx, i, &data) <= 0)
			return -EUCLEAN;
		memcpy(e->dir + i * bs, data, bs);
		file_put(&file, data);
	}
	memcpy(de.name, e->name, de.name_len);
	memcpy(e->dir + i * bs, &de,
	       offsetof(struct nilfs_dir_entry, name) + de.name_len);
	return 0;
}

static int place_dir(struct extend *e)
{
	size_t last = (e->dir_blocks - 1) * e->block_size;
	le64 ino = le64_make(e->ino);
	struct nilfs_inode inode;
	int ret = inodes_read(e->w, &e->cx, NILFS_ROOT_INO, &inode);

	memcpy(e->dir + last, &ino, sizeof(ino));
	if (!ret)
		ret = newfile_drop(e->w, &e->cx, NILFS_ROOT_INO, &inode);
	inode.i_size = le64_make(e->dir_blocks * e->block_size);
	if (!ret)
		ret = newfile_collect(e->w, &e->cx, NILFS_ROOT_INO, &inode,
				      e->dir, e->dir_blocks);
	return ret ? ret :
		     inodes_write(e->w, &e->cx, NILFS_ROOT_INO, &inode);
}

static int point_supers(struct extend *e, const struct writer_end *end)
{
	int i, ret = 0;

	for (i = 0; i < 2 && !ret; i++) {
		struct nilfs_super_block *sb = &e->vol->super[i];

		if (e->vol->choice.verdict[i])
			continue;
		sb->s_last_cno = le64_make(end->cno);
		sb->s_last_pseg = le64_make(end->pseg);
		sb->s_last_seq = le64_make(end->seq);
		sb->s_free_blocks_count = le64_make(
			end->clean_segments * e->vol->geo.blocks_per_segment);
		sb->s_state = le16_make(NILFS_VALID_FS);
		sb->s_sum = le32_make(super_checksum(sb));
		ret = dev_write(e->dev, &e->cx, e->vol->super_offset[i], sb,
				sizeof(*sb));
	}
	return ret;
}

static int extend(struct extend *e)
{
	const struct writer_options options = { .time = 1700000000 };
	struct writer_end end;
	int ret = volume_open(&e->vol, &e->cx, e->dev, NULL);

	if (ret)
		return ret;
	e->block_size = e->vol->geo.block_size;
	ret = read_dir(e);
	if (!ret)
		ret = writer_open(&e->w, &e->cx, e->vol, &options);
	if (!ret)
		ret = place_file(e);
	if (!ret)
		ret = place_dir(e);
	if (!ret)
		ret = writer_commit(e->w, &e->cx, &end);
	if (!ret)
		ret = dev_flush(e->dev, &e->cx);
	if (!ret)
		ret = point_supers(e, &end);
	if (!ret)
		printf("%llu\n", (unsigned long long)end.cno);
	return ret;
}

int main(int argc, char **argv)
{
	struct extend e = { .dev = NULL };
	int ret;

	if (argc != 4)
		return 2;
	context_init(&e.cx);
	e.name = argv[2];
	e.blocks = strtoull(argv[3], NULL, 10);
	ret = devfile_open(&e.dev, &e.cx, argv[1], DEVFILE_WRITE);
	if (!ret)
		ret = extend(&e);
	if (ret)
		fprintf(stderr, "%s: %s: %s\n", argv[1], e.cx.failure,
			strerror(-ret));
	writer_close(e.w);
	volume_close(e.vol);
	dev_close(e.dev);
	free(e.dir);
	return ret != 0;
}
