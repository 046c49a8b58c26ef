/* carried.c - which network devices carried bytes, by counters before and after.  Ports of
 * RDMA devices count in sysfs; interfaces in /proc/net/dev, which has those of the own
 * network namespace: /sys/class/net may be another's. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "system/internal.h"

/* Bytes of a packet that are no message: without options but TCP's time stamps, of IPv4. */
#define HEAD_TCP 66	   /* Ethernet, IP, TCP */
#define HEAD_ROCE 58	   /* Ethernet, IP, UDP, transport, check sum */
#define HEAD_INFINIBAND 24 /* addresses, transport, check sum */

#define SHARE_LEAST 0.05 /* of what was sent, carried by a device that is named */
#define CARDS_LEAST 0.5	 /* carried by cards: the devices above these count it once more */

#define PORT "/sys/class/infiniband/%s/ports/%d/"

/* Add the payload of one way of a port; 0: it is not counted. */
static int add_port(const char *root, const struct cs_nic_facts *card, int way,
		    int64_t *bytes)
{
	static const char *const words[] = { "xmit", "rcv" }, *const ways[] = { "tx",
										"rx" };
	const int head = strcmp(card->link_layer, "InfiniBand") != 0 ? HEAD_ROCE :
								       HEAD_INFINIBAND;
	const double data = cs_sysfile_number(root, PORT "counters/port_%s_data",
					      card->name, card->port, words[way]);
	const double packets = cs_sysfile_number(root, PORT "counters/port_%s_packets",
						 card->name, card->port, words[way]);
	double all;

	if (data >= 0) {
		*bytes += (int64_t)(4 * data - head * (packets > 0 ? packets : 0));
		return 1;
	}
	/* AWS EFA has no counters of InfiniBand */
	all = cs_sysfile_number(root, PORT "hw_counters/%s_bytes", card->name,
				card->port, ways[way]);
	*bytes += all > 0 ? (int64_t)all : 0;
	return all >= 0;
}

void cs_nics_own(struct cs_nic_facts *card, int n)
{
	char driver[32];

	for (int i = 0; i < n; i++)
		if (card[i].net[0] &&
		    cs_ethtool_driver(card[i].net, driver, sizeof(driver)))
			card[i].net[0] = '\0';
}

struct interface {
	char name[24];
	int64_t way[2];
};

/* A line of /proc/net/dev: "  eth0: bytes packets and 6 more received, the same sent". */
static int read_interface(const char *line, struct interface *found)
{
	const char *colon = strrchr(line, ':');
	uint64_t in, in_packets, out, out_packets;

	if (!colon || sscanf(line, " %15[^:]", found->name) != 1 ||
	    sscanf(colon + 1,
		   "%" SCNu64 " %" SCNu64 " %*s %*s %*s %*s %*s %*s %" SCNu64
		   " %" SCNu64,
		   &in, &in_packets, &out, &out_packets) != 4)
		return 0;
	found->way[CS_NIC_OUT] = (int64_t)(out - HEAD_TCP * out_packets);
	found->way[CS_NIC_IN] = (int64_t)(in - HEAD_TCP * in_packets);
	return 1;
}

static struct cs_nic_bytes *find(struct cs_nics_bytes *all, const char *name)
{
	for (uint32_t i = 0; i < all->n; i++)
		if (!strcmp(all->nic[i].name, name))
			return &all->nic[i];
	return NULL;
}

static struct cs_nic_bytes *add(struct cs_nics_bytes *all, const char *name,
				int is_card)
{
	struct cs_nic_bytes *nic = find(all, name);

	if (nic || all->n == CS_NICS_COUNTED)
		return nic;
	nic = &all->nic[all->n++];
	*nic = (struct cs_nic_bytes){ .is_card = is_card };
	cs_text(nic->name, sizeof(nic->name), "%s", name);
	return nic;
}

/* The card that an interface is of; NULL: of none. */
static const struct cs_nic_facts *card_of(const struct cs_nic_facts *card, int n,
					  const char *net)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(card[i].net, net))
			return &card[i];
	return NULL;
}

/* Ports first; those of InfiniBand count what goes through their interfaces, too. */
void cs_nics_count(const char *root, const struct cs_nic_facts *card, int n,
		   struct cs_nics_bytes *all)
{
	FILE *f = cs_sysfile_open(root, "/proc/net/dev");
	struct interface at;
	char line[256];

