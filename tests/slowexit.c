/* slowexit.c - preloaded: a process takes two seconds to end, as on a busy machine. */
#include <time.h>

__attribute__((destructor)) static void linger(void)
{
	nanosleep(&(struct timespec){ 2, 0 }, NULL);
}
