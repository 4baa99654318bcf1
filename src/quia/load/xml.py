"""XML files as flat lists of elements: no entities, no document types, no recursion."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from quia.errors import FormatError, shown

MOST_ELEMENTS = 20_000_000
"""A file with more elements than this is refused."""


@dataclass(slots=True)
class Element:
    """An element: its name without namespace, its attributes, its children as indices, its own text."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[int] = field(default_factory=list)
    text: str = ""


class Document:
    """The elements of a file in the order in which they begin; the first is the root."""

    def __init__(self, elements: list[Element], file: str | None) -> None:
        self.elements, self.file = elements, file

    def children(self, element: Element, *tags: str) -> list[Element]:
        """The children with one of these names, or all of them."""
        found = (self.elements[index] for index in element.children)
        return [child for child in found if not tags or child.tag in tags]

    def child(self, element: Element, tag: str) -> Element | None:
        """The first child with this name."""
        return next(iter(self.children(element, tag)), None)

    def fault(self, message: str, element: Element) -> FormatError:
        """An error that names the element's place."""
        return FormatError(message, file=self.file, line=element.line)

    def need(self, element: Element, name: str) -> str:
        """An attribute that must be there."""
        if name not in element.attributes:
            raise self.fault(f"<{element.tag}> has no {name}=", element)
        return element.attributes[name]


def parse(data: bytes, file: str | None = None) -> Document:
    """The elements of an XML file.

    >>> document = parse(b"<a><b c='1'>text</b></a>")
    >>> document.elements[1]
    Element(tag='b', attributes={'c': '1'}, line=1, children=[], text='text')
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    elements: list[Element] = []
    path: list[int] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(elements) >= MOST_ELEMENTS:
            raise FormatError(f"has more than {MOST_ELEMENTS} elements; model files are smaller", file=file)
        if path:
            elements[path[-1]].children.append(len(elements))
        path.append(len(elements))
        elements.append(Element(name.rpartition(" ")[2], attributes, parser.CurrentLineNumber))

    def end(name: str) -> None:
        path.pop()

    def text(characters: str) -> None:
        if not characters.isspace():
            elements[path[-1]].text += characters

    def refuse(name: str, *rest: object) -> None:
        raise FormatError(
            f"declares {shown(name)} in a document type, which model files must not; delete the <!DOCTYPE …>",
            file=file,
            line=parser.CurrentLineNumber,
        )

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = text
    # Entities are how a small file grows without bound or reads other files; without a document type there are none.
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as fault:
        message = expat.ErrorString(fault.code)
        raise FormatError(f"is not well-formed XML: {message}", file=file, line=fault.lineno) from None
    except ValueError as fault:  # an encoding that Python does not know
        raise FormatError(f"cannot be read as XML: {fault}", file=file) from None
    return Document(elements, file)
