# SPDX-License-Identifier: GPL-2.0-or-later
# Completion in bash.  Options, commands and words come from the tools
# themselves (--list-options), so that nothing has to be kept up to date here;
# what an argument is follows from its name in the help.

# Prints the checkpoints of the first image on the command line.
_nilfs2_progs_checkpoints()
{
	local word
	for word in "${COMP_WORDS[@]:1}"; do
		[ -f "$word" ] || [ -b "$word" ] || continue
		dump.nilfs2 -q checkpoints "$word" 2>/dev/null |
			awk '$1 ~ /^[0-9]+$/ { print $1 }'
		return
	done
}

# Completes $cur, an argument named $1 in the help, from the words $2.
_nilfs2_progs_argument()
{
	local before= name=${1#[=} item
	if [ -n "$2" ]; then
		case $cur in *,*) before=${cur%,*}, ;; esac
		item=${cur#"$before"}
		case $item in [+^]*) before+=${item:0:1} ;; esac
		mapfile -t COMPREPLY < <(compgen -P "$before" -W "$2" -- \
			"${cur#"$before"}")
		return
	fi
	case $name in
	*CNO* | RANGE)
		mapfile -t COMPREPLY < <(compgen -W \
			"$(_nilfs2_progs_checkpoints)" -- "$cur")
		;;
	*FILE* | *DIR* | SOURCE | IMAGE | DEVICE)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		;;
	*[a-z]*'|'*)
		mapfile -t COMPREPLY < <(compgen -W "${name//[|\]A-Z]/ }" -- \
			"$cur")
		;;
	esac
}

_nilfs2_progs()
{
	local tool=$1 cur=${COMP_WORDS[COMP_CWORD]} prev=$3 assigned=
	local command= kind letter name arg words place=0 row rows i
	local options=() commands=() arguments=

	# --option=value comes as three words.
	if [ "$cur" = = ]; then
		cur= assigned=1
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]} assigned=1
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-* | =) ;;
		*)
			[ "$tool" = dump.nilfs2 ] || [ "${tool##*/}" = \
				dump.nilfs2 ] || break
			command=${COMP_WORDS[i]}
			break
			;;
		esac
	done
	rows=$("$tool" ${command:+"$command"} --list-options 2>/dev/null) ||
		return 0
	while IFS= read -r row; do
		IFS=$'\x1f' read -r kind letter name arg words _ \
			<<<"${row//$'\t'/$'\x1f'}"
		case $kind in
		command) commands+=("$letter") ;;
		arguments) arguments=$letter ;;
		option)
			options+=($letter $name)
			[ -n "$arg" ] || continue
			[ "$prev" = "$letter" ] || [ "$prev" = "$name" ] ||
				continue
			[ -n "$assigned" ] || [ "${arg:0:1}" != '[' ] ||
				continue
			_nilfs2_progs_argument "$arg" "$words"
			return 0
			;;
		esac
	done <<<"$rows"

	if [ "${cur:0:1}" = - ]; then
		mapfile -t COMPREPLY < <(compgen -W "${options[*]}" -- "$cur")
		return 0
	fi
	if [ ${#commands[@]} -gt 0 ] && [ -z "$command" ]; then
		mapfile -t COMPREPLY < <(compgen -W "${commands[*]} help" -- \
			"$cur")
		return 0
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-* | = | "$command") ;;
		*) ((place++)) ;;
		esac
	done
	set -- $arguments
	while [ $# -gt 1 ] && [ $place -gt 0 ]; do
		shift
		((place--))
	done
	_nilfs2_progs_argument "${1-}" ""
} && complete -F _nilfs2_progs \
	mkfs.nilfs2 fsck.nilfs2 gc.nilfs2 gcsim.nilfs2 dump.nilfs2
