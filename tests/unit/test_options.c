
#include "options/table.h"
#include "catalogue/alias.h"
#include "tap.h"

static struct cs_options opt;
static struct cs_err err;

/* Parse a command line written with spaces. */
static int parse(const char *line)
{
	static char copy[512];
	char *argv[48] = { "cscope-mpi" }, *save = NULL;
	int argc = 1;

	cs_text(copy, sizeof(copy), "%s", line);
	for (char *word = strtok_r(copy, " ", &save); word && argc < 47;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	err.text[0] = '\0';
	return cs_options_parse(argc, argv, &opt, &err);
}

static int refused(const char *line, const char *word)
{
	if (!t_eq_int(parse(line), -1))
		return 0;
	if (strstr(err.text, word) && !strchr(err.text, '\n'))
		return t_ok(1);
	return t_eq_str(err.text, word);
}

HOLDS("nothing given is --suite quick") {
	static const char *const lines[] = {
		"",
		"-s 64M -o x.json",
		"--numa all --backend cpu",
		"--check",
		"--placement thread",
		"--dry-run --gpus 8",
		"--resume x.jsonl",
		"--check=launch --check",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		t_eq_int(parse(lines[i]), 0);
		t_eq_str(opt.suite, "quick");
		t_eq_str(opt.tests, cs_suite("quick"));
		t_eq_str(opt.matrix_text, "--suite quick");
	}
	t_eq_int(parse(""), 0);
	t_eq_int(opt.action, CS_ACTION_MEASURE);
	t_eq_int(opt.mpi, -1);
}

HOLDS("an axis, a transport or placements alone are of --matrix peer") {
	static const char *const lines[] = {
		"--op write",  "--op both",	   "--pattern bidi",
		"--method sm", "--host-memory wc", "--placement process,thread",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		t_eq_int(parse(lines[i]), 0);
		t_ok(!opt.suite && !opt.tests);
		t_eq_str(opt.matrix_text, "--matrix peer");
	}
	t_eq_int(parse("--via ipc"), 0);
	t_ok(!opt.suite);
	t_eq_str(opt.matrix_text, "--matrix peer --via ipc");
	t_eq_int(opt.axes.ops, 1u << CS_OP_WRITE);
	t_eq_int(opt.axes.patterns, 1u << CS_PATTERN_PAIR | 1u << CS_PATTERN_BIDI);
}

HOLDS("what looks, is named or has a plan is no suite") {
	t_eq_int(parse("--check=launch"), 0);
	t_ok(!opt.suite);
	t_eq_str(opt.matrix_text, "--check=launch");
	t_eq_int(parse("--plan x.csv"), 0);
	t_ok(!opt.suite);
	t_eq_str(opt.matrix_text, "--plan x.csv");
	t_eq_int(parse("--test peer.*"), 0);
	t_ok(!opt.suite);
	t_eq_str(opt.matrix_text, "--test peer.*");
}

HOLDS("the head line has what is measured, whatever else was said before") {
	t_eq_int(parse("--matrix peer --check=launch --check"), 0);
	t_eq_str(opt.matrix_text, "--matrix peer");
	t_eq_int(parse("--check=launch --check --matrix h2d,d2h --via ipc"), 0);
	t_eq_str(opt.matrix_text, "--matrix h2d,d2h --via ipc");
}

/* What an option's line says of its values: the position of each is its meaning. */
static void words_are(const char *name, const char *const *words, int n)
{
	char all[100] = "";

	for (int i = 0; i < n; i++)
		cs_text(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			i ? "|" : "", words[i]);
	for (size_t i = 0; i < cs_verbs[0].n; i++)
		if (cs_verbs[0].options[i].name &&
		    !strcmp(cs_verbs[0].options[i].name, name))
			t_eq_str(cs_verbs[0].options[i].argument, all);
}

HOLDS("words of an option are those of its enum, in order") {
	words_are("via", cs_transport_words, CS_TRANSPORTS);
	words_are("schedule", cs_schedule_words, CS_SCHEDULES);
	t_eq_int(parse("--via staged --schedule parallel --bind none"), 0);
	t_eq_int(opt.set.via, CS_TRANSPORT_STAGED);
	t_eq_int(opt.set.schedule, CS_SCHEDULE_PARALLEL);
	t_eq_int(opt.bind, CS_BIND_NONE);
	t_eq_int(parse("--op read --backend cpu --verify off --bind inherit"), 0);
	t_eq_int(opt.axes.ops, 1u << CS_OP_READ);
	t_eq_int(opt.backend, CS_WANT_CPU);
	t_eq_int(opt.set.verify, CS_VERIFY_OFF);
	t_eq_int(opt.bind, CS_BIND_INHERIT);
	t_eq_int(parse("--host-memory huge --method chase --pattern bidiall"), 0);
	t_eq_int(opt.axes.memories, 1u << CS_MEM_HUGE);
	t_eq_int(opt.axes.methods, 1u << CS_METHOD_CHASE);
	t_eq_int(opt.axes.patterns, 1u << CS_PATTERN_BIDIEVERY);
}

/* Structs that were zeroes, with their padding. */
static int same(const void *a, const void *b, size_t bytes)
{
	return !memcmp(a, b, bytes);
}

/* The same settings by options and by --set. */
static void sets(const char *options, const char *keys)
{
	static struct cs_options one;

	t_eq_int(parse(options), 0);
	one = opt;
	t_eq_int(parse(keys), 0);
	t_ok(same(&one.set, &opt.set, sizeof(opt.set)));
	t_ok(same(&one.vary, &opt.vary, sizeof(opt.vary)));
	t_eq_int(opt.bind, one.bind);
	t_eq_int(opt.seeded, one.seeded);
}

HOLDS("a key of --set is the option of that name") {
	sets("--seed 3 --verify last --bind none --cell-limit 2s",
	     "--set seed=3,verify=last --set=bind=none,cell-limit=2s");
	sets("-t peer.chunk.write.pair --shape 64/128,1K/2K --spread 4M --schedule serial",
	     "-t peer.chunk.write.pair --set shape=64/128,1K/2K,spread=4M,schedule=serial");
	sets("-t h2d.demand.managed.pair --advise none,prefer-src --oversubscribe 1.5",
	     "-t h2d.demand.managed.pair --set advise=none,prefer-src,oversubscribe=1.5");
}

HOLDS("a key that --set has not is refused with the nearest") {
	refused("--set shap=64/128",
		"--set 'shap=64/128': unknown key 'shap'; did you mean 'shape'?");
	refused("--set seed=1,verfy=off",
		"unknown key 'verfy'; did you mean 'verify'?");
	refused("--set weather=fine",
		"unknown key 'weather'; '--set list' shows the keys");
	refused("--set size=1M", "'size' is no key, but an option: --size");
	refused("--set seed", "seed needs a value: seed=N");
	refused("--set seed,verify=off", "seed needs a value: seed=N");
	refused("--set element=4,5",
		"--set 'element=4,5': element: allowed are 4, 8, 16");
	refused("--set seed=1,,", "seed: '1,,' is not a whole number");
	refused("--set=", "unknown key ''");
	refused("--elemen 4", "did you mean '--element'?");
}

HOLDS("no key of --set keeps a pointer to its value") {
	for (size_t i = 0; i < cs_verbs[0].n; i++)
		t_ok(!cs_verbs[0].options[i].is_key ||
		     cs_verbs[0].options[i].take != CS_TAKE_TEXT);
}

HOLDS("every option is taken") {
	t_eq_int(parse("--matrix d2d --op both --pattern pair --size 1G --gpus 0-3 "
		       "--backend cuda --bind none --no-mpi --precision 1% "
		       "--cell-limit 500ms --start-limit 1m --seed 9 --verify last "
		       "-o a.json --output=b.csv -f json -q -v"),
		 0);
	t_eq_int(opt.axes.ops, 3);
	t_eq_int(opt.axes.patterns, 1u << CS_PATTERN_PAIR);
	t_ok(opt.set.copy_bytes == 1ull << 30);
	t_eq_int(opt.gpus.n, 1);
	t_eq_int(opt.backend, CS_WANT_CUDA);
	t_eq_int(opt.bind, CS_BIND_NONE);
	t_eq_int(opt.mpi, 0);
	t_near(opt.set.precision, 0.01, 1e-12);
	t_near(opt.set.cell_limit_s, 0.5, 1e-12);
	t_near(opt.set.start_limit_s, 60, 1e-12);
	t_ok(opt.set.seed == 9);
	t_eq_int(opt.set.verify, CS_VERIFY_LAST);
	t_eq_int(opt.n_outputs, 2);
	t_eq_str(opt.output[1], "b.csv");
	t_eq_str(opt.format->name, "json");
	t_ok(opt.quiet && opt.view.verbose);
}

HOLDS("--explain takes what it is to explain") {
	t_eq_int(parse("--explain cuda-802"), 0);
	t_eq_int(opt.action, CS_ACTION_EXPLAIN);
	t_eq_str(opt.explain, "cuda-802");
	refused("--explain", "needs a value");
}

HOLDS("a bad value is one line with option, value and what is allowed") {
	refused("--op push", "--op 'push': allowed are write, read, both");
	refused("--backend gpu", "--backend 'gpu': allowed are auto, cuda, cpu");
	refused("--backend auto|cuda", "--backend 'auto|cuda': allowed are");
	refused("--backend=", "--backend '': allowed are");
	refused("--check=link,",
		"--check 'link,': allowed are launch, placement, topology, outlier, link, baseline");
	refused("--check=links",
		"--check 'links': did you mean 'link'? allowed are launch");
	refused("--matrix ,",
		"--matrix ',': allowed are peer, cost, h2d, d2h, local, host, nethost, net, d2d, h2h");
	refused("--matrix nvlink",
		"--matrix 'nvlink': allowed are peer, cost, h2d, d2h, local, host, nethost, net, d2d, h2h");
	refused("--pattern rings", "--pattern 'rings'");
	refused("--size 0", "--size '0'");
	refused("--size 100", "multiple of 16");
	refused("--size 1X", "--size '1X'");
	refused("--precision 0", "--precision '0'");
	refused("--cell-limit -1s", "--cell-limit '-1s'");
	refused("--seed x", "--seed 'x'");
	refused("--gpus 1-", "--gpus '1-'");
	refused("-f xml", "--format 'xml'");
	refused("-o result.htm", "--output 'result.htm'");
	refused("--test peer.nothing", "--test 'peer.nothing'");
	refused("--verify maybe", "--verify 'maybe'");
}

HOLDS("a near miss gets the name that was meant") {
	/* a word of a list */
	refused("--matrix per", "--matrix 'per': did you mean 'peer'? allowed are");
	refused("--matrix peer,hd2", "did you mean 'h2d'?");
	refused("--op wirte", "--op 'wirte': did you mean 'write'?");
	refused("--backend CUDA", "--backend 'CUDA': did you mean 'cuda'?");
	refused("-f jsno", "did you mean 'json'?");
	refused("--numa locl", "did you mean 'local'?");
	refused("--placement process,tread", "did you mean 'thread'?");
	/* a file's ending */
	refused("-o x.jsn", "did you mean '.json'?");
	refused("-o x.htm", "did you mean '.html'?");
	/* a test's name, and what begins several */
	refused("-t peer.ce.write.par", "did you mean 'peer.ce.write.pair'?");
	refused("-t peer.ce.write", "did you mean 'peer.ce.write.*'?");
	refused("-t peer.ce.wri", "did you mean 'peer.ce.wri*'?");
	refused("-t device_to_device", "did you mean 'device_to_device*'?");
	/* an option, also of another command */
	refused("--budgte 9s", "did you mean '--budget'?");
	refused("show a --precision 1%",
		"'cscope-mpi' has it, 'cscope-mpi show' has not");
	refused("--topology", "'cscope-mpi show' has it, 'cscope-mpi' has not");
}

HOLDS("a loose word gets the line that was meant") {
	refused("--check outlier", "'outlier'; did you mean '--check=outlier'?");
	refused("-n 8", "'8'; did you mean 'mpirun -np 8 cscope-mpi ...'?");
	refused("-np 8 -m peer", "did you mean 'mpirun -np 8 cscope-mpi ...'?");
	refused("x.json", "'x.json'; did you mean 'cscope-mpi show x.json'?");
	refused("--check x.jsonl", "did you mean 'cscope-mpi check x.jsonl'?");
	refused("-s 1M h2d", "'h2d'; did you mean '--test h2d'?");
	refused("list", "'list'; did you mean '--list'?");
	refused("--list h2d.*", "did you mean '--list=h2d.*'?");
	/* a word that does not follow the option is none of its values */
	refused("weather --check", "'weather'; 'cscope-mpi --help' lists");
}

HOLDS("a refused file gets every ending that there is") {
	for (const struct cs_format *f = cs_formats; f->name; f++)
		refused("-o x.pdf", f->suffix);
	refused("-o x.pdf", "--output 'x.pdf': allowed endings are .txt,");
	refused("--output= -q", "--output '': a file has a name before its ending");
	refused("-o dir/.json", "a file has a name before its ending");
}

HOLDS("names are never abbreviated") {
	refused("--matr peer", "unknown option '--matr'; did you mean '--matrix'?");
	refused("--prec=1%", "unknown option '--prec'");
	refused("--weather", "unknown option '--weather'; 'cscope-mpi --help' lists");
	/* but a value may look like anything */
	t_eq_int(parse("-o --list.json"), 0);
	t_eq_str(opt.output[0], "--list.json");
}

HOLDS("loose ends are refused") {
	refused("peer", "unexpected argument 'peer'");
	refused("chek a.json", "'chek'; did you mean 'cscope-mpi check'?");
	refused("-m", "needs a value");
	refused("-Z", "-Z");
	refused("--matrix peer --test peer.*", "exclude each other");
	refused("--matrix peer --suite quick",
		"--matrix and --suite exclude each other");
	refused("--suite quick --test h2d", "--test and --suite exclude each other");
	refused("--plan x.csv --test peer.*", "--plan and --test exclude each other");
	refused("--plan x.csv --suite quick", "--plan and --suite exclude each other");
	refused("--suite quick --plan x.csv", "--plan and --suite exclude each other");
}

static int is_chosen_at(const struct cs_choices *chosen, size_t test)
{
	for (size_t i = 0; i < chosen->n; i++)
		if (chosen->choice[i].test == test)
			return 1;
	return 0;
}

static int is_chosen(const struct cs_choices *chosen, const char *name)
{
	return is_chosen_at(chosen, (size_t)cs_test_index(name));
}

HOLDS("the tests chosen are those of the backend") {
	struct cs_choices chosen = { .n = 0 };
	size_t n;

	cs_catalogue(&n);
	t_eq_int(parse("--op both"), 0);
	t_eq_int(cs_options_choose(&opt, CS_BACKEND_CPU, &chosen, &err), 0);
	for (size_t i = 0; i < n; i++)
		t_eq_int(is_chosen_at(&chosen, i),
			 cs_catalogue(&n)[i].backend == CS_BACKEND_CPU &&
				 cs_catalogue(&n)[i].pattern <= CS_PATTERN_BIDI);
	chosen.n = 0;
	t_eq_int(parse("-m cost,peer --pattern shift"), 0);
	t_eq_int(cs_options_choose(&opt, CS_BACKEND_CUDA, &chosen, &err), 0);
	t_eq_int(is_chosen(&chosen, "peer.ce.write.shift"), 1);
	t_eq_int(is_chosen(&chosen, "peer.ce.write.bidi"), 0);
	t_eq_int(is_chosen(&chosen, "local.driver.free.gated"), 1);
	t_eq_int(parse("-t peer.ce.*"), 0);
	t_eq_int(cs_options_choose(&opt, CS_BACKEND_CPU, &chosen, &err), -1);
}

HOLDS("help lists every option in 80 columns") {
	char *text, *line, *save = NULL;

	t_eq_int(cs_options_help(t_stream(), "", 1), 0);
	text = t_text();
	t_has(text, "--budget TIME");
	t_has(text, "-o, --output FILE");
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		t_ok(strlen(line) <= 80);
}

HOLDS("an unknown letter is named, also within others") {
	refused("-X", "'-X'");
	refused("-Xq", "'-X'");
	refused("-v -qXv", "'-X'");
	refused("--quiet=1", "'--quiet=1'");
}

HOLDS("a list too long to be read to its end is refused") {
	char line[256];

	cs_text(line, sizeof(line), "--pattern pair%0*d", 100, 0);
	for (char *zero = strchr(line, '0'); *zero; zero++)
		*zero = ',';
	t_eq_int(parse("--pattern pair,,bidi"), 0);
	refused(line, "allowed are pair, bidi");
	cs_text(line, sizeof(line), "--matrix peer%0*d", 200, 0);
	for (char *zero = strchr(line, '0'); *zero; zero++)
		*zero = ',';
	refused(line,
		"allowed are peer, cost, h2d, d2h, local, host, nethost, net, d2d, h2h");
}

HOLDS("show has options and an operand of its own") {
	t_eq_int(parse("show a.json:n1 --cell 2,3:1 -f csv"), 0);
	t_eq_int(opt.action, CS_ACTION_SHOW);
	t_eq_str(opt.command, "show");
	t_eq_str(opt.file, "a.json:n1");
	t_eq_str(opt.only[0], "2");
	t_eq_str(opt.only[1], "3:1");
	t_eq_str(opt.format->name, "csv");
	t_eq_int(parse("show --help"), 0);
	t_eq_int(opt.action, CS_ACTION_HELP);
	refused("show", "show needs FILE[:NODE]");
	refused("show a b", "unexpected argument 'b'; 'cscope-mpi show --help'");
	refused("show a --size 1M",
		"unknown option '--size': 'cscope-mpi' has it, 'cscope-mpi show' has not");
	refused("show a --cell 1", "--cell '1': allowed are a source and a");
	refused("show a --cell 1,", "allowed are a source");
	refused("show a --cell 1:,2", "allowed are a source");
	refused("show a --gpu 123456789012", "allowed is one GPU");
	refused("show a --gpu x", "allowed is one GPU");
	refused("--gpu 1", "unknown option '--gpu'; did you mean '--gpus'?");
}

HOLDS("a journal is resumed by its name") {
	t_eq_int(parse("--resume a.jsonl"), 0);
	t_eq_str(opt.resume, "a.jsonl");
	refused("--resume a.json", "a journal's name ends in .jsonl");
	refused("--resume a.jsonl --redact", "exclude each other");
}
