/* signal.c - touches by a CPU of managed pages that are away.
 *
 * They end in a signal.  Where the address is not of a managed range the signal goes to
 * whoever had it before. */
#include "fake.h"

#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction former;

/* A range may be given back between the touch of one thread and this signal: a page that
 * is there now is touched once more, and a second signal is what it says. */
static int was_given_back(const siginfo_t *info)
{
	static _Thread_local const void *last;

	if (info->si_code != SEGV_ACCERR || info->si_addr == last)
		return 0;
	last = info->si_addr;
	return 1;
}

/* The thread that ends here was in the program's code, so it has no lock of ours. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	int before = errno;

	if (fake_um_home((uintptr_t)info->si_addr) && !was_given_back(info)) {
		if (former.sa_flags & SA_SIGINFO)
			former.sa_sigaction(number, info, context);
		else if (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN)
			signal(number, SIG_DFL); /* it happens again, and ends */
		else
			former.sa_handler(number);
	}
	errno = before;
}

/* Whoever takes the signal later than a range is made takes it away from us: so each
 * time. */
void fake_um_catch(void)
{
	struct sigaction ours = { .sa_sigaction = on_fault,
				  .sa_flags = SA_SIGINFO | SA_ONSTACK };
	struct sigaction now;

	pthread_mutex_lock(&lock);
	if (!sigaction(SIGSEGV, NULL, &now) &&
	    !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)) {
		former = now;
		sigaction(SIGSEGV, &ours, NULL);
	}
	pthread_mutex_unlock(&lock);
}
