"""What became of the claims of an audit: each holds, is refuted, or was not checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from quia.errors import QuiaError, TooLarge, Undecided
from quia.patience import Clock, OutOfTime

Outcome = Literal["holds", "refuted", "not checked"]


class NotChecked(Exception):
    """Why a claim cannot be checked here."""


class Wrong(Exception):
    """Why a claim does not hold: the witness, or the right number."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that an audit says, still to be checked.

    `check` returns if it holds, and raises Wrong if it does not; a fault in what is claimed refutes it too. A claim
    that is `hard` may take long, and gets a share of the time when the others are done.
    """

    place: str
    says: str
    check: Callable[[Clock], None]
    hard: bool = False

    def checked(self, clock: Clock) -> CheckedClaim:
        """What became of it."""
        try:
            clock()
            self.check(clock)
        except Wrong as fault:
            return CheckedClaim(self.place, self.says, "refuted", str(fault))
        except NotChecked as fault:
            return CheckedClaim(self.place, self.says, "not checked", str(fault))
        except OutOfTime:
            return CheckedClaim(self.place, self.says, "not checked", "time ran out")
        except (TooLarge, Undecided) as fault:
            return CheckedClaim(self.place, self.says, "not checked", str(fault))
        except QuiaError as fault:
            return CheckedClaim(self.place, self.says, "refuted", str(fault))
        return CheckedClaim(self.place, self.says, "holds", None)


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim, where it stands in the document, and what became of it; `why` it is refuted or was not checked."""

    place: str
    says: str
    outcome: Outcome
    why: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """All claims of an audit, in the order of the document."""

    claims: tuple[CheckedClaim, ...]

    def count(self, outcome: Outcome) -> int:
        """How many claims came out so."""
        return sum(claim.outcome == outcome for claim in self.claims)

    def having(self, outcome: Outcome) -> Iterator[CheckedClaim]:
        """The claims that came out so."""
        return (claim for claim in self.claims if claim.outcome == outcome)

    @property
    def holds(self) -> bool:
        """Whether every claim was checked and holds."""
        return all(claim.outcome == "holds" for claim in self.claims)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "schema": "quia/verified/1",
            "holds": self.count("holds"),
            "refuted": self.count("refuted"),
            "not_checked": self.count("not checked"),
            "claims": [
                {"place": each.place, "says": each.says, "outcome": each.outcome, "why": each.why}
                for each in self.claims
            ],
        }


def check_all(claims: list[Claim], clock: Clock, told: Callable[[int, int], None] | None = None) -> Checked:
    """All claims checked, those that are hard last, each in an equal share of the time that is left."""
    found: dict[int, CheckedClaim] = {}
    order = sorted(range(len(claims)), key=lambda at: claims[at].hard)
    hard = sum(claim.hard for claim in claims)
    for done, at in enumerate(order):
        if told is not None:
            told(done, len(order))
        claim = claims[at]
        found[at] = claim.checked(clock.share(1 / hard) if claim.hard else clock)
        hard -= claim.hard
    return Checked(tuple(found[at] for at in range(len(claims))))
