// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The repair of the checkpoint file: computed in place (the derivation), or by a
 * new log.
 *
 * The whole file is repaired, independently of the findings: entries block by block,
 * then the counts and the list of snapshots, which is ordered by number.
 *
 * Most of an entry is the inode of its ifile.  If the map of the ifile can be
 * followed, the checkpoint exists, even if its number or flags are wrong.  If the
 * map cannot be followed, or if the block belongs elsewhere, the entry is taken
 * from an older copy of its block, or else computed from the logs.  If neither has
 * the entry, the checkpoint is marked as deleted, because nothing of it can be
 * mounted.
 *
 * The checkpoint that wrote a block existed at that time, even if the block has no
 * entry of it.  The entry of a deleted checkpoint keeps its number and time.  If
 * they are missing, the block is older than the checkpoint.  If entries of later
 * checkpoints have them, the block was created after the deletion.
 *
 * An entry is a snapshot if its flag or both neighbours in the list show it: an
 * extra snapshot costs space, but a lost one is lost data.  A deleted entry
 * with the flag is restored if the list contains it, because the kernel unlinks
 * a snapshot before it deletes it.
 *
 * A derivation changes blocks in place if the map leads to all of them.  It
 * precedes that of the DAT, because lifetimes derived from wrong ifiles would
 * end blocks of files.  It trusts the DAT; if that is wrong too, the derivation
 * does not explain the findings and is dropped.
 *
 * A log repairs the rest.  Correct blocks stay in place; if the map of the file
 * cannot be used, they are entered in a new one.  The counts of a checkpoint
 * are those of the pass over trees.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sparse.h"
#include "check/damage.h"
#include "fsck/checkpoints/cpblocks.h"
#include "fsck/derive/derived.h"
#include "fsck/derive/fileblocks.h"
#include "fsck/plan/fixers.h"
#include "log/directwriter.h"

#define SECTOR 512u

#define INVALID (1u << NILFS_CHECKPOINT_INVALID)
#define SNAPSHOT (1u << NILFS_CHECKPOINT_SNAPSHOT)
#define KNOWN_FLAGS                                                            \
	(INVALID | SNAPSHOT | 1u << NILFS_CHECKPOINT_SKETCH |                  \
	 1u << NILFS_CHECKPOINT_MINOR)

struct cpfix {
	struct fixer_job *job;
	struct volume *vol;
	const struct nilfs_geometry *geo;
	uint64_t latest;
	/* Destination of blocks: the file of the new checkpoint, or, if that is
	   NULL, the derivation, in place. */
	struct metafile *m;
	struct derived *d;
	bool rebuilt;		/* the new file began without blocks */

	struct cpblocks blocks;
	/* Checkpoints that the list of snapshots links to, forward and back. */
	struct sparse on, back;

	/* Of the blocks repaired so far: the latest time, and totals. */
	uint64_t time;
	uint64_t valid;
	uint64_t *snapshots;	/* ascending */
	size_t nsnapshots, snapshots_room;
};

/* Adds the neighbours in LINKS to the sets of linked checkpoints. */
static int note_links(struct cpfix *f, struct context *cx,
		      const struct nilfs_snapshot_list *links)
{
	uint64_t next = le64_get(links->ssl_next);
	uint64_t prev = le64_get(links->ssl_prev);
	int ret = 0;

	if (next && next <= f->latest)
		ret = sparse_add(&f->on, cx, next);
	if (ret >= 0 && prev && prev <= f->latest)
		ret = sparse_add(&f->back, cx, prev);
	return ret < 0 ? ret : 0;
}

/* Starts a repair for JOB: gathers the blocks, and the links of header and
   entries.  Call close_cpfix() also after a failure. */
static int open_cpfix(struct cpfix *f, struct context *cx,
		      struct fixer_job *job, struct metafile *m,
		      struct derived *d)
{
	struct cpblock b = { .data = malloc(job->vol->geo.block_size) };
	const struct nilfs_cpfile_header *header = b.data;
	const struct nilfs_checkpoint *cp;
	uint64_t cno, end;
	size_t i;
	int err = b.data ? 0 : fail(cx, -ENOMEM, "block of the cpfile");

