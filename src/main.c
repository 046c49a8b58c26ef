/* main.c - argv to exit status. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "job/gpu_trial.h"
#include "node/board/board.h"

/* A standard descriptor that is closed would go to the next file that is opened,
 * and what is printed into that file.  Writing to this stdout still fails. */
static void fill_standard(void)
{
	static const char *const stand_in[] = { "/dev/null", "/dev/full",
						"/dev/null" };

	for (int fd = 0; fd <= 2; fd++)
		/* cppcheck-suppress leakReturnValNotUsed ; it is for good */
		if (fcntl(fd, F_GETFD) < 0 && open(stand_in[fd], O_RDWR) != fd)
			return; /* a machine without them */
}

/* MPI libraries and UCX print to stdout: put descriptor 1 aside for the report,
 * and let all that others print go to stderr. */
static FILE *keep_stdout(void)
{
	int fd = fcntl(1, F_DUPFD_CLOEXEC, 3);

	fflush(stdout);
	if (fd < 0 || dup2(2, 1) < 0)
		return stdout;
	return fdopen(fd, "w");
}

int main(int argc, char **argv)
{
	static struct cs_options options;
	struct cs_call call = {
		.opt = &options, .argc = argc, .argv = argv, .began_s = cs_clock_s()
	};
	struct cs_err err = { "" };

	if (argc == CS_GPU_TRIAL_ARGS && !strcmp(argv[1], CS_GPU_TRIAL))
		return cs_gpu_trial_main(argv);
	fill_standard();
	call.to = keep_stdout();
	cs_launcher_detect(&call.launcher);
	if (!cs_options_parse(argc, argv, &options, &err)) {
		if (options.unused[0] && call.launcher.rank <= 0)
			cs_complain(options.unused);
		return cs_command_status(&options, cs_command_run(&call));
	}
	if (call.launcher.rank <= 0)
		cs_complain(err.text);
	else /* a launcher ends all at the first bad status */
		nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
	return cs_command_status(&options, CS_EXIT_USAGE);
}
