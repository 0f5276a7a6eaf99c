"""Calls that change in other ways than by names. The new calls are those of TensorFlow's `tf_upgrade_v2`, but where
that fails or loses an argument."""

import pytest

from tapeflow_compat.tensorflow_python.upgrade.programs import upgrade_text

# The old call, the new one, and the levels of the report.
CALLS = """
tf.nn.dropout(x)
    tf.nn.dropout(x)
    ERROR
tf.nn.dropout(x, rate=.1)
    tf.nn.dropout(x, rate=.1)

tf.nn.dropout(x, keep_prob=.9)
    tf.nn.dropout(x, rate=1 - (.9))
    INFO
tf.nn.dropout(x, .9)
    tf.nn.dropout(x, rate=1 - (.9))
    INFO
tf.nn.dropout(x, .9, [1])
    tf.nn.dropout(x, rate=1 - (.9), noise_shape=[1])
    INFO
tf.nn.dropout(x, .9, [1], 3, 'n')
    tf.nn.dropout(x, rate=1 - (.9), noise_shape=[1], seed=3, name='n')
    INFO
tf.nn.dropout(x, .9, seed=3)
    tf.nn.dropout(x, rate=1 - (.9), seed=3)
    INFO
tf.to_int32(x)
    tf.cast(x, dtype=tf.int32)
    INFO
tf.to_bfloat16(x)
    tf.cast(x, dtype=tf.bfloat16)
    INFO
tf.to_double(x, 'n')
    tf.cast(x, name='n', dtype=tf.float64)
    INFO
tf.to_complex64(x, name='n')
    tf.cast(x, name='n', dtype=tf.complex64)
    INFO
tf.nn.softmax_cross_entropy_with_logits(labels=l, logits=x)
    tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(l), logits=x)
    INFO
tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(l), logits=x)
    tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(l), logits=x)

tf.nn.softmax_cross_entropy_with_logits(logits=x)
    tf.nn.softmax_cross_entropy_with_logits(logits=x)

tf.nn.softmax_cross_entropy_with_logits(None, l, x)
    tf.nn.softmax_cross_entropy_with_logits(labels=tf.stop_gradient(None), logits=l, axis=x)
    INFO INFO INFO
tf.image.extract_glimpse(a, b, c, uniform_noise=True)
    tf.image.extract_glimpse(a, b, c, noise='uniform' if (True) else 'gaussian')
    INFO
tf.image.extract_glimpse(a, b, c, True, True, False, 'n')
    tf.image.extract_glimpse(a, b, c, True, True, 'uniform' if (False) else 'gaussian', 'n')
    INFO
tf.image.extract_glimpse(a, b, c)
    tf.image.extract_glimpse(a, b, c)

tf.image.resize_area(x, s)
    tf.image.resize(x, s, method=tf.image.ResizeMethod.AREA)
    INFO
tf.image.resize_bicubic(x, s, align_corners=True)
    tf.image.resize(x, s, method=tf.image.ResizeMethod.BICUBIC)
    WARNING INFO
tf.image.resize_bilinear(x, s, True, preserve_aspect_ratio=True)
    tf.image.resize(x, s, preserve_aspect_ratio=True, method=tf.image.ResizeMethod.BILINEAR)
    WARNING INFO
tf.image.resize_nearest_neighbor(x, s, True, False)
    tf.image.resize(x, s, preserve_aspect_ratio=False, method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    WARNING INFO
tf.image.resize_bilinear(images=x, size=s)
    tf.image.resize(images=x, size=s, method=tf.image.ResizeMethod.BILINEAR)
    INFO
tf.nn.fractional_avg_pool(x, p, deterministic=True)
    tf.nn.fractional_avg_pool(value=x, pooling_ratio=p, seed=42)
    INFO INFO INFO
tf.nn.fractional_max_pool(x, p, deterministic=False, seed=1, seed2=2)
    tf.nn.fractional_max_pool(value=x, pooling_ratio=p, seed=1)
    INFO INFO INFO
tf.nn.fractional_max_pool(x, p, deterministic=True, seed=1)
    tf.nn.fractional_max_pool(value=x, pooling_ratio=p, seed=1)
    INFO INFO WARNING
tf.nn.fractional_max_pool(x, p, seed2=2)
    tf.nn.fractional_max_pool(value=x, pooling_ratio=p)
    INFO INFO
tf.nn.fractional_max_pool(x, p, deterministic=d)
    tf.nn.fractional_max_pool(value=x, pooling_ratio=p, seed=42)
    INFO INFO INFO
tf.name_scope('a')
    tf.compat.v1.name_scope('a')
    INFO
tf.name_scope(None, 'a')
    tf.name_scope(name='a')
    INFO
tf.name_scope(name=None, default_name='a', values=[x])
    tf.name_scope(name='a')
    INFO
tf.name_scope(default_name='a', values=[x])
    tf.name_scope(name='a')
    INFO
tf.name_scope(name='b', default_name='a')
    tf.compat.v1.name_scope(name='b', default_name='a')
    INFO
tf.name_scope()
    tf.name_scope()
    ERROR
tf.name_scope(None)
    tf.name_scope(None)
    ERROR
tf.strings.split(x)
    tf.strings.split(x).to_sparse()
    INFO
tf.strings.split(source=x, sep=',')
    tf.strings.split(input=x, sep=',').to_sparse()
    INFO
tf.strings.split(x, result_type='SparseTensor')
    tf.strings.split(x).to_sparse()
    INFO INFO
tf.strings.split(x, result_type='RaggedTensor')
    tf.strings.split(x)
    INFO
tf.strings.split(x, result_type=r)
    tf.compat.v1.strings.split(x, result_type=r)
    INFO
tf.strings.split(x).to_sparse()
    tf.strings.split(x).to_sparse()

tf.device('/cpu:0')
    tf.device('/cpu:0')

tf.device(device_name='/cpu:0')
    tf.device(device_name='/cpu:0')

tf.device(device_name=f)
    tf.compat.v1.device(device_name=f)
    INFO
tf.zeros_like(x, optimize=True)
    tf.zeros_like(x)
    INFO
tf.ones_like(x, optimize=False)
    tf.compat.v1.ones_like(x, optimize=False)
    INFO
tf.ones_like(x, optimize=o)
    tf.compat.v1.ones_like(x, optimize=o)
    INFO
tf.ones_like(x)
    tf.ones_like(x)

tf.while_loop(c, b, [x], return_same_structure=True)
    tf.while_loop(cond=c, body=b, loop_vars=[x])
    INFO INFO
tf.while_loop(c, b, [x], return_same_structure=False)
    tf.compat.v1.while_loop(cond=c, body=b, loop_vars=[x], return_same_structure=False)
    INFO INFO
tf.nn.ctc_beam_search_decoder(x, l, merge_repeated=False)
    tf.nn.ctc_beam_search_decoder(inputs=x, sequence_length=l)
    INFO INFO
tf.nn.ctc_beam_search_decoder(x, l, merge_repeated=True)
    tf.compat.v1.nn.ctc_beam_search_decoder(inputs=x, sequence_length=l, merge_repeated=True)
    INFO INFO
tf.nn.ctc_beam_search_decoder(x, l)
    tf.nn.ctc_beam_search_decoder(inputs=x, sequence_length=l)
    INFO
tf.nn.dilation2d(x, f, s, r, 'SAME')
    tf.nn.dilation2d(x, f, s, r, 'SAME', data_format="NHWC")
    INFO
tf.nn.erosion2d(value=x, kernel=k, strides=s, rates=r, padding=p)
    tf.nn.erosion2d(value=x, filters=k, strides=s, dilations=r, padding=p, data_format="NHWC")
    INFO INFO INFO
tf.keras.models.save_model(m, p)
    tf.keras.models.save_model(m, p, save_format="h5")
    INFO
tf.contrib.summary.always_record_summaries()
    tf.compat.v2.summary.record_if(True)
    INFO INFO
tf.contrib.summary.never_record_summaries()
    tf.compat.v2.summary.record_if(False)
    INFO INFO
tf.contrib.summary.scalar('a', x)
    tf.compat.v2.summary.scalar(name='a', data=x, step=tf.compat.v1.train.get_or_create_global_step())
    INFO INFO WARNING WARNING INFO
tf.contrib.summary.scalar('a', x, step=3)
    tf.compat.v2.summary.scalar(name='a', data=x, step=3)
    INFO INFO WARNING INFO
tf.contrib.summary.image(name='a', tensor=x)
    tf.compat.v2.summary.image(name='a', data=x, step=tf.compat.v1.train.get_or_create_global_step())
    INFO WARNING WARNING INFO
tf.contrib.summary.histogram('a', x, family='f')
    tf.compat.v2.summary.histogram(name='a', data=x, step=tf.compat.v1.train.get_or_create_global_step())
    WARNING INFO INFO INFO WARNING WARNING INFO
tf.contrib.layers.l1_regularizer(.1)
    tf.keras.regularizers.l1(.1)
    INFO
tf.contrib.layers.l1_regularizer(scale=.1, scope='s')
    tf.keras.regularizers.l1(l=.1)
    INFO
tf.contrib.layers.l2_regularizer(scale=.1)
    tf.keras.regularizers.l2(l=0.5 * (.1))
    INFO
tf.contrib.layers.l2_regularizer(.1, 's')
    tf.keras.regularizers.l2(0.5 * (.1))
    INFO
tf.contrib.layers.xavier_initializer()
    tf.compat.v1.keras.initializers.VarianceScaling(scale=1.0, mode="fan_avg", distribution="uniform")
    INFO
tf.contrib.layers.xavier_initializer(False)
    tf.compat.v1.keras.initializers.VarianceScaling(distribution=("uniform" if (False) else "truncated_normal"), scale=1.0, mode="fan_avg")
    INFO
tf.contrib.layers.xavier_initializer(uniform=False, seed=1)
    tf.compat.v1.keras.initializers.VarianceScaling(distribution=("uniform" if (False) else "truncated_normal"), seed=1, scale=1.0, mode="fan_avg")
    INFO
tf.contrib.layers.xavier_initializer(True, 1, tf.float64)
    tf.compat.v1.keras.initializers.VarianceScaling(distribution=("uniform" if (True) else "truncated_normal"), seed=1, dtype=tf.float64, scale=1.0, mode="fan_avg")
    INFO
tf.contrib.layers.xavier_initializer_conv2d(dtype=tf.float64)
    tf.compat.v1.keras.initializers.VarianceScaling(dtype=tf.float64, scale=1.0, mode="fan_avg", distribution="uniform")
    INFO
tf.contrib.layers.variance_scaling_initializer()
    tf.compat.v1.keras.initializers.VarianceScaling(scale=2.0)
    INFO
tf.contrib.layers.variance_scaling_initializer(1.0, 'FAN_IN')
    tf.compat.v1.keras.initializers.VarianceScaling(1.0, ('FAN_IN').lower())
    INFO
tf.contrib.layers.variance_scaling_initializer(factor=1.0, mode='FAN_IN', uniform=True)
    tf.compat.v1.keras.initializers.VarianceScaling(scale=1.0, mode=('FAN_IN').lower(), distribution=("uniform" if (True) else "truncated_normal"))
    INFO
tf.contrib.layers.variance_scaling_initializer(1.0, 'FAN_AVG', False, 1, tf.float32)
    tf.compat.v1.keras.initializers.VarianceScaling(1.0, ('FAN_AVG').lower(), ("uniform" if (False) else "truncated_normal"), 1, tf.float32)
    INFO
tf.contrib.layers.variance_scaling_initializer(mode='FAN_OUT')
    tf.compat.v1.keras.initializers.VarianceScaling(mode=('FAN_OUT').lower(), scale=2.0)
    INFO
tf.initializers.uniform_unit_scaling(factor=1.0)
    tf.compat.v1.keras.initializers.VarianceScaling(scale=1.0, distribution="uniform")
    INFO
tf.initializers.uniform_unit_scaling(0.5, 1)
    tf.compat.v1.keras.initializers.VarianceScaling(scale=0.5, seed=1, distribution="uniform")
    INFO INFO
tf.uniform_unit_scaling_initializer()
    tf.compat.v1.keras.initializers.VarianceScaling(distribution="uniform")
    INFO
tf.multinomial(x, 3)
    tf.random.categorical(x, 3)
    INFO
tf.random_uniform([2], 0, 1)
    tf.random.uniform([2], 0, 1)
    INFO
tf.argmax(x, dimension=1)
    tf.argmax(x, axis=1)
    INFO
tf.reduce_sum(x, axis=1, keep_dims=True)
    tf.reduce_sum(x, axis=1, keepdims=True)
    INFO
tf.reduce_sum(x, 1, True, None, [0])
    tf.reduce_sum(x, 1, True, None, axis=[0])
    INFO INFO
tf.expand_dims(x, dim=1)
    tf.expand_dims(x, axis=1)
    INFO
tf.squeeze(x, squeeze_dims=[1])
    tf.squeeze(x, axis=[1])
    INFO
tf.losses.mean_squared_error(a, b)
    tf.compat.v1.losses.mean_squared_error(a, b)
    INFO INFO
tf.test.compute_gradient(x, [1], y, [1])
    tf.compat.v1.test.compute_gradient(x, [1], y, [1])
    INFO
tf.contrib.foo(x)
    tf.contrib.foo(x)
    ERROR
tf.flags.DEFINE_string('a', 'b', 'c')
    tf.flags.DEFINE_string('a', 'b', 'c')
    ERROR
tf.app.run(main)
    tf.compat.v1.app.run(main)
    INFO
x.make_one_shot_iterator()
    tf.compat.v1.data.make_one_shot_iterator(x)
    WARNING
tf.data.make_one_shot_iterator(d)
    tf.compat.v1.data.make_one_shot_iterator(d)
    INFO
d.make_initializable_iterator(shared_name='s')
    tf.compat.v1.data.make_initializable_iterator(d, shared_name='s')
    WARNING
tf.batch_to_space(x, c, block_size=2)
    tf.batch_to_space(x, crops=c, block_shape=2)
    INFO INFO
tf.nn.conv2d(input=x, filter=f, strides=s, padding=p)
    tf.nn.conv2d(input=x, filters=f, strides=s, padding=p)
    INFO
tf.nn.conv2d(x, f, s, p, use_cudnn_on_gpu=True)
    tf.nn.conv2d(x, filters=f, strides=s, padding=p)
    WARNING INFO INFO INFO
tf.gradients(y, x, colocate_gradients_with_ops=True)
    tf.gradients(y, x)
    INFO INFO
tf.nn.embedding_lookup(p, i, partition_strategy='div')
    tf.nn.embedding_lookup(p, i, partition_strategy='div')
    WARNING
tf.string_split(x)
    tf.compat.v1.string_split(x)
    INFO
tf.verify_tensor_shape(x)
    tf.verify_tensor_shape(x)

tf.decode_raw(bytes=x, out_type=tf.uint8)
    tf.io.decode_raw(input_bytes=x, out_type=tf.uint8)
    INFO INFO
tf.sparse_matmul(a, b)
    tf.linalg.matmul(a, b)
    INFO
tf.Print(x, [x])
    tf.compat.v1.Print(x, [x])
    INFO
tf.Session()
    tf.compat.v1.Session()
    INFO
tf.train.AdamOptimizer(.1)
    tf.compat.v1.train.AdamOptimizer(.1)
    INFO
f(*args, **kwargs)
    f(*args, **kwargs)

tf.nn.dropout(*args)
    tf.nn.dropout(*args)
    WARNING ERROR
tf.argmax(*args)
    tf.argmax(*args)
    WARNING
tf.argmax(x, **kwargs)
    tf.argmax(x, **kwargs)
    WARNING
"""  # noqa: E501
LINES = CALLS.splitlines()[1:]


