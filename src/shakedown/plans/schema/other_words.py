"""Keys of other tools (Slurm, ReFrame, JUBE, PBS), and the way to write them in a test here.

People who know another tool write its words. The hint gives the key used here; a hint by similar letters would mislead: `partition`
is nearly `options`.
"""

from __future__ import annotations

from collections.abc import Iterable

_PARTITION = "beside run, write where: {partitions: [NAME]}"
_RANKS = "for 8 ranks write nodes: 2, tasks_per_node: 4"
_SUBMISSION = "for the submission write options: ['--{word}=NAME']"
_COMMAND = "write run: {command: ...} with these shell lines"
_BUILD = "write build: {source: DIRECTORY, run: SHELL LINES}"
_BOUNDS = "write criteria: {NAME: {of: FIGURE, must: '>= 10 GB/s'}} in a component of a plan, or a row of its contract"
_OF_A_FIGURE = "write figures: {NAME: {...}} with it among the keys of a figure"
_PLAN = "a component of a plan has {key}: N"
_OF_COMPONENTS = (
    "mix filler fill drills clock windows sweep pack ladder modes gate retry criteria set_up clean_up procedures"
)


def _words(text: str) -> list[str]:
    return text.split()


# key -> the names of it elsewhere
_NAMES: dict[str, str] = {
    "time_limit": "time walltime timeout limit time_limits duration wall_time max_time",
    "tasks_per_node": "ppn ntasks_per_node ranks_per_node num_tasks_per_node processes_per_node procs_per_node mpiprocs",
    "cpus_per_task": "cores cpus threads num_cpus_per_task cores_per_task threads_per_rank threads_per_task ompthreads",
    "gpus_per_node": "gpus gres gpu num_gpus_per_node gpus_per_host",
    "memory": "mem mem_per_node",
    "memory_per_cpu": "mem_per_cpu",
    "environment": "env env_vars variables export",
    "command": "script commands executable cmd program",
    "container": "image container_image container_platform",
    "licences": "licenses license licence",
    "directives": "directive header prologue",
    "options": "sbatch flags scheduler_options",
    "files": "inputs input input_files",
}
RUN_WORDS: dict[str, str] = {
    **{word: f"here it is '{key}'" for key, words in _NAMES.items() for word in words.split()},
    **dict.fromkeys(("partition", "partitions", "queue", "nodelist"), _PARTITION),
    **dict.fromkeys(("n", "np", "ntasks", "num_tasks", "tasks", "ranks", "processes", "procs"), _RANKS),
    **{word: _SUBMISSION.format(word=word) for word in ("account", "project", "qos")},
    **dict.fromkeys(("repeats", "repetitions", "count"), _PLAN.format(key="repeats")),
    **dict.fromkeys(("retries", "max_retries"), _PLAN.format(key="retries")),
    **dict.fromkeys(("modules", "module", "spack"), "beside run, write software: {modules: [NAME]}"),
}
TEST_WORDS: dict[str, str] = {
    **dict.fromkeys(("partition", "partitions", "queue", "valid_systems"), _PARTITION.removeprefix("beside run, ")),
    **dict.fromkeys(("name", "title"), "here it is 'test'"),
    **dict.fromkeys(("description", "descr", "doc", "summary"), "here it is 'about'"),
    **dict.fromkeys(("checks", "sanity", "sanity_patterns", "verify", "validate"), "here it is 'check'"),
    **dict.fromkeys(
        _words("perf performance metrics perf_patterns patterns patternset pattern foms fom analyser analyzer result"),
        "here it is 'figures'",
    ),
    **dict.fromkeys(
        _words("steps step do work prerun_cmds postrun_cmds pre_run post_run executable_opts"),
        _COMMAND,
    ),
    **dict.fromkeys(_words("prebuild_cmds postbuild_cmds build_system sourcesdir sourcepath make compile"), _BUILD),
    **dict.fromkeys(_words("reference references bounds thresholds expected target"), _BOUNDS),
    **dict.fromkeys(_words("unit units better pick regex json yaml table formula statistic"), _OF_A_FIGURE),
    **dict.fromkeys(("depends", "depends_on", "dependencies", "requires", "after"), "here it is 'needs'"),
    **dict.fromkeys(("parameter", "params", "matrix", "parameterset"), "here it is 'parameters'"),
    **dict.fromkeys(("modules", "module", "spack"), "write software: {modules: [NAME]}"),
    **{word: f"a component of a plan has {word}: it stands in a file of plans/" for word in _OF_COMPONENTS.split()},
    **{word: said for word, said in RUN_WORDS.items() if said == _RANKS or said.startswith("a component")},
    **{word: f"write run: {{{key}: ...}}" for key, words in _NAMES.items() for word in words.split()},
}


def in_its_place(keys: Iterable[str], place: str) -> dict[str, str]:
    """Purpose: key -> hint, for keys that are known in another map. ``place``: where they belong, with ``{}`` for the key."""
    return {key: place.format(key) for key in keys}


# word for one number of many -> the word for it here
STATISTICS_ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("avg", "average", "arithmetic mean", "mean value"), "mean"),
    **dict.fromkeys(("p50", "med", "50%", "median value"), "median"),
    **dict.fromkeys(("maximum", "highest", "largest", "p100"), "max"),
    **dict.fromkeys(("minimum", "lowest", "smallest", "p0"), "min"),
    **dict.fromkeys(("std", "stdev", "stddev", "sigma"), "sd"),
    **dict.fromkeys(("total", "add"), "sum"),
    **dict.fromkeys(("n", "len", "number"), "count"),
}
