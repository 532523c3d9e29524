// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The files of a mount, without a mount: names, content, links to checkpoints
 * as the kernel would ask for them.
 */
#include "log_volume.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump/mount/mount_ahead.h"
#include "dump/mount/mountall.h"
#include "dump/mount/mountattr.h"
#include "dump/mount/mountfs.h"
#include "vol/recovery.h"

#include "tap.h"

#define FILES 200

/* f0 has a hole in its middle and one at its beginning. */
static const struct newfile_run holed[] = { { 2, 3 }, { 9, 2 } };

/* f1 begins with a hole, and its data goes on after the longest read. */
static const struct newfile_run late[] = { { 200, 2000 } };

static int first_checkpoint(struct log_volume *v, struct writer *w)
{
	struct newfile_run run = { 0, 1 };
	unsigned int i;
	int ret = log_volume_place(v, w, log_volume_add(v, holed, 2));

	if (!ret)
		ret = log_volume_place(v, w, log_volume_add(v, late, 1));
	for (i = 2; i < FILES && !ret; i++)
		ret = log_volume_place(v, w, log_volume_add(v, &run, 1));
	return ret ? ret : log_volume_place_root(v, w, false);
}

/* f3 is removed, and f199 gets other content. */
static int second_checkpoint(struct log_volume *v, struct writer *w)
{
	struct newfile_run run = { 0, 2 };
	int ret = log_volume_remove(v, w, &v->files[3]);

	if (!ret)
		ret = log_volume_replace(v, w, &v->files[FILES - 1], &run, 1);
	return ret ? ret : log_volume_place_root(v, w, true);
}

static void write_checkpoint(struct log_volume *v, struct recovery *at,
			     const struct log_shape *shape)
{
	struct writer_options options = log_volume_options(shape);
	struct volume *below = NULL;
	struct writer *w;

	options.snapshot = !at->cno;
	options.time += 10 * at->cno;
	if (at->cno) {
		must(volume_open_at(&below, &v->cx, v->dev, &v->g, at));
		must(writer_open(&w, &v->cx, below, &options));
		must(second_checkpoint(v, w));
	} else {
		must(writer_create(&w, &v->cx, v->dev, &v->g, &options));
		must(first_checkpoint(v, w));
	}
	must(writer_commit(w, &v->cx, &v->end));
	writer_recovery(w, &v->end, at);
	writer_close(w);
	volume_close(below);
}

/* One entry of a directory, as a program that reads one at a time has it. */
struct one {
	char name[NILFS_NAME_LEN + 1];
	uint64_t node, next;
	unsigned int n;
};

static int take_one(void *arg, const struct mountfs_entry *entry)
{
	struct one *one = arg;

	if (one->n)
		return 1;
	one->n++;
	snprintf(one->name, sizeof(one->name), "%s", entry->name);
	one->node = entry->node;
	one->next = entry->next;
	return 0;
}

/* All names of directory NODE, each with a blank behind it. */
static char *names_of(struct mountfs *fs, struct context *cx, uint64_t node)
{
	struct one one = { .next = 0 };
	char *text = calloc(1, 16384);

	do {
		one.n = 0;
		must(mountfs_list(fs, cx, node, one.next, take_one, &one));
		if (one.n && strlen(text) < 16000)
			strcat(strcat(text, one.name), " ");
	} while (one.n);
	return text;
}

static uint64_t node_at(struct mountfs *fs, struct context *cx,
			uint64_t parent, const char *name)
{
	struct stat st;
	uint64_t node = 0;

	if (mountfs_lookup(fs, cx, parent, name, &node, &st)) {
		printf("# %s: %s\n", name, cx->failure);
		fail_clear(cx);
		return 0;
	}
	return node;
}

static void check_names(struct mountfs *fs, struct context *cx)
{
	char *text = names_of(fs, cx, MOUNTFS_TOP), wanted[16384], name[16];
	size_t len = 0;
	unsigned int i, found = 0;
	struct stat st;
	uint64_t node;

	len += (size_t)sprintf(wanted, ". .. ");
	for (i = 0; i < FILES; i++)
		len += (size_t)sprintf(wanted + len, "f%u ", i);
	is_str(text, wanted, "names are listed one by one, each once");
	free(text);
	for (i = FILES; i-- > 0; found += node != 0) {
		sprintf(name, "f%u", i);
		node = node_at(fs, cx, MOUNTFS_TOP, name);
	}
	is_int(found, FILES, "all are found, in another order");
	is_int(mountfs_lookup(fs, cx, MOUNTFS_TOP, "f", &node, &st), -ENOENT,
	       "and no other name");
	is_int(mountfs_lookup(fs, cx, node_at(fs, cx, MOUNTFS_TOP, "f1"), "f",
			      &node, &st), -ENOTDIR, "nor one in a file");
}