@pytest.mark.parametrize("number", range(0, len(LINES), 3), ids=LINES[::3])
def test_calls(number):
    old, new, levels = (line.strip() for line in LINES[number : number + 3])
    text, entries = upgrade_text(f"import tensorflow as tf\n{old}\n")
    assert text == f"import tensorflow as tf\n{new}\n"
    assert [entry.level for entry in entries] == levels.split()
    assert all(entry.line == 2 for entry in entries)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("tf.nn.dropout(x)", "tf.nn.dropout without a second argument, whose meaning has changed: edit by hand."),
        ("tf.nn.dropout(x, .5)", "Changed keep_prob of tf.nn.dropout to rate, with the value 1 - keep_prob."),
        ("tf.to_double(x)", "Changed tf.to_double to tf.cast(..., dtype=tf.float64)."),
        ("tf.zeros_like(x, optimize=o)", "Renamed 'tf.zeros_like' to 'tf.compat.v1.zeros_like': it has no optimize "
         "argument in TensorFlow 2."),
        ("tf.name_scope()", "tf.name_scope without name and default_name: edit by hand."),
        ("tf.contrib.layers.l2_regularizer(1.0)", "Changed tf.contrib.layers.l2_regularizer to "
         "tf.keras.regularizers.l2. It has no scope, and l2 is not halved there."),
    ],
)  # fmt: skip
def test_what_the_report_says(call, text):
    _, entries = upgrade_text(f"import tensorflow as tf\n{call}\n")
    assert [(entry.column, entry.text) for entry in entries] == [(0, text)]
    assert str(entries[0]) == f"2:0: {entries[0].level}: {text}"
