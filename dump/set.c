// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * set: change a field by its name, for tests and for repair by hand.
 *
 * The only command that writes.  The change and its checksums are first made in an
 * overlay, so that nothing is written if one of them fails.  Then all bytes from
 * the first change to the last are written in place by one request, so that an
 * interrupted tool leaves the old state or the new one.  If the request fails, the
 * old bytes are written back.  The meaning of the value is not checked.
 */
#include "dump/set.h"

#include "cli/moment.h"
#include "dump/common/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "dev/devfile.h"
#include "dev/overlay.h"
#include "dev/probe.h"
#include "disk/super.h"
#include "dump/blocks/logfind.h"
#include "dump/common/fields.h"
#include "dump/common/image.h"
#include "dump/common/seal.h"
#include "dump/target.h"
#include "out/table.h"
#include "vol/owner.h"

struct set_options {
	uint64_t checkpoint;
	bool expert, fix, keep;
};

static const struct cli_option set_rows[] = {
	{ 0, "expert", NULL, "required, since this can destroy a volume",
	  OPTION_FLAG, offsetof(struct set_options, expert) },
	{ 0, "fix-checksums", NULL, "update the checksums that cover it",
	  OPTION_FLAG, offsetof(struct set_options, fix), 1 },
	{ 0, "keep-checksums", NULL, "leave all checksums (the default)",
	  OPTION_FLAG, offsetof(struct set_options, keep), 1 },
	{ 'c', "checkpoint", "CNO",
	  "look at this checkpoint or time (0: the latest)",
	  OPTION_CALL, offsetof(struct set_options, checkpoint), 0, 0,
	  NULL, moment_parse },
	{ 0 },
};

enum { COL_STRUCTURE, COL_FIELD, COL_OLD, COL_NEW, COL_COUNT };

static const struct column columns[] = {
	[COL_STRUCTURE] = { "structure", "STRUCTURE", VALUE_STRING, 20 },
	[COL_FIELD] = { "field", "FIELD", VALUE_STRING, 20 },
	[COL_OLD] = { "old", "OLD", VALUE_STRING, 12 },
	[COL_NEW] = { "new", "NEW", VALUE_STRING, 0 },
};

struct set {
	struct tool *tool;
	struct dev *dev, *overlay;
	struct target_source source;
	struct target target;
	struct table table;
	uint8_t *bytes;			/* of the structure */
};

static void set_print_row(struct set *s, const char *structure, const char *field,
			  const char *old, const char *new)
{
	table_row(&s->table, (struct value[COL_COUNT]){
		[COL_STRUCTURE] = value_string(structure),
		[COL_FIELD] = value_string(field),
		[COL_OLD] = value_string(old),
		[COL_NEW] = value_string(new),
	});
}

/* Changes the bytes in memory by WORD, "FIELD=VALUE". */
static int assign(struct set *s, const char *word)
{
	char old[FIELDS_TEXT_MAX], new[FIELDS_TEXT_MAX], path[128];
	struct context *cx = &s->tool->cx;
	/* In JSON a time has its ISO form. */
	const struct out *style = report_is_text(&s->tool->report) ?
				  s->tool->out : NULL;
	size_t len = strcspn(word, "=");
	struct field field;
	int err;

	if (!word[len] || len >= sizeof(path))
		return tool_usage(s->tool, "'%s' is not FIELD=VALUE", word);
	memcpy(path, word, len);
	path[len] = '\0';
	if (field_resolve(&s->target.table, path, &field))
		return fail(cx, -EINVAL, "%s: %s has no such field", path,
			    s->tool->argv[1]);
	fields_format(&field, s->bytes, style, old);
	err = fields_parse(cx, &field, word + len + 1, s->bytes);
	if (err)
		return err;
	set_print_row(s, s->tool->argv[1], path, old,
		fields_format(&field, s->bytes, style, new));
	return 0;
}

static int change_fields(struct set *s)
{
	struct target *t = &s->target;
	uint8_t whole;
	int i, err;

	s->bytes = malloc(t->length);
	if (!s->bytes)
		return fail(&s->tool->cx, -ENOMEM, "structure");
	err = dev_read(s->overlay, &s->tool->cx, t->byte, s->bytes, t->length);
	if (err)
		return err;
	/* A bit is extracted to a byte of its own, and inserted at the end. */
	whole = *s->bytes;
	if (t->bit >= 0)
		*s->bytes = whole >> t->bit & 1;
	for (i = 2; i < s->tool->argc && !err; i++)
		err = assign(s, s->tool->argv[i]);
	if (err)
		return err;
	if (t->bit >= 0) {
		if (*s->bytes > 1)
			return fail(&s->tool->cx, -ERANGE, "bit: 0 or 1");
		*s->bytes = (uint8_t)((whole & ~(1u << t->bit)) |
				      *s->bytes << t->bit);
	}
	return dev_write(s->overlay, &s->tool->cx, t->byte, s->bytes,
			 t->length);
}

