#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Deleted files of which only logs are left: what dump.nilfs2 finds and exports of
# them is what the kernel saw in its checkpoints before these were deleted.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

# One volume for all: each test has a copy, and looks, the manifests.
setup_file() {
	need_guest uml
	export TZ=UTC0 BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	cd "$BATS_FILE_TMPDIR" || return 1
	looked_at 24M < <(changes)
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	cp --sparse=always "$BATS_FILE_TMPDIR/image" image
	mapfile -t looks < <(printf '%s\n' "$BATS_FILE_TMPDIR"/manifest.* |
		sort -V)
}

# Files of all maps: in the inode, one level, two levels, with holes, symbolic
# links; a directory in a directory; then all is deleted, and a bit of it the
# directory that the names were in keeps.
changes() {
	guest_look
	cat <<-'EOF'
	cd "$MNT"
	mkdir -p stays gone/inner/most
	noises gone/f 1 30 0 700
	noises stays/g 1 30 0 900
	noise 77 1500000 >gone/inner/large
	noise 78 4000 >gone/inner/most/small
	ln -s "target of a link" gone/inner/link
	truncate -s 5M gone/inner/holes
	put gone/inner/holes 1048576 3 9000
	put gone/inner/holes 4194304 4 100
	: >gone/empty
	mkfifo gone/fifo
	look
	mv gone/f1 gone/renamed
	put gone/f2 0 9 100
	look
	rm stays/g*5
	rm -r gone
	look
	: >other
	look
	cd /
	nilfs_umount
	EOF
}

# delete_old: delete the checkpoints that have the files.
delete_old() {
	dump.nilfs2 checkpoints --json image |
		gojq -r '.checkpoints[].checkpoint' | sort -n >all
	gc.nilfs2 -q --free 0 --delete-checkpoints "..$(tail -n 2 all |
		head -n 1)" image || [ "$(tail -n 1 all)" -gt 1 ]
	[ "$(dump.nilfs2 checkpoints --json image |
		gojq '.checkpoints | length')" -lt 4 ]
}

@test "what the deleted checkpoints had is found and exported" {
	[ ${#looks[@]} -eq 4 ]

	# While the checkpoints are there, no log is needed.
	dump.nilfs2 find --deleted --json image >before
	gojq -e '.files | length > 30 and all(.checkpoint != null and
		.whole_bytes == null)' before
	delete_old
	dump.nilfs2 find --deleted --json image >after
	gojq -e '.files | all(.checkpoint == null and
		.whole_bytes == .size)' after
	diff <(gojq -r '.files[].path' before | sort) \
		<(gojq -r '.files[].path' after | sort)
	for key in inode size type mtime mode uid target generation; do
		diff <(gojq -r ".files[] | \"\(.path) \(.$key)\"" before | sort) \
			<(gojq -r ".files[] | \"\(.path) \(.$key)\"" after | sort)
	done

	# The contents are what the kernel saw.
	run -0 dump.nilfs2 export --deleted image out.tar
	mkdir out
	tar -x -C out -f out.tar
	[ "$(readlink out/gone/inner/link)" = "target of a link" ]
	[ -p out/gone/fifo ]
	awk -F'\t' '$1 == "f" && $14 ~ /^gone|g[0-9]*5$/ {
		sub("sha256:", "", $12); print $12 "  out/" $14 }' \
		"${looks[1]}" >sums
	[ "$(wc -l <sums)" -ge 35 ]
	sha256sum --quiet -c sums
	run -0 dump.nilfs2 export --deleted image - '/gone/inner/*'
	run -0 dump.nilfs2 find -d image -t l
	[ "$output" = "       -  /gone/inner/link" ]
	run -0 dump.nilfs2 find -dl --bytes image /gone/inner/large
	[[ ${lines[1]} == "       - "*" 1500000   100% "*/gone/inner/large ]]
}

