"""XML files as flat lists of elements: no entities, document types only where they are asked for, no recursion."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from xml.parsers import expat

from quia.errors import FormatError, shown

MOST_ELEMENTS = 5_000_000
"""A file with more elements than this is refused."""


MOST_ATTRIBUTES = 100
"""A document type that declares more attributes than this is refused: each takes time for every element."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class Element:
    """An element: its name without namespace, its attributes, its children as indices, its own text."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: Sequence[int] = ()
    text: str = ""


class Document:
    """The elements of a file in the order in which they begin; the first is the root."""

    def __init__(self, elements: list[Element], file: str | None) -> None:
        self.elements, self.file = elements, file

    def children(self, element: Element, *tags: str) -> list[Element]:
        """The children with one of these names, or all of them."""
        children = (self.elements[index] for index in element.children)
        return [child for child in children if not tags or child.tag in tags]

    def child(self, element: Element, tag: str) -> Element | None:
        """The first child with this name."""
        return next(iter(self.children(element, tag)), None)

    def fault(self, message: str, element: Element) -> FormatError:
        """An error that names the file and the element's line."""
        return FormatError(message, file=self.file, line=element.line)

    def need(self, element: Element, name: str) -> str:
        """The value of a required attribute."""
        if name not in element.attributes:
            raise self.fault(f"<{element.tag}> has no {name}=", element)
        return element.attributes[name]


def parse(data: bytes, file: str | None = None, *, document_type: bool = False) -> Document:
    """The elements of an XML file.

    With `document_type` it may declare elements and attributes before them, which says nothing that is read: values by
    default are left out. Entities are refused all the same, and so are document types in other files.

    >>> document = parse(b"<a><b c='1'>text</b></a>")
    >>> document.elements[1]
    Element(tag='b', attributes={'c': '1'}, line=1, children=(), text='text')
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    elements: list[Element] = []
    # For each open element: its index, its children so far, and the pieces of its text so far.
    path: list[tuple[int, list[int], list[str]]] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(elements) >= MOST_ELEMENTS:
            raise FormatError(f"has more than {MOST_ELEMENTS} elements; model files are smaller", file=file)
        if path:
            path[-1][1].append(len(elements))
        path.append((len(elements), [], []))
        tag = sys.intern(name.rpartition(" ")[2])
        elements.append(Element(tag, attributes or _NOTHING, parser.CurrentLineNumber))

    def end(name: str) -> None:
        index, children, pieces = path.pop()
        # Most elements have neither; a million empty lists would take more memory than the file.
        if children:
            elements[index].children = tuple(children)
        if pieces:
            elements[index].text = "".join(pieces)

    def text(characters: str) -> None:
        # Blanks between two pieces keep these apart.
        if path[-1][2] or not characters.isspace():
            path[-1][2].append(characters)

    def refuse(name: str, *rest: object) -> None:
        raise FormatError(
            f"declares {shown(name)} in a document type, which model files must not; delete the <!DOCTYPE …>",
            file=file,
            line=parser.CurrentLineNumber,
        )

    def begin_document_type(name: str, system: str | None, public: str | None, internal: bool) -> None:
        if not document_type or system or public:
            refuse(name)

    declared = 0

    def attribute(*described: object) -> None:
        nonlocal declared
        declared += 1
        if declared > MOST_ATTRIBUTES:
            raise FormatError(
                f"declares more than {MOST_ATTRIBUTES} attributes; delete the <!DOCTYPE …>",
                file=file,
                line=parser.CurrentLineNumber,
            )

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = text
    parser.specified_attributes = True
    parser.StartDoctypeDeclHandler, parser.AttlistDeclHandler = begin_document_type, attribute
    # Entities are how a small file grows without bound or reads other files.
    parser.EntityDeclHandler = parser.SkippedEntityHandler = parser.NotationDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as fault:
        message = expat.ErrorString(fault.code)
        raise FormatError(f"is not well-formed XML: {message}", file=file, line=fault.lineno) from None
    except (LookupError, ValueError) as fault:  # an encoding that Python does not know
        raise FormatError(f"cannot be read as XML: {fault}", file=file) from None
    return Document(elements, file)
