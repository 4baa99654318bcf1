"""The operators around the tree of an ONNX model: which input columns reach the tree, and where its label goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from quia.errors import FormatError, Unsupported, listed, shown
from quia.load.binary import Column, check_numbered, numbered
from quia.load.protobuf import Message, blobs, float_array, floats, int_array, ints, message

_FLOAT, _INT32, _INT64, _STRING, _DOUBLE = 1, 6, 7, 8, 11
_NUMBERS = (_FLOAT, _INT32, _INT64, _DOUBLE)
_TYPES = ("?", "FLOAT", "UINT8", "INT8", "UINT16", "INT16", "INT32", "INT64", "STRING", "BOOL", "FLOAT16", "DOUBLE")
_STANDARD = ("", "ai.onnx", "ai.onnx.ml")
_MOST_OPERATORS = 10_000  # each takes much memory, but only two bytes of the file


@dataclass(slots=True)
class Operator:
    """A node of the ONNX graph; its kind has the domain in front if that is not one of ONNX itself."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Graph:
    """The operators, the inputs with type and width (or None), and the outputs of a model."""

    operators: list[Operator]
    inputs: dict[str, tuple[int, int | None]]
    outputs: list[str]
    file: str | None

    def columns(self, tensor: str, needed: int) -> list[Column]:
        """The columns of the tensor that a tree reads, followed back to the model's inputs."""
        producer = {output: operator for operator in self.operators for output in operator.outputs}
        tensors, single, steps = [(tensor, False)], False, 0
        columns: list[Column] = []
        while tensors:
            name, single = tensors.pop()
            steps += 1
            if steps > len(self.operators) + len(self.inputs) + 1000:
                raise FormatError("its operators form a cycle", file=self.file)
            if name in self.inputs:
                columns += self._input_columns(name, single, None if tensors or columns else needed, len(columns))
                continue
            operator = producer.get(name)
            if operator is None:
                raise FormatError(f"the tensor {shown(name)} comes from nowhere", file=self.file)
            if operator.kind == "Cast" and operator.attributes.get("to") in (_FLOAT, _DOUBLE):
                tensors.append((operator.inputs[0], single or operator.attributes["to"] == _FLOAT))
            elif operator.kind == "Identity":
                tensors.append((operator.inputs[0], single))
            elif operator.kind == "Concat" and operator.attributes.get("axis") in (1, -1):
                tensors += [(input_name, single) for input_name in reversed(operator.inputs)]
            else:
                raise Unsupported(
                    f"the tree reads what the operator {shown(operator.kind)} makes of the columns",
                    cure="export the tree alone, or load the fitted pipeline itself",
                )
        return columns

    def is_double(self, tensor: str) -> bool:
        """Whether a tensor that `columns` could follow is of 64-bit numbers, so that onnxruntime compares in these."""
        producer = {output: operator for operator in self.operators for output in operator.outputs}
        while tensor not in self.inputs:
            if producer[tensor].kind == "Cast":
                return bool(producer[tensor].attributes["to"] == _DOUBLE)
            tensor = producer[tensor].inputs[0]
        return self.inputs[tensor][0] == _DOUBLE

    def _input_columns(self, name: str, single: bool, needed: int | None, before: int) -> list[Column]:
        kind, width = self.inputs[name]
        if kind not in _NUMBERS:
            raise Unsupported(f"the input {shown(name)} is of type {kind}", cure="export a tree over numbers")
        width = width if width is not None else needed
        if width is None or width <= 0:
            raise FormatError(f"the input {shown(name)} does not say how many columns it has", file=self.file)
        check_numbered(before + width)
        # Integers are compared with 32-bit thresholds as 32-bit numbers, too.
        single = single or kind != _DOUBLE
        alone = width == 1 and len(self.inputs) > 1
        if len(self.inputs) == 1:
            return [Column(name, single) for name in numbered(width, "f")]
        return [Column(name if alone else f"{name}[{index}]", single) for index in range(width)]

    def check_label(self, tensor: str, labels: Sequence[str]) -> None:
        """Refuse a model whose output is not the label of its tree, up to type and shape."""
        reached = {tensor}
        integers = all(re.fullmatch(r"0|-?[1-9][0-9]*", label) for label in labels)
        for operator in self.operators:  # ONNX lists operators in an order in which they can run
            if operator.inputs[:1] and operator.inputs[0] in reached and _keeps_labels(operator, integers):
                reached.update(operator.outputs)
        if not reached & set(self.outputs):
            after = [_described(o) for o in self.operators if reached & set(o.inputs) and not reached & set(o.outputs)]
            raise Unsupported(
                f"the label of the tree is not what the model puts out; it goes on to {listed(after) or 'nothing'}",
                cure="export the tree alone",
            )