	all->n = 0;
	for (int i = 0; i < n; i++) {
		struct cs_nic_bytes nic = { .is_card = 1 };

		cs_text(nic.name, sizeof(nic.name), "%s", card[i].name);
		if (card[i].rdma == 1 &&
		    add_port(root, &card[i], CS_NIC_OUT, &nic.way[CS_NIC_OUT]) &&
		    add_port(root, &card[i], CS_NIC_IN, &nic.way[CS_NIC_IN]))
			all->nic[all->n++] = nic;
	}
	while (f && fgets(line, sizeof(line), f)) {
		const struct cs_nic_facts *of;
		struct cs_nic_bytes *nic;

		if (!read_interface(line, &at))
			continue;
		of = card_of(card, n, at.name);
		if (of && !strcmp(of->link_layer, "InfiniBand"))
			continue;
		nic = add(all, of ? of->name : at.name, of != NULL);
		for (int way = 0; nic && way < 2; way++)
			nic->way[way] += at.way[way];
	}
	if (f)
		fclose(f);
}

/* ---- the proof ---- */

struct carrier {
	const struct cs_nic_bytes *nic;
	int64_t bytes;
};

CS_ORDERING(by_bytes, struct carrier, CS_ORDER(b->bytes, a->bytes))

/* "eth0", of a device that is no card "eth1 (veth)", "lo (loopback)". */
static void label(const struct cs_nic_bytes *nic, char *to, size_t size)
{
	char kind[24];

	if (strcmp(nic->name, "lo") != 0)
		cs_ethtool_driver(nic->name, kind, sizeof(kind));
	else
		cs_text(kind, sizeof(kind), "loopback");
	if (nic->is_card || !kind[0])
		cs_text(to, size, "%s", nic->name);
	else
		cs_text(to, size, "%s (%s)", nic->name, kind);
}

/* "mlx5_0", of several "mlx5_0 52 %, mlx5_1 48 %", as many as there is room for. */
static void name_carriers(const struct carrier *c, uint32_t n, int64_t sum, char *to)
{
	for (uint32_t i = 0; i < n; i++) {
		char name[48], one[64];

		label(c[i].nic, name, sizeof(name));
		cs_text(one, sizeof(one), "%s%s", i ? ", " : "", name);
		if (n > 1)
			cs_text(one + strlen(one), sizeof(one) - strlen(one),
				" %.0f %%", 100.0 * (double)c[i].bytes / (double)sum);
		/* room for the number of those that are left out */
		if (strlen(to) + strlen(one) + (i + 1 < n ? 12 : 0) >= CS_CARRIED) {
			cs_text(to + strlen(to), CS_CARRIED - strlen(to), ", %u more",
				n - i);
			return;
		}
		cs_text(to + strlen(to), CS_CARRIED - strlen(to), "%s", one);
	}
}

/* The carriers of one kind, most bytes first; their sum in *sum. */
static uint32_t carriers(const struct cs_nics_bytes *before,
			 const struct cs_nics_bytes *after, enum cs_nic_way way,
			 int cards, struct carrier *c, int64_t *sum)
{
	uint32_t n = 0;

	*sum = 0;
	for (uint32_t i = 0; i < after->n; i++) {
		const struct cs_nic_bytes *nic = &after->nic[i];
		int64_t bytes = nic->way[way];

		for (uint32_t k = 0; k < before->n; k++)
			if (!strcmp(before->nic[k].name, nic->name))
				bytes -= before->nic[k].way[way];
		if (nic->is_card != cards || bytes <= 0)
			continue;
		*sum += bytes;
		c[n++] = (struct carrier){ nic, bytes };
	}
	qsort(c, n, sizeof(*c), by_bytes);
	return n;
}

void cs_nics_carried(const struct cs_nics_bytes *before,
		     const struct cs_nics_bytes *after, enum cs_nic_way way,
		     uint64_t sent, struct cs_carried *out)
{
	struct carrier c[CS_NICS_COUNTED], others[CS_NICS_COUNTED];
	int64_t sum, others_sum;
	uint32_t n = carriers(before, after, way, 1, c, &sum), named = 0;
	uint32_t n_others = carriers(before, after, way, 0, others, &others_sum);

	if ((double)sum < CARDS_LEAST * (double)sent && others_sum > sum) {
		memcpy(c, others, n_others * sizeof(*c));
		n = n_others;
		sum = others_sum;
	}
	while (named < n && (double)c[named].bytes >= SHARE_LEAST * (double)sent)
		named++;
	out->nic[0] = '\0';
	name_carriers(c, named, sum, out->nic);
	out->share = after->n ? (double)sum / (double)sent : NAN;
}
