# SPDX-License-Identifier: GPL-2.0-or-later
# The Debian packages that building and testing need, and how to get them:
# sourced by the other scripts, so that each list stands in one place.

# To build all optional parts in.
build_packages="gcc make autoconf automake pkg-config
	libblkid-dev uuid-dev libzbd-dev zlib1g-dev libarchive-dev
	libdeflate-dev libisal-dev libfuse3-dev libedit-dev"

# To run the stock kernel, which fills images and judges them.
kernel_packages="user-mode-linux nilfs-tools perl kmod procps busybox-static"

# To run the tests, those that need zoned devices or large pages as well.
test_packages="$kernel_packages attr bats bzip2 codespell dmsetup fuse3 gojq jq libxml2-utils man-db git lz4
	grub-common
	e2fsprogs gddrescue btrfs-progs fdisk libarchive-tools linux-libc-dev strace
	systemd openssl xz-utils zbd-utils zstd zsh fish qemu-system-x86 qemu-system-ppc qemu-utils cpio
	umoci"

# What only "make check-long" asks for: other compilers, other machines, and a
# browser, which is too large for each run of the tests.
long_packages="clang clang-tidy cppcheck gcc-i686-linux-gnu libc6-dev-i386-cross
	gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user-static musl-tools
	valgrind stress-ng chromium-headless-shell fonts-dejavu-core debootstrap"

# To build and test the packages of distributions.
package_packages="debhelper dpkg-dev fakeroot lintian mmdebstrap rpm"

# install_packages NAME...: installs what is missing, asks nothing.
install_packages()
{
	missing=
	for package; do
		case $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" \
			2>/dev/null) in
		ii*) ;;
		*) missing="$missing $package" ;;
		esac
	done
	[ -n "$missing" ] || return 0

	as_root=
	[ "$(id -u)" -eq 0 ] || as_root=sudo
	echo "installing:$missing"
	$as_root apt-get update -qq >/dev/null &&
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get install \
			-y -qq --no-install-recommends $missing >/dev/null
}
