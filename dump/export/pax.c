// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The headers of a pax stream.
 *
 * An entry is a "ustar" header of 512 bytes; what does not fit there stands in
 * an extended header before it, as records "LENGTH KEY=VALUE\n".  Only what
 * does not fit: names up to 100 bytes go where any tar reads them as the bytes
 * they are.  In a record a name counts as UTF-8, unless hdrcharset says no.
 *
 * Written here rather than by a library because of what a file system has that
 * archives seldom have: fractions of seconds before 1970, names in no
 * character set, holes of exabytes.
 */
#include "dump/export/pax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "out/number.h"

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

_Static_assert(sizeof(struct ustar) == PAX_UNIT, "size of a ustar header");

/* Largest number of a field of N bytes, the last of which is a NUL. */
#define OCTAL_MAX(n) ((UINT64_C(1) << 3 * ((n)-1)) - 1)

static void put_octal(char *field, size_t n, uint64_t v)
{
	size_t i;

	for (i = n - 1; i-- > 0; v >>= 3)
		field[i] = (char)('0' + (v & 7));
}

/* As octal digits, or in binary as GNU tar has larger numbers. */
static void put_device_number(char field[8], uint32_t v)
{
	int i;

	if (v <= OCTAL_MAX(8)) {
		put_octal(field, 8, v);
		return;
	}
	for (i = 7; i > 0; i--, v >>= 8)
		field[i] = (char)(v & 0xff);
	field[0] = (char)0x80;
}

/* Puts a value at the end of the records. */
static int add_record(struct pax *pax, struct context *cx, const char *key,
		      const char *value, size_t value_len)
{
	size_t key_len = strlen(key), body = key_len + value_len + 3, len;
	char *to;

	len = body + number_digits(body);
	len = body + number_digits(len);
	if (array_reserve(cx, &pax->records, &pax->room, pax->len + len))
		return -ENOMEM;
	to = number_u64(pax->records + pax->len, len);
	*to++ = ' ';
	memcpy(to, key, key_len);
	to += key_len;
	*to++ = '=';
	memcpy(to, value, value_len);
	to[value_len] = '\n';
	pax->len += len;
	return 0;
}

static int add_number(struct pax *pax, struct context *cx, const char *key,
		      uint64_t v)
{
	char text[20];

	return add_record(pax, cx, key, text,
			  (size_t)(number_u64(text, v) - text));
}

/* A decimal number: -1.5 s is second -2 and half a second more. */
static int add_time(struct pax *pax, struct context *cx, const char *key,
		    int64_t sec, uint32_t nsec)
{
	uint64_t whole = (uint64_t)sec;
	char text[40], *to = text;
	unsigned int i;

	if (sec < 0) {
		*to++ = '-';
		whole = 0 - whole - (nsec != 0);
		nsec = nsec ? 1000000000 - nsec : 0;
	}
	to = number_u64(to, whole);
	if (nsec) {
		*to = '.';
		for (i = 9; i > 0; i--, nsec /= 10)
			to[i] = (char)('0' + nsec % 10);
		to += 10;
	}
	return add_record(pax, cx, key, text, (size_t)(to - text));
}

static bool is_utf8(const char *text, size_t len)
{
	size_t n;

	for (; len; text += n, len -= n) {
		n = text_utf8(text, len);
		if (!n)
			return false;
	}
	return true;
}

/* The name, in FIELD if it fits, otherwise (or always: KEY) in a record. */
static int put_name(struct pax *pax, struct context *cx, char *field,
		    const char *key, const char *name, bool always)
{
	size_t len = strlen(name);
	int err = 0;

	memcpy(field, name, len < NAME_MAX_USTAR ? len : NAME_MAX_USTAR);
	if (len <= NAME_MAX_USTAR && !always)
		return 0;
	if (!is_utf8(name, len))
		err = add_record(pax, cx, "hdrcharset", "BINARY", 6);
	return err ? err : add_record(pax, cx, key, name, len);
}

