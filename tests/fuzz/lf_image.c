// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: a tool on an image whose metadata were changed.
 *
 * The image is that of NILFS2_FUZZ_IMAGE.  An input is a list of changes of a
 * few bytes each: which range of metadata, which byte of it, and what to add
 * there.  Where the length of the input is odd the checksums are made right
 * after that, so that the damage is not stopped at the door.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "damage.h"

struct change {
	uint8_t range[2], byte[2], add;
};

#ifdef LF_FSCK
int fsck_main(int argc, char **argv);
#define tool_run fsck_main
static const char *const commands[][5] = {
	{ "fsck.nilfs2", "-fn", "IMAGE" },
	{ "fsck.nilfs2", "-fn", "--data", "IMAGE" },
};
#else
int dump_main(int argc, char **argv);
#define tool_run dump_main
static const char *const commands[][5] = {
	{ "dump.nilfs2", "ls", "-lR", "IMAGE" },
	{ "dump.nilfs2", "export", "-q", "IMAGE", "-" },
};
#endif

static struct arena arena;
static struct damage damage;
static char *sound;

static void prepare(void)
{
	const char *path = getenv("NILFS2_FUZZ_IMAGE");

	if (!path)
		arena_die("NILFS2_FUZZ_IMAGE");
	arena_load(&arena, path);
	sound = arena_copy(&arena);
	if (damage_open(&damage, arena.bytes, arena.size))
		arena_die(path);
}

static void change_bytes(const struct change *c)
{
	size_t range = (c->range[0] | (size_t)c->range[1] << 8) % damage.count;
	const struct damage_range *r = &damage.ranges[range];

	arena.bytes[r->offset + (c->byte[0] | (size_t)c->byte[1] << 8) %
				r->len] += (char)c->add;
}

static void run(const char *const words[5])
{
	char copies[5][64], *argv[6] = { NULL };
	unsigned int i;

	for (i = 0; i < 5 && words[i]; i++) {
		snprintf(copies[i], sizeof(copies[i]), "%s",
			 strcmp(words[i], "IMAGE") ? words[i] : arena.path);
		argv[i] = copies[i];
	}
	arena_run(&arena, tool_run, argv, open("/dev/null", O_WRONLY));
	if (arena_complained(&arena, "fsck.nilfs2: internal error"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct change c;
	size_t at;

	if (!sound)
		prepare();
	for (at = 0; at + sizeof(c) <= size; at += sizeof(c)) {
		memcpy(&c, data + at, sizeof(c));
		change_bytes(&c);
	}
	damage_do(&damage, 0, 0, 0, size & 1);
	run(commands[size / 2 % 2]);
	damage_undo(&damage);
	arena_restore(&arena, sound);
	return 0;
}
