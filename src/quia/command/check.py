"""`quia check`: what is in a model, and is it sound?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from quia.command import Subparsers, add_model, load_model, model_options
from quia.command.check_network import (
    asks_for_no_decision,
    compiled_text,
    describe_network,
    network_of,
    network_text,
    with_network,
)
from quia.command.instance import features_of
from quia.command.numbers import seconds_of
from quia.command.parsing import help_width
from quia.command.possible import add_given
from quia.command.progress import working
from quia.command.streams import write_json
from quia.command.terminal import say, tell
from quia.errors import FormatError, GraphError, QuiaError, listed, with_article
from quia.show.words import plural
from quia.show.wrapping import wrapped

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.command.check_given import Findings
    from quia.compile.network import Network
    from quia.load.agreement import Agreement, Model
    from quia.rows import RowFile
    from quia.variables import Variable


def add(subparsers: Subparsers) -> None:
    """Register the command."""
    parser = subparsers.add_parser(
        "check",
        usage="quia check MODEL [--data FILE.csv] [options]",
        description="Reads a model, checks it, and says what is in it and what had to be changed to explain it. Where"
        " there are constraints, its own or given here, also: whether they can be met, which classes they leave"
        " impossible, and which rows break them.",
        notes=_formats(),
        examples=("quia check examples/admissions.json --given 'Essay=pass -> Interview=pass'",),
    )
    add_model(parser)
    parser.add_argument(
        "--data",
        metavar="FILE.csv",
        help="compare with the model's own decisions on these rows, and at and around every threshold; where there"
        " are constraints, say which rows break them (only that, if the model cannot be asked)",
    )
    parser.add_argument(
        "--predicted",
        metavar="COLUMN",
        help="which column of --data has them, if the model itself cannot be asked (only skops and pickles can)",
    )
    parser.add_argument(
        "--protected",
        metavar="FEATURE",
        action="append",
        default=[],
        help="does any decision at all depend on this? proved, or two inputs that show it; repeat it",
    )
    parser.add_argument("--json", action="store_true", help="print JSON (schema quia/check/1)")
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=seconds_of,
        default=10,
        help="look for S seconds at most for classes that are impossible, or biased decisions (default 10)",
    )
    add_given(parser, "what is possible, beside the model's own constraints", within=True)
    parser.set_defaults(run=run)


def _formats() -> str:
    """Every format of a model, a line each."""
    from quia.load import FORMATS

    width = max(map(len, FORMATS))
    lines = (f"  {name:<{width}}  {each.about}" for name, each in FORMATS.items())
    return wrapped("\n".join(["", "formats, told by a file's content or by --format NAME:", *lines]), help_width())


def run(arguments: argparse.Namespace) -> int:
    """Check, print; 1 if the model is not sound, does not decide as the data say, or constraints are not met."""
    if arguments.predicted is not None and arguments.data is None:
        raise QuiaError("--predicted is a column of --data, which is not given; give both")
    try:
        network = network_of(arguments)
        if network is not None and asks_for_no_decision(arguments):
            return _tell_network(arguments, network)
        classifier, model = _loaded(arguments)
    except (FormatError, GraphError) as fault:
        _refuse_unrecognised(arguments)
        if arguments.json:
            write_json({"schema": "quia/check/1", "sound": False, "fault": str(fault)})
        tell(f"quia: not sound: {fault}")
        return 1
    facts, findings = describe(classifier), _findings(arguments, classifier)
    if network is not None:
        facts = with_network(network, model_options(arguments)["target"], facts)
    compares = arguments.data is not None and (model is not None or arguments.predicted is not None)
    agreed = _compared(arguments, classifier, model) if compares else None
    biases = _biases(arguments, classifier)
    if findings is not None:
        facts["given"] = findings.to_dict()
    if biases:
        facts["bias"] = biases
    if agreed is not None:
        facts["agreement"] = agreed.to_dict()
    if arguments.json:
        write_json(facts, indent=2)
    else:
        say("\n".join([_text(arguments.model, facts), *(findings.lines() if findings is not None else ())]))
        for bias in biases:
            say(f"  {bias['feature']}: {bias['text']}")
        if agreed is not None:
            say(f"  the model's own decisions: {agreed}")
    if agreed is not None and not agreed.holds:
        return 1
    return 0 if findings is None else findings.exit_code


def _tell_network(arguments: argparse.Namespace, network: Network) -> int:
    """Say what is in a network that nothing is decided about yet."""
    facts = describe_network(network)
    if arguments.json:
        write_json(facts, indent=2)
    else:
        say(network_text(arguments.model, facts, network, arguments.format))
    return 0


def _biases(arguments: argparse.Namespace, classifier: Classifier) -> list[dict[str, Any]]:
    """What is to be said of protected features, if there are any."""
    if not arguments.protected:
        return []
    from quia.command.check_bias import found

    named = features_of(arguments.protected, classifier, "--protected")
    return [found(arguments, classifier, name) for name in named]


def _findings(arguments: argparse.Namespace, classifier: Classifier) -> Findings | None:
    """What is to be said of constraints, if there are any."""
    if not _has_constraints(arguments, classifier):
        return None
    from quia.command.check_given import found

    return found(arguments, classifier)


def _loaded(arguments: argparse.Namespace) -> tuple[Classifier, Model | None]:
    """The classifier, and with it the model that it came from, if that is to be asked and can be."""
    if arguments.data is None or arguments.predicted is not None:
        return load_model(arguments), None
    from quia.load import has_predictor, load_with_predictor

    if not has_predictor(arguments.model, arguments.format):
        classifier = load_model(arguments)
        if _has_constraints(arguments, classifier):
            return classifier, None

    with working("reading the model"):
        model = load_with_predictor(arguments.model, format=arguments.format, **model_options(arguments))
    return model.classifier, model


def _has_constraints(arguments: argparse.Namespace, classifier: Classifier) -> bool:
    """Whether there is something to check beside the model: constraints of its own, or what the arguments give."""
    given = (getattr(classifier, "given", ()), arguments.given, arguments.given_file, arguments.within)
    return any(given)


def _refuse_unrecognised(arguments: argparse.Namespace) -> None:
    """Refuse what is no model: only a model can be unsound."""
    from quia.load import format_name

    format_name(arguments.model, arguments.format)


def _compared(arguments: argparse.Namespace, classifier: Classifier, model: Model | None) -> Agreement:
    from quia.load.agreement import compare, compare_predicted, generated
    from quia.rows import open_rows

    with working("comparing decisions"):
        rows = _records(open_rows(arguments.data), classifier, arguments.predicted)
        if model is None:
            return compare_predicted(classifier, rows, arguments.predicted)
        return compare(model, [*rows, *generated(model.classifier)])


def _records(table: RowFile, classifier: Classifier, predicted: str | None) -> list[dict[str, str]]:
    """All rows by column, at least one; spaces around a value stay only if a state or class is called so."""
    called = {variable.name: set(variable.labels or ()) for variable in classifier.variables}
    if predicted is not None:
        called[predicted] = set(classifier.classes)
    names = table.names_for(called)
    rows = [
        {
            name: value if value in called.get(name, ()) else value.strip()
            for name, value in zip(names, row, strict=True)
        }
        for row in table.whole_rows()
    ]
    if not rows:
        raise table.no_rows()
    return rows


def describe(classifier: Classifier) -> dict[str, Any]:
    """What is in a classifier, as plain data."""
    tested = set(classifier.tested)
    facts = {
        "schema": "quia/check/1",
        "sound": True,
        "variables": {v.name: _variable(v, i in tested) for i, v in enumerate(classifier.variables)},
        "classes": list(classifier.classes),
        "notes": list(classifier.notes),
    }
    facts |= {"kind": classifier.kind, **classifier.sizes}
    if "terms" not in facts:
        return facts
    from quia.command.check_sums import with_sums

    return with_sums(classifier, facts)


def _variable(variable: Variable, tested: bool) -> dict[str, Any]:
    return {"kind": "numeric" if variable.is_numeric else "nominal", "states": variable.size, "tested": tested}


def _described(name: str, variable: dict[str, Any], facts: dict[str, Any]) -> str:
    if "scores" not in facts:
        return f"{variable['kind']}, {plural(variable['states'], 'state')}"
    from quia.command.check_sums import variable_text

    return variable_text(name, variable, facts["scores"])


def _leaves(facts: dict[str, Any]) -> str:
    return f"{facts['leaves']:,} {'leaf' if facts['leaves'] == 1 else 'leaves'}"


def _text(model: str, facts: dict[str, Any]) -> str:
    variables = facts["variables"]
    tested = sum(v["tested"] for v in variables.values())
    lines = [f"{model}: {with_article('sound ' + facts['kind'])}"]
    if "nodes" in facts:
        nodes, edges = plural(facts["nodes"], "node"), plural(facts["edges"], "edge")
        lines.append(f"  {nodes} ({_leaves(facts)}), {edges}, depth {facts['depth']:,}")
    if "trees" in facts:
        lines.append(f"  {plural(facts['trees'], 'tree')}, {_leaves(facts)}")
    if "scores" in facts:
        from quia.command.check_sums import scores_text

        lines += scores_text(facts)
    lines += [
        f"  classes: {listed(facts['classes'])}",
        f"  variables: {len(variables):,}, of which {tested:,} {'is' if tested == 1 else 'are'} tested",
    ]
    shown = [(name, v) for name, v in variables.items() if v["tested"]][:20]
    width = max((len(name) for name, _ in shown), default=0)
    lines += [f"    {name:<{width}}  {_described(name, v, facts)}" for name, v in shown]
    if len(shown) < tested:
        lines.append("    …")
    if "network" in facts:
        lines += compiled_text(facts)
    lines += [f"  note: {note}" for note in facts["notes"]]
    return "\n".join(lines)
