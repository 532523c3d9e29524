// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The columns of the list of segments: one row each has its names, format and
 * cost; one function computes its value.
 */
#include "dump/volume/segment_column.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	SEGMENT, STATE, FLAGS, SEQUENCE, MODIFIED, BLOCKS, WRITTEN, LIVE,
	SNAPSHOT, RECENT, DEAD, USE, DATA, METADATA, DATA_SHARE,
	METADATA_SHARE, OVERHEAD, STORED_LIVE, STORED_SNAPSHOT, STORED_TIME,
	COLUMNS
};

static const struct value_flag state_flags[] = {
	{ SEGMENT_ACTIVE, "active" },
	{ SEGMENT_DIRTY, "dirty" },
	{ SEGMENT_ERROR, "error" },
	{ SEGMENT_PROTECTED, "protected" },
	{ 0, NULL },
};

static const struct column all[COLUMNS] = {
	[SEGMENT] = { "segment", "SEGMENT", VALUE_U64, 7 },
	[STATE] = { "state", "STATE", VALUE_STRING, 5 },
	[FLAGS] = { "flags", NULL, VALUE_FLAGS, 0, state_flags },
	[SEQUENCE] = { "sequence", "SEQUENCE", VALUE_U64, 8 },
	[MODIFIED] = { "modified", "MODIFIED", VALUE_TIME, 19 },
	[BLOCKS] = { "blocks", "BLOCKS", VALUE_U64, 7 },
	[WRITTEN] = { "written", "WRITTEN", VALUE_U64, 7 },
	[LIVE] = { "live", "LIVE", VALUE_U64, 7 },
	[SNAPSHOT] = { "snapshot", "SNAPSHOT", VALUE_U64, 8 },
	[RECENT] = { "recent", "RECENT", VALUE_U64, 7 },
	[DEAD] = { "dead", "DEAD", VALUE_U64, 7 },
	[USE] = { "use", "USE", VALUE_PERCENT, 6 },
	[DATA] = { "data", "DATA", VALUE_U64, 7 },
	[METADATA] = { "metadata", "METADATA", VALUE_U64, 8 },
	[DATA_SHARE] = { "data_share", "DATA%", VALUE_PERCENT, 6 },
	[METADATA_SHARE] = { "metadata_share", "META%", VALUE_PERCENT, 6 },
	[OVERHEAD] = { "overhead", "OVERHEAD", VALUE_U64, 8 },
	[STORED_LIVE] = { "su_nlive_blks", "STORED-LIVE", VALUE_U64, 11 },
	[STORED_SNAPSHOT] = { "su_nsnapshot_blks", "STORED-SNAP", VALUE_U64,
			      11 },
	[STORED_TIME] = { "su_nlive_lastmod", "STORED-TIME", VALUE_TIME, 19 },
};

static const unsigned int usual[] = {
	SEGMENT, STATE, FLAGS, SEQUENCE, MODIFIED, WRITTEN, LIVE, SNAPSHOT,
	RECENT, DEAD, USE,
};

bool segment_column_needs_data(unsigned int column)
{
	return column >= DATA && column <= OVERHEAD;
}

const char *segment_column_word(size_t i)
{
	return i < COLUMNS ? all[i].key : NULL;
}

int segment_column_find(struct context *cx, const char *name,
			unsigned int *column)
{
	char names[256] = "";
	unsigned int i;
	size_t used = 0;

	for (i = 0; i < COLUMNS; i++) {
		if (!strcmp(all[i].key, name)) {
			*column = i;
			return 0;
		}
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used,
						 sizeof(names) - used, "%s%s",
						 i ? ", " : "", all[i].key);
	}
	return fail(cx, -EINVAL, "'%s' is not a column; valid are %s", name,
		    names);
}

static int add_column(struct context *cx, struct segment_columns *columns,
		      unsigned int column)
{
	if (columns->count == SEGMENT_COLUMNS_MAX)
		return fail(cx, -EINVAL, "more than %u columns",
			    SEGMENT_COLUMNS_MAX);
	columns->list[columns->count++] = column;
	columns->data |= segment_column_needs_data(column);
	return 0;
}

static int add_usual(struct context *cx, struct segment_columns *columns,
		     bool recent)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < sizeof(usual) / sizeof(usual[0]) && !err; i++)
		if (usual[i] != RECENT || recent)
			err = add_column(cx, columns, usual[i]);
	return err;
}

