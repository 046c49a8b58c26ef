/* nvmllink.c - the links of a GPU, by NVML: NVLink and PCIe, their ends and their
 * errors. */
#include <math.h>
#include <string.h>

#include "system/nvml.h"

#define NVML_FIELD_LINK_SPEED 164u /* MB/s of the link named by scope */
#define NVML_FIELD_C2C_LINKS 170u
#define NVML_FIELD_DATA_SENT 138u /* KiB of payload, of the link, or of all */
#define NVML_FIELD_DATA_RECEIVED 139u
#define NVML_FIELD_PCIE_SENT 197u /* bytes; they may begin anew at 2^32 */
#define NVML_FIELD_PCIE_RECEIVED 198u
#define NVML_ALL_LINKS 0xffffffffu
#define NVML_REMOTE_GPU 0
#define NVML_REMOTE_SWITCH 2
#define MAX_LINKS 64		/* 36 in the header of CUDA 13 */

/* nvmlNvlinkVersion_t counts 1.0, 2.0, 2.2, 3.0, 3.1, 4.0, 5.0 from 1. */
static int32_t generation(unsigned version)
{
	static const int32_t of[] = { -1, 1, 2, 2, 3, 3, 4, 5 };

	return version < sizeof(of) / sizeof(*of) ? of[version] : -1;
}

static double number_of(const struct nvml_field *field)
{
	if (field->result != NVML_OK)
		return NAN;
	switch (field->type) {
	case 0:
		return field->value.real;
	case 1:
		return field->value.u32;
	case 2:
	case 3:
		return (double)field->value.u64;
	default:
		return NAN;
	}
}

/* A field as a number; NAN if this GPU or driver does not have it. */
static double field_number(struct cs_nvml_gpu *gpu, unsigned id, unsigned scope)
{
	struct nvml_field field = { .id = id, .scope = scope };

	if (CALL(gpu->nvml, DeviceGetFieldValues, gpu->board, 1, &field) != NVML_OK)
		return NAN;
	return number_of(&field);
}

static double link_speed(struct cs_nvml_gpu *gpu, unsigned link)
{
	double mbs = field_number(gpu, NVML_FIELD_LINK_SPEED, link);

	return mbs > 0 ? mbs / 1e3 : NAN;
}

/* Exact up to 2^53 KiB; -1 if no link counts. */
static int64_t link_payload(struct cs_nvml_gpu *gpu, unsigned id)
{
	double kib = field_number(gpu, id, NVML_ALL_LINKS);

	return kib >= 0 ? (int64_t)kib : -1;
}

/* Is the next link of the GPU, from *link on, up?  Moves *link past it.  -1: there is no
 * further link, and *code has NVML's answer. */
static int next_link(struct cs_nvml_gpu *gpu, unsigned *link, int *code)
{
	int active;

	while (*link < MAX_LINKS) {
		*code = CALL(gpu->nvml, DeviceGetNvLinkState, gpu->board, (*link)++,
			     &active);
		if (*code == NVML_OK)
			return active != 0;
		if (*code != NVML_NOT_SUPPORTED)
			break;
	}
	return -1;
}

struct link {
	unsigned number;
	int32_t version;
	double gbs;
};

static int are_alike(const struct link *a, const struct link *b)
{
	return a->version == b->version &&
	       (a->gbs == b->gbs || (isnan(a->gbs) && isnan(b->gbs)));
}

/* Version and speed of most links that are up, and the links that have others. */
static void compare_links(const struct link *link, int n, struct cs_link_facts *out)
{
	const struct link *usual = link;
	char *to = out->nvlinks_unlike, one[32];
	int most = 0;

	for (int i = 0; i < n; i++) {
		int same = 0;

		for (int k = 0; k < n; k++)
			same += are_alike(&link[i], &link[k]);
		usual = same > most ? &link[i] : usual;
		most = same > most ? same : most;
	}
	if (!n)
		return;
	out->nvlink_version = usual->version;
	out->nvlink_raw_gbs = usual->gbs;
	for (int i = 0; i < n; i++) {
		if (are_alike(&link[i], usual) || link[i].version < 0 ||
		    isnan(link[i].gbs))
			continue;
		cs_text(one, sizeof(one), "%s%u=%d@%.6g", to[0] ? "," : "",
			link[i].number, link[i].version, link[i].gbs);
		if (strlen(to) + strlen(one) < sizeof(out->nvlinks_unlike))
			cs_text_add(to, sizeof(out->nvlinks_unlike), "%s", one);
	}
}

