"""Bayesian networks in BIF, Cozman's Interchange Format 0.15, as bnlearn, pgmpy, pyAgrum and JavaBayes write it.

A `table` with parents lists its numbers "in the counting order of the declared variables", as that format's page says:
the last parent's states are the quickest and those of the variable itself the slowest, so in `probability ( A | B )`
come all P(a1 | …), then all P(a2 | …). JavaBayes, pgmpy and aGrUM read it so too. A file whose table sums up to 1 only
in the other order, which XMLBIF and Hugin have, is refused. `default` is for the rows that are not there, wherever it
stands (aGrUM wants it first, pgmpy takes it for a table).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from quia.errors import FormatError, did_you_mean, listed, shown
from quia.files import decode
from quia.load import networks
from quia.load.networks import Draft, Family, probabilities
from quia.load.tokens import END, TEXT, Tokens, named, pattern, unquoted

if TYPE_CHECKING:
    from quia.classifier import Classifier
    from quia.compile.network import Network

OPTIONS = networks.OPTIONS

_SIGNS = frozenset("{}()[]|,;")
_TOKENS = pattern(
    # A property up to its semicolon, a text, a word: names may be Asy/Patch or >=7.5, but // begins a comment. What is
    # not closed goes on to the end. Where a sign follows, property is a name.
    r'property(?=[\s"])(?!\s*[{}()|,;])(?>"[^"\n]*"|[^;])*+;?+|'
    rf'{TEXT}|(?:[^\s{{}}()\[\]|,;"/]++|/(?![/*]))++|/\*',
    r"//[^\r\n]*+",
    r"/\*.*?\*/",
)
_BLOCKS = ("network", "variable", "probability")


def read(data: bytes, file: str | None = None, **options: Any) -> Classifier:
    """The decision graph of a classifier in a BIF file."""
    return networks.classifier(read_network(data, file), file, **options)


def read_network(data: bytes, file: str | None = None) -> Network:
    """The network in a BIF file.

    >>> network = read_network(b'''network n { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (no) 0.9, 0.1; default 0, 1; }''')
    >>> network.names, network.nodes[1].table[0, 1]
    (('rain', 'wet'), Fraction(1, 10))
    """
    tokens = Tokens(decode(data, file), _TOKENS, file)
    draft = Draft(file, "probability")
    bodies = []
    while (block := tokens.next) != END:
        tokens.at += 1
        if block == "network":
            _network(tokens)
        elif block == "variable":
            _variable(tokens, draft)
        elif block == "probability":
            bodies.append(_heading(tokens))
        elif block != ";":
            hint = did_you_mean(block, _BLOCKS)
            raise tokens.unexpected(f"a block should begin, which is {listed(_BLOCKS)}{hint}", tokens.at - 1)
    for names, begin, body in bodies:  # a variable may be declared after its probability
        family = draft.family(names[0], names[1:], tokens.line(begin))
        tokens.at = body
        draft.give(family, _table(tokens, family, draft.known))
    return draft.network()


def _network(tokens: Tokens) -> None:
    if tokens.next != "{":
        tokens.name("the name of the network", _SIGNS)
    tokens.expect("{", "behind the name of the network")
    while not tokens.took("}"):
        if not _is_property(tokens.next):
            raise tokens.unexpected("a property or } should be, in the block network")
        tokens.at += 1


def _variable(tokens: Tokens, draft: Draft) -> None:
    begin = tokens.at - 1
    name = tokens.name("the name of a variable", _SIGNS)
    tokens.expect("{", f"behind variable {shown(name)}")
    states: list[str] | None = None
    while not tokens.took("}"):
        if _is_property(tokens.next):
            tokens.at += 1
        elif tokens.next == "type" and states is None:
            tokens.at += 1
            states = _states(tokens, name)
        else:
            raise tokens.unexpected(f"type discrete [ 2 ] {{ a, b }}; should be, once, in variable {shown(name)}")
    if states is None:
        raise tokens.fault(f"{shown(name)} has no type; write type discrete [ 2 ] {{ a, b }}; with its states", begin)
    draft.declare(name, states, tokens.line(begin))


def _states(tokens: Tokens, name: str) -> list[str]:
    kind = tokens.next
    if kind != "discrete":
        raise tokens.fault(
            f"{shown(name)} is of type {named(kind)}; only type discrete is read, so cut numbers into states", tokens.at
        )
    tokens.at += 1
    tokens.expect("[", "behind discrete")
    begin = tokens.at
    count = tokens.take()
    tokens.expect("]", "behind the number of states")
    tokens.expect("{", "before the states")
    words = _words(tokens, "}", f"the list of the states of {shown(name)}")
    if not (count.isascii() and count.isdigit() and len(count) < 10 and int(count) == len(words)):
        raise tokens.fault(
            f"{shown(name)} is said to have {named(count)} states, but {len(words)} are listed: {listed(words, 6)}",
            begin,
        )
    tokens.took(";")
    return words


def _words(tokens: Tokens, sign: str, what: str) -> list[str]:
    """Take all names before a sign, and the sign; commas between them are as blanks."""
    words = []
    while not tokens.took(sign):
        if not tokens.took(","):
            words.append(tokens.name(f"a name or {sign}, in {what},", _SIGNS))
    return words


def _heading(tokens: Tokens) -> tuple[list[str], int, int]:
    """The variable and its parents, where that began, and where the block's content begins; all of it is taken."""
    begin = tokens.at - 1
    tokens.expect("(", "behind probability")
    names: list[str] = []
    bar = 0
    while not tokens.took(")"):
        if tokens.next == "|" and not bar:
            bar = tokens.at
            if len(names) > 1:
                raise tokens.fault(
                    f"has a probability of {len(names)} variables, {listed(names, 6)}; give each a table of its own",
                    bar,
                )
            tokens.at += 1
        elif not tokens.took(","):
            names.append(tokens.name("the name of a variable", _SIGNS))
    if not names or (bar and tokens.all[bar - 1] == "("):
        raise tokens.fault("has a probability of no variable; name it, as in probability ( A | B )", begin)
    tokens.expect("{", f"behind probability ( {names[0]} )")
    body = tokens.at
    tokens.until("}", f"the block probability of {shown(names[0])}")
    return names, begin, body


