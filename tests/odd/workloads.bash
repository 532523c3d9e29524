# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the kernel does to volumes that the corpus does not have, one function for
# each.  The guest runs odd_NAME with errexit, the volume mounted on $MNT, its device
# $DEV and its image "$SHARE"/NAME.img.  sizes[NAME] is the size of the volume in MiB,
# grown[NAME] that of the image in the guest, and cut_to[NAME] after it, if they differ,
# formats[NAME] are options of mkfs.nilfs2; or corpus_image[NAME] is an image of the
# corpus, rolled back to checkpoint rolled_back[NAME] if there is one.  meant_NAME, if there is one, is run on
# the host afterwards, with $image: the workload has done what it is for.

declare -A sizes grown cut_to formats corpus_image rolled_back

# Maps of three levels: blocks far apart, written twice, half cut off.
sizes[deep]=64 formats[deep]='-b 1024 -B 1024'
odd_deep()
{
	scatter "$MNT/far" 1024 4000000000 7000 1
	sync -f "$MNT"
	scatter "$MNT/far" 1024 4000000000 4000 2
	noise 3 70000 >"$MNT/dense"
	sync -f "$MNT"
	truncate -s 2T "$MNT/far"
	scatter "$MNT/far" 1024 3000000000 1000 4
}

meant_deep()
{
	dump.nilfs2 bmap --nodes "$image" /far |
		awk '$NF == "node" && $6 >= 2 { found = 1 } END { exit !found }'
}

# The smallest segments of 4 KiB blocks, all of them used several times.
sizes[wrapped]=8 formats[wrapped]='-b 4096 -B 16'
odd_wrapped()
{
	local i

	noise 0 700000 >"$MNT/kept"
	snapshot "$DEV" >/dev/null
	for i in 1 2 3 4; do
		rewrite "$MNT/file" $((2 * i)) $((2 * i + 1)) 1400000
		scatter "$MNT/kept" 4096 170 60 "$i"
		sync -f "$MNT"
		clean "$DEV" "$MNT"
	done
	echo after >"$MNT/after"
}

meant_wrapped()
{
	dump.nilfs2 logs "$image" | awk '$2 + 0 > 2 * 128 { found = 1 }
		END { exit !found }'
}

# once_cleaned COMMAND...: as soon as there is space for it.
once_cleaned()
{
	local i

	for i in {1..60}; do
		! "$@" 2>/dev/null || return 0
		sleep 0.5
	done
	"$@"
}

# No space, several times, with a cleaner beside it, and written to again once
# something was removed.
sizes[full]=16 formats[full]='-b 4096 -B 32'
odd_full()
{
	local i

	echo "protection_period 0
	min_clean_segments 100%
	max_clean_segments 100%
	clean_check_interval 1
	retry_interval 1
	nsegments_per_clean 4
	mc_nsegments_per_clean 4
	cleaning_interval 0.1
	mc_cleaning_interval 0.1
	min_reclaimable_blocks 0
	mc_min_reclaimable_blocks 0" >/mnt/tmp/full.conf
	nilfs_cleanerd -c /mnt/tmp/full.conf "$DEV" "$MNT" >/dev/null
	mkdir "$MNT/d"
	for i in {1..60}; do
		noise "$i" 600000 >"$MNT/d/$i" && sync -f "$MNT" || break
	done 2>"$SHARE/full.why"
	rm "$MNT"/d/[1-9]
	sync -f "$MNT"
	once_cleaned put "$MNT/d/61" 0 61 900000
	for i in {62..90}; do
		noise "$i" 300000 >"$MNT/d/$i" && sync -f "$MNT" || break
	done 2>>"$SHARE/full.why"
	rm "$MNT"/d/1[1-4]
	once_cleaned mv "$MNT/d/10" "$MNT/moved"
	once_cleaned put "$MNT/moved" 100000 91 300000
	once_cleaned mkdir "$MNT/last"
	once_cleaned ln "$MNT/moved" "$MNT/last/name"
	nilfs-clean -q "$DEV"
	while [ -n "$(pidof nilfs_cleanerd)" ]; do sleep 0.1; done
}