static void print_sum(void *arg, const char *structure, const char *field,
		      uint32_t old, uint32_t new)
{
	const struct field_table *table = field_table_find(structure);
	const struct field *f = field_find(table, field);
	char texts[2][FIELDS_TEXT_MAX];
	struct field at = *f;
	le32 le = le32_make(old);

	at.offset = 0;
	fields_format(&at, &le, NULL, texts[0]);
	le = le32_make(new);
	set_print_row(arg, structure, field, texts[0],
		fields_format(&at, &le, NULL, texts[1]));
}

static int set_seal(struct set *s)
{
	const struct seal_watcher watcher = { print_sum, s };
	const struct target *t = &s->target;
	struct context *cx = &s->tool->cx;
	const struct nilfs_geometry *geo;
	uint64_t pseg = t->log, blocknr;
	struct logfind f;
	int err;

	if (t->cover == TARGET_COVER_SUPER)
		return seal_super(s->overlay, cx, t->byte, &watcher);
	geo = &s->source.vol->geo;
	blocknr = t->byte >> geo->block_bits;
	if (t->cover == TARGET_COVER_BLOCK) {
		/* The log of the block, as it was before the change. */
		err = logfind_block(&f, cx, s->source.vol, blocknr);
		if (!err && f.part == LOGFIND_NONE)
			err = fail_said(cx, -ENOENT,
					"block %llu: in no log, so it has no checksum",
					(unsigned long long)blocknr);
		if (err)
			return err;
		pseg = f.log.pseg;
	}
	return seal_log(s->overlay, cx, geo, pseg, blocknr - pseg, &watcher);
}

/*
 * Of a volume with unsupported features, which the kernel would not mount for
 * writing, only the superblocks can be changed.
 */
static int check_writable(const struct set *s)
{
	const struct volume *vol = s->source.vol;
	struct nilfs_geometry g;
	enum rule rule;

	if (s->target.cover == TARGET_COVER_SUPER)
		return 0;
	rule = super_check_features(volume_super(vol));
	if (!rule && super_geometry(volume_super(vol), s->dev->size, &g) ==
			     RULE_SB_DEVICE_SIZE)
		rule = RULE_SB_DEVICE_SIZE;
	if (!rule)
		return 0;
	return fail(&s->tool->cx, -EUCLEAN, "%s: %s; nothing was written",
		    s->dev->name, rule_info(rule)->text);
}

/*
 * Writes all bytes from the first change to the last; if that fails, the old ones
 * again.
 */
static int set_commit(struct set *s)
{
	struct context *cx = &s->tool->cx, own;
	uint64_t off, from = UINT64_MAX, end = 0;
	size_t cursor = 0, len;
	uint8_t *old, *new;
	int err;

	while (overlay_next_range(s->overlay, &cursor, &off, &len)) {
		from = off < from ? off : from;
		end = off + len > end ? off + len : end;
	}
	len = (size_t)(end - from);
	old = calloc(2, len);
	if (!old)
		return fail(cx, -ENOMEM, "%zu bytes to be written", len);
	new = old + len;
	err = dev_read(s->dev, cx, from, old, len);
	if (!err)
		err = dev_read(s->overlay, cx, from, new, len);
	if (!err)
		err = context_cancelled(cx);
	if (err)
		goto out;
	err = dev_write(s->dev, cx, from, new, len);
	if (!err)
		err = dev_flush(s->dev, cx);
	context_child(cx, &own);
	if (err && (dev_write(s->dev, &own, from, old, len) ||
		    dev_flush(s->dev, &own)))
		tool_warn(s->tool, "%s: the old content cannot be written back: "
			  "bytes %llu to %llu may be old or new",
			  s->dev->name, (unsigned long long)from,
			  (unsigned long long)(from + len - 1));
out:
	free(old);
	return err;
}

/* A range of a device, and its content before a change. */
struct saved {
	uint64_t off;
	size_t len;
	uint8_t *old;
};

