"""Saved scikit-learn models: skops files are read without running them, pickles only on the caller's word."""

import io
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import quia
from quia.errors import FormatError, QuiaError, Unsupported
from quia.load import skops as loader
from quia.load.pickle import UnsafePickle
from quia.load.sklearn.tree import tree_of

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=100), RNG.integers(0, 3, 100)])
Y = np.where(X[:, 0] * (X[:, 1] - 1) > 0, "yes", "no")


def model() -> Any:
    ways = ColumnTransformer([("n", StandardScaler(), [0]), ("c", OneHotEncoder(), [1])])
    return make_pipeline(ways, DecisionTreeClassifier(random_state=0)).fit(X, Y)


def test_skops_round_trip(tmp_path: Path) -> None:
    fitted = model()
    file = tmp_path / "m.skops"
    skops.io.dump(fitted, file)
    assert quia.load(file) == quia.load(fitted)
    named = quia.load(file, features=["height", "kind"], classes={"yes": "ja"})
    assert [v.name for v in named.variables] == ["height", "kind"]
    assert named.classes == ("no", "ja")
    with pytest.raises(Unsupported, match="no option 'trust_pickle'"):
        quia.load(file, trust_pickle=True)


def test_types_that_are_not_trusted() -> None:
    """A function of another module is refused by name, and is not imported; trusted, it is refused as a step."""
    fitted = make_pipeline(FunctionTransformer(os.path.basename), DecisionTreeClassifier())
    data = skops.io.dumps(fitted)
    with pytest.raises(Unsupported, match=r"not known to be safe: .*basename") as fault:
        loader.read(data)
    named = f"{os.path.__name__}.basename"
    assert str(fault.value).endswith(f"""or, on the command line, --option 'trusted=["{named}"]'""")
    with pytest.raises(QuiaError):
        loader.read(data, trusted=skops.io.get_untrusted_types(data=data))
    with pytest.raises(Unsupported, match="trusted is 'os'"):
        loader.read(data, trusted="os")


def test_the_type_of_an_array_is_taken_from_an_array_alone(tmp_path: Path) -> None:
    """Imputers have one. A forged file would make it of arguments, and NumPy believes these."""
    for fill, rows in (("mean", X), ("most_frequent", X.astype(object))):
        fitted = make_pipeline(SimpleImputer(strategy=fill), DecisionTreeClassifier(random_state=0)).fit(rows, Y)
        file = tmp_path / "m.skops"
        skops.io.dump(fitted, file)
        assert quia.load(file) == quia.load(fitted)
    forged = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(forged, "w") as other:
        for name in archive.namelist():
            content = archive.read(name)
            other.writestr(name, content.replace(b"DTypeNode", b"ConstructorFromReduceNode"))
    with pytest.raises(FormatError, match=r"has a numpy\.dtype that skops did not write"):
        loader.read(forged.getvalue())


def damaged(change: Any) -> Any:
    """A fitted tree whose arrays say something impossible."""
    fitted = DecisionTreeClassifier(random_state=0).fit(X, Y)
    state = fitted.tree_.__getstate__()
    state["nodes"] = state["nodes"].copy()
    change(state)
    fitted.tree_.__setstate__(state)
    return fitted


def beyond(field: str, node: int, value: int) -> Any:
    def change(state: dict[str, Any]) -> None:
        state["nodes"][field][node] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        beyond("left_child", 0, 10**6),
        beyond("left_child", 0, -5),
        beyond("right_child", 0, 0),
        beyond("right_child", 0, 1),
        beyond("feature", 0, 2),
        beyond("feature", 0, -3),
        lambda state: state.update(node_count=10**7),
        lambda state: state.update(node_count=0),
        lambda state: state["nodes"]["threshold"].fill(np.nan),
    ],
)
def test_damaged_trees(change: Any) -> None:
    """Indices are checked before anything follows them, in memory and from a file."""
    with pytest.raises(FormatError, match="tree"):
        quia.load(damaged(change))


