/* signals.h - signals as data: blocked everywhere, and read from a descriptor. */
#pragma once

/* Block SIGINT, SIGTERM, SIGHUP and SIGUSR1, and `also` if not 0, in all threads;
 * ignore SIGPIPE and SIGXFSZ.  Call it before the first thread.  Returns a
 * descriptor to poll, or -1: signals then do what they do by default, because only
 * SIGKILL would end a process that blocks signals and cannot read them. */
int cs_signals_open(int also);
/* The next signal that has arrived, or 0.  Does not block. */
int cs_signals_next(int fd);
/* "SIGTERM"; only for the signals above. */
const char *cs_signal_name(int number);
