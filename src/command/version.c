/* version.c - --version: all that a ticket needs and that can be known without MPI or a
 * GPU. */
#include "config.h"

#include <gnu/libc-version.h>

#include "base/print.h"
#include "command/command.h"
#include "file/document.h"
#include "job/mpi_comm.h"
#include "system/system.h"

int cs_command_version(const struct cs_options *opt, FILE *to, struct cs_err *err)
{
	char mpi[512], hwloc[64];

	(void)opt;
	cs_comm_library(mpi, sizeof(mpi));
	cs_topo_library(hwloc, sizeof(hwloc));
	cs_print_line(to, "cscope-mpi %s%s%s", PACKAGE_VERSION,
		      *CS_COMMIT ? " commit " : "", CS_COMMIT);
	cs_print_line(to, "compiler  %s", CS_COMPILER);
	cs_print_line(to, "CUDA      %s", CS_CUDA_SAYS);
	cs_print_line(to, "MPI       %s", mpi);
	cs_print_line(to, "hwloc     %s", hwloc);
	cs_print_line(to, "jansson   %s", cs_json_library());
	cs_print_line(to, "libc      glibc %s", gnu_get_libc_version());
	if (!ferror(to) && !fflush(to))
		return CS_EXIT_OK;
	cs_err_set(err, "cannot write to standard output");
	return CS_EXIT_CANNOT;
}
