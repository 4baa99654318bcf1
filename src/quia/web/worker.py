"""A process that reads models and answers questions about them, apart from the server and within limits.

Frames on stdin and stdout are a length of four bytes and so much JSON. Before an answer comes a byte that says that its
question was taken: a process that ends without it was not ended by the question. An answer's first byte is `+`, `-`
where the rest says why there is none, or `!` where quia itself failed. Nothing that a model file holds can make this
process unpickle, start a program, connect, or write.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import Any, BinaryIO

from quia._kernel import OverBudget
from quia.errors import QuiaError
from quia.load import FORMATS

TAKEN = b"."
KEPT = 4
"""How many models a worker remembers."""

_FORBIDDEN = frozenset(
    {"pickle.find_class", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"}
    | {"socket.connect", "socket.bind", "ctypes.dlopen", "os.remove", "os.rename", "shutil.rmtree"}
)
_FOR_SKOPS = ("skops.io", "sklearn.tree", "sklearn.pipeline", "sklearn.compose", "sklearn.impute")
_importing = False


def main() -> None:
    """Answer until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, whose end closes stdin
    memory, largest, timeout = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not be taken for an answer
    _limit(memory)
    from quia import files
    from quia.web import answers as answering  # what a question needs is imported before anything is forbidden

    files.LARGEST_FILE, answering.TIMEOUT = largest, timeout
    sys.addaudithook(_refuse)
    models: OrderedDict[str, Any] = OrderedDict()
    while (frame := read_frame(requests)) is not None:
        answers.write(TAKEN)
        answers.flush()
        reply = _reply(json.loads(frame), models)
        answers.write(len(reply).to_bytes(4, "big") + reply)
        answers.flush()


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame; None at the end."""
    head = stream.read(4)
    return stream.read(int.from_bytes(head, "big")) if len(head) == 4 else None


def _reply(request: dict[str, Any], models: OrderedDict[str, Any]) -> bytes:
    try:
        answer = _answered(request, models)
        text = answer if isinstance(answer, str) else json.dumps(answer, allow_nan=False)
        return b"+" + text.encode()
    except QuiaError as fault:
        places = {name: getattr(fault, name) for name in ("given", "features") if getattr(fault, name, None)}
        return _refusal(str(fault).replace(request["path"], request["name"]), places)
    except OverBudget as over:
        return _refusal(f"this could not be answered: {over}; ask for less, or use a smaller model")
    except MemoryError:
        models.clear()
        return _refusal("this took more memory than it may and was stopped; use a smaller model")
    except RecursionError:
        models.clear()
        return _refusal("the model is nested too deeply to be answered about here")
    except Forbidden as fault:
        return _refusal(f"the file asks for {fault}, which no model may")
    except Exception as fault:
        # The server prints it: this process may write no file, and stderr may be one.
        sentence = f"quia itself failed here ({type(fault).__name__}); the server printed the details"
        return b"!" + json.dumps({"error": sentence, "details": traceback.format_exc()}).encode()


def _refusal(sentence: str, places: Mapping[str, Any] = MappingProxyType({})) -> bytes:
    """Why there is no answer; `places` are those of the question where what is wrong stands."""
    return b"-" + json.dumps({"error": sentence, **places}).encode()


def _answered(request: dict[str, Any], models: OrderedDict[str, Any]) -> Any:
    from quia.web import answers

    classifier = _model(request, models)
    question, name = request.get("question") or {}, request["name"]
    shape = tuple(request["image_shape"]) if request.get("image_shape") else None
    match request["do"]:
        case "describe":
            possible = request.get("possible") or {}
            identity = request["model"]
            return answers.describe(classifier, name=name, identity=identity, possible=possible, image_shape=shape)
        case "explain":
            return answers.answer(classifier, question, name=name, image_shape=shape)
        case "report":
            return answers.report(classifier, question, name=name, image_shape=shape)
        case "compare":
            return answers.compare(classifier, question)
    raise AssertionError(f"a worker cannot do {request['do']}")


def _model(request: dict[str, Any], models: OrderedDict[str, Any]) -> Any:
    from quia.load import load

    key = request["model"]
    if key not in models:
        _import_for(request)
        models[key] = load(request["path"], format=request.get("format"), **request.get("options", {}))
        while len(models) > KEPT:
            models.popitem(last=False)
    models.move_to_end(key)
    return models[key]


def _import_for(request: dict[str, Any]) -> None:
    """Import what a skops file needs: it is code that is installed here, and may load its own libraries."""
    global _importing
    with open(request["path"], "rb") as stream:
        if request.get("format") != "skops" and not FORMATS["skops"].looks_like(stream.read(4096)):
            return
    _importing = True
    try:
        for name in _FOR_SKOPS:
            with suppress(ImportError):  # reading the file then says what is missing
                import_module(name)
    finally:
        _importing = False


class Forbidden(Exception):
    """Something that reading a model must never do."""


def _refuse(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in _FORBIDDEN and not _importing:
        raise Forbidden(event)


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on Windows; the time limit still holds
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


if __name__ == "__main__":
    main()
