#!/bin/bash
# check.t - the container: its Dockerfile built and run by Podman, Buildah and Docker, the
# definition by Apptainer, all on an image that mmdebstrap makes, so no registry is needed.
# Docker and Apptainer are those of Debian, in fresh roots.  CS_TOOLS=docker chooses.
# shellcheck source=/dev/null
. "${TESTDATA:?is not set: run this by make check-packages}/packages/lib.sh"
need make
name=cscope-mpi-$version
why=$(no_root bookworm)
[ -z "$why" ] || skip_all "$why"

make_release() {
	make -C "$build" dist && tar -xzf "$build/$name.tar.gz"
}
ok "make dist makes the release" make_release
if ! fresh_root bookworm base; then
	skip_all "no root of bookworm can be made"
fi
rm -rf base
base=$build/packaging/roots/bookworm.tar
quick=(--backend cpu -m peer -s 64K --cell-limit 50ms --precision 20%)
two=(mpirun --oversubscribe -np 2)
# What a container may use where even this root may not raise its own limits.
limits=(--ulimit nofile=1024:1024 --ulimit nproc=4096:4096)

# ---- Podman and Buildah ----

# In a namespace where control groups are of one version: crun does not take both at once.
tool() { # podman|buildah ARGUMENT...
	local tool=$1
	shift
	# shellcheck disable=SC2016 # the shell's own dollars
	unshare --mount sh -c 'umount /sys/fs/cgroup/unified 2>/dev/null; exec "$@"' sh \
		"$tool" --root "$work/storage" --runroot "$work/run" "$@"
}
podman() { # ARGUMENT...
	tool podman --cgroup-manager cgroupfs --events-backend file "$@"
}
tools_gone() {
	tool podman rmi --all --force >/dev/null 2>&1
}
build_by() { # podman|buildah
	# a chroot works where containers are not allowed, as within one
	tool "$1" build --layers --isolation chroot --network host \
		--build-arg BASE=localhost/debian:12 -t cscope-mpi \
		-f "$name/packaging/container/Dockerfile" "$name"
}
contained() { # OPTION... IMAGE ARGUMENT...
	podman run --rm --network host "${limits[@]}" "$@"
}

# The libraries of an MPI of this machine, as a folder that can be bound into a container.
copy_mpi() {
	local library
	mkdir -p mpi/lib
	ldconfig -p | awk '/lib(mpi|open-rte|open-pal)[.]so[.]40 / { print $NF }' |
		while read -r library; do
			cp -L "$library" mpi/lib
		done
	[ -e mpi/lib/libmpi.so.40 ]
}
# A container per rank: all that a launcher gives its ranks must be seen in there.
rank_each() {
	env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "${two[@]}" \
		bash -c "$(declare -f tool podman contained)
			work=$work limits=(${limits[*]})
			"'contained --env-host --ipc host --pid host -v /tmp:/tmp "$@"' \
		bash --user 0 cscope-mpi "${quick[@]}"
}

of_podman() {
	if ! command -v podman >/dev/null; then
		skip "Podman builds the Dockerfile" "no podman"
		return
	fi
	at_end tools_gone
	podman import "$base" localhost/debian:12 >/dev/null 2>&1
	ok "Podman builds the Dockerfile" build_by podman || return
	if command -v buildah >/dev/null; then
		ok "... and Buildah, with the same layers" build_by buildah
	else
		skip "... and Buildah, with the same layers" "no buildah"
	fi
	if ! contained localhost/debian:12 true 2>says; then
		skip "Podman runs it" "no container runs here: $(tail -n 1 says)"
		return
	fi
	ok "Podman runs it: it measures" contained cscope-mpi "${quick[@]}"
	ok "... as two ranks of the image's own MPI" contained --entrypoint mpirun \
		cscope-mpi --oversubscribe -np 2 cscope-mpi "${quick[@]}" -f result
	ok "... not as root" eval \
		'[ "$(contained --entrypoint id cscope-mpi -un)" = cscope ]'
	ok "... with the CUDA backend" eval \
		'contained cscope-mpi --version | grep -E "^CUDA +kernels by nvcc "'
	if ! command -v mpirun >/dev/null || ! mpirun --version | grep -q '(Open MPI) 4'; then
		skip "... by this machine's mpirun, a rank per container" "no Open MPI 4 here"
	else
		ok "... by this machine's mpirun, a rank per container" rank_each
	fi
	if ! copy_mpi; then
		skip "... with this machine's MPI" "no libmpi.so.40 here"
	else
		ok "... with this machine's MPI" contained -v "$work/mpi:/opt/openmpi:ro" \
			--env LD_LIBRARY_PATH=/opt/openmpi/lib --entrypoint sh cscope-mpi -c '
			ldd /usr/bin/cscope-mpi | grep " /opt/openmpi/lib/libmpi.so.40 " &&
			exec cscope-mpi "$@"' sh "${quick[@]}"
	fi
}

