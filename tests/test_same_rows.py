"""One reader of rows: every command reads the same rows in the same hostile tables, or says the same of them."""

import argparse
import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import quia
from quia import files
from quia.batch import csv_rows
from quia.batch.question import ask
from quia.batch.read import open_source
from quia.batch.table import FAULT
from quia.cli import main
from quia.command import check, instance, serve
from quia.errors import QuiaError
from quia.rows import open_rows
from quia.tables import read_csv

Row = dict[str, str]
FEATURES = ("a", "b, c")


def classifier() -> quia.DecisionGraph:
    """Which tests both features, and has a state without a name, so that an empty text is not null anywhere."""
    variables = [quia.Variable.nominal(name, ["", "x"]) for name in FEATURES]
    edges = [(), (), ((((0, 0),), 0), (((1, 1),), 1)), ((((0, 0),), 2), (((1, 1),), 1))]
    return quia.DecisionGraph.build(variables, ["no", "yes"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)


def by_explain(file: Path) -> list[Row]:
    found: list[Row] = []
    try:
        while True:
            asked = argparse.Namespace(instance=None, data=str(file), row=len(found) + 1, values=[])
            found.append(instance.read(asked, FEATURES))
    except QuiaError as fault:
        if "has no row " not in str(fault):
            raise
    return found


def by_serve(file: Path) -> list[Row]:
    rows = serve._table(str(file))
    return [rows.row(number) for number in range(1, len(rows.rows) + 1)]


def by_learn(file: Path) -> list[Row]:
    return read_csv(file).records()


def by_check(file: Path) -> list[Row]:
    return check._records(open_rows(file), classifier(), None)


def by_batch(file: Path) -> list[Row]:
    model = classifier()
    source = open_source(str(file), model, ask(model))
    rows = [row for part in source.parts(3) for row in part.rows.to_pylist()]
    if not rows:
        raise open_rows(file).no_rows()  # only a batch of no rows is none of all explained
    if broken := next((row[FAULT] for row in rows if row.get(FAULT)), None):
        raise QuiaError(broken)
    return rows


FRONT_ENDS: dict[str, Callable[[Path], list[Row]]] = {
    "explain": by_explain,
    "serve": by_serve,
    "learn": by_learn,
    "check": by_check,
    "batch": by_batch,
}


def values(rows: list[Row]) -> list[tuple[str, ...]]:
    """What the features are, without the spaces around, which a variable takes or leaves."""
    return [tuple(row[name].strip() for name in FEATURES) for row in rows]


LONG_NAME = '"a, long, name, with, more, commas, than, there, are, semicolons"'
ONE = [("1", "2")]
TWO = [("1", "2"), ("3", "4")]
TABLES: dict[str, tuple[bytes, list[tuple[str, ...]]]] = {
    "plain": (b'a,"b, c"\n1,2\n3,4\n', TWO),
    "semicolons": (b"a;b, c\n1;2\n3;4\n", TWO),
    "tabs": (b"a\tb, c\n1\t2\n3\t4\n", TWO),
    "bars": (b"a|b, c\n1|2\n3|4\n", TWO),
    "commas in quotes": (f'id;{LONG_NAME};a;"b, c"\n0;"x";1;2\n0;y;3;4\n'.encode(), TWO),
    "commas in quotes, by CR": (f'id;{LONG_NAME};a;"b, c"\r0;"x";1;2\r0;y;3;4\r'.encode(), TWO),
    "semicolons below": (b'a,"b, c",d\n1,2,;;;;;\n3,4,"; ; ;"\n', TWO),
    "a name of two lines": (b'"x,\n,,,, y";a;"b, c"\n0;1;2\n0;3;4\n', TWO),
    "a quote in the first name": (b'5" pipe;a;"b, c"\n0;1;2\n0;3;4\n', TWO),
    "spaces beside delimiters": (b'a , "b, c" \n1, 2\n 3 ,4 \n', TWO),
    "spaces in names": (b" a ; b, c \n1;2\n3;4\n", TWO),
    "spaces before quotes": (b'a, "b, c"\n "1", "2"\n3, "4"\n', TWO),
    "spaces after quotes": (b'"a" ,"b, c" \n"1" ,"2" \n3,"4" \n', TWO),
    "spaces before an empty text": (b'a, "b, c"\n1, ""\n', [("1", "")]),
    "doubled quotes": (b'a,"b, c"\n"1 ""x"", y",""""\n', [('1 "x", y', '"')]),
    "quotes within": (b'a,"b, c"\n5" pipe,x""y\n', [('5" pipe', 'x""y')]),
    "lines within": (b'a,"b, c"\n"1\n\n2","3\r\n4"\n', [("1\n\n2", "3\r\n4")]),
    "a mark of the byte order": (b'\xef\xbb\xbfa,"b, c"\n1,2\n', ONE),
    "a mark before a quote": (b'\xef\xbb\xbf"a";"b, c"\n1;2\n', ONE),
    "any letters": ('é,a,"b, c"\n≠,é,∞\n'.encode(), [("é", "∞")]),
    "CR LF": (b'a,"b, c"\r\n1,2\r\n3,4\r\n', TWO),
    "CR": (b'a,"b, c"\r1,2\r3,4\r', TWO),
    "mixed ends": (b'a,"b, c"\r\n1,2\r3,4\n', TWO),
    "no end": (b'a,"b, c"\n1,2\n3,4', TWO),
    "blank lines": (b'\n\r\n\na,"b, c"\n\n1,2\n\n\n3,4\n\n', TWO),
    "gzip": (gzip.compress(b'a,"b, c"\n1,2\n3,4\n'), TWO),
    "gzip in two": (gzip.compress(b'a,"b, c"\n1,') + gzip.compress(b"2\n3,4\n"), TWO),
    "decimal commas": (b'a;"b, c"\n0,5;1,25\n', [("0,5", "1,25")]),
    "an announced delimiter": (b"\xef\xbb\xbfsep=;\r\na;b, c\r\n1;2\r\n3;4\r\n", TWO),
    "an announced delimiter, in quotes": (b'"SEP=|"\na|b, c\n1|2\n3|4', TWO),
    "missing values": (b'a,"b, c"\n?,\n"", ?\n', [("?", ""), ("", "?")]),
    "empty texts": (b'a,"b, c"\n,\n"",""\n', [("", ""), ("", "")]),
    "long values": (b'a,"b, c"\n' + b"x" * 200_000 + b',"' + b"y" * 200_000 + b'"\n', [("x" * 200_000, "y" * 200_000)]),
}


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("block", [16, csv_rows._BLOCK])
def test_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, front_end: str, name: str, block: int) -> None:
    monkeypatch.setattr(csv_rows, "_BLOCK", block)
    content, expected = TABLES[name]
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    assert values(FRONT_ENDS[front_end](file)) == expected


