"""Features that are pixels: each is where its name or its order puts it, marks are on the pixels that literals name."""

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import quia
from drawn import artists, marks, said
from quia.errors import InstanceError
from quia.show.pixels import pixel_picture, places, shape_of
from quia.variables import Variable


def named(*names: str) -> list[Variable]:
    return [Variable.numeric(name, [0.5]) for name in names]


def test_pixels_are_in_the_models_order() -> None:
    found = places(named(*(chr(97 + at) for at in range(6))), (2, 3))
    assert found == {0: (0, 0), 1: (0, 1), 2: (0, 2), 3: (1, 0), 4: (1, 1), 5: (1, 2)}


def test_names_tell_where_a_pixel_is() -> None:
    assert places(named("pixel1", "pixel28", "pixel29", "pixel784"), (28, 28)) == {
        0: (0, 0),
        1: (0, 27),
        2: (1, 0),
        3: (27, 27),
    }
    assert places(named("p0", "p783"), (28, 28)) == {0: (0, 0), 1: (27, 27)}, "from 0 on, as some is 0"
    assert places(named("1x1", "28x28", "2x3"), (28, 28)) == {0: (0, 0), 1: (27, 27), 2: (1, 2)}
    assert places(named("px_0_5", "px_27_27"), (28, 28)) == {0: (0, 5), 1: (27, 27)}
    assert places(named("img_1_374"), (28, 28)) == {0: divmod(373, 28)}, "no column 374, but a pixel"
    order = [f"pixel{n}" for n in (1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9)]
    assert places(named(*order), (3, 4))[1] == (2, 1), "names, where the order is that of a dictionary"


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        (["pixel1", "age"], "the feature 'age' is no pixel of it"),
        (["pixel1", "pixel785"], "the feature 'pixel785' would be beyond its 784 pixels"),
        (["a1", "b1"], "several features would be the same pixel of it"),
        (["p0", "p784"], "784"),
    ],
)
def test_what_does_not_fit_is_one_sentence(names: list[str], fault: str) -> None:
    with pytest.raises(InstanceError, match=r"^image_shape is \(28, 28\), but ") as caught:
        places(named(*names), (28, 28))
    assert fault in str(caught.value) and "in order, or names that end in a pixel's number" in str(caught.value)


@pytest.mark.parametrize("shape", ["28x28", 28, (28,), (28, 0), (28, -1), (2.5, 3), (1, 2, 3), None, (10**6, 10**6)])
def test_shapes_that_are_none(shape: Any) -> None:
    with pytest.raises(InstanceError, match=r"^image_shape is "):
        shape_of(shape)


