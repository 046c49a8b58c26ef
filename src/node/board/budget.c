#include "node/board/budget.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "node/board/board.h"

/* Left for the end of a run: findings, files, contexts that are destroyed.  Of a short
 * budget a quarter. */
#define RESERVE_S 3.0
#define NVML_SHARE 0.3
#define CELLS_SHARE 0.1 /* less than this is not worth the start */
#define GRACE_S 1.0
#define GRACE_SHARE 0.125

void cs_budget_init(struct cs_budget *budget, double seconds, double began_s,
		    int ranks)
{
	double reserve = fmin(RESERVE_S, seconds / 4);

	*budget = (struct cs_budget){ 0,	INFINITY, INFINITY,
				      INFINITY, INFINITY, INFINITY,
				      INFINITY, INFINITY, INFINITY };
	if (!(seconds > 0))
		return;
	budget->seconds = seconds;
	budget->grace_s = ranks ? fmin(GRACE_S, seconds * GRACE_SHARE) : 0;
	budget->end_s = began_s + seconds - budget->grace_s;
	budget->nvml_s = began_s + seconds * NVML_SHARE;
	budget->steps_s = budget->end_s - reserve;
	budget->start_s = budget->steps_s - seconds * CELLS_SHARE;
	budget->waits_s = budget->end_s - reserve / 2;
	budget->close_s = budget->end_s - reserve / 4;
	budget->files_s = budget->end_s - reserve / 8;
}

double cs_within(double limit_s, double end_s)
{
	return fmax(fmin(limit_s, end_s - cs_clock_s()), 0);
}

/* Field 22 of stat, in ticks since boot; after the name, which may contain blanks and
 * brackets. */
static double started_s(void)
{
	FILE *stat = fopen("/proc/self/stat", "re");
	unsigned long long ticks = 0;
	char line[1024], *at = NULL;

	if (stat && fgets(line, sizeof(line), stat))
		at = strrchr(line, ')');
	if (!at || sscanf(at + 1,
			  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			  "%*u %*u %*d %*d %*d %*d %*d %*d %llu",
			  &ticks) != 1)
		ticks = 0;
	if (stat)
		fclose(stat);
	return ticks ? (double)ticks / (double)sysconf(_SC_CLK_TCK) : NAN;
}

double cs_process_age_s(double most_s)
{
	double started = started_s();
	struct timespec now;

	if (isnan(started) || clock_gettime(CLOCK_BOOTTIME, &now))
		return 0;
	return fmax(fmin((double)now.tv_sec + 1e-9 * (double)now.tv_nsec - started,
			 most_s),
		    0);
}
