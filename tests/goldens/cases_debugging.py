"""tf.debugging, tf.errors, tf.config and other values that programs ask the runtime for."""

from goldens.case import Group

GROUP = Group()

GROUP.values("""
tf.debugging.assert_equal([1, 2], [1, 2])
tf.debugging.assert_equal(tf.constant([1, 2]), 1 * tf.constant([1, 2]), message='m')
tf.debugging.assert_equal('a', 'a')
tf.debugging.assert_none_equal([1, 2], 3)
tf.debugging.assert_greater([2, 3], 1)
tf.debugging.assert_greater_equal([2, 3], [2, 2])
tf.debugging.assert_less([1, 2], 3, summarize=2, name='n')
tf.debugging.assert_less_equal(1.5, 1.5)
tf.debugging.assert_positive([1, 2])
tf.debugging.assert_negative([-1.0])
tf.debugging.assert_non_negative([0, 1])
tf.debugging.assert_non_positive([0, -1])
tf.debugging.assert_near([1.0], [1.0 + 1e-7])
tf.debugging.assert_near(1.0, 1.1, rtol=0.2)
tf.debugging.assert_near(1.0, 1.1, atol=tf.constant(0.2))
tf.debugging.assert_rank([[1]], 2)
tf.debugging.assert_rank(tf.constant(5), 0)
tf.debugging.assert_rank_at_least([[1]], 1)
tf.debugging.assert_rank_in([1], [1, 2])
tf.debugging.assert_scalar(5)
tf.debugging.assert_scalar(tf.constant(5.0))
tf.debugging.assert_integer(tf.constant([1]))
tf.debugging.assert_integer(5)
tf.debugging.assert_type(tf.constant(1.0), tf.float32)
tf.debugging.assert_proper_iterable([1, 2])
tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
tf.debugging.assert_same_float_dtype([tf.constant(1.0)], tf.float32)
tf.debugging.assert_same_float_dtype()
tf.debugging.assert_shapes([(tf.ones([2, 3]), ('N', 'D')), (tf.ones([3]), ('D',))])
tf.debugging.assert_shapes([(tf.ones([2, 3]), [2, 3])])
tf.debugging.assert_shapes([(tf.ones([2, 3]), ["...", 3])])
tf.debugging.assert_shapes([(tf.ones([5]), (None,)), (tf.constant(1), ())])
tf.debugging.assert_all_finite([1.0, 2.0], 'msg')
tf.debugging.check_numerics([1.0, 2.0], 'msg')
tf.debugging.is_numeric_tensor(tf.constant(1))
tf.debugging.is_numeric_tensor(tf.constant('a'))
tf.debugging.is_numeric_tensor(tf.constant(True))
tf.debugging.is_numeric_tensor(5)
tf.debugging.Assert(True, [1, 2])
tf.debugging.Assert(tf.constant(True), ['data'])
tf.assert_equal(1, 1)
tf.assert_less(1, 2)
tf.assert_greater(2, 1)
tf.assert_rank([1], 1)
tf.debugging.is_traceback_filtering_enabled()
tf.debugging.get_log_device_placement()
tf.errors.InvalidArgumentError(None, None, 'message').message
tf.errors.InvalidArgumentError(None, None, 'message').error_code
tf.errors.InvalidArgumentError(None, None, 'message').op
tf.errors.InvalidArgumentError(None, None, 'message').node_def
str(tf.errors.InvalidArgumentError(None, None, 'message'))
repr(tf.errors.NotFoundError(None, None, 'gone'))
str(tf.errors.OpError(None, None, 'text', 3))
tf.errors.OpError(None, None, 'text', 3).error_code
issubclass(tf.errors.InvalidArgumentError, tf.errors.OpError)
issubclass(tf.errors.OpError, Exception)
issubclass(tf.errors.InvalidArgumentError, ValueError)
issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)
issubclass(tf.errors.OutOfRangeError, StopIteration)
issubclass(tf.errors.NotFoundError, FileNotFoundError)
tf.errors.OK
tf.config.list_physical_devices('CPU')[0].device_type
tf.config.list_physical_devices('CPU')[0].name
len(tf.config.list_physical_devices('CPU'))
repr(tf.config.list_physical_devices('CPU'))
tf.config.list_physical_devices('TPU')
tf.config.list_logical_devices('CPU')[0].name
repr(tf.config.list_logical_devices('CPU'))
tf.config.experimental.list_physical_devices('CPU')[0].name
tf.config.get_visible_devices('CPU')[0].name
tf.config.functions_run_eagerly()
tf.config.get_soft_device_placement()
tf.config.experimental.get_synchronous_execution()
tf.config.experimental.tensor_float_32_execution_enabled()
tf.config.optimizer.get_jit()
tf.config.optimizer.get_experimental_options()
tf.config.PhysicalDevice('/physical_device:CPU:0', 'CPU') == tf.config.list_physical_devices('CPU')[0]
tf.config.get_logical_device_configuration(tf.config.list_physical_devices('CPU')[0])
tf.config.LogicalDeviceConfiguration(memory_limit=100).memory_limit
tf.config.experimental.get_device_details(tf.config.list_physical_devices('CPU')[0])
tf.executing_eagerly()
tf.inside_function()
tf.is_tensor(tf.constant(1))
tf.DeviceSpec.from_string('/job:worker/replica:1/task:2/device:GPU:3').device_index
tf.DeviceSpec.from_string('/job:worker/task:2').job
tf.DeviceSpec(device_type='GPU', device_index=1).to_string()
tf.DeviceSpec(job='a').replace(task=2).to_string()
tf.DeviceSpec(job='a').make_merged_spec(tf.DeviceSpec(device_type='CPU')).to_string()
tf.DeviceSpec(job='a') == tf.DeviceSpec(job='a')
tf.version.VERSION.split('.')[0]
tf.__version__.split('.')[0]
isinstance(tf.version.GRAPH_DEF_VERSION, int)
tf.newaxis is None
tf.get_logger().name
tf.config.threading.get_intra_op_parallelism_threads() >= 0
""")
CODES = """
ABORTED ALREADY_EXISTS CANCELLED DATA_LOSS DEADLINE_EXCEEDED FAILED_PRECONDITION INTERNAL INVALID_ARGUMENT NOT_FOUND
OUT_OF_RANGE PERMISSION_DENIED RESOURCE_EXHAUSTED UNAUTHENTICATED UNAVAILABLE UNIMPLEMENTED UNKNOWN
"""
ERRORS = """
AbortedError AlreadyExistsError CancelledError DataLossError DeadlineExceededError FailedPreconditionError
InternalError InvalidArgumentError NotFoundError OutOfRangeError PermissionDeniedError ResourceExhaustedError
UnauthenticatedError UnavailableError UnimplementedError UnknownError
"""
GROUP.family("tf.errors.{code}", code=CODES.split())
GROUP.family("tf.errors.{error}(None, None, 'text').error_code", error=ERRORS.split())
GROUP.snippets("""
# an error of an op knows its code and message
try:
    tf.constant([1., 2.]) + tf.constant([1., 2., 3.])
except tf.errors.InvalidArgumentError as error:
    given = (error.error_code, 'Incompatible shapes' in error.message, isinstance(error, tf.errors.OpError))
given

# functions can be made to run eagerly
tf.config.run_functions_eagerly(True)
try:
    given = [tf.config.functions_run_eagerly(), tf.function(lambda: tf.executing_eagerly())()]
finally:
    tf.config.run_functions_eagerly(False)
given

# soft placement can be set
tf.config.set_soft_device_placement(False)
try:
    given = tf.config.get_soft_device_placement()
finally:
    tf.config.set_soft_device_placement(True)
given

# traceback filtering can be turned off
tf.debugging.disable_traceback_filtering()
try:
    given = tf.debugging.is_traceback_filtering_enabled()
finally:
    tf.debugging.enable_traceback_filtering()
given

# check_numerics can be turned on for all ops
tf.debugging.enable_check_numerics()
try:
    tf.math.log(tf.constant(-1.0))
    given = 'no error'
except tf.errors.InvalidArgumentError:
    given = 'InvalidArgumentError'
finally:
    tf.debugging.disable_check_numerics()
given
""")
GROUP.errors("""
tf.debugging.assert_equal([1, 2], [1, 3])
tf.debugging.assert_equal(1, 2, message='text')
tf.debugging.assert_equal(1, 1.5)
tf.debugging.assert_none_equal([1, 3], 3)
tf.debugging.assert_greater([2, 1], 1)
tf.debugging.assert_greater_equal(1, 2)
tf.debugging.assert_less(3, 3)
tf.debugging.assert_less_equal(4, 3)
tf.debugging.assert_positive([0, 1])
tf.debugging.assert_negative([0.0])
tf.debugging.assert_non_negative([-1])
tf.debugging.assert_non_positive([1])
tf.debugging.assert_near(1.0, 1.1)
tf.debugging.assert_near([1.0, 2.0], [1.0, 3.0], message='m')
tf.debugging.assert_rank([1], 2)
tf.debugging.assert_rank([1], [1, 2])
tf.debugging.assert_rank_at_least(1, 1)
tf.debugging.assert_rank_in([[1]], [0, 1])
tf.debugging.assert_scalar([1])
tf.debugging.assert_integer(1.5)
tf.debugging.assert_type(tf.constant(1), tf.float32)
tf.debugging.assert_proper_iterable(5)
tf.debugging.assert_proper_iterable(tf.constant([1]))
tf.debugging.assert_proper_iterable('abc')
tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)])
tf.debugging.assert_same_float_dtype([tf.constant(1)])
tf.debugging.assert_shapes([(tf.ones([2, 3]), ('N', 'N'))])
tf.debugging.assert_shapes([(tf.ones([2, 3]), (2,))])
tf.debugging.assert_shapes([(tf.ones([2]), ('D',)), (tf.ones([3]), ('D',))])
tf.debugging.assert_all_finite([1.0, float('nan')], 'msg')
tf.debugging.assert_all_finite([float('inf')], 'msg')
tf.debugging.check_numerics([float('nan')], 'msg')
tf.debugging.check_numerics([float('inf'), float('nan')], 'msg')
tf.debugging.check_numerics([1], 'msg')
tf.debugging.Assert(False, ['x', 1])
tf.assert_equal(1, 2)
tf.config.get_logical_device_configuration('x')
tf.config.experimental.set_memory_growth(tf.config.list_physical_devices('CPU')[0], True)
tf.config.experimental.get_memory_info('nope')
tf.DeviceSpec.from_string('nonsense')
tf.DeviceSpec(device_type='GPU', device_index='x')
tf.errors.InvalidArgumentError()
""")
GROUP.errors(
    """
tf.debugging.assert_equal([1, 2], [1, 3], message='why')
tf.debugging.assert_rank([1], 2, message='why')
tf.debugging.assert_type(tf.constant(1), tf.float32, message='why')
tf.debugging.check_numerics([1.0, float('nan')], 'why')
tf.debugging.assert_scalar([1], message='why')
""",
    message=True,
)
