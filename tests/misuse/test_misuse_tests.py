"""Wrong files of tests, and the exact words they are answered with."""

# An entry is a line, however long its answer is.
# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import pytest

BODY = 'test: a\nrun: {command: "true"}\n'
TOO_DEEP = "nested more than 50 levels deep"

# ---- what is wrong with the text -------------------------------------------------------------------------------------

TEXTS: list[tuple[str | bytes, str]] = [
    ("", "error: tests/a.yaml: the file is empty\nhint: write it, or take it away"),
    ("# nothing\n", "error: tests/a.yaml: the file is empty\nhint: write it, or take it away"),
    ("- a\n", "error: tests/a.yaml:1:1: the file holds a list, not a map of keys\nhint: it starts with a key, such as 'test: ...'"),
    ("just text", "error: tests/a.yaml:1:1: the file holds 'just text', not a map of keys\nhint: it starts with a key, such as 'test: ...'"),
    ("test: a\n\trun: b", "error: tests/a.yaml:2:1: a tab indents this line\nhint: YAML is indented with spaces"),
    ("test: a\nrun:\n\tcommand: b", "error: tests/a.yaml:3:1: a tab indents this line\nhint: YAML is indented with spaces"),
    ("test: a\ntags: [1, 2\nb: c", "error: tests/a.yaml:2:7: the '[' that is opened here is not closed before line 3\nhint: write the ']' that is missing"),
    ("test: {a: b", "error: tests/a.yaml:2:1: the map in {...} is not closed before here\nhint: write a ',' or a '}'; text that begins with '{' is put in quotes"),
    ("test: 'a\nb: c", "error: tests/a.yaml:1:7: the quote that is opened here is never closed\nhint: close it in the line in which it is opened"),
    ("test: a\nrun: {command: \"x}\ncheck: [exit is any]\nabout: \"b\"", "error: tests/a.yaml:2:16: the quote that is opened here is closed in line 4 only\nhint: close it in the line in which it is opened"),
    ("test: a\nrun:\n  memory: \"2 GiB\n  command: x\nabout: \"b", "error: tests/a.yaml:3:11: the quote that is opened here is closed in line 5 only\nhint: close it in the line in which it is opened"),
    ("test: a\nrun:\n  files: ['b, c]\n  command: x\nabout: 'b", "error: tests/a.yaml:3:11: the quote that is opened here is closed in line 5 only\nhint: close it in the line in which it is opened"),
    ("test: a\nabout: \"b\nfigures:\n  x: {regex: \"\\d\"}\ncheck: [\"\\d\"]", "error: tests/a.yaml:2:8: the quote that is opened here is closed in line 4 only\nhint: close it in the line in which it is opened"),
    ("test: a\nabout: \"b\nfigures:\n  x: {regex: '\\d'}", "error: tests/a.yaml:2:8: the quote that is opened here is not closed before line 4\nhint: close it in the line in which it is opened"),
    ("test: a\nabout: |no", "error: tests/a.yaml:2:9: nothing but a comment can follow '|' or '>' here\nhint: put text that begins with it in quotes"),
    ('test: "\\d"', "error: tests/a.yaml:1:8: double quotes know no such escape\nhint: put it in single quotes: there a backslash is a backslash"),
    ("test: @x", "error: tests/a.yaml:1:7: text cannot begin with '@'\nhint: put it in quotes"),
    ("about: a: b", "error: tests/a.yaml:1:9: a ':' that begins a value is not allowed here\nhint: is the indentation right? text that holds ': ' is put in quotes"),
    ("test: a\nrun\n", "error: tests/a.yaml:3:1: the key before this has no ':'\nhint: write 'key: value'"),
    ("test: 'a' b", "error: tests/a.yaml:1:11: a key is expected here\nhint: is the indentation right, and every quote closed?"),
    ("test: a\n---\ntest: b", "error: tests/a.yaml:2:1: a second document begins here\nhint: a file holds one; give it a file of its own"),
    ("test: *x", "error: tests/a.yaml:1:7: no anchor of this name stands before it\nhint: text that begins with '*' is put in quotes"),
    ("test: !x y", "error: tests/a.yaml:1:7: the tag '!x' has no meaning here\nhint: put the text in quotes where it is meant"),
    ("a: &a [*a]", "error: tests/a.yaml:1:4: an alias refers to a value that contains the alias itself"),
    (b"test: \xff", "error: tests/a.yaml:1:7: the file is not UTF-8 text\nhint: save it as UTF-8"),
    ("test: a\n".encode("utf-16"), "error: tests/a.yaml:1:1: the file is not UTF-8 text\nhint: save it as UTF-8"),
    (b"test: a\nabout: a\x01b", "error: tests/a.yaml:2:9: the character U+0001 cannot stand in a file of text\nhint: inside double quotes write it as \\x.."),
    ("a: " + "[" * 500_000, f"error: tests/a.yaml:1:53: {TOO_DEEP}"),
    ("- " * 500_000, f"error: tests/a.yaml:1:101: {TOO_DEEP}"),
    ("{a: " * 250_000, f"error: tests/a.yaml:1:201: {TOO_DEEP}"),
    ("x" * 3_000_000, "error: tests/a.yaml: the file has more than 2097152 bytes, the most that is read"),
    (f"<<: 3\n{BODY}", "error: tests/a.yaml:1:5: '<<' takes a map or a list of maps, not '3'"),
    (f"a: &a {{}}\n<<: *a\n<<: *a\n{BODY}", "error: tests/a.yaml:3:1: key '<<' is written twice\nhint: the first is on line 2; write <<: [*a, *b]"),
    ("plan: p\nsystem: here\ncomponents: []", "error: tests/a.yaml:1:1: this is a plan, and tests/ holds tests\nhint: move it to plans/"),
    ("system: s\nclusters: {}", "error: tests/a.yaml:1:1: this is a system, and tests/ holds tests\nhint: move it to systems/"),
    ("test: a\nrun:\n\u00a0\u00a0nodes: 1\n  command: x", "error: tests/a.yaml:3:1: U+00A0, a no-break space, is no blank to YAML\nhint: write a space in its place"),
]  # fmt: skip

