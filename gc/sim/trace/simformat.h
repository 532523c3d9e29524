/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats of traces: what a line or record means.
 *
 * msr		MSR Cambridge traces (Narayanan et al., FAST 2008; README of
 *		SNIA IOTTA 388): Timestamp,Hostname,DiskNumber,Type,Offset,Size,
 *		ResponseTime; 100 ns since 1601, "Read" or "Write", bytes
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
 * Of blktrace only requests that were queued (Q) count: what happens to them
 * afterwards are other events.
 */
#ifndef NILFS2_GC_SIM_SIMFORMAT_H
#define NILFS2_GC_SIM_SIMFORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum simformat_kind {
	SIMFORMAT_BAD,		/* not understood */
	SIMFORMAT_OTHER,	/* understood, and nothing that is written */
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
	struct simformat_text file;	/* of a volume that has several */
	uint64_t offset, length;	/* bytes */
	uint64_t time;			/* ns since any time */
	bool timed;			/* ... which is known */
};

/* An event before its line is parsed; its texts are empty, not NULL. */
#define SIMFORMAT_EVENT_NONE { .volume = { "", 0 }, .file = { "", 0 } }

#define SIMFORMAT_COLUMNS 5

/* What is known of a trace from the lines before; all zero at its start. */
struct simformat_state {
	unsigned int fio_version;	/* 0: there was no heading */
	uint64_t waited;		/* by an iolog of version 2, ns */
	bool has_columns;		/* a CSV had a heading: */
	unsigned int columns[SIMFORMAT_COLUMNS];	/* where each is, + 1 */
	bool summary;			/* blkparse: only a summary is left */
	bool swapped;			/* blktrace: of the other byte order */
	char device[24];		/* blktrace: of the last record */
};

struct simformat {
	const char *name;
	const char *heading;	/* how a trace may begin; or NULL */
	/*
	 * Whether LINE, the first of a trace that means something, is of it.
	 * NULL: it is a heading, or means something in it.
	 */
	bool (*looks)(char *line, size_t len);
	/* What LINE means; it may change the line.  NULL: records. */
	enum simformat_kind (*parse)(struct simformat_state *state, char *line,
				     size_t len, struct simformat_event *e);
};

extern const struct simformat simformat_list[];
extern const size_t simformat_count;

/*
 * Names that an option takes, NULL at the end: "guess", then that of each
 * format.
 */
extern const char *const simformat_names[];

/* The format that LINE, of LEN bytes, is of, or NULL. */
const struct simformat *simformat_guess(const char *line, size_t len);

/* Bytes of a record of blktrace. */
#define SIMFORMAT_RECORD 48u

/*
 * Whether so many bytes at RECORD are a record; *PDU is the number of bytes that
 * follow it.
 */
bool simformat_check_record(struct simformat_state *state, const void *record,
			    size_t *pdu);

/* What it means. */
enum simformat_kind simformat_parse_record(struct simformat_state *state,
					   const void *record,
					   struct simformat_event *e);

#endif
