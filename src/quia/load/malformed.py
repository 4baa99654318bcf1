"""What a malformed file makes its reader raise, in one sentence."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager

from quia.errors import FormatError, QuiaError, shown


@contextmanager
def malformed(what: str, file: str | None) -> Generator[None]:
    """Whatever reading raises becomes a FormatError which says that the file is not `what`: `an XGBoost model`."""
    try:
        yield
    except QuiaError:
        raise
    except json.JSONDecodeError as fault:
        raise FormatError(f"is not JSON: {fault.msg} (column {fault.colno})", file=file, line=fault.lineno) from None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError) as fault:
        raise FormatError(
            f"is not {what} that can be read: {type(fault).__name__} {shown(str(fault))}", file=file
        ) from None
