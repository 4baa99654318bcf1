"""The page and the text of an audit: they say what the document says, each share of how much, and escape everything."""

import base64
import hashlib
import html
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal

import pytest

import audit_documents
from audit_documents import HIGH, HOSTILE, LOW, adult, large, small
from quia.auditing.document import Document, Example, GroupHanging, Hanging, Proof, Share
from quia.show.audit import page, text

DOCUMENTS = [adult, small, large]
FIGURE = re.compile(r"([\d,]+) of ([\d,]+) \(((?:[<>] )?[\d.]+) %\)")

every_document = pytest.mark.parametrize("make", DOCUMENTS, ids=lambda make: str(make.__name__))


def text_of(markup: str) -> str:
    """What is read on a page: without its head, and with a space where an element that is no part of a line ends."""
    body = re.sub(r"^.*?<body", "<body", markup, flags=re.DOTALL)
    body = body.replace('<span class="said">', " ")  # a column of its own
    body = re.sub(r"</?(a|b|span|mark|strong|svg|rect|code|time)\b[^>]*>", "", body)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body)))


def part(source: str, name: str) -> str:
    found = re.search(rf'<section class="part {name}".*?</section>', source, re.DOTALL)
    assert found, name
    return text_of(f"<body>{found[0]}")


def headings(source: str) -> list[str]:
    return [text_of(f"<body>{each}").strip() for each in re.findall(r"<h2>.*?</h2>", source)]


def test_the_parts_and_their_order() -> None:
    every = ["Identity", "Decisions", "Rules", "Features", "Protected features", "Monotonicity", "Two models"]
    assert headings(page(adult())) == headings(page(large())) == [*every, "Check it yourself"]
    assert headings(page(small())) == [*every[:4], "Check it yourself"]
    for make in DOCUMENTS:
        source = page(make())
        links = re.findall(r'href="#(\w+)"', source)
        assert links == re.findall(r'<section class="part \w+" id="(\w+)"', source)


def check_shares(said: str) -> int:
    """Every percentage is right, and says of how many it is a share; how many there are."""
    left = FIGURE.sub("", said).replace("rules cover 90 % of each class", "")
    assert "%" not in left, left[max(left.find("%") - 60, 0) :][:80]
    for rows, of, share in FIGURE.findall(said):
        one, all_of = (int(number.replace(",", "")) for number in (rows, of))
        assert 0 <= one <= all_of
        exact = Decimal(100 * one) / all_of
        if share == "< 0.1":
            assert 0 < exact < Decimal("0.1")
        elif share == "> 99.9":
            assert Decimal("99.9") < exact < 100
        else:
            assert abs(exact - Decimal(share)) <= Decimal("0.0501"), (rows, of, share)
            assert (share in ("0", "100")) == (one in (0, all_of))
    return len(FIGURE.findall(said))


@every_document
def test_every_share_says_of_how_many(make: Callable[[], Document]) -> None:
    document = make()
    assert check_shares(text_of(page(document))) > (10 if make is small else 100)
    assert check_shares(" ".join(text(document).split()))


@every_document
def test_whatever_is_given_is_escaped_and_nothing_runs(make: Callable[[], Document]) -> None:
    source = page(make())
    assert "<script" not in source
    assert not re.search(r"\son\w+=|\sstyle=|\ssrc=|https?://|@import|url\(", source)
    style = re.search(r"<style>(.*?)</style>", source, re.DOTALL)
    assert style
    checksum = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = html.unescape(re.search(r'Content-Security-Policy" content="(.*?)"', source)[1])  # type: ignore[index]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{checksum}'; script-src 'none'; base-uri 'none'; form-action 'none'"
    )
    if make is large:
        assert source.count(html.escape(HOSTILE, quote=False)) > 100


@every_document
def test_what_is_not_known_is_said_and_never_none(make: Callable[[], Document]) -> None:
    document = make()
    for said in (text_of(page(document)), text(document)):
        assert not re.search(r"\bNone\b|\bnan\b|\bTrue\b|\bFalse\b", said)
    for each in document.unfinished[:20]:
        assert each in part(page(document), "check")
    if make is large:
        assert part(page(document), "features").count("not known: time ran out <i>") == 20
        assert "… 5 more: see the JSON" not in part(page(document), "identity")