	*f = (struct cpfix){
		.job = job,
		.vol = job->vol,
		.geo = &job->vol->geo,
		.latest = job->vol->latest.cno,
		.m = m,
		.d = d,
		.rebuilt = m && metafile_facts(m).empty,
	};
	if (!err)
		err = cpblocks_init(&f->blocks, cx, job->check);
	if (!err)
		err = sparse_init(&f->on, cx, f->latest + 1);
	if (!err)
		err = sparse_init(&f->back, cx, f->latest + 1);
	for (i = 0; i < f->blocks.n && !err; i++) {
		b.blkoff = f->blocks.blkoffs[i];
		err = cpblocks_read(&f->blocks, cx, &b);
		if (err || b.foreign)
			continue;
		if (!b.blkoff)
			err = note_links(f, cx, &header->ch_snapshot_list);
		cno = checkpoint_first(f->geo, b.blkoff);
		end = cno + checkpoint_count(f->geo, b.blkoff);
		for (; cno < end && !err; cno++) {
			cp = cpblocks_at(f->geo, b.data, cno);
			if (checkpoint_is_snapshot(cp) &&
			    le64_get(cp->cp_cno) == cno)
				err = note_links(f, cx, &cp->cp_snapshot_list);
		}
	}
	free(b.data);
	return err;
}

static void close_cpfix(struct cpfix *f)
{
	cpblocks_fini(&f->blocks);
	sparse_fini(&f->on);
	sparse_fini(&f->back);
	free(f->snapshots);
}

static void change_flags(struct nilfs_checkpoint *cp, uint32_t set,
			 uint32_t clear)
{
	cp->cp_flags = le32_make((le32_get(cp->cp_flags) | set) & ~clear);
}

/* Replaces CP, the entry of CNO in block B, by that of another copy, or of logs
   and DAT, or by a deleted one. */
static int salvage_entry(const struct cpfix *f, struct context *cx,
			 const struct cpblock *b, uint64_t cno,
			 struct nilfs_checkpoint *cp)
{
	le32 count = cp->cp_checkpoints_count;
	struct nilfs_checkpoint new;
	const char *how = "taken from an older log";
	int ret = cpblocks_entry(&f->blocks, cx, cno, b->blocknr, true, &new);
	bool deleted = ret > 0 && checkpoint_is_invalid(&new);

	if (ret < 0)
		return ret;
	if (!ret || (deleted && (cno == f->latest || cno == b->written))) {
		deleted = false;
		how = "restored from the logs";
		ret = fileblocks_checkpoint(f->job->check, cx, cno, f->time, &new);
		if (ret > 0)
			ret = cpblocks_is_followable(f->job->check, cx, &new,
						     cno);
		if (ret < 0)
			return ret;
		/* The damage may be in its ifile. */
		if (!ret && !b->foreign && checkpoint_check(cp, cno) == RULE_OK &&
		    !checkpoint_is_invalid(cp))
			return 0;
		if (!ret)
			fixers_note(f->job, "checkpoint %llu: lost, marked as "
				    "deleted", (unsigned long long)cno);
	}
	new.cp_checkpoints_count = count;
	if (!ret)
		new = (struct nilfs_checkpoint){
			.cp_flags = le32_make(INVALID),
			.cp_checkpoints_count = count,
			.cp_cno = le64_make(cno),
			.cp_create = le64_make(CHECKPOINT_LOST),
		};
	else if (!deleted && memcmp(cp, &new, sizeof(new)))
		fixers_note(f->job, "checkpoint %llu: %s",
			    (unsigned long long)cno, how);
	*cp = new;
	return 0;
}

/* Repairs an entry that may be wrong; CNO was created. */
static int repair_entry(const struct cpfix *f, struct context *cx,
			const struct cpblock *b, uint64_t cno,
			struct nilfs_checkpoint *cp)
{
	/* The rest of an entry, from here on, does not change once it is created. */
	const size_t at = offsetof(struct nilfs_checkpoint, cp_cno);
	bool on = sparse_test(&f->on, cno), back = sparse_test(&f->back, cno);
	bool exists = cno == f->latest || (on && back);
	bool numbered = le64_get(cp->cp_cno) == cno;
	bool valid = !checkpoint_is_invalid(cp);
	bool unknown = le32_get(cp->cp_flags) & ~KNOWN_FLAGS;
	/* If the number is right, unknown flags are the only error. */
	bool lost = b->foreign || b->old || (!numbered && unknown) ||
		    (!valid && (cno == b->written ||
				!checkpoint_was_made(cp, cno)));
	struct nilfs_checkpoint old;
	int ret = 0;

