"""Bayesian networks in BIF, XMLBIF and Hugin's .net: every probability as pyAgrum has it, each dialect, each fault."""

from __future__ import annotations

import gzip
import random
import re
import warnings
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import quia
from quia.compile import network as networks_of
from quia.compile.network import Network
from quia.load import bif, format_name, hugin, networks, tokens, xml, xmlbif
from quia.load.networks import number
from test_mangled_circuits import mangled
from work import counted

with warnings.catch_warnings():  # its extension warns while it is imported, and crashes where that is an error
    warnings.simplefilter("ignore")
    gum = pytest.importorskip("pyagrum")

READERS = {"bif": bif, "bifxml": xmlbif, "net": hugin}
NAMES = {"bif": "bif", "bifxml": "xmlbif", "net": "hugin"}
REAL = ["alarm", "andes", "asia", "child", "emdec6g", "hepar2", "insurance", "tcc4e", "win95pts"]

Entries = dict[tuple[str, str, frozenset[tuple[str, str]]], Any]


def entries_of(network: Network) -> Entries:
    """Each probability by the variable, its state, and the parents' states."""
    found: Entries = {}
    for node in network.nodes:
        parents = [network.nodes[parent] for parent in node.parents]
        assert node.table.shape == (*(len(parent.states) for parent in parents), len(node.states))
        for states in product(*(range(size) for size in node.table.shape)):
            given = frozenset((p.name, p.states[s]) for p, s in zip(parents, states[:-1], strict=True))
            found[node.name, node.states[states[-1]], given] = node.table[states]
    return found


def entries_in(theirs: Any) -> Entries:
    """The same of a network of pyAgrum."""
    found: Entries = {}
    for node in theirs.nodes():
        table = theirs.cpt(node)
        name = theirs.variable(node).name()
        instance = gum.Instantiation(table)
        while not instance.end():
            states = {v.name(): v.label(instance.val(v)) for v in table.variablesSequence()}
            own = states.pop(name)
            found[name, own, frozenset(states.items())] = table.get(instance)
            instance.inc()
    return found


def variables_of(network: Network) -> dict[str, tuple[str, ...]]:
    return {node.name: node.states for node in network.nodes}


def nearly(found: Entries, expected: Entries, within: float) -> bool:
    return found.keys() == expected.keys() and all(abs(float(found[key]) - expected[key]) < within for key in expected)


def saved(theirs: Any, ending: str, folder: Path) -> bytes:
    file = folder / f"saved.{ending}"
    gum.saveBN(theirs, str(file))
    assert format_name(str(file)) == NAMES[ending]
    return file.read_bytes()


def random_network(rng: random.Random) -> tuple[Any, Entries]:
    """A network of pyAgrum, and its probabilities, which are decimals of three digits."""
    theirs = gum.BayesNet()
    count = rng.randrange(1, 8)
    for v in rng.sample(range(count), count):
        theirs.add(gum.LabelizedVariable(f"v{v}", "of no use", [f"s{s}" for s in range(rng.randrange(1, 5))]))
    order = rng.sample(range(count), count)
    for place, child in enumerate(order):
        for parent in rng.sample(order[:place], min(place, rng.randrange(4))):
            theirs.addArc(parent, child)
    exact: Entries = {}
    for node in theirs.nodes():
        table = theirs.cpt(node)
        own, *parents = table.variablesSequence()
        for states in product(*(range(parent.domainSize()) for parent in parents)):
            cuts = sorted(rng.choices(range(1001), k=own.domainSize() - 1))
            row = [Fraction(high - low, 1000) for low, high in zip([0, *cuts], [*cuts, 1000], strict=True)]
            table[{p.name(): s for p, s in zip(parents, states, strict=True)}] = [float(entry) for entry in row]
            given = frozenset((p.name(), p.label(s)) for p, s in zip(parents, states, strict=True))
            exact.update({(own.name(), own.label(s), given): entry for s, entry in enumerate(row)})
    return theirs, exact


@pytest.mark.parametrize("ending", READERS)
def test_random_networks_as_pyagrum_writes_them(ending: str, tmp_path: Path) -> None:
    rng = random.Random(ending)
    for _ in range(60):
        theirs, exact = random_network(rng)
        data = saved(theirs, ending, tmp_path)
        network = READERS[ending].read_network(data, ending)
        assert nearly(exact, entries_in(theirs), 1e-12)
        for name in theirs.names():
            # It writes nothing of a variable of one state whose parents have one, too.
            if ending == "bif" and f"probability ({name}".encode() not in data:
                (certain,) = (key for key in exact if key[0] == name)
                del exact[certain]
                exact[name, "s0", frozenset()] = Fraction(1)
        assert entries_of(network) == exact
        assert variables_of(network) == {v: theirs.variable(v).labels() for v in theirs.names()}
        assert not network.notes


def readable(text: str) -> str:
    """A BIF file whose names pyAgrum reads: it takes neither Asy/Patch nor >=7.5 for one."""

    def renamed(match: re.Match[str]) -> str:
        return match[0] if number(match[0]) is not None else "q" + match[0].encode().hex()

    return re.sub(r"[^\s,(){};\[\]]*[<>=+/\-.][^\s,(){};\[\]]*", renamed, text)


