"""A convolution over a graph of users and items."""

# requires: tf-keras
# tests: tensorflow_gnn/graph/adjacency_test.py tensorflow_gnn/graph/dict_utils_test.py
# tests: tensorflow_gnn/graph/tag_utils_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
import tensorflow_gnn as tfgnn

graph = tfgnn.GraphTensor.from_pieces(
    node_sets={
        "users": tfgnn.NodeSet.from_fields(sizes=[3], features={"hidden_state": tf.ones([3, 4])}),
        "items": tfgnn.NodeSet.from_fields(sizes=[2], features={"hidden_state": tf.ones([2, 4])}),
    },
    edge_sets={
        "bought": tfgnn.EdgeSet.from_fields(
            sizes=[3], adjacency=tfgnn.Adjacency.from_indices(("users", [0, 1, 2]), ("items", [0, 0, 1]))
        )
    },
)
update = tfgnn.keras.layers.GraphUpdate(
    node_sets={
        "items": tfgnn.keras.layers.NodeSetUpdate(
            {"bought": tfgnn.keras.layers.SimpleConv(tf.keras.layers.Dense(4), "sum", receiver_tag=tfgnn.TARGET)},
            tfgnn.keras.layers.NextStateFromConcat(tf.keras.layers.Dense(4)),
        )
    }
)
assert update(graph).node_sets["items"]["hidden_state"].shape == (2, 4)
pooled = tfgnn.keras.layers.Pool(tfgnn.CONTEXT, "mean", node_set_name="users")(graph)
assert pooled.shape == (1, 4)
