/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a few files hold: kept, compared, put back and judged. */
#ifndef NILFS2_TESTS_FILESTATE_H
#define NILFS2_TESTS_FILESTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILES_MAX 4

struct filestate {
	struct file_bytes {
		bool present;
		size_t size;
		unsigned char *bytes;
	} files[FILES_MAX];
};

/* Files of the current directory, by name; ends with NULL. */
extern const char *filestate_names[FILES_MAX + 1];

/* Exits with a message where that cannot be done; so do the others. */
void filestate_load(struct filestate *s);
void filestate_store(const struct filestate *s);
void filestate_copy(struct filestate *to, const struct filestate *from);
void filestate_free(struct filestate *s);
uint64_t filestate_sum(const struct filestate *s);

/* Changes of one file, which is made where it is not there. */
void filestate_write(struct filestate *s, unsigned int file, uint64_t off,
		     const void *bytes, size_t len);
void filestate_zero(struct filestate *s, unsigned int file, uint64_t off,
		    size_t len);
void filestate_resize(struct filestate *s, unsigned int file, size_t size);

/*
 * What COMMAND, a shell's, prints of the state, which it may change: the same
 * string each time, never freed; NULL if it fails.  It is asked once of a state.
 */
const char *filestate_judge(const struct filestate *s, const char *command);

#endif
