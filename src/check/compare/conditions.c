/* conditions.c - in which conditions two sides differ. */
#include "check/compare/pairing.h"

#include <string.h>

#include "base/arena.h"
#include "plan/settings.h"

/* Facts of the run that are in no fieldset. */
static void hold_program(struct cs_versus *v, const char *where,
			 const struct cs_run *a, const struct cs_run *b)
{
	static const char *const yes[] = { "no", "yes" };

	cs_conditions_add(v, "program", where, a->version, b->version);
	cs_conditions_add(v, "commit", where, a->commit, b->commit);
	cs_conditions_add(v, "launcher", where, a->launcher, b->launcher);
	cs_conditions_add(v, "a double's clock", where, yes[a->virtual_clock],
			  yes[b->virtual_clock]);
}

/* ---- fields ---- */

void cs_conditions_add(struct cs_versus *v, const char *what, const char *where,
		       const char *a, const char *b)
{
	struct cs_versus_field made = { what, a[0] ? a : "unknown",
					b[0] ? b : "unknown", where, 1 };

	if (!strcmp(a, b))
		return;
	CS_EACH(struct cs_versus_field, f, &v->fields)
		if (!strcmp(f->what, what) && !strcmp(f->a, made.a) &&
		    !strcmp(f->b, made.b)) {
			f->n++;
			return;
		}
	made.a = cs_new_text("%s", made.a);
	made.b = cs_new_text("%s", made.b);
	cs_list_push(&v->fields, &made);
}

void cs_conditions_end(struct cs_versus *v, size_t first, uint32_t of,
		       const char *noun)
{
	struct cs_versus_field *f = v->fields.data;

	for (size_t i = first; i < v->fields.n; i++)
		if (f[i].n == of)
			f[i].where = "";
		else if (f[i].n > 1)
			f[i].where = cs_new_text("%u of %u %s", f[i].n, of, noun);
}

/* ---- of a pair ---- */

/* Two nodes that are compared with each other, and their name. */
struct two {
	struct cs_versus *v;
	const struct cs_pairing *pairing;
	const struct cs_paired *a, *b;
	const char *where;
};

static void hold_facts(const struct two *t, const struct cs_fieldset *set,
		       const char *where, const void *a, const void *b)
{
	char x[CS_NAME], y[CS_NAME];

	for (const struct cs_field *f = set->field; f < set->field + set->n; f++) {
		if (!f->label)
			continue;
		if (f->type == CS_TYPE_PART) {
			hold_facts(t, f->part, where, cs_field_in(f, a),
				   cs_field_in(f, b));
		} else {
			cs_field_value_text(f, a, x, sizeof(x));
			cs_field_value_text(f, b, y, sizeof(y));
			cs_conditions_add(t->v, f->label, where, x, y);
		}
	}
}

static void hold_settings(const struct two *t)
{
	const struct cs_plan *a = t->a->run->plan, *b = t->b->run->plan;
	char x[CS_SETTING], y[CS_SETTING];
	const char *name;
	size_t at = 0;

	while (a && b && (name = cs_settings_differ(&a->set, &b->set, &at, x, y)))
		cs_conditions_add(t->v, name, t->where, x, y);
}

static void hold_node(const struct two *t, uint32_t *of)
{
	const struct cs_run *a = t->a->run, *b = t->b->run;

	++*of;
	hold_program(t->v, t->where, a, b);
	hold_facts(t, &cs_node_fields, t->where, &a->node[t->a->node].facts,
		   &b->node[t->b->node].facts);
	hold_settings(t);
}

/* Agents that are partners. */
static void hold_agents(const struct two *t, uint32_t *of)
{
	const struct cs_run_node *x = &t->a->run->node[t->a->node];
	const struct cs_run_node *y = &t->b->run->node[t->b->node];
	for (int i = 0; i < x->facts.n_agents; i++)
		for (int k = 0; k < y->facts.n_agents; k++) {
			const char *where;

			if (strcmp(cs_pairing_agent(t->pairing, t->a, i),
				   cs_pairing_agent(t->pairing, t->b, k)))
				continue;
			++*of;
			where = cs_new_text("%s%s%s %s", t->where,
					    t->where[0] ? " " : "",
					    cs_agent_word(t->a->run),
					    cs_agent_label(t->a->run, t->a->node, i)
						    .text);
			hold_facts(t, &cs_agent_gpu_fields, where, &x->agent[i],
				   &y->agent[k]);
			hold_facts(t, &cs_agent_fields, where, &x->agent[i],
				   &y->agent[k]);
		}
}

/* Each run of a side against the first of the other. */
static void hold_pairs(struct cs_versus *v, const struct cs_pairing *p,
		       void (*hold)(const struct two *, uint32_t *), uint32_t *of)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct cs_paired *it = &p->item[i];
		struct two t = { .v = v, .pairing = p, .a = it, .b = it };

		if (it->pair < 0 || (it->side == 0 && it == p->first[it->pair][0]))
			continue; /* B's first is compared with that */
		if (it->side == 0)
			t.b = p->first[it->pair][1];
		else
			t.a = p->first[it->pair][0];
		t.where = cs_pairing_name(p, it->pair);
		hold(&t, of);
	}
}

void cs_conditions_find(struct cs_versus *v, const struct cs_pairing *p)
{
	uint32_t nodes = 0, agents = 0;
	size_t first;

	if (p->took_turns)
		return; /* the conditions are compared */
	hold_pairs(v, p, hold_node, &nodes);
	cs_conditions_end(v, 0, nodes, "nodes");
	first = v->fields.n;
	hold_pairs(v, p, hold_agents, &agents);
	cs_conditions_end(v, first, agents, "agents");
}
