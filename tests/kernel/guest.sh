#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs a shell script under a Linux kernel with the stock NILFS2 driver, with
# image files as its disks, and gives back the script's output and status.
#
# Three guests: "uml", user-mode Linux (2-3 s a boot, no zoned devices); "qemu",
# Debian's own kernel (emulated, slower, zoned null_blk devices); "ppc64",
# Debian's kernel of another architecture with pages of 64 KiB, which mounts
# blocks larger than 4 KiB.  The first two see the host's whole file tree
# read-only as their root, so every program of the host is there; the last has a
# small tree of its own.  They can write to the images and the shared directory
# only.
#
# guest.sh gives the guest a process group of its own and leaves none behind.

set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
	cat <<'EOF'
usage: guest.sh [OPTION...] SCRIPT [IMAGE...] [-- ARGUMENT...]
       guest.sh --available uml|qemu|ppc64

Runs SCRIPT (a file, or - for standard input) with bash in a guest, where
IMAGEs are block devices $DEV1, $DEV2, ...

  --backend uml|qemu|ppc64
                        which guest (default uml)
  --timeout SECONDS     stop a guest that uses more CPU time (default 300), or
                        that takes ten times as long
  --kill-after SECONDS  cut the guest's power so long after SCRIPT started
  --kill-on PATTERN     cut it when PATTERN is seen in SCRIPT's output
  --mem SIZE            the guest's memory (default 512M)
  --share DIR           a directory the guest may write to, as $SHARE
  --dmesg FILE          where to put the kernel log from SCRIPT's start on
  --zoned SPEC          add a zoned device $ZONED1, ... (qemu only); SPEC is
                        KEY=VALUE,... of null_blk: size, zone_size (MiB),
                        zone_capacity, zone_nr_conv, zone_max_open, ...

Exit status: SCRIPT's own; 124 time limit; 125 the guest did not work;
137 power cut as asked.
EOF
}

die() {
	echo "guest.sh: $*" >&2
	exit 125
}

# Standard output of each *_missing function is why a guest cannot be had.
uml_missing() {
	if ! command -v linux.uml >/dev/null; then
		echo "linux.uml not found (package user-mode-linux)"
		return
	fi
	if ! PATH=$PATH:/sbin:/usr/sbin command -v insmod >/dev/null; then
		echo "insmod not found (package kmod)"
		return
	fi
	if [ -z "$(uml_module nilfs2)" ]; then
		echo "no nilfs2.ko under /usr/lib/uml/modules"
		return
	fi
	! uml_needs_xstate || command -v cc >/dev/null ||
		echo "no C compiler for xstate.c, which AMX asks for"
}

uml_needs_xstate() {
	grep -q '^flags.* amx_tile' /proc/cpuinfo
}

uml_module() {
	find /usr/lib/uml/modules -name "$1.ko" -print -quit 2>/dev/null
}

qemu_missing() {
	. "$here/guest-kernel.sh"
	guest_kernel_missing
}

ppc64_missing() {
	. "$here/guest-kernel.sh"
	. "$here/guest-ppc64.sh"
	guest_ppc64_missing
}