	if (cno < b->first && !exists)
		return 0;
	if (!lost) {
		change_flags(cp, 0, ~KNOWN_FLAGS);
		if (valid && numbered && b->origin == CPBLOCKS_MAPPED)
			ret = cpblocks_entry(&f->blocks, cx, cno, b->blocknr,
					     false, &old);
		if (ret > 0)
			ret = !memcmp((const char *)cp + at,
				      (const char *)&old + at,
				      sizeof(old) - at);
		if (!ret && (valid || exists ||
			     (checkpoint_is_snapshot(cp) && (on || back))))
			ret = cpblocks_is_followable(f->job->check, cx, cp, cno);
		lost = !ret && (valid || exists);
	}
	if (!ret && lost)
		ret = salvage_entry(f, cx, b, cno, cp);
	else if (ret > 0 && !valid)
		fixers_note(f->job, "checkpoint %llu: no longer marked as deleted",
			    (unsigned long long)cno);
	else if (ret > 0 && !numbered)
		fixers_note(f->job, "checkpoint %llu: number restored",
			    (unsigned long long)cno);
	if (ret < 0)
		return ret;
	if (!lost) {
		change_flags(cp, 0, ret ? INVALID : SNAPSHOT);
		cp->cp_cno = le64_make(cno);
	}
	/* Whether the list contains it, as far as is known. */
	if (checkpoint_is_invalid(cp) || checkpoint_is_snapshot(cp) ||
	    !(lost ? on || back : on && back))
		return 0;
	fixers_note(f->job, "checkpoint %llu: snapshot flag restored",
		    (unsigned long long)cno);
	change_flags(cp, SNAPSHOT, 0);
	return 0;
}

/* Replaces block BLKOFF by CONTENT. */
static int cpfix_set_block(const struct cpfix *f, struct context *cx,
			   uint64_t blkoff, const void *content)
{
	struct derived_block block = {
		.ino = NILFS_CPFILE_INO, .blkoff = blkoff,
	};
	void *data;
	int ret;

	if (f->m) {
		ret = metafile_change(f->m, cx, blkoff, &data, NULL);
		if (!ret)
			memcpy(data, content, f->geo->block_size);
		return ret;
	}
	ret = file_lookup(&f->vol->cpfile, cx, blkoff, &block.blocknr);
	if (!ret)
		return fail(cx, -EUCLEAN, "a block of the cpfile is missing");
	return ret < 0 ? ret : derived_set(f->d, cx, &block, content,
					   f->geo->block_size);
}

/* Reads block B, whose blkoff and data are set, repairs it, and stores it. */
static int cpfix_put_block(struct cpfix *f, struct context *cx,
			   struct cpblock *b)
{
	struct nilfs_checkpoint *cp, before;
	uint64_t cno = checkpoint_first(f->geo, b->blkoff);
	uint32_t left = checkpoint_count(f->geo, b->blkoff), valid = 0;
	bool changed, mapped;
	int err = cpblocks_read(&f->blocks, cx, b);

	changed = !b->vblocknr;
	mapped = b->origin == CPBLOCKS_MAPPED;
	for (; left-- && !err; cno++) {
		cp = cpblocks_at(f->geo, b->data, cno);
		before = *cp;
		if (cno <= f->latest)
			err = repair_entry(f, cx, b, cno, cp);
		else if (!checkpoint_is_invalid(cp))
			cp->cp_flags = le32_make(INVALID);
		changed |= memcmp(&before, cp, sizeof(before)) != 0;
		valid += !checkpoint_is_invalid(cp);
		if (checkpoint_is_invalid(cp))
			continue;
		if (le64_get(cp->cp_create) > f->time &&
		    le64_get(cp->cp_create) <= f->vol->latest.ctime)
			f->time = le64_get(cp->cp_create);
		if (!checkpoint_is_snapshot(cp))
			continue;
		if (!err)
			err = array_push(cx, &f->snapshots, &f->nsnapshots,
					 &f->snapshots_room, cno);
	}
	if (err)
		return err;
	f->valid += valid;
	cp = b->data;
	if (b->blkoff && le32_get(cp->cp_checkpoints_count) != valid) {
		cp->cp_checkpoints_count = le32_make(valid);
		changed = true;
	}
	/* If the DAT is wrong, it leads to other blocks, which must not be
	   changed. */
	if (!f->m && (!mapped || !b->newest))
		return fail(cx, -EUCLEAN, "a block of the cpfile is missing");
	if (b->origin == CPBLOCKS_OLD && !valid && b->blkoff)
		return 0;
	if (changed)
		err = cpfix_set_block(f, cx, b->blkoff, b->data);
	else if (f->rebuilt || !mapped)
		err = metafile_adopt(f->m, cx, b->blkoff, b->vblocknr);
	if (!err && (mapped ? changed : valid))
		fixers_note(f->job, "checkpoints of block %llu: %s",
			    (unsigned long long)b->blkoff,
			    mapped ? "corrected" : "restored from the logs");
	return err;
}

