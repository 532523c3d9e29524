// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * UUIDs, by libuuid.
 *
 * The only file that includes the header of libuuid, whose names begin with uuid_.
 */
#include "base/uuidtext.h"

#include <errno.h>
#include <string.h>
#include <uuid.h>

int uuidtext_parse(const char *text, uint8_t uuid[16])
{
	return uuid_parse(text, uuid) ? -EINVAL : 0;
}

char *uuidtext_format(const uint8_t uuid[16], char buf[UUIDTEXT_MAX])
{
	uuid_unparse_lower(uuid, buf);
	return buf;
}

int uuidtext_make(const char *text, uint8_t uuid[16])
{
	if (!strcmp(text, "random"))
		uuid_generate_random(uuid);
	else if (!strcmp(text, "time"))
		uuid_generate_time(uuid);
	else if (!strcmp(text, "clear"))
		memset(uuid, 0, 16);
	else
		return uuidtext_parse(text, uuid);
	return 0;
}

void uuidtext_of(const uint8_t space[16], const void *buf, size_t len,
		 uint8_t uuid[16])
{
	uuid_generate_sha1(uuid, space, buf, len);
}
