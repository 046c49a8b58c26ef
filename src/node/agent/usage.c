#include "node/agent/usage.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double seconds(const struct rusage *r)
{
	return (double)(r->ru_utime.tv_sec + r->ru_stime.tv_sec) +
	       1e-6 * (double)(r->ru_utime.tv_usec + r->ru_stime.tv_usec);
}

/* "Pss:    1234 kB"; Linux 4.14 and later. */
static int64_t share_bytes(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	long long kib = -1;
	char line[160];

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %lld kB", &kib) != 1)
			kib = -1;
	if (f)
		fclose(f);
	return kib < 0 ? -1 : kib * 1024;
}

static int64_t resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long long pages = -1;

	if (f && fscanf(f, "%*s %lld", &pages) != 1)
		pages = -1;
	if (f)
		fclose(f);
	return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

void cs_usage_read(int with_memory, struct cs_usage *out)
{
	struct rusage thread, process;

	cs_usage_init(out);
	if (getrusage(RUSAGE_THREAD, &thread) || getrusage(RUSAGE_SELF, &process))
		return;
	out->cpu_s = seconds(&thread);
	out->voluntary = thread.ru_nvcsw;
	out->involuntary = thread.ru_nivcsw;
	out->process_cpu_s = seconds(&process);
	out->process_voluntary = process.ru_nvcsw;
	out->process_involuntary = process.ru_nivcsw;
	if (with_memory)
		out->host_bytes = share_bytes();
	if (with_memory && out->host_bytes < 0)
		out->host_bytes = resident_bytes();
}

static int64_t since(int64_t before, int64_t now)
{
	return before < 0 || now < before ? -1 : now - before;
}

void cs_usage_since(const struct cs_usage *before, const struct cs_usage *now,
		    struct cs_usage *out)
{
	*out = (struct cs_usage){
		.cpu_s = now->cpu_s - before->cpu_s,
		.process_cpu_s = now->process_cpu_s - before->process_cpu_s,
		.voluntary = since(before->voluntary, now->voluntary),
		.involuntary = since(before->involuntary, now->involuntary),
		.process_voluntary = since(before->process_voluntary,
					   now->process_voluntary),
		.process_involuntary = since(before->process_involuntary,
					     now->process_involuntary),
		.host_bytes = now->host_bytes,
	};
}

double cs_usage_of_thread(pthread_t thread)
{
	struct timespec used;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &used))
		return -1;
	return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}
