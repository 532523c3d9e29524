# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Mounted volumes on zoned devices.  Load it after mounted.bash.

# zoned_volume SPEC...: a new volume on the first of zoned devices, made in the guest.
zoned_volume() {
	local spec

	need_guest qemu
	command -v cc >/dev/null || skip "no C compiler for steps.c"
	backend=qemu
	mkdir "$BATS_TEST_TMPDIR/share"
	cc -O1 -shared -fPIC -o "$BATS_TEST_TMPDIR/share/steps.so" \
		"$NILFS2_SOURCE/tests/live/steps.c"
	live_devices=(--mem 1G --timeout 900 --share "$BATS_TEST_TMPDIR/share")
	for spec; do
		live_devices+=(--zoned "$spec")
	done
	tools="$tools
		export DEV1=\$ZONED1 ZONED2 live RUNTIME_DIRECTORY=/mnt/tmp/run
		export all_cuts=${CUTS-}
		mib=${MIB-280} rounds=${POLICY_ROUNDS-1} steps=${STEPS-12}
		# stepping STEP_...=VALUE...: gc, as steps.c has it.
		stepping() {
			env LD_PRELOAD=\$SHARE/steps.so \"\$@\" gc.nilfs2 -q \\
				--protect 0 --min-reclaimable 1 \$MNT \\
				>>/mnt/tmp/report
		}
		mkfs.nilfs2 -q \$DEV1"
}

# The second superblock does not exist on such a device.
no_complaints() {
	run ! grep -v "broken superblock, retrying with spare" \
		<(kernel_complaints "$dmesg")
	run ! grep "already clean\|must be clean" <<<"$dmesg"
}
