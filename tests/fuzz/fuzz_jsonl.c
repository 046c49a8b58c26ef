/* A journal that somebody else wrote; or the lines behind a good beginning, so that
 * they are reached. */
#include "loaded.h"
#include "values.h"

#define RUN                                                                    \
	"{\"kind\":\"run\",\"schema\":\"cscope-mpi/1\",\"program\":{},"            \
	"\"backend\":\"cuda\",\"n_nodes\":2,\"n_agents\":2,"                       \
	"\"tests\":[\"peer.ce.write.bidi\"],\"settings\":{\"copy_bytes\":16,"      \
	"\"precision\":1,\"cell_limit_s\":1,\"start_limit_s\":1}}\n"
#define NODE                                                                   \
	"{\"kind\":\"node\",\"host\":\"n1\",\"node_index\":0,\"n_agents\":2,"      \
	"\"agents\":[{\"node_index\":0,\"label\":\"0\"},"                          \
	"{\"node_index\":0,\"label\":\"1\"}]}\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t before = strlen(RUN NODE);
	char *text = fuzz_text(data, size), *whole;

	if (size > 12 && !memcmp(data, "{\"kind\":\"run", 12)) {
		fuzz_loaded(text, size);
	} else {
		whole = malloc(before + size + 1);
		MUST(whole);
		memcpy(whole, RUN NODE, before);
		memcpy(whole + before, text, size + 1);
		fuzz_loaded(whole, before + size);
		free(whole);
	}
	free(text);
	return 0;
}
