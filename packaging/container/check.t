#!/bin/bash
# check.t - the container: built by podman or buildah on an image that mmdebstrap makes, so
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

pod() {
	podman --root "$work/storage" --runroot "$work/run" "$@"
}
storage_gone() {
	pod system reset --force >/dev/null 2>&1
	umount "$work/storage/overlay" 2>/dev/null
}
build_image() {
	fresh_root bookworm base && rm -rf base &&
		pod import "$build/packaging/roots/bookworm.tar" localhost/debian:12 &&
		pod build --network host --build-arg BASE=localhost/debian:12 \
			-f "$name/packaging/container/Dockerfile" -t cscope-mpi "$name"
}
# Two ranks by the image's own MPI.
image_ranks() {
	pod run --rm --network host --entrypoint mpirun cscope-mpi --oversubscribe -np 2 \
		cscope-mpi "${quick[@]}" -f result
}
if ! command -v podman >/dev/null; then
	skip "podman builds the Dockerfile" "no podman"
else
	at_end storage_gone
	ok "podman builds the Dockerfile" build_image && {
		ok "... it measures" pod run --rm --network host cscope-mpi "${quick[@]}"
		ok "... as two ranks" image_ranks
		ok "... not as root" eval \
			'[ "$(pod run --rm --network host --entrypoint id cscope-mpi -un)" = cscope ]'
		ok "... with the CUDA backend" eval \
			'pod run --rm --network host cscope-mpi --version | grep -E "^CUDA +kernels by nvcc "'
	}
fi

# ---- Apptainer ----

# A section of one of the definition's stages.
section() { # STAGE NAME
	awk -v stage="$1" -v name="%$2" '
	/^Bootstrap:/ { n++ }
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