def test_damaged_archives(tmp_path: Path) -> None:
    whole = skops.io.dumps(model())
    file = tmp_path / "m.skops"
    for length in (4, 100, len(whole) // 2, len(whole) - 30):
        file.write_bytes(whole[:length])
        with pytest.raises(QuiaError):
            quia.load(file)
    chance = np.random.default_rng(1)
    for _ in range(30):
        spoiled = bytearray(whole)
        for at in chance.integers(0, len(whole), 20):
            spoiled[at] = chance.integers(256)
        file.write_bytes(bytes(spoiled))
        faults: list[QuiaError] = []
        try:
            assert quia.load(file, format="skops").classes
        except QuiaError as fault:
            faults.append(fault)
        assert all(map(is_a_sentence, faults))


def is_a_sentence(fault: QuiaError) -> bool:
    return len(str(fault).splitlines()) == 1 and len(str(fault)) < 1000


def replaced(change: Any) -> bytes:
    """A saved model with every member but the schema, or that one alone, replaced."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(skops.io.dumps(model()))) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return made.getvalue()


def test_what_a_library_says_of_damage_is_told_in_one_sentence() -> None:
    """scikit-learn's own message about another table of nodes has a line for each of the two."""
    other = io.BytesIO()
    np.save(other, np.zeros(3))
    arrays = replaced(lambda name, data: other.getvalue() if name.endswith(".npy") else data)
    broken = replaced(lambda name, data: data.replace(b"StandardScaler", b"Standard\\n\\nScaler"))
    for data, kind in ((arrays, FormatError), (broken, QuiaError)):
        with pytest.raises(kind) as refused:
            loader.read(data)
        assert is_a_sentence(refused.value)


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name.replace("_json", ".json"), content)
    return buffer.getvalue()


def test_archives_of_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match=r"no schema\.json"):
        loader.read(archive(other=b"x"))
    for schema in (b"", b"[]", b"{}", b'{"__class__": "str"}', b"[" * 100_000, json.dumps({"protocol": 99}).encode()):
        with pytest.raises(QuiaError):
            loader.read(archive(schema_json=schema))
    monkeypatch.setattr(loader, "LARGEST_FILE", 1000)
    with pytest.raises(FormatError, match="unpacks to more"):
        loader.read(archive(schema_json=b"0" * 2000))


class Bomb:
    """What a pickle can do: call anything."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> Any:
        return (Path.touch, (self.file,))


def test_pickles_need_trust(tmp_path: Path) -> None:
    trace = tmp_path / "was here"
    bomb = tmp_path / "bomb.pkl"
    bomb.write_bytes(pickle.dumps(Bomb(trace)))
    for trust in ({}, {"trust_pickle": False}, {"trust_pickle": "yes"}):
        with pytest.raises(Unsupported, match="trust_pickle=True"):
            quia.load(bomb, **trust)
    assert not trace.exists(), "nothing was run"


@pytest.mark.parametrize("way", ["pickle", "joblib", "zlib", "gzip", "bz2", "xz"])
def test_pickles_on_trust(tmp_path: Path, way: str) -> None:
    fitted = model()
    file = tmp_path / "model"
    if way == "pickle":
        file.write_bytes(pickle.dumps(fitted))
    else:
        joblib.dump(fitted, file, compress=0 if way == "joblib" else (way, 3))
    with pytest.warns(UnsafePickle, match="any program") as warned:
        loaded = quia.load(file, trust_pickle=True)
    assert warned[0].filename == __file__, "it points at the caller, not into quia"
    assert loaded == quia.load(fitted)


@pytest.mark.filterwarnings("ignore::quia.load.pickle.UnsafePickle")
def test_pickles_of_something_else(tmp_path: Path) -> None:
    file = tmp_path / "model"
    for content, words in ((pickle.dumps({"a": 1}), "a builtins.dict"), (b"\x80\x04 no pickle", "cannot be unpickled")):
        file.write_bytes(content)
        with pytest.raises(QuiaError, match=words):
            quia.load(file, trust_pickle=True)


def test_arrays_of_a_sound_tree() -> None:
    fitted = DecisionTreeClassifier(random_state=0).fit(X, Y)
    assert len(tree_of(fitted).left) == fitted.tree_.node_count