def rows_said(numbers: Iterable[int]) -> set[str]:
    return {f"{number:,}" for number in numbers}


def said_in(source: str, name: str) -> set[str]:
    return set(re.findall(r"\d[\d,]*\d|\d", part(source, name)))


def test_the_parts_have_the_documents_numbers() -> None:
    document, source = adult(), page(adult())
    found = document.decisions
    assert rows_said([found.rows, found.decided, *(each.rows for each in found.classes)]) <= said_in(
        source, "decisions"
    )
    assert found.labels is not None
    counts = [count for each in found.labels.confusion for count in (each.rows, *each.decided.values())]
    assert rows_said([found.labels.right, *counts]) <= said_in(source, "decisions")
    for rules in document.rules:
        numbers = [n for rule in rules.rules for n in (rule.rows, rule.cumulated, rule.example.row)]
        assert rows_said([rules.of, rules.wanted, rules.covered, rules.explained, *numbers]) <= said_in(source, "rules")
    shares = [share for each in document.features if each.matters for share in (each.alone, each.shortest) if share]
    assert rows_said(share.rows for share in shares) <= said_in(source, "features")
    for protected in document.protected:
        hanging = protected.hanging
        assert hanging is not None
        numbers = [hanging.rows, *(turn.rows for turn in hanging.turns)]
        numbers += [n for each in protected.groups for n in (*each.decided.values(), each.right or 0)]
        numbers += [n for each in hanging.groups for n in (each.rows, *each.better.values()) if hanging.rows and n]
        assert rows_said(numbers) <= said_in(source, "protected")
    assert document.comparison is not None
    turns = [turn.rows for turn in document.comparison.turns]
    groups = [each.rows for each in document.comparison.groups]
    assert rows_said([document.comparison.rows, *turns, *groups]) <= said_in(source, "compared")


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("decisions", ["34,630 of 37,121", "5,080 of 11,669", "41,219 of 48,790", "52 of 48,842", "39,710 of 48,790"]),
        ("rules", ["8,153 of 39,710", "together 23,826 of 39,710", "2,027 of 9,080", "together 5,448 of 9,080"]),
        ("features", ["9,107 of 48,790", "18,214 of 48,790", "3 of 14 features"]),
        ("protected", ["640 of 16,176", "Male: 610 of 16,176", "14,739 of 16,176", "789 of 1,769", "702 of 48,790"]),
        ("protected", [">50K 7,834 of 32,614", "1,575 of 48,790", "For 52 of 48,790", "63 of 1,180", "950 of 1,550"]),
        ("compared", ["312 of 48,790", "210 of 48,790", "40 of 16,176", "90 of 312", "together 120 of 312"]),
    ],
)
def test_shares_are_of_what_they_should_be(name: str, shares: list[str]) -> None:
    """By hand: of all rows, of those with a decision, with that decision, in that group, or decided differently."""
    said = part(page(adult()), name)
    assert [share for share in shares if share not in said] == []


def test_the_identity_has_all_that_it_takes_to_make_it_again() -> None:
    document, said = adult(), part(page(adult()), "identity")
    of = document.identity
    assert of.compared is not None and of.model.file and of.data.file and of.compared.file
    for file in (of.model.file, of.data.file, of.compared.file):
        assert {file.name, file.path, file.sha256, f"{file.bytes:,}"} <= {
            *re.split(r"[\s(),]+", said),
            f"{file.bytes:,}",
        }
    for fact in (
        of.case,
        of.command,
        of.made.replace("T", " "),
        of.quia,
        "decision tree",
        "907 nodes",
        "time limit 600 s",
    ):
        assert fact is not None and fact in said
    for setting in ("label income", "protected sex and race", f"favourable, the best first: {HIGH}", "48,842 rows"):
        assert setting in said