# judge: of each file that is offered, which is in original by the name that names
# has for its inode, what is called whole is right, and what is not right is zeros;
# counts in left and lost.
judge() {
	local counts

	dump.nilfs2 find --deleted --json image >found
	rm -rf out out.tar
	run dump.nilfs2 export --deleted image out.tar
	echo "$output"
	mkdir out
	tar -x -C out -f out.tar
	counts=$(gojq -r '.files[] | select(.whole_bytes < .size or .type == "file") |
		"\(.type) \(.whole_bytes) \(.size) \(.inode) \(.path)"' found |
		perl -e '
		sub content {
			open my $file, "<:raw", $_[0] or die "$_[0]: $!\n";
			local $/;
			return <$file>;
		}
		my ($status, $partly, $left, $lost) = (shift, 0, 0, 0);
		my %name = map { /(.*)\t(.*)/ } <ARGV>;
		while (<STDIN>) {
			my ($type, $whole, $size, $ino, $path) =
				/^(\S+) (\d+) (\d+) (\d+) (.*)/ or die;
			$partly = 1 if $whole < $size;
			next if $type ne "file";
			my $got = content("out/$path");
			my $wanted = content("original/$name{$ino}");
			$left++, next if $got eq $wanted;
			$lost++;
			for (my $at = 0; $at < length $wanted; $at += 4096) {
				my $y = substr $wanted, $at, 4096;
				my $x = length $got > $at ?
					substr $got, $at, 4096 : "";
				next if $x eq $y;
				$whole += length $y;
				die "$path: wrong block\n" if $x =~ /[^\0]/;
			}
			die "$path: more is whole\n" if $whole > length $wanted;
		}
		die "status $status\n" if $status != $partly;
		print "$left $lost\n"' "$status" names) || return
	left=$((left + ${counts% *}))
	lost=$((lost + ${counts#* }))
}

@test "what was overwritten is not offered, what is left is right" {
	dump.nilfs2 export -c "${looks[1]##*.}" image original
	cut -f11,14 "${looks[1]}" >names
	delete_old
	gc.nilfs2 -q --protect 0 image
	lost=0 left=0
	judge
	[ "$left" -gt 30 ]
	[ "$lost" -eq 0 ]

	# By the kernel, which takes clean segments first that were never used.
	guest image <<-'EOF'
	nilfs_mount "$DEV1"
	filler 99 15500000 >"$MNT/new"
	nilfs_umount
	EOF
	[ "$status" -eq 0 ] || { echo "$errors"; false; }
	judge

	# Halves of the clean segments that had the files, the second ones first.
	dump.nilfs2 segments --json -o segment image |
		gojq '.segments[].segment' >used
	for half in 1 0; do
		for segment in $(seq 0 10 | grep -vxf used); do
			part=$((segment * 2 + half))
			put_noise image $((part * 131072)) 131072 $part
			judge
		done
	done
	echo "lost $lost, left $left"
	[ "$lost" -gt 0 ]
	[ "$left" -gt 30 ]
}

# put_number FILE OFFSET NUMBER: 64 bits.
put_number() {
	perl -e 'print pack "Q<", shift' "$3" |
		dd of="$1" oflag=seek_bytes seek="$2" conv=notrunc status=none
}

# sizes: of what is offered.
sizes() {
	dump.nilfs2 find --deleted --json image |
		gojq -r '.files[] | "\(.path) \(.size) \(.whole_bytes)"' | sort
}

@test "inodes of a damaged log are not offered, older ones of the files are" {
	local block first ino sum

	# It was changed before the second look.
	read -r ino sum < <(awk -F'\t' '$14 == "gone/f2" {
		sub("sha256:", "", $12); print $11, $12 }' "${looks[0]}")
	# 32 inodes in a block, after the descriptors and the bitmap.
	block=$(dump.nilfs2 bmap -b -c "${looks[1]##*.}" image ifile |
		awk -v at=$((2 + ino / 32)) \
			'$1 == at && $NF == "data" { print $5 }')
	delete_old
	gc.nilfs2 -q --protect 0 image
	sizes >before
	grep '^/gone/f2 1400 1400$' before
	# The log has the new name of another file, too.
	sed 's/renamed/f1/' before | sort >older

	# Its size; and the generation, which makes it another file.
	first=$((block * 4096 + ino % 32 * 128))
	put_number image $((first + 8)) $((1 << 62))
	diff older <(sizes)
	put_number image $((first + 120)) 77
	diff older <(sizes)
	run -0 dump.nilfs2 export --deleted image out.tar
	mkdir out
	tar -x -C out -f out.tar
	sha256sum -c <<<"$sum  out/gone/f2"
}

@test "nothing is left after purging" {
	delete_old
	gc.nilfs2 -q --protect 0 --purge image
	run -0 dump.nilfs2 find --deleted image
	[ "$output" = "dump.nilfs2: no file was found" ]
}
