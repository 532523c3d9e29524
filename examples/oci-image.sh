#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# oci-image.sh FROM IMAGE [SPACE]: makes IMAGE of a container image, each layer a
# snapshot, with SPACE (64M) bytes free.  FROM is one of these directories:
#
#	an OCI image layout, as of "skopeo copy docker://debian oci:FROM" or
#	"podman save --format oci-dir -o FROM debian";
#	one of "skopeo copy docker://debian dir:FROM", or
#	"podman save --format docker-dir";
#	layers, as archives whose names sort from the lowest to the uppermost.
#
# Whiteouts remove files of the layers below.  Layers may be compressed.
# "mount -o ro,cp=N" shows the image as of its layer N.
set -eu
from=$1 image=$2 space=${3-64M}

# blob DIGEST: the file of the layout that has this digest, if that is right.
blob()
{
	file=$from/blobs/$(echo "$1" | tr : /)
	[ -e "$file" ] || file=$from/${1#*:}
	echo "${1#*:}  $file" | "${1%%:*}sum" --check --quiet >&2 || {
		echo "$file: is not $1" >&2
		return 1
	}
	echo "$file"
}

# The manifest that an index names first; an index may name another one.
manifest()
{
	next=$1
	while jq -e .manifests "$next" >/dev/null; do
		next=$(blob "$(jq -r '.manifests[0].digest' "$next")") || return
	done
	echo "$next"
}

# layers: their files, the lowest first.
layers()
{
	if [ -e "$from/index.json" ]; then
		found=$(manifest "$from/index.json") || return
	elif [ -e "$from/manifest.json" ]; then
		found=$from/manifest.json
	else
		find "$from" -maxdepth 1 -type f -name '*.tar*' | LC_ALL=C sort
		return
	fi
	for digest in $(jq -r '.layers[].digest' "$found"); do
		blob "$digest" || return
	done
}

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH-$(stat -c %Y "$from")}
export SOURCE_DATE_EPOCH

list=$(layers)
[ -n "$list" ] || {
	echo "$from: has no layers" >&2
	exit 1
}
set --
while read -r layer; do
	set -- "$@" -d "$layer"
done <<LIST
$list
LIST
mkfs.nilfs2 -q --oci --snapshot --size "auto+$space" -U content "$@" "$image"
fsck.nilfs2 -n "$image"
dump.nilfs2 checkpoints -s "$image"
