"""Pages as files of their own: what is common to all, the head that lets nothing be loaded and nothing be sent."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from quia.show.markup import Child, clean, element, trusted

_NOTHING = "'none'"


def whole_file(
    title: str,
    main: Child,
    *,
    styles: tuple[str, ...] = ("page.css",),
    more_style: str = "",
    script: str | None = None,
    data: Child = None,
) -> str:
    """One self-contained HTML file, with its styles, and if it has one its script, in it; `data` are for that script.

    Nothing but these can run or be loaded: the browser is given their checksums.
    """
    style = "".join([*map(asset, styles), more_style])
    runs = None if script is None else asset(script)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_NOTHING if runs is None else _hash(runs)};"
        " base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", trusted(style)),
    )
    body = element(
        "body",
        element("main", main),
        data,
        None if runs is None else element("script", trusted(runs)),
        class_="quia-page",
    )
    return clean(f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n")


@cache
def asset(name: str) -> str:
    """A file that comes with a page: a style or a script."""
    return files("quia.show").joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
