# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Blocks of 64 KiB, the largest.
BLOCK=65536
TREE=100
MKFS='-b 65536 -B 16'