/* Writes SIZE bytes NEW at OFFSET of block BLKOFF, which was stored before: 1,
   0 if they are equal. */
static int cpfix_change_bytes(const struct cpfix *f, struct context *cx,
			      uint64_t blkoff, size_t offset, const void *new,
			      size_t size)
{
	uint32_t block_size = f->geo->block_size;
	char *buf = calloc(1, block_size);
	const void *data;
	uint64_t blocknr;
	int ret;

	if (!buf)
		return fail(cx, -ENOMEM, "block of the cpfile");
	if (f->m) {
		ret = metafile_look(f->m, cx, blkoff, &data);
		if (ret > 0)
			memcpy(buf, data, block_size);
	} else {
		ret = file_lookup(&f->vol->cpfile, cx, blkoff, &blocknr);
		if (ret > 0)
			ret = dev_read(f->d->dev, cx, blocknr * block_size, buf,
				       block_size);
	}
	if (ret >= 0 && memcmp(buf + offset, new, size)) {
		memcpy(buf + offset, new, size);
		ret = cpfix_set_block(f, cx, blkoff, buf);
		ret = ret ? ret : 1;
	} else if (ret > 0) {
		ret = 0;
	}
	free(buf);
	return ret;
}

/* Stores all blocks, links the snapshots and counts them in the header. */
static int write_cpfile(struct cpfix *f, struct context *cx)
{
	struct nilfs_cpfile_header header = { .ch_ncheckpoints = le64_make(0) };
	struct cpblock b = { .data = malloc(f->geo->block_size) };
	struct nilfs_snapshot_list links;
	uint64_t prev = 0, next;
	bool changed = false;
	size_t i;
	int ret = b.data ? 0 : fail(cx, -ENOMEM, "block of the cpfile");

	for (i = 0; i < f->blocks.n && !ret; i++) {
		b.blkoff = f->blocks.blkoffs[i];
		ret = cpfix_put_block(f, cx, &b);
	}
	free(b.data);
	for (i = 0; i < f->nsnapshots && ret >= 0; i++) {
		next = i + 1 < f->nsnapshots ? f->snapshots[i + 1] : 0;
		links.ssl_next = le64_make(next);
		links.ssl_prev = le64_make(prev);
		prev = f->snapshots[i];
		ret = cpfix_change_bytes(
			f, cx, checkpoint_blkoff(f->geo, prev),
			checkpoint_offset(f->geo, prev) +
				offsetof(struct nilfs_checkpoint,
					 cp_snapshot_list),
			&links, sizeof(links));
		changed |= ret > 0;
	}
	if (changed)
		fixers_note(f->job, "list of snapshots: rebuilt");
	if (ret < 0)
		return ret;
	header.ch_ncheckpoints = le64_make(f->valid);
	header.ch_nsnapshots = le64_make(f->nsnapshots);
	header.ch_snapshot_list.ssl_next =
		le64_make(prev ? f->snapshots[0] : 0);
	header.ch_snapshot_list.ssl_prev = le64_make(prev);
	ret = cpfix_change_bytes(f, cx, 0, 0, &header, sizeof(header));
	if (ret > 0)
		fixers_note(f->job, "cpfile header: counts set to %llu "
			    "checkpoints, %zu of them snapshots",
			    (unsigned long long)f->valid, f->nsnapshots);
	return ret < 0 ? ret : 0;
}

int fix_checkpoints_derive(struct derived *d, struct context *cx,
			   struct fixer_job *job)
{
	struct cpfix f;
	int err = open_cpfix(&f, cx, job, NULL, d);

