/* expected.c - a node against its expected facts. */
#include "check/fleet/expected.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "base/units.h"
#include "check/fleet/differs.h"

/* ---- --expect ---- */

/* Fields that are put together of several facts; the others are lines of tables.  A value
 * is like an example, whose digits are any number, or one of the words; NULL: any text. */
static const struct {
	const char *name;
	const char *like, *words;
} made[] = {
	{ .name = "gpus", .like = "8" },
	{ .name = "nvlinks", .like = "18|18 of 18" },
	{ .name = "nvlink-version", .like = "4" },
	{ .name = "nvlink-rate" },
	{ .name = "nvlink-ends" },
	{ .name = "pcie-most", .like = "gen 5 x16" },
	{ .name = "pcie-width", .like = "16|x16" },
	{ .name = "pcie-gen", .like = "5" },
	{ .name = "fabric", .words = "not supported|not begun|under way|done" },
	{ .name = "cuda", .like = "13.0" },
	/* with a comma in their values */
	{ .name = "clocks-most", .words = "any" },
	{ .name = "clocks-set", .words = "any" },
	{ .name = "acs", .like = "0x1d" },
	{ .name = "to-gpus" },
	{ .name = "to-nics" },
	{ .name = "numa-distances" },
};

struct search {
	struct cs_suggestion near; /* to its name */
	int found;
	const char *like; /* as above */
	char words[CS_WORDS];
};

static void look_at(void *search, const struct cs_field *field, const void *of)
{
	struct search *s = search;

	(void)of;
	if (!field->trait || field->layer == CS_LAYER_LAUNCH)
		return;
	cs_suggest(&s->near, field->trait);
	if (strcmp(field->trait, s->near.typed))
		return;
	s->found = 1;
	s->words[0] = '\0';
	for (int i = 0; field->words && field->words[i]; i++)
		if (field->words[i][0])
			cs_words_add(s->words, field->words[i]);
	if (field->type == CS_TYPE_SWITCH)
		cs_words_add(s->words, "on|off");
	else if (field->type == CS_TYPE_REAL)
		s->like = "700|700 W";
	else if (field->type == CS_TYPE_COUNT && !field->words)
		s->like = "8";
}

static int search_field(struct search *s)
{
	static const struct cs_fieldset *const sets[] = { &cs_node_fields,
							  &cs_gpu_record_fields,
							  &cs_agent_gpu_fields };
	static const struct cs_run_node none;

	cs_suggest(&s->near, "pcie");
	cs_suggest(&s->near, "min-share");
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		cs_fields_each(sets[i], &none, look_at, s);
	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		cs_suggest(&s->near, made[i].name);
		if (strcmp(made[i].name, s->near.typed))
			continue;
		s->found = 1;
		s->like = made[i].like;
		cs_text(s->words, sizeof(s->words), "%s",
			made[i].words ? made[i].words : "");
	}
	return s->found;
}

#define DIGITS "0123456789"

/* Digits are a number without zeros before it, because values are compared as texts. */
static int is_like(const char *value, const char *example)
{
	if (!strncmp(example, "0x", 2))
		return !strncmp(value, "0x", 2) && strlen(value) > 3 &&
		       !value[2 + strspn(value + 2, DIGITS "abcdef")];
	for (; *example && *example != '|'; example++) {
		size_t n = strspn(value, DIGITS);

		if (!isdigit((unsigned char)*example)) {
			if (*value++ != *example)
				return 0;
			continue;
		}
		if (!n || (n > 1 && *value == '0'))
			return 0;
		value += n;
		example += strspn(example, DIGITS) - 1;
	}
	return !*value;
}

static int check_value(struct search *s, const char *value, struct cs_err *err)
{
	const char *key = s->near.typed, *like = s->like;
	int which;

	if (!strcmp(value, "any"))
		return 0;
	if (strlen(value) >= CS_NAME)
		return cs_err_set(err, "'%.40s=%.40s...': at most %d characters", key,
				  value, CS_NAME - 1);
	if (s->words[0]) {
		if (strcmp(s->words, "any") != 0)
			cs_words_add(s->words, "any");
		return cs_word_parse(value, s->words, &which, err) ?
			       cs_err_prefix(err, "'%s=%.40s'", key, value) :
			       0;
	}
	while (like && !is_like(value, like)) {
		like = strchr(like, '|');
		if (!like)
			return cs_err_set(err,
					  "'%s=%.40s': allowed is a value as %.*s, or any",
					  key, value, (int)strcspn(s->like, "|"),
					  s->like);
		like++;
	}
	return 0;
}

