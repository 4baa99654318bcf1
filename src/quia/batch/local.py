"""A run on one machine: parts read in order, explained on all cores, written whole; safe to kill at any moment."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quia import __version__
from quia.batch import leftovers
from quia.batch.arrow import explain_rows, schema
from quia.batch.cache import Cache
from quia.batch.coverage import joined_reference
from quia.batch.journal import Journal, open_journal
from quia.batch.missing import encode_decided
from quia.batch.question import Request
from quia.batch.read import Part, Source, fingerprint
from quia.batch.rules import Rule, most_frequent, rules_of
from quia.batch.summary import Summary, summary_of
from quia.batch.table import FAULT, States, arrow, from_numpy, to_numpy
from quia.batch.write import Format, format_of, join_parts, part_suffix, unwritable, write_batch, write_json
from quia.errors import FormatError, QuiaError
from quia.reference import Reference

if TYPE_CHECKING:
    import pyarrow as pa

    from quia.classifier import Classifier

MOST_ROWS, MOST_CELLS = 2**17, 2**21
_PARTS = 40
_KEPT_SETS = 1000


class Progress(NamedTuple):
    """How far a run is: rows done now and by earlier runs, how many there are if known, seconds since the start."""

    rows: int
    rows_before: int
    rows_in_all: int | None
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Job:
    """What a run is to do. `model` tells one model from another; `output` is a file, or else a folder of parts."""

    classifier: Classifier
    model: str
    source: Source
    request: Request
    output: Path
    format: Format
    is_folder: bool
    ids: tuple[str, ...] = ()
    rejects: Path | None = None
    part_rows: int = 0
    threads: int = 0

    @property
    def work(self) -> Path:
        """Where parts are written."""
        return self.output if self.is_folder else self.output.with_name(f"{self.output.name}.parts")

    @property
    def journal(self) -> Path:
        """What says which are done."""
        return self.output / "_journal" if self.is_folder else self.output.with_name(f"{self.output.name}.journal")

    def part(self, index: int) -> Path:
        """The file of a part."""
        return self.work / f"part-{index:06d}.{part_suffix(self.format, joined=not self.is_folder)}"

    def rejects_part(self, index: int) -> Path:
        """The file of a part's rejected rows."""
        assert self.rejects is not None
        return self.work / f"_rejects-{index:06d}.{part_suffix(format_of(str(self.rejects)), joined=True)}"

    def summary_part(self, index: int) -> Path:
        """The file of a part's summary."""
        return self.work / f"_summary-{index:06d}.json"

    @property
    def rows_a_part(self) -> int:
        """How many rows a part has: enough parts for all cores, few enough to keep, and never a full memory."""
        if self.part_rows:
            return self.part_rows
        known = self.source.rows or MOST_ROWS * _PARTS // 4
        even = 1 << max(12, (max(known, 1) // _PARTS).bit_length())
        return max(256, min(even, MOST_ROWS, MOST_CELLS // max(1, len(self.source.columns))))

    def asked(self) -> dict[str, Any]:
        """What makes the result what it is; if any of it differs, it is another run."""
        asked = {
            "version": __version__,
            "model": self.model,
            "input": {"path": os.path.abspath(self.source.path), **self.source.fingerprint()},
            "question": self.request.identity(),
            "columns": list(self.source.columns),
            "ids": list(self.ids),
            "part_rows": self.rows_a_part,
            "rejects": None if self.rejects is None else str(self.rejects),
        }
        plain: dict[str, Any] = json.loads(json.dumps(asked))
        return plain


def run(job: Job, *, progress: Callable[[Progress], None] | None = None, restart: bool = False) -> Summary:
    """Explain every row of the source; go on where an earlier run was stopped.

    Raises QuiaError, and leaves nothing half-written under a final name, if something cannot be read or written.
    """
    has_run = job.journal.exists()
    if not restart and not has_run and job.output.exists() and not _is_empty_folder(job.output):
        raise QuiaError(f"{job.output} is there already and no run of quia's left it; remove it or write elsewhere")
    asked, is_new = job.asked(), not job.work.exists()
    _make(job.journal.parent)
    journal = open_journal(job.journal, asked, output=job.output, anew=restart)
    try:
        if restart:
            leftovers.forget(job, has_run=has_run)
        _make(job.work)
        if journal.finished is None or not _is_whole(job, journal):
            _explain_all(job, journal, progress or (lambda _: None))
            if journal.asked["input"] != job.asked()["input"]:
                raise FormatError("has changed while it was read; run again with --restart", file=job.source.path)
            summary = _finish(job, journal)
        else:
            summary = Summary.from_dict(journal.finished)
        leftovers.tidy(job)
        return summary
    except BaseException:
        if not journal.done and journal.finished is None:
            leftovers.withdraw(job, is_new=is_new)
        raise
    finally:
        journal.close()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise unwritable(folder, NotADirectoryError(errno.ENOTDIR, "")) from None
    except OSError as fault:
        raise unwritable(folder, fault) from None


def _explain_all(job: Job, journal: Journal, progress: Callable[[Progress], None]) -> None:
    started = time.monotonic()
    before = sum(facts["rows"] for facts in journal.done.values())
    rows = 0
    threads = job.threads or os.cpu_count() or 1
    cache = Cache()
    reference = _reference(job) if job.request.coverage else None
    stop = threading.Event()
    waiting: set[Future[tuple[int, dict[str, Any]]]] = set()

    def settle(done: set[Future[tuple[int, dict[str, Any]]]]) -> None:
        nonlocal rows
        for future in done:
            index, facts = future.result()
            journal.write_done(index, facts)
            rows += facts["rows"]
        progress(Progress(rows, before, job.source.rows, time.monotonic() - started))

    with ThreadPoolExecutor(threads) as pool:
        try:
            for part in job.source.parts(job.rows_a_part):
                if _is_done(job, journal, part):
                    continue
                waiting.add(pool.submit(_explain_part, job, part, cache, stop, reference))
                # One part more than there are threads, so that none waits for the reader.
                while len(waiting) > threads:
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    settle(done)
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                settle(done)
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _is_done(job: Job, journal: Journal, part: Part) -> bool:
    facts = journal.done.get(part.number)
    if facts is None or facts["rows"] != part.rows.num_rows:
        return False
    file = job.part(part.number)
    return file.is_file() and file.stat().st_size == facts["bytes"] and job.summary_part(part.number).is_file()


def _is_whole(job: Job, journal: Journal) -> bool:
    """Whether a finished run's result is still there; refused if something else is in its place."""
    for name, path in _joined(job).items():
        if not path.is_file():
            return False
        if name in journal.files and journal.files[name] != fingerprint([str(path)]):
            raise QuiaError(f"{path} has changed since its run was finished; write elsewhere, or use --restart")
    if not job.is_folder:
        return True
    sizes = {job.part(index): facts["bytes"] for index, facts in journal.done.items()}
    return all(file.is_file() and file.stat().st_size == size for file, size in sizes.items())


def _joined(job: Job) -> dict[str, Path]:
    """The files that a run makes of its parts in the end."""
    made = {"output": None if job.is_folder else job.output, "rejects": job.rejects}
    return {name: path for name, path in made.items() if path is not None}


def _reference(job: Job) -> Reference:
    """The rows of the whole table that have a decision: it is read once for them before it is explained."""

    def states() -> Iterator[States]:
        for part in job.source.parts(job.rows_a_part):
            encoded = encode_decided(job.classifier, part.rows, job.request.worlds)
            yield encoded.states[encoded.faults.sound]

    return joined_reference(tuple(job.classifier.variables), states())


def told_rules(job: Job, summary: Summary, *, count_rows: bool) -> list[Rule]:
    """The most frequent general reasons; with `count_rows`, the table is read again for the rows each is true of."""
    parts = (part.rows for part in job.source.parts(job.rows_a_part)) if count_rows and summary.rules else None
    return most_frequent(summary.rules, job.classifier, parts, job.request)


def _explain_part(
    job: Job, part: Part, cache: Cache, stop: threading.Event, reference: Reference | None
) -> tuple[int, dict[str, Any]]:
    if stop.is_set():
        raise QuiaError("stopped")
    request = replace(job.request, threads=1)  # the parts themselves keep all cores busy
    found, rows = explain_rows(
        job.classifier, part.rows, request, ids=job.ids, cache=cache, encoded=True, reference=reference
    )
    summary = summary_of(found, ids=job.ids, start=part.start)
    summary.rules = rules_of(rows, job.classifier, request)
    if not job.ids:
        found = _numbered(found, part.start)
    if job.rejects is not None:
        found, rejected = _parted(found, part)
        write_batch(rejected, job.rejects_part(part.number))
    write_json(summary.to_dict(), job.summary_part(part.number))
    write_batch(found, job.part(part.number))
    return part.number, {"rows": part.rows.num_rows, "bytes": job.part(part.number).stat().st_size}


def _numbered(found: pa.RecordBatch, start: int) -> pa.RecordBatch:
    pa = arrow()
    numbers = from_numpy(np.arange(start + 1, start + 1 + found.num_rows))
    return pa.RecordBatch.from_arrays([numbers, *found.columns], schema=_result_schema(found.schema))


def _result_schema(answers: Any) -> Any:
    """With the number of the row, from 1 on, first."""
    pa = arrow()
    return pa.schema([pa.field("row", pa.int64()), *answers])


def _parted(found: pa.RecordBatch, part: Part) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The rows that have a decision; and the input rows that have none, with their number and why."""
    pa = arrow()
    sound = found.column("decision").is_valid()
    faulty = from_numpy(~to_numpy(sound))
    rows = part.rows.filter(faulty)
    names = [name for name in rows.schema.names if name != FAULT]
    numbers = from_numpy(np.flatnonzero(to_numpy(faulty)) + part.start + 1)
    columns = [numbers, *(_plain(rows.column(name)) for name in names), _plain(found.column("error").filter(faulty))]
    rejected = pa.RecordBatch.from_arrays(columns, names=["row", *names, "error"])
    return found.filter(sound), rejected


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if arrow().types.is_dictionary(column.type) else column


def _finish(job: Job, journal: Journal) -> Summary:
    """Join what is to be joined, add up, and say so."""
    indices = sorted(journal.done)
    summary = Summary()
    for index in indices:
        summary.add(Summary.from_dict(json.loads(job.summary_part(index).read_text(encoding="utf-8"))))
    if job.rejects is not None:
        join_parts([job.rejects_part(i) for i in indices], job.rejects, _rejects_schema(job, indices))
    if not job.is_folder:
        join_parts([job.part(i) for i in indices], job.output, _output_schema(job))
    elif not indices:
        empty = _output_schema(job).empty_table().combine_chunks().to_batches()
        batch = empty[0] if empty else arrow().RecordBatch.from_pylist([], _output_schema(job))
        write_batch(batch, job.part(0))
    files = {name: fingerprint([str(path)]) for name, path in _joined(job).items()}
    journal.write_finished(summary.to_dict(most_sets=_KEPT_SETS), files)
    return summary


def _output_schema(job: Job) -> Any:
    id_fields = [job.source.schema.field(name) for name in job.ids]
    answers = schema(job.request, id_fields, encoded=True)
    return answers if job.ids else _result_schema(answers)


def _rejects_schema(job: Job, indices: Sequence[int]) -> Any:
    pa = arrow()
    fields = [job.source.schema.field(name) for name in job.source.columns]
    return pa.schema([pa.field("row", pa.int64()), *fields, pa.field("error", pa.string())])


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
