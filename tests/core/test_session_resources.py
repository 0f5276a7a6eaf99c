"""The state of operations between runs of a graph."""

import threading

from tapeflow.core.session_resources import Resources, held_here, in_session, in_use


class Waits:
    """A resource that can be cancelled."""

    def __init__(self):
        self.cancelled = 0

    def cancel(self):
        self.cancelled += 1


def test_resources_are_created_once():
    resources, made = Resources(), []
    create = lambda: made.append(1) or Waits()  # noqa: E731
    first = resources.get("a", create)
    assert resources.get("a", create) is first and resources.get("b", create) is not first and len(made) == 2


def test_closing_cancels_resources_of_then_and_later():
    resources = Resources()
    first, plain = resources.get("a", Waits), resources.get("b", dict)
    assert first.cancelled == 0
    resources.close()
    assert first.cancelled == 1 and plain == {}
    later = resources.get("c", Waits)
    assert later.cancelled == 1 and resources.get("a", Waits) is first and first.cancelled == 1
    assert resources.get("d", list) == []


def test_each_session_has_its_own():
    key = object()
    outside = held_here(key, Waits)
    assert not in_session()
    first, second = Resources(), Resources()
    with in_use(first):
        assert in_session()
        inside = held_here(key, Waits)
        with in_use(second):
            assert held_here(key, Waits) is not inside
        assert held_here(key, Waits) is inside
        found = []
        thread = threading.Thread(target=lambda: found.extend([in_session(), held_here(key, Waits)]))
        thread.start()
        thread.join()
        assert found == [False, outside]  # the session is this thread's
    assert not in_session() and held_here(key, Waits) is outside is not inside