static void link_nvlink(struct cs_nvml_gpu *gpu, struct cs_link_facts *out)
{
	int up = 0, max = 0, active, code = NVML_OK;
	struct link links[MAX_LINKS];
	unsigned link = 0, version;

	while ((active = next_link(gpu, &link, &code)) >= 0) {
		max++;
		if (!active)
			continue;
		links[up] = (struct link){ link - 1, -1, link_speed(gpu, link - 1) };
		if (CALL(gpu->nvml, DeviceGetNvLinkVersion, gpu->board, link - 1,
			 &version) == NVML_OK)
			links[up].version = generation(version);
		up++;
	}
	compare_links(links, up, out);
	/* After any other error than "no such link" the number of links is unknown. */
	if (max == 0 && code != NVML_NOT_SUPPORTED && code != NVML_INVALID_ARGUMENT)
		return;
	out->nvlinks_up = up;
	out->nvlinks_max = max;
}

void cs_nvml_link(struct cs_nvml_gpu *gpu, struct cs_link_facts *link)
{
	*link = (struct cs_link_facts){
		.nvlinks_up = -1,
		.nvlinks_max = -1,
		.nvlink_version = -1,
		.nvlink_raw_gbs = NAN,
		.pcie_gen = READ(gpu, DeviceGetCurrPcieLinkGeneration),
		.pcie_width = READ(gpu, DeviceGetCurrPcieLinkWidth),
		.pcie_gen_max = READ(gpu, DeviceGetMaxPcieLinkGeneration),
		.pcie_width_max = READ(gpu, DeviceGetMaxPcieLinkWidth),
	};
	/* PCIe beside C2C carries nothing between GPU and host */
	if (field_number(gpu, NVML_FIELD_C2C_LINKS, 0) > 0)
		link->pcie_gen = link->pcie_width = link->pcie_gen_max =
			link->pcie_width_max = 0;
	link_nvlink(gpu, link);
}

/* One more link to the GPU at a bus id; 0 when there is no room for another. */
static int add_end(struct cs_nvlink_ends *ends, const struct nvml_pci *pci)
{
	char bus_id[CS_BUSID];
	int i;

	cs_text(bus_id, CS_BUSID, "%04x:%02x:%02x.0", pci->domain, pci->bus,
		pci->device);
	for (i = 0; i < ends->n_gpus; i++)
		if (!strcmp(ends->gpu[i].bus_id, bus_id))
			break;
	if (i == CS_NVLINK_PEERS)
		return 0;
	if (i == ends->n_gpus) {
		cs_text(ends->gpu[i].bus_id, CS_BUSID, "%s", bus_id);
		ends->n_gpus++;
	}
	ends->gpu[i].links++;
	return 1;
}

/* The other end of one link; 0: unknown. */
static int link_end(struct cs_nvml_gpu *gpu, unsigned link,
		    struct cs_nvlink_ends *ends)
{
	struct nvml_pci pci;
	int type = -1;

	if (CALL(gpu->nvml, DeviceGetNvLinkRemoteDeviceType, gpu->board, link,
		 &type) != NVML_OK)
		return 0;
	memset(&pci, 0, sizeof(pci));
	if (type == NVML_REMOTE_SWITCH)
		ends->to_switch++;
	else if (type != NVML_REMOTE_GPU ||
		 CALL(gpu->nvml, DeviceGetNvLinkRemotePciInfo_v2, gpu->board, link,
		      &pci) != NVML_OK ||
		 !add_end(ends, &pci))
		ends->to_other++;
	return 1;
}

void cs_nvml_link_ends(struct cs_nvml_gpu *gpu, struct cs_nvlink_ends *out)
{
	struct cs_nvlink_ends ends = { 0 };
	int active, code = NVML_OK, known = 0, up = 0;
	unsigned link = 0;

	while ((active = next_link(gpu, &link, &code)) >= 0) {
		if (!active)
			continue;
		up++;
		if (link_end(gpu, link - 1, &ends))
			known = 1;
		else
			ends.to_other++;
	}
	/* no link at all is known as well */
	if (known ||
	    (!up && (code == NVML_NOT_SUPPORTED || code == NVML_INVALID_ARGUMENT)))
		*out = ends;
}