def test_rules_are_shown_to_ten_and_folded_then() -> None:
    source = page(adult())
    rules = re.search(r'<section class="part rules".*?</section>', source, re.DOTALL)[0]  # type: ignore[index]
    lists = [re.findall(r'<p class="if">', each) for each in re.findall(r'<ol class="rules".*?</ol>', rules, re.DOTALL)]
    assert [len(each) for each in lists] == [10, 2, 10, 8]
    assert '<ol class="rules" start="11">' in rules
    assert re.findall(r'<p class="printed">(.*?)</p>', rules) == [
        "… 2 more rules: see the JSON",
        "… 8 more rules: see the JSON",
    ]
    said = part(source, "rules")
    assert "capital-gain ≤ 5095.5, education-num ≤ 8 and relationship Wife" in said
    assert "education-num > 12, age > 33 and ≤ 61, and marital-status Married-AF-spouse" in said
    assert "Time ran out before they covered what was wanted." in said


def test_pairs_mark_what_differs_and_only_that() -> None:
    source = page(adult())
    pairs = re.findall(r'<table class="pair">.*?</table>', source, re.DOTALL)
    assert len(pairs) == 2 + 1 + 3  # the two inputs of sex, and of both; worst cases
    for each in pairs:
        marked = re.findall(r'<th scope="row">([^<]*)</th><td><mark>([^<]*)</mark></td><td><mark>([^<]*)</mark>', each)
        assert marked in ([("sex", "Female", "Male")], [("race", "Black", "White"), ("sex", "Female", "Male")])
        assert "native-country missing" in each and "<mark>missing" not in each


def test_proofs_and_witnesses_are_told_apart() -> None:
    document, source = adult(), page(adult())
    assert "Proved: no decision, on any input, depends on race." in part(source, "protected")
    said = part(source, "monotonicity")
    assert document.monotonicity is not None
    proofs = [proof for each in document.monotonicity.features for proof in (each.hurts, each.helps)]
    assert said.count("never: proved") == sum(proof.can is False for proof in proofs)
    assert said.count("yes: at") == sum(proof.can is True for proof in proofs)
    assert said.count("not known: time ran out") == sum(proof.can is None for proof in proofs)
    assert f"at 30 {HIGH}, at 31 {LOW}" in said
    assert "native-country, race" not in part(source, "features")  # in the order of the document
    assert "depends on fnlwgt, race, native-country (3 of 14 features)" in part(source, "features")


def test_two_models_that_are_equivalent_or_not_known_to_be() -> None:
    document = adult()
    assert document.comparison is not None
    alike = replace(document.comparison, rows=0, turns=(), groups=(), can_differ=False, witness=None, differences=())
    said = part(page(replace(document, comparison=alike)), "compared")
    assert "Proved equivalent: both decide alike on every input." in said
    assert "Two models: equivalent" in text(replace(document, comparison=alike))
    assert "not known: time ran out <i>" in part(page(large()), "compared")


@pytest.mark.parametrize(
    ("hurts", "figure"),
    [
        ([False, False], "Where more hurts: none\n"),
        ([False, None], "Where more hurts: none found\n"),
        ([None, None], "Where more hurts: not known\n"),
        ([True, None], "Where more hurts: 1 of 2 features\n"),
    ],
)
def test_what_was_not_found_is_not_said_to_be_none(hurts: list[bool | None], figure: str) -> None:
    document = adult()
    assert document.monotonicity is not None
    found = zip(document.monotonicity.features, hurts, strict=False)
    features = tuple(replace(each, hurts=Proof(can, each.hurts.pair)) for each, can in found)
    assert figure in text(replace(document, monotonicity=replace(document.monotonicity, features=features)))


def test_protected_features_that_nothing_depends_on_or_that_the_model_does_not_test() -> None:
    document = adult()
    free = replace(document, protected=document.protected[1:2])
    assert "No decision of the model can depend on race: proved" in text(free)
    outside = replace(document.protected[0], in_model=(), hanging=None, depends=Proof(False), features=("religion",))
    said = part(page(replace(document, protected=(outside,))), "protected")
    assert "The model does not test religion, so no decision hangs on that." in said
    assert "not known" not in said


