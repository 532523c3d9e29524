#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# layers.sh [SETS]: random layers of container images (1000 sets): what mkfs.nilfs2
# and umoci make of them, both compared with the model in layers.pl.
# NILFS2_BUILD and NILFS2_SOURCE say where programs and tests are.
set -u -o pipefail

PATH=$NILFS2_BUILD/dump:$PATH
. "$NILFS2_SOURCE/tests/mkfs/layers.bash"
# made_by_umoci: what umoci makes of the layers.
made_by_umoci() {
	local layer

	rm -rf oci unpacked
	umoci init --layout oci >said 2>&1
	umoci new --image oci:t >said 2>&1
	for layer in layers/*.tar; do
		umoci raw add-layer --image oci:t "$layer" >said 2>&1
	done
	if umoci raw unpack --rootless --image oci:t unpacked >said 2>&1; then
		list unpacked
	else
		echo refused
	fi
}

command -v umoci >/dev/null || { echo "umoci not found"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit

sets=${1-1000} here=0 peer=0 refused=0
for ((seed = 1; seed <= sets; seed++)); do
	make_layers "$seed" || exit
	read -r first <layers/wanted
	[ "$first" != refused ] || refused=$((refused + 1))
	made_here >here
	diff layers/wanted here ||
		{ echo "seed $seed: mkfs.nilfs2"; here=$((here + 1)); }
	made_by_umoci >peer
	diff layers/wanted peer || { echo "seed $seed: umoci"; peer=$((peer + 1)); }
done
printf '%-12s %8s %8s %8s\n' TOOL REFUSED CASES FAILED
printf '%-12s %8d %8d %8d\n' mkfs.nilfs2 $refused "$sets" $here \
	umoci $refused "$sets" $peer
[ $((here + peer)) -eq 0 ]