# ---- Docker ----

of_docker() {
	local root=$work/docker
	fresh_root bookworm docker && in_root "$root" sh -ec "
		apt-get -qq update
		apt-get -qq install -y --no-install-recommends docker.io mount" >says 2>&1 &&
		cp "$base" "$root/debian.tar" && cp -R "$name" "$root/release"
	cat >"$root/start" <<-'END'
		mount -t tmpfs run /run
		dockerd --storage-driver vfs --iptables=false --bridge=none >/dockerd.log 2>&1 &
		for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
			sleep 1
			docker info >/dev/null 2>&1 && break
		done
		# a daemon that no container can be had of ends this
		docker import /debian.tar debian:12 && docker run --rm --network host debian:12 true || exit 77
		exec "$@"
	END
	if ! in_machine "$root" sh /start true >says 2>&1; then
		skip "Docker builds the Dockerfile, and it measures" \
			"no container of dockerd's runs here: $(tail -n 1 says)"
		return
	fi
	ok "Docker builds the Dockerfile" in_machine "$root" sh /start docker build \
		--network host --build-arg BASE=debian:12 -t cscope-mpi \
		-f /release/packaging/container/Dockerfile /release || return
	ok "... it measures" in_machine "$root" sh /start docker run --rm --network host \
		cscope-mpi "${quick[@]}"
	ok "... as two ranks of the image's own MPI, not as root" in_machine "$root" \
		sh /start docker run --rm --network host --entrypoint sh cscope-mpi -exc '
		[ "$(id -un)" = cscope ]
		exec "$@"' sh "${two[@]}" cscope-mpi "${quick[@]}"
}

# ---- Apptainer: as an ordinary user, with the image as a file where the definition names a
# registry ----

as_user() { # SCRIPT ARGUMENT...
	in_machine "$work/sid" setpriv --reuid 1000 --regid 1000 --clear-groups \
		env HOME=/home/user sh -exc 'cd
		'"$1" sh "${@:2}"
}
root_of_apptainer() {
	fresh_root sid sid && in_root "$work/sid" sh -exc "
		apt-get -qq -o Acquire::Check-Valid-Until=false update
		apt-get -qq install -y --no-install-recommends apptainer squashfuse fuse3 \
			uidmap mount
		echo user:x:1000:1000::/home/user:/bin/sh >>/etc/passwd
		echo user:x:1000: >>/etc/group
		echo user:100000:65536 | tee /etc/subuid >/etc/subgid
		echo 127.0.0.1 localhost >/etc/hosts
		touch /etc/localtime" && mkdir -p sid/home/user/base &&
		tar -xf "$base" -C sid/home/user/base --exclude './dev/*' &&
		cp /etc/resolv.conf sid/home/user/base/etc && cp -R "$name" sid/home/user/release &&
		sed -e 's/^Bootstrap: .*/Bootstrap: localimage/' -e 's|^From: .*|From: ../base|' \
			"$name/packaging/container/cscope-mpi.def" >sid/home/user/release/local.def &&
		chown -R 1000:1000 sid/home/user
}
of_apptainer() {
	if [ ! -e /dev/fuse ]; then
		skip "Apptainer builds the definition, as a user" "no /dev/fuse"
		return
	elif ! root_of_apptainer >says 2>&1; then
		skip "Apptainer builds the definition, as a user" \
			"no Apptainer of Debian sid: $(grep -m 1 '^E:' says)"
		return
	fi
	ok "Apptainer builds the definition, as a user" as_user '
		cd release
		apptainer build ../cscope-mpi.sif local.def' || return
	ok "... its image measures" as_user 'apptainer run cscope-mpi.sif "$@"' "${quick[@]}"
	ok "... as two ranks of the image's own MPI" as_user '
		apptainer exec cscope-mpi.sif "$@"' "${two[@]}" cscope-mpi "${quick[@]}"
	ok "... with the CUDA backend" as_user '
		apptainer run cscope-mpi.sif --version | grep -E "^CUDA +kernels by nvcc "'
	ok "... and says what it is" as_user 'apptainer run-help cscope-mpi.sif | grep Measures'
}

for tool in ${CS_TOOLS:-podman docker apptainer}; do
	"of_$tool"
done

finish
