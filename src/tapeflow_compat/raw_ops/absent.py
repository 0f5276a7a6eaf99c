"""The ops with a kernel on CPUs in TensorFlow and none in TapeFlow, with the reasons."""

from __future__ import annotations

import functools

_REASONS: dict[str, str] = {
    "its newer form has other arguments: use TensorSummaryV2": ("TensorSummary "),
    "its newer form places glimpses otherwise: use ExtractGlimpseV2": ("ExtractGlimpse "),
    "it has no gradient here: use tf.RaggedTensor": ("RaggedTensorToVariantGradient "),
    "tf.sparse.cross_hashed computes it of ragged and sparse tensors": ("SparseCrossHashed "),
    "tf.vectorized_map makes batches of lists by itself": ("TensorListPushBackBatch "),
    "fused layers of quantized numbers are oneDNN's: dequantize, and compute with the ops on floats": (
        "QuantizeDownAndShrinkRange QuantizedAdd QuantizedAvgPool QuantizedBatchNormWithGlobalNormalization "
        "QuantizedBiasAdd QuantizedConv2D QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize "
        "QuantizedConv2DAndRequantize QuantizedConv2DPerChannel QuantizedConv2DWithBias "
        "QuantizedConv2DWithBiasAndRelu QuantizedConv2DWithBiasAndReluAndRequantize "
        "QuantizedConv2DWithBiasAndRequantize QuantizedConv2DWithBiasSignedSumAndReluAndRequantize "
        "QuantizedConv2DWithBiasSumAndRelu QuantizedConv2DWithBiasSumAndReluAndRequantize "
        "QuantizedDepthwiseConv2D QuantizedDepthwiseConv2DWithBias QuantizedDepthwiseConv2DWithBiasAndRelu "
        "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize QuantizedInstanceNorm QuantizedMatMul "
        "QuantizedMatMulWithBias QuantizedMatMulWithBiasAndDequantize QuantizedMatMulWithBiasAndRelu "
        "QuantizedMatMulWithBiasAndReluAndRequantize QuantizedMatMulWithBiasAndRequantize QuantizedMaxPool "
        "QuantizedMul QuantizedRelu QuantizedRelu6 QuantizedReshape QuantizedResizeBilinear "
        "RequantizationRange RequantizationRangePerChannel Requantize RequantizePerChannel "
    ),
    "only TensorFlow's quantizer writes uniformly quantized numbers: dequantize, and compute with floats": (
        "UniformDequantize UniformQuantize UniformQuantizedAdd UniformQuantizedClipByValue "
        "UniformQuantizedConvolution UniformQuantizedConvolutionHybrid UniformQuantizedDot "
        "UniformQuantizedDotHybrid UniformRequantize "
    ),
    "collective ops meet in TensorFlow's runtime; tf.distribute's strategies use torch.distributed": (
        "CollectiveAllToAllV2 CollectiveAllToAllV3 CollectiveAssignGroupV2 CollectiveBcastRecv "
        "CollectiveBcastRecvV2 CollectiveBcastSend CollectiveBcastSendV2 CollectiveGather CollectiveGatherV2 "
        "CollectiveInitializeCommunicator CollectiveReduce CollectiveReduceScatterV2 CollectiveReduceV2 "
        "CollectiveReduceV3 "
    ),
    "tf.data.service needs TensorFlow's servers": (
        "DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4 DistributedSave "
        "RegisterDataset RegisterDatasetV2 "
    ),
    "one iterator feeds several devices through TensorFlow's runtime; tf.distribute's strategies have their own": (
        "AnonymousMultiDeviceIterator AnonymousMultiDeviceIteratorV3 DeleteMultiDeviceIterator "
        "MultiDeviceIterator MultiDeviceIteratorFromStringHandle MultiDeviceIteratorGetNextFromShard "
        "MultiDeviceIteratorInit MultiDeviceIteratorToStringHandle "
    ),
    "a pipeline is no graph here": (
        "ChooseFastestBranchDataset ComputeBatchSize DatasetFromGraph DatasetToGraph DatasetToGraphV2 "
        "ExperimentalRebatchDataset GetOptions GlobalShuffleDataset IndexFlatMapDataset IteratorGetModelProto "
        "RebatchDataset WeightedFlatMapDataset WindowOp "
    ),
    "the files are those of TensorFlow's own snapshots, whose format is not documented": (
        "ListSnapshotChunksDataset SaveDatasetV2 SnapshotChunkDataset SnapshotDataset SnapshotDatasetReader "
        "SnapshotDatasetV2 SnapshotNestedDatasetReader "
    ),
    "there is no LMDB in the packages that TapeFlow depends on": ("ExperimentalLMDBDataset LMDBDataset "),
    "its handle is a resource: use GetSessionHandle": ("GetSessionHandleV2 "),
    "TensorFlow's runtime adds it to graphs by itself": (
        "Abort FileSystemSetConfiguration ImmutableConst RecordInput Recv Send "
    ),
    "its token names a function in TensorFlow's registry: use tf.py_function or tf.numpy_function": (
        "EagerPyFunc PyFunc PyFuncStateless "
    ),
    "it writes checkpoints in the format of TensorFlow 0.x: use tf.train.Checkpoint or tf.compat.v1.train.Saver": (
        "Restore RestoreSlice Save SaveSlices "
    ),
    "warm starts read a checkpoint by tf.train.load_variable": ("GenerateVocabRemapping LoadAndRemapMatrix "),
    "TensorFlow's estimators, which are gone, were its only user": (
        "KMC2ChainInitialization KmeansPlusPlusInitialization SdcaFprint SdcaOptimizer SdcaOptimizerV2 "
        "ThreadUnsafeUnigramCandidateSampler "
    ),
    "batches of requests are collected by tf.nondifferentiable_batch_function": ("Batch Unbatch UnbatchGrad "),
    "its handle is a string: use TensorArrayV3": ("TensorArrayGradV2 TensorArrayV2 "),
    "tfdbg's dumps need TensorFlow's debugger": ("DebugNumericSummary DebugNumericSummaryV2 "),
    "JPEG XL needs TensorFlow's binaries": ("DecodeJxl "),
    "summaries in a database are gone from TensorBoard": ("CreateSummaryDbWriter "),
    "sparse tensors are values here, and need no map": (
        "AddManySparseToTensorsMap AddSparseToTensorsMap TakeManySparseFromTensorsMap "
    ),
}


@functools.cache
def _reasons() -> dict[str, str]:
    return {name: reason for reason, names in _REASONS.items() for name in names.split()}


def reason(name: str) -> str:
    """Returns why an op is not there."""
    return _reasons().get(name, "TapeFlow has no kernel for it yet")


def is_absent(name: str) -> bool:
    """Returns True if an op is not there."""
    return name in _reasons()