static int write_back(const struct saved *saved, size_t count, struct dev *dev,
		      const struct context *cx)
{
	struct context own;
	int err = 0;

	context_child(cx, &own);
	while (count--)
		err = dev_write(dev, &own, saved[count].off, saved[count].old,
				saved[count].len) ? -EIO : err;
	return dev_flush(dev, &own) ? -EIO : err;
}

int set_write_all(struct tool *tool, struct dev *overlay)
{
	struct dev *dev = overlay->under;
	struct context *cx = &tool->cx;
	uint64_t late[2] = { NILFS_SB_OFFSET_BYTES };
	struct saved *saved = NULL;
	size_t cursor = 0, count = 0, room = 0, i, len;
	uint8_t *old;
	uint64_t off;
	int err = 0;

	late[1] = super_offset2(dev->size);
	while (!err && overlay_next_range(overlay, &cursor, &off, &len)) {
		err = array_push(cx, &saved, &count, &room,
				 (struct saved){ off, len, malloc(len) });
		if (err)
			break;
		old = saved[count - 1].old;
		err = old ? dev_read(dev, cx, off, old, len) :
			    fail(cx, -ENOMEM, "%zu bytes to be written", len);
	}
	if (!err)
		err = context_cancelled(cx);
	if (err)
		goto out;
	err = overlay_commit_last(overlay, cx, late, 2);
	if (err && write_back(saved, count, dev, cx))
		tool_warn(tool, "%s: the old content cannot be written back: "
			  "some changes may be written", dev->name);
out:
	for (i = 0; i < count; i++)
		free(saved[i].old);
	free(saved);
	return err;
}

int set_open_device(struct dev **devp, struct tool *tool, const char *path)
{
	struct context *cx = &tool->cx;
	struct probe_use use;
	struct owner owner;
	int err;

	*devp = NULL;
	/* Even a read-only mount would not see the change. */
	err = probe_mounted(cx, path, NULL, &use);
	if (!err && use.kind != PROBE_UNUSED)
		err = fail(cx, -EBUSY, "%s: in use%s%s", path,
			   *use.where ? " at " : "", use.where);
	if (!err)
		err = devfile_open(devp, cx, path, DEVFILE_WRITE);
	if (err)
		return err;
	owner_find(&owner, cx, *devp);
	if (owner.foreign)
		return owner_fail(cx, *devp, &owner, "");
	owner_guard(*devp);
	return 0;
}

static int set_run(struct tool *tool, const void *options)
{
	const struct set_options *o = options;
	struct context *cx = &tool->cx;
	struct set s = {
		.tool = tool,
		.source = { .cx = cx, .cno = o->checkpoint },
	};
	struct dump_image *shared = tool->shell ? tool->shell->shared : NULL;
	int err = 0;

	if (!o->expert)
		return fail(cx, -EPERM,
			    "set changes a volume in place and needs --expert");
	/* In a shell the changes go to its overlay. */
	if (shared)
		s.dev = shared->dev;
	else
		err = set_open_device(&s.dev, tool, tool->argv[0]);
	if (!err)
		err = overlay_open(&s.overlay, cx, s.dev, false);
	s.source.dev = s.dev;
	if (!err)
		err = target_find(&s.target, &s.source, tool->argv[1]);
	if (!err)
		err = check_writable(&s);
	if (!err) {
		table_begin(&s.table, &tool->report, "changes", columns,
			    COL_COUNT);
		err = change_fields(&s);
		if (!err && o->fix)
			err = set_seal(&s);
		table_end(&s.table);
	}
	if (!err)
		err = set_commit(&s);
	free(s.bytes);
	target_source_close(&s.source);
	dev_close(s.overlay);
	if (shared)
		image_close_volume(shared);
	else
		dev_close(s.dev);
	return err;
}

const struct cli_command set_command = {
	.name = "set",
	.summary = "change a field by its name (writes; for experts)",
	.synopsis = "IMAGE STRUCTURE[:INDEX] FIELD=VALUE...",
	.about =
	"Changes fields of one structure in place.  A field has the name that\n"
	"`inode', `logs' and the others print, with the fields of an inner\n"
	"structure after a dot (cp_ifile_inode.i_size) and an index in brackets\n"
	"(i_bmap[2]).  A value is a number, names of flags (dirty,error; none), a\n"
	"time (2005-06-07T08:09:10Z), a UUID or a text.  The structures:\n"
	"\n" TARGET_HELP,
	.options = set_rows,
	.options_size = sizeof(struct set_options),
	.min_args = 3,
	.max_args = TOOL_ANY_ARGS,
	.run = set_run,
};
