
#include "base/err.h"
#include "base/hints.h"
#include "tap.h"

HOLDS("every row has a key, a meaning and a remedy") {
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);

		if (!t_ok(h->key && h->means && h->remedy)) {
			printf("# row %d\n", id);
			continue;
		}
		t_ok(strchr(h->key, '-') != NULL);
		t_ok(strlen(h->means) > 20 && strlen(h->remedy) > 20);
		t_eq_str(strrchr(h->means, '.'), ".");
		t_eq_str(strrchr(h->remedy, '.'), ".");
	}
}

HOLDS("every row is found by its key and its name, and no other") {
	for (int id = 0; id < CS_HINTS; id++) {
		t_ok(cs_hint_find(cs_hint(id)->key) == cs_hint(id));
		if (cs_hint(id)->name)
			t_ok(cs_hint_find(cs_hint(id)->name) == cs_hint(id));
	}
}

HOLDS("a key holds the number of its library") {
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);
		char key[24];

		if (!h->name)
			continue;
		snprintf(key, sizeof(key), "%s-%d",
			 h->of == CS_HINT_OF_CUDA ? "cuda" : "nvml", h->code[0]);
		t_eq_str(h->key, key);
	}
}

HOLDS("case does not matter") {
	t_ok(cs_hint_find("CUDA-802") == cs_hint(CS_HINT_CUDA_802));
	t_ok(cs_hint_find("cuda_error_system_not_ready") == cs_hint(CS_HINT_CUDA_802));
	t_ok(cs_hint_find("Dev-Shm") == cs_hint(CS_HINT_DEV_SHM));
}

HOLDS("an Xid is found as dmesg has it, and says whose fault it is") {
	static const char *const as[] = { "xid-79", "xid79", "Xid 79", "XID: 79" };

	for (size_t i = 0; i < sizeof(as) / sizeof(*as); i++)
		t_ok(cs_hint_find(as[i]) == cs_hint(CS_HINT_XID_79));
	t_ok(!cs_hint_find("xid-7"));
	t_ok(!cs_hint_find("xid"));
	for (int id = CS_HINT_XID_13; id < CS_HINTS; id++) {
		const char *whose = cs_hint(id)->means;

		t_ok(!strncmp(whose, "Hardware", 8) || !strncmp(whose, "Driver", 6) ||
		     !strncmp(whose, "Application", 11) ||
		     !strncmp(whose, "Consequence", 11));
	}
}

HOLDS("an Xid that drains asks for it first, and its texts fit a finding") {
	for (int id = CS_HINT_XID_13; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);

		t_eq_int(strncmp(h->remedy, "Drain the node", 14) == 0,
			 h->grade == CS_XID_DRAINS);
		t_ok(h->grade != CS_XID_LASTS || !strncmp(h->means, "Hardware", 8));
		t_ok(strlen(h->remedy) < CS_ERR_TEXT);
		t_ok(strlen(h->means) + strlen("Xid 100 during the run: ") <
		     CS_ERR_TEXT);
	}
	t_eq_int(cs_hint(CS_HINT_XID_109)->grade, CS_XID_PASSES);
	t_eq_int(cs_hint(CS_HINT_XID_94)->grade, CS_XID_LASTS);
	t_eq_int(cs_hint(CS_HINT_XID_143)->grade, CS_XID_DRAINS);
}

HOLDS("a number alone stands for its code") {
	t_ok(cs_hint_find("802") == cs_hint(CS_HINT_CUDA_802));
	t_ok(cs_hint_find("2") == cs_hint(CS_HINT_CUDA_2));
	t_ok(cs_hint_find("18") == cs_hint(CS_HINT_NVML_18));
	t_ok(cs_hint_find("700") == cs_hint(CS_HINT_CUDA_700));
	t_ok(cs_hint_find("79") == cs_hint(CS_HINT_XID_79));
	for (int id = 0; id < CS_HINTS; id++) {
		const struct cs_hint *h = cs_hint(id);

		if (h->name)
			t_ok(cs_hint_find(strchr(h->key, '-') + 1) == h);
	}
}

HOLDS("nothing else is found") {
	t_ok(cs_hint_find("") == NULL);
	t_ok(cs_hint_find("0") == NULL);
	t_ok(cs_hint_find("80") == NULL);
	t_ok(cs_hint_find("8020") == NULL);
	t_ok(cs_hint_find("-802") == NULL);
	t_ok(cs_hint_find("99999999999999999999") == NULL);
	t_ok(cs_hint_find("cuda-802 ") == NULL);
	t_ok(cs_hint_find("absent") == NULL);
}

HOLDS("some codes have a hint for some calls only") {
	t_eq_str(cs_hint_cuda(1, "cuIpcOpenMemHandle"),
		 cs_hint_brief(CS_HINT_IPC_CGROUP));
	t_eq_str(cs_hint_cuda(101, "cuIpcOpenMemHandle"),
		 cs_hint_brief(CS_HINT_IPC_CGROUP));
	t_eq_str(cs_hint_cuda(1, "cuMemcpyAsync"), NULL);
	t_eq_str(cs_hint_cuda(2, "cuDevicePrimaryCtxRetain"),
		 cs_hint_brief(CS_HINT_CUDA_2));
	t_eq_str(cs_hint_cuda(2, "cuMemHostRegister"), NULL);
	t_eq_str(cs_hint_cuda(802, "whatever"), cs_hint_brief(CS_HINT_CUDA_802));
}

HOLDS("numbers of one library are not those of the other") {
	t_eq_str(cs_hint_nvml(802), NULL);
	t_eq_str(cs_hint_cuda(18, "cuInit"), NULL);
	t_eq_str(cs_hint_nvml(18), cs_hint_brief(CS_HINT_NVML_18));
	/* success, and rows that have no number */
	t_eq_str(cs_hint_cuda(0, "cuInit"), NULL);
	t_eq_str(cs_hint_nvml(0), NULL);
}

/* A reason has 160 bytes: room for a call and a long name before it. */
HOLDS("a brief fits behind an error") {
	for (int id = 0; id < CS_HINTS; id++) {
		const char *brief = cs_hint_brief(id);

		if (!brief)
			continue;
		t_ok(brief[strlen(brief) - 1] != '.');
		if (cs_hint(id)->of != CS_HINT_OF_MACHINE)
			t_ok(strlen(brief) <= 100);
	}
}

HOLDS("what error lines quote is there") {
	t_ok(cs_hint_brief(CS_HINT_IPC_NAMESPACE) != NULL);
	t_ok(cs_hint_brief(CS_HINT_IPC_MIG) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_ONE_GPU) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_ONE_CORE) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_PMIX) != NULL);
	t_ok(cs_hint_brief(CS_HINT_LAUNCHER_MPI) != NULL);
	t_ok(cs_hint_brief(CS_HINT_NVML_ABSENT) != NULL);
	/* but of work that failed no remedy is certain: dmesg knows more */
	for (int id = 0; id < CS_HINTS; id++)
		if (cs_hint(id)->of != CS_HINT_OF_MACHINE)
			t_ok(cs_hint_brief(id) ||
			     strstr(cs_hint(id)->remedy, "dmesg") ||
			     id == CS_HINT_CUDA_702);
}
