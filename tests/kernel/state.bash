# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Loaded by lab and by tests that need nothing else of it.

# state_of FILE: changes with each write to it.
state_of() {
	stat -c '%s %y %z' "$1"
}
