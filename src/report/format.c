#include "config.h"

#include <string.h>

#include "report/views.h"

const struct cs_format cs_formats[] = {
	{ "text", ".txt", cs_text_write },
	{ "json", ".json", cs_json_write },
	{ "jsonl", ".jsonl", cs_jsonl_write },
	{ "csv", ".csv", cs_csv_write },
	{ "result", "", cs_result_write },
	{ "prom", ".prom", cs_prom_write },
	{ "nagios", "", cs_nagios_write },
	{ "junit", ".xml", cs_junit_write },
	{ "nvbandwidth", "", cs_nvbandwidth_write },
	{ "nvbandwidth-json", "", cs_nvbandwidth_json_write },
	{ NULL, NULL, NULL },
};

const struct cs_format *cs_format_by_name(const char *name)
{
	const struct cs_format *f;

	for (f = cs_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const struct cs_format *cs_format_by_file(const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	const char *dot = strrchr(base, '.');
	const struct cs_format *f;

	/* ".json" is a hidden file without an ending */
	if (!dot || dot == base)
		return NULL;
	for (f = cs_formats; f->name; f++)
		if (strcmp(f->suffix, dot) == 0)
			return f;
	return NULL;
}
