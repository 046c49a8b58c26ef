/* The kernel's answers are those of ioctl() below. */
#include <linux/ethtool.h>
#include <net/if.h>
#include <stdarg.h>
#include <sys/ioctl.h>

#include "system/system.h"
#include "tap.h"

#define WORDS 4

static uint32_t supported[WORDS];
static int n_words;

int ioctl(int fd, unsigned long request, ...)
{
	struct ethtool_link_settings *set;
	struct ifreq *asked;
	va_list args;

	(void)fd;
	(void)request;
	va_start(args, request);
	asked = va_arg(args, struct ifreq *);
	va_end(args);
	set = (void *)asked->ifr_data;
	if (strcmp(asked->ifr_name, "eth7") || set->cmd != ETHTOOL_GLINKSETTINGS)
		return -1;
	if (set->link_mode_masks_nwords != n_words) {
		set->link_mode_masks_nwords = (__s8)-n_words;
		return 0;
	}
	memcpy(set->link_mode_masks, supported, sizeof(supported));
	return 0;
}

/* A port that supports the mode of that bit, and slower ones. */
static int most_of(int bit)
{
	memset(supported, 0, sizeof(supported));
	supported[0] = 1u << 5 | 1u << 31; /* 1 and 25 Gb/s */
	supported[bit / 32] |= 1u << bit % 32;
	return cs_ethtool_gbits("eth7");
}

HOLDS("the fastest mode that a port supports is the most that it can do") {
	n_words = WORDS;
	t_eq_int(most_of(31), 25);
	t_eq_int(most_of(36), 100);
	t_eq_int(most_of(62), 200);
	t_eq_int(most_of(85), 400);
	t_eq_int(most_of(98), 800);
	/* of error correction */
	t_eq_int(most_of(50), 25);
}

HOLDS("… a kernel that knows fewer modes is understood") {
	n_words = 2;
	t_eq_int(most_of(36), 100);
	t_eq_int(most_of(85), 25);
}

HOLDS("… of no mode, as InfiniBand has none, and of no such port it is not known") {
	n_words = WORDS;
	memset(supported, 0, sizeof(supported));
	t_eq_int(cs_ethtool_gbits("eth7"), -1);
	t_eq_int(cs_ethtool_gbits("eth8"), -1);
}
