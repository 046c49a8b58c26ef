/* GPUs as users name them, and the order GPUs are numbered in. */
#include "base/gpulist.h"
#include "tap.h"

#define N_GPUS 4

static struct cs_gpu_facts gpus[N_GPUS];

int tap_set_up(void)
{
	static const char *const bus_id[N_GPUS] = {
		"0000:1b:00.0",
		"0000:43:00.0",
		"0000:52:00.0",
		"0000:52:00.0",
	};
	static const char *const uuid[N_GPUS] = {
		"GPU-5ab01234-0000-0000-0000-000000000001",
		"GPU-5ab05678-0000-0000-0000-000000000002",
		"MIG-c0ffee00-0000-0000-0000-000000000003",
		"MIG-c0ffee01-0000-0000-0000-000000000004",
	};

	for (int i = 0; i < N_GPUS; i++) {
		cs_gpu_facts_init(&gpus[i]);
		strcpy(gpus[i].bus_id, bus_id[i]);
		strcpy(gpus[i].uuid, uuid[i]);
	}
	return 0;
}

/* The chosen ones as "1010", or the error text. */
static const char *chosen_by(const char *text)
{
	static char answer[CS_ERR_TEXT];
	struct cs_gpu_list list;
	struct cs_err err = { "" };
	char chosen[N_GPUS] = { 0 };

	if (cs_gpu_list_parse(text, &list, &err) ||
	    cs_gpu_list_select(&list, gpus, N_GPUS, chosen, &err))
		return strcpy(answer, err.text);
	for (int i = 0; i < N_GPUS; i++)
		answer[i] = (char)('0' + chosen[i]);
	answer[N_GPUS] = '\0';
	return answer;
}

HOLDS("indices and ranges choose GPUs") {
	t_eq_str(chosen_by("0"), "1000");
	t_eq_str(chosen_by("3,1"), "0101");
	t_eq_str(chosen_by("0-2"), "1110");
	t_eq_str(chosen_by("0-1,3"), "1101");
	t_eq_str(chosen_by("2-2"), "0010");
	t_eq_str(chosen_by("1,1,0-1"), "1100");
}

HOLDS("bus ids match in every spelling") {
	t_eq_str(chosen_by("1b:00.0"), "1000");
	t_eq_str(chosen_by("1B:00.0"), "1000");
	t_eq_str(chosen_by("0000:1b:00.0"), "1000");
	t_eq_str(chosen_by("00000000:1B:00.0"), "1000");
	t_eq_str(chosen_by("43:00.0,0"), "1100");
}

HOLDS("a bus id is normalised") {
	struct cs_gpu_list list;

	t_eq_int(cs_gpu_list_parse("00000000:C1:00.0,00010000:0A:1f.7", &list, NULL),
		 0);
	t_eq_int(list.n, 2);
	t_eq_int(list.item[0].kind, CS_GPU_BUSID);
	t_eq_str(list.item[0].text, "0000:c1:00.0");
	t_eq_str(list.item[1].text, "10000:0a:1f.7");
}

HOLDS("a bus id means all instances on the card") {
	t_eq_str(chosen_by("52:00.0"), "0011");
}

HOLDS("UUIDs match by their beginning") {
	t_eq_str(chosen_by("GPU-5ab01234-0000-0000-0000-000000000001"), "1000");
	t_eq_str(chosen_by("GPU-5ab05"), "0100");
	t_eq_str(chosen_by("gpu-5AB05"), "0100");
	t_eq_str(chosen_by("MIG-c0ffee01,GPU-5ab01"), "1001");
}

HOLDS("a beginning must be unique") {
	t_eq_str(chosen_by("GPU-5ab0"), "'GPU-5ab0' is the beginning of 2 UUIDs: "
					"write more of it; GPUs here: 4");
}

