/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UUIDs as 16 bytes and as text. */
#ifndef NILFS2_BASE_UUIDTEXT_H
#define NILFS2_BASE_UUIDTEXT_H

#include <stddef.h>
#include <stdint.h>

#define UUIDTEXT_MAX 37

/* Reads the 36-character form, upper or lower case; -EINVAL otherwise. */
int uuidtext_parse(const char *text, uint8_t uuid[16]);

/*
 * Makes the UUID specified by TEXT: "random" (version 4), "time" (version 1), "clear"
 * (all zero), or a UUID; -EINVAL otherwise.
 */
int uuidtext_make(const char *text, uint8_t uuid[16]);

/* Writes the 36-character form in lower case and returns BUF. */
char *uuidtext_format(const uint8_t uuid[16], char buf[UUIDTEXT_MAX]);

/*
 * Makes a UUID from the content of BUF, in the name space SPACE (version 5, SHA-1):
 * the same for the same bytes, a different one for other bytes.
 */
void uuidtext_of(const uint8_t space[16], const void *buf, size_t len,
		 uint8_t uuid[16]);

#endif
