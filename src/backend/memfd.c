#include "backend/memfd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t cs_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

void *cs_shared_map(int64_t pid, int fd, uint64_t bytes, struct cs_err *err)
{
	char path[64];
	struct stat st;
	void *at = MAP_FAILED;
	int own;

	cs_text(path, sizeof(path), "/proc/%" PRId64 "/fd/%d", pid, fd);
	own = open(path, O_RDWR | O_CLOEXEC);
	if (own < 0) {
		cs_err_set(err,
			   "cannot open the memory of a peer, \"%s\": %s (errno %d)%s",
			   path, strerror(errno), errno,
			   errno == EACCES || errno == EPERM ?
				   "; all ranks of a node must run as one user" :
				   "");
		return NULL;
	}
	/* Beyond its end a mapping is SIGBUS. */
	if (fstat(own, &st) || (uint64_t)st.st_size < bytes)
		cs_err_set(err,
			   "the memory of a peer, \"%s\", is less than %" PRIu64
			   " bytes",
			   path, bytes);
	else if ((at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, own,
			    0)) == MAP_FAILED)
		cs_err_set(err,
			   "cannot map the memory of a peer, \"%s\": %s (errno %d)",
			   path, strerror(errno), errno);
	close(own);
	return at == MAP_FAILED ? NULL : at;
}
