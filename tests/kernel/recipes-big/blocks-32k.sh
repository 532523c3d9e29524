# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of 32 KiB, the smallest segments.
BLOCK=32768
TREE=150
MKFS='-b 32768 -B 16'
