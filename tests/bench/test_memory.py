"""What a process took is its own, not what the process that started it had."""

from benchmarks.memory import peak
from costs import said_by


def test_the_peak_begins_anew_with_each_program() -> None:
    ballast = b"x" * 2**29
    assert peak() > len(ballast)
    small, grown = map(int, said_by("print(peak()); ballast = b'x' * 2**27; print(peak())").split())
    assert small < 2**27 < grown < len(ballast)
