// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bytes of a trace.
 *
 * One buffer, filled by read() or by libarchive, contains the current line or
 * record.  The first bytes decide whether libarchive is needed at all; since a
 * pipe cannot seek back, they are passed to it first.
 */
#include "config.h"

#include "gc/sim/trace/simbytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBARCHIVE
#include "arc/libarchive.h"
#endif

#define ROOM (1u << 20)
#define HEAD 512u		/* a header of tar */

/* The first bytes of compressed files and archives. */
static const struct {
	size_t at, len;
	const char *bytes;
} magics[] = {
	{ 0, 2, "\x1f\x8b" },			/* gzip, RFC 1952 */
	{ 0, 2, "\x1f\x9d" },			/* compress */
	{ 0, 3, "BZh" },			/* bzip2 */
	{ 0, 4, "\x28\xb5\x2f\xfd" },		/* zstd, RFC 8878 */
	{ 0, 6, "\xfd" "7zXZ\0" },		/* xz */
	{ 0, 4, "\x04\x22\x4d\x18" },		/* lz4 */
	{ 0, 4, "LZIP" },			/* lzip */
	{ 257, 5, "ustar" },			/* tar, POSIX.1 */
};

/* Reads bytes of the file itself: their number, 0 at the end. */
static ssize_t read_some(struct simbytes *b, struct context *cx, void *buf,
			 size_t room)
{
	ssize_t n;

	do {
		if (context_cancelled(cx))
			return -EINTR;
		n = read(b->fd, buf, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail(cx, -errno, "%s: read", b->path);
	b->taken += (uint64_t)n;
	return n;
}

#ifdef HAVE_LIBARCHIVE

struct simbytes_packed {
	struct libarchive la;
	struct archive *archive;
	struct context *cx;	/* of the current call */
	struct simbytes *bytes;
	char *buf;
	size_t head;		/* bytes in it that were read before */
	bool in_member, has_file;
};

static la_ssize_t give_bytes(struct archive *a, void *arg, const void **bufp)
{
	struct simbytes_packed *p = arg;
	size_t head = p->head;
	ssize_t n;

	*bufp = p->buf;
	p->head = 0;
	if (head)
		return (la_ssize_t)head;
	n = read_some(p->bytes, p->cx, p->buf, ROOM);
	if (n < 0)
		p->la.archive_set_error(a, (int)-n, "%s", strerror((int)-n));
	return n < 0 ? -1 : n;
}

static int archive_failed(const struct simbytes *b, struct context *cx)
{
	struct simbytes_packed *p = b->packed;
	const char *text = p->la.archive_error_string(p->archive);
	int error = p->la.archive_errno(p->archive);

	if (error != EINTR && error != EIO && error != ENOMEM)
		error = EINVAL;
	return fail_said(cx, -error, "%s: cannot be decompressed: %s", b->path,
			 text ? text : "damaged data");
}

/* Switches to libarchive, which first gets the bytes read before. */
static int open_archive(struct simbytes *b, struct context *cx)
{
	struct simbytes_packed *p = calloc(1, sizeof(*p));
	const struct libarchive *la;
	struct archive *a;
	int ret;

	b->packed = p;
	if (!p)
		return fail(cx, -ENOMEM, "%s", b->path);
	ret = libarchive_open(&p->la, cx);
	if (ret)
		return ret;
	p->bytes = b;
	p->cx = cx;
	p->buf = malloc(ROOM);
	p->archive = p->la.archive_read_new();
	if (!p->buf || !p->archive)
		return fail(cx, -ENOMEM, "%s", b->path);
	p->head = b->end;
	memcpy(p->buf, b->buf, b->end);
	b->end = 0;
	b->ended = false;
	la = &p->la;
	a = p->archive;
	/* A program may replace a filter that the library lacks. */
	if (la->archive_read_support_filter_bzip2(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_compress(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_gzip(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_lz4(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_lzip(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_xz(a) < ARCHIVE_WARN ||
	    la->archive_read_support_filter_zstd(a) < ARCHIVE_WARN ||
	    la->archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    la->archive_read_support_format_empty(a) != ARCHIVE_OK ||
	    la->archive_read_support_format_raw(a) != ARCHIVE_OK ||
	    la->archive_read_open(a, p, NULL, give_bytes, NULL) != ARCHIVE_OK)
		return archive_failed(b, cx);
	return 0;
}

static ssize_t read_archive(struct simbytes *b, struct context *cx, void *buf,
			    size_t room)
{
	struct simbytes_packed *p = b->packed;
	struct archive_entry *entry;
	la_ssize_t n;
	int status;

	p->cx = cx;
	for (;; p->in_member = false) {
		if (!p->in_member) {
			status = p->la.archive_read_next_header(p->archive,
								&entry);
			if (status == ARCHIVE_EOF && !p->has_file)
				return fail_said(cx, -EINVAL, "%s: the archive has "
						 "no regular file with content",
						 b->path);
			if (status == ARCHIVE_EOF)
				return 0;
			if (status < ARCHIVE_WARN)
				return archive_failed(b, cx);
			p->in_member = true;
		}
		n = p->la.archive_read_data(p->archive, buf, room);
		p->has_file |= n > 0;
		if (n)
			return n > 0 ? n : archive_failed(b, cx);
	}
}

#else

static int open_archive(struct simbytes *b, struct context *cx)
{
	return fail_said(cx, -EOPNOTSUPP, "%s: is compressed, and this "
			 "program was built without libarchive", b->path);
}

static ssize_t read_archive(struct simbytes *b, struct context *cx, void *buf,
			    size_t room)
{
	(void)buf;
	(void)room;
	return open_archive(b, cx);
}

#endif

/* Makes room and reads more: 0 also at the end. */
static int fill_buffer(struct simbytes *b, struct context *cx)
{
	ssize_t n;

	memmove(b->buf, b->buf + b->start, b->end - b->start);
	b->end -= b->start;
	b->start = 0;
	if (b->ended || b->end == ROOM)
		return 0;
	if (b->packed)
		n = read_archive(b, cx, b->buf + b->end, ROOM - b->end);
	else
		n = read_some(b, cx, b->buf + b->end, ROOM - b->end);
	if (n < 0)
		return (int)n;
	b->end += (size_t)n;
	b->ended = !n;
	return 0;
}

int simbytes_open(struct simbytes *b, struct context *cx, const char *path)
{
	const char *bytes;
	bool packed;
	size_t have, i;
	int ret;

	*b = (struct simbytes){ .path = "standard input", .fd = STDIN_FILENO };
	if (strcmp(path, "-")) {
		b->path = path;
		b->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (b->fd < 0)
			return fail(cx, -errno, "%s", path);
	}
	b->buf = malloc(ROOM + 1);
	if (!b->buf)
		return fail(cx, -ENOMEM, "%s", path);
	ret = simbytes_peek(b, cx, HEAD, &bytes, &have);
	if (ret)
		return ret;
	/* An empty tar archive consists of blocks of zeros only. */
	packed = have >= HEAD && !bytes[0] &&
		 !memcmp(bytes, bytes + 1, HEAD - 1);
	for (i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		packed |= magics[i].at + magics[i].len <= have &&
			  !memcmp(bytes + magics[i].at, magics[i].bytes,
				  magics[i].len);
	return packed ? open_archive(b, cx) : 0;
}

void simbytes_close(struct simbytes *b)
{
#ifdef HAVE_LIBARCHIVE
	struct simbytes_packed *p = b->packed;

	if (p && p->archive)
		p->la.archive_read_free(p->archive);
	if (p) {
		libarchive_close(&p->la);
		free(p->buf);
		free(p);
	}
#endif
	if (b->fd > STDIN_FILENO)
		close(b->fd);
	free(b->buf);
	*b = (struct simbytes){ 0 };
}

int simbytes_line(struct simbytes *b, struct context *cx, char **line,
		  size_t *len)
{
	char *text = b->buf + b->start, *end;
	size_t have = b->end - b->start;
	int ret;

	while (!(end = memchr(text, '\n', have))) {
		if (b->ended || have == ROOM)
			break;
		ret = fill_buffer(b, cx);
		if (ret)
			return ret;
		text = b->buf;
		have = b->end;
	}
	if (!end && !have)
		return 0;
	*line = text;
	*len = end ? (size_t)(end - text) : have;
	b->start += *len + (end != NULL);
	if (*len && text[*len - 1] == '\r')
		--*len;
	text[*len] = '\0';
	return 1;
}

int simbytes_peek(struct simbytes *b, struct context *cx, size_t n,
		  const char **bytes, size_t *have)
{
	int ret;

	while (b->end - b->start < n && !b->ended) {
		ret = fill_buffer(b, cx);
		if (ret)
			return ret;
	}
	*bytes = b->buf + b->start;
	*have = b->end - b->start;
	return 0;
}

