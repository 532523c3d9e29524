#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 find, against the manifests that the kernel's view of the
# checkpoints gave.

load ../kernel/lab
load corpus
load files
bats_require_minimum_version 1.5.0

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
}

# As manifests write them: paths from lines of text.
as_manifest() {
	perl -ne 's,^/,,; chomp; $_ = "." if $_ eq "";
		s/\\(?:x([0-9a-f]{2})|\\)|([^ -~])/
			sprintf "\\%03o", defined $1 ? hex $1 :
				defined $2 ? ord $2 : 0134/gex;
		print "$_\n"' | LC_ALL=C sort
}

# found CNO WANTED OPTION... : WANTED, a condition on the fields of a manifest,
# finds the same.
found() {
	local cno=$1 wanted=$2

	shift 2
	diff <(awk -F'\t' "$wanted { print \$14 }" "$manifest" |
		LC_ALL=C sort) \
		<(dump.nilfs2 find -c "$cno" "${@:1:$#-1}" "$image" \
			"${@: -1}" | as_manifest) ||
		{ echo "checkpoint $cno: $*"; bad=1; }
}

finds_equal() {
	local cno middle

	image=$corpus/$1/image bad=
	while read -r cno manifest; do
		found "$cno" 1 '*'
		found "$cno" '$14 ~ /f[^\/]*$/' '*f*'
		found "$cno" '$14 ~ /^d\/f/' '/d/f*'
		found "$cno" '$14 ~ /^d(\/|$)/' /d
		found "$cno" '$14 ~ /^d(\/|$)/' d/
		found "$cno" 1 /
		found "$cno" '$6 >= 3000' --size +3000 '*'
		found "$cno" '$6 <= 3000' --size -3000 '*'
		found "$cno" '$6 == 4096' --size 4K '*'
		found "$cno" '$1 ~ /[dl]/' --type d,l '*'
		found "$cno" '$1 == "f"' -t f '*'
		found "$cno" '$1 ~ /[bcps]/' -t bcps '*'
		found "$cno" '$3 == 0' -u 0 '*'
		found "$cno" '$3 == 1000' --owner 1000 '*'
		middle=$(cut -f8 "$manifest" | sort -n |
			awk '{ t[NR] = int($1) } END { print t[int((NR + 1) / 2)] }')
		[ "$middle" -ge 0 ] || continue
		found "$cno" "\$8 >= $middle" --newer "$middle" '*'
		found "$cno" "\$8 < $middle" \
			--older "$(date -ud "@$middle" +%FT%TZ)" '*'
	done < <(checkpoints_of "$1" | head -n 3)
	[ -z "$bad" ]
}

@test "by name, size, time, type and owner, in each checkpoint" {
	each_image finds_equal
}

# Numbers are not used again in the first part, so that each is one file.
changes() {
	guest_look
	cat <<-'EOF'
	cd "$MNT"
	mkdir -p a/b c keep
	noises a/b/f 1 40 0 1000
	noises c/g 1 40 0 100
	ln a/b/f1 link
	look
	rm a/b/f2
	mv a/b/f3 c/moved
	look
	rm c/g*5
	mv a x
	look
	rm c/moved link
	look
	rm -r x/b
	look
	mv c y
	rm y/g1
	look
	mv y/g2 keep/b
	rm y/g3
	look
	[ "$1" != reuse ] || {
		echo again >again
		look
	}
	cd /
	nilfs_umount
	EOF
}

# make_changes [reuse]: image, and the manifest of each checkpoint.
make_changes() {
	looked_at 64M < <(changes | sed "s/\\\$1/${1-}/")
}