def workbook() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return held.getvalue()


HEAD = b'a,"b, c"\n1,2\n'
NOT_CLOSED = "that is not closed where its value ends; close it, or double it if it belongs to the value"
FAULTS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", ": is empty; its first line must name the columns"),
    "blank": (b"\n \r\n", ": is empty; its first line must name the columns"),
    "names only": (b'a,"b, c"\n', ": has no rows below the names of its columns"),
    "a quote not closed": (HEAD + b'3,"4\n5,6\n', f": has a quote in the row that begins in line 3 {NOT_CLOSED}"),
    "a quote in a quote": (HEAD + b'3,"4 "x" y"\n', f": has a quote in the row that begins in line 3 {NOT_CLOSED}"),
    "text after a quote": (HEAD + b'"3"x,4\n', f": has a quote in the row that begins in line 3 {NOT_CLOSED}"),
    "text after an empty one": (HEAD + b'""x,4\n', f": has a quote in the row that begins in line 3 {NOT_CLOSED}"),
    "too few": (HEAD + b"3\n5,6\n", ", line 3: row 2 has 1 values and there are 2 columns"),
    "too many": (HEAD + b"\n3,4,5\n5,6\n", ", line 4: row 2 has 3 values and there are 2 columns"),
    "a blank line of spaces": (HEAD + b" \n5,6\n", ", line 3: row 2 has 1 values and there are 2 columns"),
    "cut off": (HEAD + b"3,4\n5", ": is cut off: its last line, '5', has 1 of 2 values; give the whole file"),
    "twice": (b'a,"b, c",a\n1,2,3\n', ", line 1: has two columns called 'a'; rename one"),
    "twice but for spaces": (b' a;"b, c";a \n1;2;3\n', ", line 1: has two columns called 'a'; rename one"),
    "Latin-1": (HEAD + b"\xe9,2\n", ", line 3: is not UTF-8 text; save it as UTF-8"),
    "Latin-1, not needed": (b'x,a,"b, c"\r\n\xe9,1,2\r\n', ", line 2: is not UTF-8 text; save it as UTF-8"),
    "Latin-1 names": (b'\xe9,a,"b, c"\n0,1,2\n', ", line 1: is not UTF-8 text; save it as UTF-8"),
    "half a letter": (HEAD + b"3,\xe2\x89", ", line 3: is not UTF-8 text; save it as UTF-8"),
    "UTF-16": (HEAD.decode().encode("utf-16"), ": is not UTF-8 text; save it as UTF-8"),
    "UTF-16 without a mark": (
        HEAD.decode().encode("utf-16-le"),
        ", line 1: has a NUL character, so it is no CSV; save it as CSV in UTF-8",
    ),
    "NUL": (HEAD + b"\0,2\n", ", line 3: has a NUL character, so it is no CSV; save it as CSV in UTF-8"),
    "a workbook": (workbook(), ": is an Excel workbook; save the sheet as CSV"),
    "torn gzip": (
        gzip.compress(HEAD)[:-9],
        ": cannot be read: Compressed file ended before the end-of-stream marker was reached",
    ),
}


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("block", [16, csv_rows._BLOCK])
def test_the_same_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, front_end: str, name: str, block: int
) -> None:
    monkeypatch.setattr(csv_rows, "_BLOCK", block)
    content, sentence = FAULTS[name]
    file = tmp_path / "t.csv"
    file.write_bytes(content)
    with pytest.raises(QuiaError) as caught:
        FRONT_ENDS[front_end](file)
    said = str(caught.value)
    if front_end == "batch" and " values and there are " in sentence:  # in the row's own place, so that others go on
        assert said.startswith(f"{sentence.partition(': ')[2]}: ")
    else:
        assert said.removeprefix(f"{tmp_path}/") == f"t.csv{sentence}"


