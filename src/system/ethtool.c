/* ethtool.c - how fast the port of a network interface can be, by the modes that its driver
 * supports, and which driver that is.  Ports of InfiniBand report no modes. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/internal.h"

#define WORDS_MOST 127 /* of a mask: the count is a signed byte */

/* Bits of enum ethtool_link_mode_bit_indices, which older headers do not all have; the
 * others are below 25 Gb/s, of error correction, or of the kind of port. */
static const struct {
	unsigned first, last;
	int gbits;
} modes[] = {
	{ 23, 26, 40 },	   { 27, 30, 56 },  { 31, 33, 25 },    { 34, 35, 50 },
	{ 36, 39, 100 },   { 40, 40, 50 },  { 52, 56, 50 },    { 57, 61, 100 },
	{ 62, 66, 200 },   { 69, 73, 400 }, { 75, 79, 100 },   { 80, 84, 200 },
	{ 85, 89, 400 },   { 93, 98, 800 }, { 103, 108, 200 }, { 109, 114, 400 },
	{ 115, 120, 800 },
};

/* `mask`: of the modes that are supported */
static int fastest(const uint32_t *mask, unsigned words)
{
	int gbits = -1;

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		for (unsigned b = modes[i].first; b <= modes[i].last; b++)
			if (b / 32 < words && mask[b / 32] >> b % 32 & 1 &&
			    modes[i].gbits > gbits)
				gbits = modes[i].gbits;
	return gbits;
}

/* A socket for requests about the interface; -1: none. */
static int open_request(const char *net, void *data, struct ifreq *request)
{
	*request = (struct ifreq){ .ifr_data = data };
	cs_text(request->ifr_name, sizeof(request->ifr_name), "%s", net);
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

int cs_ethtool_driver(const char *net, char *to, size_t size)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request;
	int fd = open_request(net, &info, &request);

	to[0] = '\0';
	if (fd < 0)
		return 0;
	if (!ioctl(fd, SIOCETHTOOL, &request))
		cs_text(to, size, "%.*s", (int)sizeof(info.driver), info.driver);
	close(fd);
	return to[0] && !info.bus_info[0];
}

int cs_ethtool_gbits(const char *net)
{
	uint32_t room[sizeof(struct ethtool_link_settings) / 4 + 3 * WORDS_MOST] = { 0 };
	struct ethtool_link_settings *set = (void *)room;
	struct ifreq request;
	int fd = open_request(net, room, &request), gbits = -1;

	if (fd < 0)
		return -1;
	/* the first call is answered with the number of words, below 0 */
	for (int call = 0; call < 2; call++) {
		set->cmd = ETHTOOL_GLINKSETTINGS;
		set->link_mode_masks_nwords = (__s8)-set->link_mode_masks_nwords;
		if (ioctl(fd, SIOCETHTOOL, &request))
			break;
		if (set->link_mode_masks_nwords > 0)
			gbits = fastest(room + sizeof(*set) / 4,
					(unsigned)set->link_mode_masks_nwords);
	}
	close(fd);
	return gbits;
}