static int add(struct cs_vec *to, const char *field, const char *value,
	       struct cs_err *err)
{
	struct cs_site_fact e = { .class = 0 };

	cs_text(e.field, sizeof(e.field), "%s", field);
	cs_text(e.value, sizeof(e.value), "%s", strcmp(value, "any") ? value : "");
	return cs_vec_push(to, &e, err);
}

/* "5x16" */
static int add_pcie(struct cs_vec *to, const char *value, struct cs_err *err)
{
	int gen, width, end = 0;
	char text[2][16];

	if (!strcmp(value, "any"))
		return cs_rc(add(to, "pcie-gen", value, err) ||
			     add(to, "pcie-width", value, err));
	if (sscanf(value, "%2dx%2d%n", &gen, &width, &end) != 2 || value[end] ||
	    gen < 1 || width < 1)
		return cs_err_set(
			err,
			"'pcie=%.40s': allowed are generation and width as 5x16, or any",
			value);
	cs_text(text[0], sizeof(text[0]), "%d", gen);
	cs_text(text[1], sizeof(text[1]), "x%d", width);
	return cs_rc(add(to, "pcie-gen", text[0], err) ||
		     add(to, "pcie-width", text[1], err));
}

static int take_share(const char *value, double *min_share, struct cs_err *err)
{
	if (!strcmp(value, "any")) {
		*min_share = 0;
		return 0;
	}
	return cs_share_parse(value, min_share, err) ?
		       cs_err_prefix(err, "min-share") :
		       0;
}

static int take_item(char *item, struct cs_vec *to, double *min_share,
		     struct cs_err *err)
{
	struct search field = { .near = { .typed = item } };
	char *value = strchr(item, '=');

	if (!value || value == item || !value[1])
		return cs_err_set(err,
				  "'%.60s': allowed is KEY=VALUE, as gpus=8 or driver=any",
				  item);
	*value++ = '\0';
	if (!strcmp(item, "pcie"))
		return add_pcie(to, value, err);
	if (!strcmp(item, "min-share"))
		return take_share(value, min_share, err);
	if (!search_field(&field)) {
		cs_err_set(err,
			   "'%.40s' is no field: allowed are gpus, nics, nvlinks, pcie, driver, vbios, bios, "
			   "kernel, numa-nodes, cpus, uvm, acs, min-share, and the others that --check=topology prints",
			   item);
		return cs_suggestion_add(&field.near, err);
	}
	return check_value(&field, value, err) || add(to, item, value, err) ? -1 : 0;
}

int cs_expected_parse(const char *list, struct cs_vec *to, double *min_share,
		      struct cs_err *err)
{
	char *copy = strdup(list), *rest = copy, *item;
	int rc = copy ? 0 : cs_err_set(err, "no memory");

	while (!rc && (item = strsep(&rest, ",")))
		rc = take_item(item, to, min_share, err);
	free(copy);
	return rc;
}

/* ---- learning ---- */

static const struct cs_trait *trait_named(const struct cs_trait *t, size_t n,
					  const char *field)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].layer != CS_LAYER_LAUNCH && !strcmp(t[i].field, field))
			return &t[i];
	return NULL;
}

/* Has every GPU of that node the same there? */
static int all_alike(const struct cs_trait *t, size_t n, const struct cs_trait *of)
{
	struct cs_trait_name name = cs_trait_name_of(of->field);

	for (size_t i = 0; i < n; i++) {
		struct cs_trait_name other = cs_trait_name_of(t[i].field);

		if (t[i].layer == of->layer && !strcmp(other.part, name.part) &&
		    !strcmp(other.base, name.base) && strcmp(t[i].value, of->value))
			return 0;
	}
	return !strcmp(name.part, "gpu");
}

static int is_there(const struct cs_vec *to, uint32_t class, const char *field)
{
	const struct cs_site_fact *e = to->data;

	for (size_t i = to->n; i-- > 0 && e[i].class == class;)
		if (!strcmp(e[i].field, field))
			return 1;
	return 0;
}

