/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options as rows of a constant table.
 *
 * One row contains the letter, the long name, the help text, the kind of the
 * argument and the place of the result in the caller's structure of options.
 * getopt_long's tables, the help and the check of exclusive options all come from
 * the rows.  An array of rows ends with an all-zero row.
 *
 *	struct ls_options { uint64_t checkpoint; bool recursive; };
 *	static const struct cli_option ls_rows[] = {
 *		{ 'c', "checkpoint", "CNO", "look at checkpoint CNO",
 *		  OPTION_U64, offsetof(struct ls_options, checkpoint) },
 *		{ 'R', "recursive", NULL, "descend into directories",
 *		  OPTION_FLAG, offsetof(struct ls_options, recursive) },
 *		{ 0 },
 *	};
 */
#ifndef NILFS2_CLI_OPTION_H
#define NILFS2_CLI_OPTION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

enum option_kind {
	OPTION_FLAG = 1,	/* bool: set true */
	OPTION_COUNT,		/* unsigned int: one more each time */
	OPTION_SET,		/* int: becomes .value; for modes in a group */
	OPTION_U64,		/* uint64_t: decimal, or 0x... */
	OPTION_U32,		/* uint32_t: the same, smaller */
	OPTION_I64,		/* int64_t: the same, with a sign */
	OPTION_SIZE,		/* uint64_t: bytes; takes 16M, 8MiB */
	OPTION_STRING,		/* const char *: the argument as it is */
	OPTION_LIST,		/* struct option_list: each argument, in order */
	OPTION_CHOICE,		/* int: index of the argument in .choices */
	OPTION_CALL,		/* .call decides */
};

/* Most options that one command may have, those of all tools included. */
#define OPTION_MAX 128

/* Groups that a command may use are 1 ... OPTION_GROUP_TOOL - 1. */
#define OPTION_GROUP_TOOL 15

/* The arguments of an option that was given COUNT times. */
struct option_list {
	const char **items;	/* freed by option_free(); the strings are of argv */
	size_t count;
};

struct cli_option {
	int letter;		/* 0: none */
	const char *name;	/* long name, without dashes; NULL: none */
	/*
	 * The argument in the help; NULL: the option takes none.  An argument that
	 * begins with '[', as in "[=WHEN]", is optional if there is no letter: an
	 * OPTION_CHOICE without it becomes .value.
	 */
	const char *arg;
	const char *help;	/* one phrase; NULL hides the option */
	enum option_kind kind;
	size_t at;		/* offsetof() the result in the structure */
	unsigned int group;	/* rows that exclude each other; 0: none */
	int value;		/* of OPTION_SET; of a choice without argument */
	const char *const *choices;	/* of OPTION_CHOICE, NULL at the end */
	/*
	 * Of OPTION_CALL: stores ARG (NULL if the row has no argument) at WHERE, the
	 * structure's base plus .at; 0 or a negative errno with the failure text.
	 */
	int (*call)(struct context *cx, const char *arg, void *where);
	/*
	 * Returns the I-th word that completion offers for the argument, or NULL after
	 * the last one.  NULL: no words, or those of .choices.
	 */
	const char *(*word)(size_t i);
	unsigned int against;	/* group whose rows exclude this one; 0: none */
	uint64_t least, most;	/* of a number or size; MOST 0: the limit of its kind */
	const char *why;	/* the reason why rows exclude this one, or NULL */
};

/* Rows, and the structure that contains their results; one parse may have several. */
struct option_set {
	const struct cli_option *rows;
	void *base;
};

/*
 * Parses ARGV (ARGV[0] is skipped) by the rows of COUNT sets.  Words that are not
 * options are moved after the options, or, with STOP_AT_WORD, end the parse.
 * Returns the index of the first word, or -EINVAL with the failure text for the
 * user.  Not reentrant, like getopt_long.
 */
int option_parse(struct context *cx, const struct option_set *sets,
		 unsigned int count, int argc, char **argv,
		 bool stop_at_word);

/*
 * Stores ARG in the structure at BASE, like a parse that found ROW; a text must
 * outlive that.  Groups are not checked.  Fails as option_parse(), -ENOMEM.
 */
int option_store(struct context *cx, const struct cli_option *row, void *base,
		 const char *arg);

/* The row with that long name, or NULL. */
const struct cli_option *option_find(const struct cli_option *rows,
				     const char *name);

/*
 * The number of characters of WORD that are missing, added, different or swapped
 * with their neighbour, compared with NAME; OPTION_FAR if it is not a misspelling.
 */
#define OPTION_FAR UINT_MAX
unsigned int option_distance(const char *word, const char *name);

/* Frees the memory that a parse, successful or not, has allocated in the structures. */
void option_free(const struct option_set *sets, unsigned int count);

/*
 * Parses a number as in options and arguments: the whole of TEXT, decimal or 0x...,
 * at most MAX.  0, or -EINVAL with the text "WHAT: ...".
 */
int option_number(struct context *cx, const char *what, const char *text,
		  uint64_t max, uint64_t *value);

/*
 * The same from LEAST to MOST, which the text names: "WHAT: 'TEXT' is not a
 * number from LEAST to MOST".
 */
int option_between(struct context *cx, const char *what, const char *text,
		   uint64_t least, uint64_t most, uint64_t *value);

/* As option_number() for a size in bytes: "4096", "16M", "8MiB". */
int option_size(struct context *cx, const char *what, const char *text,
		uint64_t *bytes);

#endif