def image_model() -> quia.DecisionGraph:
    """'dark' if pixel 2 is at most 100 and pixel 6 more than 50, of an image of 2 times 3."""
    variables = [Variable.numeric(f"pixel{n}", [50, 100]) for n in (2, 6)]
    edges: list[Any] = [(), (), ((((0, 0),), 1), (((1, 2),), 0)), ((((0, 1),), 2), (((2, 2),), 1))]
    return quia.DecisionGraph.build(variables, ["dark", "bright"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)


def test_marks_are_where_the_literals_are() -> None:
    why = quia.explain(image_model(), {"pixel2": 60, "pixel6": 200})
    ax = why.plot(image_shape=(2, 3))
    assert marks(ax, "because dark") == {(0, 1)} and marks(ax, "because bright") == {(1, 2)}
    change = why.answer().changes[0]
    assert change.features == ("pixel2",) and marks(ax, "change bright") == {(0, 1)}
    (image,) = artists(ax, "image")
    drawn = np.asarray(image.get_array())
    assert drawn.shape == (2, 3, 3)
    assert drawn[0, 1] == pytest.approx(60 / 200) and drawn[1, 2] == pytest.approx(1.0)
    assert len({tuple(drawn[row, column]) for row, column in ((0, 0), (0, 2), (1, 0), (1, 1))}) == 1
    assert len(set(drawn[0, 0])) > 1, "where the model does not look is no grey"
    assert "2 pixels force it, whatever the rest: 1 must stay dark and 1 bright." in said(ax)
    assert "It would be bright if row 1, column 2 were brighter (> 100)." in said(ax)
    ax = why.plot(image_shape=(2, 3), reason=why.necessary_reasons(general=True).containing("pixel6")[0])
    assert not artists(ax, "because dark") and marks(ax, "change dark") == {(1, 2)}


def test_pixels_with_two_states_and_missing_ones() -> None:
    black = Variable.nominal("p0", ["0", "1"])
    other = Variable.numeric("p3", [5], missing=True)
    edges: list[Any] = [(), (), ((((0, 0),), 0), (((1, 2),), 1)), ((((0, 0),), 1), (((1, 1),), 2))]
    model = quia.DecisionGraph.build([black, other], ["no", "yes"], [-1, -1, 1, 0], [0, 1, -1, -1], edges)
    picture = pixel_picture(quia.explain(model, {"p0": "1", "p3": None}).answer(), (2, 2))
    assert picture.brightness == ((1.0, None), (None, None))
    by_place = {mark.place: mark.towards for mark in picture.because}
    assert by_place[1, 1] in (0, 1)
    assert quia.explain(model, {"p0": 0, "p3": 1}).answer().is_constant is False
    alone = pixel_picture(quia.explain(model, {"p0": 0, "p3": 1}).answer(), (2, 2))
    assert set(alone.because) and all(mark.towards == -1 for mark in alone.because if mark.place == (0, 0))


def test_an_image_of_a_real_digit(shared_data: Path) -> None:
    folder = shared_data / "trees" / "mnist_784"
    with gzip.open(folder / "rows.csv.gz", "rt") as lines:
        row = next(csv.DictReader(lines))
    why = quia.explain(quia.load(folder / "tree.j48.txt"), row)
    ax = why.plot(image_shape=(28, 28))
    reason = why.answer().shortest
    assert reason is not None
    where = {divmod(int(name.removeprefix("pixel")) - 1, 28) for name in reason.features}
    drawn = [marks(ax, f"because {side}") for side in ("dark", "bright", "between")]
    assert set.union(*drawn) == where and sum(map(len, drawn)) == len(where)
    (image,) = artists(ax, "image")
    grey = np.asarray(image.get_array())
    for variable in why.variables:
        at = divmod(int(variable.name.removeprefix("pixel")) - 1, 28)
        assert grey[at][0] == pytest.approx(int(row[variable.name]) / 255, abs=0.01)


def test_the_page_draws_the_same(tmp_path: Path) -> None:
    from quia.show.html_pixels import image
    from quia.show.words import Facts

    answer = quia.explain(image_model(), {"pixel2": 60, "pixel6": 200}).answer()
    made = ET.fromstring(image(answer, Facts(answer.variables), (2, 3)))
    svg = made.find("svg")
    assert svg is not None and svg.get("role") == "img" and svg.get("viewBox") == "0 0 3 2"
    assert "2 pixels force it" in svg.get("aria-label", "") and "row 1, column 2" in svg.get("aria-label", "")
    dark, bright, change = (
        svg.find(f"g[@class='{name}']") for name in ("because dark", "because bright", "change bright")
    )
    assert dark is not None and bright is not None and change is not None
    squares = [each.find("rect") for each in (dark, bright)]
    assert [(int(float(s.get("y"))), int(float(s.get("x")))) for s in squares if s is not None] == [(0, 1), (1, 2)]  # type: ignore[arg-type]
    assert [each.get("data-f") for each in (dark, bright, change)] == ["0", "1", "0"]
    assert dark.findtext("title") == "pixel2: needs ≤ 100" and change.findtext("title") == "pixel2: would need > 100"
    paths = {each.get("d"): each.get("fill") for each in svg.findall("path")}
    assert paths == {"M2 1h1v1h-1z": "#ffffff", "M1 0h1v1h-1z": paths["M1 0h1v1h-1z"]}
    assert int(str(paths["M1 0h1v1h-1z"])[1:3], 16) == pytest.approx(255 * 0.3, abs=5)
    assert "must stay dark" in "".join(made.itertext()) and "not looked at by the model" in "".join(made.itertext())


def test_every_pixel_of_a_page_is_drawn_once() -> None:
    from quia.show.html_pixels import _greys

    draw = np.random.default_rng(3)
    brightness = [[None if draw.random() < 0.2 else float(draw.integers(0, 4)) / 3 for _ in range(9)] for _ in range(7)]
    covered = np.full((7, 9), -1.0)
    for path in map(ET.fromstring, _greys(brightness)):
        grey = int(path.attrib["fill"][1:3], 16) / 255
        for x, y, wide in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path.attrib["d"]):
            assert (covered[int(y), int(x) : int(x) + int(wide)] == -1).all()
            covered[int(y), int(x) : int(x) + int(wide)] = grey
    wanted = np.array([[-1.0 if each is None else each for each in row] for row in brightness])
    assert covered == pytest.approx(wanted, abs=0.03)


def test_the_command_draws_images_or_says_why_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from quia.cli import main

    file, page = tmp_path / "model.json", tmp_path / "page.html"
    file.write_text(json.dumps(image_model().to_dict()))
    words = ["report", str(file), "--set", "pixel2=60", "--set", "pixel6=200", "-o", str(page)]
    assert main([*words, "--image-shape", "2x3"]) == 0
    assert 'class="pixels"' in page.read_text() and "2 pixels force it" in page.read_text()
    page.unlink()
    assert main([*words, "--image-shape", "1x5"]) == 2
    assert "'pixel6' would be beyond its 5 pixels" in capsys.readouterr().err and not page.exists()
    for wrong in ("28", "2x0", "x3", "2x3x4", "-2x3"):
        assert main([*words, f"--image-shape={wrong}"]) == 2
        assert f"'{wrong}' is not an image's rows and columns; write them as in 28x28" in capsys.readouterr().err
    assert main(words) == 0 and 'class="pixels"' not in page.read_text()
