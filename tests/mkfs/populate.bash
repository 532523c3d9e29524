# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests of populated volumes share: source trees, what a volume made
# of them must show, and what happens to it under a kernel.  Load it after mkfs
# and ../kernel/lab.

populate_dir=$BATS_TEST_DIRNAME

# make_tree KIND DIR BLOCK_SIZE BLOCKS_PER_SEGMENT: see tree.pl.
make_tree() {
	perl "$populate_dir/tree.pl" "$1" "$2" "$3" $(($3 * $4))
}

# wanted [-t] <MANIFEST: what the volume's manifest must be, from that of its
# source: ctime is mtime, a directory's links are its subdirectories and two
# more.  -t: without times.
wanted() {
	perl -ne '
		BEGIN { our $times = !(@ARGV && shift @ARGV) }
		chomp;
		my @f = split /\t/, $_, -1;
		$f[8] = $f[7];
		@f[7, 8] = ("-", "-") if !$times;
		if ($f[0] eq "d" && $f[13] ne ".") {
			$subdirs{$f[13] =~ m,(.*)/, ? $1 : "."}++;
		}
		push @rows, \@f;
		END {
			for my $f (@rows) {
				$f->[4] = 2 + ($subdirs{$f->[13]} || 0)
					if $f->[0] eq "d";
				print join("\t", @$f), "\n";
			}
		}' -- "$@"
}

# The columns in which a volume differs from its source.
own=ino,blocks,dirsize

# need_archives FILE: skip where mkfs.nilfs2 reads no archives, such as FILE.
need_archives() {
	local said

	said=$(mkfs -q -B 64 --size 64M -d "$1" archived 2>&1) ||
		[[ $said != *libarchive* ]] || skip "$said"
	rm -f archived
}

source_manifest() {
	manifest --drop "$own" "$1" | wanted "${@:2}"
}

volume_manifest() {
	manifest --drop "$own${1-}" -
}

# merge_layers LOWER UPPER DIR: what a layer over another must look like.
merge_layers() {
	local path

	cp -a "$1" "$3"
	while IFS= read -r -d '' path; do
		if [ ! -d "$2/$path" ] || [ -L "$2/$path" ] ||
		   [ ! -d "$3/$path" ] || [ -L "$3/$path" ]; then
			rm -rf "${3:?}/$path"
		fi
	done < <(cd "$2" && find . -mindepth 1 -print0)
	cp -aT "$2" "$3"
}

# churn DIR BLOCK_SIZE: change a tree made by tree.pl, as a user of the volume
# would; every form of block map is made longer, shorter, denser, or goes.
# Runs in the guest and on the host, where it says what is wanted.
churn() {
	local b=$2 i

	cd "$1" || return
	put sizes/6-blocks-0 $((6 * b)) 1 $((2 * b))
	put sizes/5-blocks--1 $((5 * b)) 2 $b
	truncate -s $((3 * b + 1)) sizes/7-blocks-1
	put sizes/3-nodes--1 $((40 * b)) 3 $((300 * b))
	truncate -s $((b * 70)) sizes/3-nodes-1
	truncate -s 0 sizes/node-0
	rm sizes/node-1 sizes/1-blocks-0
	scatter holes/comb 4096 1600 150 4
	put holes/all 5000 5 100
	put holes/all-large 4000000 6 20000
	put holes/huge $((1 << 35)) 7 4096
	put holes/direct $b 8 $((3 * b))
	truncate -s 9999 holes/middle
	sync
	put large/segments 10000 9 150000
	truncate -s 70001 large/segment-less-1
	rm large/segment-0 many/*[13579] many-links/*[02468]
	for ((i = 0; i < 100; i++)); do
		echo "$i" >"many/new-$i"
	done
	mv many/new-0 many/name-of-entry-number-2
	mv types/dir names/moved
	ln -f links/z links/none
	ln types/file types/more
	rm -rf deep/*/*/*/* types/fifo types/link-57 empty
	chmod 4711 modes/f0644
	mkdir -p fresh/directory
	ln -s "$(printf '%0200d' 7)" fresh/link
	noise 10 123456 >fresh/file
	sync
}

# The ranges of holes/huge that hold data, before churn() and after.
huge_ranges() {
	echo "0 4096
	$((1 << 30)) 8192
	$((1 << 35)) 4096
	$((1 << 38)) 4096
	$(((1 << 40) - 4096)) 999"
}

# view DIR: the manifest of a mounted volume.  The guest finds no holes, but
# need not read a terabyte where it is known which blocks hold data.
view() {
	local file=$1/holes/huge

	[ ! -e "$file" ] || huge_ranges |
		awk -v ino="$(stat -c %i "$file")" '{ print ino, $1, $2 }' \
			>/mnt/tmp/blocks
	[ -e /mnt/tmp/blocks ] || : >/mnt/tmp/blocks
	manifest --blocks /mnt/tmp/blocks "$1"
}

# live_on NAME DEVICE BLOCK_SIZE [CNO...]: the life of one volume in the guest.
# Leaves what is seen in $SHARE/NAME.WHEN: "fresh", each snapshot as "CNO.fresh",
# and after changes, a pass of the cleaner and a new mount "again", "CNO.again".
live_on() {
	local name=$1 device=$2 size=$3 cno

	shift 3
	nilfs_mount -o ro,norecovery "$device"
	view "$MNT" >"$SHARE/$name.fresh"
	nilfs_umount
	live_snapshots "$name" "$device" fresh "$@"
	nilfs_mount "$device"
	(churn "$MNT" "$size")
	clean "$device" "$MNT"
	nilfs_umount
	nilfs_mount "$device"
	view "$MNT" >"$SHARE/$name.again"
	nilfs_umount
	live_snapshots "$name" "$device" again "$@"
}

live_snapshots() {
	local name=$1 device=$2 when=$3 cno

	shift 3
	for cno; do
		nilfs_mount -o "ro,cp=$cno" "$device"
		view "$MNT" >"$SHARE/$name.$cno.$when"
		nilfs_umount
	done
}

# guest_functions: text for a guest's script.
guest_functions() {
	echo 'set -e'
	declare -f churn huge_ranges view live_on live_snapshots
}

# on_host COMMAND...: with the guest's helpers that churn() needs.
on_host() {
	(
		# shellcheck source=tests/kernel/guest-lib.sh
		. "$populate_dir/../kernel/guest-lib.sh"
		"$@"
	)
}
