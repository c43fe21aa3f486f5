#!/bin/sh
# Sees to it that there is a browser for the tests that need one: installs Debian's Chromium where that can be done unasked.
set -u

for name in google-chrome google-chrome-stable chromium chromium-browser chrome msedge microsoft-edge microsoft-edge-stable; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done

if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" -eq 0 ]; then
        as_root=""
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        as_root="none"
    fi
    if [ "$as_root" != none ]; then
        log=$(mktemp)
        if { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium chromium-sandbox; } >"$log" 2>&1; then
            rm -f "$log"
            exit 0
        fi
        tail -n 3 "$log" >&2
        rm -f "$log"
    fi
fi

echo "No Chrome or Chromium: tests that need one are skipped. To install it: sudo apt-get install -y chromium (or https://www.google.com/chrome/)"
exit 0
