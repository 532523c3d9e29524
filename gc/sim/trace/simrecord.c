// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of blktrace.
 *
 * The kernel writes them in its own byte order, which the magic number shows.
 */
#include "gc/sim/trace/simrecord.h"

#include <stdio.h>

#define SECTOR_BITS 9

/*
 * struct blk_io_trace: where its fields are, and the bits of action that
 * matter, of linux/blktrace_api.h.
 */
enum {
	R_MAGIC = 0, R_TIME = 8, R_SECTOR = 16, R_BYTES = 24, R_ACTION = 28,
	R_DEVICE = 36, R_PDU_LEN = 46,
};

#define MAGIC 0x65617407u		/* version 7 */
#define ACTION(action) ((action) & 0xffu)
#define QUEUED 1u
#define TC_READ (1u << 16)
#define TC_WRITE (1u << 17)
#define TC_FLUSH (1u << 18)
#define TC_PC (1u << 25)
#define TC_NOTIFY (1u << 26)
#define TC_DISCARD (1u << 29)
#define MINOR_BITS 20

static uint64_t field(const struct simformat_state *state, const void *record,
		      unsigned int at, unsigned int size)
{
	const unsigned char *p = (const unsigned char *)record + at;
	uint64_t v = 0;
	unsigned int i;

	for (i = 0; i < size; i++)
		v = v << 8 | p[state->swapped ? i : size - 1 - i];
	return v;
}

bool simrecord_check(struct simformat_state *state, const void *record,
		     size_t *pdu)
{
	if (field(state, record, R_MAGIC, 4) != MAGIC) {
		state->swapped = !state->swapped;
		if (field(state, record, R_MAGIC, 4) != MAGIC)
			return false;
	}
	*pdu = field(state, record, R_PDU_LEN, 2);
	return true;
}

enum simformat_kind simrecord_parse(struct simformat_state *state,
				    const void *record,
				    struct simformat_event *e)
{
	uint32_t action = (uint32_t)field(state, record, R_ACTION, 4);
	uint32_t device = (uint32_t)field(state, record, R_DEVICE, 4);
	uint64_t sector = field(state, record, R_SECTOR, 8);

	if (ACTION(action) != QUEUED || action & (TC_PC | TC_NOTIFY))
		return SIMFORMAT_OTHER;
	e->time = field(state, record, R_TIME, 8);
	e->timed = true;
	e->volume.at = state->device;
	e->volume.len = (size_t)snprintf(state->device, sizeof(state->device),
					 "%u,%u", device >> MINOR_BITS,
					 device & ((1u << MINOR_BITS) - 1));
	e->length = field(state, record, R_BYTES, 4);
	if (!e->length)
		return action & TC_FLUSH ? SIMFORMAT_SYNC : SIMFORMAT_OTHER;
	e->offset = sector << SECTOR_BITS;
	if (sector >= SIMFORMAT_OFFSET_MAX >> (SECTOR_BITS + 1))
		return SIMFORMAT_BAD;
	if (action & TC_DISCARD)
		return SIMFORMAT_TRIM;
	if (action & TC_WRITE)
		return SIMFORMAT_WRITE;
	return action & TC_READ ? SIMFORMAT_READ : SIMFORMAT_OTHER;
}
