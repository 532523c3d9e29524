/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times as text. */
#ifndef NILFS2_BASE_TIMEFMT_H
#define NILFS2_BASE_TIMEFMT_H

#include <stdbool.h>
#include <stdint.h>

#define TIMEFMT_ISO_MAX 80

/*
 * Writes SECONDS since 1970 as UTC, "2005-06-07T08:09:10Z", and returns BUF.  Every
 * value has a text: years outside 0000-9999 have a sign, as in the expanded years of
 * ISO 8601.
 */
char *timefmt_iso(int64_t seconds, char buf[TIMEFMT_ISO_MAX]);

/*
 * The same for people, in a time zone: "2005-06-07 10:09:10 +0200".  OFFSET is the
 * offset of the zone from UTC, in seconds; whole minutes of it count.
 */
char *timefmt_zone(int64_t seconds, long offset, char buf[TIMEFMT_ISO_MAX]);

/*
 * Parses TEXT, which must be a time of one of these forms with a year of four digits
 * and nothing else: false otherwise.
 */
bool timefmt_parse(const char *text, int64_t *seconds);

#endif
