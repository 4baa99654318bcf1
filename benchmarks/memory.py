"""The most memory that a process had so far."""

from pathlib import Path


def peak_of(process: int) -> int:
    """The most memory that another process had since its program began, in bytes; 0 where that is not told."""
    try:
        lines = (line.split() for line in Path(f"/proc/{process}/status").read_text().splitlines())
        return next((int(line[1]) for line in lines if line[0] == "VmHWM:"), 0) * 1024
    except OSError:
        return 0


def peak() -> int:
    """The most memory that this process had since its program began, in bytes.

    Not `ru_maxrss`, where Linux tells otherwise: that is handed on to a program by the process which started it, so
    that one begun by a large process seems large, and to grow by nothing.
    """
    import resource
    import sys
    from pathlib import Path

    status = Path("/proc/self/status")
    if status.exists():
        lines = (line.split() for line in status.read_text().splitlines())
        return next(int(line[1]) for line in lines if line[0] == "VmHWM:") * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