@every_document
def test_the_text_fits_a_terminal(make: Callable[[], Document]) -> None:
    said = text(make())
    assert max(map(len, said.splitlines())) <= 80
    assert "\n\n\n" not in said and not said.endswith("\n")
    assert len(said.splitlines()) <= (40 if make is adult else 60)


def test_the_text_has_what_matters_first() -> None:
    said = " ".join(text(adult()).split())
    for fact in (
        "tree.j48.txt decided 48,790 of 48,842 (99.9 %) rows of rows.csv.gz",
        "1,575 of 48,790 (3.2 %) decisions hang on sex or race",
        "More of age or capital-loss can make a decision worse",
        "312 of 48,790 (0.6 %) rows are decided differently by tree-2.j48.txt",
        "whether raising hours-per-week can ever help",
        "Proved not to matter: fnlwgt, race and native-country",
    ):
        assert fact in said


def test_names_cannot_steer_a_terminal() -> None:
    document = adult()
    assert document.identity.model.file is not None
    file = replace(document.identity.model.file, name="\x1b[31mred\x07\nline")
    made = replace(document, identity=replace(document.identity, model=replace(document.identity.model, file=file)))
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", text(made))
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", page(made))


def test_what_is_possible_is_told() -> None:
    settings = replace(adult().identity.settings, within={"age": "> 17"}, given=("sex=Male -> relationship≠Wife",))
    document = replace(adult(), identity=replace(adult().identity, settings=settings))
    said = "Only what is possible counts: age > 17; sex=Male -> relationship≠Wife."
    assert said in text_of(page(document)) and said in " ".join(text(document).split())


def test_each_class_has_one_colour() -> None:
    """Of the favourable class it is the first, in charts and beside names alike."""
    source = page(adult())
    chips = re.findall(r'<rect class="share k(\d)"[^>]*/></svg>([^<]+)</span>', source)
    assert {(html.unescape(name), colour) for colour, name in chips} == {(HIGH, "0"), (LOW, "1")}


def test_charts_have_text_equivalents() -> None:
    for make in DOCUMENTS:
        for drawn in re.findall(r"<svg[^>]*>", page(make())):
            assert 'aria-hidden="true"' in drawn or 'role="img" aria-label="' in drawn
    chart = re.search(r'aria-label="(Decisions on Female:[^"]*)"', page(adult()))
    assert chart
    female = audit_documents.FEMALE
    assert html.unescape(chart[1]) == (
        f"Decisions on Female: {LOW} {female.decided[LOW]:,} of 16,176 (92.3 %), {HIGH} 1,246 of 16,176 (7.7 %)"
    )


def both(document: Document) -> tuple[str, str]:
    """What is read on the page, and in a terminal."""
    return text_of(page(document)), " ".join(text(document).split())


def hanging_on(rows: int, of: int, groups: tuple[GroupHanging, ...] = ()) -> Document:
    """The adult document with sex alone protected, and so many of so many decisions that hang on it."""
    sex = replace(adult().protected[0], hanging=Hanging(rows, of, 0, (), groups), worst=())
    return replace(adult(), protected=(sex,))


def test_nothing_is_counted_of_no_rows() -> None:
    unseen = "not known: time ran out before any row was looked at"
    features = tuple(replace(each, alone=Share(0, 0), shortest=Share(0, 0)) for each in adult().features)
    rules = tuple(replace(each, covered=0, complete=False, rules=()) for each in adult().rules)
    document = replace(hanging_on(0, 0), features=features, rules=rules)
    for said in both(document):
        assert f"hang on sex is {unseen}" in said
        assert "0 of 0" not in said and "0 rules" not in said
    assert "Protected features: not known" in text(document)
    assert f"{LOW}: no rule was found in time (of 39,710 rows)" in text(document)
    assert part(page(document), "features").count(unseen) == 2 * sum(bool(each.matters) for each in features)
    assert part(page(document), "rules").count("No rule was found in time") == 2
    undecided = replace(document, decisions=replace(document.decisions, decided=0, classes=(), labels=None))
    assert "hang on sex is not known: no row has a decision." in both(undecided)[1]