/* The bytes of FILE by its map. */
static char *read_by_map(struct log_volume *v, struct root *root,
			 const struct log_file *from)
{
	uint32_t bs = v->g.block_size;
	char *bytes = calloc(1, from->size + bs);
	uint64_t blkoff, blocknr;
	struct file file;
	int ret;

	must(root_file(root, &v->cx, from->ino, &file));
	for (blkoff = 0; blkoff * bs < from->size; blkoff++) {
		ret = file_lookup(&file, &v->cx, blkoff, &blocknr);
		must(ret);
		if (ret)
			must(dev_read(v->dev, &v->cx, blocknr * bs,
				      bytes + blkoff * bs, bs));
	}
	return bytes;
}

static bool reads_in_pieces(struct log_volume *v, struct mountfs *fs,
			    uint64_t node, size_t len, const char *wanted,
			    uint64_t size)
{
	const char *bytes;
	uint64_t at;
	size_t got;

	for (at = 0; at < size; at += got) {
		must(mountfs_read(fs, &v->cx, node, at, len, &bytes, &got));
		if (!got || memcmp(bytes, wanted + at, got))
			return false;
	}
	must(mountfs_read(fs, &v->cx, node, at, len, &bytes, &got));
	return at == size && !got;
}

static void check_content(struct log_volume *v, struct mountfs *fs,
			  struct root *root)
{
	static const size_t pieces[] = { 777, 1024, 4096, MOUNTFS_READ_MAX };
	static const char *const names[] = { "f0", "f1" };
	const char *bytes;
	char *wanted;
	size_t i, n, got;

