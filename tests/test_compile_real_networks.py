"""Networks of repositories, compiled for some targets: sampled inputs against another library's floats."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import pytest

import network_oracle
from attack_networks import check_reduced
from network_oracle import Instance, Net
from networks import OtherLibrary, network_of, read_bif
from quia.compile.classifier import network_as_graph
from quia.errors import TooLarge
from quia.load.bif import read_network

SAMPLES = 120
"""Inputs that are compared for each target: half of them as the network makes them, half of any states."""
NEAR = 1e-9
"""So near to a tie a posterior in floats says nothing."""


@dataclass(frozen=True)
class Asked:
    """A target and its features: the default ones, so many that are nearest to it, or so many of its nearest leaves."""

    network: str
    target: str
    count: int | None = None
    threshold: str | None = None
    leaves: bool = False

    def __str__(self) -> str:
        return f"{self.network}-{self.target}-{self.count}{'-leaves' * self.leaves}-{self.threshold}"


ASKED = [
    Asked("asia", "lung"),
    Asked("asia", "tub", 7, "0.1"),
    Asked("asia", "dysp", 5),
    Asked("alarm", "HYPOVOLEMIA", None, "0.3"),
    Asked("alarm", "VENTLUNG", 9),
    Asked("alarm", "CATECHOL", 10),
    Asked("child", "Disease"),
    Asked("child", "BirthAsphyxia", 8, "0.15"),
    Asked("insurance", "Age"),
    Asked("insurance", "Accident", 8),
    Asked("insurance", "Theft", 8, "0.001"),
    Asked("hepar2", "Cirrhosis", 10),
    Asked("hepar2", "Cirrhosis", 12, leaves=True),
    Asked("hepar2", "ChHepatitis", 8, leaves=True),
    Asked("hepar2", "Hyperbilirubinemia", 10, "0.2"),
    Asked("win95pts", "PrtOn", None, "0.2"),
    Asked("win95pts", "Problem1", 10),
    Asked("andes", "GOAL_2", 12),
    Asked("andes", "GOAL_57", 10, "0.305", leaves=True),
    Asked("andes", "SNode_27", 10, "0.6"),
    Asked("andes", "GOAL_69"),
    Asked("emdec6g", "var_151", 14, "0.05"),
    Asked("tcc4e", "var_0", 16, "0.05"),
]


@cache
def plain(shared_data: Path, name: str) -> Net:
    return read_bif(shared_data / "networks" / f"{name}.bif.gz")


def features_of(net: Net, asked: Asked) -> list[str]:
    """Those with the fewest edges between them and the target, in the order of the file."""
    leaves = network_oracle.leaves(net, asked.target)
    if asked.count is None:
        return leaves
    near = [asked.target]
    for x in near:
        near += [y for y in net if y not in near and (y in net[x].parents or x in net[y].parents)]
    chosen = [x for x in near[1:] if x in leaves or not asked.leaves][: asked.count]
    return [x for x in net if x in chosen]


def sampled(net: Net, rng: Random, features: list[str]) -> Instance:
    """An input as the network makes them."""
    world: dict[str, str] = {}
    for x in network_oracle.parents_first(net):
        given = tuple(world[p] for p in net[x].parents)
        place = 0
        for p, s in zip(net[x].parents, given, strict=True):
            place = place * len(net[p].states) + net[p].states.index(s)
        (world[x],) = rng.choices(net[x].states, [float(p) for p in net[x].rows[place]])
    return tuple(world[x] for x in features)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_sampled_inputs(shared_data: Path, asked: Asked) -> None:
    net = plain(shared_data, asked.network)
    file = shared_data / "networks" / f"{asked.network}.bif.gz"
    network = read_network(gzip.decompress(file.read_bytes()), file.name)
    features = features_of(net, asked)
    said = None if asked.count is None else features
    graph = network_as_graph(network, asked.target, features=said, threshold=asked.threshold)
    assert [v.name for v in graph.variables] == features
    check_reduced(graph)
    assert len(graph.given_classes) > 1, "a constant is no test"

    rng = Random(str(asked))
    library = OtherLibrary(net, asked.target)
    inputs = [sampled(net, rng, features) for _ in range(SAMPLES // 2)]
    inputs += [tuple(rng.choice(net[x].states) for x in features) for _ in range(SAMPLES // 2)]
    compared = 0
    for e in inputs:
        instance = dict(zip(features, e, strict=True))
        expected = decided(net, asked, library.posterior(instance))
        if expected is not None:
            compared += 1
            assert graph.classify(instance) == expected, instance
    assert compared > 0.8 * SAMPLES, "too many ties"


def decided(net: Net, asked: Asked, posterior: list[float] | None) -> str | None:
    """The class by a posterior in floats; None next to a tie."""
    classes = net[asked.target].states
    if asked.threshold is None:
        if posterior is None:
            return classes[0]
        best, second = sorted(posterior, reverse=True)[:2]
        return classes[posterior.index(best)] if best - second > NEAR else None
    positive = network_oracle.positive_of(classes) or classes[-1]
    if posterior is None:
        return positive
    p = posterior[classes.index(positive)]
    if abs(p - float(Fraction(asked.threshold))) <= NEAR:
        return None
    return positive if p > float(Fraction(asked.threshold)) else next(c for c in classes if c != positive)


def test_networks_are_read_as_they_are_written(shared_data: Path) -> None:
    """The reader of BIF against a few patterns: names, states, parents and every fraction."""
    files = sorted((shared_data / "networks").glob("*.bif.gz"))
    assert len(files) >= 9
    for file in files:
        expected = network_of(read_bif(file))
        found = read_network(gzip.decompress(file.read_bytes()), file.name)
        assert found.names == expected.names
        for one, other in zip(found.nodes, expected.nodes, strict=True):
            assert (one.states, one.parents) == (other.states, other.parents)
            assert (one.table == other.table).all()


def test_all_of_asia(shared_data: Path) -> None:
    """Every target, every other variable a feature, against all its 256 worlds."""
    net = plain(shared_data, "asia")
    for target in net:
        features = [x for x in net if x != target]
        for threshold in (None, "0.5", "0.1", "0.99"):
            graph = network_as_graph(network_of(net), target, features=features, threshold=threshold)
            if threshold is None:
                table = network_oracle.greatest(net, target, features)
            else:
                table = network_oracle.at_least(net, target, features, Fraction(threshold), "yes")
            for e, c in table.items():
                assert graph.classify(dict(zip(features, e, strict=True))) == c
            order = check_reduced(graph)
            assert len(graph) == network_oracle.size_of(table, {x: net[x].states for x in features}, order)


def test_an_order_that_needs_tables_which_are_too_large(shared_data: Path) -> None:
    """andes in the order of a graph that was made of all its inputs: no small separators lie along it."""
    graph = gzip.decompress((shared_data / "graphs" / "andes_COMPO16_n24_T0.5_robdd.odd.gz").read_bytes())
    order = graph.split(b"\n", 1)[0].decode().strip("[]").split(", ")
    network = read_network(gzip.decompress((shared_data / "networks" / "andes.bif.gz").read_bytes()))
    with pytest.raises(TooLarge, match="choose fewer features, or another order"):
        network_as_graph(network, "COMPO16", features=order, order=order, threshold="0.5")
