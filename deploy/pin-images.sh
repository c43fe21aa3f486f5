#!/usr/bin/env bash
# Pins the images of a deployment: writes behind each tag in the given files the digest that the registry has for it now.
#   deploy/pin-images.sh deploy/team/.env
#   deploy/pin-images.sh deploy/kubernetes/*.yml
# An image that is pinned gets the digest of today. Needs docker with buildx, and the registries.
set -euo pipefail

[ "$#" -gt 0 ] || { echo "usage: $0 FILE…" >&2; exit 2; }

# NAME_IMAGE=image:tag of an .env file, image: name:tag of a manifest. What has no slash and no tag of a registry is built here.
references() {
    sed -nE 's/^[[:space:]]*(-[[:space:]]+)?([A-Z]+_IMAGE=|image:[[:space:]]+)([A-Za-z0-9./_-]+:[A-Za-z0-9._-]+)(@sha256:[0-9a-f]{64})?([[:space:]].*)?$/\3/p' "$@" |
        grep -v '^suyuan:' | sort -u
}

for image in $(references "$@"); do
    digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
    if ! [[ "$digest" =~ ^sha256:[0-9a-f]{64}$ ]]; then
        echo "$image: the registry gave no digest: $digest" >&2
        exit 1
    fi
    for file in "$@"; do
        escaped=${image//./\\.}
        pinned=$(sed -E "s#((_IMAGE=|image:[[:space:]]+)$escaped)(@sha256:[0-9a-f]{64})?([[:space:]]|\$)#\\1@$digest\\4#" "$file")
        printf '%s\n' "$pinned" >"$file"
    done
    echo "$image@$digest"
done
