#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command in a copy of this checkout on a bare Debian, to see what a user's fresh machine lacks.
set -euo pipefail

usage() {
  cat <<'END_OF_HELP'
Usage: scripts/ci/bare.sh [--folder FOLDER] [--keep] [--check] COMMAND [ARGUMENT...]

Makes a bare Debian of this machine's release in a new folder (debootstrap; a minute), with ca-certificates, git and
make in it, copies the checkout without build/ to /gemm64 there, and runs COMMAND in that. The machine's package
sources, certificates, host names and settings of pip and npm come along; what is installed here does not.

  --folder FOLDER  where it is made, $TMPDIR or /var/tmp otherwise; 12 GB are needed for all tests
  --keep           leaves it there, and says how to look inside
  --check          only says whether this machine can; no COMMAND is needed
  --help           this text

Exit: COMMAND's own; 125 where a bare Debian could not be made (no root, no debootstrap, no room), 2 bad usage.
Example: scripts/ci/bare.sh sh -c 'make sim && make test'
END_OF_HELP
}

parent=${TMPDIR:-/var/tmp}
keep=no
check=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --folder) [[ $# -ge 2 ]] || { echo "bare: --folder needs a folder" >&2; exit 2; }; parent=$2; shift ;;
    --keep) keep=yes ;;
    --check) check=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) echo "bare: no option is called '$1'; see scripts/ci/bare.sh --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
[[ $# -gt 0 || $check == yes ]] || { usage >&2; exit 2; }

cannot() { echo "bare: no bare Debian can be made: $1" >&2; exit 125; }

[[ $(id -u) -eq 0 ]] || cannot "only root can, and this is $(id -un)"
[[ -d $parent ]] || cannot "there is no folder $parent"
for tool in debootstrap unshare chroot; do
  command -v "$tool" >/dev/null || cannot "$tool is missing (apt-get install debootstrap util-linux coreutils)"
done
unshare --mount --pid --fork true 2>/dev/null || cannot "this root may not mount (unshare failed)"
free=$(df --output=avail -k "$parent" | tail -n 1)
[[ $free -ge 12000000 ]] || cannot "$parent has $((free / 1000000)) GB left, and 12 are needed"
# The release and the mirror of this machine's own main packages.
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  awk -v release="$release" '$1 == release {print $2; exit}') || true
[[ -n $release && -n $mirror ]] || cannot "apt has no source of Debian $release here"
[[ $check == no ]] || exit 0

checkout=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d "$parent/gemm64-bare.XXXXXX")
chmod 755 "$root"  # apt fetches as a user of its own
cleanup() {
  if [[ $keep == yes ]]; then
    echo "bare: kept; look inside with: chroot $root" >&2
  else
    rm -rf --one-file-system "$root"
  fi
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "bare: making Debian $release in $root"
debootstrap --variant=minbase --include=ca-certificates,git,make "$release" "$root" "$mirror" >"$root.log" 2>&1 || {
  tail -n 5 "$root.log" >&2
  rm -f "$root.log"
  cannot "debootstrap failed (see above)"
}
rm -f "$root.log"

# What leads to packages: sources, certificates, names, and the settings of pip and npm.
rm -f "$root/etc/apt/sources.list"
for file in etc/apt/sources.list etc/apt/sources.list.d etc/apt/apt.conf.d etc/apt/auth.conf.d etc/apt/keyrings \
  usr/share/keyrings etc/hosts etc/resolv.conf etc/ssl/certs usr/local/share/ca-certificates etc/pip.conf etc/npmrc \
  "${HOME#/}/.config/pip" "${HOME#/}/.npmrc"; do
  [[ -e /$file ]] || continue
  mkdir -p "$root/$(dirname "$file")"
  cp -rL --remove-destination "/$file" "$root/$(dirname "$file")/" 2>/dev/null || true
done
# Hooks of apt name programs that are not there.
rm -f "$root"/etc/apt/apt.conf.d/{20packagekit,50appstream,70debconf}
chroot "$root" update-ca-certificates >/dev/null 2>&1 || true

# It lives for minutes: no package needs to be safe on the disk.
mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/bare"
echo 'Acquire::Languages "none";' >"$root/etc/apt/apt.conf.d/99bare"

mkdir "$root/gemm64"
tar -C "$checkout" --exclude=./build -cf - . | tar -C "$root/gemm64" --no-same-owner -xf -

# No variable of this shell but those that lead to packages.
variables=(HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
while IFS='=' read -r name _; do variables+=("$name=${!name}"); done < <(
  env | grep -E '^(https?_proxy|no_proxy|HTTPS?_PROXY|NO_PROXY|PIP_[A-Z_]+|npm_config_[a-z_]+|SSL_CERT_(FILE|DIR)|[A-Z]+_CA_(BUNDLE|CERTS)|NODE_EXTRA_CA_CERTS)=')

# Mounts and processes of its own, which end with it.
status=0
unshare --mount --pid --fork --kill-child bash -c '
  root=$1; shift
  mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 125
  exec chroot "$root" "$@"' bash "$root" \
  env -i "${variables[@]}" sh -c 'cd /gemm64 && exec "$@"' sh "$@" || status=$?
exit "$status"
