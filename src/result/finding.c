#include "result/finding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/hints.h"
#include "base/units.h"

/* ---- the catalogue ---- */

enum {
	NOTE = 1 << CS_NOTE,
	WARNING = 1 << CS_WARNING,
	CRITICAL = 1 << CS_CRITICAL,
	NO_PART = CS_FINDING_NO_PART,
	GPU = CS_FINDING_GPU,
	LINK = CS_FINDING_LINK,
	SOCKET = CS_FINDING_SOCKET,
	NODE = CS_FINDING_NODE,
	DRAINS = CS_FINDING_DRAINS,
	OF_CRITERIA = CS_FINDING_OF_CRITERIA,
	OF_CELLS = CS_FINDING_OF_CELLS,
	OF_QUALITY = CS_FINDING_OF_QUALITY,
	OF_SCOPE = CS_FINDING_OF_SCOPE,
	NO_HINT = -1,
};

/* Texts that several findings share. */
#define THROTTLED \
	"nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER: cooling, power supply, power limit"
#define SETTINGS \
	"run the same command on another node: what appears there too comes from the job or its settings"
#define HARDWARE \
	"run the same command on another node of the model: what appears there too comes from the job or its settings"

#define FINDING(name, id, severities, parts, flags, hint, means, next, elsewhere) \
	[CS_FINDING_##name] = { id, severities, parts, flags, hint, means, next,  \
				elsewhere },
static const struct cs_finding_line lines[CS_FINDINGS] = {
#include "result/findings.def"
};
#undef FINDING

const struct cs_finding_line *cs_finding_line(enum cs_finding_id id)
{
	return id > CS_FINDING_OTHER && id < CS_FINDINGS ? &lines[id] : NULL;
}

enum cs_finding_id cs_finding_find(const char *text)
{
	int id = CS_FINDINGS;

	while (--id > CS_FINDING_OTHER && strcmp(lines[id].id, text))
		;
	return (enum cs_finding_id)id;
}

void cs_finding_next(enum cs_finding_id id, char *to, size_t size)
{
	const struct cs_finding_line *line = cs_finding_line(id);

	cs_text(to, size, "%s", line ? line->next : "");
	if (line && line->hint != NO_HINT)
		cs_text_add(to, size, "%s%s", to[0] ? " " : "",
			    cs_hint((enum cs_hint_id)line->hint)->remedy);
}

void cs_finding_advise(struct cs_finding *finding)
{
	const struct cs_finding_line *line = cs_finding_line(finding->id);

	cs_finding_next(finding->id, finding->next, sizeof(finding->next));
	cs_text(finding->elsewhere, sizeof(finding->elsewhere), "%s",
		line ? line->elsewhere : "");
}

/* ---- a finding ---- */

const char *cs_finding_text(const struct cs_finding *finding)
{
	const struct cs_finding_line *line = cs_finding_line(finding->id);

	return line ? line->id : finding->other;
}

void cs_finding_read(struct cs_finding *finding, const char *text)
{
	finding->id = cs_finding_find(text);
	cs_text(finding->other, sizeof(finding->other), "%s",
		finding->id == CS_FINDING_OTHER ? text : "");
}

int cs_finding_order(const struct cs_finding *a, const struct cs_finding *b)
{
	return strcmp(cs_finding_text(a), cs_finding_text(b));
}

enum cs_blame cs_blame_of(const char *text)
{
	static const char *const use[] = {
		"CUDA_ERROR_OUT_OF_MEMORY",
		"CUDA_ERROR_DEVICE_UNAVAILABLE",
		"CUDA_ERROR_MPS_CONNECTION_FAILED",
		"CUDA_ERROR_MPS_CLIENT_TERMINATED",
	};

	for (size_t i = 0; i < sizeof(use) / sizeof(use[0]); i++)
		if (strstr(text, use[i]))
			return CS_BLAME_USE;
	return strstr(text, "CUDA_ERROR_") ? CS_BLAME_DEVICE : CS_BLAME_NONE;
}

int cs_finding_has(const struct cs_finding *finding, enum cs_finding_flag flag)
{
	const struct cs_finding_line *line = cs_finding_line(finding->id);

	return line && line->flags & flag;
}

const char *cs_finding_aside(const struct cs_finding *finding)
{
	if (finding->severity != CS_NOTE)
		return NULL;
	if (cs_finding_has(finding, CS_FINDING_OF_QUALITY))
		return "uncertain";
	/* a refusal of the driver is the machine's, or the job's */
	return cs_finding_has(finding, CS_FINDING_OF_SCOPE) &&
			       cs_blame_of(finding->text) == CS_BLAME_NONE ?
		       "left out" :
		       NULL;
}

int cs_finding_fits(const struct cs_finding *finding)
{
	static const struct {
		const char *text;
		uint32_t bit;
	} part[] = {
		{ "", NO_PART },      { "gpu", GPU },	{ "link", LINK },
		{ "socket", SOCKET }, { "node", NODE },
	};
	const struct cs_finding_line *line = cs_finding_line(finding->id);
	uint32_t parts = 0;

	if (!line)
		return 1;
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		if (!strcmp(finding->part, part[i].text))
			parts |= part[i].bit;
	return line->severities >> finding->severity & 1 && line->parts & parts &&
	       (!finding->drain || line->flags & DRAINS);
}

int cs_finding_add(struct cs_vec *findings, const struct cs_finding *finding,
		   struct cs_err *err)
{
	return cs_vec_push(findings, finding, err);
}

void cs_findings_follow(struct cs_vec *findings, const int64_t *to)
{
	CS_EACH(struct cs_finding, f, findings) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < f->n_evidence; k++)
			if (to[f->evidence[k]] >= 0)
				f->evidence[n++] = (uint32_t)to[f->evidence[k]];
		f->n_evidence = n;
	}
}

/* ---- series ---- */

#define DAY_S 86400

const char *cs_day_text(double day)
{
	const struct timespec at = { .tv_sec = (time_t)day * DAY_S };
	char text[32];

	cs_time_text(&at, text, sizeof(text));
	return cs_new_text("%.10s", text);
}

const char *cs_series_text(const struct cs_series *series)
{
	const char *text = NULL;

	for (uint32_t i = 0; i < series->n; i++)
		text = cs_join(text, ", ", series->is_share ? "%s %.1f %%" : "%s %.0f",
			       cs_day_text(series->at[i].day), series->at[i].y);
	return text;
}

void cs_series_read(const char *text, struct cs_series *series)
{
	series->is_share = strchr(text, '%') != NULL;
	for (series->n = 0; series->n < CS_SERIES; series->n++) {
		struct cs_series_point *p = &series->at[series->n];
		struct tm day = { 0 };

		text = strptime(text, "%Y-%m-%d", &day);
		if (!text || sscanf(text, " %lf", &p->y) != 1 || !isfinite(p->y))
			break;
		p->day = (int32_t)(timegm(&day) / DAY_S);
		text += strcspn(text, ",");
		text += strspn(text, ", ");
	}
}
