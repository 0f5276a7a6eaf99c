"""Lists, dicts and tuples that checkpoints follow: their methods, and the originals, which change with them."""

import collections
import copy
import tempfile

import pytest

import tapeflow as tf

Pair = collections.namedtuple("Pair", ["first", "second"])


def tracked(value):
    """A container as a module holds it."""
    module = tf.Module()
    module.it = value
    return module.it


def saved_names(value):
    """The names of the variables below a container in a checkpoint's keys."""
    with tempfile.TemporaryDirectory() as folder:
        keys = tf.train.list_variables(tf.train.Checkpoint(it=value).write(f"{folder}/m"))
    return sorted(key.partition("/.ATTR")[0] for key, _ in keys if key.startswith("it/"))


def variables(count):
    return [tf.Variable(float(i), name=f"v{i}") for i in range(count)]


# ---- lists -----------------------------------------------------------------------------------------------------------


def test_lists_are_lists():
    a, b, c = variables(3)
    original = [a, [b]]
    items = tracked(original)
    assert isinstance(items, list)
    assert items == [a, [b]]
    assert len(items) == 2
    assert items[0] is a
    assert items[-1][0] is b
    assert type(items).__name__ == "ListWrapper"
    assert type(items[1]).__name__ == "ListWrapper"
    items.append({"c": c})
    assert isinstance(items[2], dict)
    assert original[2] == {"c": c}
    assert items[2]["c"] is c
    assert saved_names(items) == ["it/0", "it/1/0", "it/2/c"]
    assert [v.name for v in items.trainable_variables] == ["v1:0", "v2:0", "v0:0"] or len(
        items.trainable_variables
    ) == 3
    assert hash(items) == hash(items)
    assert hash(items) != hash(tracked([a, [b]]))
    assert repr(tracked([1])) == "ListWrapper([1])"


def test_lists_that_grow_are_saved():
    a, b, c, d = variables(4)
    items = tracked([a])
    items.extend([b])
    items += [c]
    assert items == [a, b, c]
    assert saved_names(items) == ["it/0", "it/1", "it/2"]
    items *= 2
    assert items == [a, b, c] * 2
    plain = tracked([1, 2])
    plain *= 0
    assert plain == []
    plain.append(d)
    assert saved_names(plain) == ["it/0"]
    assert tracked([1]) * 3 == [1, 1, 1]
    assert [*tracked([1]), 2] == [1, 2]
    assert [0, *tracked([1])] == [0, 1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda items, v: items.insert(0, v), "vab"),
        (lambda items, v: items.pop(), "a"),
        (lambda items, v: items.pop(0), "b"),
        (lambda items, v: items.remove(items[0]), "b"),
        (lambda items, v: items.reverse(), "ba"),
        (lambda items, v: items.sort(key=lambda x: -float(x)), "ba"),
        (lambda items, v: items.clear(), ""),
        (lambda items, v: items.__delitem__(0), "b"),
        (lambda items, v: items.__setitem__(0, v), "vb"),
        (lambda items, v: items.__setitem__(-1, v), "av"),
        (lambda items, v: items.__setitem__(slice(0, 1), [v, v]), "vvb"),
        (lambda items, v: items.__setitem__(slice(1, None), []), "a"),
    ],
)
def test_lists_that_lose_elements_are_not(change, expected):
    a, b, v = variables(3)
    names = {"a": a, "b": b, "v": v}
    original = [a, b]
    items = tracked(original)
    change(items, v)
    assert [id(x) for x in items] == [id(names[n]) for n in expected] == [id(x) for x in original]
    with pytest.raises(ValueError, match=r"(?s)Unable to save the object.*A list element was replaced"):
        saved_names(items)


def test_lists_of_numbers_may_change():
    items = tracked([3, 1, 2])
    items.sort()
    items[0] = 5
    items[1:] = [7]
    assert items == [5, 7]
    assert saved_names(items) == []
    with pytest.raises(IndexError):
        items[2] = 1
    with pytest.raises(IndexError):
        items[-3] = 1


def test_lists_that_change_by_themselves():
    a, b = variables(2)
    original = [a]
    items = tracked(original)
    original.append(b)
    with pytest.raises(ValueError, match="was modified outside the wrapper"):
        saved_names(items)


def test_copies_of_lists():
    a, b = variables(2)
    items = tracked([a, 1])
    for copied in (items.copy(), copy.copy(items)):
        assert copied == items
        assert copied is not items
        copied.append(b)
        assert len(items) == 2
    deep = copy.deepcopy(items)
    assert deep[0] is not a
    assert float(deep[0]) == float(a)
    assert deep[1] == 1
    deep[0].assign(9.0)
    assert float(a) == 0.0


