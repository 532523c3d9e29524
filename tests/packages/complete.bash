#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# complete.bash WORD...: prints what bash offers for the last word, one on a
# line.  bash splits --option=value into three words, and so does the caller.
. "${NILFS2_SOURCE:?}/completion/nilfs2-progs.bash"
compopt() { :; }	# only works inside of a real completion
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_nilfs2_progs "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
