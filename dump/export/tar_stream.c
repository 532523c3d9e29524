// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output of a tar stream.
 *
 * libarchive compresses the whole stream, as one file of its "raw" format.  A plain
 * stream is written without it.  A file gets its name when it is complete.
 *
 * Failed writes are not reported to libarchive, because it would not free all of
 * its filter.
 */
#include "config.h"

#include "dump/export/tar_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBARCHIVE
#include "arc/libarchive.h"
#endif
#include "out/out.h"

struct tar_stream {
	struct out *out;
	const char *path;
#ifdef HAVE_LIBARCHIVE
	struct libarchive la;
	struct archive *archive; /* that writes to it; NULL: not compressed */
#endif
	uint64_t bytes;	     /* put so far */
	struct output *file; /* NULL: standard output */
};

static const struct {
	const char *suffix;
	const char *filter; /* of libarchive */
	bool tar;	    /* the content is a tar archive */
} suffixes[] = {
	{".tar", NULL, true},	    {".tar.gz", "gzip", true},
	{".tgz", "gzip", true},	    {".tar.bz2", "bzip2", true},
	{".tar.xz", "xz", true},    {".txz", "xz", true},
	{".tar.zst", "zstd", true}, {".tzst", "zstd", true},
	{".tar.lz4", "lz4", true},  {".gz", "gzip", false},
	{".bz2", "bzip2", false},   {".xz", "xz", false},
	{".zst", "zstd", false},    {".lz4", "lz4", false},
};

/* The row of suffixes[] for PATH, or -1. */
static int find_suffix(const char *path)
{
	size_t len = strlen(path), i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t n = strlen(suffixes[i].suffix);

		if (len > n && !strcmp(path + len - n, suffixes[i].suffix))
			return (int)i;
	}
	return -1;
}

bool tar_stream_is_meant(const char *path)
{
	int suffix = find_suffix(path);

	return !strcmp(path, "-") || (suffix >= 0 && suffixes[suffix].tar);
}

bool tar_stream_is_compressed(const char *path)
{
	int suffix = find_suffix(path);

	return suffix >= 0 && suffixes[suffix].filter;
}

#ifdef HAVE_LIBARCHIVE

static int tar_stream_failed(struct tar_stream *s, struct context *cx)
{
	const char *text = s->la.archive_error_string(s->archive);
	int error = s->la.archive_errno(s->archive);

	return fail(cx, error > 0 ? -error : -EIO, "%s: %s", s->path,
		    text ? text : "compression");
}

static la_ssize_t write_filtered(struct archive *a, void *arg,
				 const void *bytes, size_t len)
{
	struct tar_stream *s = arg;

	(void)a;
	out_bytes(s->out, bytes, len);
	return (la_ssize_t)len;
}

/* Opens the filter and its only entry. */
static int open_filter(struct tar_stream *s, struct context *cx,
		       const char *filter)
{
	const struct libarchive *la = &s->la;
	struct archive_entry *entry;
	struct archive *a;
	int err = libarchive_open(&s->la, cx);

	if (err)
		return err;
	entry = la->archive_entry_new();
	s->archive = a = la->archive_write_new();
	if (!a || !entry) {
		err = fail(cx, -ENOMEM, "%s", s->path);
		goto out;
	}
	la->archive_entry_set_filetype(entry, AE_IFREG);
	/* Equal input gives equal bytes: gzip must not store the time. */
	if (la->archive_write_set_format_raw(a) != ARCHIVE_OK ||
	    la->archive_write_add_filter_by_name(a, filter) < ARCHIVE_WARN ||
	    (!strcmp(filter, "gzip") &&
	     la->archive_write_set_filter_option(a, NULL, "timestamp", NULL) !=
		     ARCHIVE_OK) ||
	    la->archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
	    la->archive_write_open(a, s, NULL, write_filtered, NULL) !=
		    ARCHIVE_OK ||
	    la->archive_write_header(a, entry) != ARCHIVE_OK)
		err = tar_stream_failed(s, cx);
out:
	la->archive_entry_free(entry);
	return err;
}

#else

static int open_filter(struct tar_stream *s, struct context *cx,
		       const char *filter)
{
	return fail_said(cx, -EOPNOTSUPP, "%s: %s: built without libarchive",
			 s->path, filter);
}

#endif

int tar_stream_open(struct tar_stream **stream, struct context *cx,
		    const char *path, const struct output_how *how)
{
	struct tar_stream *s = calloc(1, sizeof(*s));
	int suffix = find_suffix(path), err = 0, fd = STDOUT_FILENO;

	*stream = NULL;
	if (!s)
		return fail(cx, -ENOMEM, "%s", path);
	s->path = path;
	if (strcmp(path, "-")) {
		err = output_open(&s->file, cx, path, how);
		if (!err)
			fd = s->file->fd;
	} else if (isatty(fd)) {
		err = fail(cx, -EINVAL,
			   "not writing a tar stream to a terminal");
	} else {
		s->path = "standard output";
	}
	if (!err)
		err = out_open(cx, fd, s->path, &s->out);
	if (!err && suffix >= 0 && suffixes[suffix].filter)
		err = open_filter(s, cx, suffixes[suffix].filter);
	if (err)
		tar_stream_close(s);
	else
		*stream = s;
	return err;
}

int tar_stream_put(struct tar_stream *s, struct context *cx, const void *bytes,
		   size_t len)
{
	s->bytes += len;
#ifdef HAVE_LIBARCHIVE
	while (s->archive && len) {
		la_ssize_t n = s->la.archive_write_data(s->archive, bytes, len);

		if (n <= 0)
			return tar_stream_failed(s, cx);
		bytes = (const char *)bytes + n;
		len -= (size_t)n;
	}
#endif
	out_bytes(s->out, bytes, len);
	return s->out->error ? fail(cx, s->out->error, "%s", s->path)
				 : 0;
}

int tar_stream_put_zeroes(struct tar_stream *s, struct context *cx,
			  uint64_t len)
{
	static const char zeroes[16 << 10];
	int err = 0;

	while (len && !err) {
		size_t n = len < sizeof(zeroes) ? (size_t)len : sizeof(zeroes);

		err = tar_stream_put(s, cx, zeroes, n);
		len -= n;
	}
	return err;
}

int tar_stream_align(struct tar_stream *s, struct context *cx, uint32_t unit)
{
	uint64_t over = s->bytes % unit;

	return over ? tar_stream_put_zeroes(s, cx, unit - over) : 0;
}

int tar_stream_finish(struct tar_stream *s, struct context *cx)
{
	int err;

#ifdef HAVE_LIBARCHIVE
	if (s->archive && s->la.archive_write_close(s->archive) != ARCHIVE_OK)
		return tar_stream_failed(s, cx);
#endif
	err = out_close(s->out, cx);
	s->out = NULL;
	return err || !s->file ? err : output_commit(s->file, cx);
}

void tar_stream_close(struct tar_stream *s)
{
	struct context unused;

	if (!s)
		return;
	context_init(&unused);
#ifdef HAVE_LIBARCHIVE
	if (s->archive)
		s->la.archive_write_free(s->archive);
	libarchive_close(&s->la);
#endif
	out_close(s->out, &unused);
	output_close(s->file);
	free(s);
}