# ---- what is wrong with a test ---------------------------------------------------------------------------------------

TESTS: list[tuple[str, str]] = [
    ("test: a", "1:1: 'run' is missing\nhint: say what is run, or 'abstract: true' where the test is only there to be extended"),
    ("test: a\nrun: {nodes: 1}", "2:6: 'command' is missing in run\nhint: say what is run, or 'abstract: true' where the test is only there to be extended"),
    ("test: a\ntest: b\nrun: {command: x}", "2:1: key 'test' is written twice\nhint: the first is on line 1; keep one"),
    ("test: a b\nrun: {command: x}", "1:7: test: 'a b' cannot be the test's name\nhint: use letters, digits, '_', '-', '.' and '+', a letter or digit first"),
    ("test:\nrun: {command: x}", "1:6: test has no value\nhint: it is the test's name"),
    ("test: [a]\nrun: {command: x}", "1:7: test is the test's name, not a list"),
    ("? [a]\n: b\ntest: a\nrun: {command: x}", "1:3: a key is a word, not a list"),
    (BODY + "tags: memory", "3:7: tags is a list of tags, not 'memory'\nhint: write it in brackets: [memory]"),
    (BODY + "abstract: maybe", "3:11: abstract: 'maybe' is neither true nor false"),
    (BODY + "extends: b", "3:10: there is no test 'b'\nhint: 'shakedown list tests' has them"),
    (BODY + "extends: a", "3:10: test 'a' extends itself"),
    ("test: tri\u0430d\nrun: {command: x}", "1:7: test: 'tri\u0430d' cannot be the test's name\nhint: '\u0430' is U+0430, and not of these: use letters, digits, '_', '-', '.' and '+', a letter or digit first"),
    (BODY + "tags: [own, null]", "3:13: tags: null is no value in YAML\nhint: leave it out, or write 'null' in quotes where the word is meant"),
    (BODY + "tags: [own, own]", "3:13: tags: 'own' is written twice\nhint: the first is on line 3; keep one"),
    (BODY + "parameters: {a: [1, 1]}", "3:21: parameters.a: '1' is written twice\nhint: the first is on line 3; keep one"),
    (BODY + f"parameters: {{a: [1, '{'xY3' * 40}']}}", "3:21: parameters.a: a parameter's value of 120 characters\nhint: 100 are the most"),
    (BODY + "check: [exit is -1]", "3:9: check: 'exit is -1': what returns -1 ends with 255\nhint: write exit is 255"),
    (BODY + "figures: {x: {regex: '(?P<value>x)', unit: gb/s}}", "3:44: figures.x.unit: there is no unit 'gb/s'\nhint: did you mean 'GB/s'? Nobody could convert it"),
    ('test: a\nrun: {command: ""}', "2:16: run.command is empty\nhint: it is shell lines"),
    ("test: a\nrun: {command: \u201cecho a\u201d}", "2:16: run.command begins with \u201c (U+201C), which is no quote to YAML and to the shell\nhint: write ' or \" in its place"),
    (BODY + "patternset: {}", "3:1: unknown key 'patternset'\nhint: here it is 'figures'"),
    (BODY + "step: x", "3:1: unknown key 'step'\nhint: write run: {command: ...} with these shell lines"),
    (BODY + "build_system: make", "3:1: unknown key 'build_system'\nhint: write build: {source: DIRECTORY, run: SHELL LINES}"),
    (BODY + "reference: {a: 3}", "3:1: unknown key 'reference'\nhint: write criteria: {NAME: {of: FIGURE, must: '>= 10 GB/s'}} in a component of a plan, or a row of its contract"),
    (BODY + "unit: GB/s", "3:1: unknown key 'unit'\nhint: write figures: {NAME: {...}} with it among the keys of a figure"),
    (BODY + "build: make", "3:8: build: 'make' is not 'none'\nhint: write {source: DIRECTORY, run: make} for a build"),
    (BODY + "where: batch", "3:8: where is a map with partitions, not 'batch'\nhint: write where: {partitions: [batch]}"),
    (BODY + "where: [a, b]", "3:8: where is a map with partitions, not a list\nhint: write where: {partitions: [a, b]}"),
    (BODY + "check: [{output: {contains: ok}}]", '3:9: check: a check of the output, a file or the exit status is one line\nhint: write - output contains "ok"'),
    (BODY + "check: [{file a.txt: {contains: ok}}]", '3:9: check: a check of the output, a file or the exit status is one line\nhint: write - file a.txt contains "ok"'),
    (BODY + "figures: {x: {regex: '(?P<value>x)', pick: p50}}", "3:44: figures.x.pick: 'p50' is not one of last, first, min, max, mean, median, sum, count, sd, p5, p95, p99\nhint: here it is 'median'"),
    (BODY + "figures: {x: {regex: '(?P<value>x)', pick: avg}}", "3:44: figures.x.pick: 'avg' is not one of last, first, min, max, mean, median, sum, count, sd, p5, p95, p99\nhint: here it is 'mean'"),
    (BODY + "figures: {x: {table: {header: y, unit: s}}}", "3:34: unknown key 'unit' in figures.x.table\nhint: it stands beside table, not in it: unit: ..."),
    (BODY + "parameters: {1a: [x]}", "3:14: parameters: '1a' cannot be a parameter\nhint: use letters, digits and '_', no digit first"),
    (BODY + "parameters: {launch: [x]}", "3:14: parameters: 'launch' has a meaning of its own in expressions\nhint: choose another name for the parameter"),
    (BODY + "parameters: {a: []}", "3:17: parameters.a is empty\nhint: it is a list of values"),
    (BODY + "parameters: {a: [{node.cores}]}", '3:18: parameters.a is text or a number, not a map\nhint: an expression is put in quotes: "{node.cores}"'),
    (BODY + 'parameters: {a: [1, "{node.core}"]}', "3:21: parameters.a: unknown name 'node.core' in an expression\nhint: did you mean 'node.cores'?"),
    (BODY + "parameters: {toolchain: [gc]}", "3:26: parameters.toolchain: no system has a toolchain 'gc'\nhint: did you mean 'gcc'?"),
    (BODY + "parameters: {a: [1, 2]}\nexclude: [{b: 3}]", "4:12: there is no parameter 'b'\nhint: parameters there are: a"),
    (BODY + "parameters: {a: [1, 2]}\nexclude: [{a: 3}]", "4:15: parameter 'a' has no value '3'\nhint: it has: 1, 2"),
    (BODY + "parameters: {a: [1]}\nexclude: [{a: 1}]", "3:13: parameters: every combination of the parameters is excluded\nhint: a test without cases would vanish"),
    (BODY + "parameters: {a: [1]}\nexclude: [{}]", "4:11: an empty combination would exclude everything"),
    (BODY + 'parameters: {a: ["1,b=1", 1], b: ["1,b=1", 1]}\nexclude: [{a: 1, b: 1}]', "3:13: parameters: two cases have the same id\nhint: values that hold ',' and '=' can look like two parameters"),
    (BODY + "where: {partitions: [al]}", "3:22: where.partitions: there is no partition 'al'\nhint: did you mean 'all'?"),
    (BODY + "build: non", "3:8: build: 'non' is not 'none'\nhint: did you mean 'none'?"),
    (BODY + "build: {}", "3:8: 'run' is missing in build\nhint: run: the shell lines that build it; or kernel: one that comes with the package"),
    (BODY + "build: {source: src, run: make}", "3:17: the source src is not there\nhint: it is looked for beside the file that names it"),
    (BODY + "build: {source: a.yaml, run: make}", "3:17: the source a.yaml is not a directory\nhint: it is looked for beside the file that names it"),
    (BODY + "build: {kernel: strem}", "3:17: there is no kernel 'strem'\nhint: did you mean 'stream'?"),
    (BODY + "build: {kernel: stream, run: x}", "3:30: a kernel has its own run\nhint: leave run out"),
    (BODY + "build: {run: make, time_limit: 30}", "3:32: build.time_limit: '30' is not a duration\nhint: write it with its units, such as 90s, 2h or 1h30m"),
    (BODY + "needs: {programs: hpcc}", "3:19: needs.programs is a list of programs, not 'hpcc'\nhint: write it in brackets: [hpcc]"),
    (BODY + "needs: [a]", "3:9: test 'a' needs itself\nhint: name another test, or leave it out"),
    (BODY + "needs: {where: {x: 1}}", "3:8: neither 'test' nor 'programs' in needs\nhint: test: the test that must pass first"),
    (BODY + "needs: {test: b, programs: [x]}", "3:9: 'test' has no meaning beside 'programs' in needs\nhint: write a list: one item for the programs, one for each test"),
    (BODY + "needs: {test: b, get: x}", "3:18: 'get' has no meaning beside 'test' in needs\nhint: write a list: one item for the programs, one for each test"),
    (BODY + "needs: []", "3:8: needs is empty\nhint: it is a list of needs"),
    (BODY + "draws: [matrx]", "3:9: draws: 'matrx' is not one of matrix, histogram, io, nodes\nhint: did you mean 'matrix'?"),
    (BODY + "expect: [{verdict: failed}]", "3:10: 'because' is missing in expect\nhint: because: why; the report shows it"),
    (BODY + "expect: [{where: {x: 1}, verdict: failed, because: x}]", "3:19: there is no parameter 'x'\nhint: parameters there are: none"),
    ("test: a\nrun: {command: x, nodes: 0}", "2:26: run.nodes: 0 is less than 1, the least that is possible"),
    ("test: a\nrun: {command: x, nodes: {defalt: 3}}", "2:27: there is no system 'defalt'\nhint: did you mean 'default'?"),
    ("test: a\nrun: {command: x, nodes: {c5: 3}}", "2:26: run.nodes: there is no number for system here\nhint: add 'default: N'"),
    ("test: a\nrun: {command: x, tasks_per_node: 1.5}", "2:35: run.tasks_per_node: '1.5' is not a whole number"),
    ('test: a\nrun: {command: x, tasks_per_node: "{node.cores / 3}"}', "2:35: run.tasks_per_node: 1.33333 is not a whole number\nhint: // divides without a remainder"),
    ('test: a\nrun: {command: x, tasks_per_node: "{node.memory * node.memory}"}', "2:35: run.tasks_per_node: 2.95148e+20 is more than any machine has"),
    ('test: a\nrun: {command: x, tasks_per_node: "{cores}"}', "2:35: run.tasks_per_node: 'tasks_per_node' depends on itself"),
    ("test: a\nrun: {command: x, time_limit: 12:30}", "2:31: run.time_limit: '12:30' is not a duration\nhint: write it with its units, such as 90s, 2h or 1h30m"),
    ("test: a\nrun: {command: x, time_limit: 0s}", "2:31: run.time_limit: '0s' is no time to wait\nhint: write a duration such as 90s, 2h or 1h30m"),
    ("test: a\nrun: {command: x, files: [nix]}", "2:27: there is no file nix\nhint: it is looked for beside the file that names it"),
    ("test: a\nrun: {command: x, files: [a.yaml, ./a.yaml]}", "2:35: two files are called a.yaml\nhint: in the run's directory they would be one"),
    ("test: a\nrun: {command: x, environment: {A B: c}}", "2:33: run.environment: 'A B' cannot be a variable\nhint: use letters, digits and '_', no digit first"),
    ("test: a\nrun: {command: '${HOME}'}", "2:16: run.command: unknown name 'HOME' in an expression\nhint: for the shell's own ${HOME} write ${{HOME}}"),
    ("test: a\nrun: {command: 'awk {print $1}'}", "2:16: run.command: '{print $1}' is not an expression\nhint: braces that are meant literally, such as the shell's, are doubled: '{{' and '}}'"),
    ("test: a\nrun: {command: '{lunch} x'}", "2:16: run.command: unknown name 'lunch' in an expression\nhint: did you mean 'launch'?"),
    ("test: a\nrun: {command: 'a }'}", "2:16: run.command: a '}' without its partner\nhint: braces that are meant literally, such as the shell's, are doubled: '{{' and '}}'"),
    ("test: a\nrun: {command: '{build}/x'}", "2:16: run.command: unknown name 'build' in an expression\nhint: the test has no 'build'"),
    ("test: a\nrun: {command: '{toolchain.cc}'}", "2:16: run.command: unknown name 'toolchain.cc' in an expression\nhint: give the test a parameter 'toolchain', or a build"),
    ("test: a\nrun: {command: '{1 // 0}'}", "2:16: run.command: a division by zero"),
    ("test: a\nrun: {command: '{2 ** 9}'}", "2:16: run.command: '{2 ** 9}' is not an expression\nhint: it may hold names, numbers, + - * / // %, min() and max()"),
]  # fmt: skip

