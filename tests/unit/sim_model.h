/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulator that is as simple as can be: see t_sim_model.c. */
#ifndef NILFS2_TESTS_SIM_MODEL_H
#define NILFS2_TESTS_SIM_MODEL_H

#include "gc/sim/volume/simvol.h"

#define SEGMENTS 24u
#define BLOCKS 16u
#define IDS 400u
#define STEPS 400u
#define NONE UINT32_MAX
#define LOGS (SIMPLACE_CLASSES + 2u)
#define METADATA (LOGS - 1)	/* the log of these */
#define LIVES 16u

/* What the user does in a step: see act(). */
struct step {
	uint32_t id, what;
};

struct place {
	uint32_t id, birth, death;
	uint64_t time;		/* when the user wrote it */
};

struct model {
	struct simvol_config c;
	struct place places[SEGMENTS][BLOCKS];
	uint32_t written[SEGMENTS];
	uint64_t lastmod[SEGMENTS];
	uint32_t queue[SEGMENTS], nqueue;
	uint32_t open[LOGS], at_hole[LOGS];
	bool fills[LOGS], then[SEGMENTS][BLOCKS];
	uint32_t log_of[SEGMENTS], victim;
	uint64_t opened[SEGMENTS], ended[SEGMENTS];
	uint64_t youngest[SEGMENTS];	/* of all data since then */
	uint64_t filled[SEGMENTS], nfilled;	/* in which order */
	bool in_use[SEGMENTS], dirty[IDS];
	uint32_t at[IDS];	/* segment * BLOCKS + offset */
	uint32_t nodes, dats;	/* first numbers of these */
	uint32_t nids, cno, snapshots[IDS], nsnapshots;
	uint64_t now;
	char policy;		/* g, t, c, age-threshold, benefit of data,
				   windowed: by their first letters */
	uint32_t parameter;	/* of the last ones */
	uint32_t window, from;	/* so many are looked at, from there on */
	/* Of placements: */
	uint32_t classes, level[IDS], heat[IDS];
	uint64_t last[IDS];	/* write of the user; 0: none */
	double span, lives[LIVES];
	uint32_t nlives;
	uint64_t head;		/* of the queue, by write of the user */
	bool was_short;
	uint32_t group;		/* of the victim */
	double hot_lives;	/* a sum */
	uint32_t nhot;
	uint64_t since;
	const struct step *steps;
	uint32_t now_step;
};

/* Of the volume V, which is empty; looks at so many segments (0: all). */
void sim_model_open(struct model *m, const struct simvol *v, char policy,
		    uint32_t parameter, uint64_t window);

/* The blocks of segment S that have to be moved. */
uint32_t sim_model_needed(const struct model *m, uint32_t s);

/* The user writes data block ID, or its last state ends. */
bool sim_model_write(struct model *m, uint32_t id);
void sim_model_end(struct model *m, uint32_t id);

/* Metadata that leads to ID is dirty; it is all written, for a checkpoint. */
void sim_model_touch(struct model *m, uint32_t id, bool moved);
bool sim_model_flush(struct model *m);

/* A victim is chosen, moved and clean. */
bool sim_model_clean(struct model *m);

#endif
