# SPDX-License-Identifier: GPL-2.0-or-later
# Sorted "OFFSET LENGTH" lines: those that touch become one.
NR > 1 && $1 == end { end += $2; next }
NR > 1 { printf "%d %d\n", start, end - start }
{ start = $1; end = $1 + $2 }
END { if (NR) printf "%d %d\n", start, end - start }
