#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# dump.nilfs2 shell: its commands print what they print without it, paths against what
# the kernel listed, changes in memory, lines that are none, and a terminal.

bats_require_minimum_version 1.5.0
load ../kernel/lab

setup() {
	need_corpus
	cd "$BATS_TEST_TMPDIR" || return 1
	image=$(copy_image special)
	original=$corpus/special/image
}

teardown() {
	exec 9>&-
}

# shell LINE...: runs the lines on the image.
shell() {
	printf '%s\n' "$@" | dump.nilfs2 shell "$image"
}

expert() {
	printf '%s\n' "$@" | dump.nilfs2 shell --expert "$image"
}

# The lines of `commands`, with @ for the image.
as_commands() {
	set -f
	while read -r -a words; do
		dump.nilfs2 "${words[@]/#@/$image}" || return 1
	done
}

@test "each command prints what it prints without the shell" {
	export SOURCE_DATE_EPOCH=1000000000
	cat >commands <<-'LINES'
	info @
	info -v @
	info --json @
	segments @
	segments --json-lines @
	map @
	checkpoints -s @
	logs -s @
	logs --verify @ 0
	inode @ /links
	inode @ dat
	bmap @ /links
	bmap --json @ ifile
	dat @ 1..20
	block @ 0..40
	block --path @ 20
	ls @
	ls -lR @
	ls --recover @ /links
	ls --json -R -c 2 @ /names
	cat @ /links/a
	du @
	du --free 2 @
	find @ *a*
	find --deleted -l @
	history @ /links/a
	history --json @ 11
	export @ - /links
	report @
	LINES
	as_commands <commands >expected
	sed 's/ @//' commands >script
	dump.nilfs2 shell -f script "$image" >printed
	cmp expected printed
	dump.nilfs2 shell "$image" <script | cmp expected -
}

@test "options of every command are those of all lines" {
	for option in --json --json-lines --bytes --utc -v; do
		run -0 --separate-stderr dump.nilfs2 shell "$option" "$image" <<<"ls -l /"
		[ "$output" = "$(dump.nilfs2 ls -l "$option" "$image" /)" ]
	done
	run -0 --separate-stderr dump.nilfs2 shell -q "$image" <<<"-cat nowhere"
	dump.nilfs2 shell -C 5 "$image" <<<"report --json" 5>progress
	[ -s progress ]
}

@test "the image is opened once, and what was read stays in memory" {
	command -v strace >/dev/null || skip "needs strace"
	for script in 'ls -l' "$(yes 'ls -l' | head -n 20)"; do
		strace -y -e trace=openat,pread64,preadv -o trace \
			dump.nilfs2 shell -f <(echo "$script") "$image" >/dev/null
		grep -c -F "<$image>" trace
	done >counts
	[ "$(sort -u counts | wc -l)" -eq 1 ]
	[ "$(grep -c '^openat.*special' trace)" -eq 1 ]
}

