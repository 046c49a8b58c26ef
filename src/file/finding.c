/* finding.c - a finding: an error or a judgement. */
#include <math.h>

#include "file/record.h"

static const char *const severity_words[] = { "note", "warning", "critical", NULL };

static const char *const remeasured_words[] = { "no", "confirmed", "not-seen",
						"inconclusive", NULL };

const char *cs_remeasured_word(const struct cs_finding *finding)
{
	return finding->of_figures && finding->remeasured <= CS_REMEASURED_UNSURE ?
		       remeasured_words[finding->remeasured] :
		       "";
}

#define FINDING(type, key, member) CS_MEMBER(struct cs_finding, type, key, member)
static const struct cs_field subject[] = {
	FINDING(TEXT, "part", part),
	FINDING(TEXT, "bus_id", bus_id),
	FINDING(NAME, "says", text),
	FINDING(TEXT, "far_bus_id", far_bus_id),
};
static const struct cs_fieldset subject_fields =
	CS_FIELDSET("an error", struct cs_finding, subject);
static const struct cs_field action[] = {
	FINDING(TEXT, "remeasure", remeasure),
	FINDING(TEXT, "elsewhere", elsewhere),
	FINDING(TEXT, "next", next),
	FINDING(FLAG, "drain", drain),
};
static const struct cs_fieldset action_fields =
	CS_FIELDSET("an error", struct cs_finding, action);

static json_t *evidence_array(const struct cs_finding *finding)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < finding->n_evidence && i < CS_EVIDENCE; i++)
		cs_json_append(&array, cs_json_count(finding->evidence[i]));
	return array;
}

static json_t *gpus_array(const struct cs_run *run, const struct cs_finding *finding)
{
	json_t *array = json_array();

	CS_EACH_BIT(a, finding->gpus)
		cs_json_append(&array, cs_json_text(run->node[finding->node]
							    .agent[a]
							    .gpu.bus_id));
	return array;
}

static void decode_gpus(struct cs_fields *f, const struct cs_run *run,
			struct cs_finding *found)
{
	const json_t *array = cs_field_array(f, "gpus");

	for (size_t i = 0; i < json_array_size(array); i++) {
		const char *bus_id = json_string_value(json_array_get(array, i));
		int agent = bus_id && found->node >= 0 ?
				    cs_agent_at(run, found->node, bus_id) :
				    -1;

		if (agent < 0)
			cs_field_refuse(f, "gpus", "bus ids of GPUs of the node");
		found->gpus |= 1ULL << agent;
	}
}

static void decode_evidence(struct cs_fields *f, size_t rows, struct cs_finding *found)
{
	const json_t *array = cs_field_array(f, "evidence");

	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *at = json_array_get(array, i);

		if (!json_is_integer(at) || json_integer_value(at) < 0 ||
		    (uint64_t)json_integer_value(at) >= rows || i == CS_EVIDENCE)
			cs_field_refuse(f, "evidence",
					"at most 8 positions of results that are there");
		found->evidence[found->n_evidence++] = (uint32_t)json_integer_value(at);
	}
}

json_t *cs_record_finding(const struct cs_run *run, const struct cs_finding *finding)
{
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "id", cs_finding_text(finding));
	cs_encode_text(&r, "severity",
		       severity_words[finding->severity <= CS_CRITICAL ? finding->severity :
									 CS_CRITICAL]);
	cs_encode_json(&r, "node",
		       finding->node >= 0 && finding->node < run->n_nodes ?
			       cs_json_text(run->node[finding->node].facts.host) :
			       json_null());
	cs_encode_count(&r, "node_index",
			finding->node < run->n_nodes ? finding->node : -1);
	cs_encode(&r, &subject_fields, finding);
	if (finding->gpus)
		cs_encode_json(&r, "gpus", gpus_array(run, finding));
	cs_encode_known(&r, "remeasured", cs_remeasured_word(finding));
	cs_encode_real(&r, "confidence",
		       finding->confidence > 0 ? finding->confidence : NAN);
	cs_encode_json(&r, "evidence", evidence_array(finding));
	cs_encode(&r, &action_fields, finding);
	if (finding->series.n)
		cs_encode_text(&r, "series", cs_series_text(&finding->series));
	return cs_encode_end(&r);
}

static void decode_finding(struct cs_loaded *to, json_t *record, int check)
{
	struct cs_fields f = { record, "an error" };
	struct cs_finding found = { .node = -1, .check = check };
	char id[CS_FINDING_TEXT] = "", series[CS_ERR_TEXT] = "";

	if (to->run.findings.n >= CS_FINDINGS_MOST)
		cs_arena_fail("more than %zu checks and errors: a file has at most that many",
			      CS_FINDINGS_MOST);
	if (!json_is_null(json_object_get(record, "node")))
		found.node = cs_node_named(to, &f);
	found.severity = (uint32_t)cs_field_word(&f, "severity", severity_words,
						 CS_CRITICAL);
	cs_field_text(&f, "id", id, sizeof(id));
	cs_finding_read(&found, id);
	cs_decode(&f, &subject_fields, &found);
	decode_gpus(&f, &to->run, &found);
	if (json_is_string(json_object_get(record, "remeasured"))) {
		found.of_figures = 1;
		found.remeasured = (uint32_t)cs_field_word(&f, "remeasured",
							   remeasured_words,
							   CS_REMEASURED_NONE);
	}
	found.confidence = cs_field_real(&f, "confidence");
	if (!(found.confidence > 0))
		found.confidence = 0;
	decode_evidence(&f, cs_rows_count(&to->run.rows), &found);
	cs_decode(&f, &action_fields, &found);
	cs_field_text(&f, "series", series, sizeof(series));
	cs_series_read(series, &found.series);
	cs_list_push(&to->run.findings, &found);
}

void cs_decode_error(struct cs_loaded *to, json_t *record)
{
	decode_finding(to, record, 0);
}

void cs_decode_check(struct cs_loaded *to, json_t *record)
{
	decode_finding(to, record, 1);
}
