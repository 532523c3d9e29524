#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The tests for NILFS2 of libblockdev, which udisks calls, have the same results with our
# mkfs.nilfs2 as with that of nilfs-utils.  They are those of the source package of
# Debian 13, the first one whose tests have any, and run in a small Debian 13 under
# user-mode Linux.  Needs Debian's archive.

bats_require_minimum_version 1.5.0

load ../kernel/lab

# Of these libraries the last ones are those of our tool.
packages=gir1.2-blockdev-3.0,libblockdev-fs3,libblockdev-loop3
packages+=,python3-blockdev,python3-bytesize,python3-dbus,python3-packaging
packages+=,nilfs-tools,dosfstools,e2fsprogs,kmod,lvm2,udev
packages+=,libarchive13t64,libdeflate0,libzbd2

setup_file() {
	export at=$BATS_FILE_TMPDIR LC_ALL=C DEBIAN_FRONTEND=noninteractive
	command -v mmdebstrap >/dev/null || skip "mmdebstrap not found"
	mmdebstrap --quiet --variant=apt --include=$packages \
		--customize-hook='sed s/^deb/deb-src/ "$1/etc/apt/sources.list" \
			>"$1/etc/apt/sources.list.d/source.list"' \
		--customize-hook='chroot "$1" apt-get -qq update' \
		--customize-hook='chroot "$1" sh -c "cd /usr/src &&
			apt-get -qq --download-only source libblockdev &&
			mkdir /suite && tar -C /suite --strip-components 1 \
				-xf libblockdev_*.orig.tar.*"' \
		trixie "$at/tree" >"$at/mmdebstrap.log" 2>&1 || {
		tail -n 20 "$at/mmdebstrap.log"
		return 1
	}
	# Disks of the suite are made by LIO, which needs more of the kernel than loop
	# devices do.
	cat >"$at/tree/suite/run.py" <<-'END'
	import subprocess, sys, unittest
	sys.path.insert(0, "/suite/tests")
	import utils

	def create(path, block_size=0):
	    return subprocess.check_output(["losetup", "-f", "--show", path],
	                                   text=True).strip()

	class Result(unittest.TextTestResult):
	    def addSuccess(self, test):
	        super().addSuccess(test)
	        print("passed", test.id())

	utils.create_lio_device = create
	utils.delete_lio_device = lambda device: utils.run("losetup -d " + device)
	loader = unittest.TestLoader()
	loader.testNamePatterns = ["*nilfs2*"]
	tests = loader.loadTestsFromNames(["fs_tests.nilfs_test",
	                                   "fs_tests.generic_test"])
	result = unittest.TextTestRunner(resultclass=Result).run(tests)
	sys.exit(not result.wasSuccessful())
	END
}

# suite PROJECT: all tests pass, with mkfs.nilfs2 of that project; their names become a
# file of that name.
suite() {
	guest --timeout 1200 --share "$at/tree" <<-'SCRIPT'
	guest_module loop
	for dir in dev proc sys; do
		mount --rbind /$dir "$SHARE/$dir"
	done
	for dir in tmp run; do
		mount -t tmpfs tmpfs "$SHARE/$dir"
	done
	mkdir -p "$SHARE/lib/modules"
	mount --bind "${modules%/*/kernel/*}" "$SHARE/lib/modules"
	chroot "$SHARE" mkfs.nilfs2 -V 2>&1
	chroot "$SHARE" env HOME=/root TMPDIR=/tmp \
		LIBBLOCKDEV_TESTS_SKIP_OVERRIDE=1 python3 /suite/run.py
	SCRIPT
	echo "status $status: $output"
	echo "$errors"
	[ "$status" -eq 0 ] || return
	[[ $output == *"$1"* ]] || return
	grep '^passed' <<<"$output" | sort >"$at/$1"
	kernel_content
}

@test "with mkfs.nilfs2 of nilfs-utils" {
	need_guest uml
	suite nilfs-utils
}

@test "with ours" {
	need_guest uml
	cp "$NILFS2_BUILD/mkfs/mkfs.nilfs2" "$at/tree/usr/local/sbin/"
	suite nilfs2-progs
	[ "$(wc -l <"$at/nilfs2-progs")" -ge 14 ]
	diff "$at/nilfs-utils" "$at/nilfs2-progs"
}