def test_a_part_of_the_rows_is_said_to_be_one() -> None:
    groups = (GroupHanging("Female", 300, 1_200, {"Male": 290}), GroupHanging("Male", 106, 2_383, {"Female": 0}))
    features = tuple(replace(each, alone=Share(7, 3_583)) for each in adult().features)
    page_said, text_said = both(replace(hanging_on(406, 3_583, groups), features=features))
    partly = "rows that were looked at (of"
    assert f"Protected features: 406 of the 3,583 {partly} 48,790) have a decision that hangs on sex" in text_said
    assert f"Female: 300 of the 1,200 {partly} 16,176); better as Male: 290 of the 1,200 {partly} 16,176)" in text_said
    for said in (
        f"406 of the 3,583 {partly} 48,790)",
        f"106 of the 2,383 {partly}",
        f"7 of the 3,583 {partly} 48,790)",
    ):
        assert said in page_said
    assert "looked at" not in "".join(both(adult()))


def test_models_of_which_no_row_can_be_compared() -> None:
    found = adult().comparison
    assert found is not None
    region = replace(found.differences[0], rows=0, new_rows=0, cumulated=0, example=Example(0, audit_documents.PERSON))
    lacks = "No row can be compared: the table has no column fnlwgt."
    none = replace(found, of=0, rows=0, turns=(), inputs=(*found.inputs, lacks), differences=(region,))
    document = replace(adult(), comparison=replace(none, groups=tuple(replace(g, rows=0, of=0) for g in found.groups)))
    for said in both(document):
        assert "No row could be compared: the table has no column fnlwgt." in said
        assert "0 of 0" not in said and lacks not in said
    compared = part(page(document), "compared")
    assert "example: an input that is not in the table" in compared
    assert "row 0" not in compared and "0 rows" not in compared
    assert "The new model does not test fnlwgt." in compared


def test_nothing_hangs_on_features_that_the_model_does_not_test() -> None:
    sex = replace(adult().protected[0], features=("sex", "religion"))
    for said in both(replace(adult(), protected=(sex,))):
        assert "hang on sex: they" in said and "sex or religion" not in said
        assert "The model does not test religion" in said
    assert both(replace(adult(), protected=(sex,)))[1].count("religion") == 1


def test_long_names_of_groups_are_told_apart() -> None:
    """Whether they differ at their ends or in the midst of what would be cut."""
    first = adult().protected[2]
    for ends in (("old", "young"), ("old" + "z" * 90, "new" + "z" * 90)):
        names = [f"{'a group that begins as the other one does, ' * 2}{end}" for end in ends]
        groups = tuple(replace(group, name=name) for group, name in zip(first.groups, names, strict=False))
        hanging = replace(
            first.hanging or Hanging(0, 0, 0, (), ()),
            groups=tuple(GroupHanging(name, 9, 900, {names[0]: 1}) for name in names),
        )
        document = replace(adult(), protected=(replace(first, groups=groups, hanging=hanging),))
        told = re.findall(r"  (a group.*?): 9 of", " ".join(text(document).split("\n")))
        assert len(set(told)) == 2
        shown = re.findall(r'<th scope="row" role="rowheader">(a group[^<]*)</th>', page(document))
        assert len(set(shown)) == 2


def test_the_text_says_which_class_is_favourable() -> None:
    document = adult()
    assert f"\nFavourable: {HIGH}\n" in text(document)
    assert "\nFavourable: class 6 (assumed: the last class; say --favourable)\n" in text(large())
    unasked = replace(document, identity=replace(document.identity, settings=small().identity.settings))
    assert f"\nFavourable: {HIGH} (assumed" in text(replace(unasked, monotonicity=None))
    assert "Favourable" not in text(small())


def with_possible(document: Document) -> Document:
    settings = replace(document.identity.settings, within={"age": "> 17"})
    return replace(document, identity=replace(document.identity, settings=settings))


def test_what_is_proved_of_all_features_is_said_so() -> None:
    document = adult()
    assert document.monotonicity is not None
    features = tuple(replace(each, hurts=Proof(False)) for each in document.monotonicity.features[:5])
    document = replace(document, monotonicity=replace(document.monotonicity, features=features))
    never = "More of a feature never makes a decision worse: proved for all 5 features"
    assert all(f"{never}." in said for said in both(document))
    assert all(
        f"{never}, and every input that is possible (see Settings)." in said for said in both(with_possible(document))
    )


