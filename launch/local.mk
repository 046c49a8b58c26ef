# How jobs, prologs and health checks start the program; beside its other data.
launchdir = $(pkgdatadir)/launch
dist_launch_SCRIPTS = $(CS_LAUNCH)
# They have no --help of their own: their first lines are that.
AM_INSTALLCHECK_STD_OPTIONS_EXEMPT = $(CS_LAUNCH)
CS_LAUNCH = \
	%D%/fleet-files.sbatch \
	%D%/fleet-mpi.sbatch \
	%D%/fleet.pbs \
	%D%/flux-run \
	%D%/health-check \
	%D%/mpirun-hostfile \
	%D%/slurm-prolog \
	%D%/slurm-srun
