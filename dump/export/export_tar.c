// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Export to a tar stream: POSIX.1-2001 (pax), with the maps of sparse files as
 * GNU tar's format 1.0 has them.
 *
 * A sparse file begins with its map: the number of its runs, then the offset and
 * length of each.  The block map is walked three times, to measure, to write that
 * map, and to copy, so the number of runs is not limited by memory.
 *
 * An entry is a "ustar" header of 512 bytes.  Only values that do not fit there
 * are in an extended header before it, as records "LENGTH KEY=VALUE\n".  In a
 * record a name is UTF-8 unless hdrcharset is BINARY.
 *
 * libarchive is not used for this because a file system has values that it does
 * not support: fractions of seconds before 1970, names in no character set, holes
 * of exabytes.  Content that cannot be read is replaced by zeros, as the size in
 * the header must be right, and the file is reported as broken.
 */
#include "config.h"

#include "dump/export/export_sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/text.h"
#include "disk/inode.h"
#include "dump/export/tar_stream.h"
#include "out/number.h"

#define UNIT 512u		/* alignment of headers and content */
#define STREAM_UNIT 10240u	/* of which the stream is a multiple */

enum type {
	TYPE_FILE = '0',
	TYPE_HARD_LINK = '1',
	TYPE_SYMLINK = '2',
	TYPE_CHARACTER = '3',
	TYPE_BLOCK = '4',
	TYPE_DIRECTORY = '5',
	TYPE_FIFO = '6',
};

/* Zero where it does not apply. */
struct entry {
	enum type type;
	const char *path; /* bytes, of any length */
	const char *link; /* of links */
	const struct nilfs_inode *inode;
	uint64_t size;	    /* bytes that follow in the stream */
	bool sparse;	    /* the bytes begin with a map */
	uint64_t real_size; /* of a sparse file, in bytes */
};

struct export_tar {
	struct export_sink sink;
	struct tar_stream *stream;
	char *records; /* of the extended header */
	size_t len, room;
	const char *comment; /* of the first entry; NULL: none, or written */
};

#define NAME_MAX_USTAR 100u

/* A ustar header; numbers are octal digits. */
struct ustar {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char chksum[8];
	char typeflag;
	char linkname[100];
	char magic[6];
	char version[2];
	char uname[32];
	char gname[32];
	char devmajor[8];
	char devminor[8];
	char prefix[155];
	char pad[12];
};

_Static_assert(sizeof(struct ustar) == UNIT, "size of a ustar header");

/* Largest number of a field of N bytes, the last of which is a NUL. */
#define OCTAL_MAX(n) ((UINT64_C(1) << 3 * ((n)-1)) - 1)

static void tar_put_octal(char *field, size_t n, uint64_t v)
{
	size_t i;

	for (i = n - 1; i-- > 0; v >>= 3)
		field[i] = (char)('0' + (v & 7));
}

/* As octal digits; larger numbers in binary, as GNU tar does. */
static void put_device_number(char field[8], uint32_t v)
{
	int i;

	if (v <= OCTAL_MAX(8)) {
		tar_put_octal(field, 8, v);
		return;
	}
	for (i = 7; i > 0; i--, v >>= 8)
		field[i] = (char)(v & 0xff);
	field[0] = (char)0x80;
}

/* Adds a value to the end of the records. */
static int add_record(struct export_tar *t, struct context *cx, const char *key,
		      const char *value, size_t value_len)
{
	size_t key_len = strlen(key), body = key_len + value_len + 3, len;
	char *to;

	len = body + number_digits(body);
	len = body + number_digits(len);
	if (array_reserve(cx, &t->records, &t->room, t->len + len))
		return -ENOMEM;
	to = number_u64(t->records + t->len, len);
	*to++ = ' ';
	memcpy(to, key, key_len);
	to += key_len;
	*to++ = '=';
	memcpy(to, value, value_len);
	to[value_len] = '\n';
	t->len += len;
	return 0;
}

static int add_number(struct export_tar *t, struct context *cx, const char *key,
		      uint64_t v)
{
	char text[20];

	return add_record(t, cx, key, text,
			  (size_t)(number_u64(text, v) - text));
}

