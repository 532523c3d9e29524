// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a tar archive with libarchive.
 *
 * Names are bytes.  In the C locale, which the tool never leaves, libarchive returns
 * the bytes of a name that it cannot convert, with a warning, which is ignored.  Any
 * other warning means that a part of a header was ignored, and is an error.
 *
 * The archive is read sequentially, so it may be a pipe.  One reader of libarchive
 * decompresses it for another, since libarchive does not return comments: the first
 * bytes are searched for one.
 */
#include "mkfs/tar/tarreader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arc/libarchive.h"
#include "base/array.h"
#include "base/text.h"
#include "vol/treedigest.h"

#define REQUEST (256u << 10)
#define NAME_SHOWN 256
#define TAR_BLOCK 512u
#define SIZE_AT 124		/* of a header: 12 bytes, octal */
#define TYPE_AT 156

struct tarreader {
	struct libarchive la;
	struct archive *stream;		/* decompresses */
	struct archive *archive;
	const char *path;
	struct context *cx;	/* of the call that reads */
	int fd;
	uint32_t block_size;
	uint8_t *buf;		/* REQUEST bytes of the file */
	uint8_t *plain;		/* and of the archive */
	size_t first;		/* bytes in `plain` that were not passed on */
	bool empty;		/* there are none at all */
	char since[TREEDIGEST_TEXT];
	const char *member;	/* path of the current one, or NULL */
	struct newfile_run *runs;
	size_t room;
	/* Of the current member. */
	uint64_t want, got;	/* bytes of data */
	const char *data;		/* the last data from libarchive */
	size_t left;
	uint64_t at;			/* offset of the data in the file */
	bool end;
	int failed;			/* error of the member; see `text` */
	char text[FAILURE_TEXT_MAX];
};

int tarreader_fail(const struct tarreader *r, struct context *cx, int err,
		   const char *what)
{
	char name[NAME_SHOWN];

	if (!r->member)
		return fail(cx, err, "%s: %s", r->path, what);
	text_escape(name, sizeof(name), r->member, strlen(r->member));
	return fail(cx, err, "%s: member %s: %s", r->path, name, what);
}

/* A failure with an error number of the system keeps that number. */
static int stream_failed(struct tarreader *r, struct context *cx,
			 struct archive *a)
{
	const char *text = r->la.archive_error_string(a);
	int error = r->la.archive_errno(a), ret;
	bool said = text && strstr(text, strerror(error));

	if (error != EINTR && error != EIO && error != ENOMEM)
		error = EINVAL;
	ret = tarreader_fail(r, cx, -error, text ? text : "cannot be read");
	/* The reason is in the text; it is not appended. */
	cx->said = said ? ret : 0;
	return ret;
}

static int tarreader_failed(struct tarreader *r, struct context *cx)
{
	return stream_failed(r, cx, r->archive);
}