	for (n = 0; n < 2; n++) {
		wanted = read_by_map(v, root, &v->files[n]);
		for (i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
			ok(reads_in_pieces(v, fs,
					   node_at(fs, &v->cx, MOUNTFS_TOP,
						   names[n]), pieces[i],
					   wanted, v->files[n].size),
			   "%s in pieces of %zu bytes", names[n], pieces[i]);
		free(wanted);
	}
	is_int(mountfs_read(fs, &v->cx, MOUNTFS_TOP, 0, 1, &bytes, &got),
	       -EINVAL, "a directory has no content");
}

static void check_seek(struct log_volume *v, struct mountfs *fs)
{
	static const struct {
		uint64_t from;	/* all in blocks */
		bool hole;
		uint64_t to;
	} seeks[] = {
		{ 0, true, 0 }, { 0, false, 2 }, { 3, false, 3 }, { 3, true, 5 },
		{ 6, true, 6 }, { 6, false, 9 },
	};
	uint32_t bs = v->g.block_size;
	uint64_t node = node_at(fs, &v->cx, MOUNTFS_TOP, "f0"), found;
	size_t i;

	for (i = 0; i < sizeof(seeks) / sizeof(*seeks); i++) {
		must(mountfs_seek(fs, &v->cx, node, seeks[i].from * bs,
				  seeks[i].hole, &found));
		is_int(found, seeks[i].to * bs, "a hole or data");
	}
	must(mountfs_seek(fs, &v->cx, node, 10 * bs, true, &found));
	is_int(found, v->files[0].size, "the end is a hole");
	is_int(mountfs_seek(fs, &v->cx, node, v->files[0].size, false, &found),
	       -ENXIO, "after it is nothing");
}

static void is_attr(struct mountfs *fs, struct context *cx, uint64_t node,
		    const char *name, const char *wanted)
{
	char text[64] = "";
	char *value;
	size_t len;

	if (!mountattr_get(fs, cx, node, name, &value, &len))
		snprintf(text, sizeof(text), "%.*s", (int)len, value);
	is_str(text, wanted, name);
	free(value);
}

static void check_one(struct log_volume *v, struct volume *vol)
{
	struct mountfs fs;
	struct root root;
	struct stat st;
	uint64_t node;
	char ino[24];

	must(root_open(&root, &v->cx, vol, 1));
	must(mountfs_init(&fs, &v->cx, vol, &root, 0, 0));
	check_names(&fs, &v->cx);
	check_content(v, &fs, &root);
	check_seek(v, &fs);
	must(mountfs_lookup(&fs, &v->cx, MOUNTFS_TOP, "f3", &node, &st));
	is_int(st.st_ino, v->files[3].ino, "the inode number of the volume");
	is_int(st.st_mode, S_IFREG | 0644, "mode");
	is_int(st.st_mtim.tv_sec, LOG_VOLUME_TIME, "time");
	must(mountfs_stat(&fs, &v->cx, MOUNTFS_TOP, &st));
	is_int(st.st_ino, NILFS_ROOT_INO, "that of the root");
	snprintf(ino, sizeof(ino), "%llu",
		 (unsigned long long)v->files[3].ino);
	is_attr(&fs, &v->cx, node, "user.nilfs2.checkpoint", "1");
	is_attr(&fs, &v->cx, node, "user.nilfs2.inode", ino);
	is_attr(&fs, &v->cx, node, "user.nilfs2.other", "");
	mountfs_fini(&fs);
}

static void is_link(struct mountfs *fs, struct context *cx, const char *dir,
		    const char *name, const char *wanted)
{
	char target[SYMLINK_TARGET_MAX + 1] = "";
	uint64_t node = MOUNTFS_TOP;

	if (*dir)
		node = node_at(fs, cx, node, dir);
	node = node_at(fs, cx, node, name);
	if (node)
		must(mountfs_readlink(fs, cx, node, target));
	is_str(target, wanted, name);
}

static void is_list(struct mountfs *fs, struct context *cx, const char *dir,
		    const char *wanted)
{
	uint64_t node = *dir ? node_at(fs, cx, MOUNTFS_TOP, dir) : MOUNTFS_TOP;
	char *text = names_of(fs, cx, node);

	is_str(text, wanted, dir);
	free(text);
}

static void check_all(struct log_volume *v, struct volume *vol)
{
	struct context *cx = &v->cx;
	struct mountfs fs;
	struct stat st;
	uint64_t node, one, two;

	must(mountfs_init(&fs, cx, vol, NULL, 7, 8));
	is_list(&fs, cx, "", ". .. latest snapshots times 1 2 ");
	is_list(&fs, cx, "snapshots", ". .. 1 ");
	is_list(&fs, cx, "times",
		". .. 1970-01-12T13:46:40Z 1970-01-12T13:46:50Z ");
	is_link(&fs, cx, "", "latest", "2");
	is_link(&fs, cx, "snapshots", "1", "../1");
	is_link(&fs, cx, "snapshots", "2", "");
	is_link(&fs, cx, "times", "1970-01-12T13:46:39Z", "");
	is_link(&fs, cx, "times", "1970-01-12T13:46:40Z", "../1");
	is_link(&fs, cx, "times", "1970-01-12T13:46:49Z", "../1");
	is_link(&fs, cx, "times", "1970-01-12T13:46:50Z", "../2");
	is_link(&fs, cx, "times", "2030-01-01T00:00:00Z", "../2");
	is_link(&fs, cx, "times", "2030-13-01T00:00:00Z", "");
	is_link(&fs, cx, "times", "2030-01-01T00:00:00", "");
	one = node_at(&fs, cx, MOUNTFS_TOP, "1");
	two = node_at(&fs, cx, MOUNTFS_TOP, "2");
	ok(node_at(&fs, cx, one, "f3"), "what was removed later");
	is_int(mountfs_lookup(&fs, cx, two, "f3", &node, &st), -ENOENT,
	       "is not in the later one");
	ok(node_at(&fs, cx, one, "f5") != node_at(&fs, cx, two, "f5"),
	   "a file of two checkpoints is two files");
	must(mountfs_lookup(&fs, cx, one, "f199", &node, &st));
	ok(st.st_size <= v->g.block_size, "the old size in the first");
	must(mountfs_lookup(&fs, cx, two, "f199", &node, &st));
	ok(st.st_size > v->g.block_size, "the new one in the second");
	is_attr(&fs, cx, node, "user.nilfs2.checkpoint", "2");
	must(mountfs_stat(&fs, cx, MOUNTFS_TOP, &st));
	ok(st.st_uid == 7 && st.st_gid == 8, "the owner of the top");
	is_int(mountfs_lookup(&fs, cx, MOUNTFS_TOP, "3", &node, &st), -ENOENT,
	       "a checkpoint that does not exist");
	is_int(mountfs_lookup(&fs, cx, MOUNTFS_TOP, "01", &node, &st), -ENOENT,
	       "a number with a zero before it");
	mountfs_fini(&fs);
}

/* What stands for the kernel: it keeps files, and locks one that it asks for. */
struct cache {
	struct mountfs fs;
	struct context *cx;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	uint64_t nodes[FILES], asked;
	char *content[FILES];
	unsigned int n, given, reads;
};

static unsigned int place_in(const struct cache *c, uint64_t node)
{
	unsigned int i;

	for (i = 0; i < c->n && c->nodes[i] != node; i++)
		;
	return i;
}

static char *copy_of(const char *bytes, size_t len)
{
	char *copy = malloc(len + 1);

	memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

static void keep_file(void *arg, uint64_t node, char *bytes, size_t len)
{
	struct cache *c = arg;
	unsigned int i = place_in(c, node);

	pthread_mutex_lock(&c->lock);
	while (c->asked == node)
		pthread_cond_wait(&c->answered, &c->lock);
	free(c->content[i]);
	c->content[i] = copy_of(bytes, len);
	c->given++;
	pthread_mutex_unlock(&c->lock);
}

static int note_listed(void *arg, const struct mountfs_entry *entry)
{
	struct cache *c = arg;

	if (S_ISREG(entry->st.st_mode) && entry->st.st_size <= MOUNT_AHEAD_SIZE)
		c->nodes[c->n++] = entry->node;
	return 0;
}

static bool is_kept(struct cache *c, unsigned int i)
{
	bool kept;

	pthread_mutex_lock(&c->lock);
	kept = c->content[i] != NULL;
	if (!kept)
		c->asked = c->nodes[i];
	pthread_mutex_unlock(&c->lock);
	return kept;
}

/* Reads file I, as a request of the kernel does, if it was not given before. */
static void read_file(struct cache *c, struct mount_ahead *ahead, unsigned int i)
{
	const char *bytes;
	size_t len;

	if (is_kept(c, i))
		return;
	mount_ahead_asked(ahead, c->nodes[i]);
	must(mountfs_read(&c->fs, c->cx, c->nodes[i], 0, MOUNT_AHEAD_SIZE,
			  &bytes, &len));
	mount_ahead_wait(ahead, c->nodes[i]);
	pthread_mutex_lock(&c->lock);
	free(c->content[i]);
	c->content[i] = copy_of(bytes, len);
	c->reads++;
	c->asked = 0;
	pthread_cond_broadcast(&c->answered);
	pthread_mutex_unlock(&c->lock);
	mount_ahead_answered(ahead);
}

/* The number of files whose kept content is not that of a read. */
static unsigned int wrong_files(struct cache *c)
{
	unsigned int i, wrong = 0;
	const char *bytes;
	size_t len;

	for (i = 0; i < c->n; i++) {
		must(mountfs_read(&c->fs, c->cx, c->nodes[i], 0,
				  MOUNT_AHEAD_SIZE, &bytes, &len));
		wrong += !c->content[i] || memcmp(c->content[i], bytes, len);
		free(c->content[i]);
	}
	return wrong;
}

static void check_ahead(struct log_volume *v, struct volume *vol)
{
	struct cache c = { .cx = &v->cx };
	struct mount_ahead *ahead;
	struct root root;
	struct stat st;
	unsigned int i;

	must(root_open(&root, &v->cx, vol, 0));
	must(mountfs_init(&c.fs, &v->cx, vol, &root, 0, 0));
	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.answered, NULL);
	must(mount_ahead_open(&ahead, &v->cx, &c.fs, keep_file, &c));
	must(mountfs_list(&c.fs, &v->cx, MOUNTFS_TOP, 0, note_listed, &c));
	for (i = 0; i < c.n; i++) {
		must(mountfs_stat(&c.fs, &v->cx, c.nodes[i], &st));
		mount_ahead_listed(ahead, c.nodes[i], &st);
	}
	read_file(&c, ahead, c.n / 2);
	read_file(&c, ahead, 0);
	for (i = 1; i < c.n; i++)
		read_file(&c, ahead, i);
	while (!mount_ahead_end(ahead))
		usleep(1000);
	mount_ahead_close(ahead);
	printf("# %u files, %u read, %u given\n", c.n, c.reads, c.given);
	ok(c.n > FILES / 2 && c.reads < c.n / 4,
	   "most files of a sequence are given");
	is_int(wrong_files(&c), 0, "with the content of a read");
	pthread_mutex_destroy(&c.lock);
	pthread_cond_destroy(&c.answered);
	mountfs_fini(&c.fs);
}

static void check_shape(const struct log_shape *shape)
{
	struct recovery at = { 0 };
	struct volume *vol;
	struct log_volume v;

	printf("# blocks of %u\n", shape->block_size);
	log_volume_init(&v, shape);
	write_checkpoint(&v, &at, shape);
	write_checkpoint(&v, &at, shape);
	must(log_volume_write_super(&v));
	must(volume_open(&vol, &v.cx, v.dev, NULL));
	check_one(&v, vol);
	check_all(&v, vol);
	check_ahead(&v, vol);
	volume_close(vol);
	log_volume_fini(&v);
}

int main(void)
{
	static const struct log_shape shapes[] = {
		{ 1024, 32, 4000, 0, 0, 1, true },
		{ 4096, 64, 800, 0, 4, 1, false },
	};
	size_t i;

	for (i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		check_shape(&shapes[i]);
	return tap_done();
}
