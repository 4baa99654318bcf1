"""An NNF to be read: in one line, as a list of its nodes, or as a drawing."""

from __future__ import annotations

from quia.dag import AND, LITERAL, OR, TRUE, written
from quia.nnf import NNF
from quia.nnf_arrays import KINDS

MOST_PRINTED = 2_000
"""How many nodes are written out; a formula with more is printed as a list of its nodes."""

_SIGNS = {AND: " & ", OR: " | "}


def text(formula: NNF) -> str:
    """The formula in one line, `&` for ∧ and `|` for ∨; a large one as a list of its nodes."""
    if formula.fold(lambda _: 1, lambda *_: 1, _capped_sum, _capped_sum) > MOST_PRINTED:
        return _listing(formula)

    def words(number: int) -> list[int | str]:
        kind, variable, state, children = formula.nodes[number]
        if kind == LITERAL:
            said = str(formula.literal(variable, state))
            return [f"({said})" if " or " in said and state < 0 and len(formula) > 1 else said]
        found: list[int | str] = []
        for child in children:
            inside = formula.nodes[child][0]
            found += [_SIGNS[kind], *(["(", child, ")"] if inside in _SIGNS and inside != kind else [child])]
        return found[1:] or ["true" if kind in (TRUE, AND) else "false"]

    return "".join(written(len(formula) - 1, words))


def _capped_sum(sizes: list[int]) -> int:
    return min(sum(sizes) + 1, MOST_PRINTED + 1)  # the size of a shared formula written out can be astronomic


def _listing(formula: NNF) -> str:
    lines: list[str] = []
    for number, kind, state, children in formula.walk():
        if len(lines) == MOST_PRINTED:
            lines.append(f"… {len(formula)} nodes in all, the root is n{len(formula) - 1}")
            break
        sign = _SIGNS.get(KINDS.index(kind), "")
        lines.append(f"n{number} = {state or sign.join(f'n{child}' for child in children) or kind}")
    return "\n".join(lines)


def dot(formula: NNF) -> str:
    """The formula as a Graphviz drawing."""
    lines = ["digraph reason {", '  node [fontname="sans-serif"];']
    for number, kind, state, children in formula.walk():
        label = {"and": "∧", "or": "∨", "true": "⊤", "false": "⊥"}.get(kind) or str(state)
        shape = "circle" if children else "box"
        quoted = label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'  n{number} [shape={shape}, label="{quoted}"];')
        lines.extend(f"  n{number} -> n{child};" for child in children)
    return "\n".join([*lines, "}"])
