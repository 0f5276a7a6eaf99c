"""The names inside TensorFlow that are not public and that libraries import, and their modules here.

A name that differs from TensorFlow's follows a colon; "*" stands for all other names of a module. A module without
names is imported, but its names are used only by parts of these libraries that TapeFlow does not support.
"""

_H = "tapeflow.tensorflow_python"
_DECORATORS = f"{_H}.decorators"
_EXPORTING = f"{_H}.exporting"
_INITIALIZERS = "tapeflow.compat.v1.initializers"
_KERAS_2 = f"{_H}.keras_2"
_LOGGING = "tapeflow.compat.v1.logging"
_REGISTRY = "tapeflow.core.types.spec_registry"
_TYPE_SPECS = f"{_H}.type_specs"
_COLUMNS = {  # the classes of feature columns, which `isinstance` is asked for
    **dict.fromkeys(
        ("CrossedColumn", "HashedCategoricalColumn", "IdentityCategoricalColumn", "SequenceCategoricalColumn",
         "VocabularyFileCategoricalColumn", "VocabularyListCategoricalColumn", "WeightedCategoricalColumn"),
        "tapeflow.feature_column.categorical",
    ),
    **dict.fromkeys(
        ("BucketizedColumn", "EmbeddingColumn", "IndicatorColumn", "NumericColumn", "SharedEmbeddingColumn",
         "SharedEmbeddingColumnCreator"),
        "tapeflow.feature_column.dense",
    ),
    **dict.fromkeys(("CategoricalColumn", "StateManager"), "tapeflow.feature_column.protocol"),
}  # fmt: skip
_TOOLS = ("saved_model_cli", "saved_model_utils", "inspect_checkpoint", "freeze_graph", "strip_unused_lib",
          "optimize_for_inference_lib")  # fmt: skip
_NAMES_OF_LOGGING = ("WARN", "debug", "error", "fatal", "info", "log_every_n", "log_first_n", "vlog", "warn", "warning")

