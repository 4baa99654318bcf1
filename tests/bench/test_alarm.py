"""The limit on work that does not look at the clock: it stops the work, and rings in nothing that comes after."""

import inspect
import signal
import sys
import threading
import time

import pytest

from benchmarks import alarm, generate, models
from benchmarks.alarm import TimeIsUp, limited
from benchmarks.algorithms import PAPER, QUESTIONS, ask_paper, reason_formula
from quia import paper


def endless():
    while True:
        pass


def in_a_thread(work):
    """What the work returns or raises in a thread that is not the main one, where no signal is handled."""
    caught = []

    def run():
        try:
            caught.append(work())
        except BaseException as fault:
            caught.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    return caught[0]


def test_endless_work_is_stopped_by_the_alarm():
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(TimeIsUp), limited(0.05):
        endless()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) is before


def test_where_there_is_no_alarm_another_thread_stops_it(monkeypatch):
    def work():
        assert not alarm.by_cpu()
        with limited(0.05):
            endless()

    assert isinstance(in_a_thread(work), TimeIsUp)
    monkeypatch.delattr(signal, "setitimer")  # as on Windows
    assert not alarm.by_cpu()
    with pytest.raises(TimeIsUp):
        work()


@pytest.mark.parametrize("has_alarm", [True, False])
def test_it_does_not_ring_in_what_comes_after(has_alarm, monkeypatch):
    if not has_alarm:
        monkeypatch.delattr(signal, "setitimer")
    with limited(0.05):
        answer = 42
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
    assert answer == 42


def test_a_fault_of_the_work_is_not_taken_for_its_end():
    with pytest.raises(ZeroDivisionError), limited(10):
        print(1 // 0)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


@pytest.mark.parametrize("main", [True, False])
def test_the_papers_algorithms_stop_at_the_limit(main):
    graph = generate.tree(2001, 60, classes=2, seed=3)
    formulas = [reason_formula(graph, row) for row in models.random_states(graph, 30, seed=3)]

    def work():
        return [ask_paper("SR", formula, 0.02) for formula in formulas]

    unfinished = [o for o in (work() if main else in_a_thread(work)) if not o.finished]
    assert unfinished and all(o.count is None and o.reasons is None and o.seconds > 0 for o in unfinished)


@pytest.mark.parametrize("question", QUESTIONS)
def test_timing_the_papers_algorithms_adds_nothing_to_what_they_call(question):
    """The calls made under the limit, counted by Python's own hook, are those of the bare algorithm."""
    graph = generate.tree(101, 8, seed=1)
    formula = reason_formula(graph, models.random_states(graph, 1, seed=1)[0])

    def calls(work):
        counted = dict.fromkeys(("call", "c_call"), 0)

        def hook(frame, event, argument):
            if event in counted and frame.f_code.co_filename == paper.__file__:
                counted[event] += 1

        sys.setprofile(hook)
        try:
            work()
        finally:
            sys.setprofile(None)
        return counted

    timed, bare = calls(lambda: ask_paper(question, formula, 60)), calls(lambda: PAPER[question](formula))
    assert timed == bare and bare["call"] > 10
    assert list(inspect.signature(PAPER[question]).parameters) == ["formula"]
