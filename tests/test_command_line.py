"""The command line as scripts and people use it."""

import gzip
import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from quia.cli import main

JOBS = ("none", "temporary", "permanent")
APPLICANT = ["SAT=1400", "GPA=medium", "Essay=fail", "Interview=fail"]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:  # argparse
        code = int(stop.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def model(examples: Path) -> Path:
    return examples / "admissions.json"


def settings(values: list[str] = APPLICANT) -> list[str]:
    return [part for value in values for part in ("--set", value)]


def test_explain_reads_well(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    code, out, err = run(capsys, "explain", model, *settings())
    assert (code, err) == (0, "")
    assert "Decision: Reject" in out
    assert "Reject because Essay=fail and Interview=fail, whatever the rest" in out
    assert "Reject because SAT < 1450 and GPA ≠ high and Interview=fail, whatever the rest" in out
    assert "would change with: SAT >= 1450 and Essay=pass" in out
    assert "with Interview=pass (now fail): Accept" in out
    assert "\x1b" not in out, "colour only on a terminal"


def test_three_ways_to_name_the_instance(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    whole = {"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}
    (tmp_path / "i.json").write_text(json.dumps(whole))
    (tmp_path / "t.csv").write_text("GPA;SAT;Essay;Interview\nhigh;1;pass;pass\nmedium;1400;fail;fail\n")
    with gzip.open(tmp_path / "t.csv.gz", "wt") as packed:
        packed.write("id,GPA,SAT,Essay,Interview\n7,medium,1400,fail,fail\n")
    wanted = run(capsys, "explain", model, "--json", *settings())[1].replace('"1400"', "1400")
    for way in (
        ["--instance", tmp_path / "i.json"],
        ["--data", tmp_path / "t.csv", "--row", "2"],
        ["--data", tmp_path / "t.csv.gz", "--row", "1"],
        ["--data", tmp_path / "t.csv", "--row", "1", *settings()],
    ):
        code, out, err = run(capsys, "explain", model, "--json", *way)
        assert (code, err) == (0, "")
        assert json.loads(out.replace('"1400"', "1400")) == json.loads(wanted)


def test_the_question_is_passed_on(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    options = ["--against", "Accept", "--frozen", "Interview", "--cost", "GPA=3", "--shortest", "--protected", "SAT"]
    code, out, _ = run(capsys, "explain", model, "--json", *settings(), *options)
    answer = json.loads(out)
    assert code == 0
    assert answer["against"] == "Accept"
    [reason] = answer["necessary"]["reasons"]
    assert reason["states"] == {"SAT": "< 1450", "Essay": "fail"}
    assert [condition["text"] for condition in reason["changes"]] == [">= 1450", "pass"]
    assert answer["bias"]["biased"] is False
    code, out, _ = run(capsys, "explain", model, *settings(), "--limit", "1")
    assert "Necessary reasons over 3 sets of features: the first 1\n" in out
    code, out, _ = run(capsys, "explain", model, *settings(), "--limit", "1", "--states")
    assert "3 necessary reasons, the first 1 of them\n" in out
    code, out, _ = run(capsys, "explain", model, *settings(), "--all")
    assert out.count("would change with") == 3


def test_reasons_by_states_or_in_sets(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    code, out, _ = run(capsys, "explain", model, *settings(), "--states")
    assert code == 0
    assert "Reject because SAT < 1450 and GPA=medium and Interview=fail, whatever the rest" in out
    assert "could change with: Interview ≠ fail" in out
    assert "with Interview=pass (now fail): Accept" in out
    code, out, _ = run(capsys, "explain", model, *settings(), "--states", "--json")
    assert (code, json.loads(out)["general"]) == (0, False)
    code, out, _ = run(capsys, "explain", model, *settings(), "--sets")
    assert (code, out) == run(capsys, "explain", model, *settings())[:2], "no number here has a gap"
    code, _, err = run(capsys, "explain", model, *settings(), "--states", "--sets")
    assert code == 2
    assert "not allowed with" in err


def test_sets_with_gaps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    nodes = {
        "x": {"test": "x", "edges": [{"if": ["<= 1", "> 5"], "to": "yes"}, {"if": "(1, 5]", "to": "no"}]},
        "yes": {"class": "yes"},
        "no": {"class": "no"},
    }
    graph = {"quia": 1, "variables": {"x": {"kind": "numeric"}}, "classes": ["yes", "no"], "root": "x", "nodes": nodes}
    (tmp_path / "gap.json").write_text(json.dumps(graph))
    asked = ["explain", tmp_path / "gap.json", "--set", "x=0"]
    assert "yes because x <= 1, whatever the rest" in run(capsys, *asked)[1]
    assert "yes because x <= 1 or > 5, whatever the rest" in run(capsys, *asked, "--sets")[1]


def test_a_reference_table(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text(
        "id,SAT,GPA,Essay,Interview\n1,1400,low,pass,fail\n2,1400,medium,fail,fail\n3,1500,high,fail,pass\n4,,low,,\n"
    )
    asked = ["explain", model, "--data", table, "--row", "2", "--reference", table]
    code, out, err = run(capsys, *asked)
    assert (code, err) == (0, "")
    assert "Reject because Essay=fail and Interview=fail, whatever the rest (fits 1 of 4 rows)\n" in out
    assert "SAT < 1450 and GPA ≠ high and Interview=fail, whatever the rest (fits 2 of 4 rows)\n" in out
    answer = json.loads(run(capsys, *asked, "--json")[1])
    assert (answer["rows"], [reason["rows"] for reason in answer["sufficient"]["reasons"]]) == (4, [1, 2])
    code, _, err = run(capsys, "report", *asked[1:], "-o", table)
    assert code == 2
    assert "--reference and -o are the same file" in err or "--data and -o are the same file" in err


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ("SAT,GPA,Essay,Interview\n1,low,fail,fail\n1,lov,fail,fail\n2,lov,pass,pass\n", "row 2 of"),
        ("SAT,GPA,Essay,Interview\n1,low,fail,fail\n1,low\n", "row 2 of"),
        ("SAT,GPA,Essay\n1,low,fail\n", "no column 'Interview'"),
        ("SAT,GPA,Essay,Interview\n", "people.csv: has no rows"),
    ],
)
def test_faults_of_a_reference_table(
    capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path, table: str, fault: str
) -> None:
    (tmp_path / "people.csv").write_text(table)
    code, out, err = run(capsys, "explain", model, *settings(), "--reference", tmp_path / "people.csv")
    assert (code, out) == (2, "")
    assert fault in err
    assert "people.csv" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (["explain", "MODEL"], "no instance is given"),
        (["explain", "MODEL", "--set", "SAT"], "write FEATURE=VALUE"),
        (["explain", "MODEL", "--set", "SAR=1"], "did you mean 'SAT'"),
        (["explain", "MODEL", "--set", "SAT=1"], "no value for 'GPA'"),
        (["explain", "MODEL", *settings(["SAT=x", *APPLICANT[1:]])], "SAT is 'x', which is not a number"),
        (["explain", "MODEL", *settings(), "--against", "Reject"], "already"),
        (["explain", "MODEL", "--data", "none.csv", "--row", "1"], "none.csv: cannot be read: No such file"),
        (["explain", "MODEL", "--data", "MODEL", "--row", "0"], "counted from 1"),
        (["explain", "MODEL", *settings(), "--reference", "none.csv"], "none.csv: cannot be read: No such file"),
        (["explain", "MODEL", "--data", "MODEL"], "go together"),
        (["explain", "MODEL", "--instance", "MODEL", "--data", "MODEL", "--row", "1"], "give one of them"),
        (["explain", "none.json", *settings()], "none.json: cannot be read: No such file"),
        (["explain", "MODEL", "--format", "xml", *settings()], "no format 'xml'"),
        (["explain", "MODEL", *settings(), "--limit", "-1"], "--limit"),
        (["explain", "MODEL", *settings(), "--timeout", "soon"], "--timeout"),
        (["convert", "MODEL", "-o", "/no/such/folder/x.json"], "cannot be written"),
        (["explain", "MODEL", *settings(), "--set", "SAT=1"], "--set gives 'SAT' twice"),
        (["explain", "MODEL", *settings(), "--cost", "SAT=1", "--cost", "SAT=2"], "--cost gives 'SAT' twice"),
        (["explain", "MODEL", *settings(), "--against", "ACCEPT"], "did you mean 'Accept'"),
        (["check", "none.json"], "none.json: cannot be read: No such file"),
        (["check", "MODEL", "--predicted", "said"], "--predicted is a column of --data, which is not given"),
        (["learn", "none.csv", "-o", "none.json"], "none.csv: cannot be read"),
        (["serve", "MODEL", "--port", "99999"], "'99999' is not a whole number from 0 to 65535"),
        (["serve", "MODEL", "--seconds", "0"], "'0' is not a positive number of seconds"),
        (["serve", "MODEL", "--seconds=-1"], "'-1' is not a positive number of seconds"),
        (["serve", "MODEL", "--memory", "1"], "'1' is not a whole number from 256"),
        (["serve", "MODEL", "--workers", "0"], "'0' is not a whole number from 1 on"),
        (["bench", "table", "--quick"], "benchmarks are in quia's repository: make bench BENCH='table --quick'"),
        (["nonsense"], "there is no command 'nonsense'; `quia` lists them"),
        (["explian"], "there is no command 'explian' (did you mean 'explain'?)"),
        (
            ["explain", "MODEL", "--agianst", "Accept"],
            "no option '--agianst' (did you mean '--against'?); `quia explain",
        ),
        (["explain", "MODEL", "rows.csv"], "'rows.csv' is one argument too many; `quia explain --help`"),
    ],
)
def test_faults_are_one_sentence(
    capsys: pytest.CaptureFixture[str], model: Path, arguments: list[str], match: str
) -> None:
    code, out, err = run(capsys, *(str(model) if a == "MODEL" else a for a in arguments))
    assert code == 2
    assert out == ""
    assert match in err
    assert "Traceback" not in err


TABLE = "SAT,GPA,Essay,Interview,said\n1400,medium,fail,fail,Reject\n"


def workbook() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return held.getvalue()


FILES = {
    "latin.csv": (TABLE.encode().replace(b"medium", b"m\xe9dium"), "latin.csv{}: is not UTF-8 text; save it as UTF-8"),
    "utf16.csv": (TABLE.encode("utf-16"), "utf16.csv{}: is not UTF-8 text; save it as UTF-8"),
    "names.csv": (TABLE.encode("latin-1").replace(b"said", b"d\xe9cision"), "names.csv{}: is not UTF-8 text; save it"),
    "book.xlsx": (workbook(), "book.xlsx: is an Excel workbook; save the sheet as CSV"),
    "old.xls": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        "old.xls: is an Excel workbook; save the sheet as CSV",
    ),
    "twice.csv": (
        TABLE.encode().replace(b"said", b"GPA"),
        "twice.csv, line 1: has two columns called 'GPA'; rename one",
    ),
    "torn.csv.gz": (gzip.compress(TABLE.encode() * 99)[:-20], "cannot be read"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "command",
    [
        ["learn", "DATA", "-o", "new.json"],
        ["explain", "MODEL", "--data", "DATA", "--row", "1"],
        ["check", "MODEL", "--data", "DATA", "--predicted", "said"],
        ["serve", "MODEL", "--data", "DATA"],
        ["batch", "MODEL", "DATA", "-o", "new.csv"],
    ],
    ids=lambda command: command[0],
)
def test_tables_that_cannot_be_read_get_the_same_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    tmp_path: Path,
    command: list[str],
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    content, sentences = FILES[name]
    (tmp_path / name).write_bytes(content)
    code, out, err = run(capsys, *({"MODEL": model, "DATA": name}.get(part, part) for part in command))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    known = [sentences] if isinstance(sentences, str) else sentences
    places = ("", ", line 1", ", line 2")
    assert any(sentence.format(place) in err for sentence in known for place in places)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_workbook_is_no_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "book.xlsx").write_bytes(workbook())
    code, _, err = run(capsys, "check", tmp_path / "book.xlsx")
    assert (code, "is an Excel workbook, which holds no model; save the sheet as CSV" in err) == (2, True)


def test_options_of_the_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "g.odd"
    file.write_text("[E]\n0 0 S0 S1\n")
    code, out, err = run(
        capsys,
        "explain",
        file,
        "--option",
        'classes=["deny", "admit"]',
        "--option",
        'states=["no", "yes"]',
        "--set",
        "E=no",
    )
    assert (code, err) == (0, "")
    assert "deny because E=no" in out
    code, _, err = run(capsys, "explain", file, "--option", "clases=x", "--set", "E=0")
    assert code == 2
    assert "did you mean 'classes'" in err
    assert run(capsys, "explain", file, "--option", "classes", "--set", "E=0")[0] == 2


def test_learn_then_explain(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """From a table to a tree to a sentence, and the tree is what its own decisions say."""
    lines = [f"{age},{job},{'yes' if age > 40 and job != 'none' else 'no'}" for age in range(18, 70) for job in JOBS]
    table = tmp_path / "loans.csv"
    table.write_text("\n".join(["age,job,granted", *lines]) + "\n")
    code, out, err = run(capsys, "learn", table, "-o", tmp_path / "tree.json", "--min-rows", "1")
    assert (code, out) == (0, "")
    assert "learned 'granted' from" in err
    code, out, _ = run(capsys, "explain", tmp_path / "tree.json", "--set", "age=30", "--set", "job=none")
    assert code == 0
    assert "no because job=none, whatever the rest" in out
    compared = ["check", tmp_path / "tree.json", "--data", table, "--predicted", "granted"]
    code, out, _ = run(capsys, *compared)
    assert (code, f"{len(lines)} of {len(lines)} rows agree" in out) == (0, True)
    table.write_text(table.read_text().replace("18,none,no", "18,none,yes"))
    code, out, _ = run(capsys, *compared, "--json")
    assert (code, json.loads(out)["agreement"]["differing"]) == (1, 1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--min-rows", "0"], "min_rows is 0; give a whole number from 1"),
        (["--max-depth", "0"], "max_depth is 0; give a whole number from 1"),
        (["--max-depth=-1"], "max_depth is -1; give a whole number from 1"),
        (["--seed=-1"], "seed is -1; give a whole number from 0"),
        (["--seed", "99999999999"], "seed is 99999999999; give a whole number from 0"),
        ([], "column 'rate' has numbers with commas, such as '0,495'; write them with decimal points"),
    ],
)
def test_what_cannot_be_learned(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], match: str
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("rate;job;granted\n" + "".join(f"0,{495 + n};{n % 3};{n % 2}\n" for n in range(40)))
    code, out, err = run(capsys, "learn", table, "-o", tmp_path / "tree.json", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert match in err
    assert not (tmp_path / "tree.json").exists()


def test_commas_in_names_are_no_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("town;marks;granted\n" + "".join(f"a, b;{n};1,{n % 2}\n" for n in range(40)))
    assert run(capsys, "learn", table, "-o", tmp_path / "tree.json")[0] == 0


def test_a_quote_that_is_not_closed(capsys: pytest.CaptureFixture[str], tmp_path: Path, examples: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(
        'SAT,GPA,Essay,Interview,note\n1400,low,fail,fail,a "b\n1500,low,pass,pass,"c\n1400,low,fail,fail,d\n'
    )
    ask = ("explain", examples / "admissions.json", "--data", table, "--row")
    assert run(capsys, *ask, 1)[0] == 0
    code, out, err = run(capsys, *ask, 2)
    assert (code, out) == (2, "")
    assert (
        "t.csv: has a quote in the row that begins in line 3 that is not closed where its value ends; close it" in err
    )


def test_spaces_beside_commas_mean_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As in many public tables; whoever reads a table reads the same in it."""
    rows = [(20 + n, ["Private", "State"][n // 2 % 2], ["no", "yes"][n % 4 > 1 or n > 80]) for n in range(120)]
    table, tree, out = tmp_path / "t.csv", tmp_path / "tree.json", tmp_path / "out.jsonl"
    table.write_text("PK,work,granted\n" + "".join(f"{age}, {work} , {granted}\n" for age, work, granted in rows))
    assert run(capsys, "learn", table, "-o", tree, "--min-rows", "1")[0] == 0
    assert run(capsys, "batch", tree, table, "-o", out)[0] == 0
    assert [json.loads(line)["decision"] for line in out.read_text().splitlines()] == [row[2] for row in rows]
    for number in (1, 3, 120):
        _, said, _ = run(capsys, "explain", tree, "--data", table, "--row", number)
        assert said.startswith(f"Decision: {rows[number - 1][2]}")


def test_a_value_that_is_no_category_is_noted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    town = {"kind": "nominal", "states": ["Ghent", "Bari", "any other"], "other": "any other"}
    nodes = {
        "r": {"test": "town", "edges": [{"if": ["Ghent"], "to": "y"}, {"if": ["Bari", "any other"], "to": "n"}]},
        "y": {"class": "yes"},
        "n": {"class": "no"},
    }
    graph = {"quia": 1, "variables": {"town": town}, "classes": ["yes", "no"], "root": "r", "nodes": nodes}
    file = tmp_path / "m.json"
    file.write_text(json.dumps(graph))
    for value, told in [
        ("Ghent", ""),
        ("any other", ""),
        (
            "ghant",
            "quia: note: town='ghant' is none of the model's categories, so it counts as 'any other'"
            " (did you mean 'Ghent'?)\n",
        ),
    ]:
        for more in ([], ["--json"]):
            code, out, err = run(capsys, "explain", file, "--set", f"town={value}", *more)
            assert (code, err) == (0, told)
            assert not more or json.loads(out)["decision"] == ("yes" if value == "Ghent" else "no")


def test_check_tells_what_is_in_it(capsys: pytest.CaptureFixture[str], examples: Path, tmp_path: Path) -> None:
    code, out, _ = run(capsys, "check", examples / "admissions.json")
    assert code == 0
    assert "a sound decision graph" in out
    assert "6 nodes (2 leaves), 9 edges, depth 4" in out
    code, out, _ = run(capsys, "check", examples / "iris.json", "--json")
    assert json.loads(out)["kind"] == "decision tree"
    broken = tmp_path / "broken.json"
    broken.write_text('{"quia": 1}')
    code, out, err = run(capsys, "check", broken)
    assert (code, out) == (1, "")
    assert "not sound" in err


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        (
            "rows.csv",
            b"a,b\n1,2\n",
            "rows.csv -o tree.json (a scorecard would have the columns feature, condition, points)",
        ),
        ("rows.parquet", b"PAR1" + bytes(40), "is a Parquet table, not a model; save its rows as CSV and learn a tree"),
        ("note.txt", b"hello", "begins with 'hello', which is no format known here; `quia check --help` lists those"),
        ("m.pkl", pickle.dumps([1]), "load it with trust_pickle=True (on the command line: --trust-pickle)"),
    ],
)
def test_what_is_no_model_is_not_called_unsound(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: bytes, match: str
) -> None:
    (tmp_path / name).write_bytes(content)
    code, out, err = run(capsys, "check", tmp_path / name, "--json")
    assert (code, out) == (2, "")
    assert match in err
    assert "not sound" not in err


def test_check_says_whose_decisions_it_lacks(capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    code, _, err = run(capsys, "check", model, "--data", tmp_path / "t.csv")
    assert code == 2
    assert f"{model} (quia's own JSON) cannot be asked for its own decisions" in err
    assert "--predicted" in err
    code, _, err = run(capsys, "check", model, "--data", tmp_path / "t.csv", "--predicted", "siad")
    assert (code, "did you mean 'said'?" in err) == (2, True)
    assert run(capsys, "check", model, "--data", tmp_path / "t.csv", "--predicted", "said")[0] == 0


@pytest.mark.filterwarnings("ignore::quia.load.pickle.UnsafePickle")
def test_check_unpickles_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    (tmp_path / "m.pkl").write_bytes(pickle.dumps(tree))
    (tmp_path / "t.csv").write_text("x0\n0\n1\n")
    from quia.load import pickle as reader

    times = []
    unpickled = reader._unpickled
    monkeypatch.setattr(reader, "_unpickled", lambda *given: times.append(1) or unpickled(*given))
    code, out, _ = run(capsys, "check", tmp_path / "m.pkl", "--trust-pickle", "--data", tmp_path / "t.csv")
    assert (code, len(times)) == (0, 1)
    assert "rows agree" in out


def test_convert_round_trips(capsys: pytest.CaptureFixture[str], examples: Path, tmp_path: Path) -> None:
    for file in examples.glob("*.json"):
        code, out, err = run(capsys, "convert", file, "-o", tmp_path / file.name)
        assert (code, out, err) == (0, "", "")
        assert json.loads((tmp_path / file.name).read_text()) == json.loads(file.read_text())
        assert json.loads(run(capsys, "convert", file, "-o", "-")[1]) == json.loads(file.read_text())
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in examples.glob("*.json"))


def test_as_a_process(model: Path) -> None:
    """A pipe that closes early, JSON on stdin, and the version."""
    base = [sys.executable, "-m", "quia"]
    early = subprocess.run(
        f"{sys.executable} -m quia explain {model} {' '.join(settings())} --all | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (early.stdout, early.stderr) == ("Decision: Reject\n", "")
    piped = subprocess.run(
        [*base, "explain", str(model), "--instance", "-", "--json"],
        input='{"SAT": 1400, "GPA": "medium", "Essay": "fail", "Interview": "fail"}',
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(piped.stdout)["decision"] == "Reject"
    version = subprocess.run([*base, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("quia ")
