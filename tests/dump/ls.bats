#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 ls, against the manifests that the kernel's view of the same
# images gave: every column but the content of files.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
}

# listing_manifest: the lines of a manifest, from `ls -lR --json`.
listing_manifest() {
	perl -MJSON::PP -e '
		my %types = (file => "f", directory => "d", symlink => "l",
			block => "b", character => "c", fifo => "p",
			socket => "s");
		sub bytes {
			my ($row, $key) = @_;
			return pack "H*", $row->{"${key}_hex"}
				if defined $row->{"${key}_hex"};
			my $text = $row->{$key};
			utf8::encode($text);
			return $text;
		}
		sub escaped {
			my ($text) = @_;
			$text =~ s/([^\x20-\x5b\x5d-\x7e])/
				sprintf "\\%03o", ord $1/gex;
			return $text;
		}
		# As stat says it: half a second before 1970 is -0.5.
		sub moment {
			my ($sec, $nsec) = @_;
			return sprintf "%d.%09d", $sec, $nsec
				if $sec >= 0 || !$nsec;
			return sprintf "%s%d.%09d", $sec == -1 ? "-" : "",
				$sec + 1, 1000000000 - $nsec;
		}
		local $/;
		for my $row (@{decode_json(<STDIN>)->{files}}) {
			my $path = bytes($row, "path");
			$path =~ s,^/,,;
			my $device = defined $row->{major} ?
				"$row->{major}:$row->{minor}" : "-";
			my $target = defined $row->{target} ?
				"target:" . escaped(bytes($row, "target")) :
				"-";
			print join("\t", $types{$row->{type}},
				sprintf("%04o", $row->{mode}),
				@$row{qw(uid gid links size blocks)},
				moment(@$row{qw(mtime mtime_nsec)}),
				moment(@$row{qw(ctime ctime_nsec)}),
				$device, $row->{inode}, $target, "-",
				$path eq "" ? "." : escaped($path)), "\n";
		}' | LC_ALL=C sort
}

# The content of files is not in a listing, and links are seen by number.
without_content() {
	manifest --drop link - <"$1" |
		sed -E 's/\t(sha256|runs):[0-9a-f]*\t/\t-\t/' | LC_ALL=C sort
}

listing_equal() {
	local cno wanted

	while read -r cno wanted; do
		echo "checkpoint $cno"
		diff <(without_content "$wanted") <(dump.nilfs2 ls -lR --json \
			-c "$cno" "$corpus/$1/image" | listing_manifest) ||
			return 1
	done < <(checkpoints_of "$1")
}

@test "ls -lR --json is what the kernel saw, with inodes, sizes and times" {
	each_image listing_equal
}

# Modes, owners, sizes and names as stat has them of an exported copy.
@test "ls -l in words" {
	need_root
	make_room
	dump.nilfs2 export "$corpus/special/image" "$room/d"
	cd "$room/d"
	wanted=$(for name in modes/* types/[bcf]*; do
		stat -c '%A %h %u %g %s %Hr,%Lr' "$name"
	done | awk '{ print $1, $2, $3, $4, /^[bc]/ ? $6 : $5 }')
	cd /
	drop_room
	run -0 bash -c "dump.nilfs2 ls -l --bytes '$corpus/special/image' modes &&
		dump.nilfs2 ls -l --bytes '$corpus/special/image' /types"
	got=$(grep -v '^MODE' <<<"$output" |
		awk '$9 !~ /^(socket|symlink.*|zero)$/ {
			print $9, $1, $2, $3, $4, $5 }' | LC_ALL=C sort |
		cut -d' ' -f2-)
	[ -n "$got" ]
	same "$(LC_ALL=C sort <<<"$wanted")" "$(LC_ALL=C sort <<<"$got")"
}

@test "names that are no text are escaped, and can be given back" {
	run -0 dump.nilfs2 ls "$corpus/special/image" /names
	while read -r line; do
		printf '%b\n' "$line"
	done <<<"$output" | LC_ALL=C sort >"$BATS_TEST_TMPDIR/got"
	grep -P '\tnames/[^/]*$' "$corpus/special/manifest" |
		sed 's,.*\tnames/,,' | while read -r line; do
		printf '%b\n' "${line//\\/\\0}"
	done | LC_ALL=C sort | cmp - "$BATS_TEST_TMPDIR/got"
}

@test "a file, a directory, the dots, nothing" {
	image=$corpus/snapshots/image
	run -0 dump.nilfs2 ls -c 2 "$image" d/f7
	[ "$output" = /d/f7 ]
	run -0 dump.nilfs2 ls -c 2 -a "$image" /d/
	[ "${#lines[@]}" -eq 22 ]
	[[ ${lines[0]},${lines[1]} == .,.. ]]
	run -0 dump.nilfs2 ls -c 2 -R "$image"
	[ "${#lines[@]}" -eq 25 ]
	[ "${lines[0]}" = / ]
	run -1 dump.nilfs2 ls "$image" d/f7/x
	run -1 dump.nilfs2 ls -c 99999 "$image"
}

@test "--full-time has nanoseconds, in UTC" {
	wanted=$(TZ=UTC perl -ne 'use POSIX "strftime";
		my @f = split /\t/; chomp $f[13]; next if $f[13] ne "d/f7";
		my ($s, $n) = split /\./, $f[7];
		print strftime("%Y-%m-%d %H:%M:%S", gmtime $s), ".${n} +0000"' \
		"$corpus/snapshots/manifest.2")
	run -0 dump.nilfs2 ls --full-time --utc -c 2 "$corpus/snapshots/image" d/f7
	[[ ${lines[1]} == *" $wanted  /d/f7" ]]
}

# A mount does not say so.
@test "an older state is not shown without a word" {
	image=$(copy_image snapshots)
	read -r log cno < <(dump.nilfs2 info --json "$image" |
		gojq -r '.latest | "\(.log) \(.checkpoint)"')
	dump.nilfs2 ls -lR -c $((cno - 1)) "$image" >want
	read -r day time < <(awk -v cno=$((cno - 1)) '$1 == cno { print $2, $3 }' \
		"$corpus/snapshots/lscp")
	dump.nilfs2 set --expert "$image" "log:$log" ss_bytes=1 >/dev/null
	run -0 --separate-stderr dump.nilfs2 ls -lR "$image"
	diff want - <<<"$output"
	[ "$stderr" = "dump.nilfs2: $image: the log of checkpoint $cno is damaged: the latest state shown is checkpoint $((cno - 1)) of $day $time +0000; fsck.nilfs2 -n lists the damage, -y repairs it" ]
	for command in info checkpoints "find --inodes"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr dump.nilfs2 $command "$image"
		[ "$(grep -c "of checkpoint $cno is damaged" <<<"$stderr")" -eq 1 ]
	done
}
