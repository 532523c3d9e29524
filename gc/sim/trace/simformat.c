// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Formats of traces.
 *
 * Lines are split into fields, which are parts of the line.  The many numbers
 * are parsed by functions of this file, since parsing should cost less than
 * simulating.
 */
#include "gc/sim/trace/simformat.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SECTOR_BITS 9
#define FIELDS 12u

#define NS_PER_US UINT64_C(1000)
#define NS_PER_S UINT64_C(1000000000)

static const struct simformat_text none = { "", 0 };

static bool parse_number(struct simformat_text t, uint64_t *value)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < t.len; i++) {
		unsigned int digit = (unsigned int)(t.at[i] - '0');

		if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*value = v;
	return t.len;
}

/* Parses T in units of UNIT ns. */
static bool time_in(struct simformat_text t, uint64_t unit, uint64_t *time)
{
	uint64_t v;

	return parse_number(t, &v) && !__builtin_mul_overflow(v, unit, time);
}

/* The same as the time of E. */
static bool take_time(struct simformat_text t, uint64_t unit,
		      struct simformat_event *e)
{
	e->timed = time_in(t, unit, &e->time);
	return e->timed;
}

/* The same in seconds with or without decimals. */
static bool take_seconds(struct simformat_text t, struct simformat_event *e)
{
	const char *point = memchr(t.at, '.', t.len);
	struct simformat_text rest = none;
	uint64_t fraction = 0, unit = NS_PER_S;
	size_t i;

	if (point) {
		rest.at = point + 1;
		rest.len = t.len - (size_t)(rest.at - t.at);
		t.len = (size_t)(point - t.at);
	}
	for (i = 0; i < rest.len; i++) {
		unsigned int digit = (unsigned int)(rest.at[i] - '0');

		if (digit > 9)
			return false;
		unit /= 10;
		fraction += digit * unit;
	}
	e->timed = time_in(t, NS_PER_S, &e->time) &&
		   !__builtin_add_overflow(e->time, fraction, &e->time);
	return e->timed;
}

static bool parse_bytes(struct simformat_text offset, struct simformat_text length,
			struct simformat_event *e)
{
	if (!parse_number(offset, &e->offset) || !parse_number(length, &e->length))
		return false;
	e->far = e->offset >= SIMFORMAT_OFFSET_MAX ||
		 e->length >= SIMFORMAT_OFFSET_MAX - e->offset;
	return true;
}

static bool parse_sectors(struct simformat_text offset, struct simformat_text length,
			  struct simformat_event *e)
{
	if (!parse_bytes(offset, length, e))
		return false;
	e->far |= e->offset + e->length >= SIMFORMAT_OFFSET_MAX >> SECTOR_BITS;
	e->offset <<= SECTOR_BITS;
	e->length <<= SECTOR_BITS;
	return true;
}

static bool is_word(struct simformat_text t, const char *word)
{
	/* The text may contain NUL bytes. */
	return t.len == strlen(word) && !strncasecmp(t.at, word, t.len);
}

/* The meaning of a word; a NULL word ends a list. */
struct word {
	const char *word;
	enum simformat_kind kind;
};

static const struct word operations[] = {
	{ "w", SIMFORMAT_WRITE },    { "write", SIMFORMAT_WRITE },
	{ "r", SIMFORMAT_READ },     { "read", SIMFORMAT_READ },
	{ "d", SIMFORMAT_TRIM },     { "discard", SIMFORMAT_TRIM },
	{ "trim", SIMFORMAT_TRIM },  { "delete", SIMFORMAT_TRIM },
	{ "sync", SIMFORMAT_SYNC },  { "flush", SIMFORMAT_SYNC },
	{ "datasync", SIMFORMAT_SYNC }, { NULL, SIMFORMAT_BAD },
};

static enum simformat_kind kind_of_word(const struct word *words,
					struct simformat_text t)
{
	for (; words->word; words++)
		if (is_word(t, words->word))
			return words->kind;
	return SIMFORMAT_BAD;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * Splits at commas, or at semicolons where one comes first, without blanks and
 * double quotes around fields; FIELDS + 1: too many, or text beside quotes.
 */
static unsigned int cut_commas(const char *line, size_t len,
			       struct simformat_text *fields)
{
	const char *p = line, *end = line + len, *from, *to;
	char separator = ',', other = ';';
	unsigned int n = 0;

