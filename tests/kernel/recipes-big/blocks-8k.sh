# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of 8 KiB; the large file's tree has three levels.
BLOCK=8192
TREE=1700
MKFS='-b 8192 -B 64'
