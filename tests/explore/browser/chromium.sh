#!/usr/bin/env bash
# chromium.sh run COMMAND...: a command that drives Chromium, which is installed if it is missing.
#
# Debian's packages, which takes root. Where that is not possible this says so, and goes on without
# the command.
set -euo pipefail

PACKAGES=(chromium chromium-driver)

missing() {
  local program
  for program in chromium chromedriver; do
    command -v "$program" >/dev/null || echo "$program"
  done
}

install_packages() {
  [ -n "$(missing)" ] || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing: $(missing | xargs). As root: apt-get install ${PACKAGES[*]}" >&2
    return 1
  fi
  apt-get update -qq &&
    DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq -y --no-install-recommends "${PACKAGES[@]}" >/dev/null
}

if [ "${1:-}" != run ] || [ $# -lt 2 ]; then
  sed -n '/^# /p' "$0"
  exit 2
fi
shift
if ! install_packages; then
  echo "Chromium is not here, and could not be installed. Skipped: $*" >&2
  exit 0
fi
CHROMIUM=$(command -v chromium) CHROMEDRIVER=$(command -v chromedriver) exec "$@"