	for (;;) {
		while (p < end && is_blank(*p))
			p++;
		if (p < end && *p == '"') {
			from = p + 1;
			to = memchr(from, '"', (size_t)(end - from));
			for (p = to ? to + 1 : line; p < end && is_blank(*p); p++)
				;
			if (!to || (p < end && *p != separator && *p != other))
				return FIELDS + 1;
		} else {
			for (from = p; p < end && *p != separator && *p != other; p++)
				;
			for (to = p; to > from && is_blank(to[-1]); to--)
				;
		}
		if (n == FIELDS)
			return FIELDS + 1;
		if (p < end)
			separator = other = *p;
		fields[n++] = (struct simformat_text){ from,
						       (size_t)(to - from) };
		if (p == end)
			return n;
		p++;
	}
}

/* Splits at blanks; words after the last field are ignored. */
static unsigned int cut_blanks(const char *line, size_t len,
			       struct simformat_text *fields)
{
	const char *p = line, *end = line + len, *from;
	unsigned int n = 0;

	while (n < FIELDS) {
		while (p < end && is_blank(*p))
			p++;
		if (p == end)
			break;
		for (from = p; p < end && !is_blank(*p); p++)
			;
		fields[n++] = (struct simformat_text){ from,
						       (size_t)(p - from) };
	}
	return n;
}

static enum simformat_kind parse_msr(struct simformat_state *state, char *line,
				     size_t len, struct simformat_event *e)
{
	struct simformat_text f[FIELDS];
	char *end;

	(void)state;
	if (cut_commas(line, len, f) != 7 || !f[1].len || !f[2].len ||
	    !take_time(f[0], 100, e) || !parse_bytes(f[4], f[5], e))
		return SIMFORMAT_BAD;
	/* "usr,0" is usr_0, as in the names of the trace files. */
	end = line + (f[1].at + f[1].len - line);
	*end = '_';
	memmove(end + 1, f[2].at, f[2].len);
	e->volume = (struct simformat_text){ f[1].at, f[1].len + 1 + f[2].len };
	return kind_of_word(operations, f[3]);
}

static enum simformat_kind parse_alibaba(struct simformat_state *state,
					 char *line, size_t len,
					 struct simformat_event *e)
{
	struct simformat_text f[FIELDS];

	(void)state;
	if (cut_commas(line, len, f) != 5 || !f[0].len ||
	    !parse_bytes(f[2], f[3], e) || !take_time(f[4], NS_PER_US, e))
		return SIMFORMAT_BAD;
	e->volume = f[0];
	if (f[1].len == 1 && *f[1].at == 'W')
		return SIMFORMAT_WRITE;
	return f[1].len == 1 && *f[1].at == 'R' ? SIMFORMAT_READ :
						  SIMFORMAT_BAD;
}

/*
 * An Alibaba trace has its time in the column in which a CSV has a volume, and
 * the other way round.  The time may have decimals, or goes up more often than
 * down in LINE and the HAVE bytes at REST.
 */
static bool is_time_last(const char *line, size_t len, const char *rest, size_t have)
{
	uint64_t device, time, devices = UINT64_MAX, times = UINT64_MAX;
	struct simformat_text f[FIELDS] = { none };
	const char *end;
	int64_t net = 0;

	for (;; rest = end + 1) {
		len -= len && line[len - 1] == '\r';
		if (cut_commas(line, len, f) == 5 && f[0].len &&
		    memchr(f[0].at, '.', f[0].len))
			return false;
		if (parse_number(f[0], &device) && parse_number(f[4], &time)) {
			net += (time > times) - (time < times) -
			       (device > devices) + (device < devices);
			devices = device;
			times = time;
		}
		end = memchr(rest, '\n', have);
		if (!end)
			return net >= 0;
		line = rest;
		len = (size_t)(end - rest);
		have -= len + 1;
	}
}

static enum simformat_kind parse_tencent(struct simformat_state *state,
					 char *line, size_t len,
					 struct simformat_event *e)
{
	struct simformat_text f[FIELDS];

	(void)state;
	if (cut_commas(line, len, f) != 5 || !f[4].len || f[3].len != 1 ||
	    !take_seconds(f[0], e) || !parse_sectors(f[1], f[2], e))
		return SIMFORMAT_BAD;
	e->volume = f[4];
	if (*f[3].at == '1')
		return SIMFORMAT_WRITE;
	return *f[3].at == '0' ? SIMFORMAT_READ : SIMFORMAT_BAD;
}

/* "8,16" */
static bool is_device(struct simformat_text t)
{
	const char *comma = memchr(t.at, ',', t.len);
	struct simformat_text major = t, minor;
	uint64_t n;

	if (!comma)
		return false;
	major.len = (size_t)(comma - t.at);
	minor = (struct simformat_text){ comma + 1, t.len - major.len - 1 };
	return parse_number(major, &n) && parse_number(minor, &n);
}

static enum simformat_kind parse_blkparse(struct simformat_state *state,
					  char *line, size_t len,
					  struct simformat_event *e)
{
	struct simformat_text f[FIELDS];
	unsigned int n = cut_blanks(line, len, f);
	uint64_t sequence;

