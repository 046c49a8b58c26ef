#!/bin/bash
# check.t - the container: built by buildah on an image that mmdebstrap makes, so
# no registry is needed; the Apptainer definition by what its sections say, in fresh roots,
# where there is no Apptainer.
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
quick=(--backend cpu -m peer -s 64K --cell-limit 50ms --precision 20%)

# ---- Dockerfile ----

# Isolation by chroot works where containers are not allowed, as within one.
image() {
	buildah --root "$work/storage" --runroot "$work/run" "$@"
}
image_gone() {
	image rm --all >/dev/null 2>&1
	image rmi --all --force >/dev/null 2>&1
	umount "$work/storage/overlay" 2>/dev/null
}
build_image() {
	fresh_root bookworm base && echo "FROM scratch
		ADD bookworm.tar /" | image build --isolation chroot -t localhost/debian:12 \
		-f - "$build/packaging/roots" && rm -rf base &&
		image build --isolation chroot --network host \
			--build-arg BASE=localhost/debian:12 -t cscope-mpi \
			-f "$name/packaging/container/Dockerfile" "$name" &&
		container=$(image from cscope-mpi)
}
within() { # COMMAND...
	image run --isolation chroot --network host "$container" -- "$@"
}
if ! command -v buildah >/dev/null; then
	skip "buildah builds the Dockerfile" "no buildah"
else
	at_end image_gone
	ok "buildah builds the Dockerfile" build_image && {
		ok "... it measures" within cscope-mpi "${quick[@]}"
		ok "... as two ranks of the image's own MPI" within \
			mpirun --oversubscribe -np 2 cscope-mpi "${quick[@]}" -f result
		ok "... not as root" eval '[ "$(within id -un)" = cscope ]'
		ok "... with the CUDA backend" eval \
			'within cscope-mpi --version | grep -E "^CUDA +kernels by nvcc "'
		ok "... and is the image's command" eval \
			'image inspect --type image --format "{{.OCIv1.Config.Entrypoint}}" cscope-mpi |
			 grep -Fx "[cscope-mpi]"'
	}
fi

# ---- Apptainer ----

# A section of one of the definition's stages.
section() { # STAGE NAME
	awk -v stage="$1" -v name="%$2" '
	/^Bootstrap:/ { n++; inside = 0 }
	/^%/ { inside = n == stage && $0 == name; next }
	inside' "$name/packaging/container/cscope-mpi.def"
}
definition() {
	fresh_root bookworm one && cp -R "$name" one/release &&
		in_root "$work/one" sh -exc "$(section 1 post)" &&
		fresh_root bookworm two && cp -R one/out two/ &&
		cp "$name/packaging/container/install" two/out/ &&
		in_root "$work/two" sh -exc "$(section 2 post)"
}
def_runs() { # OPTION...
	in_root "$work/two" su cscope -c "set -- $*; $(section 2 runscript)"
}
if command -v apptainer >/dev/null; then
	ok "Apptainer builds the definition" apptainer build \
		--disable-cache image.sif "$name/packaging/container/cscope-mpi.def"
else
	skip "Apptainer builds the definition" "no apptainer"
fi
ok "what the definition's stages do makes a root" definition && {
	ok "... its runscript measures, not as root" def_runs "${quick[@]}"
}

finish