# Without a benchmark for btrfs' RAID, 256 terminals, serial lines, and a measurement
# of how long a loop takes, which take longer than all else of a boot.
uml_command() {
	local i letters=abcdefghijklmnop

	# A fresh name: the hostfs option and the command line both end at
	# a blank, and an image's own name may hold anything.
	command=(linux.uml "mem=$mem" root=/dev/root rootfstype=hostfs
		rootflags=/ ro "init=$dir/init" "uml_dir=$dir" umid=guest
		con=null con0=null,fd:1 "guest_dir=$dir" guest_backend=uml
		initcall_blacklist=raid6_select_algo,ssl_init pty.legacy_count=0
		lpj=5000000)
	for ((i = 0; i < ${#images[@]}; i++)); do
		command+=("ubd${letters:i:1}d=$dir/dev$((i + 1))")
	done
	uml_needs_xstate || return 0
	cc -O -shared -fPIC -o "$dir/xstate.so" "$here/xstate.c" ||
		die "xstate.c does not compile"
	command=(env "LD_PRELOAD=$dir/xstate.so" "${command[@]}")
}

# What the boot can do without where each instruction is emulated.
qemu_command() {
	. "$here/guest-kernel.sh"
	guest_kernel_find || die "no kernel for qemu"
	guest_kernel_unpack
	command=(qemu-system-x86_64 -machine accel=tcg)
	emulator_command / "console=ttyS0 acpi=off mitigations=off nopti \
cryptomgr.notests guest_modules=$guest_modules/"
}

# The firmware that is usual for this machine would double the time of a boot.
# The capabilities are those that emulation lacks.
ppc64_command() {
	. "$here/guest-kernel.sh"
	. "$here/guest-ppc64.sh"
	guest_ppc64_find || die "no kernel for ppc64"
	command=(qemu-system-ppc64 -machine "pseries,accel=tcg,x-vof=on,\
cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off")
	emulator_command "$guest_modules" "console=hvc0 guest_modules=/"
}

# emulator_command ROOT WORDS: what every emulated machine is given; WORDS are
# for its kernel.  Programs and libraries are at the same addresses each time, so that
# code which the emulator has translated for one process serves the next.
emulator_command() {
	local i

	guest_kernel_initramfs "$dir/first" "$here/guest-init.sh" \
		>"$dir/initramfs" || die "no initramfs"
	command+=(-nodefaults -no-reboot -display none -m "$mem"
		-serial "file:$dir/console"
		-kernel "$guest_kernel" -initrd "$dir/initramfs"
		-append "$2 norandmaps panic=-1 guest_dir=$dir guest_backend=$backend"
		-virtfs "local,path=$1,mount_tag=root,readonly=on,$virtfs"
		-virtfs "local,path=$dir,mount_tag=host,$virtfs"
		-virtfs "local,path=$share,mount_tag=share,$virtfs")
	for ((i = 1; i <= ${#images[@]}; i++)); do
		command+=(-drive "file=$dir/dev$i,if=virtio,$drive")
	done
}

virtfs=security_model=none,multidevs=remap
drive=format=raw,cache=unsafe,discard=unmap

# What the guest's init reads: everything it cannot be determined by file names.
write_settings() {
	declare -p images zoned arguments share
	echo "modules=$(dirname "$(uml_module nilfs2)")"
}

prepare() {
	local i

	# Where a guest mounts file systems of its own it does not see this machine's.
	case $(realpath -m -- "${TMPDIR:-/tmp}") in
	/dev*|/mnt*|/proc*|/run*|/sys*) dir=/tmp ;;
	*) dir=${TMPDIR:-/tmp} ;;
	esac
	dir=$(mktemp -d "$dir/nilfs2-guest.XXXXXX") ||
		die "no scratch directory"
	chmod 755 "$dir"
	[ -n "$share" ] || { share=$dir/share; mkdir "$share"; }
	share=$(cd "$share" && pwd) || die "no such directory: $share"
	cp "$here/guest-init.sh" "$dir/init"
	cp "$here/guest-lib.sh" "$here"/{clean,manifest}.pl "$dir/"
	chmod 755 "$dir/init"
	cat -- "$script" >"$dir/script" || die "cannot read $script"
	for ((i = 0; i < ${#images[@]}; i++)); do
		[ -e "${images[i]}" ] || die "no such image: ${images[i]}"
		ln -s "$(realpath -- "${images[i]}")" "$dir/dev$((i + 1))"
	done
	: >"$dir/stdout"
	: >"$dir/stderr"
	: >"$dir/console"
	write_settings >"$dir/settings"
}

# A guest's helper processes outlive it if guest.sh is killed outright: a
# watcher that does not share its group sees the pipe from guest.sh close, and
# clears up.
start_watcher() {
	exec {leash}> >(exec setsid bash -c '
		read -r group
		read -r word && exit
		kill -KILL -- "-$group"
		rm -rf "$1"' watcher "$dir" \
		>/dev/null 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-)
}

# Its helper processes may have the images open a moment longer than itself.
power_off() {
	local i

	[ -n "$guest" ] || return
	kill -KILL -- "-$guest" 2>/dev/null
	wait "$guest" 2>/dev/null
	for ((i = 0; i < 200; i++)); do
		ps -o stat= --sid "$guest" | grep -qv '^Z' || break
		sleep 0.02
	done
	guest=
}

cleanup() {
	power_off
	[ -z "$leash" ] || echo over >&"$leash"
	[ -z "$dir" ] || rm -rf "$dir"
}

# The log begins where the guest said that SCRIPT starts, or with the boot if it
# never came so far.
hand_over() {
	cat "$dir/stdout"
	cat "$dir/stderr" >&2
	[ -z "$dmesg" ] || tr -d '\r' <"$dir/console" |
		awk '/guest: script starts/ { n = 0; seen = 1; next }
		     { line[n++] = $0 }
		     END { for (i = 0; i < n; i++) print line[i] }' >"$dmesg"
}

# The CPU time of the guest's processes, in seconds: unlike the time that passes,
# it does not depend on what else the machine does.
cpu_seconds() {
	ps S -o cputimes= --sid "$guest" | awk '{ sum += $1 } END { print sum + 0 }'
}

# Looked at each second, from half of the limit on: a guest keeps one or two
# processors busy.
out_of_time() {
	local passed=$((EPOCHSECONDS - started))

	((passed >= next_look)) || return
	next_look=$((passed + 1))
	((passed >= timeout * 10 || $(cpu_seconds) >= timeout))
}

# cut_now: as --kill-on or --kill-after asks for.
cut_now() {
	[ -z "$kill_on" ] || ! grep -Eq -- "$kill_on" "$dir/stdout" || return 0
	[ -n "$kill_after" ] && [ -e "$dir/started" ] &&
		[ -n "$(find "$dir/started" -not -newermt \
			"$kill_after seconds ago")" ]
}

# uml_where: makes a kernel that is busy say where, by its management console: a
# datagram of magic, version, length and text.
uml_where() {
	perl -MSocket -e '
		my ($console, $own) = @ARGV;
		socket my $socket, AF_UNIX, SOCK_DGRAM, 0 or die "$!\n";
		bind $socket, sockaddr_un($own) or die "$own: $!\n";
		for (qw(p w p)) {
			send $socket, pack("LLLZ512", 0xcafebabe, 2, 8, "sysrq $_"),
				0, sockaddr_un($console) or die "$console: $!\n";
			select undef, undef, undef, 0.3;
		}' "$dir/guest/mconsole" "$dir/asks" 2>>"$dir/console"
}

# last_words REASON: why there is no guest any more.
last_words() {
	echo "guest.sh: $1; its last words:"
	tail -n 60 "$dir/console"
} >&2

# Looks twenty times a second, without a process for it: nothing is ever read.
watch() {
	local stop='' nothing

	started=$EPOCHSECONDS next_look=$((timeout / 2))
	exec {nothing}<> <(:)
	while kill -0 "$guest" 2>/dev/null; do
		! cut_now || stop=137
		! out_of_time || stop=124
		if [ -n "$stop" ]; then
			[ "$stop$backend" != 124uml ] || uml_where
			power_off
			[ "$stop" != 124 ] || last_words "the guest was stopped \
at its limit of $timeout s"
			return "$stop"
		fi
		read -r -t 0.05 -u "$nothing"
	done
	[ -s "$dir/status" ] && return "$(cat "$dir/status")"
	last_words "the guest stopped by itself"
	return 125
}

run() {
	local status

	trap cleanup EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	prepare
	"${backend}_command"
	start_watcher
	setsid "${command[@]}" </dev/null >>"$dir/console" 2>&1 \
		3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- {leash}>&- &
	guest=$!
	echo "$guest" >&"$leash"
	watch
	status=$?
	hand_over
	return "$status"
}

backend=uml timeout=300 kill_after='' kill_on='' mem=512M share='' dmesg=''
dir='' guest='' leash='' images=() zoned=() arguments=() script=''

while [ $# -gt 0 ]; do
	case $1 in
	--available)
		case ${2-} in
		uml|qemu|ppc64) reason=$("${2}_missing") ;;
		*) die "no such guest: ${2-}" ;;
		esac
		[ -z "$reason" ] || { echo "$reason"; exit 1; }
		exit 0 ;;
	--backend) backend=$2; shift 2 ;;
	--timeout) timeout=$2; shift 2 ;;
	--kill-after) kill_after=$2; shift 2 ;;
	--kill-on) kill_on=$2; shift 2 ;;
	--mem) mem=$2; shift 2 ;;
	--share) share=$2; shift 2 ;;
	--dmesg) dmesg=$2; shift 2 ;;
	--zoned) zoned+=("$2"); shift 2 ;;
	--help) usage; exit 0 ;;
	-|[!-]*) break ;;
	*) usage >&2; exit 125 ;;
	esac
done
[ $# -gt 0 ] || { usage >&2; exit 125; }

script=$1
shift
while [ $# -gt 0 ]; do
	[ "$1" = -- ] && { shift; arguments=("$@"); break; }
	images+=("$1")
	shift
done
case $backend in
uml|qemu|ppc64) ;;
*) die "no such guest: $backend" ;;
esac
[ ${#zoned[@]} -eq 0 ] || [ "$backend" = qemu ] ||
	die "zoned devices need --backend qemu"
reason=$("${backend}_missing")
[ -z "$reason" ] || die "$reason"
run
