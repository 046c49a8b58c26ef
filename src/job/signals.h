/* signals.h - signals as data: blocked everywhere, read where it suits. */
#ifndef CS_JOB_SIGNALS_H
#define CS_JOB_SIGNALS_H

/* Before the first thread: block SIGINT, SIGTERM, SIGHUP and SIGUSR1 in all of
 * them, and `also` if not 0, ignore SIGPIPE and SIGXFSZ.  Returns a descriptor to poll,
 * or -1. */
int cs_signals_open(int also);
/* The next signal that came, or 0.  Does not block. */
int cs_signals_next(int fd);
/* "SIGTERM", of those that are read. */
const char *cs_signal_name(int number);

#endif