HOLDS("an item that matches no GPU is named") {
	t_eq_str(chosen_by("0,4"), "there is no GPU 4: GPUs here: 4");
	t_eq_str(chosen_by("2-9"), "there is no GPU 9: GPUs here: 4");
	t_eq_str(chosen_by("99:00.0"), "there is no GPU '0000:99:00.0': GPUs here: 4");
	t_eq_str(chosen_by("GPU-dead"), "there is no GPU 'GPU-dead': GPUs here: 4");
	t_eq_str(chosen_by("GPU-5ab01234-0000-0000-0000-0000000000011"),
		 "there is no GPU 'GPU-5ab01234-0000-0000-0000-0000000000011': "
		 "GPUs here: 4");
}

HOLDS("an empty list means all GPUs") {
	struct cs_gpu_list list = { .n = 0 };
	char chosen[N_GPUS] = { 0 };

	t_eq_int(cs_gpu_list_select(&list, gpus, N_GPUS, chosen, NULL), 0);
	t_eq_int(memcmp(chosen, "\1\1\1\1", N_GPUS), 0);
	t_eq_int(cs_gpu_list_count(&list), 0);
}

HOLDS("a selection that fails changes nothing") {
	struct cs_gpu_list list;
	char chosen[N_GPUS] = { 7, 7, 7, 7 };
	struct cs_err err;

	t_eq_int(cs_gpu_list_parse("0,9", &list, &err), 0);
	t_eq_int(cs_gpu_list_select(&list, gpus, N_GPUS, chosen, &err), -1);
	t_eq_int(memcmp(chosen, "\7\7\7\7", N_GPUS), 0);
}

HOLDS("a number that is the count of all GPUs gets their range") {
	struct cs_gpu_list list;
	char chosen[N_GPUS];
	struct cs_err err;

	t_eq_int(cs_gpu_list_parse("4", &list, &err), 0);
	t_eq_int(cs_gpu_list_select(&list, gpus, N_GPUS, chosen, &err), -1);
	t_eq_str(err.text,
		 "there is no GPU 4: GPUs here: 4; did you mean '--gpus 0-3'?");
	t_eq_int(cs_gpu_list_parse("5", &list, &err), 0);
	t_eq_int(cs_gpu_list_select(&list, gpus, N_GPUS, chosen, &err), -1);
	t_eq_str(err.text, "there is no GPU 5: GPUs here: 4");
}

HOLDS("what names no GPU is refused and changes nothing") {
	static const char *const bad[] = {
		"",
		",",
		"0,",
		",0",
		"0,,1",
		" 0",
		"0 ",
		"-1",
		"+1",
		"1-",
		"-",
		"3-1",
		"0-1-2",
		"0x1",
		"1.0",
		"65",
		"999",
		"0-64",
		"0-999",
		"99999999999999999999",
		"0-99999999999999999999",
		"all",
		"GPU",
		"gpu0",
		"GPU-xyz",
		"1b:00",
		"1b:00.",
		"1b:0.0",
		"b:00.0",
		"1b:00.00",
		"01b:00.0",
		"000:1b:00.0",
		"000000000:1b:00.0",
		"0000:1b:00.0x",
		"0000:1b:00:0",
		"0000:1g:00.0",
		":1b:00.0",
		"::.",
		"GPU-0000000000000000000000000000000000000000000000000000000000",
	};
	struct cs_gpu_list list = { .n = 5 };
	struct cs_err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		t_eq_int(cs_gpu_list_parse(bad[i], &list, &err), -1);
		t_eq_int(list.n, 5);
	}
	cs_gpu_list_parse("0,gpu1", &list, &err);
	t_eq_str(err.text, "'gpu1' names no GPU: write an index (0 to 63), a range "
			   "(0-3), a bus id (0000:1b:00.0) or a UUID (GPU-5ab)");
}

HOLDS("a list has room for every agent and no more") {
	char text[2 * CS_MAX_AGENTS + 3];
	struct cs_gpu_list list;
	struct cs_err err;

	for (int i = 0; i <= CS_MAX_AGENTS; i++)
		memcpy(text + 2 * i, "1,", 3);
	text[2 * CS_MAX_AGENTS + 1] = '\0';
	t_eq_int(cs_gpu_list_parse(text, &list, &err), -1);
	t_eq_str(err.text, "more than 64 items in the list of GPUs");
	text[2 * CS_MAX_AGENTS - 1] = '\0';
	t_eq_int(cs_gpu_list_parse(text, &list, &err), 0);
	t_eq_int(list.n, CS_MAX_AGENTS);
	t_eq_int(cs_gpu_list_count(&list), 1);
}

