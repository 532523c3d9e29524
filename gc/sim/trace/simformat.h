/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of traces: the meaning of lines and records.
 *
 * msr		MSR Cambridge traces (Narayanan et al., FAST 2008; README of
 *		SNIA IOTTA 388): Timestamp,Hostname,DiskNumber,Type,Offset,Size,
 *		ResponseTime; 100 ns since 1601, "Read" or "Write" or their
 *		first letters, bytes
 * alibaba	Alibaba block traces (Li et al., IISWC 2020; README of
 *		github.com/alibaba/block-traces): device_id,opcode,offset,
 *		length,timestamp; R or W, bytes, microseconds
 * tencent	Tencent block storage traces (Zhang et al., ATC 2020; README of
 *		SNIA IOTTA 27917): Timestamp,Offset,Size,IOType,VolumeID;
 *		seconds, sectors of 512 bytes, 0 for a read and 1 for a write
 * blkparse	text of blkparse(1) in its default format: MAJOR,MINOR CPU
 *		SEQUENCE TIME PID ACTION RWBS [SECTOR + SECTORS] [PROGRAM]
 * blktrace	records of blktrace(8), as `blkparse -d` puts them in order:
 *		struct blk_io_trace of linux/blktrace_api.h, version 7, in
 *		either byte order
 * fio		iologs of fio(1), HOWTO, "Trace file format": version 2, FILE
 *		ACTION [OFFSET LENGTH]; version 3, the same after a time in
 *		microseconds; version 1, DIRECTION,OFFSET,LENGTH
 * csv		time,operation,offset,length[,volume] in seconds and bytes; a
 *		heading with these names may have them in another order
 *
 * Fields between commas may be between semicolons, and in double quotes.
 *
 * Of blktrace only queued requests (Q) count; later events of a request are
 * ignored.
 */
#ifndef NILFS2_GC_SIM_SIMFORMAT_H
#define NILFS2_GC_SIM_SIMFORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum simformat_kind {
	SIMFORMAT_BAD,		/* not understood */
	SIMFORMAT_OTHER,	/* understood, but not a write */
	SIMFORMAT_READ,
	SIMFORMAT_WRITE,
	SIMFORMAT_TRIM,
	SIMFORMAT_SYNC,
};

struct simformat_text {
	const char *at;
	size_t len;
};

/* Offsets, lengths and their sums are less than this. */
#define SIMFORMAT_OFFSET_MAX (UINT64_C(1) << 62)

struct simformat_event {
	struct simformat_text volume;	/* empty: the only one */
	struct simformat_text file;	/* for a volume of several files */
	uint64_t offset, length;	/* bytes */
	bool far;			/* they are beyond any volume */
	uint64_t time;			/* ns since any time */
	bool timed;			/* whether TIME is known */
};

/* An event before its line is parsed; its texts are empty, not NULL. */
#define SIMFORMAT_EVENT_NONE { .volume = { "", 0 }, .file = { "", 0 } }

#define SIMFORMAT_COLUMNS 5

/* State of a trace from the previous lines; all zero at its start. */
struct simformat_state {
	unsigned int fio_version;	/* 0: there was no heading */
	uint64_t waited;		/* sum of waits in an iolog of version 2, ns */
	bool has_columns;		/* a CSV had a heading: */
	unsigned int columns[SIMFORMAT_COLUMNS];	/* position + 1 */
	bool summary;			/* blkparse: only the summary follows */
	bool swapped;			/* blktrace: other byte order */
	char device[24];		/* blktrace: of the last record */
};

struct simformat {
	const char *name;
	const char *heading;	/* possible first line of a trace; or NULL */
	const char *columns, *units;	/* for the user */
	/*
	 * Whether LINE, the first significant one of a trace, is of this
	 * format.  NULL: it is a heading, or can be parsed.
	 */
	bool (*looks)(char *line, size_t len);
	/* Parses LINE, which it may change.  NULL: records. */
	enum simformat_kind (*parse)(struct simformat_state *state, char *line,
				     size_t len, struct simformat_event *e);
};

extern const struct simformat simformat_list[];
extern const size_t simformat_count;

/*
 * Names that an option accepts, NULL at the end: "guess", then that of each
 * format.
 */
extern const char *const simformat_names[];

/* The format of LINE, of LEN bytes, which HAVE bytes at REST follow, or NULL. */
const struct simformat *simformat_guess(const char *line, size_t len,
					const char *rest, size_t have);

/* The columns of F as text; of a CSV by its heading, where STATE has one. */
#define SIMFORMAT_HEADING 128u
void simformat_heading(const struct simformat *f,
		       const struct simformat_state *state,
		       char text[SIMFORMAT_HEADING]);

/* Bytes of a record of blktrace. */
#define SIMFORMAT_RECORD 48u

/*
 * Parses the bytes at RECORD; *PDU is the number of bytes that follow it, or
 * SIMFORMAT_NO_RECORD if it is none.
 */
#define SIMFORMAT_NO_RECORD SIZE_MAX
enum simformat_kind simformat_parse_record(struct simformat_state *state,
					   const void *record,
					   struct simformat_event *e,
					   size_t *pdu);

#endif