def test_proofs_are_of_what_is_possible() -> None:
    race = replace(adult(), protected=adult().protected[1:2])
    comparison = race.comparison
    assert comparison is not None
    alike = replace(comparison, rows=0, turns=(), groups=(), can_differ=False, witness=None, differences=())
    document = with_possible(replace(race, comparison=alike))
    for said in both(document):
        assert "proved for every input that is possible (see Settings)" in said
        assert not re.search(r"(every|any) input(?! that is possible \(see Settings\)| whatever)", said)
    assert "see Settings" not in "".join(both(race))
    assert "Settings" in part(page(document), "identity")


def test_why_something_is_proved_is_said_beside_it() -> None:
    why = "what is possible leaves race one value only"
    document = replace(adult(), protected=(replace(adult().protected[1], depends=Proof(False, None, why)),))
    assert document.monotonicity is not None
    features = tuple(replace(each, hurts=Proof(False, None, why)) for each in document.monotonicity.features)
    document = replace(document, monotonicity=replace(document.monotonicity, features=features))
    source = page(document)
    assert f"Proved: no decision, on any input, depends on race: {why}." in part(source, "protected")
    assert part(source, "monotonicity").count(f"never: proved: {why}") == len(features)
    assert f"proved for every input: {why}." in both(document)[1]
    assert why not in part(source, "check").split("What is not known")[1]


def test_one_is_no_plural() -> None:
    whole = small()
    model = replace(whole.identity.model, sizes={"nodes": 1, "leaves": 1})
    rules = tuple(replace(each, rules=tuple(replace(r, rows=1) for r in each.rules)) for each in whole.rules)
    document = replace(whole, identity=replace(whole.identity, model=model), rules=rules)
    comparison = adult().comparison
    assert comparison is not None
    document = replace(
        document, comparison=replace(comparison, undecided=1, rows=1, differences=comparison.differences)
    )
    for said in both(document):
        assert not re.search(r"(?<![\d,])1 (rows|rules|nodes|leaves|features)\b", said)
    assert "1 node, 1 leaf" in part(page(document), "identity")
    assert "1 row: GPA=high" in text(document)
    assert "1 row left out: one or both do not decide it." in part(page(document), "compared")


def test_notes_on_the_model_are_shown_in_its_identity() -> None:
    note = "What is proved holds for age from 17 to 90 and hours-per-week from 1 to 99."
    document = adult()
    model = replace(document.identity.model, notes=(note,))
    assert note in part(page(replace(document, identity=replace(document.identity, model=model))), "identity")


def test_the_command_says_which_file_it_takes() -> None:
    assert "the file that --json wrote" in part(page(adult()), "check")


def test_rates_of_the_favourable_class_beside_the_highest() -> None:
    """By hand: 1,246 of 16,176 women and 7,834 of 32,614 men; 0.0770 is 0.32 of 0.2402."""
    said = part(page(adult()), "protected")
    assert f"Rate of {HIGH}, of the highest" in said
    assert "1,246 of 16,176 (7.7 %); 0.32 of the highest" in said
    assert "7,834 of 32,614 (24.0 %); the highest" in said
    assert "few rows" not in said
    sex = adult().protected[0]
    for rows, mark in ((29, "; few rows"), (30, "")):
        few = replace(sex.groups[0], decided={LOW: rows - 1, HIGH: 1}, rows=rows)
        none = replace(sex.groups[0], name="nobody", decided={}, rows=0)
        document = replace(adult(), protected=(replace(sex, groups=(few, sex.groups[1], none)),))
        cells = re.findall(r'<td[^>]*data-label="Rate of[^>]*><div>([^<]*)<', page(document))
        assert re.fullmatch(rf"1 of {rows} \(3\.[34] %\); 0\.14 of the highest{mark}", cells[0])
        assert cells[1:] == ["7,834 of 32,614 (24.0 %); the highest", "no decisions"]