static int put_names(struct pax *pax, struct context *cx, struct ustar *h,
		     const struct pax_entry *e)
{
	int err;

	if (e->sparse) {
		err = add_number(pax, cx, "GNU.sparse.major", 1);
		if (!err)
			err = add_number(pax, cx, "GNU.sparse.minor", 0);
		if (!err)
			err = put_name(pax, cx, h->name, "GNU.sparse.name",
				       e->path, true);
		if (!err)
			err = add_number(pax, cx, "GNU.sparse.realsize",
					 e->real_size);
	} else {
		err = put_name(pax, cx, h->name, "path", e->path, false);
	}
	if (err || !e->link)
		return err;
	return put_name(pax, cx, h->linkname, "linkpath", e->link, false);
}

/* A number in its field if it fits, otherwise in a record. */
static int put_number(struct pax *pax, struct context *cx, char *field,
		      size_t n, const char *key, uint64_t v)
{
	bool fits = v <= OCTAL_MAX(n);

	put_octal(field, n, fits ? v : 0);
	return fits ? 0 : add_number(pax, cx, key, v);
}

static int put_numbers(struct pax *pax, struct context *cx, struct ustar *h,
		       const struct pax_entry *e)
{
	bool plain = e->mtime >= 0 && !e->mtime_nsec &&
		     (uint64_t)e->mtime <= OCTAL_MAX(sizeof(h->mtime));
	int err;

	put_octal(h->mode, sizeof(h->mode), e->mode);
	err = put_number(pax, cx, h->uid, sizeof(h->uid), "uid", e->uid);
	if (!err)
		err = put_number(pax, cx, h->gid, sizeof(h->gid), "gid",
				 e->gid);
	if (!err)
		err = put_number(pax, cx, h->size, sizeof(h->size), "size",
				 e->size);
	if (!err && !plain)
		err = add_time(pax, cx, "mtime", e->mtime, e->mtime_nsec);
	if (e->mtime >= 0 && (uint64_t)e->mtime <= OCTAL_MAX(sizeof(h->mtime)))
		put_octal(h->mtime, sizeof(h->mtime), (uint64_t)e->mtime);
	else
		put_octal(h->mtime, sizeof(h->mtime), 0);
	put_device_number(h->devmajor, e->major);
	put_device_number(h->devminor, e->minor);
	return err;
}

static int put_ustar(struct context *cx, struct tar_stream *s, struct ustar *h,
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
	put_octal(h->chksum, 7, sum);
	h->chksum[6] = '\0';
	return tar_stream_put(s, cx, h, sizeof(*h));
}

static int put_records(struct pax *pax, struct context *cx,
		       struct tar_stream *s)
{
	struct ustar h = {.name = "PaxHeader"};
	int err;

	put_octal(h.mode, sizeof(h.mode), 0644);
	put_octal(h.uid, sizeof(h.uid), 0);
	put_octal(h.gid, sizeof(h.gid), 0);
	put_octal(h.size, sizeof(h.size), pax->len);
	put_octal(h.mtime, sizeof(h.mtime), 0);
	put_octal(h.devmajor, sizeof(h.devmajor), 0);
	put_octal(h.devminor, sizeof(h.devminor), 0);
	err = put_ustar(cx, s, &h, 'x');
	if (!err)
		err = tar_stream_put(s, cx, pax->records, pax->len);
	return err ? err : tar_stream_align(s, cx, PAX_UNIT);
}

int pax_put(struct pax *pax, struct context *cx, struct tar_stream *s,
	    const struct pax_entry *entry)
{
	struct ustar h;
	int err;

	memset(&h, 0, sizeof(h));
	pax->len = 0;
	err = put_names(pax, cx, &h, entry);
	if (!err)
		err = put_numbers(pax, cx, &h, entry);
	if (!err && pax->len)
		err = put_records(pax, cx, s);
	return err ? err : put_ustar(cx, s, &h, (char)entry->type);
}

int pax_end(struct context *cx, struct tar_stream *s)
{
	int err = tar_stream_put_zeroes(s, cx, 2ull * PAX_UNIT);

	return err ? err : tar_stream_align(s, cx, PAX_STREAM_UNIT);
}

void pax_fini(struct pax *pax)
{
	free(pax->records);
}