HEADERS = [
    'id;"a, b, c, d, e, f, g, h";SAT;said',
    'id, "a, b", SAT, said',
    "id,x, SAT ,said ",
    "id\tx\tSAT\tsaid",
]


@pytest.mark.parametrize("header", HEADERS)
def test_what_is_learned_from_is_explained(
    tmp_path: Path, header: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands themselves, on one table."""
    monkeypatch.chdir(tmp_path)
    delimiter = next(one for one in (";", "\t", ", ", ",") if one in header)
    rows = [delimiter.join(["x", "y", str(n % 2), "yes" if n % 2 else "no"]) for n in range(40)]
    Path("t.csv").write_text("\n".join([header, *rows, ""]))
    for command in (
        "learn t.csv -o m.json --min-rows 1",
        "explain m.json --data t.csv --row 7",
        "report m.json --data t.csv --row 7 -o r.html",
        "check m.json --data t.csv --predicted said",
        "batch m.json t.csv -o o.csv --id id",
    ):
        assert main(command.split()) == 0, (command, capsys.readouterr().err)
    assert [row.rpartition(",")[2] for row in Path("o.csv").read_text().splitlines()[1:]]
    assert serve._table("t.csv").row(7)["SAT"].strip() == "0"


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_large_file_that_is_torn(tmp_path: Path, front_end: str) -> None:
    """Far behind its head, where Arrow is at work."""
    file = tmp_path / "t.csv.gz"
    whole = gzip.compress(HEAD + "".join(f"{n},{n * n}\n" for n in range(40_000)).encode())
    file.write_bytes(whole[: len(whole) * 9 // 10])
    last = argparse.Namespace(instance=None, data=str(file), row=10**9, values=[])
    read = FRONT_ENDS[front_end] if front_end != "explain" else lambda _: instance.read(last, FEATURES)
    with pytest.raises(QuiaError, match="cannot be read: Compressed file ended before the end-of-stream marker"):
        read(file)


def test_columns_that_no_one_needs_may_be_called_alike(tmp_path: Path) -> None:
    """As may be those without a name, such as pandas' index; but learning needs every column, and so does the page."""
    file = tmp_path / "t.csv"
    file.write_bytes(b',z,z,a,"b, c"\n0,5,6,1,2\n')
    for front_end in ("explain", "check", "batch"):
        assert values(FRONT_ENDS[front_end](file)) == ONE
    for front_end in ("learn", "serve"):
        with pytest.raises(QuiaError, match="has two columns called 'z'"):
            FRONT_ENDS[front_end](file)
    file.write_bytes(b',a,"b, c"\n0,1,2\n')
    assert values(by_serve(file)) == ONE
    with pytest.raises(QuiaError, match="line 1: has a column without a name, number 1; name it, or leave it out"):
        by_learn(file)


def test_states_with_spaces_keep_them(tmp_path: Path) -> None:
    """A model of a table that was read with its spaces has them in its names."""
    variables = [quia.Variable.nominal(" a", [" x", "x"])]
    model = quia.DecisionGraph.build(
        variables, ["no", "yes"], [-1, -1, 0], [0, 1, -1], [(), (), ((((0, 0),), 0), (((1, 1),), 1))]
    )
    file = tmp_path / "t.csv"
    for head in (b"id, a", b"id,a"):
        file.write_bytes(head + b"\n1, x\n2,x\n3,x \n")
        rows = check._records(open_rows(file), model, None)
        assert [model.classify(row) for row in rows] == ["no", "yes", "yes"]
        source = open_source(str(file), model, ask(model))
        assert [row for part in source.parts(9) for row in part.rows.column(" a").to_pylist()] == [" x", "x", "x "]
        asked = argparse.Namespace(instance=None, data=str(file), row=1, values=[])
        assert model.classify(instance.read(asked, [" a"])) == "no"


@pytest.mark.parametrize("front_end", ["explain", "serve", "learn", "check"])
def test_a_table_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, front_end: str
) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 200_000)
    file = tmp_path / "t.csv.gz"
    last = argparse.Namespace(instance=None, data=str(file), row=10**9, values=[])
    read = FRONT_ENDS[front_end] if front_end != "explain" else lambda _: instance.read(last, FEATURES)
    for content in (b"1,2\n" * 1_000_000, b"1" * 4_000_000):
        file.write_bytes(gzip.compress(HEAD + content))
        with pytest.raises(QuiaError, match="unpacks to more than 200000 bytes; if it is what it should be, unpack it"):
            read(file)