/* Puts NAME into FIELD if it fits; otherwise, or if ALWAYS, into record KEY. */
static int tar_put_name(struct export_tar *t, struct context *cx, char *field,
			const char *key, const char *name, bool always)
{
	size_t len = strlen(name), left = len, n = 0;
	int err = 0;

	memcpy(field, name, len < NAME_MAX_USTAR ? len : NAME_MAX_USTAR);
	if (len <= NAME_MAX_USTAR && !always)
		return 0;
	while (left && (n = text_utf8(name + len - left, left, NULL)))
		left -= n;
	if (left)
		err = add_record(t, cx, "hdrcharset", "BINARY", 6);
	return err ? err : add_record(t, cx, key, name, len);
}

/* Puts a number into its field if it fits, otherwise into a record. */
static int tar_put_number(struct export_tar *t, struct context *cx, char *field,
			  size_t n, const char *key, uint64_t v)
{
	bool fits = v <= OCTAL_MAX(n);

	tar_put_octal(field, n, fits ? v : 0);
	return fits ? 0 : add_number(t, cx, key, v);
}

static int put_ustar(struct export_tar *t, struct context *cx, struct ustar *h,
		     char type)
{
	const unsigned char *bytes = (const unsigned char *)h;
	unsigned int sum = 0, i;

	h->typeflag = type;
	memcpy(h->magic, "ustar", 6);
	memcpy(h->version, "00", 2);
	memset(h->chksum, ' ', sizeof(h->chksum));
	for (i = 0; i < sizeof(*h); i++)
		sum += bytes[i];
	tar_put_octal(h->chksum, 7, sum);
	h->chksum[6] = '\0';
	return tar_stream_put(t->stream, cx, h, sizeof(*h));
}

/* Puts the headers of an entry; its bytes follow, then the stream is aligned. */
static int tar_put_entry(struct export_tar *t, struct context *cx,
			 const struct entry *e)
{
	struct ustar h, x = {.name = "PaxHeader"};
	struct inode_time mtime = inode_mtime(e->inode);
	uint64_t seconds = (uint64_t)mtime.sec;
	bool fits = mtime.sec >= 0 && seconds <= OCTAL_MAX(sizeof(h.mtime));
	uint32_t device[2] = {0, 0};
	char text[40], *to = text;
	unsigned int i;
	int err = 0;

	memset(&h, 0, sizeof(h));
	t->len = 0;
	if (t->comment)
		err = add_record(t, cx, "comment", t->comment,
				 strlen(t->comment));
	t->comment = NULL;
	if (!err && e->sparse) {
		err = add_number(t, cx, "GNU.sparse.major", 1);
		if (!err)
			err = add_number(t, cx, "GNU.sparse.minor", 0);
		if (!err)
			err = tar_put_name(t, cx, h.name, "GNU.sparse.name",
					   e->path, true);
		if (!err)
			err = add_number(t, cx, "GNU.sparse.realsize",
					 e->real_size);
	} else if (!err) {
		err = tar_put_name(t, cx, h.name, "path", e->path, false);
	}
	if (!err && e->link)
		err = tar_put_name(t, cx, h.linkname, "linkpath", e->link, false);
	tar_put_octal(h.mode, sizeof(h.mode),
		      le16_get(e->inode->i_mode) & ~(uint32_t)S_IFMT);
	if (!err)
		err = tar_put_number(t, cx, h.uid, sizeof(h.uid), "uid",
				     le32_get(e->inode->i_uid));
	if (!err)
		err = tar_put_number(t, cx, h.gid, sizeof(h.gid), "gid",
				     le32_get(e->inode->i_gid));
	if (!err)
		err = tar_put_number(t, cx, h.size, sizeof(h.size), "size",
				     e->size);
	tar_put_octal(h.mtime, sizeof(h.mtime), fits ? seconds : 0);
	/* In a decimal number -1.5 s; in the inode second -2 plus 0.5 s. */
	if (mtime.sec < 0) {
		*to++ = '-';
		seconds = 0 - seconds - (mtime.nsec != 0);
		mtime.nsec = mtime.nsec ? 1000000000 - mtime.nsec : 0;
	}
	to = number_u64(to, seconds);
	if (mtime.nsec) {
		fits = false;
		*to = '.';
		for (i = 9; i > 0; i--, mtime.nsec /= 10)
			to[i] = (char)('0' + mtime.nsec % 10);
		to += 10;
	}
	if (!err && !fits)
		err = add_record(t, cx, "mtime", text, (size_t)(to - text));
	if (e->type == TYPE_CHARACTER || e->type == TYPE_BLOCK)
		inode_rdev(e->inode, &device[0], &device[1]);
	put_device_number(h.devmajor, device[0]);
	put_device_number(h.devminor, device[1]);
	if (!err && t->len) {
		tar_put_octal(x.mode, sizeof(x.mode), 0644);
		tar_put_octal(x.uid, sizeof(x.uid), 0);
		tar_put_octal(x.gid, sizeof(x.gid), 0);
		tar_put_octal(x.size, sizeof(x.size), t->len);
		tar_put_octal(x.mtime, sizeof(x.mtime), 0);
		tar_put_octal(x.devmajor, sizeof(x.devmajor), 0);
		tar_put_octal(x.devminor, sizeof(x.devminor), 0);
		err = put_ustar(t, cx, &x, 'x');
		if (!err)
			err = tar_stream_put(t->stream, cx, t->records, t->len);
		if (!err)
			err = tar_stream_align(t->stream, cx, UNIT);
	}
	return err ? err : put_ustar(t, cx, &h, (char)e->type);
}