meant_full()
{
	[ "$(grep -c 'No space' full.why)" -ge 2 ]
}

# As many links as an inode can have, then one less.
sizes[links]=32 formats[links]='-b 4096 -B 256'
odd_links()
{
	perl -e 'use Errno "EMLINK";
		my $top = shift;
		my $left = 32000;
		open my $file, ">", "$top/file" or die $!;
		print $file "content\n";
		close $file;
		for my $dir (1 .. 50) {
			mkdir "$top/$dir" or die $!;
			for my $n (1 .. 700) {
				next if link "$top/file", "$top/$dir/$n";
				$!{EMLINK} or die "$dir/$n: $!\n";
				unlink "$top/1/7" or die $!;
				print((lstat "$top/file")[3], "\n");
				exit;
			}
		}
		die "no limit of links\n"' "$MNT" >"$SHARE/links.count"
}

meant_links()
{
	[ "$(cat links.count)" -eq 31999 ]
}

# System calls by their numbers on x86-64: mmap, msync, read.
perl_mapped='sub mapped {
	my ($path, $bytes) = @_;
	open my $file, "+>>", $path or die "$path: $!\n";
	truncate $file, $bytes or die "$path: $!\n" if -s $path < $bytes;
	my $at = syscall 9, 0, $bytes, 3, 1, fileno $file, 0;
	$at != -1 or die "mmap: $!\n";
	return $at;
}
open my $noise, "<", shift or die $!;
sub fill {
	my ($at, $n) = @_;
	syscall(0, fileno $noise, $at, $n) == $n or die "read: $!\n";
}
sub flush {
	my ($at, $n) = @_;
	syscall(26, $at, $n, 4) == 0 or die "msync: $!\n";
}'

# Pages of files without blocks, of files with blocks, and past a cut, written by
# memory maps, with and without a flush.
sizes[mapped]=32 formats[mapped]='-b 1024 -B 256'
odd_mapped()
{
	noise 1 3000000 >/mnt/tmp/noise
	noise 2 500000 >"$MNT/old"
	sync -f "$MNT"
	perl -e "$perl_checkpoint $perl_mapped"'
		my $top = shift;
		my $old = mapped("$top/old", 500_000);
		my $new = mapped("$top/new", 3_000_001);
		fill($new + 4096 * 3 * $_ + 17, 5000) for 0 .. 200;
		checkpoint($top);
		fill($old + 40_000 * $_, 1000) for 0 .. 11;
		flush($old, 400_000 - 400_000 % 4096);
		fill($new + 4096 * 4 * $_, 100) for 0 .. 150;
		checkpoint($top);
		fill($old + 90_000, 300_000);
		truncate "$top/new", 1_000_000 or die $!;
		fill($new + 500_000, 400_000);' /mnt/tmp/noise "$MNT"
}

# Direct writes of new blocks, over old ones, into holes, beside buffered ones.
sizes[direct]=32 formats[direct]='-b 4096 -B 128'
odd_direct()
{
	local i

	noise 1 2000000 >/mnt/tmp/noise
	noise 2 800000 >"$MNT/old"
	for i in 1 2 3; do
		dd if=/mnt/tmp/noise of="$MNT/new" bs=64K count=12 \
			seek=$((i * 20)) oflag=direct conv=notrunc status=none
		put "$MNT/new" $((i * 700001)) "$i" 30000
		dd if=/mnt/tmp/noise of="$MNT/old" bs=4K count=9 skip="$i" \
			seek=$((i * 31)) oflag=direct conv=notrunc status=none
		dd if="$MNT/new" of=/dev/null bs=64K iflag=direct status=none
		sync -f "$MNT"
	done
	dd if=/mnt/tmp/noise of="$MNT/synced" bs=8K count=30 \
		oflag=direct,sync status=none
}

