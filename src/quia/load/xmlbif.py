"""Bayesian networks in XMLBIF 0.3, as Weka, JavaBayes, pyAgrum, pgmpy, GeNIe and SamIam write it.

A `<TABLE>` has the states of its `<FOR>` the quickest, then those of the last `<GIVEN>`: its numbers come "in the
counting order of the declared variables, taking the GIVEN variables first and then the FOR variables", as the format's
page says. Older versions had another order, and are refused.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, listed, shown
from quia.load import networks
from quia.load.networks import Draft, probabilities
from quia.load.xml import Document, Element, parse

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.compile.network import Network

OPTIONS = networks.OPTIONS

_TABLES = ("DEFINITION", "PROBABILITY")
_IN_TABLES = ("FOR", "GIVEN", "TABLE", "PROPERTY")
_OLDER = ("0.1", "0.10", "0.15", "0.2", "0.20")


def read(data: bytes, file: str | None = None, **options: Any) -> Classifier:
    """The decision graph of a classifier in an XMLBIF file."""
    return networks.classifier(read_network(data, file), file, **options)


def read_network(data: bytes, file: str | None = None) -> Network:
    """The network in an XMLBIF file.

    >>> network = read_network(b'''<BIF VERSION="0.3"><NETWORK>
    ... <VARIABLE TYPE="nature"><NAME>rain</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
    ... <VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
    ... <DEFINITION><FOR>rain</FOR><TABLE>0.8 0.2</TABLE></DEFINITION>
    ... <DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><TABLE>0.9 0.1 0 1</TABLE></DEFINITION>
    ... </NETWORK></BIF>''')
    >>> network.names, network.nodes[1].table[0, 1]
    (('rain', 'wet'), Fraction(1, 10))
    """
    document = parse(data, file, document_type=True)
    network = _network(document)
    draft = Draft(file, "<DEFINITION>")
    for variable in document.children(network, "VARIABLE"):
        _declare(document, variable, draft)
    for table in document.children(network, *_TABLES):
        _give(document, table, draft)
    return draft.network()


def _network(document: Document) -> Element:
    root = document.elements[0]
    if root.tag != "BIF":
        raise document.fault(f"begins with <{root.tag}>; an XMLBIF file begins with <BIF>", root)
    version = root.attributes.get("VERSION", root.attributes.get("version", "0.3"))
    if version in _OLDER:
        raise document.fault(f"is of version {version}, whose tables have another order; save it as version 0.3", root)
    networks_in_it = document.children(root, "NETWORK")
    if len(networks_in_it) != 1:
        raise document.fault(f"has {len(networks_in_it)} <NETWORK> elements; it must have one", root)
    return networks_in_it[0]


def _words(element: Element) -> str:
    """The text of an element in one line."""
    return " ".join(element.text.split())


def _declare(document: Document, variable: Element, draft: Draft) -> None:
    names = [_words(name) for name in document.children(variable, "NAME")]
    if len(names) != 1:
        raise document.fault(f"has a variable with {len(names)} names; give each one <NAME>", variable)
    kind = variable.attributes.get("TYPE", variable.attributes.get("type", "nature"))
    if kind != "nature":
        raise document.fault(
            f"{shown(names[0])} is of type {shown(kind)}; only networks of nature nodes, which have probabilities, are"
            " read",
            variable,
        )
    states = [_words(state) for state in document.children(variable, "OUTCOME")]
    draft.declare(names[0], states, variable.line)


def _give(document: Document, table: Element, draft: Draft) -> None:
    others = [child for child in document.children(table) if child.tag not in _IN_TABLES]
    if others:
        raise document.fault(
            f"has <{others[0].tag}> in a <{table.tag}>, where only {listed(_IN_TABLES)} are read", others[0]
        )
    children = [_words(child) for child in document.children(table, "FOR")]
    if len(children) != 1:
        said = f"of {len(children)} variables, {listed(children, 6)}" if children else "of no variable"
        raise document.fault(f"has a <{table.tag}> {said}; give each variable its own, with one <FOR>", table)
    family = draft.family(children[0], [_words(parent) for parent in document.children(table, "GIVEN")], table.line)
    bodies = document.children(table, "TABLE")
    if len(bodies) != 1:
        raise document.fault(f"{shown(children[0])} has {len(bodies)} <TABLE> elements here; it needs one", table)
    body = bodies[0]

    def fault(message: str, at: int) -> FormatError:
        return document.fault(f"{message}, in the <TABLE> of {shown(children[0])}", body)

    entries: list[Fraction] = probabilities(body.text.split(), draft.known, fault)
    if len(entries) != family.entries:
        raise document.fault(family.wrong_count(len(entries)), body)
    draft.give(family, entries)
