"""What runs leave on the disk beside their result, and when it goes."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quia.batch.local import Job

_WORK = ("_summary-*.json", "_rejects-*", ".*.partial")


def tidy(job: Job) -> None:
    """Remove what only an unfinished run needs."""
    _remove(job, _WORK)


def withdraw(job: Job, *, is_new: bool) -> None:
    """Remove the beginnings of a run of which no part was done, and its folder if that `is_new`."""
    _remove(job, ("part-*", *_WORK))
    with suppress(OSError):  # Windows keeps what is open, and something else may be in the folder
        job.journal.unlink(missing_ok=True)
        if is_new and job.work.exists():
            job.work.rmdir()


def forget(job: Job, *, has_run: bool) -> None:
    """Remove what an earlier run has left but for its journal, which the caller holds, and nothing else."""
    if has_run or not job.is_folder:
        _remove(job, ("part-*", *_WORK))
    if has_run and not job.is_folder and job.output.is_file():
        job.output.unlink()


def _remove(job: Job, patterns: tuple[str, ...]) -> None:
    """Remove the folder of parts, or, if that is the result, the files in it that are called so."""
    if not job.is_folder:
        shutil.rmtree(job.work, ignore_errors=True)
        return
    for pattern in patterns:
        for file in job.work.glob(pattern):
            file.unlink(missing_ok=True)