static la_ssize_t tarreader_read_file(struct archive *a, void *arg, const void **bufp)
{
	struct tarreader *r = arg;
	ssize_t n;

	*bufp = r->buf;
	do {
		if (context_cancelled(r->cx)) {
			r->la.archive_set_error(a, EINTR, "interrupted");
			return -1;
		}
		n = read(r->fd, r->buf, REQUEST);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		r->la.archive_set_error(a, errno, "read: %s", strerror(errno));
	return n;
}

/* Decompresses up to LEN bytes; a failure becomes that of ARCHIVE. */
static la_ssize_t read_plain(struct tarreader *r, struct archive *archive,
			     size_t len)
{
	const struct libarchive *la = &r->la;
	la_ssize_t n = r->empty ? 0 : la->archive_read_data(r->stream, r->plain,
							    len);
	const char *text = la->archive_error_string(r->stream);

	if (n < 0)
		la->archive_set_error(archive, la->archive_errno(r->stream),
				      "%s", text ? text : "cannot be read");
	return n;
}

static la_ssize_t pass_on(struct archive *a, void *arg, const void **bufp)
{
	struct tarreader *r = arg;
	la_ssize_t n = (la_ssize_t)r->first;

	*bufp = r->plain;
	r->first = 0;
	return n ? n : read_plain(r, a, REQUEST);
}

/* Finds the digest in the comment of the first member, whose first record it is. */
static int find_since(struct tarreader *r, struct context *cx)
{
	static const char key[] = " comment=" TREEDIGEST_KEY;
	const char *records = (const char *)r->plain + TAR_BLOCK;
	la_ssize_t n = read_plain(r, r->archive, 2 * TAR_BLOCK);
	size_t digits;

	if (n < 0)
		return tarreader_failed(r, cx);
	r->first = (size_t)n;
	if (n < (la_ssize_t)(2 * TAR_BLOCK) || r->plain[TYPE_AT] != 'x')
		return 0;
	digits = strspn(records, "0123456789");
	records += digits;
	if (digits < 4 && !memcmp(records, key, sizeof(key) - 1))
		memcpy(r->since, records + sizeof(key) - 1,
		       sizeof(r->since) - 1);
	return 0;
}

int tarreader_open(struct tarreader **rp, struct context *cx, const char *path,
		   uint32_t block_size)
{
	struct tarreader *r = calloc(1, sizeof(*r));
	const struct libarchive *la;
	struct archive_entry *unused;
	struct archive *a;
	int ret, found = ARCHIVE_OK;

	if (!r)
		return fail(cx, -ENOMEM, "%s", path);
	r->block_size = block_size;
	r->cx = cx;
	r->path = "standard input";
	r->fd = STDIN_FILENO;
	if (strcmp(path, "-")) {
		r->path = path;
		r->fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	ret = r->fd < 0 ? fail(cx, -errno, "%s: open", path) :
			  libarchive_open(&r->la, cx);
	if (ret)
		goto out;
	la = &r->la;
	r->buf = malloc(REQUEST);
	r->plain = malloc(REQUEST);
	r->stream = a = la->archive_read_new();
	r->archive = la->archive_read_new();
	if (!r->buf || !r->plain || !a || !r->archive) {
		ret = fail(cx, -ENOMEM, "%s", r->path);
		goto out;
	}
	/* libarchive runs a program for a filter that it was built without. */
	if (la->archive_read_support_filter_bzip2(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_compress(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_gzip(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_lz4(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_lzip(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_lzma(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_xz(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_zstd(a) < ARCHIVE_WARN ||
	    la->archive_read_support_format_raw(a) != ARCHIVE_OK ||
	    la->archive_read_support_format_empty(a) != ARCHIVE_OK ||
	    la->archive_read_open(a, r, NULL, tarreader_read_file, NULL) != ARCHIVE_OK ||
	    (found = la->archive_read_next_header(a, &unused)) < ARCHIVE_WARN)
		ret = stream_failed(r, cx, a);
	r->empty = found == ARCHIVE_EOF;
	if (!ret)
		ret = find_since(r, cx);
	if (!ret &&
	    (la->archive_read_support_format_tar(r->archive) != ARCHIVE_OK ||
	     la->archive_read_open(r->archive, r, NULL, pass_on, NULL) != ARCHIVE_OK))
		ret = stream_failed(r, cx, r->archive);
out:
	if (ret)
		tarreader_close(r);
	else
		*rp = r;
	return ret;
}

const char *tarreader_since(const struct tarreader *r)
{
	return r->since[0] ? r->since : NULL;
}

void tarreader_close(struct tarreader *r)
{
	if (!r)
		return;
	if (r->archive)
		r->la.archive_read_free(r->archive);
	if (r->stream)
		r->la.archive_read_free(r->stream);
	libarchive_close(&r->la);
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	free(r->runs);
	free(r->buf);
	free(r->plain);
	free(r);
}

void tarreader_drain(struct tarreader *r, struct context *cx)
{
	const void *buf;

	r->cx = cx;
	while (r->fd == STDIN_FILENO && tarreader_read_file(r->stream, r, &buf) > 0)
		;
}

/* Adds bytes [AT, AT + LEN) to the runs, which must ascend. */
static int add_run(struct tarreader *r, struct context *cx,
		   struct tarmember *m, uint64_t at, uint64_t len)
{
	uint64_t first = at / r->block_size;
	uint64_t last = (at + len - 1) / r->block_size;
	struct newfile_run *run;

	if (m->nruns) {
		run = &r->runs[m->nruns - 1];
		if (first <= run->blkoff + run->count) {
			m->nblocks += last + 1 - run->blkoff - run->count;
			run->count = last + 1 - run->blkoff;
			return 0;
		}
	}
	if (array_reserve(cx, &r->runs, &r->room, m->nruns + 1))
		return -ENOMEM;
	r->runs[m->nruns++] = (struct newfile_run){ first, last - first + 1 };
	m->nblocks += last - first + 1;
	return 0;
}

/* Sets runs and size of a regular file. */
static int tarreader_list_runs(struct tarreader *r, struct context *cx,
			       struct archive_entry *e, struct tarmember *m)
{
	la_int64_t size = r->la.archive_entry_size(e), at, len;
	uint64_t end = 0;
	int ret = 0;

	if (size < 0)
		return tarreader_fail(r, cx, -EINVAL, "invalid size");
	m->entry.size = (uint64_t)size;
	if (!r->la.archive_entry_sparse_reset(e)) {
		r->want = m->entry.size;
		if (size)
			ret = add_run(r, cx, m, 0, m->entry.size);
		m->runs = r->runs;
		return ret;
	}
	while (!ret && r->la.archive_entry_sparse_next(e, &at, &len) ==
	       ARCHIVE_OK) {
		if (at < 0 || len < 0 || (uint64_t)at < end || at > size ||
		    len > size - at)
			return tarreader_fail(r, cx, -EINVAL,
					      "invalid sparse map");
		end = (uint64_t)at + (uint64_t)len;
		r->want += (uint64_t)len;
		if (len)
			ret = add_run(r, cx, m, (uint64_t)at, (uint64_t)len);
	}
	m->runs = r->runs;
	return ret;
}

/*
 * The sign of a time.
 *
 * A pax header has "mtime=-0.5" for half a second before 1970.  libarchive applies the
 * sign to the seconds, which are 0, so the time looks like half a second after 1970.
 * For such a time the records are read again; see pax(1), "ustar Interchange Format" and
 * "pax Extended Header".
 */
#define RECORDS_MAX 16384u	/* longer records are ignored */
#define HEADERS_MAX 8		/* before that of the file */

/* The last of several records counts. */
static bool is_negative(const char *text, size_t len)
{
	static const char key[] = " mtime=";
	bool negative = false;

	while (len) {
		char *end;
		size_t record = strtoul(text, &end, 10);
		size_t digits = (size_t)(end - text);

		if (!digits || record > len || record <= digits)
			break;
		if (record - digits >= sizeof(key) &&
		    !memcmp(end, key, sizeof(key) - 1))
			negative = end[sizeof(key) - 1] == '-';
		text += record;
		len -= record;
	}
	return negative;
}

/*
 * Whether the extended headers of the member, the first of which is at byte AT of the
 * uncompressed archive FD, contain a modification time before 1970.
 */
static bool is_time_negative(int fd, uint64_t at)
{
	char header[TAR_BLOCK], records[RECORDS_MAX + 1];
	bool negative = false;
	unsigned int i;

	for (i = 0; i < HEADERS_MAX && pread(fd, header, TAR_BLOCK, (off_t)at) ==
					       TAR_BLOCK; i++) {
		char digits[13] = "";
		uint64_t size;

		if (!header[TYPE_AT] || !strchr("xgKL", header[TYPE_AT]))
			break;
		memcpy(digits, header + SIZE_AT, 12);
		size = strtoull(digits, NULL, 8);
		if (header[TYPE_AT] == 'x' && size <= RECORDS_MAX &&
		    pread(fd, records, size, (off_t)(at + TAR_BLOCK)) ==
			    (ssize_t)size) {
			records[size] = 0;
			negative = is_negative(records, size);
		}
		at += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	}
	return negative;
}

/*
 * Sets M's entry, except the size, and its losses from the header E.  NULL, or a text if
 * a value is invalid on Linux: such numbers are refused and not truncated, so that no
 * file gets another owner than the one in its archive.
 */
static const char *take_header(const struct tarreader *r,
			       struct archive_entry *e, struct tarmember *m)
{
	const struct libarchive *la = &r->la;
	const char *target = la->archive_entry_symlink(e), *name;
	la_int64_t uid = la->archive_entry_uid(e);
	la_int64_t gid = la->archive_entry_gid(e);
	uint64_t major = la->archive_entry_rdevmajor(e);
	uint64_t minor = la->archive_entry_rdevminor(e);
	struct entry *to = &m->entry;
	unsigned long set, clear;
	const void *value;
	bool negative;
	size_t len;

	to->mode = (uint16_t)la->archive_entry_mode(e);
	to->target = target ? target : "";
	to->target_len = (uint32_t)strlen(to->target);

	/*
	 * libarchive applies the sign of a decimal number to the seconds only, and adds
	 * the fraction to them.
	 */
	to->mtime = la->archive_entry_mtime(e);
	to->mtime_nsec = (uint32_t)la->archive_entry_mtime_nsec(e);
	negative = to->mtime_nsec && to->mtime < 0;
	if (to->mtime_nsec && !to->mtime && r->fd != STDIN_FILENO &&
	    la->archive_filter_code(r->stream, 0) == ARCHIVE_FILTER_NONE)
		negative = is_time_negative(
			r->fd, (uint64_t)
			la->archive_read_header_position(r->archive));
	if (negative) {
		to->mtime--;
		to->mtime_nsec = 1000000000 - to->mtime_nsec;
	}

	/* Security labels belong to the running system. */
	la->archive_entry_xattr_reset(e);
	while (la->archive_entry_xattr_next(e, &name, &value, &len) ==
	       ARCHIVE_OK) {
		if (!strcmp(name, "security.capability"))
			m->losses[ENTRY_CAPABILITY] = true;
		else if (!strncmp(name, "system.posix_acl_", 17))
			m->losses[ENTRY_ACL] = true;
		else if (strncmp(name, "security.", 9) != 0)
			m->losses[ENTRY_XATTR] = true;
	}
	if (la->archive_entry_acl_count(e, ARCHIVE_ENTRY_ACL_TYPE_POSIX1E |
					   ARCHIVE_ENTRY_ACL_TYPE_NFS4))
		m->losses[ENTRY_ACL] = true;
	la->archive_entry_fflags(e, &set, &clear);
	if (set & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		m->losses[ENTRY_FLAGS] = true;

	if (uid < 0 || uid >= UINT32_MAX || gid < 0 || gid >= UINT32_MAX)
		return "invalid owner or group";
	to->uid = (uint32_t)uid;
	to->gid = (uint32_t)gid;
	if (!S_ISCHR(to->mode) && !S_ISBLK(to->mode))
		return NULL;
	/* Linux has 12 bits of a major number and 20 of a minor one. */
	if (major >> 12 || minor >> 20)
		return "invalid device number";
	to->major = (uint32_t)major;
	to->minor = (uint32_t)minor;
	return NULL;
}

int tarreader_next(struct tarreader *r, struct context *cx,
		   struct tarmember *m)
{
	struct archive_entry *e;
	const char *wrong, *text;
	int ret;

	*m = (struct tarmember){ 0 };
	r->cx = cx;
	r->member = NULL;
	r->left = 0;
	r->want = r->got = 0;
	r->end = false;
	ret = r->la.archive_read_next_header(r->archive, &e);
	if (ret == ARCHIVE_EOF)
		return 0;
	if (ret == ARCHIVE_OK || ret == ARCHIVE_WARN)
		r->member = r->la.archive_entry_pathname(e);
	/* The warning about names does not affect the returned bytes. */
	text = r->la.archive_error_string(r->archive);
	if (ret != ARCHIVE_OK &&
	    (ret != ARCHIVE_WARN || !text ||
	     !strstr(text, "can't be converted from")))
		return tarreader_failed(r, cx);
	ret = 0;
	if (!r->member)
		return tarreader_fail(r, cx, -EINVAL, "member without a name");
	m->path = r->member;
	m->link = r->la.archive_entry_hardlink(e);
	wrong = take_header(r, e, m);
	if (wrong)
		return tarreader_fail(r, cx, -EINVAL, wrong);
	if (!m->link && S_ISREG(m->entry.mode))
		ret = tarreader_list_runs(r, cx, e, m);
	return ret < 0 ? ret : 1;
}

/* Sets `data` to the next data of the member, or sets `end`. */
static int next_data(struct tarreader *r, struct context *cx)
{
	const void *data;
	la_int64_t at;
	int ret;

	r->cx = cx;
	ret = r->la.archive_read_data_block(r->archive, &data, &r->left, &at);
	if (ret == ARCHIVE_EOF) {
		r->left = 0;
		r->end = true;
		return 0;
	}
	if (ret != ARCHIVE_OK)
		return tarreader_failed(r, cx);
	if (at < 0)
		return tarreader_fail(r, cx, -EINVAL, "data without an offset");
	r->data = data;
	r->at = (uint64_t)at;
	return 0;
}

int tarreader_read(struct tarreader *r, struct context *cx, uint64_t at,
		   size_t len, void *buf)
{
	char *to = buf;
	size_t n;
	int ret = 0;

	if (r->failed)
		return fail(cx, r->failed, "%s", r->text);
	for (; len; len -= n) {
		if (!r->left && !r->end)
			ret = next_data(r, cx);
		if (!ret && r->left && r->at < at)
			ret = tarreader_fail(r, cx, -EINVAL,
					     "data outside its sparse map");
		if (ret) {
			memcpy(r->text, cx->failure, sizeof(r->text));
			r->failed = ret;
			return ret;
		}
		n = 0;
		if (!r->left && !r->end)
			continue;
		if (r->end || r->at > at) {
			n = r->end || r->at - at > len ? len :
							 (size_t)(r->at - at);
			memset(to, 0, n);
		} else {
			n = r->left < len ? r->left : len;
			memcpy(to, r->data, n);
			r->data += n;
			r->at += n;
			r->left -= n;
			r->got += n;
		}
		to += n;
		at += n;
	}
	return 0;
}

int tarreader_complete(struct tarreader *r, struct context *cx)
{
	return r->got == r->want ? 0 :
		tarreader_fail(r, cx, -EINVAL, "incomplete data");
}
