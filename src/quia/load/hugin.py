"""Bayesian networks in Hugin's NET language, `.net`, as Hugin, GeNIe, SamIam, bnlearn and pyAgrum write it.

The `data` of a potential have the states of the variable itself the quickest, then those of the last parent, with
parentheses for each parent or around all numbers alone. Variables are called as their nodes are, not by their labels.
What makes a table by a formula (`model_data`) and a potential without data are refused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, did_you_mean, listed, shown
from quia.files import decode
from quia.load import networks
from quia.load.networks import Draft, Family, probabilities
from quia.load.tokens import END, TEXT, Tokens, named, pattern, unquoted

if TYPE_CHECKING:
    from fractions import Fraction

    from quia.classifier import Classifier
    from quia.compile.network import Network

OPTIONS = networks.OPTIONS

_SIGNS = frozenset('{}()=;|"')
_TOKENS = pattern(rf'{TEXT}|[^\s{{}}()=;|"%]++', r"%[^\r\n]*+")
_REFUSED = {
    "decision": "decisions",
    "utility": "utilities",
    "function": "functions",
    "continuous": "continuous variables",
    "real": "functions",
    "boolean": "functions",
    "instance": "other networks",
    "temporal": "variables that change in time",
}
_BLOCKS = ("net", "class", "node", "potential")


def read(data: bytes, file: str | None = None, **options: Any) -> Classifier:
    """The decision graph of a classifier in a Hugin file."""
    return networks.classifier(read_network(data, file), file, **options)


def read_network(data: bytes, file: str | None = None) -> Network:
    """The network in a Hugin file.

    >>> network = read_network(b'''net { }
    ... node rain { states = ("no" "yes"); }
    ... node wet { states = ("no" "yes"); label = "wet grass"; }
    ... potential (rain) { data = (0.8 0.2); }
    ... potential (wet | rain) { data = ((0.9 0.1) (0 1)); }''')
    >>> network.names, network.nodes[1].table[0, 1]
    (('rain', 'wet'), Fraction(1, 10))
    """
    tokens = Tokens(decode(data, file), _TOKENS, file)
    draft = Draft(file, "potential")
    bodies = _blocks(tokens, draft)
    for names, begin, body in bodies:  # a potential may come before its node
        family = draft.family(names[0], names[1:], tokens.line(begin))
        tokens.at = body
        draft.give(family, _potential(tokens, family, draft.known))
    return draft.network()


def _blocks(tokens: Tokens, draft: Draft) -> list[tuple[list[str], int, int]]:
    """Read all nodes, and where the potentials are."""
    bodies = []
    open_class, classes = False, 0
    while (block := tokens.next) != END:
        begin = tokens.at
        tokens.at += 1
        if block == "net":
            _attributes(tokens, "net")
        elif block == "class" and not open_class:
            name = tokens.name("the name of a class", _SIGNS)
            tokens.expect("{", f"behind class {shown(name)}")
            open_class, classes = True, classes + 1
            if classes > 1:
                raise tokens.fault("has a second class; only a file of one network is read", begin)
        elif block == "}" and open_class:
            open_class = False
        elif open_class and tokens.next == "=":
            tokens.until(";", f"the attribute {named(block)}")
        elif block == "potential":
            bodies.append(_heading(tokens))
        elif block == "node" or (block == "discrete" and tokens.took("node")):
            _node(tokens, draft, begin)
        else:
            kind = tokens.next if block == "discrete" else block
            if kind in _REFUSED:
                raise tokens.fault(
                    f"has {_REFUSED[kind]}, as {named(kind)} says; only networks of discrete nodes with tables are"
                    " read",
                    begin,
                )
            hint = did_you_mean(block, _BLOCKS)
            raise tokens.unexpected(f"a block should begin, which is {listed(_BLOCKS)}{hint}", begin)
    if open_class:
        raise tokens.fault("has a class that is not closed; add } at the end")
    return bodies


def _attributes(tokens: Tokens, what: str) -> dict[str, int]:
    """Take the attributes of a block, and where their values begin."""
    tokens.expect("{", f"behind {what}")
    found: dict[str, int] = {}
    while not tokens.took("}"):
        begin = tokens.at
        name = tokens.name("an attribute or }", _SIGNS)
        tokens.expect("=", f"behind {shown(name)} in {what}")
        if name in found:
            raise tokens.fault(f"{what} has {shown(name)} twice; keep one", begin)
        found[name] = tokens.at
        tokens.until(";", f"{shown(name)} in {what}")
    return found


def _node(tokens: Tokens, draft: Draft, begin: int) -> None:
    name = tokens.name("the name of a node", _SIGNS)
    what = f"node {shown(name)}"
    attributes = _attributes(tokens, what)
    end = tokens.at
    if "states" not in attributes:
        raise tokens.fault(f'{what} has no states; write states = ("a" "b");', begin)
    tokens.at = attributes["states"]
    draft.declare(name, _states(tokens, what), tokens.line(begin))
    tokens.at = end


def _states(tokens: Tokens, what: str) -> list[str]:
    tokens.expect("(", f"before the states of {what}")
    states: list[str] = []
    end = -1
    while not tokens.took(")"):
        token, start = tokens.next, tokens.start[tokens.at]
        glued = start == end and token[0] != '"'  # pyAgrum writes no quotation marks, not even around >=7.5
        state = tokens.name("a state or )", _SIGNS - {"="})
        if glued:
            states[-1] += state
        else:
            states.append(state)
        end = -1 if token[0] == '"' else start + len(token)
    tokens.expect(";", f"behind the states of {what}")
    return states


def _heading(tokens: Tokens) -> tuple[list[str], int, int]:
    """The node and its parents, where that began, and where the block's content begins; all of it is taken."""
    begin = tokens.at - 1
    tokens.expect("(", "behind potential")
    children: list[str] = []
    while tokens.next not in ("|", ")"):
        children.append(tokens.name("the name of a node", _SIGNS))
    parents: list[str] = []
    if tokens.took("|"):
        while tokens.next != ")":
            parents.append(tokens.name("the name of a node", _SIGNS))
    tokens.expect(")", "behind the nodes of a potential")
    if len(children) != 1:
        said = f"of {len(children)} nodes, {listed(children, 6)}" if children else "of no node"
        raise tokens.fault(f"has a potential {said}; give each node its own, as in potential (A | B)", begin)
    body = tokens.at
    _attributes(tokens, f"the potential of {shown(children[0])}")
    return [*children, *parents], begin, body