def test_arrow_reads_the_rows_of_every_other_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random texts, in blocks of any size: the same values, or the same fault."""
    rng = random.Random(7)
    file = tmp_path / "t.csv"
    letters = ['"', '"', '""', ",", ",", "\n", "\r", "\r\n", "x", "y z", " ", "é", '","', '"\n"', "\0"]
    weights = [3] * 14 + [0.1]
    sound = broken = by_arrow = 0
    for _ in range(3000):
        rows = ["x,y", '"a b","c ""d"""', '5" pipe,', "1,2", '"a\nb",é', "", '"","z, z"', "only", *["7,8"] * 4]
        text = "\n".join(["a,b", *rng.choices(rows, k=rng.randint(0, 9)), ""])
        if rng.random() < 0.6:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + "".join(rng.choices(letters, weights, k=rng.randint(1, 4))) + text[at:]
        file.write_bytes(text.encode())
        monkeypatch.setattr(csv_rows, "_BLOCK", rng.choice([7, 20, 64, 2**20]))
        slow, fast = _outcome(lambda: _rows(file)), _outcome(lambda: _batches(file))
        assert fast == slow, text
        sound, broken = sound + isinstance(slow, list), broken + isinstance(slow, str)
        by_arrow += _reads_by_arrow(file, monkeypatch) == slow
    assert (sound > 1000, broken > 300, by_arrow > 500) == (True, True, True), (sound, broken, by_arrow)


def _outcome(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except QuiaError as fault:
        return str(fault)


def _rows(file: Path) -> list[list[str | None]]:
    table = open_rows(file)
    return [[text or None for text in row] if len(row) == len(table.names) else ["ragged"] for _, row in table]


def _batches(file: Path) -> list[list[str | None]]:
    table = open_rows(file, bounded=False)
    columns = {f"{place}": place for place in range(len(table.names))}
    rows = [row for batch in csv_rows.batches(table, columns) for row in batch.to_pylist()]
    return [["ragged"] if row.pop(FAULT, None) else list(row.values()) for row in rows]


def _reads_by_arrow(file: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is read without the slow reader, so that the comparison is known to be one."""
    with monkeypatch.context() as only:
        only.setattr(csv_rows, "_by_rows", lambda *_, **__: iter([]))
        return _outcome(lambda: _batches(file))
