#include "check/fleet/leaves.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hostlist.h"

CS_ORDERING(by_host, struct cs_leaf, strcmp(a->host, b->host))

/* A line of the file; a backslash at its end joins it with the next. */
struct line {
	const char *name, *nodes;
	int switches; /* it has others below it */
};

static int take_word(struct line *line, char *word, struct cs_err *err)
{
	static const char *const known[] = { "SwitchName", "Nodes", "Switches",
					     "LinkSpeed" };
	char *value = strchr(word, '=');
	int key = 0;

	if (value)
		*value++ = '\0';
	while (key < 4 && strcasecmp(word, known[key]) != 0)
		key++;
	if (key == 4 || !value || !*value)
		return cs_err_set(
			err,
			"'%.60s': allowed are SwitchName=, Nodes=, Switches=, LinkSpeed=",
			word);
	if (key == 0)
		line->name = value;
	if (key == 1)
		line->nodes = value;
	line->switches |= key == 2;
	return 0;
}

static int add_nodes(struct cs_vec *leaves, const struct line *line,
		     struct cs_err *err)
{
	struct cs_vec names = { .element = CS_HOST };
	int rc = cs_hostlist_parse(line->nodes, &names, err);
	struct cs_leaf *leaf = rc ? NULL : cs_vec_add(leaves, names.n, err);

	for (size_t i = 0; leaf && i < names.n; i++) {
		cs_text(leaf[i].host, CS_HOST, "%s", (char *)names.data + i * CS_HOST);
		cs_text(leaf[i].leaf, CS_HOST, "%s", line->name);
	}
	cs_vec_release(&names);
	return leaf ? 0 : -1;
}

static int take_line(struct cs_vec *leaves, char *text, struct cs_err *err)
{
	struct line line = { NULL, NULL, 0 };
	char *word;

	text[strcspn(text, "#")] = '\0';
	while ((word = strsep(&text, " \t\r")))
		if (*word && take_word(&line, word, err))
			return -1;
	if (!line.name && !line.nodes && !line.switches)
		return 0;
	if (!line.name || !line.nodes == !line.switches)
		return cs_err_set(err,
				  "a line has SwitchName=, and either Nodes= or Switches=");
	return line.nodes ? add_nodes(leaves, &line, err) : 0;
}

static int check_once(const struct cs_vec *leaves, struct cs_err *err)
{
	const struct cs_leaf *leaf = leaves->data;

	if (!leaves->n)
		return cs_err_set(err, "no line has SwitchName= and Nodes=");
	for (size_t i = 1; i < leaves->n; i++)
		if (!by_host(&leaf[i], &leaf[i - 1]))
			return cs_err_set(err, "node '%s' is at two switches",
					  leaf[i].host);
	return 0;
}

/* End the line at `text`; the next one, or NULL. */
static char *end_line(char *text, unsigned *lines)
{
	char *end = text + strcspn(text, "\n");

	for (; *end && end > text && end[-1] == '\\'; end += strcspn(end, "\n")) {
		end[-1] = *end = ' ';
		++*lines;
	}
	++*lines;
	if (!*end)
		return NULL;
	*end = '\0';
	return end + 1;
}

int cs_leaves_read(struct cs_vec *leaves, const char *text, const char *name,
		   struct cs_err *err)
{
	char *copy = strdup(text), *at = copy, *next;
	unsigned lines = 0, line;
	int rc = copy ? 0 : cs_err_set(err, "no memory");

	for (; at && !rc; at = next) {
		line = lines + 1;
		next = end_line(at, &lines);
		if (take_line(leaves, at, err))
			rc = cs_err_prefix(err, "%.200s:%u", name, line);
	}
	free(copy);
	if (rc)
		return -1;
	cs_vec_sort(leaves, by_host);
	return check_once(leaves, err) ? cs_err_prefix(err, "%.200s", name) : 0;
}

void cs_leaves_apply(const struct cs_vec *leaves, struct cs_node_facts *node)
{
	const struct cs_leaf *found;
	struct cs_leaf key;

	cs_text(key.host, sizeof(key.host), "%s", node->host);
	found = leaves->n ?
			bsearch(&key, leaves->data, leaves->n, sizeof(key), by_host) :
			NULL;
	if (found)
		cs_text(node->leaf, sizeof(node->leaf), "%s", found->leaf);
}