	if (n < 6 || !is_device(f[0]) || !parse_number(f[2], &sequence) ||
	    !take_seconds(f[3], e)) {
		/* The summary that blkparse prints after the last event. */
		state->summary |= (!strncmp(line, "CPU", 3) &&
				   isdigit((unsigned char)line[3])) ||
				  !strncmp(line, "Total (", 7) ||
				  !strncmp(line, "Input file ", 11);
		return state->summary || !n ? SIMFORMAT_OTHER : SIMFORMAT_BAD;
	}
	if (f[5].len != 1 || *f[5].at != 'Q' || n < 7)
		return SIMFORMAT_OTHER;
	e->volume = f[0];
	/* Without a length. */
	if (n < 10 || f[8].len != 1 || *f[8].at != '+')
		return memchr(f[6].at, 'F', f[6].len) ? SIMFORMAT_SYNC :
							SIMFORMAT_OTHER;
	if (!parse_sectors(f[7], f[9], e))
		return SIMFORMAT_BAD;
	if (memchr(f[6].at, 'Z', f[6].len))
		return SIMFORMAT_OTHER;		/* of a zone */
	if (memchr(f[6].at, 'D', f[6].len))
		return SIMFORMAT_TRIM;
	if (memchr(f[6].at, 'W', f[6].len))
		return SIMFORMAT_WRITE;
	return memchr(f[6].at, 'R', f[6].len) ? SIMFORMAT_READ :
						SIMFORMAT_OTHER;
}

static bool looks_blkparse(char *line, size_t len)
{
	struct simformat_event e = SIMFORMAT_EVENT_NONE;
	struct simformat_text f[FIELDS];

	return cut_blanks(line, len, f) >= 6 && is_device(f[0]) &&
	       take_seconds(f[3], &e);
}

/* N words from F on: FILE ACTION [OFFSET LENGTH] */
static enum simformat_kind parse_action(struct simformat_state *state,
					const struct simformat_text *f,
					unsigned int n,
					struct simformat_event *e)
{
	static const struct word actions[] = {
		{ "write", SIMFORMAT_WRITE },	{ "read", SIMFORMAT_READ },
		{ "trim", SIMFORMAT_TRIM },	{ "add", SIMFORMAT_OTHER },
		{ "open", SIMFORMAT_OTHER },	{ "close", SIMFORMAT_OTHER },
		{ "sync", SIMFORMAT_SYNC },	{ "datasync", SIMFORMAT_SYNC },
		{ "syncfs", SIMFORMAT_SYNC },
		{ "sync_file_range", SIMFORMAT_SYNC },
		{ NULL, SIMFORMAT_BAD },
	};
	enum simformat_kind kind;
	uint64_t wait;

