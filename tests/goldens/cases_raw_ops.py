"""Raw ops that are older forms of others. For most TensorFlow has no kernels any more: `tests/test_raw_ops.py`."""

from goldens.case import Group

GROUP = Group("m, raw = tf.constant([[[4., 1.], [1., 3.]], [[2., 0.], [1., 5.]]]), tf.raw_ops")
GROUP.values("""
raw.BatchMatMul(x=m, y=m)
raw.BatchMatMul(x=m, y=m, adj_y=True)
raw.InTopK(predictions=[[1., 3.], [4., 2.]], targets=[1, 1], k=1)
raw.QuantizeAndDequantizeV3(input=[0.1, -0.7, 0.33], input_min=-1., input_max=1., num_bits=4)
""")
GROUP.errors("""
raw.TopK([1.], 1)
raw.TopK(input=[1.])
""")