static int count_of(const char *text)
{
	struct cs_gpu_list list;

	t_eq_int(cs_gpu_list_parse(text, &list, NULL), 0);
	return cs_gpu_list_count(&list);
}

HOLDS("a number alone is a count where there is no GPU to name") {
	t_eq_int(count_of("4"), 4);
	t_eq_int(count_of("0"), 1);
	t_eq_int(count_of("0,4"), 2);
	t_eq_int(count_of("0-3"), 4);
	t_eq_int(count_of("64"), CS_MAX_AGENTS);
	t_eq_int(count_of("0-63"), CS_MAX_AGENTS);
	t_eq_int(count_of("0-3,5,2"), 5);
	t_eq_int(count_of("1b:00.0,GPU-5ab,0"), 3);
	t_eq_int(count_of("1b:00.0,0000:1B:00.0"), 1);
}

HOLDS("GPUs are numbered by bus id, then UUID") {
	static const int shuffled[N_GPUS] = { 3, 1, 2, 0 };
	struct cs_gpu_facts some[N_GPUS];

	for (int i = 0; i < N_GPUS; i++) {
		some[i] = gpus[shuffled[i]];
		some[i].ordinal = shuffled[i];
	}
	strcpy(some[2].bus_id, "10000:01:00.0"); /* beyond every 16-bit domain */
	qsort(some, N_GPUS, sizeof(some[0]), cs_gpu_facts_compare);
	t_eq_int(some[0].ordinal, 0);
	t_eq_int(some[1].ordinal, 1);
	t_eq_int(some[2].ordinal, 3);
	t_eq_int(some[3].ordinal, 2);
}

HOLDS("unknown facts are not zero") {
	struct cs_agent_facts agent;
	struct cs_node_facts node;

	memset(&agent, 0x55, sizeof(agent));
	memset(&node, 0x55, sizeof(node));
	cs_agent_facts_init(&agent);
	cs_node_facts_init(&node);
	t_eq_int(agent.gpu.memory_bytes, -1);
	t_eq_str(agent.gpu.uuid, "");
	t_eq_int(agent.link.nvlinks_up, -1);
	t_near(agent.link.nvlink_raw_gbs, __builtin_nan(""), 0);
	t_eq_int(agent.before.known, 0);
	t_eq_int(agent.after.others, -1);
	t_eq_int(agent.numa, -1);
	t_eq_str(agent.note, "");
	t_eq_int(node.n_cpus, -1);
	t_eq_int(node.numa_distance[7][7], -1);
	t_near(node.skew_us, __builtin_nan(""), 0);
	t_eq_str(node.driver, "");
}

HOLDS("every transport to a peer has a word") {
	t_eq_str(cs_via_text(CS_VIA_PEER), "direct");
	t_eq_str(cs_via_text(CS_VIA_IPC), "CUDA IPC");
	t_eq_str(cs_via_text(CS_VIA_SHM), "shared memory");
	t_eq_str(cs_via_text(CS_VIA_FD), "descriptor");
	t_eq_str(cs_via_text(CS_VIA_STAGED), "staged");
	t_eq_str(cs_via_text(CS_VIA_DRIVER), "staged by driver");
	t_eq_str(cs_via_phrase(CS_VIA_FD), "by descriptor");
	t_eq_str(cs_via_phrase(CS_VIA_STAGED), "staged");
	t_ok(cs_via_crosses(CS_VIA_FD) && !cs_via_crosses(CS_VIA_DRIVER));
	t_eq_str(cs_transport_words[CS_TRANSPORT_STAGED], "staged");
	t_ok(!cs_transport_words[CS_TRANSPORTS]);
	t_eq_str(cs_via_text(CS_VIA_NONE), "-");
	t_eq_str(cs_via_text(-5), "-");
}