void cs_expected_learn(const struct cs_vec *traits, const size_t *first, size_t n,
		       uint32_t class, struct cs_vec *to)
{
	const struct cs_trait *all = traits->data;

	/* the node that most agree with need not be known: each field has a majority */
	for (size_t i = 0; i < n; i++)
		for (size_t at = first[i]; at < first[i + 1]; at++) {
			const struct cs_trait *t = &all[at];
			struct cs_site_fact e = { .class = class };
			size_t same = 0;

			if (t->layer == CS_LAYER_LAUNCH)
				continue;
			cs_text(e.field, sizeof(e.field), "%s",
				all_alike(all + first[i], first[i + 1] - first[i], t) ?
					cs_trait_name_of(t->field).base :
					t->field);
			if (is_there(to, class, e.field))
				continue;
			for (size_t k = 0; k < n; k++) {
				const struct cs_trait *other =
					trait_named(all + first[k],
						    first[k + 1] - first[k], t->field);

				same += other && !strcmp(other->value, t->value);
			}
			if (2 * same <= n)
				continue;
			e.nodes = (uint32_t)same;
			cs_text(e.value, sizeof(e.value), "%s", t->value);
			cs_list_push(to, &e);
		}
}

/* ---- judging ---- */

struct scope {
	const struct cs_run *run;
	int node;
	const struct cs_trait *trait;
	size_t n;
	int gpus_differ, nics_differ;
	struct cs_vec found; /* struct cs_difference */
};

/* "18" is "18 of 18", "16" is "x16", "700" is "700 W". */
static int agrees(const char *value, const char *expected)
{
	size_t n = strlen(expected);

	return !strcmp(value, expected) ||
	       (value[0] == 'x' && !strcmp(value + 1, expected)) ||
	       (!strncmp(value, expected, n) &&
		(!strncmp(value + n, " of ", 4) || !strcmp(value + n, " W")));
}

static void add_difference(struct scope *s, const struct cs_site_fact *e,
			   const struct cs_trait *t)
{
	struct cs_difference d = { .kind = CS_UNEXPECTED,
				   .node = s->node,
				   .layer = t ? t->layer : CS_LAYER_SETTINGS,
				   .name = cs_trait_name_of(t ? t->field : e->field) };

	cs_text(d.here, sizeof(d.here), "%s", t ? t->value : "unknown");
	cs_text(d.usual, sizeof(d.usual), "%s", e->value);
	cs_text(d.bus_id, sizeof(d.bus_id), "%s", t ? t->bus_id : "");
	d.learnt = e->nodes;
	cs_list_push(&s->found, &d);
}

static void judge_one(struct scope *s, const struct cs_site_fact *e)
{
	struct cs_trait_name name = cs_trait_name_of(e->field);
	int seen = 0;

	/* positions differ if one is missing */
	if ((s->gpus_differ && name.number >= 0 && !strcmp(name.part, "gpu")) ||
	    (s->nics_differ &&
	     (!strcmp(name.part, "nic") || !strcmp(name.base, "to-nics"))) ||
	    (s->gpus_differ && !strcmp(name.base, "to-gpus")))
		return;
	for (size_t i = 0; i < s->n; i++) {
		const struct cs_trait *t = &s->trait[i];
		const char *base = strchr(t->field, '.');

		if (t->layer == CS_LAYER_LAUNCH ||
		    (strcmp(t->field, e->field) &&
		     (strncmp(t->field, "gpu", 3) || !base ||
		      strcmp(base + 1, e->field))))
			continue;
		seen = 1;
		if (!agrees(t->value, e->value))
			add_difference(s, e, t);
	}
	/* a fact of a baseline that this run does not know is no difference */
	if (!seen && !e->nodes)
		add_difference(s, e, NULL);
}

/* A field that --expect names is judged by that alone. */
static int is_overruled(const struct cs_run *run, const struct cs_site_fact *e)
{
	return e->nodes && cs_site_fact_asked(run, cs_trait_name_of(e->field).base);
}

static void judge_all(struct scope *s, const struct cs_site_fact *e, size_t n)
{
	for (int counts = 1; counts >= 0; counts--)
		for (size_t i = 0; i < n; i++) {
			int gpus = !strcmp(e[i].field, "gpus");
			int nics = !strcmp(e[i].field, "nics");
			size_t before = s->found.n;

			if ((gpus || nics) != counts || !e[i].value[0] ||
			    is_overruled(s->run, &e[i]))
				continue;
			judge_one(s, &e[i]);
			s->gpus_differ |= gpus && s->found.n > before;
			s->nics_differ |= nics && s->found.n > before;
		}
}

void cs_expected_judge(struct cs_run *run, int node,
		       const struct cs_site_fact *expected, size_t n)
{
	struct cs_vec traits = CS_LIST(struct cs_trait);
	struct scope s = { .run = run,
			   .node = node,
			   .found = CS_LIST(struct cs_difference) };

	cs_fingerprint(run, node, &traits, NULL);
	s.trait = traits.data;
	s.n = traits.n;
	if (run->expected)
		judge_all(&s, run->expected->data, run->expected->n);
	judge_all(&s, expected, n);
	cs_differences_describe(run, &s.found);
}
