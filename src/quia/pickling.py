"""How frozen data travels to another process."""

from __future__ import annotations

from dataclasses import Field, fields
from functools import partial
from typing import Any, ClassVar


class ByFields:
    """A dataclass that is pickled and copied by its fields: what it has cached, the kernel's too, is made again."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **{each.name: getattr(self, each.name) for each in fields(self)}), ()
