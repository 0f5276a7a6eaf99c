"""Rows of dataset tests: a dataset's elements, spec and cardinality, eagerly and from inside a function."""

import tapeflow as tf

MOST = 40  # elements that are taken of an endless dataset
experimental = tf.data.experimental


def plain(value):
    """A component as lists, numbers and bytes: of sparse tensors the parts, of datasets the elements."""
    if isinstance(value, tf.data.Dataset):
        return take_elements(value)
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    if isinstance(value, tf.SparseTensor):
        return tuple(part.numpy().tolist() for part in (value.indices, value.values, value.dense_shape))
    if isinstance(value, tf.Tensor):
        array = value.numpy()
        return array if isinstance(array, bytes) else array.tolist()
    return value


def take_elements(dataset):
    """The first elements. The name of an error's class stands in the place of an element that raises it."""
    iterator, found = iter(dataset), []
    while len(found) < MOST:
        try:
            found.append(tf.nest.map_structure(plain, next(iterator)))
        except StopIteration:
            break
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


def made_in_function(make):
    """The dataset that a function builds as operations of its graph."""
    spec = []

    @tf.function
    def build():
        dataset = make()
        spec.append(dataset.element_spec)
        return experimental.to_variant(dataset)

    variant = build()
    return experimental.from_variant(variant, spec[0])


def check_eager(make, elements, spec, cardinality):
    """Compares the dataset that `make` returns with a row of a table."""
    tf.random.set_seed(1)
    dataset = make()
    assert dataset.element_spec == spec
    assert int(dataset.cardinality()) == cardinality
    assert take_elements(dataset) == elements


def check_dataset(make, elements, spec, cardinality):
    """Compares the datasets that `make` returns, eagerly and in a function, with a row of a table."""
    check_eager(make, elements, spec, cardinality)
    tf.random.set_seed(1)
    assert take_elements(made_in_function(make)) == elements