# Files and a directory that have no name any more and are open: cut.img is what a
# cut of the power leaves then.
sizes[open]=32 formats[open]='-b 4096 -B 64'
odd_open()
{
	perl -e "$perl_checkpoint"'
		use Fcntl;
		my $top = shift;
		my @open;
		mkdir "$top/d" or die $!;
		for my $n (1 .. 40) {
			sysopen $open[$n], "$top/d/$n", O_RDWR | O_CREAT or die $!;
			syswrite $open[$n], "$n " x 3000 or die $!;
		}
		link "$top/d/40", "$top/kept" or die $!;
		checkpoint($top);
		unlink map { "$top/d/$_" } 1 .. 30, 40 or die $!;
		syswrite $open[$_], "more " x 2000 or die $! for 1 .. 10;
		mkdir "$top/gone" or die $!;
		opendir my $gone, "$top/gone" or die $!;
		rmdir "$top/gone" or die $!;
		checkpoint($top);
		system "cp", "--sparse=always", @ARGV and die "cp\n";
		close $open[$_] for 1 .. 20;
		' "$MNT" "$SHARE/open.img" "$SHARE/cut.img"
}

# Grown, shrunk and grown by nilfs-resize, each time with writing between.
sizes[resized]=32 grown[resized]=48 cut_to[resized]=40 formats[resized]='-b 4096 -B 64'
odd_resized()
{
	noise 1 9000000 >"$MNT/first"
	sync -f "$MNT"
	nilfs-resize -y "$DEV" >"$SHARE/resized.said" 2>&1
	noise 2 9000000 >"$MNT/second"
	sync -f "$MNT"
	rm "$MNT/first"
	clean "$DEV" "$MNT"
	nilfs-resize -y "$DEV" 20M >>"$SHARE/resized.said" 2>&1
	put "$MNT/second" 1000000 3 500000
	sync -f "$MNT"
	nilfs-resize -y "$DEV" 40M >>"$SHARE/resized.said" 2>&1
	noise 4 3000000 >"$MNT/third"
}

meant_resized()
{
	[ "$(dump.nilfs2 info --json "$image" |
		gojq '.superblocks[0].s_dev_size')" -eq $((40 << 20)) ]
}

# After a cut of the power logs of fdatasync() are recovered by a mount, and are dead
# then, after the last log of their segment that counts.
corpus_image[synced]=crash-dsync
odd_synced()
{
	noise 1 300000 >"$MNT/more"
	sync -f "$MNT"
	noise 2 300000 | dd of="$MNT/a" bs=4096 seek=7 iflag=fullblock \
		conv=notrunc,fdatasync status=none
	rm "$MNT/b"
}

corpus_image[synced-1k]=crash-dsync-1k
odd_synced-1k()
{
	odd_synced
}

# Rolled back by fsck.nilfs2, used on.
corpus_image[rolled]=snapshots rolled_back[rolled]=4
odd_rolled()
{
	put "$MNT/used" 0 1 2000000
	snapshot "$DEV" >/dev/null
	find "$MNT" -type f | head -n 7 | while read -r file; do
		echo changed >>"$file"
	done
	sync -f "$MNT"
	rm "$MNT/used"
	sync -f "$MNT"
	clean "$DEV" "$MNT"
	noise 2 300000 >"$MNT/later"
}

# Snapshots made of plain checkpoints, and plain checkpoints of snapshots, and
# checkpoints deleted, while files are being removed.
sizes[marks]=32 formats[marks]='-b 2048 -B 128'
odd_marks()
{
	local i cno=()

	mkdir "$MNT/many"
	noises "$MNT/many/" 1 60 4000 500
	for i in {1..10}; do
		cno[i]=$(snapshot "$DEV")
		put "$MNT/changing" $((i * 5000)) "$i" 20000
		rm "$MNT/many/$i"
		sync -f "$MNT"
	done
	perl -e "$perl_checkpoint"'
		my $top = shift;
		for my $n (11 .. 55) {
			unlink "$top/many/$n" or die $!;
			checkpoint($top) if $n % 3 == 0;
		}' "$MNT" &
	for i in 2 3 6 9; do
		chcp cp "$DEV" "${cno[i]}"
		chcp ss "$DEV" $((cno[i] + 1))
	done
	rmcp "$DEV" "${cno[2]}"
	chcp cp "$DEV" $((cno[9] + 1))
	chcp ss "$DEV" "${cno[9]}"
	wait
	clean "$DEV" "$MNT"
	chcp cp "$DEV" "${cno[4]}"
	snapshot "$DEV" >/dev/null
}
