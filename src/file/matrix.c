/* matrix.c - the cells of a test on a node.  They follow from the results, and are
 * not read back. */
#include "config.h"

#include "file/code.h"
#include "file/encode.h"
#include "file/record.h"
#include "result/grid.h"

static json_t *names(const struct cs_run *run, int node,
		     const struct cs_endpoint *end, int n)
{
	json_t *array = json_array();
	int i;

	for (i = 0; i < n; i++)
		cs_json_append(&array,
			       cs_json_text(cs_endpoint_is_numa(&end[i]) ?
						    cs_endpoint_text(run, node, &end[i])
							    .text :
						    cs_agent_name(run, node,
								  end[i].index)
							    .text));
	return array;
}

static json_t *values(const struct cs_grid *grid)
{
	json_t *array = json_array(), *row;
	int i, k;

	for (i = 0; i < grid->n_rows; i++) {
		row = json_array();
		for (k = 0; k < grid->n_cols; k++)
			cs_json_append(&row,
				       cs_json_real(grid->value[i * grid->n_cols + k]));
		cs_json_append(&array, row);
	}
	return array;
}

json_t *cs_record_matrix(const struct cs_run *run, int node, uint32_t index)
{
	const struct cs_grid *grid = cs_grid_new(run, node, index);
	struct cs_encoder r = cs_encode_begin();

	cs_encode_text(&r, "test", grid->test->name);
	cs_encode_text(&r, "node", run->node[node].facts.host);
	cs_encode_int(&r, "node_index", node);
	cs_encode_text(&r, "unit", cs_unit_text(grid->test->unit));
	cs_encode_text(&r, "title", cs_grid_title(grid).text);
	cs_encode_wide(&r, "copy_bytes", grid->bytes);
	cs_encode(&r, &cs_variant_fields, &grid->matrix->variant);
	cs_encode_json(&r, "rows", names(run, node, grid->row_end, grid->n_rows));
	cs_encode_json(&r, "columns", names(run, node, grid->col_end, grid->n_cols));
	cs_encode_json(&r, "values", values(grid));
	return cs_encode_end(&r);
}
