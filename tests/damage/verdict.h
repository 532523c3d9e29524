/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a repair of a damaged image ended. */
#ifndef NILFS2_TESTS_DAMAGE_VERDICT_H
#define NILFS2_TESTS_DAMAGE_VERDICT_H

#include "spoil.h"
#include "state.h"
#include "tests/fuzz/checker.h"

enum verdict {
	VERDICT_RESTORED, /* all is what it was, and the volume sound */
	VERDICT_UNPROVED, /* the same, but the output names what may be lost */
	VERDICT_FALSE,	  /* the same, but the output says that it is lost */
	VERDICT_NAMED,	  /* the output names all that is not */
	VERDICT_REFUSED,  /* status 4 or 8, and nothing became worse */
	VERDICT_GONE,	  /* the same, and no state is left to begin with */
	VERDICT_UNSEEN,	  /* nothing but the lost content shows it */
	VERDICT_OPTION,	  /* with an option of the repair more differs */
	VERDICT_LOST,	  /* something differs, and no line names it */
	VERDICT_STATUS,	  /* the exit status is not what it should be */
	VERDICT_CRASH,	  /* a signal, a sanitizer's report, a hang */
	VERDICTS
};

/* A repair and what it left. */
struct outcome {
	enum verdict verdict;
	int status, second;	/* of the repair, of the check after it */
	unsigned int differing; /* files and facts that differ, */
	unsigned int unnamed;	/* of these: named by no line */
	unsigned int hidden;	/* of these: unreadable before the repair */
	unsigned int losses;	/* lines that name something, */
	unsigned int facts;	/* of these: that do not say "may" */
	const char *option;	/* of the repair, besides -y; or NULL */
	char first[STATE_PATH_MAX + 64]; /* one of them, unnamed if any */
};

/* One image and all that its cases share. */
struct bench {
	const char *sound;
	size_t size;
	struct targets targets;
	struct state state; /* of the sound image */
	uint64_t seed;
	bool options;	  /* repair with each option, too */
	bool differences; /* print them all */
};

const char *verdict_name(enum verdict verdict);

/*
 * Repairs the image of CHECKER's arena, on which C was done, and judges what
 * is left.  The image stays as it is then.  Where the repair finds nothing that
 * is wrong, a checksum may know more: then a repair that verifies all of them
 * is judged instead.  With bench->options the same damage is repaired with each
 * option that may change how, and the worst is judged.
 */
void verdict_find(struct outcome *o, const struct bench *bench,
		  const struct damage_case *c, const struct checker *checker);

#endif