static int add_all(struct context *cx, struct segment_columns *columns)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < COLUMNS && !err; i++)
		err = add_column(cx, columns, i);
	return err;
}

static int add_word(struct context *cx, struct segment_columns *columns,
		    const char *word, size_t len)
{
	unsigned int column;
	char name[64];
	int err;

	if (len >= sizeof(name))
		len = sizeof(name) - 1;
	memcpy(name, word, len);
	name[len] = '\0';
	if (!strcmp(name, "all"))
		return add_all(cx, columns);
	err = segment_column_find(cx, name, &column);
	return err ? err : add_column(cx, columns, column);
}

int segment_column_parse(struct context *cx, const char *list, bool recent,
			 struct segment_columns *columns)
{
	int err = 0;

	*columns = (struct segment_columns){ .count = 0 };
	if (!list || *list == '+')
		err = add_usual(cx, columns, recent);
	if (!list || err)
		return err;
	list += *list == '+';
	for (;;) {
		size_t len = strcspn(list, ",");

		err = add_word(cx, columns, list, len);
		if (err || !list[len])
			return err;
		list += len + 1;
	}
}

static struct value nonzero(uint64_t v)
{
	return v ? value_u64(v) : value_absent();
}

/* What only volumes with counts of live blocks store. */
static struct value stored(unsigned int column, const struct segment *s)
{
	if (!s->has_stored)
		return value_absent();
	switch (column) {
	case STORED_LIVE:
		return value_u64(le32_get(s->su.su_nlive_blks));
	case STORED_SNAPSHOT:
		return value_u64(le32_get(s->su.su_nsnapshot_blks));
	default:
		return nonzero(le64_get(s->su.su_nlive_lastmod));
	}
}

static struct value liveness(unsigned int column, const struct segment *s)
{
	if (!s->has_counts)
		return value_absent();
	switch (column) {
	case LIVE:
		return value_u64(s->live);
	case SNAPSHOT:
		return value_u64(s->snapshot);
	case RECENT:
		return value_u64(s->recent);
	case DEAD:
		return value_u64(segment_dead(s));
	default:
		return value_percent(segment_kept(s), s->blocks);
	}
}

/* The result of segment_count_data(). */
static struct value counted(unsigned int column, const struct segment *s)
{
	uint32_t kept = segment_kept(s);
	uint32_t metadata = kept > s->data ? kept - s->data : 0;

	if (!s->has_data)
		return value_absent();
	switch (column) {
	case DATA:
		return value_u64(s->data);
	case METADATA:
		return value_u64(metadata);
	case DATA_SHARE:
		return value_percent(s->data, kept);
	case METADATA_SHARE:
		return value_percent(metadata, kept);
	default:
		return value_u64(s->overhead);
	}
}

static struct value value_of(unsigned int column, const struct segment *s)
{
	switch (column) {
	case SEGMENT:
		return value_u64(s->segnum);
	case STATE:
	case FLAGS:
		return value_u64(s->state);
	case SEQUENCE:
		return s->has_sequence ? value_u64(s->sequence) :
			value_absent();
	case MODIFIED:
		return nonzero(le64_get(s->su.su.su_lastmod));
	case BLOCKS:
		return value_u64(s->blocks);
	case WRITTEN:
		return value_u64(s->written);
	default:
		break;
	}
	if (column >= STORED_LIVE)
		return stored(column, s);
	return segment_column_needs_data(column) ? counted(column, s) :
		liveness(column, s);
}

uint64_t segment_column_key(unsigned int column, const struct segment *s)
{
	struct value v = value_of(column, s);

	return v.present ? v.number : 0;
}

void segment_column_describe(const struct segment_columns *columns,
			     struct column as[SEGMENT_COLUMNS_MAX])
{
	unsigned int i;

	for (i = 0; i < columns->count; i++)
		as[i] = all[columns->list[i]];
}

void segment_column_row(const struct segment_columns *columns,
			struct table *table, const struct segment *s)
{
	struct value values[SEGMENT_COLUMNS_MAX];
	char state[SEGMENT_STATE_CHARS];
	unsigned int i;

	segment_state_text(s->state, state);
	for (i = 0; i < columns->count; i++)
		values[i] = columns->list[i] == STATE ?
			value_bytes(state, sizeof(state)) :
			value_of(columns->list[i], s);
	table_row(table, values);
}