def _table(tokens: Tokens, family: Family, known: dict[str, Fraction]) -> list[Fraction]:
    """The content of a block: a whole table, or rows and what holds where there is no row."""
    name, width = shown(family.child.name), family.shape[-1]
    whole: list[Fraction] | None = None
    default: list[Fraction] | None = None
    rows: list[list[Fraction] | None] = [None] * family.rows
    while (word := tokens.take()) != "}":
        begin = tokens.at - 1
        if word == "table":
            if whole is not None:
                raise tokens.fault(f"{name} has a second table; keep one")
            whole = _numbers(tokens, family.entries, known, f"the table of {name}")
        elif word == "default":
            if default is not None:
                raise tokens.fault(f"{name} has a second default; keep one")
            default = _numbers(tokens, width, known, f"the default of {name}")
        elif word == "(":
            row = _row(tokens, family)
            if rows[row] is not None:
                raise tokens.fault(f"{name} has a second row for {family.row_named(row) or '()'}; keep one", begin)
            rows[row] = _numbers(tokens, width, known, f"a row of {name}")
        elif not _is_property(word):
            raise tokens.unexpected(f"table, default or ( should be, in the block probability of {name}", begin)
    given = sum(row is not None for row in rows)
    if whole is not None:
        if given or default is not None:
            raise tokens.fault(f"{name} has a table and {'rows' if given else 'a default'} too; keep one of both")
        return _by_rows(family, whole, tokens.file)
    if default is None and given < len(rows):
        if not given:
            raise _fault(f"{name} has no probabilities here; add a table, or rows, or a default", family, tokens.file)
        missing = family.row_named(next(row for row, entries in enumerate(rows) if entries is None))
        raise _fault(f"{name} has no row for {missing}; add it, or a default", family, tokens.file)
    return [entry for row in rows for entry in row or default or ()]


def _fault(message: str, family: Family, file: str | None) -> FormatError:
    return FormatError(message, file=file, line=family.line)


def _by_rows(family: Family, table: list[Fraction], file: str | None) -> list[Fraction]:
    """A table with the child's states the quickest; one that is in this order already is refused."""
    rows, width = family.rows, family.shape[-1]
    turned = [entry for row in range(rows) for entry in table[row::rows]]
    if family.parents and _sum_up(table, width) and not _sum_up(turned, width):
        raise _fault(
            f"the table of {shown(family.child.name)} has its own states quickest, but BIF lists them slowest: first"
            f" all probabilities of {shown(next(iter(family.child.states)))}; write a row for each way the parents can"
            " be, as in (b1, c1) 0.1, 0.9;",
            family,
            file,
        )
    return turned


def _sum_up(entries: list[Fraction], width: int) -> bool:
    """Whether every row sums up to nearly 1."""
    numbers = [min(float(entry), 2.0) for entry in entries]
    return all(abs(sum(numbers[at : at + width]) - 1) < 0.01 for at in range(0, len(numbers), width))


def _row(tokens: Tokens, family: Family) -> int:
    """Which row the states between parentheses name."""
    begin = tokens.at
    words = _words(tokens, ")", f"a row of {shown(family.child.name)}")
    if len(words) != len(family.parents):
        raise tokens.fault(
            f"a row of {shown(family.child.name)} names {len(words)} states, {listed(words, 6) or 'none'}; it has"
            f" {len(family.parents)} parents, so name one of each",
            begin,
        )
    row = 0
    for word, parent in zip(words, family.parents, strict=True):
        if word not in parent.states:
            states = list(parent.states)
            raise tokens.fault(
                f"a row of {shown(family.child.name)} names {shown(word)}, which is no state of"
                f" {shown(parent.name)}{did_you_mean(word, states)}; its states are {listed(states, 8)}",
                begin,
            )
        row = row * len(parent.states) + parent.states[word]
    return row


def _numbers(tokens: Tokens, count: int, known: dict[str, Fraction], what: str) -> list[Fraction]:
    """Take so many numbers and the semicolon behind them."""
    begin = tokens.at
    words = tokens.until(";", what)
    texts = [unquoted(word) for word in words if word != ","] if "," in words else words

    def fault(message: str, at: int) -> FormatError:
        places = [place for place, word in enumerate(words, begin) if word != ","]
        return tokens.fault(f"{message}, in {what}", places[at])

    entries = probabilities(texts, known, fault)
    if len(entries) != count:
        raise tokens.fault(f"{what} has {len(entries)} probabilities; it needs {count}", begin)
    return entries


def _is_property(word: str) -> bool:
    return word.startswith("property") and word.endswith(";")
