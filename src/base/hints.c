#include "config.h"

#include "base/hints.h"

#include <string.h>
#include <strings.h>

#define ONLY(...) (const char *const[]){ __VA_ARGS__, NULL }

/* The driver's numbers. */
#define CUDA(number, name_)                                                    \
	.key = "cuda-" #number, .name = name_, .of = CS_HINT_OF_CUDA,          \
	.code = { number }

static const struct cs_hint rows[CS_HINTS] = {
	[CS_HINT_CUDA_2] = {
		CUDA(2, "CUDA_ERROR_OUT_OF_MEMORY"),
		/* pinning host memory gives the same code for other reasons */
		.calls = ONLY("cuDevicePrimaryCtxRetain", "cuMemAlloc"),
		.brief = "the GPU has no memory left: who else uses it?",
		.means = "The GPU has too little free memory for a context or for "
			 "the buffers. Usually another process holds it.",
		.remedy = "Find that process with nvidia-smi and end it, or use "
			  "smaller buffers (--size). --dry-run prints how much "
			  "memory each GPU needs.",
	},
	[CS_HINT_CUDA_34] = {
		CUDA(34, "CUDA_ERROR_STUB_LIBRARY"),
		.brief = "this is the stub library of the CUDA toolkit: take its "
			 "folder lib64/stubs out of LD_LIBRARY_PATH",
		.means = "The libcuda.so.1 that was loaded comes with the CUDA "
			 "toolkit for linking only. It drives no GPU.",
		.remedy = "Remove the toolkit's folder lib64/stubs from "
			  "LD_LIBRARY_PATH; then the driver's own library is found.",
	},
	[CS_HINT_CUDA_46] = {
		CUDA(46, "CUDA_ERROR_DEVICE_UNAVAILABLE"),
		.brief = "another process holds the GPU, or its compute mode "
			 "forbids this one: see nvidia-smi -q -d COMPUTE",
		.means = "The driver refuses a context on the GPU: its compute mode "
			 "is exclusive and another process has it, or prohibited.",
		.remedy = "nvidia-smi -q -d COMPUTE shows the mode, nvidia-smi the "
			  "process. End the process, or have the mode set to "
			  "DEFAULT. See also --explain exclusive-process.",
	},
	[CS_HINT_CUDA_100] = {
		CUDA(100, "CUDA_ERROR_NO_DEVICE"),
		.brief = "no GPU is visible: see CUDA_VISIBLE_DEVICES and what "
			 "the launcher granted",
		.means = "The driver is installed, but this process may not use any "
			 "GPU.",
		.remedy = "Check CUDA_VISIBLE_DEVICES (empty means none), what the "
			  "scheduler granted (Slurm: --gpus-per-node), and in a "
			  "container its --gpus option. nvidia-smi -L "
			  "lists the GPUs of the node.",
	},
	[CS_HINT_CUDA_209] = {
		CUDA(209, "CUDA_ERROR_NO_BINARY_FOR_GPU"),
		.brief = "built without code for this GPU: set NVCC_GENCODE at configure",
		.means = "The program contains no kernels for this GPU.",
		.remedy = "Build it again with NVCC_GENCODE at configure naming "
			  "the GPU's compute capability.",
	},
	[CS_HINT_CUDA_214] = {
		CUDA(214, "CUDA_ERROR_ECC_UNCORRECTABLE"),
		.brief = "the GPU's memory lost data: see nvidia-smi -q -d "
			 "ECC,ROW_REMAPPER",
		.means = "The GPU's memory had an ECC error that could not be "
			 "corrected. The process cannot use any GPU any more. Do "
			 "not trust figures of this GPU until it is repaired.",
		.remedy = "Drain the node. nvidia-smi -q -d ECC,ROW_REMAPPER and "
			  "Xid lines in dmesg show what happened. A reset of the "
			  "GPU completes a pending row remap. If the error comes "
			  "back, have the GPU replaced.",
	},
	[CS_HINT_CUDA_217] = {
		CUDA(217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"),
		.brief = "these two GPUs cannot reach each other's memory",
		.means = "The driver allows no direct path between these two GPUs: "
			 "there is no NVLink, and no PCIe path that it supports.",
		.remedy = "nvidia-smi topo -p2p r shows all pairs. No option of "
			  "this program changes that; the pair's cells are skipped.",
	},
	[CS_HINT_CUDA_222] = {
		CUDA(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"),
		.brief = "the driver is older than the CUDA toolkit of this program",
		.means = "The driver cannot compile kernels made by a toolkit "
			 "newer than itself.",
		.remedy = "Build with a CUDA toolkit no newer than the driver's "
			  "CUDA version, which nvidia-smi shows, or update the driver.",
	},
	[CS_HINT_CUDA_304] = {
		CUDA(304, "CUDA_ERROR_OPERATING_SYSTEM"),
		.brief = "the operating system refused the driver: see "
			 "/dev/nvidia*, ulimit -n and dmesg",
		.means = "A system call of the driver failed. The driver does not "
			 "say which: a device file may be missing or not "
			 "accessible, or a limit may be too low.",
		.remedy = "Check that /dev/nvidiactl, /dev/nvidia-uvm and "
			  "/dev/nvidia0 ... exist and that this user can open them, "
			  "also in the container; check ulimit -n and dmesg. "
			  "strace -f -e trace=openat,ioctl shows the failing call.",
	},
	[CS_HINT_CUDA_711] = {
		CUDA(711, "CUDA_ERROR_TOO_MANY_PEERS"),
		.brief = "the GPU takes no more peers at the same time",
		.means = "GPUs without NVSwitch map a limited number of peers at "
			 "once, about eight, counted over all processes.",
		.remedy = "Measure some GPUs at a time, e.g. --gpus 0-7, and end "
			  "other programs that hold peers of this GPU.",
	},
	[CS_HINT_CUDA_802] = {
		CUDA(802, "CUDA_ERROR_SYSTEM_NOT_READY"),
		.brief = "is nvidia-fabricmanager running?",
		.means = "NVSwitches connect the GPUs, and they were not set up "
			 "since the last boot or reset. CUDA does not start until "
			 "they are.",
		.remedy = "systemctl status nvidia-fabricmanager: it must run, in "
			  "exactly the driver's version. In a virtual machine it "
			  "runs on the host. nvidia-smi -q shows the state under Fabric.",
	},
	[CS_HINT_CUDA_803] = {
		CUDA(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
		.brief = "libcuda.so.1 and the loaded kernel module are of "
			 "different driver versions",
		.means = "The driver was updated while the old kernel module was "
			 "loaded, or a container has its own libcuda.so.1.",
		.remedy = "Compare cat /proc/driver/nvidia/version with the file "
			  "that libcuda.so.1 points to. Reload the module or "
			  "reboot; in a container let the NVIDIA runtime mount "
			  "the host's library.",
	},
	[CS_HINT_CUDA_804] = {
		CUDA(804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"),
		.brief = "take the cuda-compat library out of LD_LIBRARY_PATH",
		.means = "The libcuda.so.1 that was loaded is the forward "
			 "compatibility package (cuda-compat), which this GPU or "
			 "this driver does not support.",
		.remedy = "Remove its folder (often /usr/local/cuda/compat) from "
			  "LD_LIBRARY_PATH or the image's ld.so.conf, so that "
			  "the driver's own library is found.",
	},
	[CS_HINT_CUDA_999] = {
		CUDA(999, "CUDA_ERROR_UNKNOWN"),
		.brief = "the kernel module may say why: see NVRM and Xid in dmesg",
		.means = "The driver failed and gives no reason. During its start "
			 "the usual cause is a missing /dev/nvidia-uvm or a broken "
			 "module; later it is the GPU.",
		.remedy = "Look for NVRM and Xid lines in dmesg. Check that "
			  "/dev/nvidia-uvm exists (nvidia-modprobe -u -c 0 creates "
			  "it) and that nvidia-smi still works.",
	},
	[CS_HINT_NVML_ABSENT] = {
		.key = "nvml-absent",
		.of = CS_HINT_OF_NVML,
		.brief = "in a container set NVIDIA_DRIVER_CAPABILITIES=compute,utility",
		.means = "The management library libnvidia-ml.so.1 cannot be "
			 "loaded. Bandwidths are measured anyway, but the state of "
			 "links, clocks, ECC and other processes is unknown, and "
			 "figures have no share of their link.",
		.remedy = "It comes with the driver: install the driver's "
			  "packages completely. In a container see --explain "
			  "container-utility.",
	},
	[CS_HINT_NVML_15] = {
		.key = "nvml-15",
		.name = "NVML_ERROR_GPU_IS_LOST",
		.of = CS_HINT_OF_NVML,
		.code = { 15 },
		.brief = "the GPU fell off the bus: see Xid 79 in dmesg",
		.means = "The kernel module can no longer reach a GPU over PCIe. "
			 "CUDA shows one GPU less, or fails.",
		.remedy = "Drain the node and reboot it; if that is not enough, "
			  "power-cycle it. If the error comes back, check seating, "
			  "power and riser, or replace the GPU.",
	},
	[CS_HINT_NVML_18] = {
		.key = "nvml-18",
		.name = "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
		.of = CS_HINT_OF_NVML,
		.code = { 18 },
		.brief = "the library and the loaded kernel module are of "
			 "different driver versions",
		.means = "The driver was updated while the old kernel module was "
			 "loaded. nvidia-smi fails in the same way; CUDA's error "
			 "is 803.",
		.remedy = "Reload the module when nobody uses a GPU, or reboot. "
			  "In a container let the NVIDIA runtime mount the host's "
			  "libraries.",
	},
	[CS_HINT_IPC_CGROUP] = {
		.key = "ipc-cgroup",
		.of = CS_HINT_OF_CUDA,
		.code = { 1, 101 },
		.calls = ONLY("cuIpcOpenMemHandle"),
		.brief = "if the peer's GPU is hidden from this task, ask Slurm "
			 "for --gpu-bind=none",
		.means = "CUDA IPC opens a peer's buffer only if this process may "
			 "use the peer's GPU. A scheduler that confines each task "
			 "to its own GPU with a device cgroup prevents that; "
			 "CUDA_VISIBLE_DEVICES alone does not.",
		.remedy = "Slurm: --gpus-per-node=N --gpu-bind=none instead of "
			  "--gpus-per-task or --gpu-bind=single. Or one process "
			  "for all GPUs: start a single task.",
	},
	[CS_HINT_IPC_NAMESPACE] = {
		.key = "ipc-namespace",
		.brief = "run the containers with --pid=host",
		.means = "CUDA IPC works only between processes of one PID "
			 "namespace. With one container per rank, each rank has "
			 "its own.",
		.remedy = "Run all ranks of a node in one container, or each "
			  "container with --pid=host (Kubernetes: hostPID).",
	},
	[CS_HINT_IPC_MIG] = {
		.key = "ipc-mig",
		.brief = "MIG instances have neither peer access nor CUDA IPC",
		.means = "MIG instances are isolated: the driver gives them "
			 "neither peer access nor CUDA IPC, not even to an "
			 "instance of the same GPU.",
		.remedy = "To measure links between GPUs, switch MIG off "
			  "(nvidia-smi -mig 0, then a reset of the GPU).",
	},
	[CS_HINT_LAUNCHER_ONE_GPU] = {
		.key = "launcher-one-gpu",
		.brief = "give each rank its own GPU, or let all see all",
		.means = "Each task sees one GPU (--gpus-per-task=1, "
			 "--gpu-bind=single:1, or a wrapper that sets "
			 "CUDA_VISIBLE_DEVICES). A wrapper is harmless; a device "
			 "cgroup prevents CUDA IPC between the tasks, and two "
			 "tasks may get the same GPU.",
		.remedy = "Slurm: --gpus-per-node=N --gpu-bind=none. Every rank "
			  "then sees all GPUs, and this program divides them.",
	},
	[CS_HINT_LAUNCHER_ONE_CORE] = {
		.key = "launcher-one-core",
		.brief = "ask the launcher for --cpu-bind=none",
		.means = "The launcher gave each rank one core, often of the wrong "
			 "socket. Threads that drive GPUs then share it with MPI, "
			 "and a process cannot leave its cgroup's CPUs.",
		.remedy = "srun --cpu-bind=none with enough --cpus-per-task, or "
			  "mpirun --bind-to none: this program then binds each "
			  "thread to the NUMA node of its GPU (--bind).",
	},
	[CS_HINT_LAUNCHER_PMIX] = {
		.key = "launcher-pmix",
		.brief = "use 'srun --mpi=pmix', or '--no-mpi' for independent processes",
		.means = "srun started several tasks, but without an MPI plugin that "
			 "this MPI library supports, so each task runs as a job of "
			 "its own.",
		.remedy = "srun --mpi=pmix; srun --mpi=list shows what Slurm has. "
			  "Without pmix: mpirun inside sbatch or salloc.",
	},
	[CS_HINT_LAUNCHER_MPI] = {
		.key = "launcher-mpi",
		.brief = "use the launcher of the MPI library this program was "
			 "built with, or '--no-mpi' for independent processes",
		.means = "The launcher belongs to another MPI library than the "
			 "program: processes do not find each other, and each is "
			 "rank 0.",
		.remedy = "ldd cscope-mpi shows the MPI library of the program: "
			  "start it with that one's mpirun, or build it with the "
			  "mpicc that belongs to your mpirun.",
	},
	[CS_HINT_EXCLUSIVE_PROCESS] = {
		.key = "exclusive-process",
		.means = "In compute mode EXCLUSIVE_PROCESS only one process at a "
			 "time can have a context on a GPU. Two runs, or two ranks "
			 "on one GPU, cannot use it together: the second one gets "
			 "CUDA error 46.",
		.remedy = "Run them one after the other, or have the mode set to "
			  "DEFAULT (nvidia-smi -c 0).",
	},
	[CS_HINT_DEV_SHM] = {
		.key = "dev-shm",
		.brief = "in a container, docker run --shm-size=1g or --ipc=host",
		.means = "MPI libraries and NCCL keep shared memory in /dev/shm, "
			 "which has 64 MiB in a container by default. When it is "
			 "full, MPI_Init fails or a rank dies with SIGBUS. This "
			 "program's own segments are memfds and do not use it.",
		.remedy = "docker run --shm-size=1g or --ipc=host; Kubernetes: an "
			  "emptyDir of medium Memory at /dev/shm. Without a "
			  "launcher, or with --no-mpi, nothing needs it.",
	},
	[CS_HINT_CONTAINER_UTILITY] = {
		.key = "container-utility",
		.brief = "add 'utility' to this container's NVIDIA_DRIVER_CAPABILITIES",
		.means = "The container has the driver capability 'compute' but "
			 "not 'utility': CUDA works, but nvidia-smi and NVML are "
			 "missing.",
		.remedy = "docker run -e NVIDIA_DRIVER_CAPABILITIES="
			  "compute,utility, or the same ENV in the image.",
	},
	[CS_HINT_TWO_PROCESSES] = {
		.key = "two-processes",
		.brief = "--placement thread, or one rank",
		.means = "A pointer of one process is not valid in another, so "
			 "--via direct and cuMemcpyPeerAsync need both GPUs in "
			 "one process.",
		.remedy = "Let one process drive all GPUs: --placement thread, "
			  "mpirun -np 1, or no launcher. Without --via the pair "
			  "is measured through CUDA IPC.",
	},
	[CS_HINT_ONE_PROCESS] = {
		.key = "one-process",
		.brief = "--placement process, or a rank per GPU",
		.means = "CUDA IPC cannot open a buffer in the process that "
			 "allocated it, so --via ipc needs one process per GPU.",
		.remedy = "Start a rank per GPU, or --placement process. Without "
			  "--via the pair is measured through its pointer.",
	},
};

const struct cs_hint *cs_hint(enum cs_hint_id id)
{
	return &rows[id];
}

const struct cs_hint *cs_hint_find(const char *text)
{
	int number = *text && !text[strspn(text, "0123456789")];

	for (size_t i = 0; i < CS_HINTS; i++) {
		const struct cs_hint *h = &rows[i];

		if (!strcasecmp(h->key, text) ||
		    (h->name && !strcasecmp(h->name, text)) ||
		    (number && !strcmp(strchr(h->key, '-') + 1, text)))
			return h;
	}
	return NULL;
}

const char *cs_hint_brief(enum cs_hint_id id)
{
	return rows[id].brief;
}

static int holds_for(const struct cs_hint *h, const char *call)
{
	if (!h->calls)
		return 1;
	for (const char *const *c = h->calls; *c; c++)
		if (!strcmp(*c, call))
			return 1;
	return 0;
}

static const char *by_code(enum cs_hint_of of, int code, const char *call)
{
	for (size_t i = 0; i < CS_HINTS && code; i++)
		if (rows[i].of == of &&
		    (rows[i].code[0] == code || rows[i].code[1] == code) &&
		    holds_for(&rows[i], call))
			return rows[i].brief;
	return NULL;
}

const char *cs_hint_cuda(int code, const char *call)
{
	return by_code(CS_HINT_OF_CUDA, code, call);
}

const char *cs_hint_nvml(int code)
{
	return by_code(CS_HINT_OF_NVML, code, "");
}
