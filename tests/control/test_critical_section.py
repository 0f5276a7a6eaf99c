"""`tf.CriticalSection`: one thread at a time."""

import threading

import pytest

import tapeflow as tf


def test_names():
    assert tf.CriticalSection(name="a").name == "a"
    assert tf.CriticalSection().name == "critical_section" and tf.CriticalSection(shared_name="b").name == "b"
    assert tf.CriticalSection("a", "b").name == "a"


def test_results():
    section = tf.CriticalSection()
    result = section.execute(lambda: {"a": 1, "b": [tf.constant([2]), None]})
    assert tf.is_tensor(result["a"]) and result["a"].numpy() == 1
    assert result["b"][0].numpy().tolist() == [2] and result["b"][1] is None


@pytest.mark.parametrize("named", ["own", "shared", "other"])
def test_one_thread_at_a_time(named):
    first = tf.CriticalSection(shared_name=None if named == "own" else "test_one_thread")
    second = {
        "own": lambda: first, "shared": lambda: tf.CriticalSection(shared_name="test_one_thread"),
        "other": lambda: tf.CriticalSection(shared_name="test_another_name"),
    }[named]()  # fmt: skip
    inside, leave, seen = threading.Event(), threading.Event(), []

    def stay():
        inside.set()
        assert leave.wait(60)
        seen.append("first")
        return 1

    threads = [threading.Thread(target=lambda: first.execute(stay))]
    threads[0].start()
    assert inside.wait(60)
    entered = threading.Event()
    threads.append(threading.Thread(target=lambda: second.execute(lambda: seen.append("second") or entered.set() or 1)))
    threads[1].start()
    if named == "other":
        assert entered.wait(60)
    leave.set()
    for thread in threads:
        thread.join(60)
    assert seen == (["second", "first"] if named == "other" else ["first", "second"])


def test_a_section_is_not_entered_twice():
    section = tf.CriticalSection(name="mine")
    with pytest.raises(ValueError, match=r"Attempting to lock .*in which we are already running"):
        section.execute(lambda: section.execute(lambda: 1))
    assert section.execute(lambda: 2).numpy() == 2

    def fail():
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        section.execute(fail)
    other = tf.CriticalSection()
    assert section.execute(lambda: other.execute(lambda: 3)).numpy() == 3
