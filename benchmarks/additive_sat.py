"""All sufficient reasons of a points card by a SAT solver (python-sat): enumerated one by one, as others must.

A set of features forces the decision if what they can lose sums to a need: a pseudo-Boolean constraint, which
python-sat writes in clauses as it thinks best (of all its ways, and of three solvers, this was among the fastest).
The solver prefers to leave features out; each model is cut down to a minimal set, by sums alone, and it and what holds
it is ruled out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple


class Enumerated(NamedTuple):
    """How many were found, whether these are all, and the CPU seconds that it took."""

    sets: int
    is_all: bool
    seconds: float


def enumerate_sets(losses: Sequence[int], need: int, limit: float, solver: str = "cadical153") -> Enumerated:
    """The minimal sets of numbers that sum to a need or more, for so many CPU seconds."""
    from pysat.pb import EncType, PBEnc
    from pysat.solvers import Solver

    started = time.process_time()
    if need <= 0:
        return Enumerated(1, True, 0.0)
    used = [v for v, loss in enumerate(losses) if loss > 0]
    if sum(losses) < need:
        return Enumerated(0, True, 0.0)
    literal = {v: at + 1 for at, v in enumerate(used)}
    weights = [losses[v] for v in used]
    written = PBEnc.atleast(lits=list(literal.values()), weights=weights, bound=need, encoding=EncType.best)
    by_loss = sorted(used, key=lambda v: losses[v])
    count = 0
    with Solver(name=solver, bootstrap_with=written.clauses) as oracle:
        oracle.set_phases([-each for each in literal.values()])
        while oracle.solve():
            model = oracle.get_model()
            chosen = {v for v in used if model[literal[v] - 1] > 0}
            spare = sum(losses[v] for v in chosen) - need
            for v in by_loss:
                if v in chosen and losses[v] <= spare:
                    chosen.discard(v)
                    spare -= losses[v]
            count += 1
            oracle.add_clause([-literal[v] for v in chosen])
            if time.process_time() - started > limit:
                return Enumerated(count, False, time.process_time() - started)
    return Enumerated(count, True, time.process_time() - started)


def needed(model: Any, states: Sequence[int]) -> tuple[list[int], int]:
    """What each feature of a row of a card can lose, and what sufficient reasons must keep."""
    from quia.asking import why

    (found,) = model.inequalities(why(model, states))
    losses = [int(loss) for loss in found.losses]
    bearable = int(found.slack) - found.ties
    return losses, sum(losses) - bearable
