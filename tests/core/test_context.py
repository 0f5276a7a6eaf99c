"""The state of threads, and contexts that change it for a while."""

import threading

import pytest

from tapeflow.core.context import ThreadState, discard, nobody_listening, once_for_each_slice, override, state


def test_state_of_a_thread():
    fresh = ThreadState()
    assert fresh.default_session() is None and fresh.name_scope == "" and fresh.graph is None
    assert fresh.in_turn is False and fresh.on_slices is False
    fresh.sessions += ["outer", "inner"]
    assert fresh.default_session() == "inner"
    found = []
    thread = threading.Thread(target=lambda: found.append((fresh.sessions, fresh.default_session())))
    thread.start()
    thread.join()
    assert found == [([], None)]


def test_the_last_of_several_entries_is_removed():
    a, b = [1], [1]  # equal, and not the same
    items = [a, b, a, b]
    discard(items, a)
    assert [item is a for item in items] == [True, False, False]
    discard(items, a)
    discard(items, a)
    assert items == [b, b]


def test_overridden_attributes():
    class Target:
        x, y, z = 1, 2, 3

    target = Target()
    with override(target, x=10, y=20) as given:
        assert (target.x, target.y, target.z, given) == (10, 20, 3, None)
        target.x, target.z = 11, 30
    assert (target.x, target.y, target.z) == (1, 2, 30)
    with pytest.raises(KeyError), override(target, y=5):
        raise KeyError
    assert target.y == 2


def test_tapes_of_this_thread_stop():
    before = state.tapes
    with nobody_listening():
        assert state.tapes == [] and state.tapes is not before
    assert state.tapes is before


def test_side_effects_on_all_slices():
    once_for_each_slice("an assignment")
    with (
        override(state, on_slices=True),
        pytest.raises(RuntimeError, match="vectorized_map: an assignment happens once for each slice"),
    ):
        once_for_each_slice("an assignment")