/* A directory that is not late is written when it is entered. */
static int tar_enter(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	const struct entry entry = {
		.type = TYPE_DIRECTORY,
		.path = *file->path ? file->path : ".",
		.inode = file->inode,
	};

	return file->late ? 0 : tar_put_entry((struct export_tar *)sink, cx, &entry);
}

static int tar_leave(struct export_sink *sink, struct context *cx,
		     const struct export_file *file)
{
	struct export_file last = *file;

	last.late = false;
	return file->late && file->inode ? tar_enter(sink, cx, &last) : 0;
}

/* The form of a file in the stream, before it is written. */
struct measures {
	uint64_t runs;
	uint64_t data; /* bytes in them */
	uint64_t map;  /* bytes of their text */
};

static int tar_put_line(struct export_tar *t, struct context *cx, uint64_t v)
{
	char text[21], *end = number_u64(text, v);

	*end++ = '\n';
	return tar_stream_put(t->stream, cx, text, (size_t)(end - text));
}

/* Measures a run, or if PUT writes its two numbers, a line each. */
static int take_run(struct export_tar *t, struct context *cx,
		    struct measures *m, bool put, uint64_t offset, uint64_t len)
{
	int err;

	if (put) {
		err = tar_put_line(t, cx, offset);
		return err ? err : tar_put_line(t, cx, len);
	}
	m->runs++;
	m->data += len;
	m->map += number_digits(offset) + number_digits(len) + 2;
	return context_cancelled(cx);
}

/* Measures or writes the map of FILE.  It ends with an empty run if the file ends
   with a hole. */
static int tar_walk_map(struct export_tar *t, struct context *cx,
			struct file *file, struct measures *m, bool put)
{
	struct content_part run = {.offset = 0};
	struct content content;
	int ret = content_open(&content, cx, file, NULL);

	if (!ret && put)
		ret = tar_put_line(t, cx, m->runs);
	while (!ret && (ret = content_next(&content, cx, &run)) > 0)
		ret = take_run(t, cx, m, put, run.offset, run.len);
	content_close(&content);
	if (!ret && run.offset + run.len < content.size)
		ret = take_run(t, cx, m, put, content.size, 0);
	if (!ret && put)
		ret = tar_stream_align(t->stream, cx, UNIT);
	return ret;
}

