#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the booted system does: boot_test=write writes until the power is cut,
# boot_test=look, or look-root, says what there is and turns the machine off;
# look-units tries the units on the other volume first.  All of it goes to the
# console, for boot.bats.
exec >/dev/console 2>&1 </dev/null

say()
{
	echo "boot-test: $*"
}

# A file on either volume, said to be there once it is synced.
write()
{
	n=$(find /var/written -type f | wc -l)
	while :; do
		n=$((n + 1))
		for dir in /var/written /data/written; do
			head -c 200000 /dev/urandom >$dir/$n
			sha256sum $dir/$n >>$dir.sums
		done
		sync
		say "written $n"
	done
}

look()
{
	for dir in /var/written /data/written; do
		sha256sum --quiet -c $dir.sums >/run/differ 2>&1 ||
			say "differs: $(cat /run/differ)"
		say "found $(wc -l <$dir.sums) in $dir"
	done
}

# until_true SECONDS COMMAND...
until_true()
{
	end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $end ] || { say "in vain: $*"; return 1; }
		sleep 1
	done
}

is_active()
{
	[ "$(systemctl is-active "$1")" = "$2" ]
}

has_cleaned()
{
	gc.nilfs2 --status /data | grep -q '^Segments cleaned: *[1-9]'
}

units()
{
	unit=nilfs2-gc@$(systemd-escape -p /data).service
	# Much is to be clean, so that there is something to do.
	mkdir -p /run/systemd/system/nilfs2-gc@.service.d
	printf '[Service]\nExecStart=\nExecStart=%s\n' \
		"/usr/sbin/gc.nilfs2 --watch --low 90% --high 95% --protect 0 %f" \
		>/run/systemd/system/nilfs2-gc@.service.d/test.conf
	systemctl daemon-reload
	for i in 1 2 3 4; do
		head -c 20000000 /dev/urandom >/data/garbage
		sync
	done
	rm /data/garbage
	sync
	# It returns once the service is ready.
	systemctl enable --now "$unit" && say "watch: started"
	until_true 300 has_cleaned && say "watch: cleaned"
	gc.nilfs2 --status /data | sed 's/^/boot-test: watch: /'
	say "watch: $(systemctl show -P StatusText "$unit")"
	for job in nilfs2-gc-night nilfs2-scrub; do
		systemctl start "$job@data.service"
		say "$job: $(systemctl show -P Result "$job@data.service")"
		systemctl enable --now "$job@data.timer"
		systemctl list-timers --all | grep "$job" |
			sed 's/^/boot-test: /'
	done
	umount /data && say "watch: unmounted"
	until_true 60 is_active "$unit" inactive &&
		say "watch: stopped: $(systemctl show -P Result "$unit")"
	mount /data
	until_true 60 is_active "$unit" active && say "watch: started again"
	systemctl stop data.mount && is_active "$unit" inactive &&
		say "watch: stopped with its mount"
	systemctl start data.mount
	journalctl -b -o cat -u 'nilfs2-*' | sed 's/^/boot-test: units: /'
}

mkdir -p /var/written /data/written
touch /var/written.sums /data/written.sums
say "root is $(findmnt -n -o SOURCE,FSTYPE,OPTIONS /)"
say "root has a password: $(passwd -S root | cut -d " " -f 2)"
sed 's/^/boot-test: initramfs: /' /run/initramfs/fsck.log
journalctl -b -o cat -u systemd-fsck-root.service \
	-u systemd-fsck@dev-vdb.service |
	sed 's/^/boot-test: systemd: /'
say "state $(systemctl is-system-running) $(systemctl --failed --plain \
	--no-legend | tr '\n' ' ')"
systemctl --failed --plain --no-legend -q | while read -r unit _; do
	journalctl -b -o cat -u "$unit"
done
case $(cat /proc/cmdline) in
*boot_test=write*) write ;;
*boot_test=look-units*) units && look ;;
*) look ;;
esac
say "done"
systemctl poweroff
