"""How fast data moves inside the nodes of a job, as a test for ReFrame (README.md)."""
import os
import re

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ


@rfm.simple_test
class cscope_mpi_links(rfm.RunOnlyRegressionTest):
    """Every test of `tests` measured, data checked; least, median and most of each."""

    descr = 'bandwidth and latency between GPUs, host and memory, checked'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'cscope-mpi'
    time_limit = '10m'
    maintainers = ['cscope-mpi']
    tags = {'gpu', 'bandwidth', 'health'}

    #: Tests, globs or suites, as `cscope-mpi --test` takes them.
    tests = variable(str, value='quick')
    #: auto, cuda or cpu.
    backend = variable(str, value='auto')
    #: Bytes of one copy, "64M"; empty: the program's choice.
    size = variable(str, value='')
    #: Further options, as ['--baseline', '/etc/cscope/base.json'].
    extra = variable(typ.List[str], value=[])

    @run_before('run')
    def give_options(self):
        self.executable_opts = ['--test', self.tests, '--backend', self.backend,
                                '--format', 'result', *self.extra]
        if self.size:
            self.executable_opts += ['--size', self.size]
        if not self.num_tasks_per_node and self.num_tasks == 1:
            self.executable_opts += ['--no-mpi']

    @sanity_function
    def was_measured(self):
        """Status 0: data were right and no cell failed; and a line for each test."""
        lines = sn.extractall(r'^result (\S+) .* \d+/\d+ cells', self.stdout)
        return sn.all([
            sn.assert_eq(self.job.exitcode, 0),
            sn.assert_ge(sn.count(lines), 1, 'nothing was measured'),
        ])

    @run_before('performance')
    def take_figures(self):
        """Names are known only when the program has said what it measured."""
        with open(os.path.join(self.stagedir, sn.evaluate(self.stdout))) as out:
            lines = re.findall(
                r'^result (\S+) \S+ min (\S+) median (\S+) max (\S+) (\S+) ',
                out.read(), re.MULTILINE)
        figures = {}
        for test, least, median, most, unit in lines:
            for name, value in (('min', least), ('median', median), ('max', most)):
                key = f'{test}_{name}'.replace('.', '_').replace('-', '_')
                figures.setdefault((key, unit), []).append(float(value))
        pick = {'min': min, 'max': max, 'median': lambda x: sorted(x)[len(x) // 2]}
        self.perf_variables = {
            key: sn.make_performance_function(
                sn.defer(pick[key.rsplit('_', 1)[1]](values)), unit)
            for (key, unit), values in figures.items()}