@pytest.mark.parametrize("name", REAL)
def test_real_networks_in_all_formats(name: str, shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "networks" / f"{name}.bif.gz"
    assert format_name(str(source)) == "bif"
    text = gzip.decompress(source.read_bytes()).decode()
    assert len(bif.read_network(text.encode()).nodes) == text.count("variable ")
    text = readable(text)
    network = bif.read_network(text.encode())
    ours = entries_of(network)
    (tmp_path / "real.bif").write_text(text)
    theirs = gum.loadBN(str(tmp_path / "real.bif"))
    assert variables_of(network) == {v: theirs.variable(v).labels() for v in theirs.names()}
    assert nearly(ours, entries_in(theirs), 1e-7)  # 32 bits
    for ending, reader in READERS.items():
        again = reader.read_network(saved(theirs, ending, tmp_path), ending)
        assert variables_of(again) == variables_of(network)
        assert nearly(entries_of(again), ours, 1e-6)  # it writes six digits into XML


# Wet grass three times: P(wet | rain, sprinkler) with three states of rain, in each format.

BIF = """network "grass" { property author "me; and you"; property version 1; }
variable rain { type discrete [ 3 ] { none, some, much }; property position = (1, 2) ; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable wet { type discrete [ 2 ] { no, yes }; }
probability ( rain ) { table 0.7, 0.2, 0.1; }
probability ( sprinkler ) { table 0.6, 0.4; }
probability ( wet | rain, sprinkler ) {
  (none, off) 0.9, 0.1;
  (none, on) 0.2, 0.8;
  (some, off) 0.3, 0.7;
  (some, on) 0.05, 0.95;
  (much, off) 0.01, 0.99;
  (much, on) 0, 1;
}
"""

XMLBIF = """<?xml version="1.0"?>
<!-- DTD for the XMLBIF 0.3 format -->
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ELEMENT NETWORK ( NAME, ( PROPERTY | VARIABLE | DEFINITION )* )>
  <!ELEMENT VARIABLE ( NAME, ( OUTCOME | PROPERTY )* ) >
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
<BIF VERSION="0.3"><NETWORK><NAME>grass</NAME>
<VARIABLE TYPE="nature"><NAME>rain</NAME>
  <OUTCOME>none</OUTCOME><OUTCOME>some</OUTCOME><OUTCOME>much</OUTCOME><PROPERTY>position = (1, 2)</PROPERTY></VARIABLE>
<VARIABLE><NAME> sprinkler </NAME><OUTCOME>off</OUTCOME><OUTCOME> on </OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>wet</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE>0.7 0.2 0.1</TABLE></DEFINITION>
<PROBABILITY><FOR>sprinkler</FOR><TABLE>0.6 0.4</TABLE></PROBABILITY>
<DEFINITION><FOR>wet</FOR><GIVEN>rain</GIVEN><GIVEN>sprinkler</GIVEN>
  <TABLE> <!-- none --> 0.9 0.1 0.2<!-- on -->
  <!-- more --> 0.8 <!-- some -->
  0.3 0.7 5e-2 .95 0.01 0.99 0 1 </TABLE></DEFINITION>
</NETWORK></BIF>
"""

HUGIN = r"""% Hugin's, with a node in a comment: node dry { }
net { node_size = (80 40); HR_Title = "of \"wet\" grass; and
rain"; }
discrete node rain { label = "R; a \"label\" }"; states = ("none" "some" "much"); position = (1 2); }
node sprinkler
{
    states = (off on );
}
node wet { states = ("no" "yes"); HR_State_0 = ""; }
potential (rain) { data = (0.7 0.2 0.1); }
potential ( sprinkler | ) { data = ( 0.6 0.4 ); experience = (10); }
potential (wet | rain sprinkler) {
    data = (((0.9 0.1)  % rain=none sprinkler=off
             (0.2 0.8)) ((0.3 0.7) (0.05 0.95)) ((0.01 0.99) (0 1)));
}
"""

GRASS = {"bif": BIF, "bifxml": XMLBIF, "net": HUGIN}


def read(ending: str, text: str) -> Network:
    return READERS[ending].read_network(text.encode(), "f")


@pytest.mark.parametrize("ending", GRASS)
def test_the_same_network_by_hand(ending: str) -> None:
    network = read(ending, GRASS[ending])
    assert variables_of(network) == {"rain": ("none", "some", "much"), "sprinkler": ("off", "on"), "wet": ("no", "yes")}
    assert network.nodes[2].parents == (0, 1)
    wet = [9, 1], [2, 8], [3, 7], [0.5, 9.5], [0.1, 9.9], [0, 10]
    assert network.nodes[2].table.reshape(-1, 2).tolist() == [[Fraction(str(x)) / 10 for x in row] for row in wet]
    assert entries_of(network) == entries_of(read("bif", BIF))


def edited(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


WET = BIF[BIF.index("  (none, off)") : BIF.rindex("}")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WET, "table 0.9, 0.2, 0.3, 0.05, 0.01, 0, 0.1, 0.8, 0.7, 0.95, 0.99, 1;"),  # the child's states the slowest
        (WET, "table 0.9 0.2 0.3 0.05 0.01 0 0.1 0.8 0.7 0.95 0.99 1 ;"),
        ("  (much, on) 0, 1;", "  default 0 1.0;"),
        ("  (none, off) 0.9, 0.1;", "default 9e-1 1E-1;"),
        ("  (some, on) 0.05, 0.95;", '  ("some" on) 5.0e-2 +.95 ; property p = {(;'),
        ("( wet | rain, sprinkler )", "( wet rain sprinkler )"),
        ("( wet | rain, sprinkler )", "(wet,rain,sprinkler)"),
        ("discrete [ 3 ] { none, some, much };", 'discrete[3]{none"some"much} ;'),
        ("discrete [ 3 ] { none, some, much };", "discrete [03] { //three\n none /* some; } */ some much }"),
        ('"grass"', ""),
        ("variable wet {", 'variable "wet" { property type discrete [ 9 ] { };'),
        ("property version 1;", "property url = http://a.b/c;\nproperty lone \" quote; property a '}{';"),
        ("  (none, off) 0.9, 0.1;", "  (none, off) 0.90, 0.10; // (none, off) 1, 0;"),
        ("variable rain", ";\nvariable rain"),
        ("probability ( rain )", "probability(rain)"),
    ],
)
def test_dialects_of_bif(old: str, new: str) -> None:
    expected = entries_of(read("bif", BIF))
    for text in (edited(BIF, old, new), "\ufeff\n // 1\n" + edited(BIF, old, new).replace("\n", "\r\n")):
        assert entries_of(read("bif", text)) == expected