	if (n < 2)
		return SIMFORMAT_BAD;
	/* Files that are devices are volumes of their own. */
	if (f[0].len > 5 && !memcmp(f[0].at, "/dev/", 5))
		e->volume = f[0];
	else
		e->file = f[0];
	if (is_word(f[1], "wait") && n >= 3)
		return time_in(f[2], NS_PER_US, &wait) &&
		       !__builtin_add_overflow(state->waited, wait,
					       &state->waited) ?
			       SIMFORMAT_OTHER : SIMFORMAT_BAD;
	kind = kind_of_word(actions, f[1]);
	if (kind == SIMFORMAT_OTHER || kind == SIMFORMAT_SYNC)
		return kind;
	return n >= 4 && parse_bytes(f[2], f[3], e) ? kind : SIMFORMAT_BAD;
}

static enum simformat_kind parse_fio(struct simformat_state *state, char *line,
				     size_t len, struct simformat_event *e)
{
	struct simformat_text f[FIELDS];
	unsigned int n;

	if (!strncmp(line, "fio version ", 12)) {
		state->fio_version = (unsigned int)(line[12] - '0');
		return state->fio_version == 2 || state->fio_version == 3 ?
			       SIMFORMAT_OTHER : SIMFORMAT_BAD;
	}
	/* DIRECTION,OFFSET,LENGTH: 0 for a read, 1 for a write. */
	if (!state->fio_version) {
		if (cut_commas(line, len, f) != 3 || f[0].len != 1 ||
		    !parse_bytes(f[1], f[2], e))
			return SIMFORMAT_BAD;
		return *f[0].at == '0' ? SIMFORMAT_READ :
		       *f[0].at == '1' ? SIMFORMAT_WRITE : SIMFORMAT_BAD;
	}
	n = cut_blanks(line, len, f);
	if (state->fio_version == 2) {
		e->time = state->waited;
		e->timed = true;
		return parse_action(state, f, n, e);
	}
	if (!n || !take_time(f[0], NS_PER_US, e) ||
	    (n > 2 && is_word(f[2], "wait")))
		return SIMFORMAT_BAD;
	return parse_action(state, f + 1, n - 1, e);
}

enum { TIME, OPERATION, OFFSET, LENGTH, VOLUME };

static const char *const csv_columns[SIMFORMAT_COLUMNS] = {
	"time", "operation", "offset", "length", "volume",
};

static enum simformat_kind parse_csv(struct simformat_state *state, char *line,
				     size_t len, struct simformat_event *e)
{
	struct simformat_text f[FIELDS], c[SIMFORMAT_COLUMNS];
	unsigned int n = cut_commas(line, len, f), i, k, at;
	unsigned int found[SIMFORMAT_COLUMNS] = { 0 };
	enum simformat_kind kind;

	if (n > FIELDS)
		return SIMFORMAT_BAD;
	for (i = 0; i < SIMFORMAT_COLUMNS; i++) {
		at = state->has_columns ? state->columns[i] : i + 1;
		c[i] = at && at <= n ? f[at - 1] : none;
	}
	kind = kind_of_word(operations, c[OPERATION]);
	if (kind == SIMFORMAT_BAD) {
		/* It may be a heading with the order of the columns. */
		for (i = 0; i < n; i++)
			for (k = 0; k < SIMFORMAT_COLUMNS; k++)
				if (is_word(f[i], csv_columns[k]))
					found[k] = i + 1;
		if (!found[OPERATION] || !found[OFFSET] || !found[LENGTH])
			return SIMFORMAT_BAD;
		memcpy(state->columns, found, sizeof(found));
		state->has_columns = true;
		return SIMFORMAT_OTHER;
	}
	if (c[TIME].len && !take_seconds(c[TIME], e))
		return SIMFORMAT_BAD;
	e->volume = c[VOLUME];
	if (kind == SIMFORMAT_SYNC)
		return kind;
	return parse_bytes(c[OFFSET], c[LENGTH], e) ? kind : SIMFORMAT_BAD;
}

static bool looks_blktrace(char *line, size_t len)
{
	return len >= 4 && (!memcmp(line, "\x07tae", 4) ||
			    !memcmp(line, "eat\x07", 4));
}

/* Specific ones first: any line with commas may be a CSV. */
const struct simformat simformat_list[] = {
	{ "blktrace", NULL, "struct blk_io_trace", "sectors, ns", looks_blktrace, NULL },
	{ "fio", "fio version ", "file action offset length", "bytes, us", NULL,
	  parse_fio },
	{ "msr", "timestamp,hostname,disknumber,",
	  "timestamp,hostname,disknumber,type,offset,size,responsetime",
	  "bytes, 100 ns", NULL, parse_msr },
	{ "alibaba", "device_id,opcode,", "device_id,opcode,offset,length,timestamp",
	  "bytes, us", NULL, parse_alibaba },
	{ "tencent", "timestamp,offset,size,iotype,",
	  "timestamp,offset,size,iotype,volumeid", "sectors, s", NULL, parse_tencent },
	{ "blkparse", NULL,
	  "device cpu sequence time pid action rwbs sector + sectors",
	  "sectors, s", looks_blkparse, parse_blkparse },
	{ "csv", NULL, "time,operation,offset,length,volume", "bytes, s", NULL,
	  parse_csv },
};

const size_t simformat_count =
	sizeof(simformat_list) / sizeof(simformat_list[0]);

const char *const simformat_names[] = {
	"guess", "blktrace", "fio", "msr", "alibaba", "tencent", "blkparse",
	"csv", NULL,
};

/* The maximum length of a line of a format. */
#define GUESSED 512

const struct simformat *simformat_guess(const char *line, size_t len,
					const char *rest, size_t have)
{
	char copy[GUESSED + 1], heading[GUESSED + 1];
	size_t i, n = 0;

	if (len > GUESSED)
		len = GUESSED;
	for (i = 0; i < len; i++)
		if (line[i] != '"')
			heading[n++] = line[i] == ';' ? ',' : line[i];
	heading[n] = '\0';
	for (i = 0; i < simformat_count; i++) {
		const struct simformat *f = &simformat_list[i];
		struct simformat_event e = SIMFORMAT_EVENT_NONE;
		struct simformat_state state = { 0 };

		/* The functions may change the line. */
		memcpy(copy, line, len);
		copy[len] = '\0';
		if (f->heading &&
		    !strncasecmp(heading, f->heading, strlen(f->heading)))
			return f;
		if ((f->looks ? f->looks(copy, len) :
			f->parse(&state, copy, len, &e) != SIMFORMAT_BAD) &&
		    (f->parse != parse_alibaba ||
		     is_time_last(line, len, rest, have)))
			return f;
	}
	return NULL;
}

void simformat_heading(const struct simformat *f,
		       const struct simformat_state *state,
		       char text[SIMFORMAT_HEADING])
{
	unsigned int at, k;
	int n = 0;

	snprintf(text, SIMFORMAT_HEADING, "%s", f->columns);
	for (at = 1; state->has_columns && at <= FIELDS; at++)
		for (k = 0; k < SIMFORMAT_COLUMNS; k++)
			if (state->columns[k] == at)
				n += snprintf(text + n,
					      SIMFORMAT_HEADING - (size_t)n,
					      "%s%s", n ? "," : "",
					      csv_columns[k]);
}

/*
 * struct blk_io_trace: offsets of its fields, and the used bits of action, of
 * linux/blktrace_api.h.
 */
enum {
	R_MAGIC = 0, R_TIME = 8, R_SECTOR = 16, R_BYTES = 24, R_ACTION = 28,
	R_DEVICE = 36, R_PDU_LEN = 46,
};

/* Version 7; the kernel writes it in its own byte order. */
#define MAGIC 0x65617407u
#define ACTION(action) ((action) & 0xffu)
#define QUEUED 1u
#define TC_READ (1u << 16)
#define TC_WRITE (1u << 17)
#define TC_FLUSH (1u << 18)
#define TC_PC (1u << 25)
#define TC_NOTIFY (1u << 26)
#define TC_DISCARD (1u << 29)
#define MINOR_BITS 20

static uint64_t record_field(const struct simformat_state *state, const void *record,
			     unsigned int at, unsigned int size)
{
	const unsigned char *p = (const unsigned char *)record + at;
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		v = v << 8 | p[state->swapped ? i : size - 1 - i];
	return v;
}

enum simformat_kind simformat_parse_record(struct simformat_state *state,
					   const void *record,
					   struct simformat_event *e,
					   size_t *pdu)
{
	uint32_t action, device;
	uint64_t sector;

	*pdu = SIMFORMAT_NO_RECORD;
	if (record_field(state, record, R_MAGIC, 4) != MAGIC)
		state->swapped = !state->swapped;
	if (record_field(state, record, R_MAGIC, 4) != MAGIC)
		return SIMFORMAT_BAD;
	action = (uint32_t)record_field(state, record, R_ACTION, 4);
	device = (uint32_t)record_field(state, record, R_DEVICE, 4);
	sector = record_field(state, record, R_SECTOR, 8);
	*pdu = record_field(state, record, R_PDU_LEN, 2);
	if (ACTION(action) != QUEUED || action & (TC_PC | TC_NOTIFY))
		return SIMFORMAT_OTHER;
	e->time = record_field(state, record, R_TIME, 8);
	e->timed = true;
	e->volume.at = state->device;
	e->volume.len = (size_t)snprintf(state->device, sizeof(state->device),
					 "%u,%u", device >> MINOR_BITS,
					 device & ((1u << MINOR_BITS) - 1));
	e->length = record_field(state, record, R_BYTES, 4);
	if (!e->length)
		return action & TC_FLUSH ? SIMFORMAT_SYNC : SIMFORMAT_OTHER;
	e->offset = sector << SECTOR_BITS;
	e->far = sector >= SIMFORMAT_OFFSET_MAX >> (SECTOR_BITS + 1);
	if (action & TC_DISCARD)
		return SIMFORMAT_TRIM;
	if (action & TC_WRITE)
		return SIMFORMAT_WRITE;
	return action & TC_READ ? SIMFORMAT_READ : SIMFORMAT_OTHER;
}