/* Where a link leads, in words. */
static void end_text(struct cs_nvml_gpu *gpu, unsigned link, char *to, size_t size)
{
	struct cs_nvlink_ends ends = { 0 };

	if (!link_end(gpu, link, &ends))
		return;
	cs_text(to, size, "%s",
		ends.to_switch ? "a switch" :
		ends.n_gpus    ? ends.gpu[0].bus_id :
				 "");
}

/* Replay, recovery and CRC errors of a link.  The two counters after these grow on healthy
 * idle links: they count corrected errors (measured on H200; nvidia-smi omits them, too).
 * Links of version 5 count by fields: malformed packets, overruns, receive and integrity
 * errors, recoveries, symbols that no code corrected.  -1: the link counts none. */
static int64_t errors_of(struct cs_nvml_gpu *gpu, unsigned link)
{
	static const unsigned fields[] = { 206, 207, 208, 211, 215, 221 };
	int64_t errors = -1;
	uint64_t value;

	for (int counter = 0; counter < 3; counter++)
		if (CALL(gpu->nvml, DeviceGetNvLinkErrorCounter, gpu->board, link,
			 counter, &value) == NVML_OK)
			errors = (errors < 0 ? 0 : errors) + (int64_t)value;
	return errors < 0 ? cs_nvml_field_sum(gpu, link, fields,
					      sizeof(fields) / sizeof(*fields)) :
			    errors;
}

void cs_nvml_link_errors(struct cs_nvml_gpu *gpu, struct cs_conditions *out)
{
	char *by_link = out->nvlink_errors_by_link;
	int64_t sum = -1;
	int active;

	by_link[0] = '\0';
	for (unsigned link = 0; link < MAX_LINKS; link++) {
		struct cs_link_errors one = { .link = (int)link };
		int code = CALL(gpu->nvml, DeviceGetNvLinkState, gpu->board, link,
				&active);

		if (code == NVML_NOT_SUPPORTED)
			continue;
		if (code != NVML_OK)
			break;
		one.errors = errors_of(gpu, link);
		if (one.errors >= 0)
			sum = (sum < 0 ? 0 : sum) + one.errors;
		if (one.errors < 1)
			continue;
		end_text(gpu, link, one.end, sizeof(one.end));
		cs_link_errors_add(by_link, sizeof(out->nvlink_errors_by_link), &one);
	}
	out->nvlink_errors = sum;
}

int64_t cs_nvml_field_sum(struct cs_nvml_gpu *gpu, unsigned scope, const unsigned *id,
			  int n)
{
	struct nvml_field field[8] = { 0 };
	int64_t sum = -1;

	for (int i = 0; i < n; i++) {
		field[i].id = id[i];
		field[i].scope = scope;
	}
	if (CALL(gpu->nvml, DeviceGetFieldValues, gpu->board, n, field) != NVML_OK)
		return -1;
	for (int i = 0; i < n; i++) {
		const double number = number_of(&field[i]);

		if (number >= 0)
			sum = (sum < 0 ? 0 : sum) + (int64_t)number;
	}
	return sum;
}

int64_t cs_nvml_sent_kib(struct cs_nvml_gpu *gpu)
{
	return link_payload(gpu, NVML_FIELD_DATA_SENT);
}

int64_t cs_nvml_received_kib(struct cs_nvml_gpu *gpu)
{
	return link_payload(gpu, NVML_FIELD_DATA_RECEIVED);
}

void cs_nvml_traffic(struct cs_nvml_gpu *gpu, struct cs_traffic *out)
{
	struct nvml_field field[] = {
		{ .id = NVML_FIELD_DATA_SENT, .scope = NVML_ALL_LINKS },
		{ .id = NVML_FIELD_DATA_RECEIVED, .scope = NVML_ALL_LINKS },
		{ .id = NVML_FIELD_PCIE_SENT },
		{ .id = NVML_FIELD_PCIE_RECEIVED },
	};
	const int n = sizeof(field) / sizeof(*field);
	int code = CALL(gpu->nvml, DeviceGetFieldValues, gpu->board, n, field);
	int64_t *to[] = { &out->nvlink[0], &out->nvlink[1], &out->pcie[0],
			  &out->pcie[1] };

	for (int i = 0; i < n; i++) {
		double number = code == NVML_OK ? number_of(&field[i]) : NAN;

		*to[i] = !(number >= 0) ? -1 :
			 i < 2		? (int64_t)number * 1024 :
					  (int64_t)number;
	}
}
