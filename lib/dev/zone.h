/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Zones of a device that must be written sequentially.
 *
 * A conventional zone is written like any disk.  A sequential one is written from its
 * beginning, each write at the end of the last one (its pointer) and never beyond its
 * capacity, and is emptied as a whole by a reset.
 */
#ifndef NILFS2_DEV_ZONE_H
#define NILFS2_DEV_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"

/* Maximum number of zones of a device: their kinds take 4 MiB. */
#define ZONE_COUNT_MAX (1u << 22)

enum zone_kind {
	ZONE_CONVENTIONAL,
	ZONE_SEQUENTIAL,  /* required, or preferred by the device */
	ZONE_UNWRITABLE,  /* offline or read-only */
};

/* One zone with its state; all in bytes. */
struct zone {
	uint64_t start, size;
	uint64_t capacity;
	uint64_t pointer; /* where the next write goes; full: at the end of
			     its capacity; 0 if it is not sequential */
	enum zone_kind kind;
};

/* The constant properties of the zones of a device. */
struct zones {
	uint64_t size;	    /* bytes of each, a power of 2 */
	uint64_t last_size; /* bytes of the last one; less only on some */
	uint64_t capacity;  /* bytes; the least of the sequential ones */
	uint64_t count;
	uint32_t max_open;   /* 0: no limit, or not known */
	uint32_t max_active; /* the same */
	bool emulated;	     /* the device is an image file */
	uint8_t *kinds;	     /* enum zone_kind of each; owned */
};

/*
 * Describes the zones of a device of BYTES: SIZE each, with CAPACITY if they are
 * sequential, the first HEAD and the last TAIL of them conventional.  -EINVAL for
 * impossible values, -ENOMEM.  zone_fini() may be called in any case.
 */
int zone_make(struct zones *zones, struct context *cx, uint64_t bytes,
	      uint64_t size, uint64_t capacity, uint64_t head, uint64_t tail);

/*
 * Begins a list of COUNT zones of SIZE bytes, to be filled by zone_add() in order.
 * -EINVAL for impossible values, -ENOMEM.
 */
int zone_begin(struct zones *zones, struct context *cx, uint64_t count,
	       uint64_t size);

/* Adds zone number N; -EINVAL if it does not follow the one before it. */
int zone_add(struct zones *zones, struct context *cx, uint64_t n,
	     const struct zone *zone);

void zone_fini(struct zones *zones);

/* The number of zones of KIND. */
uint64_t zone_count(const struct zones *zones, enum zone_kind kind);

/* The zone that contains byte OFF. */
static inline uint64_t zone_of(const struct zones *zones, uint64_t off)
{
	return off / zones->size;
}

/* Whether byte OFF can be written in any order, that is, not in a sequential zone.
   ZONES: NULL without zones. */
static inline bool zone_is_in_place(const struct zones *zones, uint64_t off)
{
	return !zones ||
	       zones->kinds[zone_of(zones, off)] == ZONE_CONVENTIONAL;
}

/* Zone N, empty. */
struct zone zone_at(const struct zones *zones, uint64_t n);

/*
 * Checks a write of LEN bytes at OFF inside ZONE, number N of the device NAME, which is
 * not conventional: it begins at the pointer and fits the capacity.  -EIO otherwise.
 */
int zone_check_write(const struct zone *zone, struct context *cx,
		     const char *name, uint64_t n, uint64_t off, uint64_t len);

/* Bytes of [OFF, END) in the zone that contains OFF. */
uint64_t zone_part(const struct zones *zones, uint64_t off, uint64_t end);

/* The first zone after N that is not of N's kind, or the number of all zones. */
uint64_t zone_run_end(const struct zones *zones, uint64_t n);

#endif