MODULES = {
    # Only `jax2tf` imports these two, for computations on several devices.
    "tensorflow.compiler.xla.xla_data_pb2": {},
    "tensorflow.python.compiler.xla.experimental.xla_sharding": {},
    # Only `auto_batching` uses these: it works on AutoGraph's own trees, which differ here.
    "tensorflow.python.autograph.converters.break_statements": {},
    "tensorflow.python.autograph.converters.continue_statements": {},
    "tensorflow.python.autograph.converters.return_statements": {},
    "tensorflow.python.autograph.core.converter": {},
    "tensorflow.python.autograph.pyct.anno": {},
    "tensorflow.python.autograph.pyct.common_transformers.anf": {},
    "tensorflow.python.autograph.pyct.inspect_utils": {},
    "tensorflow.python.autograph.pyct.loader": {},
    "tensorflow.python.autograph.pyct.naming": {},
    "tensorflow.python.autograph.pyct.parser": {},
    "tensorflow.python.autograph.pyct.qual_names": {},
    "tensorflow.python.autograph.pyct.static_analysis.activity": {},
    "tensorflow.python.autograph.pyct.templates": {},
    "tensorflow.python.autograph.pyct.transformer": {"Base": "ast:NodeTransformer"},
    "tensorflow.python.client.device_lib": {"list_local_devices": f"{_H}.devices"},
    "tensorflow.python.client.timeline": {},  # draws the steps of sessions, which `tf.profiler` traces here
    "tensorflow.python.compat.compat": {"forward_compatible": f"{_H}.conversion:yes"},
    "tensorflow.python.data.ops.dataset_ops": {
        "UnaryDataset": "tapeflow.data.dataset:Dataset",
        "UnaryUnchangedStructureDataset": "tapeflow.data.dataset:Dataset",
    },
    "tensorflow.python.data.ops.from_generator_op": {
        "_GeneratorDataset": "tapeflow.data.sources.from_generator:Generator"
    },
    "tensorflow.python.data.ops.from_sparse_tensor_slices_op": {
        "_SparseTensorSliceDataset": "tapeflow.data.sources.from_tensor_slices:FromTensorSlices"
    },
    "tensorflow.python.data.ops.from_tensor_slices_op": {
        "_TensorSliceDataset": "tapeflow.data.sources.from_tensor_slices:FromTensorSlices"
    },
    "tensorflow.python.data.ops.from_tensors_op": {"_TensorDataset": "tapeflow.data.sources.from_tensors:FromTensors"},
    "tensorflow.python.data.ops.iterator_ops": {"OwnedIterator": "tapeflow.data.iterators"},
    "tensorflow.python.data.ops.range_op": {"_RangeDataset": "tapeflow.data.sources.range:Range"},
    "tensorflow.python.data.util.nest": {"*": f"{_H}.nests"},
    "tensorflow.python.data.util.structure": {
        "type_spec_from_value": "tapeflow.core.types.spec",
        "NoneTensorSpec": "tapeflow.core.types.spec",
    },
    "tensorflow.python.distribute.input_lib": {"DistributedDataset": "tapeflow.distribute.input"},
    "tensorflow.python.distribute.cluster_resolver": {},
    "tensorflow.python.distribute.distribute_utils": {},
    "tensorflow.python.distribute.input_ops": {},
    "tensorflow.python.distribute.ps_values": {
        "AggregatingVariable": "tapeflow.distribute.variables:DistributedVariable"
    },
    "tensorflow.python.distribute.combinations": {"*": f"{_H}.testing.distribution_combinations"},
    "tensorflow.python.distribute.strategy_combinations": {
        "*": f"{_H}.testing.distribution_combinations",
        "set_virtual_cpus_to_at_least": f"{_H}.devices",
    },
    "tensorflow.python.distribute.test_util": {"main": "tapeflow.test"},
    "tensorflow.python.distribute.values": {
        "DistributedValues": "tapeflow.distribute.values",
        "DistributedVariable": "tapeflow.distribute.variables",
        "Mirrored": "tapeflow.distribute.values",
        "PerReplica": "tapeflow.distribute.values",
    },
    "tensorflow.python.eager.backprop": {
        "GradientTape": "tapeflow.autodiff",
        "record_gradient": f"{_H}.gradient_registry",
    },
    "tensorflow.python.eager.context": {
        "num_gpus": f"{_H}.devices",
        "executing_eagerly": "tapeflow.core.scopes",
        "get_config": _KERAS_2,
        "get_device_name": f"{_H}.eager_context",
        "graph_mode": f"{_H}.eager_context",
    },
    "tensorflow.python.eager.def_function": {"Function": "tapeflow.function.function"},
    "tensorflow.python.eager.function": {"ConcreteFunction": "tapeflow.function.concrete"},
    "tensorflow.python.eager.monitoring": {"*": f"{_H}.monitoring"},
    "tensorflow.python.eager.polymorphic_function.polymorphic_function": {"Function": "tapeflow.function.function"},
    "tensorflow.python.eager.record": {"should_record_backprop": f"{_H}.eager_context"},
    "tensorflow.python.eager.tape": {},
    "tensorflow.python.eager.wrap_function": {
        "WrappedFunction": "tapeflow.compat.v1.wrapping",
        "function_from_graph_def": "tapeflow.compat.v1.wrapping",
    },
    "tensorflow.python.feature_column.feature_column_lib": _COLUMNS,
    "tensorflow.python.feature_column.feature_column_v2": _COLUMNS,
    "tensorflow.python.feature_column.sequence_feature_column": {
        "SequenceNumericColumn": "tapeflow.feature_column.dense"
    },
    "tensorflow.python.framework.composite_tensor": {"CompositeTensor": "tapeflow.core.values.composite"},
    "tensorflow.python.framework.c_api_util": {"ApiDefMap": f"{_H}.api_definitions"},
    "tensorflow.python.framework.convert_to_constants": {
        "convert_variables_to_constants_v2": f"{_H}.convert_to_constants",
        "convert_variables_to_constants_v2_as_graph": f"{_H}.convert_to_constants",
    },
    "tensorflow.python.framework.function_def_to_graph": {"function_def_to_graph": f"{_H}.function_graphs"},
    "tensorflow.python.framework.ops": {
        "EagerTensor": "tapeflow.core.values.tensor",
        "OpStats": f"{_H}.op_statistics",
        "RegisterStatistics": f"{_H}.op_statistics",
        "_gradient_registry": f"{_H}.gradient_registry",
        "convert_to_tensor": "tapeflow.array.creation",
        "convert_to_tensor_or_composite": f"{_H}.conversion",
        "device": "tapeflow.core.device",
        "get_default_graph": "tapeflow.graph.ir.graph:current_graph",
        "get_stats_for_node_def": f"{_H}.op_statistics",
        "name_scope": "tapeflow.compat.v1.scopes",
        "name_scope_v1": "tapeflow.compat.v1.scopes:name_scope",
    },
    "tensorflow.python.framework.smart_cond": {
        "smart_cond": f"{_H}.smart_cond",
        "smart_constant_value": f"{_H}.smart_cond",
    },
    "tensorflow.python.framework.tensor": {"Tensor": "tapeflow.core.values.tensor"},
    "tensorflow.python.framework.tensor_shape": {
        "unknown_shape": f"{_H}.conversion",
        "as_shape": "tapeflow.core.types.shape:TensorShape",
    },
    "tensorflow.python.framework.tensor_spec": {
        "BoundedTensorSpec": "tapeflow.core.types.spec",
        "DenseSpec": "tapeflow.core.types.spec",
    },
    "tensorflow.python.framework.tensor_util": {
        "constant_value": "tapeflow.array.properties:get_static_value",
        "constant_value_as_shape": f"{_H}.conversion",
        "try_evaluate_constant": "tapeflow.core.ops.static:array_of",
    },
    "tensorflow.python.framework.test_util": {
        "TensorFlowTestCase": "tapeflow.test:TestCase",
        "*": f"{_H}.testing.test_util",
    },
    "tensorflow.python.framework.type_spec": {
        "BatchableTypeSpec": _TYPE_SPECS,
        "TypeSpec": "tapeflow.core.types.type_spec",
        "register": _REGISTRY,
        "register_type_spec_from_value_converter": "tapeflow.core.types.spec",
        "type_spec_from_value": "tapeflow.core.types.spec",
    },
    "tensorflow.python.framework.type_spec_registry": {
        "_NAME_TO_TYPE_SPEC": _REGISTRY,
        "_TYPE_SPEC_TO_NAME": _REGISTRY,
        "get_name": f"{_H}.type_spec_registry",
        "lookup": f"{_H}.type_spec_registry",
        "register": _REGISTRY,
    },
    "tensorflow.python.framework.versions": {"__version__": "tapeflow.version:VERSION"},
    "tensorflow.python.grappler.tf_optimizer": {"OptimizeGraph": f"{_H}.grappler"},
    "tensorflow.python.layers.utils": {
        "constant_value": f"{_H}.smart_cond:smart_constant_value",
        "smart_cond": f"{_H}.smart_cond",
    },
    "tensorflow.python.lib.io.file_io": {"FileIO": "tapeflow.io.gfile:GFile"},
    "tensorflow.python.ops.array_ops": {"prevent_gradient": "tapeflow.array.legacy_ops"},
    "tensorflow.python.ops.clustering_ops": {},
    "tensorflow.python.ops.control_flow_case": {},
    "tensorflow.python.ops.control_flow_ops": {
        "get_enclosing_xla_context": _KERAS_2,
        "with_dependencies": f"{_H}.conversion",
    },
    "tensorflow.python.ops.control_flow_util": {
        "ENABLE_CONTROL_FLOW_V2": _KERAS_2,
        "GraphOrParentsInXlaContext": _KERAS_2,
    },
    "tensorflow.python.ops.gen_resource_variable_ops": {},
    "tensorflow.python.ops.init_ops": {
        "Initializer": _INITIALIZERS,
        "Constant": f"{_INITIALIZERS}:constant",
        "GlorotNormal": f"{_INITIALIZERS}:glorot_normal",
        "GlorotUniform": f"{_INITIALIZERS}:glorot_uniform",
        "Identity": f"{_INITIALIZERS}:identity",
        "Ones": f"{_INITIALIZERS}:ones",
        "Orthogonal": f"{_INITIALIZERS}:orthogonal",
        "VarianceScaling": f"{_INITIALIZERS}:variance_scaling",
        "Zeros": f"{_INITIALIZERS}:zeros",
    },
    "tensorflow.python.ops.init_ops_v2": {"Initializer": "tapeflow.array.initializers"},
    "tensorflow.python.ops.linalg.linear_operator": {"make_composite_tensor": f"{_H}.conversion"},
    "tensorflow.python.ops.linalg.linear_operator_addition": {},
    **dict.fromkeys(
        (f"tensorflow.python.ops.linalg.sparse.{name}" for name in ("sparse", "sparse_csr_matrix_ops")),
        dict.fromkeys(("CSRSparseMatrix", "SparseMatrix", "dense_shape_and_type", "matmul"), f"{_H}.sparse_matrices"),
    ),
    "tensorflow.python.ops.distributions.util": {"gen_new_seed": f"{_H}.conversion"},
    "tensorflow.python.ops.list_ops": {"*": f"{_H}.list_ops"},
    "tensorflow.python.ops.lookup_ops": {
        "*": f"{_H}.lookup_tables",
        "HashTable": "tapeflow.compat.v1.lookup:StaticHashTable",
        "LookupInterface": "tapeflow.lookup.tables:LookupTable",
        "InitializableLookupTableBase": "tapeflow.lookup.tables:LookupTable",
    },
    "tensorflow.python.ops.math_ops": {
        "maximum": "tapeflow.math",
        "minimum": "tapeflow.math",
        "batch_mat_mul": "tapeflow.linalg:matmul",
    },
    "tensorflow.python.ops.metrics": {"*": "tapeflow.compat.v1.metrics"},
    "tensorflow.python.ops.nn_ops": {},
    "tensorflow.python.ops.parallel_for.control_flow_ops": {"pfor": f"{_H}.conversion"},
    "tensorflow.python.ops.ragged.ragged_map_ops": {"map_fn": "tapeflow.control.map_and_scan"},
    "tensorflow.python.ops.ragged.ragged_tensor": {"is_ragged": f"{_H}.conversion"},
    "tensorflow.python.ops.ragged.ragged_util": {"assert_splits_match": f"{_H}.conversion"},
    "tensorflow.python.ops.random_ops": {"parameterized_truncated_normal": f"{_H}.conversion"},
    "tensorflow.python.ops.resource_variable_ops": {
        "BaseResourceVariable": "tapeflow.core.values.variable:Variable",
        "ResourceVariable": "tapeflow.core.values.variable",
        "VariableSpec": "tapeflow.core.types.spec",
    },
    "tensorflow.python.ops.tensor_getitem_override": {"_slice_helper_var": f"{_H}.conversion:slice_of_variable"},
    "tensorflow.python.ops.variable_scope": {
        "variable_creator_scope": "tapeflow.core.scopes",
        "variable_scope": "tapeflow.compat.v1.variable_scopes",
    },
    "tensorflow.python.ops.variables": {"PartitionedVariable": "tapeflow.compat.v1.partitioned"},
    "tensorflow.python.platform.app": {"run": "absl.app", "flags": "absl:flags"},
    "tensorflow.python.platform.flags": {"*": "absl.flags"},
    "tensorflow.python.platform.googletest": {"main": "tapeflow.test"},
    "tensorflow.python.platform.test": {"mock": "unittest:mock"},
    "tensorflow.python.platform.tf_logging": dict.fromkeys(_NAMES_OF_LOGGING, _LOGGING),
    "tensorflow.python.pywrap_tfe": {"TF_ListPluggablePhysicalDevices": _KERAS_2},
    "tensorflow.python.saved_model.load": {"_WrapperFunction": "tapeflow.function.concrete:ConcreteFunction"},
    "tensorflow.python.saved_model.model_utils.mode_keys": {"KerasModeKeys": _KERAS_2},
    "tensorflow.python.saved_model.save": {"save_and_return_nodes": f"{_H}.saved_models"},
    "tensorflow.python.training.checkpoint_management": {"*": "tapeflow.train"},
    "tensorflow.python.training.evaluation": dict.fromkeys(
        ("_StopAfterNEvalsHook", "_evaluate_once", "_get_or_create_eval_step"), f"{_H}.evaluation"
    ),
    "tensorflow.python.training.server_lib": {"ClusterSpec": "tapeflow.train"},
    "tensorflow.python.tf2": {"enabled": f"{_H}.conversion:yes"},
    "tensorflow.python.tpu.embedding_context_utils": {"SequentialEmbeddingContext": "contextlib:nullcontext"},
    "tensorflow.python.trackable.base": {
        "Trackable": "tapeflow.core.values.trackable",
        "TrackableReference": "tapeflow.core.values.trackable",
        "no_automatic_dependency_tracking_scope": f"{_H}.tracking",
    },
    "tensorflow.python.trackable.resource": {"RestoredResource": "tapeflow.saved_model.objects:RestoredTable"},
    "tensorflow.python.trackable.data_structures": {
        "NoDependency": "tapeflow.core.values.trackable",
        "sticky_attribute_assignment": "tapeflow.core.values.trackable",
    },
    "tensorflow.python.types.data": {"DatasetV2": "tapeflow.data:Dataset"},
    "tensorflow.python.util.compat": {
        "as_str": "tapeflow.compat",
        "as_str_any": "tapeflow.compat",
        "as_bytes": "tapeflow.compat",
        "as_text": "tapeflow.compat",
    },
    "tensorflow.python.util.deprecation": {
        "deprecated_argument_lookup": "tapeflow.compat.v1.aliases:either",
        **dict.fromkeys(
            ("deprecated", "deprecated_alias", "deprecated_arg_values", "deprecated_args", "deprecated_endpoints"),
            f"{_H}.deprecation",
        ),
    },
    "tensorflow.python.util.dispatch": dict.fromkeys(("add_dispatch_support", "dispatch_for_types"), f"{_H}.dispatch"),
    "tensorflow.python.util.all_util": {"*": _EXPORTING},
    "tensorflow.python.util.function_utils": {"fn_args": f"{_H}.decorators", "has_kwargs": f"{_H}.decorators"},
    "tensorflow.python.util.nest": {"*": f"{_H}.nests"},
    "tensorflow.python.util.object_identity": {"*": f"{_H}.object_identity"},
    "tensorflow.python.util.tf_decorator": {"*": _DECORATORS},
    "tensorflow.python.util.tf_contextlib": {"contextmanager": _DECORATORS},
    "tensorflow.python.util.tf_export": dict.fromkeys(
        ("get_canonical_name_for_symbol", "get_symbol_from_name", "keras_export", "tf_export"), _EXPORTING
    ),
    "tensorflow.python.util.tf_inspect": {
        "ArgSpec": _DECORATORS,
        "_inspect": _DECORATORS,
        "getargspec": _DECORATORS,
        "getfullargspec": _DECORATORS,
        "*": "inspect",
    },
    "tensorflow.python.util.tf_should_use": {"should_use_result": _EXPORTING + ":unchanged"},
    "tensorflow.python.util.variable_utils": {"convert_variables_to_tensors": _TYPE_SPECS},
    **{f"tensorflow.python.tools.{name}": {"*": f"{_H}.tools.{name}"} for name in _TOOLS},
    "tensorflow.python.tools.strip_unused": {"main": f"{_H}.tools.strip_unused_lib"},
    "tensorflow.python.tools.optimize_for_inference": {"main": f"{_H}.tools.optimize_for_inference_lib"},
    "tensorflow.tools.compatibility.tf_upgrade_v2_main": {"main": f"{_H}.upgrade.command"},
    "tensorflow.tools.compatibility.tf_upgrade_v2": {"upgrade_text": f"{_H}.upgrade.programs"},
    "tensorflow.tools.docs.doc_controls": dict.fromkeys(
        (
            "do_not_doc_in_subclasses",
            "do_not_doc_inheritable",
            "do_not_generate_docs",
            "doc_in_current_and_subclasses",
            "for_subclass_implementers",
        ),
        _EXPORTING,
    ),
}