def _potential(tokens: Tokens, family: Family, known: dict[str, Fraction]) -> list[Fraction]:
    name = shown(family.child.name)
    attributes = _attributes(tokens, f"the potential of {name}")
    for attribute in attributes:
        if attribute.startswith("model_"):
            raise tokens.fault(
                f"the potential of {name} has {attribute}, a formula that Hugin makes a table of; save the network with"
                " its tables alone",
                attributes[attribute] - 2,
            )
    if "data" not in attributes:
        raise FormatError(
            f"the potential of {name} has no data; write data = (…); with a number for each state",
            file=tokens.file,
            line=family.line,
        )
    tokens.at = attributes["data"]
    return _data(tokens, family, known)


def _data(tokens: Tokens, family: Family, known: dict[str, Fraction]) -> list[Fraction]:
    """The numbers within nested parentheses, each of which must hold as many as its parents' states make."""
    begin = tokens.at
    name = shown(family.child.name)
    needed = [math.prod(family.shape[depth:]) for depth in range(len(family.shape))]
    words = tokens.until(";", f"the data of {name}")
    numbers: list[str] = []
    places: list[int] = []
    opened: list[int] = []  # how many numbers came before each open parenthesis
    for at, word in enumerate(words, begin):
        if word == "(":
            if len(opened) == len(needed) or (numbers and not opened):
                raise tokens.unexpected(f"a number or ; should be, in the data of {name}", at)
            opened.append(len(numbers))
        elif word == ")":
            if not opened:
                raise tokens.unexpected(f"a ; should be, in the data of {name}", at)
            count = len(numbers) - opened.pop()
            if count != needed[len(opened)]:
                raise tokens.fault(_wrong_group(family, count, needed[len(opened)], whole=not opened), at)
        elif not opened:
            raise tokens.unexpected(f"( should be, in the data of {name}", at)
        else:
            numbers.append(unquoted(word))
            places.append(at)
    if opened or not numbers:
        raise tokens.fault(f"the data of {name} are not closed; add ) before the ;", begin)

    def fault(message: str, at: int) -> FormatError:
        return tokens.fault(f"{message}, in the data of {name}", places[at])

    return probabilities(numbers, known, fault)


def _wrong_group(family: Family, count: int, needed: int, *, whole: bool) -> str:
    if whole:
        return family.wrong_count(count)
    return (
        f"the data of {shown(family.child.name)} have {count} numbers between these parentheses, where {needed} should"
        " be; list a number for each of its states, then for the states of its last parent"
    )
