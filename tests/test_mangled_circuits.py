"""Circuit files that were written by the real libraries, then broken: they load, or a QuiaError says where, quickly."""

import random
import re

import pytest

import booleans
from costs import said_by
from quia import FormatError, QuiaError, TooLarge, explain, load
from quia.load import nnf
from work import counted

WORDS = re.compile(r'(\s+|[\[\]{},:"])')
NASTY = [
    *("0", "-0", "-1", "2", "7", "00", "+1", "1e3", "1.5", "1000000000", "-1000000000", "0x10", "1_0", "9" * 400),
    *("S0", "S", "T", "F", "L", "D", "A", "O", "o", "t", "c", "x", "-", "é", "١", "²", "NaN", "null", "true", "", '"'),
    *("nnf", "sdd", "vtree", ".nodes", ".end", ".ids", "[", "]", "{", "}", ",", ":"),
    *("\x00", "\u2028", "\x85", "\x0b", "\r", "9" * 20),
]
COUNT = 250
WORK = 400_000  # lines of Python for a file of some thousand characters, ten times what any of them took


def written(kind, rng, folder):
    """A file of a random function, and what is to be loaded with it."""
    n = rng.choice((2, 3, 4, 5))
    mask = rng.getrandbits(1 << n)
    if kind in ("c2d", "d4"):
        compiler = booleans.Compiler(mask, n, rng)
        return compiler.c2d(n) if kind == "c2d" else compiler.d4()
    if kind in ("sdd", "vtree"):
        booleans.by_sdd(mask, n, rng, folder, vtree=rng.choice(booleans.VTREES), file=True)
        return (folder / f"f.{kind}").read_text()
    if kind == "odd":
        booleans.by_odd(mask, n, rng, folder)
        return (folder / "f.odd").read_text()
    booleans.by_bdd(mask, n, rng, folder, backend="cudd", file=kind)
    (file,) = folder.glob(f"*.{kind}")
    text = file.read_text()
    file.unlink()
    return text


def mangled(rng, text):
    """The text with a few of its words or lines taken out, put twice, exchanged or replaced."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        words = WORDS.split(text)
        i, j = (rng.randrange(len(words)) for _ in range(2))
        action = rng.randrange(9)
        if action == 0:
            del words[i : i + rng.choice((1, 2, 5))]
        elif action == 1:
            words.insert(i, words[j])
        elif action == 2:
            words[i], words[j] = words[j], words[i]
        elif action == 3:
            words = words[:i]
        elif action == 4 and re.fullmatch(r"-?[0-9]+", words[i]):
            words[i] = str(int(words[i]) + rng.choice((-1, 1, -2, 2, 100, 10**9, 10**18)))
        elif action == 5:
            lines = text.splitlines(keepends=True)
            rng.choice((rng.shuffle, lambda lines: lines.pop(), lambda lines: lines.append(lines[0])))(lines or [""])
            words = lines
        else:
            words[i] = rng.choice(NASTY)
        text = "".join(words)
    return text


@pytest.mark.parametrize("kind", ["c2d", "d4", "sdd", "vtree", "odd", "json", "dddmp"])
def test_mangled_files_load_or_say_where_they_are_broken(kind, tmp_path):
    rng = random.Random(kind)
    formats = {"c2d": "nnf", "d4": "nnf", "vtree": "sdd", "json": "dd", "dddmp": "dd"}
    file = tmp_path / "mangled"
    faults, text = [], ""
    for number in range(COUNT):
        if number % 10 == 0:
            text = written(kind, rng, tmp_path)
        file.write_bytes(mangled(rng, text).encode())
        source = tmp_path / "f.sdd" if kind == "vtree" else file
        options = {"vtree": {"vtree": file}, "sdd": {"vtree": tmp_path / "f.vtree"}}.get(kind, {})
        try:
            with counted(most=WORK):
                classifier = load(source, format=formats.get(kind, kind), **options)
                if all(variable.size == 2 for variable in classifier.variables):
                    why = explain(classifier, [rng.randrange(2) for _ in classifier.variables])
                    assert len(list(why.necessary_reasons(limit=3))) <= 3
        except QuiaError as fault:
            faults.append(fault)
    assert 10 < len(faults) < COUNT - 10
    assert all("\n" not in str(fault) and len(str(fault)) < 1000 for fault in faults)
    assert not [str(fault) for fault in faults if isinstance(fault, FormatError) and None in (fault.file, fault.line)]


def test_many_wide_nodes_take_little_memory(tmp_path):
    """Each of 40,000 nodes mentions 40,000 variables; all together take less than a bit for each pair of them."""
    k = 40_000
    lines = [f"L {v}" for v in range(1, k + 1)]
    lines += [f"A {k} {' '.join(map(str, range(k)))}", *[f"O 0 1 {k}"] * k]
    lines.append(f"O 0 {k} {' '.join(map(str, range(k + 1, 2 * k + 1)))}")
    file = tmp_path / "wide.nnf"
    file.write_text("\n".join([f"nnf {len(lines)} {3 * k} {k}", *lines]))
    script = "import sys, quia, quia.load.nnf\nbefore = peak()\nquia.load(sys.argv[1])\nprint(peak() - before)"
    assert int(said_by(script, file)) < 150 * 2**20 < k * k // 8


def shared_branch(k):
    """A Decision-DNNF in which k decisions, each of another variable, share one conjunction of all k variables."""
    lines = [f"L {v}" for v in range(1, 2 * k + 1)] + [f"L -{v}" for v in range(1, 2 * k + 1)]
    lines.append(f"A {k} {' '.join(map(str, range(k)))}")
    conjunction, below, edges = len(lines) - 1, len(lines) - 1, k
    for i in range(k):  # (x1 ∧ … ∧ xk) ∨ ¬xi, chosen by a variable of its own
        lines.append(f"O {i + 1} 2 {conjunction} {2 * k + i}")
        lines += [f"A 2 {k + i} {len(lines) - 1}", f"A 2 {3 * k + i} {below}"]
        lines.append(f"O {k + i + 1} 2 {len(lines) - 2} {len(lines) - 1}")
        below = len(lines) - 1
        edges += 8
    return "\n".join([f"nnf {len(lines)} {edges} {2 * k}", *lines]).encode()


def test_a_branch_that_many_decisions_share():
    circuit = nnf.read(shared_branch(4))
    for world in range(256):
        values = [world >> i & 1 for i in range(8)]
        chosen = next((i for i in (3, 2, 1, 0) if values[4 + i]), None)
        meant = all(values[:4]) or (chosen is not None and not values[chosen])
        assert circuit.classify(values) == str(int(meant))
        assert explain(circuit, values).complete_reason.is_monotone
    # A quarter of that size still loads, and takes as many lines; without a limit these would be sixteen times as many.
    with pytest.raises(TooLarge, match="line"), counted(most=20_000_000):
        nnf.read(shared_branch(3_000))
