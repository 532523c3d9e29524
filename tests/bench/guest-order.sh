# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# guest-order.sh DUMP age|rewrite FILES BLOCKS TIMES TOGETHER SCARCE LEAST: runs in
# a guest.  Writes whole files of so many BLOCKS again, TIMES as much as there are in
# all, while nilfs_cleanerd works beside; nine writes of ten go to every tenth file.
# The daemon cleans TOGETHER segments in a step, SCARCE where clean ones are few,
# and then needs LEAST percent of dead blocks.  "age" makes the files first;
# "rewrite" prints what the daemon moved: blocks of files, and all blocks of its
# logs.

set -eu

dump=$1 what=$2 files=$3 blocks=$4 times=$5 together=$6 scarce=$7 least=$8
batch=1024 seed=100000
per_dir=64

# In directories, so that there is a tree to walk.
make_files() {
	perl -e 'my ($dir, $files, $blocks, $per) = @ARGV;
		 for my $i (0 .. $files - 1) {
			 my $in = "$dir/" . int($i / $per);
			 mkdir $in if $i % $per == 0;
			 open my $fh, ">:raw", "$in/$i" or die "$i: $!\n";
			 print $fh pack("L", $i) x (1024 * $blocks);
		 }' "$MNT" "$files" "$blocks" "$per_dir"
}

# rewrite SEED: a batch.
rewrite() {
	perl -e 'my ($dir, $files, $blocks, $per, $n, $seed) = @ARGV;
		 srand $seed;
		 for (my $done = 0; $done < $n; $done += $blocks) {
			 my $i = int rand $files / 10;
			 $i = rand() < 0.9 ? 10 * $i :
				10 * $i + 1 + int rand 9;
			 open my $fh, "+<:raw", "$dir/" . int($i / $per) .
				"/$i" or die "$i: $!\n";
			 syswrite $fh,
				pack("LL", $seed, $done) x (512 * $blocks)
				or die "$i: $!\n";
		 }' "$MNT" "$files" "$blocks" "$per_dir" "$batch" "$1"
}

clean_segments() {
	cat /sys/fs/nilfs2/"${DEV1#/dev/}"/segments/clean_segments
}

# count: adds the daemon's logs since the last time to "moved"; to be asked
# before any of them can be written over.
count() {
	echo 1 >/proc/sys/vm/drop_caches
	"$dump" logs --json-lines "$DEV1" 2>/dev/null | perl -e '
		my ($seq, $at, $files, $all) = @ARGV;
		my ($seq2, $at2) = ($seq, $at);
		while (<STDIN>) {
			my ($b) = /"blocknr":(\d+)/;
			my ($s) = /"ss_seq":(\d+)/;
			next if $s < $seq || ($s == $seq && $b <= $at);
			($seq2, $at2) = ($s, $b)
				if $s > $seq2 || ($s == $seq2 && $b > $at2);
			next unless /"ss_flags_names":\[[^]]*"gc"/;
			$all += $1 if /"ss_nblocks":(\d+)/;
			while (/"fi_ino":(\d+),"fi_cno":\d+,"fi_nblocks":(\d+)/g) {
				$files += $2 if $1 == 2 || $1 > 10;
			}
		}
		print "$seq2 $at2 $files $all\n"' $moved
}

# With the default configuration, but for waiting.
start_daemon() {
	cat >cleanerd.conf <<-END
	protection_period	0
	min_clean_segments	10%
	max_clean_segments	20%
	clean_check_interval	0.1
	selection_policy	timestamp
	nsegments_per_clean	$together
	mc_nsegments_per_clean	$scarce
	cleaning_interval	0.02
	mc_cleaning_interval	0.02
	min_reclaimable_blocks	10%
	mc_min_reclaimable_blocks	$least%
	use_set_suinfo
	use_mmap
	log_priority		info
	END
	nilfs_cleanerd -c "$PWD/cleanerd.conf" "$DEV1" "$MNT" >pid
}

# Where it has begun it ends when there is enough, or no more to be had.
wait_for_daemon() {
	local now before=$1 same=0

	while [ "$same" -lt 30 ]; do
		sleep 0.1
		now=$(clean_segments)
		[ "$now" -lt "$high" ] || return 0
		same=$((now == before ? same + 1 : 0))
		before=$now
	done
}

# rewrite_all SEED: all batches.
rewrite_all() {
	local i now

	for ((i = 0; i * batch < files * blocks * times; i++)); do
		rewrite $(($1 + i))
		# Time goes by in seconds, for the daemon's order and for what it
		# takes as too young: a second holds a batch.
		sleep 1
		# What a mount would look at is not cleaned: as little as can be.
		sync
		fsfreeze -f "$MNT" && fsfreeze -u "$MNT"
		now=$(clean_segments)
		[ "$now" -ge "$low" ] || wait_for_daemon "$now"
		moved=$(count)
	done
}

nilfs-tune -i 86400 "$DEV1" >/dev/null
nilfs_mount "$DEV1"
segments=$(cat /sys/fs/nilfs2/"${DEV1#/dev/}"/segments/segments_number)
# The daemon adds what the kernel keeps for itself: 5 %, eight at least.
kept=$(((segments * 5 + 99) / 100))
[ "$kept" -ge 8 ] || kept=8
low=$(((segments + 9) / 10 + kept)) high=$(((segments + 4) / 5 + kept + 1))
moved='0 0 0 0'
[ "$what" != age ] || { make_files; sync; seed=1; }
moved=$(count)
moved="${moved% * *} 0 0"
start_daemon
rewrite_all "$seed"
moved=$(count)
nilfs-clean -q "$DEV1"
while kill -0 "$(sed -n 's/.*PID=//p' pid)" 2>/dev/null; do
	sleep 0.1
done
nilfs_umount
echo "${moved#* * }"
