# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random layers of container images, what a model makes of them (layers.pl), and what
# mkfs.nilfs2 does.

layers_dir=$(dirname "${BASH_SOURCE[0]}")

# list DIR: its names, types, contents, and the names that are the same file.
list() {
	(
		cd "$1" || return
		find . -mindepth 1 -printf '%y\t%i\t%n\t%P\t%l\n'
	) | LC_ALL=C sort -t "$(printf '\t')" -k 4,4 |
		while IFS=$'\t' read -r type ino links path target; do
			case $type in
			f) text=$(<"$1/$path") ;;
			*) text=$target ;;
			esac
			echo "/$path $type $text"
			[ "$type" = d ] || [ "$links" -eq 1 ] ||
				echo "$ino /$path" >>"$1.same"
		done | LC_ALL=C sort
	[ ! -e "$1.same" ] || LC_ALL=C sort "$1.same" | awk '
		$1 == last { line = line " = " $2; next }
		{ if (line ~ / = /) print line; last = $1; line = $2 }
		END { if (line ~ / = /) print line }' | LC_ALL=C sort
	rm -f "$1.same"
}

# make_layers SEED: the archives in "layers", and what is wanted of them.
make_layers() {
	rm -rf layers
	mkdir layers
	perl "$layers_dir/layers.pl" "$1" layers
}

# made_here: what mkfs.nilfs2 makes of them; "refused" if it makes nothing.
made_here() {
	local layer sources=()

	for layer in layers/*.tar; do
		sources+=(-d "$layer")
	done
	rm -rf layers.img exported
	mkdir exported
	if "$NILFS2_BUILD/mkfs/mkfs.nilfs2" -q -B 16 --size 2M --oci \
		"${sources[@]}" layers.img 2>said; then
		"$NILFS2_BUILD/fsck/fsck.nilfs2" -nq layers.img &&
			dump.nilfs2 export -q layers.img exported &&
			list exported
	else
		grep -q '^mkfs.nilfs2: layers/[0-9].tar: member ' said &&
			echo refused
	fi
}
