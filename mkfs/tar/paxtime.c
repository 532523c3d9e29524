// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sign of a time.
 *
 * A pax header has "mtime=-0.5" for half a second before 1970.  libarchive
 * applies the sign to the seconds, of which there are none, so that time looks
 * like half a second after 1970.  For such a time the records are read again;
 * see pax(1), "ustar Interchange Format" and "pax Extended Header".
 */
#include "mkfs/tar/paxtime.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAR_BLOCK 512u
#define SIZE_AT 124		/* 12 bytes, octal */
#define TYPE_AT 156
#define RECORDS_MAX 16384u	/* more are not looked at */
#define HEADERS_MAX 8		/* before that of the file */

static bool read_all(int fd, uint64_t at, char *buf, size_t len)
{
	return pread(fd, buf, len, (off_t)at) == (ssize_t)len;
}

/* The last of several records counts. */
static bool is_negative(const char *text, size_t len)
{
	static const char key[] = " mtime=";
	bool negative = false;

	while (len) {
		char *end;
		size_t record = strtoul(text, &end, 10);
		size_t digits = (size_t)(end - text);

		if (!digits || record > len || record < digits + sizeof(key))
			break;
		if (!memcmp(end, key, sizeof(key) - 1))
			negative = end[sizeof(key) - 1] == '-';
		text += record;
		len -= record;
	}
	return negative;
}

bool paxtime_is_negative(int fd, uint64_t at)
{
	char header[TAR_BLOCK], records[RECORDS_MAX + 1];
	bool negative = false;
	unsigned int i;

	for (i = 0; i < HEADERS_MAX && read_all(fd, at, header, TAR_BLOCK);
	     i++) {
		char digits[13] = "";
		uint64_t size;

		if (!header[TYPE_AT] || !strchr("xgKL", header[TYPE_AT]))
			break;
		memcpy(digits, header + SIZE_AT, 12);
		size = strtoull(digits, NULL, 8);
		if (header[TYPE_AT] == 'x' && size <= RECORDS_MAX &&
		    read_all(fd, at + TAR_BLOCK, records, size)) {
			records[size] = 0;
			negative = is_negative(records, size);
		}
		at += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	}
	return negative;
}
