"""Which classifiers are compiled from Bayesian networks: targets and features, by rules that look at no result.

The paper does not tell which variables were class and features, so these are choices of our own. The first target of a
network is that of the graph in graphs/ which was compiled from it before (`COMPO16`, `var_29`, `var_20`); the others
are the variables without parents that have the most leaves among their descendants, the first in the file of several
(`most_leaves_below`). The features are the leaves nearest to the target (`nearest_leaves`). The class is the last state
of the target where that has a probability of at least 0.5.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quia.errors import Unsupported, listed

if TYPE_CHECKING:
    from quia.compile.network import Network

TARGETS = {
    "andes": ("COMPO16", "TRY12"),
    "emdec6g": ("var_29", "var_39"),
    "tcc4e": ("var_20", "var_1", "var_30"),
    "win95pts": ("PrtMem",),
}
"""The targets of each network."""
PAPERS = {"andes": "andes", "emdec6g": "emdec6g30", "tcc4e": "tcc4e38"}
"""What the paper calls the graph that it has of a network."""
FEATURES = {"andes": 24, "emdec6g": 30, "tcc4e": 38, "win95pts": 16}
"""How many features the paper's graphs have; of win95pts, all leaves."""
MEMORY = 2 << 30
CHOICE = (
    "Which variables the paper took for class and features is not known. Targets and features here are our own choice,"
    " so the numbers of nodes cannot be compared with the paper's: they are only of the same kind."
)


@dataclass(frozen=True)
class Asked:
    """A network in a file, its target, and how many of the nearest leaves are features."""

    file: Path
    network: str
    target: str
    features: int

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.network}_{self.target}_{self.features}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self) | {"file": str(self.file)}


def find(folder: Path) -> list[Asked]:
    """What the table compiles, of the networks that are in a folder: each target with as many features as the paper."""
    return [
        Asked(file, name, target, FEATURES[name])
        for name, targets in TARGETS.items()
        if (file := folder / "networks" / f"{name}.bif.gz").exists()
        for target in targets
    ]


def read(file: Path) -> Network:
    """The network in a file."""
    from quia.load.bif import read_network

    return read_network(gzip.decompress(file.read_bytes()), str(file))


def features_of(network: Network, asked: Asked) -> list[str]:
    """The names of the features."""
    found = nearest_leaves(network, asked.target)
    if len(found) < asked.features:
        raise Unsupported(
            f"{asked.network} has {len(found)} leaves beside {asked.target}, fewer than {asked.features}",
            cure="ask for fewer features",
        )
    return found[: asked.features]


def nearest_leaves(network: Network, target: str) -> list[str]:
    """The leaves in the order of their distance from the target in the moral graph, then in that of the file.

    The moral graph joins each variable with its parents, and these with each other. Leaves that are not connected
    with the target, and so say nothing of it, are last.

    >>> from fractions import Fraction
    >>> from quia.compile.network import Network, Node, table_of
    >>> half = [Fraction(1, 2)] * 2
    >>> a, b, c = (Node(name, ("no", "yes"), (), table_of(half, [2])) for name in "abc")
    >>> near, far = (Node(n, ("0", "1"), p, table_of(half * 2, [2, 2])) for n, p in (("near", (0,)), ("far", (3,))))
    >>> network = Network.of([a, b, c, Node("m", ("0", "1"), (0, 1), table_of(half * 4, [2, 2, 2])), far, near])
    >>> nearest_leaves(network, "a")
    ['near', 'far', 'c']
    """
    start, distance = network.place(target), distances(network, target)
    leaves = [place for name in network.leaves if (place := network.place(name)) != start]
    far = len(network.nodes)
    return [network.names[place] for place in sorted(leaves, key=lambda place: (distance.get(place, far), place))]


def connected(network: Network, asked: Asked) -> list[str]:
    """The features without those that are not connected with the target, which no decision depends on."""
    distance = distances(network, asked.target)
    return [name for name in features_of(network, asked) if network.place(name) in distance]


def distances(network: Network, target: str) -> dict[int, int]:
    """How many edges of the moral graph are between the target and each variable that is connected with it."""
    beside: list[set[int]] = [set() for _ in network.nodes]
    for place, node in enumerate(network.nodes):
        family = {place, *node.parents}
        for member in family:
            beside[member] |= family - {member}
    start = network.place(target)
    distance, reached = {start: 0}, [start]
    for place in reached:
        for other in sorted(beside[place] - distance.keys()):
            distance[other] = distance[place] + 1
            reached.append(other)
    return distance


def most_leaves_below(network: Network) -> str:
    """The variable without parents that has the most leaves among its descendants, the first of several."""
    counts = dict.fromkeys((place for place, node in enumerate(network.nodes) if not node.parents), 0)
    for leaf in network.leaves:
        for place in network.ancestors([network.place(leaf)]) & counts.keys():
            counts[place] += 1
    return network.names[max(counts, key=lambda place: (counts[place], -place))]


def is_called(asked: Asked, name: str) -> bool:
    """Whether a name is that of a network, of a target of it, or of this number of features too."""
    return name in (asked.network, f"{asked.network}_{asked.target}", asked.name)


def called(asked: Sequence[Asked], names: Sequence[str]) -> list[Asked]:
    """Those with these names; all if there are none."""
    for name in names:
        if not any(is_called(each, name) for each in asked):
            raise Unsupported(f"there is no network {name!r}", cure=f"there are {listed(each.name for each in asked)}")
    return [each for each in asked if not names or any(is_called(each, name) for name in names)]