def test_property_may_be_a_name() -> None:
    text = """network n { property author me; }
    variable property { type discrete [ 2 ] { a, property }; property "position" = (1, 2); }
    variable x { type discrete [ 2 ] { property , b }; property
      more ; }
    probability ( property ) { table 0.25, 0.75; }
    probability ( x | property ) { (a) 0.5, 0.5; ( property ) 1, 0; property p; }"""
    network = read("bif", text)
    assert network.names == ("property", "x")
    assert [node.states for node in network.nodes] == [("a", "property"), ("property", "b")]
    assert network.nodes[1].table.tolist() == [[Fraction(1, 2), Fraction(1, 2)], [1, 0]]


def test_names_that_bif_files_have() -> None:
    states = ["<5", "5-12", "12+", ">=7.5", "Asy/Patch", "a:b", "a.b", "x=1", "'q'", "50%", "é", "table"]
    head = f'variable X-1.a/b {{ type discrete [ {len(states) + 1} ] {{ {", ".join(states)}, "(0, 1]" }}; }}'
    text = "network n { }" + head + "probability (X-1.a/b) { table " + "0.07 " * len(states) + "0.16; }"
    text += "variable y { type discrete [ 1 ] { 1 }; } probability ( y | X-1.a/b ) { "
    text += " ".join(f"({state}) 1;" for state in states) + ' ("(0, 1]") 1; }'
    network = read("bif", text)
    assert variables_of(network) == {"X-1.a/b": (*states, "(0, 1]"), "y": ("1",)}
    assert network.nodes[0].table[12] == Fraction(16, 100)


def test_blocks_come_in_any_order() -> None:
    lines = BIF.split("variable ")
    tables = lines[-1].index("probability")
    text = lines[0] + lines[-1][tables:] + "".join(f"variable {line}" for line in lines[1:-1])
    text += "variable " + lines[-1][:tables]
    assert entries_of(read("bif", text)) == entries_of(read("bif", BIF))
    nodes, potentials = HUGIN.index("discrete node"), HUGIN.index("potential (rain)")
    text = HUGIN[:nodes] + HUGIN[potentials:] + HUGIN[nodes:potentials]
    assert entries_of(read("net", text)) == entries_of(read("bif", BIF))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (HUGIN[HUGIN.index("(((") : HUGIN.rindex(";")], "(0.9 0.1 0.2 0.8 0.3 0.7 0.05 0.95 0.01 0.99 0 1)"),
        (HUGIN[HUGIN.index("(((") : HUGIN.rindex(";")], "((0.9 .1 2e-1 .8)(.3 .7 .05 .95)(.01 .99 0 1))"),
        ("net {", "class grass { inputs = (); outputs = (wet);"),
        ('("none" "some" "much")', "( none\n some\tmuch)"),
    ],
)
def test_dialects_of_hugin(old: str, new: str) -> None:
    text = edited(HUGIN, old, new)
    if "class" in new:
        text = edited(text, 'rain"; }', 'rain";') + "}"
    for each in (text, "\ufeff" + text.replace("\n", "\r\n")):
        assert entries_of(read("net", each)) == entries_of(read("bif", BIF))


def test_states_that_pyagrum_writes_without_quotation_marks() -> None:
    text = 'node a { states = (<7.5 >=7.5 a=b =c "q" "r"s ); } potential (a) { data = (0 0 1 0 0 0 0); }'
    assert variables_of(read("net", text)) == {"a": ("<7.5", ">=7.5", "a=b", "=c", "q", "r", "s")}


