#!/usr/bin/env zsh
# SPDX-License-Identifier: GPL-2.0-or-later
# complete.zsh LINE: types LINE and a tab into an interactive zsh, and prints
# what it shows until it is silent for a second.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($NILFS2_SOURCE/completion \$fpath)"
zpty -w shell "autoload -U compinit; compinit -u -D; LISTMAX=10000"
zpty -w shell "bindkey '^I' list-choices; stty cols 200; print rea''dy"
shown=
until [[ $shown == *ready* ]]; do
	zpty -r shell line || exit 1
	shown+=$line
done
zpty -w -n shell "$1"$'\t'
shown= silent=0
while ((silent < 20)); do
	if zpty -r -t shell line; then
		shown+=$line silent=0
	else
		sleep 0.05
		((silent++))
	fi
done
print -r -- "$shown"
zpty -d shell
