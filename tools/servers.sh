#!/bin/sh
# Sees to it that there are Redis, PostgreSQL and nginx for the tests that need them: installs Debian's where that can be done unasked.
set -u

wanted=""
command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1 || wanted="$wanted redis-server"
command -v nginx >/dev/null 2>&1 || [ -x /usr/sbin/nginx ] || wanted="$wanted nginx"
command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || wanted="$wanted postgresql"
[ -n "$wanted" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
    as_root="none"
    if [ "$(id -u)" -eq 0 ]; then as_root=""; elif sudo -n true 2>/dev/null; then as_root="sudo -n"; fi
    if [ "$as_root" != none ]; then
        # shellcheck disable=SC2086 # both are lists of words
        if { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $wanted; } >/dev/null 2>&1; then
            exit 0
        fi
    fi
fi

echo "Not installed:$wanted. Tests that need them are skipped. To install them: sudo apt-get install -y$wanted"
exit 0
