#!/bin/bash
# cluster.sh - several hosts on this machine and a real Slurm over them; what
# cluster.t shares.
#
#	cluster_begin "$0" "$@"	once more in namespaces of our own, or why not
#	make_hosts 4		cs1 ... cs4, and this shell is on `head`
#	start_slurm
#	on_host cs2 COMMAND...
#	drop cs2		as if its power went
#
# A host is a network on a bridge, a name, process ids, mounts, and /tmp and /dev/shm
# of its own.  Files are shared below /mnt alone.  All of it lives in the namespaces
# of one shell, whose end is the end of every process and mount: nothing is left,
# however it ends.

shared=/mnt
packages='slurm-wlm munge iproute2'	# Debian's names
# $cluster_tools: of a test that needs others than Slurm's

# ---- namespaces of our own ----

missing_tools() {
	local tool
	for tool in unshare nsenter ip mount; do
		command -v "$tool" >/dev/null || echo "$tool"
	done
	for tool in ${cluster_tools:-slurmctld slurmd munged srun sbatch}; do
		command -v "$tool" >/dev/null || echo "$tool"
	done
}

why_no_cluster() {
	local tools
	tools=$(missing_tools | tr '\n' ' ')
	if [ "$(id -u)" != 0 ]; then
		echo "only root can make hosts"
	elif [ -n "$tools" ]; then
		echo "no ${tools% }: apt-get install $packages"
	elif ! unshare -mnp -f --mount-proc true 2>/dev/null; then
		echo "namespaces are not allowed here"
	else
		case $CS_PROGRAM:$FAKE:$TESTDATA in
		*:$shared/* | $shared/*) echo "the build lies below $shared" ;;
		esac
	fi
}

# The files of the build, at names that do not depend on it.
share_files() {
	mount -t tmpfs cluster $shared || return
	mkdir $shared/{program,fake,source,hosts,work,slurm}
	mount --bind "$(dirname "$CS_PROGRAM")" $shared/program &&
		mount --bind "$FAKE" $shared/fake &&
		mount --bind "$TESTDATA/.." $shared/source || return
	export CSCOPE=$shared/program/tests/program/cscope-mpi FAKE=$shared/fake
	export TMPDIR=$shared/work TESTDATA=$shared/source/tests
}

cluster_begin() { # SCRIPT ARGUMENT...
	local why
	if [ "${CS_CLUSTER:-}" = inside ]; then
		share_files
		return
	fi
	why=$(why_no_cluster)
	if [ -n "$why" ]; then
		echo "1..0 # SKIP $why"
		exit 0
	fi
	CS_CLUSTER=inside exec unshare --mount --net --uts --ipc --pid --fork \
		--kill-child --mount-proc "$@"
}

# ---- hosts ----

# The first process of a host; its folder has been made.
host_init() { # HOST
	hostname "$1" &&
		mount --bind $shared/hosts/table /etc/hosts &&
		mount -t tmpfs tmp /tmp && mount -t tmpfs shm /dev/shm || return
	: >"$shared/hosts/$1/ready"
	while :; do
		sleep 3600 & # so that orphans are waited for
		wait
	done
}

# A number and not a name, for those that are not in its process ids.
init_of() { # HOST
	cat "$shared/hosts/$1/init"
}

on_host() { # HOST COMMAND...
	local pid
	pid=$(init_of "$1")
	shift
	nsenter -t "$pid" --mount --net --uts --ipc --pid "$@"
}

make_host() { # NUMBER
	local host=cs$1 pid
	rm -rf "${shared:?}/hosts/$host"
	mkdir "$shared/hosts/$host"
	unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc \
		bash -c ". '$TESTDATA/cluster/cluster.sh'; host_init $host" &
	until_true 10 test -e "$shared/hosts/$host/ready" || return
	pid=$(pgrep -P $!)
	echo "$pid" >"$shared/hosts/$host/init"
	ip link add "$host" type veth peer name eth0 netns "$pid" &&
		ip link set "$host" master bridge up &&
		on_host "$host" ip addr add "10.77.0.$1/24" dev eth0 &&
		on_host "$host" ip link set eth0 up &&
		on_host "$host" ip link set lo up
}

make_hosts() { # HOW_MANY
	local i
	hostname head
	ip link set lo up && ip link add bridge type bridge &&
		ip link set bridge up && ip addr add 10.77.0.254/24 dev bridge || return
	{
		echo "127.0.0.1 localhost"
		echo "10.77.0.254 head"
		for ((i = 1; i <= $1; i++)); do
			echo "10.77.0.$i cs$i"
		done
	} >$shared/hosts/table
	mount --bind $shared/hosts/table /etc/hosts || return
	for ((i = 1; i <= $1; i++)); do
		make_host "$i" || return
	done
}

# First the cable, so that nobody hears its end.
drop() { # HOST
	ip link set "$1" down && kill -KILL "$(init_of "$1")"
}

# ---- Slurm ----

write_slurm_conf() { # HOSTS
	cat <<-CONF
		ClusterName=cs
		SlurmctldHost=head(10.77.0.254)
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$shared/slurm/munge
		CryptoType=crypto/munge
		MpiDefault=none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		StateSaveLocation=$shared/slurm/state
		SlurmdSpoolDir=$shared/slurm/spool-%n
		SlurmctldPidFile=$shared/slurm/ctld.pid
		SlurmdPidFile=$shared/slurm/slurmd-%n.pid
		SlurmctldLogFile=$shared/slurm/ctld.log
		SlurmdLogFile=$shared/slurm/slurmd-%n.log
		Prolog=$shared/slurm/prolog
		ReturnToService=2
		SlurmdTimeout=15
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		SlurmdParameters=config_overrides
		GresTypes=gpu
		NodeName=cs[1-$1] Gres=gpu:2 CPUs=16 Boards=1 SocketsPerBoard=1 CoresPerSocket=16 ThreadsPerCore=1 RealMemory=1000 State=UNKNOWN
		PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE
	CONF
}

start_munge() {
	head -c 1024 /dev/urandom >$shared/slurm/key
	chmod 400 $shared/slurm/key
	munged --force --key-file=$shared/slurm/key --socket=$shared/slurm/munge \
		--pid-file=$shared/slurm/munged.pid --seed-file=$shared/slurm/seed \
		--log-file=$shared/slurm/munged.log
}

all_idle() { # HOSTS
	[ "$(sinfo -h -t idle -o %D 2>/dev/null)" = "$1" ]
}

start_slurm() { # HOSTS
	local i
	export SLURM_CONF=$shared/slurm/slurm.conf
	mkdir $shared/slurm/state
	write_slurm_conf "$1" >"$SLURM_CONF"
	mknod $shared/slurm/gpu0 c 1 3 && mknod $shared/slurm/gpu1 c 1 3 || return
	echo "Name=gpu File=$shared/slurm/gpu[0-1]" >$shared/slurm/gres.conf
	printf '#!/bin/sh\nexit 0\n' >$shared/slurm/prolog
	chmod +x $shared/slurm/prolog
	start_munge || return
	slurmctld -D >$shared/slurm/ctld.out 2>&1 &
	for ((i = 1; i <= $1; i++)); do
		mkdir "$shared/slurm/spool-cs$i"
		on_host "cs$i" slurmd -D -N "cs$i" >"$shared/slurm/slurmd-cs$i.out" 2>&1 &
	done
	until_true 30 all_idle "$1"
}