def test_a_namespace_and_a_version_in_lower_case_as_pgmpy_has_them() -> None:
    text = XMLBIF[XMLBIF.index("<BIF") :].replace('<BIF VERSION="0.3">', '<BIF version="0.3" xmlns="http://a/b">')
    assert entries_of(read("bifxml", text)) == entries_of(read("bif", BIF))


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("bif", "network {"),
        ("bif", 'network"a (b)"{'),
        ("bif", '\ufeff\n // of PMML: tree\n/* J48\npruned tree */ network "a b"\n{'),
        ("bif", "network /* of x */ x // why\n { // }\n"),
        ("bif", "network x/* without a blank */{"),
        ("bif", "variable x {"),
        ("bif", 'network x { property "=== Run information ===";'),
        ("xmlbif", "<BIF>"),
        ("xmlbif", '\ufeff\n<?xml version="1.0"?>\n<!-- <PMML> -->\n<!DOCTYPE BIF ['),
        ("xmlbif", '<?xml version="1.0"?><!-- J48 pruned tree --><BIF VERSION="0.3"><NAME>PMML</NAME>'),
        ("pmml", '<?xml version="1.0"?><!-- <BIF> --><PMML>'),
        ("pmml", "<PMML><BIF>"),
        ("hugin", "\n\n% J48\n\n net\n{"),
        ("hugin", "class A1 {"),
        ("hugin", "node a {"),
        ("hugin", "discrete node a {"),
        ("hugin", "decision d {"),
        ("scorecard", "network,condition,points,feature\n"),
        ("weka", "network\nJ48 pruned tree"),
        ("odd", "[network]"),
    ],
)
def test_each_is_recognised(name: str, head: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(head.encode())
    assert format_name(str(tmp_path / "f")) == name


@pytest.mark.parametrize(
    "head",
    [
        "net work {",
        "network, a {",
        "networks {",
        "net Unnamed\n{",
        "networks, a",
        "<BIFS>",
        "<!-- <BIF>",
        "// network x {",
    ],
)
def test_others_are_not(head: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text(head)
    with pytest.raises(quia.FormatError, match=r"no format known|is a table of rows"):
        format_name(str(tmp_path / "f"))


BROKEN_BIF = [
    ("0.7, 0.2, 0.1;", "0.7, 0.2;", "line 5: the table of 'rain' has 2 probabilities; it needs 3"),
    ("0.7, 0.2, 0.1;", "0.7, 0.2, 0.1, 0;", "line 5: the table of 'rain' has 4 probabilities; it needs 3"),
    (
        "0.7, 0.2, 0.1;",
        "0.7, 0.2, 0.3;",
        "line 5: 'rain' has the probabilities 0.7, 0.2, 0.3, which sum up to 1.2; give",
    ),
    ("0.7, 0.2, 0.1;", "0.7, 0.5, -0.2;", "line 5: has '-0.2' where a probability should be; those are not below 0"),
    ("0.7, 0.2, 0.1;", "0.7,\nnan, 0.2;", "line 6: has 'nan' where a probability should be, such as 0.25 or 1e-05"),
    ("0.7, 0.2, 0.1;", "inf, 0.2, 0.2;", "line 5: has 'inf' where"),
    ("0.7, 0.2, 0.1;", "1e9999, 0.2, 0.2;", "line 5: has '1e9999' where"),
    ("0.7, 0.2, 0.1;", "1e999, 0.2, 0.2;", "line 5: has '1e999' where"),
    ("0.7, 0.2, 0.1;", "1e400, 0.2, 0.2;", r"line 5: 'rain' has the probabilities more than 1e\+300, 0.2, 0.2"),
    ("0.7, 0.2, 0.1;", "1_0, 0.2, 0.2;", "line 5: has '1_0' where"),
    ("0.7, 0.2, 0.1;", "1e-401, 0.2, 0.2;", "line 5: has '1e-401' where .*, of no more than 100 digits, and not below"),
    ("0.7, 0.2, 0.1;", f"0.{'3' * 101}, 0.2, 0.2;", "line 5: has '0.333.* of no more than 100 digits, and not below"),
    ("0.7, 0.2, 0.1;", "0.7, 0.2, 0.1", "line 5: has '}' where a probability should be"),
    ("0.7, 0.2, 0.1;", "0.7, 0.2, 0.1; table 1 0 0;", "line 5: 'rain' has a second table; keep one"),
    ("0.7, 0.2, 0.1;", "0.7, 0.2, 0.1; default 1 0 0;", "line 5: 'rain' has a table and a default too; keep one"),
    ("0.7, 0.2, 0.1;", "0.7, 0.2, 0.1; () 1 0 0;", "line 5: 'rain' has a table and rows too; keep one"),
    ("table 0.7, 0.2, 0.1;", "", "line 5: 'rain' has no probabilities here; add a table, or rows, or a default"),
    ("table 0.7, 0.2, 0.1;", "tabel 1 0 0;", "line 5: has 'tabel' where table, default or"),
    ("table 0.7, 0.2, 0.1;", "default 1 0 0; default 1 0 0;", "line 5: 'rain' has a second default; keep one"),
    ("(none, on) 0.2, 0.8;", "", "line 7: 'wet' has no row for rain=none, sprinkler=on; add it, or a default"),
    ("(none, on) 0.2", "(none, off) 0.2", "line 9: 'wet' has a second row for rain=none, sprinkler=off; keep one"),
    (
        "(none, on)",
        "(non, on)",
        r"line 9: a row of 'wet' names 'non', which is no state of 'rain' \(did you mean 'none'\?\)",
    ),
    ("(none, on)", "(none)", "line 9: a row of 'wet' names 1 states, none; it has 2 parents, so name one of each"),
    ("(none, on)", "(none, [)", r"line 9: has '\[' where a name or \), in a row of 'wet', should be"),
    ("0.2, 0.8;", "0.2, 0.9;", "line 7: 'wet' has the probabilities 0.2, 0.9 where rain=none, sprinkler=on, which sum"),
    ("0.2, 0.8;", "0.2, 0.7, 0.1;", "line 9: a row of 'wet' has 3 probabilities; it needs 2"),
    (WET, "table 0.9 0.1 0.2 0.8 0.3 0.7 0.05 0.95 0.01 0.99 0 1;", "line 7: the table of 'wet' has its own states"),
    ("(none, on) 0.2, 0.8;", "table 1;", "line 9: the table of 'wet' has 1 probabilities; it needs 12"),
    ("( wet | rain,", "( wet | snow,", "line 7: has a probability that names 'snow', which is no variable"),
    ("( wet | rain,", "( grass | rain,", "line 7: has a probability that names 'grass', which is no variable"),
    ("( wet | rain,", "( wet | wet,", "line 7: 'wet' is its own parent; name other variables"),
    ("( wet | rain,", "( wet | sprinkler,", "line 7: 'wet' has the parent 'sprinkler' twice; name other"),
    (
        "( wet | rain,",
        "( wet, rain |",
        "line 7: has a probability of 2 variables, wet, rain; give each a table of its own",
    ),
    ("( wet | rain,", "( | wet rain,", "line 7: has a probability of no variable; name it"),
    ("( wet | rain,", "( wet | rain | ", r"line 7: has '\|' where the name of a variable should be"),
    ("( sprinkler )", "( rain )", "line 6: has a second probability for 'rain', after line 5; keep one"),
    ("( sprinkler )", "( )", "line 6: has a probability of no variable"),
    ("( sprinkler )", "( sprinkler | wet )", "line 6: 'sprinkler' has no|line 6: the table of 'sprinkler' has 2"),
    ("probability ( rain ) { table 0.7, 0.2, 0.1; }", "", "line 2: 'rain' has no probability; add one, or take"),
    ("variable sprinkler", "variable rain", "line 3: has the variable 'rain' a second time, after line 2; rename one"),
    ("variable sprinkler", 'variable ""', "line 3: has a variable without a name"),
    (
        "variable sprinkler",
        'variable "a\nb"',
        r"line 3: has 'a\\nb' where the name of a variable should be; write it in",
    ),
    ("{ off, on }", "{ on, on }", "line 3: 'sprinkler' has the state 'on' twice; states must differ"),
    ("[ 2 ] { off, on }", "[ 0 ] { }", "line 3: 'sprinkler' has no states; list one or more"),
    (
        "[ 2 ] { off, on }",
        "[ 3 ] { off, on }",
        "line 3: 'sprinkler' is said to have '3' states, but 2 are listed: off, on",
    ),
    (
        "discrete [ 2 ] { off, on }",
        "continuous",
        "line 3: 'sprinkler' is of type 'continuous'; only type discrete is read",
    ),
    ("type discrete [ 2 ] { off, on };", "", "line 3: 'sprinkler' has no type; write type discrete"),
    ("{ off, on };", "{ off, on }; type discrete [1] { a };", "line 3: has 'type' where type discrete"),
    ("variable sprinkler {", "variable sprinkler", "line 3: has 'type' where { should be, behind variable 'sprinkler'"),
    (
        "variable sprinkler {",
        "variabel sprinkler {",
        r"line 3: has 'variabel' where a block .* \(did you mean 'variable'\?\)",
    ),
    (
        "variable sprinkler {",
        "a comment\n",
        "line 3: has 'a' where a block should begin, which is network, variable, prob",
    ),
    ("0, 1;\n}", "0, 1;\n", "line 7: the block probability of 'wet' is not closed; add } behind it"),
    ("0, 1;\n}", '0, "1;\n}', "line 13: has a quotation mark that is not closed"),
    ("0, 1;\n}", "0, /* 1;\n}", "line 13: has a comment that is not closed"),
    ("version 1; }", "version 1; nodes }", "line 1: has 'nodes' where a property or } should be"),
    (BIF, "", "has no variables"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN_BIF)
def test_broken_bif(old: str, new: str, message: str) -> None:
    with pytest.raises(quia.FormatError, match=f"^f(, |: ){message}"):
        read("bif", edited(BIF, old, new))


BROKEN_XMLBIF = [
    (
        '<VARIABLE TYPE="nature"><NAME>wet',
        '<VARIABLE TYPE="decision"><NAME>wet',
        "line 14: 'wet' is of type 'decision'; only",
    ),
    (
        '<VARIABLE TYPE="nature"><NAME>wet',
        '<VARIABLE TYPE="utility"><NAME>wet',
        "line 14: 'wet' is of type 'utility'; only",
    ),
    ("<NAME>wet</NAME>", "", "line 14: has a variable with 0 names; give each one <NAME>"),
    ("<NAME>wet</NAME>", "<NAME>rain</NAME>", "line 14: has the variable 'rain' a second time, after line 11"),
    ("<OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>", "<VALUE>no</VALUE>", "line 14: 'wet' has no states"),
    ('VERSION="0.3"', 'VERSION="0.2"', "line 10: is of version 0.2, whose tables have another order"),
    ("</NETWORK></BIF>", "</NETWORK><NETWORK/></BIF>", "line 10: has 2 <NETWORK> elements; it must have one"),
    ("0.7 0.2 0.1<", "0.7 0.2<", "line 15: 'rain' has 2 probabilities; its states and its parents' make 3"),
    (" 0 1 <", " 0 1 0 <", "line 18: 'wet' has 13 probabilities; its states and its parents' make 3 × 2 × 2 = 12"),
    (
        "0.7 0.2 0.1<",
        "0.7, 0.2, 0.1<",
        "line 15: has '0.7,' where a probability should be, such as 0.25 or 1e-05, in the",
    ),
    ("0.7 0.2 0.1<", "0.7 0.2 0.3<", "line 15: 'rain' has the probabilities 0.7, 0.2, 0.3, which sum up to 1.2"),
    ("0.7 0.2 0.1<", "0.7 0.4 -0.1<", "line 15: has '-0.1' where a probability should be; those are not below 0"),
    (
        "<FOR>rain</FOR>",
        "<FOR>rain</FOR><FOR>wet</FOR>",
        "line 15: has a <DEFINITION> of 2 variables, rain, wet; give each",
    ),
    ("<FOR>rain</FOR>", "", "line 15: has a <DEFINITION> of no variable"),
    ("<FOR>rain</FOR>", "<FOR>wet</FOR>", "line 15: 'wet' has 3 probabilities; its states and its parents' make 2"),
    ("<FOR>rain</FOR>", "<FOR>snow</FOR>", "line 15: has a <DEFINITION> that names 'snow', which is no variable"),
    ("<TABLE>0.7 0.2 0.1</TABLE>", "", "line 15: 'rain' has 0 <TABLE> elements here; it needs one"),
    (
        "<TABLE>0.7",
        "<ENTRY/><TABLE>0.7",
        "line 15: has <ENTRY> in a <DEFINITION>, where only FOR, GIVEN, TABLE, PROPERTY",
    ),
    ("<GIVEN>rain</GIVEN>", "<GIVEN>wet</GIVEN>", "line 17: 'wet' is its own parent"),
    (
        "<DEFINITION><FOR>rain</FOR><TABLE>0.7 0.2 0.1</TABLE></DEFINITION>",
        "",
        "line 11: 'rain' has no <DEFINITION>; add one",
    ),
    ("<!ELEMENT NETWORK", '<!ENTITY lol "lol"><!ELEMENT NETWORK', "line 6: declares 'lol' in a document type"),
    (
        "<!ELEMENT NETWORK",
        '<!ENTITY x SYSTEM "file:///etc/passwd"><!ELEMENT NETWORK',
        "line 6: declares 'x' in a document",
    ),
    ("<!ELEMENT NETWORK", '<!ENTITY % p "<!-- -->"> %p; <!ELEMENT NETWORK', "line 6: declares 'p' in a document type"),
    ("<!ELEMENT NETWORK", '<!NOTATION n SYSTEM "x"><!ELEMENT NETWORK', "line 6: declares 'n' in a document type"),
    (
        "<!DOCTYPE BIF [",
        '<!DOCTYPE BIF SYSTEM "bif.dtd" [',
        "line 3: declares 'BIF' in a document type, which model files",
    ),
    ("<OUTCOME>yes<", "<OUTCOME>&lol;<", "line 14: is not well-formed XML: undefined entity"),
    ("</NETWORK></BIF>", "</BIF>", "line 21: is not well-formed XML: mismatched tag"),
    (XMLBIF, "<PMML/>", "line 1: begins with <PMML>; an XMLBIF file begins with <BIF>"),
    (XMLBIF, "<BIF><NETWORK/></BIF>", "has no variables"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN_XMLBIF)
def test_broken_xmlbif(old: str, new: str, message: str) -> None:
    with pytest.raises(quia.FormatError, match=f"^f(, |: ){message}"):
        read("bifxml", edited(XMLBIF, old, new))


BROKEN_HUGIN = [
    ("(0.7 0.2 0.1)", "(0.7 0.2)", "line 10: 'rain' has 2 probabilities; its states and its parents' make 3"),
    ("(0.7 0.2 0.1)", "((0.7 0.2 0.1))", r"line 10: has '\(' where a number or ; should be, in the data of 'rain'"),
    ("(0.7 0.2 0.1)", "0.7 0.2 0.1", r"line 10: has '0.7' where \( should be, in the data of 'rain'"),
    ("(0.7 0.2 0.1)", "(0.7 0.2 0.1", r"line 10: the data of 'rain' are not closed; add \) before the ;"),
    ("(0.7 0.2 0.1)", "()", "line 10: 'rain' has 0 probabilities"),
    ("(0.7 0.2 0.1)", "", r"line 10: the data of 'rain' are not closed"),
    ("(0.7 0.2 0.1)", "(0.7 0.2 0.1))", r"line 10: has '\)' where a ; should be, in the data of 'rain'"),
    ("(0.7 0.2 0.1)", "(0.7, 0.2, 0.1)", "line 10: has '0.7,' where a probability should be"),
    (
        "(0.7 0.2 0.1)",
        "(0.7 0.2\n -1)",
        "line 11: has '-1' where a probability should be; those are not below 0, in the",
    ),
    ("(0.7 0.2 0.1)", "(0.7 0.2 0.2)", "line 10: 'rain' has the probabilities 0.7, 0.2, 0.2, which sum up to 1.1"),
    ("(0.7 0.2 0.1)", "normal (0 1)", r"line 10: has 'normal' where \( should be"),
    ("((0.3 0.7) (0.05 0.95))", "((0.3 0.7 0.05) (0.95))", "line 14: the data of 'wet' have 3 numbers between these"),
    (
        "(0.01 0.99) (0 1)",
        "(0.01 0.99)",
        "line 14: the data of 'wet' have 2 numbers between these parentheses, where 4",
    ),
    ("data = (0.7 0.2 0.1);", "", "line 10: the potential of 'rain' has no data; write data = "),
    ("data = (0.7", "data = (1 0 0); data = (0.7", "line 10: the potential of 'rain' has 'data' twice; keep one"),
    ("data = (0.7", "model_data = (1); data = (0.7", "line 10: the potential of 'rain' has model_data, a formula"),
    ("data = (0.7", "model_nodes = (); data = (0.7", "line 10: the potential of 'rain' has model_nodes, a formula"),
    (
        "(wet | rain sprinkler)",
        "(wet rain | sprinkler)",
        "line 12: has a potential of 2 nodes, wet, rain; give each node",
    ),
    ("(wet | rain sprinkler)", "( | rain sprinkler)", "line 12: has a potential of no node; give each"),
    (
        "(wet | rain sprinkler)",
        "(wet | snow sprinkler)",
        "line 12: has a potential that names 'snow', which is no variable",
    ),
    (
        "potential (rain) { data = (0.7 0.2 0.1); }",
        "",
        "line 4: 'rain' has no potential; add one, or take the variable out",
    ),
    ('states = ("no" "yes");', "", r"line 9: node 'wet' has no states; write states = \(\"a\" \"b\"\);"),
    ('("no" "yes")', "()", "line 9: 'wet' has no states; list one or more"),
    ('("no" "yes")', '("no" "no")', "line 9: 'wet' has the state 'no' twice; states must differ"),
    ('("no" "yes")', '"no"', r"line 9: has 'no' where \( should be, before the states of node 'wet'"),
    ('("no" "yes")', '("no" ("yes"))', r"line 9: has '\(' where a state or \) should be"),
    ('("no" "yes")', '("no" "yes"', "line 9: has ';' where a state or"),
    ("node wet", "node rain", "line 9: has the variable 'rain' a second time, after line 4; rename one"),
    ("node wet", "node wet :", "line 9: has ':' where { should be, behind node 'wet'"),
    (
        "node wet",
        "decision wet",
        "line 9: has decisions, as 'decision' says; only networks of discrete nodes with tables",
    ),
    ("node wet", "discrete decision wet", "line 9: has decisions, as 'decision' says"),
    ("node wet", "utility wet", "line 9: has utilities, as 'utility' says"),
    ("node wet", "continuous node wet", "line 9: has continuous variables, as 'continuous' says"),
    ("node wet", "function wet", "line 9: has functions, as 'function' says"),
    ("node wet", "discrete function wet", "line 9: has functions, as 'function' says"),
    ("node wet", "instance wet", "line 9: has other networks, as 'instance' says"),
    ("node wet", "nodes wet", r"line 9: has 'nodes' where a block should begin, .* \(did you mean 'node'\?\)"),
    (
        "net { node_size",
        "class a { } class b { } net { node_size",
        "line 2: has a second class; only a file of one network",
    ),
    ("net { node_size", "class a { net { node_size", "line 15: has a class that is not closed; add } at the end"),
    (
        "experience = (10);",
        "experience (10);",
        r"line 11: has '\(' where = should be, behind 'experience' in the potential",
    ),
    ("(0 1)));\n}", "(0 1)))\n}", "line 13: 'data' in the potential of 'wet' is not closed; add ; behind it"),
    ("(0 1)));\n}", '(0 "1)));\n}', "line 14: has a quotation mark that is not closed"),
    ("(0 1)));\n}", "(0 1)));\n", "line 16: has the end of the file where an attribute or } should be"),
    (HUGIN, "net { }", "has no variables"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN_HUGIN)
def test_broken_hugin(old: str, new: str, message: str) -> None:
    with pytest.raises(quia.FormatError, match=f"^f(, |: ){message}"):
        read("net", edited(HUGIN, old, new))


def test_cycles_and_rows_that_are_rounded() -> None:
    text = "network n { } variable a { type discrete [ 1 ] { x }; }\nvariable b { type discrete [ 1 ] { x }; }\n"
    text += "variable c { type discrete [ 1 ] { x }; }\nprobability ( a | b ) { table 1; }\n"
    text += "probability ( b | c ) { table 1; }\nprobability ( c | b ) { table 1; }\n"
    with pytest.raises(
        quia.FormatError, match=r"^f, line [56]: '[bc]' is among its own ancestors; a Bayesian network has no"
    ):
        read("bif", text)
    network = read("bif", edited(BIF, "0.7, 0.2, 0.1;", "0.69, 0.2, 0.1;"))
    assert network.nodes[0].table.tolist() == [Fraction(69, 99), Fraction(20, 99), Fraction(10, 99)]
    assert network.notes == ("probabilities of rain do not sum up to 1, and were divided by their sums",)


def test_a_variable_of_one_state_needs_no_table() -> None:
    text = "variable a { type discrete [ 1 ] { x }; } variable b { type discrete [ 2 ] { x y }; }"
    text += "probability ( b | a ) { table 0.5 0.5; }"
    assert read("bif", text).nodes[0].table.tolist() == [1]


def test_decimals_are_exact() -> None:
    for text in ("0.1", ".5", "5.", "1e-05", "1E+2", "+0.25", "00.50", "0", "123e-400", "0." + "1" * 100):
        assert number(text) == Fraction(text)
    for text in (
        "",
        ".",
        "e5",
        "nan",
        "inf",
        "1e401",
        "1e99999",
        "0x1",
        "1_0",
        "1,5",
        "١",
        "1 ",
        "0." + "1" * 101,
        "--1",
    ):
        assert number(text) is None


def test_an_encoding_that_nobody_knows() -> None:
    text = edited(XMLBIF, '<?xml version="1.0"?>', '<?xml version="1.0" encoding="foo"?>')
    with pytest.raises(quia.FormatError, match="cannot be read as XML: unknown encoding: foo"):
        read("bifxml", text)


def test_files_in_other_encodings() -> None:
    latin = edited(BIF, "( rain ) {", "( rain ) { // é").encode("latin-1")
    for reader in (bif, hugin):
        with pytest.raises(quia.FormatError, match=r"^f, line 5: is not UTF-8 text; save it as UTF-8"):
            reader.read_network(latin, "f")
    text = edited(XMLBIF, '<?xml version="1.0"?>', '<?xml version="1.0" encoding="ISO-8859-1"?>')
    network = xmlbif.read_network(text.replace(">wet<", ">mouillé<").encode("latin-1"), "f")
    assert network.names == ("rain", "sprinkler", "mouillé")


@pytest.mark.parametrize("ending", GRASS)
def test_mangled_files_are_read_or_refused_in_one_sentence(ending: str, tmp_path: Path) -> None:
    rng = random.Random(ending)
    messages = []
    for trial in range(700):
        text = GRASS[ending] if trial % 3 else saved(random_network(rng)[0], ending, tmp_path).decode()
        data = bytearray(mangled(rng, text).encode())
        for _ in range(rng.choice((0, 0, 1, 3))):
            at = rng.randrange(len(data) + 1)
            data[at : at + rng.choice((0, 1, 10))] = rng.choice(
                (b"", b"\xff", bytes([rng.randrange(256)]), b"(" * 9, b"}")
            )
        try:
            with counted(most=200_000):
                network = READERS[ending].read_network(bytes(data), "f")
            for key, entry in entries_of(network).items():
                assert 0 <= entry <= 1, key
        except quia.QuiaError as fault:
            messages.append(str(fault))
    assert 200 < len(messages) < 680
    assert all(message.startswith("f") and "\n" not in message and len(message) < 1000 for message in messages)
    assert sum(", line " in message for message in messages) > 0.95 * len(messages)


# Small files that claim much, and files that are deep.


def wide(ending: str, parents: int) -> str:
    """A variable of so many parents, and no more than one number for each state."""
    names = [f"v{i}" for i in range(parents)]
    if ending == "bif":
        text = "".join(f"variable {v} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for v in [*names, "x"])
        text += "".join(f"probability ( {v} ) {{ table 0.5 0.5; }}\n" for v in names)
        return text + f"probability ( x | {', '.join(names)} ) {{ default 0.5, 0.5; }}\n"
    if ending == "net":
        text = "".join(f"node {v} {{ states = (a b); }}\n" for v in [*names, "x"])
        return text + f"potential ( x | {' '.join(names)} ) {{ data = (0.5 0.5); }}\n"
    variables = "".join(f"<VARIABLE><NAME>{v}</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>" for v in names)
    given = "".join(f"<GIVEN>{v}</GIVEN>" for v in names[1:])
    return f"<BIF><NETWORK>{variables}<DEFINITION><FOR>v0</FOR>{given}<TABLE>.5 .5</TABLE></DEFINITION></NETWORK></BIF>"


@pytest.mark.parametrize("ending", GRASS)
def test_tables_of_many_parents_are_refused_before_they_are_made(ending: str) -> None:
    with pytest.raises(
        quia.FormatError, match=r"needs more than 4000000 probabilities, with the 2\d parents of '(x|v0)'"
    ):
        read(ending, wide(ending, 25))
    with pytest.raises(quia.FormatError, match=r"line \d+: '(x|v0)' has \d+ parents; at most 31 are read"):
        read(ending, wide(ending, 5_000))


@pytest.mark.parametrize("parents", [31, 32])
def test_as_many_parents_as_arrays_have_axes(parents: int) -> None:
    text = wide("bif", parents).replace("{ a, b }", "{ a }").replace("[ 2 ]", "[ 1 ]")
    text = text.replace("0.5 0.5", "1").replace("0.5, 0.5", "1")
    if parents == 31:
        assert read("bif", text).nodes[-1].table.shape == (1,) * 32
    else:
        with pytest.raises(quia.FormatError, match="has 32 parents; at most 31 are read"):
            read("bif", text)


def test_a_default_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read("bif", wide("bif", 10)).nodes[-1].table.shape == (2,) * 11
    monkeypatch.setattr(networks, "MOST_ENTRIES", 2**11 + 20)
    assert len(read("bif", wide("bif", 10)).nodes) == 11
    monkeypatch.setattr(networks, "MOST_ENTRIES", 2**11 + 19)
    with pytest.raises(quia.FormatError, match="needs more than 2067 probabilities"):
        read("bif", wide("bif", 10))
    assert networks_of.MOST_ENTRIES == 4_000_000


def test_nothing_is_as_deep_as_its_file() -> None:
    with pytest.raises(quia.FormatError, match=r"line 10: has '\(' where a number or ; should be"):
        read("net", edited(HUGIN, "(0.7 0.2 0.1)", "(" * 100_000))
    with pytest.raises(quia.FormatError, match="where the name of a variable should be"):
        read("bif", edited(BIF, "( rain )", "(" * 100_000))
    for text in ("<A>" * 100_000, "<NETWORK>" * 100_000):
        with pytest.raises(quia.FormatError, match="is not well-formed XML"):
            read("bifxml", "<BIF>" + text)
    deep = "(" * 50_000 + "A" + ")" * 50_000
    assert entries_of(read("bifxml", edited(XMLBIF, "( NETWORK )*", deep))) == entries_of(read("bif", BIF))


def test_words_and_attributes_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_TOKENS", 50)
    for ending in ("bif", "net"):
        with pytest.raises(quia.FormatError, match=r"^f: holds more than 50 words and signs; networks are smaller"):
            read(ending, GRASS[ending])
    many = "".join(f'<!ATTLIST VARIABLE a{i} CDATA "x">' for i in range(xml.MOST_ATTRIBUTES))
    with pytest.raises(quia.FormatError, match="line 6: declares more than 100 attributes; delete the <!DOCTYPE …>"):
        read("bifxml", edited(XMLBIF, "<!ELEMENT NETWORK", many + "<!ELEMENT NETWORK"))


def test_a_document_type_is_read_only_where_it_is_asked_for() -> None:
    text = b'<!DOCTYPE a [<!ELEMENT a ANY><!ATTLIST a b CDATA "by default">]><a c="1">x</a>'
    assert xml.parse(text, document_type=True).elements[0].attributes == {"c": "1"}
    with pytest.raises(quia.FormatError, match="declares 'a' in a document type"):
        xml.parse(text)


def test_blanks_keep_two_pieces_of_text_apart() -> None:
    for between in ("<!-- --> <!-- -->", "<b/> <b/>", " " * 20_000, "<b/>\n"):
        assert xml.parse(f"<a>0.1{between}5</a>".encode()).elements[0].text.split() == ["0.1", "5"]


@pytest.mark.parametrize(
    "text",
    [
        "/" * 50_000,
        '"' * 50_001,
        "property " + '"' * 50_000,
        "/*" * 50_000,
        "//\n" * 50_000,
        "property " * 50_000,
        'property "a\n' * 50_000,
        '"' + '\\"' * 50_000,
        '"' + '\\"' * 50_000 + "\\",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_no_text_is_read_again_and_again(text: str) -> None:
    for ending in ("bif", "net"):
        for before in ("", "network n { }\n" if ending == "bif" else "net { }\n"):
            with pytest.raises(quia.FormatError):
                read(ending, before + text)


def test_long_files_are_read_in_as_much_work_as_they_are_long() -> None:
    def lines(count: int) -> int:
        text = "".join(
            f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }} probability ( v{i} ) {{ table 0.5 0.5; }}\n"
            for i in range(count)
        )
        with counted() as work:
            read("bif", text)
        return work.lines

    assert lines(2_000) < 5 * lines(500)
