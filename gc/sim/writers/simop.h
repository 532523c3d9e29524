/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations on a simulated volume, from a workload or a trace. */
#ifndef NILFS2_GC_SIM_SIMOP_H
#define NILFS2_GC_SIM_SIMOP_H

#include <stdint.h>

enum simop_kind {
	SIMOP_WRITE,
	SIMOP_TRIM,	/* delete */
	SIMOP_SYNC,	/* complete a checkpoint */
};

struct simop {
	enum simop_kind kind;
	uint64_t block, count;	/* of data */
	uint64_t time;		/* microseconds since the start of a trace */
};

#endif
