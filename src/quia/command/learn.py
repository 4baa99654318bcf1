"""`quia learn`: a tree for those who have only data."""

from __future__ import annotations

import argparse

from quia.command import Subparsers, refuse_same_files
from quia.command.possible import add_given, given_files, with_given_of
from quia.command.progress import working
from quia.command.streams import write_document
from quia.command.terminal import tell


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "learn",
        usage="quia learn DATA.csv -o FILE [--target COLUMN] [options]",
        description="Learns a decision tree from a CSV table, as large as cross-validation finds good, and writes it as"
        " quia's JSON.",
        examples=(
            "quia learn examples/loans.csv -o tree.json",
            "quia explain tree.json --data examples/loans.csv --row 5",
        ),
    )
    parser.add_argument("data", metavar="DATA.csv", help="a table whose first line names the columns (.gz is fine)")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where the tree goes; - is stdout")
    parser.add_argument("--target", metavar="COLUMN", help="what to learn (default: the last column)")
    parser.add_argument(
        "--min-rows", metavar="N", type=int, default=5, help="fewest rows in a leaf (default 5, at least 1)"
    )
    parser.add_argument("--max-depth", metavar="N", type=int, help="greatest depth, from 1 on (scikit-learn only)")
    parser.add_argument(
        "--no-prune",
        dest="prune",
        action="store_false",
        help="keep the tree as it is grown within --min-rows and --max-depth, instead of pruning it as far as"
        " cross-validation finds it as good (scikit-learn only)",
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="which rows are kept apart for testing: a number from 0 on"
    )
    parser.add_argument("--j48", action="store_true", help="learn with Weka's J48; needs Java and a weka.jar")
    parser.add_argument("--weka-jar", metavar="FILE", help="where weka.jar is, if it is not found by itself")
    add_given(parser, "constraints to write into the tree, which its answers then count with")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Learn, write, and say on stderr how good the tree is."""
    from quia.learn import learn
    from quia.load import json
    from quia.tables import read_csv

    refuse_same_files({"DATA": arguments.data, **given_files(arguments)}, {"-o": arguments.output})
    with working("learning"):
        learned = learn(
            read_csv(arguments.data),
            target=arguments.target,
            learner="j48" if arguments.j48 else "sklearn",
            seed=arguments.seed,
            max_depth=arguments.max_depth,
            min_rows=arguments.min_rows,
            prune=arguments.prune,
            weka_jar=arguments.weka_jar,
        )
    write_document(json.dumps(with_given_of(arguments, learned.classifier)), arguments.output)
    tell(str(learned.report))
    return 0