# ---- loads, checks, figures ------------------------------------------------------------------------------------------

LOADS = [
    ("f2/mtd: 1", "no system has a budget 'f2/mtd'\nhint: did you mean 'f2/mdt'?"),
    ("f2/mdt: 1 GB/s", "'1 GB/s' and the budget, which is in plain numbers, do not measure the same thing\nhint: write a plain number"),
    ("f2/bandwidth: 4", "'4' and the budget, which is in bytes/s, do not measure the same thing\nhint: write it in GB/s"),
    ("f2/bandwidth: 4 GBs", "'4 GBs': there is no unit 'GBs'\nhint: did you mean 'GB/s'?"),
    ("f2/mdt: 0", "'0' is no amount\nhint: write an amount above zero"),
    ('f2/mdt: "{nods}"', "unknown name 'nods' in an expression\nhint: did you mean 'nodes'?"),
]  # fmt: skip

FORMS = (
    'a check is one of: output contains "TEXT"; file PATH contains "TEXT"; output lacks "TEXT"; file PATH lacks "TEXT"; '
    'output matches "REGULAR EXPRESSION"; file PATH matches "REGULAR EXPRESSION"; file PATH exists; file PATTERN recorded; exit is N; exit is any'
)
CHECKS = [
    ('output contians "x"', "check: 'output contians \"x\"' is not a check\nhint: did you mean 'contains'?"),
    ('outptu contains "x"', "check: 'outptu contains \"x\"' is not a check\nhint: did you mean 'output'?"),
    ("output contains x", "check: 'output contains x': what it contains is not in quotes\nhint: write contains \"...\""),
    ('output contains ""', "check: 'output contains \"\"': there is nothing between the quotes"),
    ('output contains "a # b"', "check: 'output contains \"a': the quote is not closed\nhint: put the whole check in single quotes where its text holds ' #'"),
    ('output contains "a: b"', "check: the ': ' makes a map of this check\nhint: put the whole check in single quotes"),
    ('output matches "("', "check: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
    ("file x exits", "check: 'file x exits' is not a check\nhint: did you mean 'exists'?"),
    ("file ../x exists", "check: '../x' is not in the run's directory\nhint: name the file from there, without '..'"),
    ("exit 0", "check: 'exit 0' is not a check\nhint: write it as: exit is N, or exit is any"),
    ("nothing", f"check: 'nothing' is not a check\nhint: {FORMS}"),
]  # fmt: skip

FIGURES = [
    ('x: {regex: "("}', "22: figures.x.regex: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
    ('x: {regex: "a"}', "22: figures.x.regex: 'a' has no group named 'value'\nhint: mark the number: (?P<value>\\S+)"),
    ("x: {unit: GB/s}", "14: figures.x has none of regex, json, yaml, table and formula\nhint: one of them says where the number is"),
    ('x: {regex: "(?P<value>x)", json: a}', "14: figures.x has both regex and json\nhint: one of them says where the number is"),
    ("x: {json: a..b}", "21: figures.x.json: 'a..b' is not a path such as triad.gb_s, results[0].bw or runs[*].time\nhint: keys are joined by single dots; places in lists are [0], [-1] or [*]"),
    ("x: {json: a, table: {columns: [x, y]}}", "14: figures.x has both json and table\nhint: one of them says where the number is"),
    ("x: {table: {columns: [size, y]}}", "22: figures.x.table: there is no column 'x'\nhint: there are: size, y"),
    ("x: {table: {header: '^size'}}", "22: figures.x.table does not say by which column its rows are told apart\nhint: by: the column; or by: [] where all rows give one number, as pick says"),
    ("x: {table: {records: s, rows: a, columns: [x], by: []}}", "22: figures.x.table: 'columns' has no meaning beside records: each record names its columns itself\nhint: leave out columns and rows, or leave out records where the program prints a table"),
    ("x: {table: {header: s, columns: [x], by: []}}", "22: figures.x.table: it has both header and columns\nhint: columns name them where no line does; after: is the line before the table"),
    ("x: {table: {columns: [x, size], by: sise}}", "22: figures.x.table: there is no column 'sise'\nhint: did you mean 'size'?"),
    ("x: {table: {columns: [x, y], after: '('}}", "47: figures.x.table.after: '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
    ("x: {table: {columns: [x, y], separator: pipe}}", "51: figures.x.table.separator: 'pipe' is no separator\nhint: it is one character, or one of the words comma, tab, semicolon, bar"),
    ("x: {formula: 'y * 2'}", "24: figures.x.formula: there is no figure and no name 'y'\nhint: there are: cores, cpus_per_task, elapsed, gpus_per_node, gpus_per_task, node.cores, node.gpus, node.memory, node.numa, node.peak, node.sockets, node.threads_per_core, nodes, partition.nodes, ranks, tasks_per_node"),
    ("x: {formula: 'x + 1'}", "24: figures.x.formula: 'x' is computed from itself\nhint: a formula uses other figures"),
    ("x: {formula: elapsed + nodes, unit: s}", "24: figures.x.formula: it adds s and plain numbers\nhint: number(x) is x without its unit"),
    ("x: {formula: elapsed / 2, unit: GB/s}", "24: figures.x.formula: it comes out in s, and the figure is in GB/s\nhint: give the figure the unit that the formula has; number(x) is x without its unit"),
    ("x: {formula: 100 * ranks / cores, unit: '%'}", "24: figures.x.formula: a ratio in '%' is per cent by itself\nhint: leave the factor 100 out"),
    ("x: {formula: nodes-ranks}", "24: figures.x.formula: there is no figure and no name 'nodes-ranks'\nhint: write blanks around a minus"),
    ("x: {formula: open(nodes)}", "24: figures.x.formula: 'open(nodes)' is not a formula\nhint: a formula holds figures, numbers, + - * / **, parentheses, and min, max, mean, gmean, hmean, sum, sqrt, abs, number"),
    ("x: {formula: nodes, pick: max}", "37: figures.x: 'pick' has no meaning with a formula\nhint: leave it out"),
    ("elapsed: {json: a}", "11: figures: 'elapsed' is always there: the run time in seconds\nhint: choose another name"),
    ("x: {json: a, better: hihger}", "32: figures.x.better: 'hihger' is not one of higher, lower\nhint: did you mean 'higher'?"),
    ("x: {json: a, from: /etc/x}", "30: figures.x.from: '/etc/x' is not in the run's directory\nhint: name the file from there, without '..'"),
    ("x: {json: a, unit: 3}", "30: figures.x.unit: '3' is no unit\nhint: write it as GB/s, s or years/day, or leave it out for a plain number"),
]  # fmt: skip

SYSTEM = """\
system: c5
clusters: {c5: {scheduler: slurm, partitions: {batch: {nodes: "n[1-8]", type: rome}}}}
node_types: {rome: {cores: 8}}
toolchains: {intel: {cc: icc}}
budgets: {f2/mdt: 8, f2/bandwidth: 40 GB/s}
"""


@pytest.mark.parametrize(("text", "answer"), TEXTS)
def test_text_that_is_no_yaml(told: Any, text: str | bytes, answer: str) -> None:
    assert told({"tests/a.yaml": text}) == answer


@pytest.mark.parametrize(("text", "answer"), TESTS)
def test_a_wrong_test(told: Any, text: str, answer: str) -> None:
    known = {"systems/c5.yaml": SYSTEM} if "c5" in text else {}
    assert told({"tests/a.yaml": text, **known}) == f"error: tests/a.yaml:{answer}"


@pytest.mark.parametrize(("load", "answer"), LOADS)
def test_a_wrong_load(told: Any, load: str, answer: str) -> None:
    said = told({"tests/a.yaml": f"{BODY}loads: {{{load}}}\n", "systems/c5.yaml": SYSTEM})
    name = load.partition(":")[0]
    assert said == f"error: tests/a.yaml:3:{9 + len(name) + 2}: loads.{name}: {answer}"


@pytest.mark.parametrize(("check", "answer"), CHECKS)
def test_a_wrong_check(told: Any, check: str, answer: str) -> None:
    assert told({"tests/a.yaml": f"{BODY}check:\n  - {check}\n"}) == f"error: tests/a.yaml:4:5: {answer}"


@pytest.mark.parametrize(("figure", "answer"), FIGURES)
def test_a_wrong_figure(told: Any, figure: str, answer: str) -> None:
    assert told({"tests/a.yaml": f"{BODY}figures: {{{figure}}}\n"}) == f"error: tests/a.yaml:3:{answer}"
