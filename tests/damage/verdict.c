// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How a repair of a damaged image ended.
 *
 * The judge is the sound image: whatever fsck says of its work, what counts is
 * which files are what they were.  Where it says that it could not repair all,
 * it may leave things as bad as they were, but not make them worse.
 */
#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "disk/inode.h"
#include "disk/segsum.h"
#include "disk/super.h"
#include "naming.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/repairing.h"

/* What is compared to reach a verdict. */
struct judging {
	struct outcome *o;
	const struct bench *bench;
	const struct damage_case *c;
	struct state after, before; /* the repair; before: only if needed */
	bool has_before;
	char *text;
};

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICTS] = {
		[VERDICT_RESTORED] = "restored", [VERDICT_UNPROVED] = "unproved",
		[VERDICT_FALSE] = "false",	 [VERDICT_NAMED] = "named",
		[VERDICT_REFUSED] = "refused",	 [VERDICT_GONE] = "gone",
		[VERDICT_UNSEEN] = "unseen",	 [VERDICT_OPTION] = "option",
		[VERDICT_LOST] = "LOST",	 [VERDICT_STATUS] = "status",
		[VERDICT_CRASH] = "crash",
	};

	return names[verdict];
}

/* What fsck put on standard error, after what it said. */
static char *append_errors(char *text, FILE *errors)
{
	size_t len = strlen(text), n;
	char piece[512];

	rewind(errors);
	while ((n = fread(piece, 1, sizeof(piece), errors)) > 0) {
		text = realloc(text, len + n + 1);
		if (!text)
			arena_die("memory");
		memcpy(text + len, piece, n);
		len += n;
		text[len] = '\0';
	}
	return text;
}

