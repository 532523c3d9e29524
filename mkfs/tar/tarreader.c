// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a tar archive with libarchive.
 *
 * Names are bytes.  In the C locale, which the tool never leaves, libarchive returns
 * the bytes of a name that it cannot convert, with a warning, which is ignored.  Any
 * other warning means that a part of a header was ignored, and is an error.
 *
 * The archive is read sequentially, so it may be a pipe.  One reader of libarchive
 * decompresses it for another, since libarchive does not return all of a header: the
 * bytes that the other one got last are kept, to be read again.
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
#include "base/zeros.h"
#include "vol/treedigest.h"

#define REQUEST (256u << 10)
#define KEPT (2 * REQUEST)
#define NAME_SHOWN 256
#define TAR_BLOCK 512u
#define SIZE_AT 124		/* of a header: 12 bytes, octal */
#define TYPE_AT 156
#define MAGIC_AT 257
#define REAL_SIZE_AT 483	/* of a sparse file, if GNU_MAGIC is the magic */
#define GNU_MAGIC "ustar  "
#define RECORDS_MAX 16384u	/* longer pax headers are not read again */
#define HEADERS_MAX 16u		/* before that of the file */

struct tarreader {
	struct libarchive la;
	struct archive *stream;		/* decompresses */
	struct archive *archive;
	const char *path;
	struct context *cx;	/* of the call that reads */
	int fd;
	uint32_t block_size;
	uint8_t *buf;		/* REQUEST bytes of the file */
	uint8_t *plain;		/* byte N of the archive is at N % KEPT */
	uint64_t passed;	/* bytes of the archive that were passed on */
	size_t first;		/* bytes in `plain` that were not passed on */
	bool empty;		/* there are none at all */
	bool whole;		/* all bytes were passed on */
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

/* Decompresses up to LEN bytes to TO; a failure becomes that of ARCHIVE. */
static la_ssize_t read_plain(struct tarreader *r, struct archive *archive,
			     uint8_t *to, size_t len)
{
	const struct libarchive *la = &r->la;
	la_ssize_t n = r->empty ? 0 : la->archive_read_data(r->stream, to, len);
	const char *text = la->archive_error_string(r->stream);

	if (n < 0)
		la->archive_set_error(archive, la->archive_errno(r->stream),
				      "%s", text ? text : "cannot be read");
	return n;
}

static la_ssize_t pass_on(struct archive *a, void *arg, const void **bufp)
{
	struct tarreader *r = arg;
	size_t at = (size_t)(r->passed % KEPT);
	la_ssize_t n = (la_ssize_t)r->first;

	*bufp = r->plain + at;
	r->first = 0;
	if (!n)
		n = read_plain(r, a, r->plain + at,
			       KEPT - at < REQUEST ? KEPT - at : REQUEST);
	if (n > 0)
		r->passed += (uint64_t)n;
	r->whole = !n;
	return n;
}

/* Finds the digest in the comment of the first member, whose first record it is. */
static int find_since(struct tarreader *r, struct context *cx)
{
	static const char key[] = " comment=" TREEDIGEST_KEY;
	const char *records = (const char *)r->plain + TAR_BLOCK;
	la_ssize_t n = read_plain(r, r->archive, r->plain, 2 * TAR_BLOCK);
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
	r->plain = malloc(KEPT);
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

/*
 * The headers of a member, where libarchive reads them in another way than GNU tar: see
 * pax(1), "ustar Interchange Format" and "pax Extended Header".
 *
 * libarchive applies the sign of "mtime=-0.5", half a second before 1970, to the seconds,
 * which are 0.  Of several pax headers the last one counts, which libarchive returns with
 * a warning.  A header that no member follows is a failure of libarchive, and the end of
 * the archive.  In GNU's own format libarchive takes the size from a field that only
 * sparse files have, and that an archiver may leave undefined.
 */
struct headers {
	unsigned int pax;	/* number of pax headers */
	bool sound;		/* the last one has whole records only */
	bool negative;		/* and a modification time before 1970 */
	bool last;		/* no member follows them */
	bool gnu;		/* the member is in GNU's own format, and not sparse */
	uint64_t size;		/* then its size */
};

/* Whether the records are whole; the last one with a time sets NEGATIVE. */
static bool read_records(const char *text, size_t len, bool *negative)
{
	static const char key[] = " mtime=";

	*negative = false;
	while (len) {
		char *end;
		size_t record = strtoul(text, &end, 10);
		size_t digits = (size_t)(end - text);

		if (!digits || record > len || record <= digits ||
		    text[record - 1] != '\n' ||
		    !memchr(end, '=', record - digits))
			return false;
		if (record - digits >= sizeof(key) &&
		    !memcmp(end, key, sizeof(key) - 1))
			*negative = end[sizeof(key) - 1] == '-';
		text += record;
		len -= record;
	}
	return true;
}

/* Copies bytes [AT, AT + LEN) of the archive, if they were passed on and are kept. */
static bool copy_passed(const struct tarreader *r, uint64_t at, size_t len, char *to)
{
	size_t from = (size_t)(at % KEPT);
	size_t part = KEPT - from < len ? KEPT - from : len;

	if (at + len > r->passed || at + KEPT < r->passed)
		return false;
	memcpy(to, r->plain + from, part);
	memcpy(to + part, r->plain, len - part);
	return true;
}

/* Reads those from byte AT on, that libarchive has read, or failed to. */
static void read_headers(const struct tarreader *r, uint64_t at, struct headers *h)
{
	char header[TAR_BLOCK], records[RECORDS_MAX + 1];
	unsigned int i;

	*h = (struct headers){ 0 };
	for (i = 0; i < HEADERS_MAX && copy_passed(r, at, TAR_BLOCK, header); i++) {
		char digits[13] = "", type = header[TYPE_AT];

		memcpy(digits, header + SIZE_AT, 12);
		h->size = strtoull(digits, NULL, 8);
		if (!type || !strchr("xgKL", type)) {
			h->last = i && zeros_only(header, TAR_BLOCK);
			h->gnu = type != 'S' && header[REAL_SIZE_AT] &&
				 !(header[SIZE_AT] & 0x80) &&
				 !memcmp(header + MAGIC_AT, GNU_MAGIC,
					 sizeof(GNU_MAGIC));
			return;
		}
		at += TAR_BLOCK;
		if (type == 'x') {
			h->pax++;
			h->sound = h->size <= RECORDS_MAX &&
				   copy_passed(r, at, h->size, records);
			records[h->sound ? h->size : 0] = 0;
			h->sound = h->sound && read_records(records, h->size,
							    &h->negative);
		}
		at += (h->size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	}
	h->last = i && r->whole && at == r->passed;
}

/*
 * Sets M's entry, except the size, and its losses from the header E.  NULL, or a text if
 * a value is invalid on Linux: such numbers are refused and not truncated, so that no
 * file gets another owner than the one in its archive.
 */
static const char *take_header(const struct tarreader *r, const struct headers *h,
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
	if (to->mtime_nsec && (to->mtime < 0 || (!to->mtime && h->negative))) {
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

/* Sets runs and size of a regular file. */
static int tarreader_list_runs(struct tarreader *r, struct context *cx,
			       struct archive_entry *e, const struct headers *h,
			       struct tarmember *m)
{
	la_int64_t size = h->gnu && !h->pax ? (la_int64_t)h->size :
					      r->la.archive_entry_size(e), at, len;
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

int tarreader_next(struct tarreader *r, struct context *cx,
		   struct tarmember *m)
{
	struct archive_entry *e;
	const char *wrong, *text;
	struct headers h;
	uint64_t at;
	int ret;

	*m = (struct tarmember){ 0 };
	r->cx = cx;
	if (r->member && r->la.archive_read_data_skip(r->archive) < ARCHIVE_WARN)
		return tarreader_failed(r, cx);
	at = (uint64_t)r->la.archive_filter_bytes(r->archive, 0);
	r->member = NULL;
	r->left = 0;
	r->want = r->got = 0;
	r->end = false;
	ret = r->la.archive_read_next_header(r->archive, &e);
	if (ret == ARCHIVE_EOF)
		return 0;
	if (ret == ARCHIVE_OK || ret == ARCHIVE_WARN)
		r->member = r->la.archive_entry_pathname(e);
	read_headers(r, at, &h);
	if (ret == ARCHIVE_FATAL && h.last)
		return 0;
	/* The warning about names does not affect the returned bytes. */
	text = r->la.archive_error_string(r->archive);
	if (ret != ARCHIVE_OK &&
	    (ret != ARCHIVE_WARN || !text ||
	     (!strstr(text, "can't be converted from") &&
	      !(strstr(text, "malformed pax") && h.pax > 1 && h.sound))))
		return tarreader_failed(r, cx);
	ret = 0;
	if (!r->member)
		return tarreader_fail(r, cx, -EINVAL, "member without a name");
	m->path = r->member;
	m->link = r->la.archive_entry_hardlink(e);
	wrong = take_header(r, &h, e, m);
	if (wrong)
		return tarreader_fail(r, cx, -EINVAL, wrong);
	if (!m->link && S_ISREG(m->entry.mode))
		ret = tarreader_list_runs(r, cx, e, &h, m);
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
