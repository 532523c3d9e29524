/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's header says of the disk format, row by row. */
#ifndef NILFS2_TESTS_DISK_WITNESS_H
#define NILFS2_TESTS_DISK_WITNESS_H

struct disk_witness {
	const char *what;
	unsigned long long first;	/* offset, size or value */
	unsigned long long second;	/* size of a field */
};

#define SIZE(s) { #s, sizeof(struct s), 0 },
#define FIELD(s, m) \
	{ #s "." #m, offsetof(struct s, m), sizeof(((struct s *)0)->m) },
#define NUMBER(n) { #n, (unsigned long long)(n), 0 },

/* Rows in the order of disk_witness.def; ends with a row without name. */
extern const struct disk_witness disk_witness[];

#endif