# ---- dicts -----------------------------------------------------------------------------------------------------------


def test_dicts_are_dicts():
    a, b, c = variables(3)
    original = {"a": a, "n": {"b": [b]}, 3: "x"}
    items = tracked(original)
    assert isinstance(items, dict)
    assert items == original
    assert items["a"] is a
    assert list(items) == ["a", "n", 3]
    items["c"] = c
    assert original["c"] is c
    assert saved_names(items) == ["it/a", "it/c", "it/n/b/0"]
    del items["c"]
    assert "c" not in original
    assert saved_names(items) == ["it/a", "it/n/b/0"]
    del items[3]
    assert 3 not in original
    items |= {"d": c}
    assert saved_names(items) == ["it/a", "it/d", "it/n/b/0"]
    assert items.setdefault("a", c) is a
    assert items.setdefault("e", 5) == 5
    assert original["e"] == 5
    assert items.setdefault("f") is None
    assert items.popitem() == ("f", None)
    assert "f" not in original
    assert items.pop("e") == 5
    assert items.pop("e", 6) == 6
    with pytest.raises(KeyError):
        items.pop("e")
    with pytest.raises(KeyError):
        del items["e"]
    items.update({"g": 1}, h=2)
    assert original["g"] == 1
    assert original["h"] == 2
    items.clear()
    assert items == {} == original
    assert saved_names(items) == []


def test_keys_that_are_no_strings():
    a = tf.Variable(1.0)
    with pytest.raises(ValueError, match="non-string key which maps to a trackable object"):
        saved_names(tracked({3: a}))
    assert saved_names(tracked({3: 4, "a": a})) == ["it/a"]


def test_dicts_that_change_by_themselves():
    for change in (lambda d: d.update(x=1), lambda d: d.update(a=tf.Variable(2.0)), lambda d: d.pop("a")):
        original = {"a": tf.Variable(1.0)}
        items = tracked(original)
        change(original)
        with pytest.raises(ValueError, match="was modified outside the wrapper"):
            saved_names(items)


def test_copies_of_dicts():
    a, b = variables(2)
    items = tracked({"a": a, "l": [1]})
    plain = items.copy()
    assert plain == items
    plain["b"] = b
    assert "b" not in items
    shallow = copy.copy(items)
    shallow["b"] = b
    assert "b" not in items
    assert shallow["a"] is a
    deep = copy.deepcopy(items)
    assert deep["a"] is not a
    assert float(deep["a"]) == 0.0
    assert hash(items) == hash(items)


def test_ordered_dicts_and_defaults():
    ordered = tracked(collections.OrderedDict([("b", tf.Variable(1.0)), ("a", 2)]))
    assert isinstance(ordered, collections.OrderedDict)
    assert list(ordered) == ["b", "a"]
    assert saved_names(ordered) == ["it/b"]


# ---- tuples ----------------------------------------------------------------------------------------------------------


def test_tuples():
    a, b = variables(2)
    plain = tracked((a, [b], 3))
    assert isinstance(plain, tuple)
    assert plain[0] is a
    assert plain[2] == 3
    assert saved_names(plain) == ["it/0", "it/1/0"]
    assert type(plain[1]).__name__ == "ListWrapper"
    named = tracked(Pair(a, {"x": b}))
    assert isinstance(named, Pair)
    assert named.first is a
    assert named.second["x"] is b
    assert [n for n in saved_names(named) if n in ("it/0", "it/first")]
    assert len(saved_names(named)) == 2
    numbers = (1, 2)
    assert tracked(numbers) == (1, 2)
    nested = tracked(([1],))
    assert nested == ([1],)


# ---- weights ---------------------------------------------------------------------------------------------------------


def test_weights_of_containers():
    a, b = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    for items in (tracked([a, b]), tracked({"b": b, "a": a})):
        assert [v is a for v in items.trainable_weights] == [True]
        assert [v is b for v in items.non_trainable_weights] == [True]
        assert [id(v) for v in items.weights] == [id(a), id(b)] == [id(v) for v in items.variables]
        assert items.trainable is True
        assert items.layers == []
        assert items.losses == []
        assert items.updates == []
        items.trainable = False
        assert items.trainable is False
        assert items.trainable_weights == []
        assert [id(v) for v in items.non_trainable_weights] == [id(a), id(b)]