@test "relative paths, names of any bytes, and inodes by number" {
	# Names of the kernel's list, where a byte is \OOO, in three kinds of quotes.
	grep -P '^\S\t.*\tnames/[^/]*$' "$corpus/special/manifest" | cut -f 11,14 |
		sed 's|names/||' | grep -vP '\t[0-9]+$' >list
	[ "$(wc -l <list)" -gt 20 ]
	perl -F'\t' -lane '
		BEGIN { print "cd names" }
		$_ = $F[1];
		s/\\([0-7]{3})/chr oct $1/ge;
		my $bytes = $_;
		s/([^a-z0-9])/sprintf "\\x%02x", ord $1/ge;
		print "inode -- $_";
		print "inode \"./$_\"";
		$_ = $bytes;
		s/([\\" \x27])/\\$1/g;
		print "inode -- $_" unless /[\t\n]/;
		print "inode -- \x27$bytes\x27" unless $bytes =~ /[\n\x27]/;
		print "pwd";' list >script
	dump.nilfs2 shell -f script "$image" >printed
	awk '/^Inode:/ { print $2 } /^\/names$/ { print "-" }' printed | uniq |
		grep -v -e - | cmp <(cut -f 1 list) -
}

@test "the current directory" {
	run -0 shell 'cd links' pwd 'cd ../names/.' pwd 'cd <16>' pwd 'cd ..' pwd cd pwd \
		'cd ../../links/' pwd
	[ "$output" = "/links
/names
<16>
<16>/..
/
/links" ]
	for line in 'ls' 'ls -l ../links' 'cat a' 'du' 'history ./a' 'ls <16>' 'ls <16>/..'; do
		run -0 shell 'cd links' "$line"
		[ -n "$output" ]
		case $line in
		ls) same='ls @ /links' ;;
		'ls -l'*) same='ls -l @ /links' ;;
		cat*) same='cat @ /links/a' ;;
		du) same='du @ /links' ;;
		history*) same='history @ /links/a' ;;
		'ls <16>') same='ls @ <16>' ;;
		*) same='ls @ /' ;;
		esac
		read -r -a words <<<"$same"
		[ "$output" = "$(dump.nilfs2 "${words[@]/#@/$image}")" ]
	done
	run -1 shell 'cd links/a'
	[[ $output == *"cd: /links/a"*": Not a directory"* ]]
	run -1 shell 'cd nowhere'
	[[ $output == *"/nowhere: not in checkpoint "* ]]
	# A number is an inode; ./ makes it a name.
	run -1 shell 'cd links' 'inode ./11'
	[[ $output == *"links/11: not in checkpoint "* ]]
}

@test "what a mount would recover, beside the state without it" {
	image=$(copy_image crash-dsync)
	file=/$(diff "$corpus"/crash-dsync/manifest.{norecovery,recovered} |
		awk -F '\t' '/^> f/ { print $14; exit }')
	dump.nilfs2 cat "$image" "$file" >without
	dump.nilfs2 cat --recover "$image" "$file" >with
	run -1 cmp -s without with
	shell "cat $file" "cat --recover $file" "cat $file" >printed
	cat without with without | cmp - printed
	run -2 shell 'checkout 1' 'ls --recover'
	[[ $output == *"--recover: not with --checkpoint"* ]]
}

@test "the current checkpoint, and an option for another" {
	image=$(copy_image snapshots)
	cno=$(dump.nilfs2 checkpoints -s "$image" | awk '$1 ~ /^[0-9]+$/ { print $1; exit }')
	run -0 shell "checkout $cno" 'ls -lR' 'ls -lR -c 0' 'checkout' 'ls -lR'
	old=$(dump.nilfs2 ls -lR -c "$cno" "$image")
	new=$(dump.nilfs2 ls -lR "$image")
	[ "$old" != "$new" ]
	[ "$output" = "$old
$new
$new" ]
	run -0 dump.nilfs2 shell -c "$cno" "$image" <<<'ls -lR'
	[ "$output" = "$old" ]
	run -1 shell 'checkout 4711'
	[[ $output == *"checkpoint 4711: does not exist"* ]]
	run -2 shell 'checkout x'
}

@test "the first command that fails ends a script, with its status" {
	run -1 --separate-stderr shell pwd 'cat nowhere' pwd
	[ "$output" = / ]
	[[ $stderr == *"standard input: line 2 failed, the shell ends" ]]
	run -2 --separate-stderr shell 'ls --nope' pwd
	[ -z "$output" ]
	[[ $stderr == *"Try 'help ls'."* ]]
	run -2 shell 'quit now'
	[[ $output == *"quit: unexpected argument 'now'"* ]]
	run -2 shell nope
	[[ $output == *"unknown command 'nope'"* ]]
	run -3 shell 'diff 2 0' pwd
	[[ $output != */ ]]
	run -0 --separate-stderr shell '# pwd' '' '  # pwd' '-cat nowhere' '-nope' pwd quit nope
	[ "$output" = / ]
	printf 'pwd\nnope\n' >script
	run -2 dump.nilfs2 shell -f script "$image"
	[[ $output == *"script: line 2 failed"* ]]
	run -1 dump.nilfs2 shell -f missing "$image"
	[[ $output == *"missing: No such file or directory" ]]
}

@test "commands that a shell has not, and help for those that it has" {
	run -2 shell "shell"
	[[ $output == *"not in a shell"* ]]
	run -2 shell "mount x"
	[[ $output == *"not in a shell"* ]]
	run -1 shell 'set super:1 s_volume_name=x'
	[[ $output == *"needs a shell with --expert"* ]]
	cmp "$image" "$original"
	run -0 shell help
	for command in cd pwd checkout quit stat ls block; do
		grep -q "^  $command " <<<"$output"
	done
	run grep -E '^  (mount|shell|set) ' <<<"$output"
	[ -z "$output" ]
	[ "$(shell 'help ls')" = "$(dump.nilfs2 help ls)" ]
	[[ $(shell 'help cd') == *"cd "*"[PATH]"* ]]
	[ "$(shell 'stat /links')" = "$(dump.nilfs2 inode "$image" /links)" ]
}

@test "lines that are none" {
	run -2 shell "ls 'links"
	[[ $output == *"the quote ' is not closed"* ]]
	run -2 shell 'ls "links'
	run -2 shell 'ls links\'
	[[ $output == *"a backslash must be followed by"* ]]
	run -2 shell 'ls \x0'
	run -2 shell 'ls \x00'
	run -2 shell 'ls \xzz'
	printf 'ls \0\n-pwd\n' >script
	run -2 dump.nilfs2 shell -f script "$image"
	[[ $output == *"the line contains a NUL byte"* ]]
	perl -e 'print "ls ", "x" x 70000, "\n"' >script
	run -2 dump.nilfs2 shell -f script "$image"
	[[ $output == *"the line is too long: 65535 bytes is the limit"* ]]
	# As long as a line may be: one word, many words, many directories.
	perl -e 'print "-ls ", "x" x 65000, "\n-ls", " x" x 32000, "\n-ls ", "a/" x 32000,
		"\n-cd ", "../" x 20000, "\n-cat ", "\\x41" x 16000, "\npwd"' >script
	run -0 --separate-stderr dump.nilfs2 shell -f script "$image"
	[ "$output" = / ]
	# Any bytes: no crash, and the file stays as it is.
	perl -e 'srand 5; print map chr(rand 255), 1 .. 200000' >script
	run timeout 60 dump.nilfs2 shell -f script "$image"
	[ "$status" -le 2 ]
	perl -e 'srand 6; my @c = ("\\", "\x27", "\"", " ", "x", "l", "s", "/", "<", "1", ">",
			"\n-ls ", "\n-cd ", "\n-inode ");
		print map $c[rand @c], 1 .. 20000' >script
	run timeout 60 dump.nilfs2 shell -f script "$image"
	[ "$status" -le 2 ]
	cmp "$image" "$original"
}

@test "a reader that goes away, a full disk and a signal end the shell" {
	yes 'ls -lR' | head -n 100000 >script
	run -1 bash -c 'set +o pipefail
		{ timeout 60 dump.nilfs2 shell -f script "$1"; echo $? >status; } | true
		exit "$(cat status)"' - "$image"
	[ -z "$output" ]
	run -1 bash -c 'echo pwd | dump.nilfs2 shell "$1" >/dev/full' - "$image"
	[[ $output == *"No space left on device"* ]]
	# Without --foreground the signal is sent twice, and the second one ends the process.
	run -124 --separate-stderr timeout --foreground -s INT 2 dump.nilfs2 shell \
		-f script "$image" 3>&-
	[ "$stderr" = "dump.nilfs2: interrupted" ]
}

@test "changes are seen by the next commands, and written by commit only" {
	field='set --fix-checksums super:1 s_volume_name=quince'
	run -1 --separate-stderr expert 'stat /links' "$field" \
		'set --fix-checksums inode:/links i_gid=12' 'stat /links' 'ls -l /' info
	[ "$(awk '/^i_gid:/ { print $2 }' <<<"$output")" = "0
12" ]
	[[ $output == *"      12"*" links"* ]]
	[[ $output == *"Label: "*" quince"* ]]
	[[ $stderr == *"the changes were not written"* ]]
	cmp "$image" "$original"
	run -0 expert "$field" discard info
	[[ $output == *"Label: "* && $output != *"Label: "*" quince"* ]]
	cmp "$image" "$original"
	# What is written is what `set` writes.
	cp "$image" other
	run -0 expert "$field" "${field/1/2}" 'set --fix-checksums inode:/links i_gid=12' \
		commit info
	dump.nilfs2 set --expert --fix-checksums other super:1 s_volume_name=quince
	dump.nilfs2 set --expert --fix-checksums other super:2 s_volume_name=quince
	dump.nilfs2 set --expert --fix-checksums other inode:/links i_gid=12
	cmp "$image" other
	run cmp "$image" "$original"
	[ "$status" -eq 1 ]
	[ "$(blkid -p -s LABEL -o value "$image")" = quince ]
}

@test "a change that fails leaves the others, and a commit that fails leaves the file" {
	run -1 expert 'set super:1 s_volume_name=quince' '-set super:1 s_volume_name=x nope=1' \
		info
	[[ $output == *"super:1 has no such field"* ]]
	[[ $output == *"quince"* ]]
	# The second superblock is behind the largest size of a file.
	printf '%s\n' 'set --fix-checksums inode:/links i_gid=12' \
		'set super:1 s_volume_name=quince' 'set super:2 s_volume_name=quince' \
		'-commit' info discard >script
	run -0 bash -c 'ulimit -f $(($(stat -c %s "$1") / 1024 - 8))
		dump.nilfs2 shell --expert -f script "$1" 2>&1 | cat' - "$image"
	[[ $output == *"File too large"*"quince"* ]]
	cmp "$image" "$original"
}

@test "with --expert, a volume without superblocks opens and can be repaired by hand" {
	dd if=/dev/zero of="$image" bs=1024 seek=1 count=1 conv=notrunc status=none
	end=$(($(stat -c %s "$image") / 4096 - 1))
	dd if=/dev/zero of="$image" bs=4096 seek=$end count=1 conv=notrunc status=none
	run -1 shell pwd
	run -1 expert 'set super:1 s_magic=0x3434' 'ls'
	[[ $output == *s_magic* ]]
}

@test "a damaged volume opens, and commands show what is left" {
	for super in 1 2; do
		dump.nilfs2 set --expert --fix-checksums "$image" super:$super \
			s_last_pseg=1000 s_last_seq=7 >changes
	done
	run -1 dump.nilfs2 ls "$image"
	dump.nilfs2 find --inodes "$image" >expected || [ $? -eq 1 ]
	[ -s expected ]
	run -0 --separate-stderr shell "-find --inodes" "-find --inodes" -ls pwd
	[ "$output" = "$(cat expected expected)
/" ]
	run -1 --separate-stderr shell info
	[ "$output" = "$(dump.nilfs2 info "$image")" ]
}

@test "a shell holds its image: others cannot change it, and with --expert not read it" {
	mkfifo lines
	for option in -q --expert; do
		: >said
		dump.nilfs2 shell "$option" "$image" <lines >said 3>&- &
		exec 9>lines
		echo pwd >&9
		for _ in {1..100}; do
			[ ! -s said ] || break
			sleep 0.1
		done
		run -1 --separate-stderr expert pwd
		[ -z "$output" ]
		[[ $stderr == *"another process"* ]]
		if [ "$option" = -q ]; then
			dump.nilfs2 info "$image" >info
		else
			run -1 dump.nilfs2 info "$image"
		fi
		exec 9>&-
		wait
	done
}

# on_terminal [OPTION...]: starts the shell on a terminal, which reads what type() writes.
on_terminal() {
	mkfifo typed
	TERM=xterm script -qfec "dump.nilfs2 shell $* '$image'" /dev/null \
		<typed >seen 2>&1 3>&- &
	exec 9>typed
	await 'nilfs2:/> $'
}

# await PATTERN: what was printed since type() matches it at last.
await() {
	for _ in {1..100}; do
		tail -c +"$((from + 1))" seen | tr -d '\r\0' | grep -aqE "$1" && return
		sleep 0.1
	done
	tail -c 500 seen
	return 1
}

type() {
	from=$(stat -c %s seen)
	# shellcheck disable=SC2059
	printf "$1" >&9
}

@test "a terminal: completion, history, and an interrupt ends a command only" {
	grep -q '^#define HAVE_LIBEDIT 1' "$NILFS2_BUILD/config.h" ||
		skip "built without libedit"
	image=$(copy_image sparse-2k)
	from=0
	on_terminal
	type 'pw\t\n'
	await '^/$'
	# far has 2 TiB and more, mostly holes.
	type 'ls -l f\t\n'
	await ' /far$'
	type 'ls zero\t\t'
	await 'zeroes +zeroes-far'
	type '\025cat far\n'
	sleep 1
	type '\003'
	await 'nilfs2:/> $'
	type 'pwd\n'
	await '^/$'
	type 'ls \003'
	await 'nilfs2:/> $'
	type '\033[A\n'
	await '^/$'
	type 'ls --ful\t f\t\n'
	await '\.[0-9]{9} .*/far$'
	type 'checkout 2\n'
	await 'nilfs2@2:/> $'
	type 'quit\n'
	wait
}

@test "a terminal: quit warns of changes once, and the pager gets the output" {
	from=0
	export PAGER='sed s/^/paged-/'
	on_terminal --expert --pager
	type 'set super:1 s_volume_name=quince\n'
	await '^paged-super:1 .*quince'
	await '/\*> $'
	type 'quit\n'
	await 'there are changes'
	await '/\*> $'
	type 'pwd\nquit\n'
	await 'there are changes'
	type 'quit\n'
	await 'the changes were not written'
	wait
	cmp "$image" "$original"
}
