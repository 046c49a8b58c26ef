# shellcheck shell=bash
# lib.sh - what the checks of packaging/ share; they source it.
#
#	. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
#	need shellcheck jq	else all is skipped, with the tool's name
#	ok "a sentence" COMMAND...
#	skip "a sentence" WHY
#	fresh_root bookworm root && in_root "$work/root" apt-get update
#	finish
#
# $top: the sources; $build: where they were built; $version: theirs.  It works in an
# empty folder of its own, which goes at the end.  `at_end COMMAND` runs before that.
top=$(cd "$TESTDATA/.." && pwd) || exit 1
build=$PWD
version=$(sed -n "s/^VERSION = //p" Makefile)
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES # of the make that runs this
at_end=()

at_end() { # COMMAND
	at_end=("$1" "${at_end[@]}")
}

leave() {
	local command
	cd / || return
	for command in "${at_end[@]}"; do
		eval "$command"
	done
	rm -rf "$work"
}
trap leave EXIT
cd "$work" || exit 1

need() { # TOOL...
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip_all "no $tool"
	done
}

# ---- fresh roots of distributions ----

# Unpack a new root of a release of Debian or Ubuntu.  What mmdebstrap made of the mirror is
# kept beside the build for the next one.  A mirror may be a copy of some other day.
fresh_root() { # SUITE FOLDER
	local suite=$1 tar=$build/packaging/roots/$1.tar
	local -a from=("http://deb.debian.org/debian")
	if [ "$suite" = noble ]; then
		from=(--keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
			"deb http://archive.ubuntu.com/ubuntu noble main universe")
	fi
	if [ "$suite" = sid ]; then
		from=(--keyring=/usr/share/keyrings/debian-archive-keyring.gpg "${from[@]}")
	fi
	if [ ! -e "$tar" ]; then
		mkdir -p "${tar%/*}"
		mmdebstrap --quiet --variant=apt \
			--aptopt='Acquire::Check-Valid-Until "false"' "$suite" "$tar.new.tar" "${from[@]}" &&
			mv "$tar.new.tar" "$tar" || return 1
	fi
	mkdir "$2" && tar -xf "$tar" -C "$2" && cp /etc/resolv.conf "$2/etc/"
}

# Print why no fresh root of a release can be made here; nothing where it can.
no_root() { # SUITE
	if [ "$(id -u)" != 0 ]; then
		echo "needs root"
	elif ! command -v mmdebstrap >/dev/null; then
		echo "no mmdebstrap"
	elif [ "$1" = noble ] && [ ! -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ]; then
		echo "no key of Ubuntu (package ubuntu-keyring)"
	fi
}

# A command in a root, with processes and mounts of its own, and this machine's network.
in_root() { # FOLDER COMMAND...
	# shellcheck disable=SC2016 # the shell's own dollars
	enter 'mount --rbind /sys sys && mount -t tmpfs shm dev/shm && exec chroot . "$@"' "$@"
}

# The same where container tools run: all that is mounted and every device is its own.
# The root has Debian's package mount.
in_machine() { # FOLDER COMMAND...
	# shellcheck disable=SC2016 # the shell's own dollars
	enter 'mount --rbind /sys sys && mount -t tmpfs dev dev &&
		for device in null zero full random urandom tty fuse; do
			cp -a "/dev/$device" dev/ && chmod 666 "dev/$device" || exit
		done
		ln -s /proc/self/fd dev/fd && ln -s fd/0 dev/stdin && ln -s fd/1 dev/stdout &&
		ln -s fd/2 dev/stderr && mkdir dev/shm dev/pts && mount -t tmpfs shm dev/shm &&
		mount -t devpts -o newinstance,ptmxmode=666 pts dev/pts &&
		ln -s pts/ptmx dev/ptmx && mkdir -p .outside && pivot_root . .outside &&
		cd / && umount -l /.outside && exec "$@"' "$@"
}

enter() { # SCRIPT FOLDER COMMAND...
	local script=$1 root=$2
	shift 2
	unshare --mount --pid --fork sh -c '
		mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc || exit
		script=$2
		shift 2
		eval "$script"' sh "$root" "$script" env -i HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# ---- answers ----

is_empty() { # FILE
	cat "$1"
	[ -f "$1" ] && [ ! -s "$1" ]
}
