"""The block that says what a page was made of, so that it can be filed and made again."""

from __future__ import annotations

from collections.abc import Sequence

from quia.identity import FileFacts, PageFacts
from quia.show.html_section import section
from quia.show.markup import Child, Markup, element
from quia.show.words import number, plural

Row = tuple[str, Child]
"""What something is called, and what it is."""


def identity_block(rows: Sequence[Row], *, title: str = "Identity", about: str | None = None) -> Markup:
    """The facts as a list of names and what they are; those that are not known are left out."""
    told = [element("div", element("dt", name), element("dd", said)) for name, said in rows if said is not None]
    return section("identity", title, element("dl", told, class_="facts"), about=about, id="identity")


def page_rows(facts: PageFacts) -> list[Row]:
    """What the page of one decision was made of."""
    return [
        *made_rows(facts.case, facts.made, facts.quia),
        ("Model", lines(file_lines(facts.model))),
        ("Data" if facts.row is not None else "Instance", lines(file_lines(facts.instance))),
        ("Row", None if facts.row is None else number(facts.row)),
        *command_rows(facts.command, [f"{name}: {value}" for name, value in facts.settings.items()]),
    ]


def made_rows(case: str | None, made: str, quia: str) -> list[Row]:
    """Which case it is for, when it was made, and by what."""
    return [("Case", case), ("Made", element("time", made.replace("T", " "), datetime=made)), ("By", f"quia {quia}")]


def file_lines(file: FileFacts | None) -> list[Child]:
    """A file by its name, size and checksum, and where it was if that says more."""
    if file is None:
        return []
    where = "" if file.path == file.name else f" ({file.path})"
    said = f"{file.name}{where}, {plural(file.bytes, 'byte')}"
    return [said, ["SHA-256 ", element("code", file.sha256)]]


def lines(told: Sequence[Child]) -> Markup | None:
    """Several things that are said of one, each in a line of its own."""
    return element("ul", [element("li", each) for each in told]) if told else None


def command_rows(command: str | None, settings: Sequence[str]) -> list[Row]:
    """How it was asked for, and with which settings, those included that were not mentioned."""
    return [("Command", None if command is None else element("code", command)), ("Settings", lines(settings))]