# Each entry, a name in a directory for an inode, by its path in its last
# checkpoint; or only those of inodes that the last manifest lacks, and whose
# paths it lacks.
wanted() {
	awk -F'\t' -v deleted="$1" '
		FNR == 1 { cno = FILENAME; sub(/.*\./, "", cno); split("", now) }
		{ now[$14] = $11; seen[$11] = cno; dir = name = $14
			if (!sub(/\/[^\/]*$/, "", dir)) dir = "."
			sub(/.*\//, "", name)
			key = now[dir] "\t" name "\t" $11
			last[key] = cno; path[key] = $14; ino[key] = $11 }
		END {
			for (key in last)
				if (!deleted || (seen[ino[key]] != cno &&
					!(path[key] in now) &&
					last[key] == seen[ino[key]]))
					print last[key] "\t" path[key] "\t" \
						ino[key]
		}' $(printf '%s\n' manifest.* | sort -t. -k2n) | LC_ALL=C sort
}

given() {
	jq -r '.files[] | "\(.checkpoint)\t\(.path)\t\(.inode)"' |
		sed -E 's,\t/,\t,; s,\t\t,\t.\t,' | LC_ALL=C sort
}

@test "--all has each name once, --deleted what the latest state lacks" {
	need_guest uml
	make_changes
	[ "$(wanted 1 | wc -l)" -gt 40 ]
	diff <(wanted '') <(dump.nilfs2 find --all --json image | given)
	diff <(wanted 1) <(dump.nilfs2 find --deleted --json image | given)
	diff <(wanted 1 | grep -P '/g[^/]*\t') \
		<(dump.nilfs2 find --deleted --json image 'g*' | given)
	diff <(dump.nilfs2 find -d image | awk '{ print $2 }') \
		<(dump.nilfs2 find -d --json image | jq -r '.files[].path')

	# The checkpoint that is shown has the content.
	dump.nilfs2 find --deleted --json-lines image -t f |
		jq -r '"\(.checkpoint) \(.path)"' | while read -r cno path; do
		dump.nilfs2 export -c "$cno" image out "$path"
		[ "$(sha256sum <"out/${path##*/}" | cut -d' ' -f1)" = \
			"$(awk -F'\t' -v path="${path#/}" '$14 == path {
				sub("sha256:", "", $12); print $12 }' \
				"manifest.$cno")" ]
		rm -r out
	done

	# And all of them at once.
	mkdir all
	dump.nilfs2 export --deleted image - | tar -x -C all
	wanted 1 >list
	while IFS=$'\t' read -r cno path ino; do
		[ -e "all/$path" ]
		[ -d "all/$path" ] || [ "$(sha256sum <"all/$path" |
			cut -d' ' -f1)" = "$(awk -F'\t' -v path="$path" '
			$14 == path { sub("sha256:", "", $12); print $12 }' \
			"manifest.$cno")" ]
	done <list
	[ "$(find all -type f | wc -l)" -eq \
		"$(dump.nilfs2 find -d image -t f | wc -l)" ]
	diff <(dump.nilfs2 find -d image 'g?' | awk '{ print $2 }') \
		<(dump.nilfs2 export --deleted image - 'g?' | tar -t |
			sed 's,^,/,')
}

@test "export --deleted leaves names out that lead elsewhere" {
	image=$(copy_image snapshots)
	perl -0777 -pi -e 's/(.{8}..\x03)\x01f20/$1\x01x\/./gs' "$image"
	run -1 --separate-stderr dump.nilfs2 export --deleted "$image" out.tar
	[[ $stderr == *"not a name of a file"* ]]
	tar -tf out.tar >names
	grep -qx d/f19 names
	[ "$(grep -c x names || true)" -eq 0 ]
	run -2 dump.nilfs2 export --deleted -c 2 "$image" other.tar
	run -2 dump.nilfs2 export --deleted --since 2 "$image" other.tar
}

# layers DIRECTORY...: image, a checkpoint for each, on which .wh.NAME removes one.
layers() {
	local words=(--oci) layer

	for layer; do
		tar -C "$layer" -cf "$layer.tar" .
		words+=(-d "$layer.tar")
	done
	mkfs.nilfs2 -q --size 32M -B 16 "${words[@]}" image
}

# Of a link and a directory at one path either one may be the older, with files in
# the directory; two files at one path, also of the longest name, and one that has
# the name with a number already.
@test "export --deleted gives each file a path of its own, inside the target" {
	long=$(printf '%0255d' 0)
	mkdir -p one/d/in two/a three outside
	ln -s "$PWD/outside" one/a
	ln -s "$PWD/outside" two/d
	echo old >one/d/f
	echo old >one/d/in/g
	ln one/d/in/g one/d/in/other
	echo new >two/a/b
	echo taken >two/same.~1~
	for layer in one two; do
		mkdir $layer/w
		echo $layer >$layer/same
		echo $layer >"$layer/w/$long"
	done
	chmod 500 one/d/in
	touch -d @1000000000 one/d/in one/d two/a
	touch three/{keep,.wh.a,.wh.d,.wh.same,.wh.same.~1~,.wh.w}
	layers one two three

	dump.nilfs2 export --deleted image dir
	mkdir tar
	dump.nilfs2 export --deleted image - | tar -x -p -C tar
	for out in dir tar; do
		[ "$(readlink $out/d)" = "$PWD/outside" ]
		[ "$(readlink $out/a.~1~)" = "$PWD/outside" ]
		[ "$(cat $out/a/b $out/d.~1~/f $out/d.~1~/in/g)" = \
			$'new\nold\nold' ]
		[ "$(cat $out/same $out/same.~1~ $out/same.~2~)" = \
			$'two\ntaken\none' ]
		[ "$(cat "$out/w/$long" "$out/w/${long%0000}.~1~")" = \
			$'two\none' ]
		[ $out/d.~1~/in/other -ef $out/d.~1~/in/g ]
		[ "$(stat -c '%a %Y' $out/d.~1~/in)" = "500 1000000000" ]
		[ "$(stat -c %Y $out/d.~1~ $out/a | sort -u)" = 1000000000 ]
		[ "$(find $out ! -type d | wc -l)" -eq 11 ]
	done
	[ -z "$(ls -A outside)" ]
	diff <(copy_manifest dir | sed '/\t\.$/d') \
		<(copy_manifest tar | sed '/\t\.$/d')
	run -1 dump.nilfs2 export --deleted image dir
	[[ $output == *"Directory not empty"* ]]
}

@test "a file whose number another one has was deleted too" {
	need_guest uml
	make_changes reuse
	ino=$(awk -F'\t' '$14 == "again" { print $11 }' \
		"$(printf '%s\n' manifest.* | sort -t. -k2n | tail -1)")
	dump.nilfs2 find --deleted -i image | awk -v ino="$ino" '$2 == ino' \
		>reused
	[[ $(<reused) == *" /x/b" ]]
}

# In the same directory, between two checkpoints, and in the latest state.
@test "a file that another one with its name and number replaced was deleted" {
	need_guest uml
	looked_at 64M <<-EOF
	$(guest_look)
	cd "\$MNT"
	mkdir d
	echo first >d/f
	echo old >d/g
	look
	rm d/f
	echo second >d/f
	rm d/g
	echo new >d/g
	look
	rm d/f
	look
	cd /
	nilfs_umount
	EOF
	run -0 dump.nilfs2 find --deleted -i image
	[[ $output =~ ^\ +[0-9]+\ +([0-9]+)\ +/d/f$'\n'\ +[0-9]+\ +([0-9]+)\ +/d/f$ ]]
	[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
	run -0 dump.nilfs2 find --all -i image '/d/g'
	[[ $output =~ ^\ +[0-9]+\ +([0-9]+)\ +/d/g$'\n'\ +[0-9]+\ +([0-9]+)\ +/d/g$ ]]
	[ "${BASH_REMATCH[1]}" -eq "${BASH_REMATCH[2]}" ]
	dump.nilfs2 export --deleted image out
	[ "$(cat out/d/f out/d/f.~1~)" = $'second\nfirst' ]
}

@test "options that mean nothing are usage errors" {
	image=$corpus/snapshots/image
	for words in '--size many' '--type fx' '--newer soon' '-u root' \
		'-c 2 --all' '--all --deleted'; do
		# shellcheck disable=SC2086
		run -2 dump.nilfs2 find $words "$image"
	done
	run -0 dump.nilfs2 find "$image" nothing
	[ -z "$output" ]
	run -1 dump.nilfs2 find -c 999 "$image"
}

@test "a checkpoint that cannot be read is reported and skipped" {
	image=$(copy_image snapshots)
	dump.nilfs2 find -d "$image" >whole
	dump.nilfs2 set --expert --fix-checksums "$image" checkpoint:3 \
		'cp_ifile_inode.i_bmap[0]=0xffffffff' >/dev/null
	run -1 --separate-stderr dump.nilfs2 find -d "$image"
	[[ $stderr == *"checkpoint 3: "* ]]
	[ "${#stderr_lines[@]}" -eq 1 ]
	same "$(cat whole)" "$output"
}