def _keeps_labels(operator: Operator, integers: bool) -> bool:
    """Whether an operator leaves the labels as they are written; `integers` says that all of them are integers."""
    if operator.kind == "Cast":
        to = operator.attributes.get("to")
        return to == _STRING or (to == _INT64 and integers)
    return operator.kind in ("Identity", "Reshape", "Squeeze")


def _described(operator: Operator) -> str:
    to = operator.attributes.get("to")
    if operator.kind != "Cast":
        return operator.kind
    return f"Cast to {_TYPES[to] if isinstance(to, int) and 0 <= to < len(_TYPES) else shown(to)}"


def read_graph(data: bytes, file: str | None) -> Graph:
    """The graph of an ONNX model."""
    model = message(data, file)
    if 7 not in model:
        raise FormatError("has no graph, so it is no ONNX model", file=file)
    for function in blobs(model.get(25, []), file):
        _check_function(message(function, file), file)
    graph = message(blobs(model[7], file)[0], file)
    nodes = blobs(graph.get(1, []), file)
    if len(nodes) > _MOST_OPERATORS:
        raise FormatError(f"has {len(nodes)} operators; models of trees have fewer than {_MOST_OPERATORS}", file=file)
    operators = [_operator(message(node, file), file) for node in nodes]
    constants = {_string(message(tensor, file), 8, file) for tensor in blobs(graph.get(5, []), file)}
    inputs: dict[str, tuple[int, int | None]] = {}
    for info in blobs(graph.get(11, []), file):
        fields = message(info, file)
        if (name := _string(fields, 1, file)) not in constants:
            inputs[name] = _tensor_type(fields, file)
    outputs = [_string(message(info, file), 1, file) for info in blobs(graph.get(12, []), file)]
    return Graph(operators, inputs, outputs, file)


def _check_function(function: Message, file: str | None) -> None:
    if _string(function, 10, file) in _STANDARD:
        raise Unsupported(
            f"the model defines the operator {shown(_string(function, 1, file))} of ONNX itself anew",
            cure="export it without functions of its own",
        )


def _operator(node: Message, file: str | None) -> Operator:
    kind, domain = _string(node, 4, file), _string(node, 7, file)
    operator = Operator(
        kind if domain in _STANDARD else f"{domain}.{kind}",
        [name.decode("utf-8", "replace") for name in blobs(node.get(1, []), file)],
        [name.decode("utf-8", "replace") for name in blobs(node.get(2, []), file)],
    )
    for attribute in blobs(node.get(5, []), file):
        fields = message(attribute, file)
        operator.attributes[_string(fields, 1, file)] = _attribute(fields, file)
    return operator


def _attribute(fields: Message, file: str | None) -> Any:
    kind = ints(fields.get(20, []), file)[-1:]
    match kind:
        case [1]:
            return floats(fields.get(2, []), file=file)[-1]
        case [2]:
            return ints(fields.get(3, [0]), file)[-1]
        case [3]:
            return _string(fields, 4, file)
        case [4]:
            return _tensor(message(blobs(fields.get(5, [b""]), file)[0], file), file)
        case [6]:
            return float_array(fields.get(7, []), file=file)
        case [7]:
            return int_array(fields.get(8, []), file)
        case [8]:
            values = blobs(fields.get(9, []), file)
            words = {value: value.decode("utf-8", "replace") for value in set(values)}
            return [words[value] for value in values]
    return None  # a graph or another kind that trees do not have


def _tensor(fields: Message, file: str | None) -> Any:
    kind = ints(fields.get(2, [0]), file)[-1]
    if kind not in (_FLOAT, _DOUBLE) or 13 in fields:
        raise Unsupported("a tensor of the tree is not stored in the file as numbers", cure="export it in one file")
    code = "f" if kind == _FLOAT else "d"
    stored = fields.get(9) or fields.get(4 if kind == _FLOAT else 10, [])
    return float_array(stored, code, file)


def _tensor_type(info: Message, file: str | None) -> tuple[int, int | None]:
    """The element type of a tensor, and how many columns it has if it says so."""
    tensor = message(blobs(message(blobs(info.get(2, [b""]), file)[0], file).get(1, [b""]), file)[0], file)
    kind = ints(tensor.get(1, [0]), file)[-1]
    shape = message(blobs(tensor.get(2, [b""]), file)[0], file)
    widths = [message(size, file).get(1) for size in blobs(shape.get(1, []), file)]
    width = ints(widths[1], file)[-1] if len(widths) == 2 and widths[1] else None
    return kind, width


def _string(fields: Message, number: int, file: str | None) -> str:
    values = blobs(fields.get(number, []), file)
    return values[-1].decode("utf-8", "replace") if values else ""
