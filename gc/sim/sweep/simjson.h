/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of a JSON object that is one line. */
#ifndef NILFS2_GC_SIM_SIMJSON_H
#define NILFS2_GC_SIM_SIMJSON_H

enum simjson_kind {
	SIMJSON_STRING,
	SIMJSON_NUMBER,
	SIMJSON_OTHER,	/* true, false, null, and what has members */
};

struct simjson_member {
	enum simjson_kind kind;
	const char *name;
	char *text;	/* of a string, or of a number as it is */
};

/* Where a reader is in a line that ends with NUL. */
struct simjson {
	char *at;
};

/* At the first member of LINE; -1 where it does not begin with an object. */
int simjson_open(struct simjson *j, char *line);

/*
 * The next member: 1, 0 at the end of the object, -1 where it is damaged.  Texts
 * are in the line, which is changed, until the line ends.
 */
int simjson_next(struct simjson *j, struct simjson_member *m);

#endif