/* The image with the damage and without a repair, to be unmapped. */
static char *damaged_image(const struct judging *j)
{
	const struct bench *b = j->bench;
	char *bytes = mmap(NULL, b->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		arena_die("memory");
	memcpy(bytes, b->sound, b->size);
	spoil_do(j->c, &b->targets, b->seed, bytes, b->sound, b->size);
	return bytes;
}

static void take_before(struct judging *j)
{
	char *bytes = damaged_image(j);

	state_take(&j->before, bytes, j->bench->size);
	munmap(bytes, j->bench->size);
	j->has_before = true;
}

static bool was_sound(struct judging *j, const struct treesum_file *what)
{
	if (!j->has_before)
		take_before(j);
	return state_has(&j->before, what);
}

/* Whether WHAT was sound before the repair, which was not completed. */
static bool became_worse(struct judging *j, const struct treesum_file *what)
{
	return j->o->status < CHECKER_UNCORRECTED || was_sound(j, what);
}

static void describe(const struct treesum_file *what, const char *path,
		     char to[STATE_PATH_MAX + 64])
{
	size_t size = STATE_PATH_MAX + 64;

	if (what->ino && what->cno)
		snprintf(to, size, "cp%" PRIu64 ":%" PRIu64 ":%s", what->cno,
			 what->ino, path);
	else if (what->ino)
		snprintf(to, size, "latest:%" PRIu64 ":%s", what->ino, path);
	else if (what->cno)
		snprintf(to, size, "checkpoint:%" PRIu64, what->cno);
	else
		snprintf(to, size, "superblock");
}

static void compare(struct judging *j, const struct treesum_file *what)
{
	struct naming n = {
		.text = j->text,
		.latest = j->bench->state.latest,
		.sound = j->bench->sound,
		.size = j->bench->size,
		.findings = j->o->status >= CHECKER_UNCORRECTED,
	};
	char path[STATE_PATH_MAX] = "", text[STATE_PATH_MAX + 64];
	bool unnamed;

	if (state_has(&j->after, what))
		return;
	if (what->ino)
		state_path(j->bench->sound, j->bench->size, what->cno,
			   what->ino, NULL, path);
	n.path = path;
	unnamed = became_worse(j, what) && !naming_has(&n, what);
	j->o->hidden += unnamed && j->c->spoil == SPOIL_MANY &&
			!was_sound(j, what);
	describe(what, path, text);
	if (!j->o->differing++ || (unnamed && !j->o->unnamed))
		strcpy(j->o->first, text);
	if (j->bench->differences)
		printf("%s %s\n", unnamed ? "UNNAMED" : "DIFFERS", text);
	j->o->unnamed += unnamed;
}

static void compare_all(struct judging *j)
{
	const struct treesum *files = &j->bench->state.files;
	const struct treesum *facts = &j->bench->state.facts;
	size_t i;

	for (i = 0; i < facts->count; i++)
		compare(j, &facts->files[i]);
	for (i = 0; i < files->count; i++)
		compare(j, &files->files[i]);
}

/* Whether STATUS, and that of the check after it, say what is. */
static bool is_honest(const struct outcome *o, bool silent)
{
	switch (o->status) {
	case CHECKER_CLEAN:
		return silent && !o->differing;
	case CHECKER_REPAIRED:
		return silent;
	case CHECKER_UNCORRECTED:
		/* Warnings are left, which are no errors for a check. */
		return o->second == CHECKER_UNCORRECTED ||
		       (o->second == CHECKER_CLEAN && !silent);
	default:
		return o->status == CHECKER_OPERATIONAL &&
		       o->second == o->status;
	}
}

/* Whether a log of a segment in use is that of checkpoint CNO, which has its
   time. */
static bool has_log(const struct judging *j, uint64_t cno)
{
	const struct targets *t = &j->bench->targets;
	const struct nilfs_segment_summary *ss;
	size_t i;

	for (i = 0; i < t->count; i++) {
		ss = (const void *)(j->bench->sound +
				    (t->all[i].pseg << t->geo.block_bits));
		if (t->all[i].kind == TARGET_SUPER_ROOT &&
		    segsum_cno(ss) == cno)
			return true;
	}
	return false;
}

/*
 * Whether the block has what is written nowhere else: times, modes and owners
 * of inodes, names, and the time of a checkpoint whose log is gone.
 */
static bool is_single(const struct judging *j)
{
	const struct target *t = j->c->target;
	unsigned long long cno;

	if (t->ino == NILFS_CPFILE_INO)
		return j->o->differing == 1 &&
		       sscanf(j->o->first, "checkpoint:%llu", &cno) == 1 &&
		       !has_log(j, cno);
	return t->ino == NILFS_IFILE_INO || !inode_is_metadata(t->ino);
}

/*
 * Whether the damage left a volume as the kernel could have written it.  Damage
 * of the last log of a crashed volume looks like a crash a moment earlier, and
 * the check says that there is a log that is not used.
 */
static bool is_unseen(const struct judging *j, bool silent)
{
	const struct target *t = j->c->target;

	if (j->c->spoil == SPOIL_MANY)
		return silent && j->o->hidden == j->o->unnamed &&
		       (strstr(j->text, "a mount ignores it") ||
			strstr(j->text, "not unmounted cleanly"));
	if (j->o->status || !silent)
		return false;
	return j->c->matched ? t->ino && !t->level && is_single(j) :
			       strstr(j->text, "a mount ignores it") != NULL;
}

/* Whether a superblock of BYTES is what it was. */
static bool has_superblock(const struct bench *b, const char *bytes)
{
	const uint64_t at[] = {NILFS_SB_OFFSET_BYTES, super_offset2(b->size)};
	const struct nilfs_super_block *sb;
	size_t i;

	for (i = 0; i < 2; i++) {
		sb = (const void *)(b->sound + at[i]);
		if (super_check(sb) == RULE_OK &&
		    !memcmp(bytes + at[i], sb, le16_get(sb->s_bytes)))
			return true;
	}
	return false;
}

/* Whether a log of BYTES is what it was, with all of its blocks. */
static bool has_whole_log(const struct bench *b, const char *bytes)
{
	const struct targets *t = &b->targets;
	const struct nilfs_segment_summary *ss;
	uint64_t pseg;
	size_t i;

	for (i = 0; i < t->count; i++) {
		pseg = t->all[i].pseg << t->geo.block_bits;
		ss = (const void *)(b->sound + pseg);
		if (t->all[i].kind == TARGET_SUMMARY &&
		    !memcmp(bytes + pseg, ss,
			    (size_t)le32_get(ss->ss_nblocks) << t->geo.block_bits))
			return true;
	}
	return false;
}

/*
 * Whether the damage left no log of which the summary and the super root are
 * what they were, or neither a superblock nor a log that show the layout of the
 * volume.
 */
static bool is_gone(const struct judging *j)
{
	const struct bench *b = j->bench;
	const struct targets *t = &b->targets;
	const struct nilfs_segment_summary *ss;
	char *bytes = damaged_image(j);
	bool gone = true;
	size_t i;

	for (i = 0; i < t->count && gone; i++) {
		const struct target *root = &t->all[i];
		uint64_t pseg = root->pseg << t->geo.block_bits;

		if (root->kind != TARGET_SUPER_ROOT)
			continue;
		ss = (const void *)(b->sound + pseg);
		gone = memcmp(bytes + pseg, ss, le32_get(ss->ss_sumbytes)) ||
		       memcmp(bytes + root->offset, b->sound + root->offset,
			      root->len);
	}
	gone |= !has_superblock(b, bytes) && !has_whole_log(b, bytes);
	munmap(bytes, b->size);
	return gone;
}

static enum verdict judge(const struct judging *j, bool silent)
{
	const struct outcome *o = j->o;

	if (o->unnamed)
		return is_unseen(j, silent) ? VERDICT_UNSEEN : VERDICT_LOST;
	if (!is_honest(o, silent))
		return VERDICT_STATUS;
	if (o->status >= CHECKER_UNCORRECTED)
		return j->c->spoil == SPOIL_MANY && is_gone(j) ?
			       VERDICT_GONE :
			       VERDICT_REFUSED;
	if (o->differing)
		return VERDICT_NAMED;
	if (o->facts)
		return VERDICT_FALSE;
	return o->losses ? VERDICT_UNPROVED : VERDICT_RESTORED;
}

static void repair(struct judging *j, const struct checker *checker,
		   const char *option)
{
	const char *data = option && !strncmp(option, "--data", 6) ? "--data" :
								     NULL;
	struct outcome *o = j->o;
	char *after;

	/* All losses are to be listed. */
	*o = (struct outcome){.option = option};
	o->status = checker_run(checker, "-fyv", option, &j->text);
	j->text = append_errors(j->text, checker->arena->errors);
	o->losses = naming_losses(j->text, &o->facts);
	o->second = checker_run(checker, "-fn", data, &after);
	state_take(&j->after, checker->arena->bytes, checker->arena->size);
	compare_all(j);
	o->verdict = judge(j, !o->second && repairing_is_complete(after));
	state_free(&j->after);
	state_free(&j->before);
	j->has_before = false;
	free(after);
	free(j->text);
}

/* Whether OPTIONS, with --data, name what *O does not. */
static void judge_data(struct outcome *o, const struct bench *b,
		       const struct damage_case *c,
		       const struct checker *checker, const char *options)
{
	struct outcome data;
	struct judging j = {.o = &data, .bench = b, .c = c};

	arena_restore(checker->arena, b->sound);
	spoil_do(c, &b->targets, b->seed, checker->arena->bytes, b->sound,
		 b->size);
	repair(&j, checker, options);
	data.option = o->option;
	if (data.verdict >= VERDICT_STATUS) {
		*o = data;
	} else if (!data.unnamed) {
		o->verdict = VERDICT_NAMED;
		o->unnamed = 0;
	}
}

/* The damage once more, repaired with OPTION, if that is worse than *O. */
static void try_option(struct outcome *o, const struct bench *b,
		       const struct damage_case *c,
		       const struct checker *checker, const char *option)
{
	struct outcome other;
	struct judging j = {.o = &other, .bench = b, .c = c};
	char with_data[96];

	arena_restore(checker->arena, b->sound);
	spoil_do(c, &b->targets, b->seed, checker->arena->bytes, b->sound,
		 b->size);
	repair(&j, checker, option);
	if (strchr(option, '/'))
		unlink(strchr(option, '/'));
	if (c->spoil == SPOIL_MANY && other.verdict == VERDICT_LOST) {
		snprintf(with_data, sizeof(with_data), "--data %s", option);
		judge_data(&other, b, c, checker, with_data);
		if (strchr(option, '/'))
			unlink(strchr(option, '/'));
	}
	/* More may be given up of a volume that was not sound without it. */
	if (other.differing > o->differing && other.verdict < VERDICT_OPTION &&
	    o->verdict != VERDICT_GONE)
		other.verdict = VERDICT_OPTION;
	if (other.verdict >= VERDICT_OPTION && other.verdict > o->verdict)
		*o = other;
}

void verdict_find(struct outcome *o, const struct bench *bench,
		  const struct damage_case *c, const struct checker *checker)
{
	static const char *const options[] = {"--data", "--rebuild"};
	const char *data = c->spoil == SPOIL_BIT &&
				   c->target->kind >= TARGET_BLOCKS ?
				   options[0] : NULL;
	struct judging j = {.o = o, .bench = bench, .c = c};
	char undo[64], rebuild[80], with_data[96] = "--data";
	size_t i;

	repair(&j, checker, data);
	if (!o->status && o->differing && !c->matched && !data) {
		repair(&j, checker, options[0]);
		/* Wrong data stays an error, but prevents nothing. */
		if (o->verdict == VERDICT_REFUSED)
			o->verdict = VERDICT_NAMED;
	}
	snprintf(undo, sizeof(undo), "--undo-file=/tmp/damage-undo.%d",
		 (int)getpid());
	snprintf(rebuild, sizeof(rebuild), "--rebuild %s", undo);
	/* What cannot be repaired may be given up, and what the logs do not have
	   rebuilt of what there is. */
	for (i = 0; i < 2 && c->spoil == SPOIL_MANY && (i || !o->option) &&
		    o->status == CHECKER_UNCORRECTED &&
		    o->verdict == VERDICT_REFUSED; i++) {
		arena_restore(checker->arena, bench->sound);
		spoil_do(c, &bench->targets, bench->seed, checker->arena->bytes,
			 bench->sound, bench->size);
		repair(&j, checker, i ? rebuild : undo);
		unlink(strchr(undo, '/'));
		o->option = i ? "--rebuild" : "--undo-file";
		snprintf(with_data, sizeof(with_data), "--data %s",
			 i ? rebuild : undo);
	}
	/* What only checksums of data know is asked with --data. */
	if (c->spoil == SPOIL_MANY && o->verdict == VERDICT_LOST) {
		judge_data(o, bench, c, checker, with_data);
		unlink(strchr(undo, '/'));
	}
	/* Without this one there is nothing to be seen. */
	if (!bench->options || o->option)
		return;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		try_option(o, bench, c, checker, options[i]);
	try_option(o, bench, c, checker, undo);
	if (o->option == undo)
		o->option = "--undo-file";
}
