"""The protocol buffers that TensorBoard does not ship: those of checkpoints, examples, profiles and TensorFlow Serving.

They are declared here, in a pool of their own, with TensorFlow's field numbers. Each library can read the other's
files.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_F = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "bool": _F.TYPE_BOOL, "bytes": _F.TYPE_BYTES, "double": _F.TYPE_DOUBLE, "fixed32": _F.TYPE_FIXED32,
    "float": _F.TYPE_FLOAT, "int32": _F.TYPE_INT32, "int64": _F.TYPE_INT64, "string": _F.TYPE_STRING,
    "uint32": _F.TYPE_UINT32, "uint64": _F.TYPE_UINT64,
}  # fmt: skip

# Message: its fields as "number type name", with "*" for a repeated one, "/name" for a member of a oneof, "/" and its
# number for the only member of one, and "{}" for a map from strings.
_MESSAGES = {
    "VersionDef": "1 int32 producer, 2 int32 min_consumer, 3 int32* bad_consumers",
    "TensorShapeProto.Dim": "1 int64 size, 2 string name",
    "TensorShapeProto": "2 TensorShapeProto.Dim* dim, 3 bool unknown_rank",
    "TensorSliceProto.Extent": "1 int64 start, 2 int64 length/has_length",
    "TensorSliceProto": "1 TensorSliceProto.Extent* extent",
    "BundleHeaderProto": "1 int32 num_shards, 2 int32 endianness, 3 VersionDef version",
    "BundleEntryProto": "1 int32 dtype, 2 TensorShapeProto shape, 3 int32 shard_id, 4 int64 offset, 5 int64 size, "
    "6 fixed32 crc32c, 7 TensorSliceProto* slices",
    "TensorProto": "1 int32 dtype, 5 float* float_val, 6 double* double_val, 7 int32* int_val, 8 bytes* string_val, "
    "9 float* scomplex_val, 10 int64* int64_val, 11 bool* bool_val, 12 double* dcomplex_val, 13 int32* half_val, "
    "4 bytes tensor_content",
    "SavedSliceMeta": "1 string name, 2 TensorShapeProto shape, 3 int32 type, 4 TensorSliceProto* slice",
    "SavedTensorSliceMeta": "1 SavedSliceMeta* tensor, 2 VersionDef versions",
    "SavedSlice": "1 string name, 2 TensorSliceProto slice, 3 TensorProto data",
    "SavedTensorSlices": "1 SavedTensorSliceMeta meta, 2 SavedSlice data",
    "CheckpointState": "1 string model_checkpoint_path, 2 string* all_model_checkpoint_paths, "
    "3 double* all_model_checkpoint_timestamps, 4 double last_preserved_timestamp",
    "QueueRunnerDef": "1 string queue_name, 2 string* enqueue_op_name, 3 string close_op_name, "
    "4 string cancel_op_name, 5 int32* queue_closed_exception_types",  # the numbers of an enum
    "ReaderBaseState": "1 int64 work_started, 2 int64 work_finished, 3 int64 num_records_produced, "
    "4 bytes current_work",
    "GraphNodeProto": "1 string name, 4 int64 parameters, 13 int64 float_ops, 10 string* devices, "
    "23 int64 total_definition_count, 21 int64 run_count, 22 int64 total_run_count, 8 int64 total_parameters, "
    "14 int64 total_float_ops, 11 TensorShapeProto* shapes, 12 GraphNodeProto* children, 2 int64 exec_micros, "
    "6 int64 total_exec_micros, 3 int64 requested_bytes, 7 int64 total_requested_bytes",
    "MultiGraphNodeProto": "1 string name, 4 int64 parameters, 5 int64 float_ops, 8 int64 total_parameters, "
    "9 int64 total_float_ops, 10 GraphNodeProto* graph_nodes, 11 MultiGraphNodeProto* children, 2 int64 exec_micros, "
    "6 int64 total_exec_micros, 3 int64 requested_bytes, 7 int64 total_requested_bytes",
    "SavedModel": "1 int64 saved_model_schema_version, 2 bytes* meta_graphs",  # messages, that are parsed one by one
    "FingerprintDef": "1 uint64 saved_model_checksum, 2 uint64 graph_def_program_hash, 3 uint64 signature_def_hash, "
    "4 uint64 saved_object_graph_hash, 5 uint64 checkpoint_hash, 6 VersionDef version, 7 string uuid",
    "CompressedComponentMetadata": "1 int32 dtype, 2 TensorShapeProto tensor_shape, 4 uint64* uncompressed_bytes",
    "CompressedElement": "1 bytes data, 2 CompressedComponentMetadata* component_metadata",
    "AutotuneOptions": "1 bool enabled/1, 2 int32 cpu_budget/2, 3 int64 ram_budget/3, 4 int32 autotune_algorithm/4, "
    "5 int64 initial_parallelism/5, 6 int64 min_parallelism/6",
    "DistributeOptions": "1 int32 auto_shard_policy, 2 int32 num_devices/2",
    "OptimizationOptions": "1 bool apply_default_optimizations/1, 6 bool filter_fusion/6, "
    "9 bool map_and_batch_fusion/9, 10 bool map_and_filter_fusion/10, 11 bool map_fusion/11, "
    "12 bool map_parallelization/12, 14 bool noop_elimination/14, 15 bool parallel_batch/15, "
    "17 bool shuffle_and_repeat_fusion/17, 18 bool filter_parallelization/18, 19 bool inject_prefetch/19, "
    "21 bool seq_interleave_prefetch/21",
    "ServiceOptions": "1 bool pinned/1",
    "ThreadingOptions": "1 int32 max_intra_op_parallelism/1, 2 int32 private_threadpool_size/2",
    "Options": "1 bool deterministic/1, 2 DistributeOptions distribute_options, "
    "3 OptimizationOptions optimization_options, 4 bool slack/4, 5 ThreadingOptions threading_options, "
    "6 int32 external_state_policy/6, 7 AutotuneOptions autotune_options, 8 bool symbolic_checkpoint/8, "
    "9 bool warm_start/9, 10 string dataset_name/10, 11 string* framework_type, 12 ServiceOptions service_options",
    "BytesList": "1 bytes* value",
    "FloatList": "1 float* value",
    "Int64List": "1 int64* value",
    "Feature": "1 BytesList bytes_list/kind, 2 FloatList float_list/kind, 3 Int64List int64_list/kind",
    "Features": "1 Feature{} feature",
    "FeatureList": "1 Feature* feature",
    "FeatureLists": "1 FeatureList{} feature_list",
    "Example": "1 Features features",
    "SequenceExample": "1 Features context, 2 FeatureLists feature_lists",
    # Of debug dumps.
    "DebugMetadata": "1 string tensorflow_version, 2 string file_version, 3 string tfdbg_run_id",
    "SourceFile": "1 string file_path, 2 string host_name, 3 string* lines",
    "FileLineCol": "1 int32 file_index, 2 int32 line, 3 int32 col, 4 string func, 5 string code",
    "StackFrameWithId": "1 string id, 2 FileLineCol file_line_col",
    "CodeLocation": "1 string host_name, 2 string* stack_frame_ids",
    "GraphOpCreation": "1 string op_type, 2 string op_name, 3 string graph_name, 4 string graph_id, "
    "5 string device_name, 6 string* input_names, 7 int32 num_outputs, 8 CodeLocation code_location, "
    "9 int32* output_tensor_ids",
    "DebuggedGraph": "1 string graph_id, 2 string graph_name, 6 string outer_context_id",
    "DebuggedDevice": "1 string device_name, 2 int32 device_id",
    "Execution": "1 string op_type, 2 int32 num_outputs, 3 string graph_id, 4 int64* input_tensor_ids, "
    "5 int64* output_tensor_ids, 6 int32 tensor_debug_mode, 7 bytes* tensor_protos, 8 CodeLocation code_location, "
    "9 int32* output_tensor_device_ids",
    "GraphExecutionTrace": "1 string tfdbg_context_id, 2 string op_name, 3 int32 output_slot, "
    "4 int32 tensor_debug_mode, 5 bytes tensor_proto, 6 string device_name",
    "DebugEvent": "1 double wall_time, 3 DebugMetadata debug_metadata/what, 4 SourceFile source_file/what, "
    "6 StackFrameWithId stack_frame_with_id/what, 7 GraphOpCreation graph_op_creation/what, "
    "8 DebuggedGraph debugged_graph/what, 9 Execution execution/what, "
    "10 GraphExecutionTrace graph_execution_trace/what, 12 DebuggedDevice debugged_device/what",
    # Of TensorFlow Serving. Tensors, examples and signatures are bytes: messages that are parsed one by one.
    "Int64Value": "1 int64 value",
    "Any": "1 string type_url, 2 bytes value",
    "ModelSpec": "1 string name, 2 Int64Value version/version_choice, 4 string version_label/version_choice, "
    "3 string signature_name",
    "PredictRequest": "1 ModelSpec model_spec, 2 bytes{} inputs, 3 string* output_filter",
    "PredictResponse": "2 ModelSpec model_spec, 1 bytes{} outputs",
    "ExampleList": "1 bytes* examples",
    "ExampleListWithContext": "1 bytes* examples, 2 bytes context",
    "Input": "1 ExampleList example_list/kind, 2 ExampleListWithContext example_list_with_context/kind",
    "Class": "1 string label, 2 float score",
    "Classifications": "1 Class* classes",
    "ClassificationResult": "1 Classifications* classifications",
    "ClassificationRequest": "1 ModelSpec model_spec, 2 Input input",
    "ClassificationResponse": "2 ModelSpec model_spec, 1 ClassificationResult result",
    "Regression": "1 float value",
    "RegressionResult": "1 Regression* regressions",
    "RegressionRequest": "1 ModelSpec model_spec, 2 Input input",
    "RegressionResponse": "2 ModelSpec model_spec, 1 RegressionResult result",
    "InferenceTask": "1 ModelSpec model_spec, 2 string method_name",
    "InferenceResult": "1 ModelSpec model_spec, 2 ClassificationResult classification_result/result, "
    "3 RegressionResult regression_result/result",
    "MultiInferenceRequest": "1 InferenceTask* tasks, 2 Input input",
    "MultiInferenceResponse": "1 InferenceResult* results",
    "SignatureDefMap": "1 bytes{} signature_def",
    "GetModelMetadataRequest": "1 ModelSpec model_spec, 2 string* metadata_field",
    "GetModelMetadataResponse": "1 ModelSpec model_spec, 2 Any{} metadata",
    "StatusProto": "1 int32 error_code, 2 string error_message",
    "GetModelStatusRequest": "1 ModelSpec model_spec",
    "ModelVersionStatus": "1 int64 version, 2 int32 state, 3 StatusProto status",
    "GetModelStatusResponse": "1 ModelVersionStatus* model_version_status",
    "ServableVersionPolicy.Latest": "1 uint32 num_versions",
    "ServableVersionPolicy.All": "",
    "ServableVersionPolicy.Specific": "1 int64* versions",
    "ServableVersionPolicy": "100 ServableVersionPolicy.Latest latest/policy_choice, "
    "101 ServableVersionPolicy.All all/policy_choice, 102 ServableVersionPolicy.Specific specific/policy_choice",
    "ModelConfig": "1 string name, 2 string base_path, 4 string model_platform, "
    "7 ServableVersionPolicy model_version_policy, 8 int64{} version_labels",
    "ModelConfigList": "1 ModelConfig* config",
    "ModelServerConfig": "1 ModelConfigList model_config_list/config, 2 Any custom_model_config/config",
    "ReloadConfigRequest": "1 ModelServerConfig config, 2 string* metric_names",
    "ReloadConfigResponse": "1 StatusProto status",
    "BoolValue": "1 bool value",
    "StringValue": "1 string value",
    "BatchingParameters": "1 Int64Value max_batch_size, 2 Int64Value batch_timeout_micros, "
    "3 Int64Value max_enqueued_batches, 4 Int64Value num_batch_threads, 5 StringValue thread_pool_name, "
    "6 int64* allowed_batch_sizes, 7 bool pad_variable_length_inputs, 8 BoolValue enable_large_batch_splitting, "
    "9 Int64Value max_execution_batch_size",
    "PrometheusConfig": "1 bool enable, 2 string path",
    "MonitoringConfig": "1 PrometheusConfig prometheus_config",
}


def _declare_messages() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="tapeflow/train.proto", package="tensorflow", syntax="proto3")
    declared: dict[str, Any] = {}
    for full_name in sorted(_MESSAGES, key=lambda name: name.count(".")):
        outer, _, name = full_name.rpartition(".")
        message = declared[outer].nested_type.add() if outer else file.message_type.add()
        message.name = name
        declared[full_name] = message
    for full_name, fields in _MESSAGES.items():
        for text in filter(None, fields.split(", ")):
            _add_field(declared[full_name], full_name, text)
    declared_pool = descriptor_pool.DescriptorPool()
    declared_pool.AddSerializedFile(file.SerializeToString())
    return declared_pool


def _add_field(message: Any, full_name: str, text: str) -> None:
    number, kind, name = text.split()
    name, _, oneof = name.partition("/")
    field = message.field.add(name=name, number=int(number), label=_F.LABEL_OPTIONAL)
    if kind.endswith("{}"):
        entry = message.nested_type.add(name=name.title().replace("_", "") + "Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=_F.LABEL_OPTIONAL, type=_F.TYPE_STRING)
        _add_field(entry, entry.name, f"2 {kind[:-2]} value")
        kind = f"{full_name}.{entry.name}*"
    if kind.endswith("*"):
        field.label = _F.LABEL_REPEATED
        kind = kind[:-1]
    if kind in _TYPES:
        field.type = _TYPES[kind]
    else:
        field.type, field.type_name = _F.TYPE_MESSAGE, f".tensorflow.{kind}"
    if oneof:
        group = f"optional_{name}" if oneof.isdecimal() else oneof
        names = [o.name for o in message.oneof_decl]
        if group not in names:
            message.oneof_decl.add(name=group)
            names.append(group)
        field.oneof_index = names.index(group)


pool = _declare_messages()


def message_class(name: str) -> Any:
    """Returns the class of a message."""
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.{name}"))


BundleHeaderProto = message_class("BundleHeaderProto")
BundleEntryProto = message_class("BundleEntryProto")
SavedTensorSlices = message_class("SavedTensorSlices")
CheckpointState = message_class("CheckpointState")
QueueRunnerDef = message_class("QueueRunnerDef")
ReaderBaseState = message_class("ReaderBaseState")
SavedModel = message_class("SavedModel")
GraphNodeProto = message_class("GraphNodeProto")
MultiGraphNodeProto = message_class("MultiGraphNodeProto")
FingerprintDef = message_class("FingerprintDef")
CompressedElement = message_class("CompressedElement")
DatasetOptions = message_class("Options")
BytesList = message_class("BytesList")
FloatList = message_class("FloatList")
Int64List = message_class("Int64List")
Feature = message_class("Feature")
Features = message_class("Features")
FeatureList = message_class("FeatureList")
FeatureLists = message_class("FeatureLists")
Example = message_class("Example")
SequenceExample = message_class("SequenceExample")