	if (!err && liveblocks_is_whole(&f.blocks.live))
		err = write_cpfile(&f, cx);
	close_cpfix(&f);
	if (damage_is(err))
		derived_drop(d);
	err = damage_forgive(cx, err);
	return err ? err : derived_seal(d, cx, job->check);
}

/*
 * Repairs the field of an entry, or the inode of a metadata file, that a
 * finding is about.  The new checkpoint starts with the counts of the latest
 * entry.  Inodes of the super root are right in every log written here, so one
 * log suffices.  The same holds for the new checkpoint's ifile; inodes of other
 * ifiles are in the entries of their checkpoints.
 */
static int repair_finding(struct cpfix *f, struct context *cx,
			  const struct finding *fix)
{
	const struct place *place = &fix->place;
	bool of_inode = place->kind == PLACE_INODE;
	uint64_t cno = of_inode ? place->cno : place->number;
	bool ifile = place->ino == NILFS_IFILE_INO;
	bool inodes = fix->rule == RULE_INODE_COUNT;
	bool blocks = fix->rule == RULE_INODE_COUNT_BLOCKS;
	le64 want = le64_make(fix->want);
	struct nilfs_checkpoint cp;
	const void *data;
	void *header;
	int ret;

	if (!of_inode && !inodes && !blocks && fix->rule != RULE_CP_CREATE)
		return 0;
	if (of_inode && fix->rule == RULE_INODE_BLOCKS &&
	    (!ifile || cno == f->latest))
		directwriter_recount(f->job->writer, place->ino,
				     fix->want / (f->geo->block_size / SECTOR));
	if (of_inode)
		fixers_note(f->job, "metadata file inodes: fields "
			    "corrected");
	if (of_inode && !ifile)
		return metafile_change(f->m, cx, 0, &header, NULL);
	ret = metafile_look(f->m, cx, checkpoint_blkoff(f->geo, cno), &data);
	if (ret <= 0)
		return ret;
	memcpy(&cp, (const char *)data + checkpoint_offset(f->geo, cno),
	       sizeof(cp));
	if (of_inode)
		directwriter_plain(&cp.cp_ifile_inode);
	if (of_inode && fix->rule == RULE_INODE_BLOCKS)
		cp.cp_ifile_inode.i_blocks = want;
	if (inodes)
		cp.cp_inodes_count = want;
	else if (blocks)
		cp.cp_blocks_count = want;
	else if (!of_inode)
		cp.cp_create = want;
	ret = cpfix_change_bytes(f, cx, checkpoint_blkoff(f->geo, cno),
				 checkpoint_offset(f->geo, cno), &cp,
				 sizeof(cp));
	if (ret > 0 && !of_inode)
		fixers_note(f->job, "checkpoint %llu: %s set to %llu",
			    (unsigned long long)cno,
			    inodes ? "inode count" :
			    blocks ? "block count" : "time",
			    (unsigned long long)fix->want);
	if (ret >= 0 && (inodes || blocks) && cno == f->latest &&
	    !checkpoint_is_invalid(&cp))
		directwriter_counts(f->job->writer,
				    le64_get(cp.cp_inodes_count),
				    le64_get(cp.cp_blocks_count));
	return ret < 0 ? ret : 0;
}

int fix_checkpoints(struct fixer_job *job, struct context *cx,
		    const struct finding *fixes, size_t n)
{
	struct metafile *m = directwriter_file(job->writer, NILFS_CPFILE_INO);
	struct cpfix f;
	size_t i;
	int err;

	if (cpblocks_is_doubtful(job->check) && !metafile_facts(m).empty)
		return 0;
	/* mkfs.nilfs2 of nilfs-utils counted the block of the header as one
	   sector; a rebuilt one counts as a block. */
	for (i = 0; i < n; i++)
		if (fixes[i].rule == RULE_CP_HEADER_MISSING)
			directwriter_recount(job->writer, NILFS_CPFILE_INO,
					     metafile_facts(m).nblocks);
	err = open_cpfix(&f, cx, job, m, NULL);
	if (!err && !f.rebuilt && !liveblocks_is_whole(&f.blocks.live))
		fixers_note(job, "checkpoint file: not changed");
	else if (!err)
		err = write_cpfile(&f, cx);
	for (i = 0; i < n && !err; i++)
		err = repair_finding(&f, cx, &fixes[i]);
	close_cpfix(&f);
	return err;
}
