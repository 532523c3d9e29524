// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The last word of a check: one line for people, as other checkers have it,
 * and one object for scripts.
 *
 * What is said about the volume is what its headers count.  Where one of them
 * cannot be read, the passes have said so, and the counts are left out.
 */
#include "fsck/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vol/cptable.h"
#include "vol/sutable.h"

/* As the SUFILE has it; a count that is wrong is a finding. */
static uint64_t used_segments(uint64_t nsegments, uint64_t nclean)
{
	return nclean < nsegments ? nsegments - nclean : 0;
}

static int gather_counts(struct summary *s, struct context *cx,
			 struct volume *vol)
{
	struct nilfs_cpfile_header cpfile;
	struct nilfs_sufile_header sufile;
	struct nilfs_checkpoint cp;
	int err = cptable_header(vol, cx, &cpfile);

	if (!err)
		err = cptable_read(vol, cx, s->cno, &cp);
	if (!err)
		err = sutable_header(vol, cx, &sufile);
	if (err)
		return err;
	s->files = le64_get(cp.cp_inodes_count);
	s->snapshots = le64_get(cpfile.ch_nsnapshots);
	s->segments = vol->geo.nsegments;
	s->used_segments = used_segments(s->segments,
					 le64_get(sufile.sh_ncleansegs));
	return 0;
}

void summary_gather(struct summary *s, struct context *cx,
		    const struct check *c)
{
	const struct findings *f = c->findings;
	unsigned int state;

	s->fatal = findings_count_severity(f, RULE_FATAL);
	s->errors = findings_count_severity(f, RULE_ERROR) - s->fatal;
	s->warnings = findings_count_severity(f, RULE_WARNING) - s->errors -
		      s->fatal;
	s->history = findings_count_history(f);
	s->open = c->vol != NULL;
	if (!s->open)
		return;
	state = le16_get(volume_super(c->vol)->s_state);
	s->unmounted = state & NILFS_VALID_FS;
	s->has_errors = state & NILFS_ERROR_FS;
	s->cno = c->vol->latest.cno;
	s->counted = !gather_counts(s, cx, c->vol);
	fail_clear(cx);
}

#define VERDICT_MAX 160

static void add_losses(const struct summary *s, char text[VERDICT_MAX])
{
	size_t n = strlen(text);

	if (s->losses)
		snprintf(text + n, VERDICT_MAX - n, ", %" PRIu64 " loss%s%s",
			 s->losses, s->losses == 1 ? "" : "es",
			 s->losses_known ? "" : " and perhaps more");
	else if (!s->losses_known)
		snprintf(text + n, VERDICT_MAX - n,
			 ", losses could not be determined");
}

static void verdict_text(const struct summary *s, char text[VERDICT_MAX])
{
	uint64_t errors = s->fatal + s->errors;

	if (!errors && !s->warnings)
		snprintf(text, VERDICT_MAX, s->repaired ? "repaired" : "clean");
	else
		snprintf(text, VERDICT_MAX,
			 "%s%" PRIu64 " error%s, %" PRIu64 " warning%s%s",
			 s->repaired ? "repaired, but " : "", errors,
			 errors == 1 ? "" : "s", s->warnings,
			 s->warnings == 1 ? "" : "s",
			 s->repaired ? " left" : "");
	add_losses(s, text);
}

static void put_line(const struct summary *s, struct report *r)
{
	char verdict[VERDICT_MAX];

	verdict_text(s, verdict);
	if (!s->counted) {
		report_text(r, "%s: %s", s->device, verdict);
		return;
	}
	report_text(r, "%s: %s, %" PRIu64 " files, checkpoint %" PRIu64
		    ", %" PRIu64 "/%" PRIu64 " segments", s->device, verdict,
		    s->files, s->cno, s->used_segments, s->segments);
}

static void put_count(const struct summary *s, struct report *r,
		      const char *key, const char *label, uint64_t v)
{
	report_value(r, VALUE_U64, key, label,
		     s->counted ? value_u64(v) : value_absent());
}

static void put_state(const struct summary *s, struct report *r)
{
	report_value(r, VALUE_BOOL, "unmounted", "Unmounted",
		     s->open ? value_bool(s->unmounted) : value_absent());
	report_value(r, VALUE_BOOL, "error_state", "Error state",
		     s->open ? value_bool(s->has_errors) : value_absent());
	report_value(r, VALUE_U64, "checkpoint", "Checkpoint",
		     s->open ? value_u64(s->cno) : value_absent());
}

void summary_report(const struct summary *s, struct report *r)
{
	if (report_is_text(r)) {
		put_line(s, r);
		return;
	}
	report_begin(r, "summary", NULL);
	report_string(r, "device", "Device", s->device);
	report_value(r, VALUE_BOOL, "clean", "Clean",
		     value_bool(!s->fatal && !s->errors && s->losses_known));
	report_value(r, VALUE_BOOL, "complete", "Complete",
		     value_bool(s->complete));
	report_value(r, VALUE_BOOL, "repaired", "Repaired",
		     value_bool(s->repaired));
	report_u64(r, "losses", "Losses", s->losses);
	report_value(r, VALUE_BOOL, "losses_known", "Losses known",
		     value_bool(s->losses_known));
	report_u64(r, "fatal", "Fatal", s->fatal);
	report_u64(r, "errors", "Errors", s->errors);
	report_u64(r, "warnings", "Warnings", s->warnings);
	report_u64(r, "history", "History", s->history);
	put_state(s, r);
	put_count(s, r, "snapshots", "Snapshots", s->snapshots);
	put_count(s, r, "files", "Files", s->files);
	put_count(s, r, "segments", "Segments", s->segments);
	put_count(s, r, "used_segments", "Used segments", s->used_segments);
	report_end(r);
}