static int tar_put_regular(struct export_tar *t, struct context *cx,
			   const struct export_file *file)
{
	struct content *content = file->content;
	struct entry entry = {
		.type = TYPE_FILE, .path = file->path, .inode = file->inode,
	};
	struct content_part part;
	struct measures m = {.runs = 0};
	uint64_t left;
	int err = tar_walk_map(t, cx, content->file, &m, false), ret = 0;

	if (err)
		return err == -ENOMEM || err == -EINTR ? err : -err;
	entry.sparse = m.data < content->size;
	entry.real_size = content->size;
	entry.size = m.data;
	if (entry.sparse) {
		m.map += number_digits(m.runs) + 1;
		entry.size += (m.map + UNIT - 1) / UNIT * UNIT;
	}
	err = tar_put_entry(t, cx, &entry);
	if (!err && entry.sparse)
		err = tar_walk_map(t, cx, content->file, &m, true);
	/* The runs follow each other; holes are not in the stream. */
	for (left = m.data; !err; left -= part.len) {
		ret = content_next(content, cx, &part);
		if (ret <= 0 || part.len > left)
			break;
		err = tar_stream_put(t->stream, cx, content->buffer, part.len);
		if (!err)
			err = context_cancelled(cx);
		if (!err)
			export_sink_count(&t->sink, part.len);
	}
	if (err)
		return err;
	if (ret > 0 || (!ret && left))
		ret = fail(cx, -ESTALE, "file changed while it was read");
	err = tar_stream_put_zeroes(t->stream, cx, left);
	if (!err)
		err = tar_stream_align(t->stream, cx, UNIT);
	return err ? err : -ret;
}

static int tar_put(struct export_sink *sink, struct context *cx,
		   const struct export_file *file)
{
	struct export_tar *t = (struct export_tar *)sink;
	struct entry entry = {
		.type = TYPE_FIFO, .path = file->path, .inode = file->inode,
	};

	if (S_ISSOCK(le16_get(file->inode->i_mode))) {
		sink->tally.losses[EXPORT_LOSS_SOCKET]++;
		return 0;
	}
	entry.link = file->linked ? file->linked : file->target;
	if (file->linked) {
		entry.type = TYPE_HARD_LINK;
		return tar_put_entry(t, cx, &entry);
	}
	switch (le16_get(file->inode->i_mode) & S_IFMT) {
	case S_IFREG:
		return tar_put_regular(t, cx, file);
	case S_IFLNK:
		entry.type = TYPE_SYMLINK;
		break;
	case S_IFCHR:
		entry.type = TYPE_CHARACTER;
		break;
	case S_IFBLK:
		entry.type = TYPE_BLOCK;
		break;
	}
	return tar_put_entry(t, cx, &entry);
}

/*
 * Writes a whiteout, as the image specification of the Open Container Initiative
 * defines it: an empty file in the same directory, named ".wh." and the name.
 */
static int tar_remove(struct export_sink *sink, struct context *cx,
		      const char *path)
{
	struct export_tar *t = (struct export_tar *)sink;
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash + 1 - path) : 0;
	static const struct nilfs_inode nothing;
	struct entry entry = {.type = TYPE_FILE, .inode = &nothing};
	char *name;
	int err;

	if (asprintf(&name, "%.*s" EXPORT_WHITEOUT "%s", dir, path,
		     path + dir) < 0)
		return fail(cx, -ENOMEM, "%s", path);
	entry.path = name;
	err = tar_put_entry(t, cx, &entry);
	free(name);
	return err;
}

static int tar_finish(struct export_sink *sink, struct context *cx)
{
	struct export_tar *t = (struct export_tar *)sink;
	int err = tar_stream_put_zeroes(t->stream, cx, 2ull * UNIT);

	if (!err)
		err = tar_stream_align(t->stream, cx, STREAM_UNIT);
	return err ? err : tar_stream_finish(t->stream, cx);
}

static void tar_close(struct export_sink *sink)
{
	struct export_tar *t = (struct export_tar *)sink;

	tar_stream_close(t->stream);
	free(t->records);
	free(t);
}

static const struct export_ops tar_ops = {
	.enter = tar_enter,
	.leave = tar_leave,
	.put = tar_put,
	.remove = tar_remove,
	.finish = tar_finish,
	.close = tar_close,
};

int export_tar_open(struct export_sink **sink, struct context *cx,
		    const char *path, const struct output_how *how,
		    const char *comment)
{
	struct export_tar *t = calloc(1, sizeof(*t));
	int err;

	*sink = NULL;
	if (!t)
		return fail(cx, -ENOMEM, "%s", path);
	t->sink.ops = &tar_ops;
	t->comment = comment;
	err = tar_stream_open(&t->stream, cx, path, how);
	if (err)
		tar_close(&t->sink);
	else
		*sink = &t->sink;
	return err;
}
