# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What long.sh runs in its guests.  CALLS is the number of calls of the kernel after
# which a scenario ends, LIMIT the number of seconds.  Each fault is a line "fault: ...".
# Programs of nilfs-tools are called as users call them.

. "$live/guest.bash"

mkdir -p /mnt/tmp/m
how=(--protect 0 --min-reclaimable 1 --latency 2)
may_say='no segment is worth cleaning|older than --protect, '
folders=() writers=() runs=0 watcher='' stress='' stress_loop=''

fault() {
	echo "fault: $*"
}

# some LEAST MOST: a random number.
some() {
	echo $(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1)))
}

# nap MILLISECONDS
nap() {
	local ms

	printf -v ms '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	sleep "$ms"
}

# made: the calls until now, as reports and files of --watch have them.
made() {
	cat "$SHARE"/run.*/* "$SHARE"/report.* 2>/dev/null | awk '
		$1 == "calls" || /^Calls of the kernel:/ { n += $NF }
		END { print n + 0 }'
}

# until_made COMMAND...: again and again.
until_made() {
	while [ "$(made)" -lt "$CALLS" ] && [ "$SECONDS" -lt "$LIMIT" ]; do
		"$@"
	done
}

# watch [OPTION...]: in the background; always at work.
watch() {
	runs=$((runs + 1))
	mkdir "$SHARE/run.$round.$runs"
	RUNTIME_DIRECTORY=$SHARE/run.$round.$runs gc.nilfs2 --watch --low 97% \
		--high 99% --speed 0 "${how[@]}" "$@" "$MNT" 2>>/mnt/tmp/said &
	watcher=$!
}

# unwatch: it ends without a failure.
unwatch() {
	local status

	kill "$watcher" 2>/dev/null
	wait "$watcher"
	status=$?
	[ "$status" -eq 0 ] || fault "--watch ends with status $status"
}

# once [OPTION...]: 1 is for what a race with another program may prevent.
once() {
	local status

	runs=$((runs + 1))
	gc.nilfs2 "${how[@]}" "$@" "$MNT" >"$SHARE/report.$round.$runs" \
		2>>/mnt/tmp/said
	status=$?
	[ "$status" -le 1 ] || fault "gc.nilfs2 $* ends with status $status"
}

# writer FOLDER OPTION...: checks itself in $MNT/FOLDER.
writer() {
	local folder=$1

	shift
	mkdir -p "$MNT/$folder"
	perl "$live/writer.pl" taken=0 "$@" "$MNT/$folder" $((SEED + round)) \
		"/mnt/tmp/m/$folder" 2>"/mnt/tmp/m/$folder.said" &
	writers+=($!) folders+=("$folder")
}

# Stressors of files, one after the other; 3: not enough space for it.
start_stress() {
	command -v stress-ng >/dev/null || return 0
	mkdir -p "$MNT/stress"
	while [ ! -e /mnt/tmp/stress.end ]; do
		for what in "--hdd 1 --hdd-bytes 2M" "--dentry 1 --dentries 200" \
			"--rename 1" "--link 1" "--symlink 1" "--seek 1 --seek-size 2M" \
			"--fallocate 1 --fallocate-bytes 2M" "--dir 1 --dir-dirs 100" \
			"--mmap 1 --mmap-bytes 1M --mmap-file" "--utime 1 --utime-fsync" \
			"--aio 1 --aio-requests 8" "--sync-file 1 --sync-file-bytes 1M"; do
			[ ! -e /mnt/tmp/stress.end ] || break
			# Words of options.
			# shellcheck disable=SC2086
			stress-ng $what --timeout 2 --verify --temp-path "$MNT/stress" \
				>/mnt/tmp/stress.said 2>&1
			case $? in
			0|3) ;;
			*) grep -qE "${stress_may-^$}" /mnt/tmp/stress.said ||
				fault "stress-ng $what: $(tail -n 3 /mnt/tmp/stress.said)" ;;
			esac
			nap 300
		done
	done &
	stress=$!
}

# begin: the volume is mounted, and no inode may get the number 2^64 - 1.
begin() {
	nilfs_mount "$DEV1" || { fault "mount"; exit 1; }
	if [ ! -e "$MNT/.taken" ]; then
		>/mnt/tmp/m/taken.end
		perl "$live/writer.pl" operations=0 taken=3000 "$MNT" 1 /mnt/tmp/m/taken
	fi
	SECONDS=0
}

# end_writers: each has found what it had written.
end_writers() {
	local i

	>/mnt/tmp/stress.end
	[ -z "$stress" ] || wait "$stress"
	for i in "${!writers[@]}"; do
		>"/mnt/tmp/m/${folders[i]}.end"
		wait "${writers[i]}" || fault "the writer of ${folders[i]}: \
$(tr '\n' ' ' <"/mnt/tmp/m/${folders[i]}.said")"
	done
	writers=()
}

compare() {
	local folder

	for folder in "${folders[@]}"; do
		all_same "/mnt/tmp/m/$folder" "$folder" 2>&1 || fault "files of $folder"
	done
}

# finish: the same files and snapshots after a mount.
finish() {
	local lines

	compare
	nilfs_umount || fault "unmount"
	nilfs_mount "$DEV1" || fault "mount"
	compare
	nilfs_umount || fault "unmount"
	lines=$(grep -vE "$may_say" /mnt/tmp/said | sort | uniq -c | sort -rn | head -n 5)
	[ -z "$lines" ] || fault "gc.nilfs2 says: $lines"
	echo "finished"
}

# Writers may be faster than a cleaner, and find no space.
usual_writers() {
	writer many files=150 size=40000 snapshots=0 full=1
	writer large files=2 size=1500000 snapshots=0 full=1
	start_stress
}

# A volume on which nothing else happens.
plain() {
	begin
	usual_writers
	watch "$@"
	until_made nap 1000
	end_writers
	unwatch
	finish
}

drop_caches() {
	echo 3 >/proc/sys/vm/drop_caches
	nap 700
}

# Snapshots that the writer has made are deleted, with their models, if there are many.
forget() {
	local models=(/mnt/tmp/m/many.*[0-9]) model

	nap "$(some 1 600)"
	# The writer makes others meanwhile, faster than chcp gets the lock.
	for model in $(shuf -n $((${#models[@]} > 5 ? ${#models[@]} - 5 : 0)) -e "${models[@]}")
	do
		rm "$model"
		chcp cp "$DEV1" "${model##*.}" || fault "chcp"
	done
	[ $((RANDOM % 2)) -eq 0 ] || mkcp -s "$DEV1" || fault "mkcp"
	[ $((RANDOM % 3)) -eq 0 ] ||
		lscp -s "$DEV1" | awk 'NR > 1 { print $1 }' | while read -r cno; do
			[ -e "/mnt/tmp/m/many.$cno" ] || chcp cp "$DEV1" "$cno"
		done
}

snapshots() {
	may_say+='|a snapshot was made meanwhile|Device or resource busy'
	begin
	writer many files=60 size=40000 snapshots=60 most=12 full=1
	writer large files=2 size=400000 snapshots=0 full=1
	watch
	until_made forget
	end_writers
	unwatch
	finish
}

# The writers end, the volume is unmounted under the watch, and mounted again.
remount() {
	local times=$((times + 1)) i

	usual_writers
	watch
	nap "$(some 1000 6000)"
	end_writers
	[ $((RANDOM % 2)) -eq 0 ] || unwatch
	compare
	for ((i = 0; i < 100; i++)); do
		! nilfs_umount 2>/dev/null || break
		nap 100
	done
	wait "$watcher" || fault "--watch at an unmount"
	[ $((RANDOM % 2)) -eq 0 ] || fsck.nilfs2 -fnq "$DEV1" || fault "fsck"
	nilfs_mount "$DEV1" || { fault "mount"; exit 1; }
	rm -rf "${MNT:?}"/{many,large,stress} /mnt/tmp/m/*.end /mnt/tmp/stress.end
	folders=() SEED=$((SEED + 1))
}

remounts() {
	begin
	until_made remount
	finish
}

# If the kernel has no room for what is in memory, nilfs-resize leaves the volume cut
# off, and then this would be lost.
give_back() {
	perl -e 'open my $volume, "<", shift or die "$!\n";
		ioctl $volume, 0x40086e8b, my $bytes = pack "Q", 192 << 20 or
			die "resize: $!\n"' "$MNT" || fault "resize"
}

# The volume of 192 MiB: by our program and by that of nilfs-tools.
change_size() {
	local size

	size=$(some 120 192)M
	case $((RANDOM % 4)) in
	0) nilfs-resize -y "$DEV1" "$size" >/mnt/tmp/resized 2>&1 || give_back ;;
	1) once --shrink="$size" ;;
	2) once --grow="$size" ;;
	3) once --grow ;;
	esac
	nap "$(some 1 1500)"
}

sizes() {
	may_say+='|bytes are (more|fewer) than the|are still in use after|--grow|--shrink'
	stress_may=errno=28 may_say+='|another cleaner is at work|too few for|has [0-9]+ bytes already'
	begin
	usual_writers
	watch
	until_made change_size
	end_writers
	unwatch
	finish
}

cleaner_conf() {
	echo "protection_period 0
	min_clean_segments 98%
	max_clean_segments 99%
	clean_check_interval 1
	selection_policy timestamp
	nsegments_per_clean 2
	mc_nsegments_per_clean 2
	cleaning_interval 0.1
	mc_cleaning_interval 0.1
	min_reclaimable_blocks 1
	mc_min_reclaimable_blocks 1" >/mnt/tmp/conf
}

# Others that take the lock, or wait for it.
others() {
	local other

	once
	once --free 2
	if [ $((RANDOM % 3)) -eq 0 ]; then
		nilfs_cleanerd -n -c /mnt/tmp/conf "$DEV1" "$MNT" </dev/null \
			>/mnt/tmp/daemon 2>&1
		nap "$(some 500 4000)"
		other=$(sed 's/.*=//' /mnt/tmp/daemon)
		kill "-$([ $((RANDOM % 2)) -eq 0 ] && echo KILL || echo TERM)" "$other"
	fi
}

cleaners() {
	may_say+='|another cleaner is at work|--free: |Device or resource busy'
	begin
	cleaner_conf
	# nilfs_cleanerd calls the kernel without a clean segment as well, and the kernel
	# then tries for ever: these writers leave some.
	writer many files=150 size=40000 snapshots=0 pause=20
	writer large files=2 size=1500000 snapshots=0 pause=100
	watch
	unwatch_first=$watcher
	watch --policy greedy
	until_made others
	end_writers
	unwatch
	watcher=$unwatch_first
	unwatch
	for _ in 1 2 3 4 5 6 7 8; do
		! nilfs_umount 2>/dev/null || break
		nap 500
	done
	nilfs_mount "$DEV1"
	finish
}

fill() {
	# The shell says so if there is no space for the file itself.
	head -c "$(some 10 400)M" /dev/zero 2>/dev/null >"$MNT/fill.$((RANDOM % 3))"
	nap "$(some 1 1500)"
	rm -f "$MNT"/fill.*
	nap "$(some 1 500)"
}

full() {
	may_say+='|too few for the kernel to clean with|No space left' stress_may=errno=28
	begin
	usual_writers
	watch
	until_made fill
	rm -f "$MNT"/fill.*
	end_writers
	unwatch
	finish
}

# Signals at any moment, to one that stays and to one that does not.
signal() {
	local victim=$watcher signals=(KILL TERM HUP INT STOP KILL) name

	name=${signals[RANDOM % ${#signals[@]}]}
	if [ $((RANDOM % 2)) -eq 0 ]; then
		gc.nilfs2 -q "${how[@]}" "$MNT" >/dev/null 2>>/mnt/tmp/said &
		victim=$!
	fi
	nap "$(some 1 400)"
	kill "-$name" "$victim" 2>/dev/null
	if [ "$name" = STOP ]; then
		nap "$(some 1 300)"
		kill -CONT "$victim" 2>/dev/null
		[ "$victim" != "$watcher" ] || return
	fi
	wait "$victim"
	[ "$victim" != "$watcher" ] || watch
	nap "$(some 1 2000)"
}

signals() {
	may_say+='|interrupted|another cleaner is at work'
	begin
	usual_writers
	watch
	until_made signal
	end_writers
	unwatch
	finish
}

# What the guest before has left when its power was cut, then more, until the next cut.
cut() {
	begin
	look_back
	writer "cut$round" files=80 size=40000 snapshots=0 operations=1000000 \
		"journal=$SHARE/journal.$round"
	writer large files=2 size=1500000 snapshots=0 operations=1000000
	watch
	wait
}

# The files of the last round.
look_back() {
	local last="$SHARE/journal.$((round - 1))"

	[ ! -e "$last" ] || perl "$live/journal.pl" "$last" "$MNT/cut$((round - 1))" ||
		fault "files of round $((round - 1))"
	rm -rf "${MNT:?}"/cut* "$MNT/large"
}

after_cut() {
	begin
	look_back
	once
	finish
}

# All writes of the device are in a log, with marks where files are synchronized.
logged() {
	guest_module dm-mod
	guest_module dm-log-writes
	dmsetup create logged --noudevsync --table "0 \
$(blockdev --getsz "$DEV1") log-writes $DEV1 $DEV2" || { fault "dmsetup"; exit 1; }
	dmsetup mknodes
	DEV1=/dev/mapper/logged
	begin
	writer cut0 files=60 size=40000 snapshots=0 "journal=$SHARE/journal.0" \
		mark=logged operations=300
	writer large files=2 size=500000 snapshots=0 pause=20 operations=300
	watch
	until_made nap 1000
	end_writers
	unwatch
	finish
	dmsetup remove --noudevsync logged
}

# journal.pl of several devices: each is a state of a volume that was mounted never.
states() {
	local i=0 sure end device

	while read -r sure end; do
		i=$((i + 1))
		device=DEV$i
		nilfs_mount "${!device}" || { fault "mount of state $i"; continue; }
		perl "$live/journal.pl" "$SHARE/journal.0" "$MNT/cut0" "$sure" "$end" ||
			fault "files of state $i"
		nilfs_umount
	done <"$SHARE/states"
	echo "finished"
}
