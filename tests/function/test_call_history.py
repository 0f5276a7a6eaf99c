"""Calls of functions, and how many of them traced."""

import functools

from tapeflow.function.call_history import CallHistory, history_of


def traces_at(*calls):
    """Returns what a history says of traces at calls with these numbers."""
    history = CallHistory()
    found = []
    for call in calls:
        history.calls = call
        found.append(history.traced())
    return found


def test_five_traces_are_worth_a_warning():
    assert traces_at(1, 2, 3, 4, 5) == [None] * 4 + [(5, 5)]
    assert traces_at(1, 3, 5, 7, 9) == [None] * 4 + [(5, 9)]


def test_old_traces_are_forgotten():
    assert traces_at(1, 2, 12, 13, 14) == [None] * 5  # the second one was ten calls before the third
    assert traces_at(1, 2, 11, 12, 13) == [None] * 5
    assert traces_at(1, 2, 3, 4, 11) == [None] * 4 + [(5, 11)]
    assert traces_at(1, 2, 3, 4, 12) == [None] * 5


def test_there_are_two_warnings():
    assert traces_at(*range(1, 9)) == [None] * 4 + [(5, 5), (6, 6), None, None]


def test_functions_with_the_same_code_share_a_history():
    def make(constant):
        return lambda x: x + constant

    first, second = make(1), make(2)
    assert history_of(first) is history_of(second)
    assert history_of(functools.wraps(first)(lambda x: first(x))) is history_of(first)
    assert history_of(lambda x: x) is not history_of(first)

    class Class:
        def method(self):
            return self

    assert history_of(Class().method) is history_of(Class.method)
    assert history_of(max) is not history_of(max)  # it has no code
    assert history_of(history_of) is not history_of(history_of)  # the engine's own
