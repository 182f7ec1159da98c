// SPDX-License-Identifier: Apache-2.0
// The place of each function in its table, as ONNX Runtime's libraries have it.
#include "host/ort/c_api.hpp"

namespace gemm64 {
namespace {

constexpr std::size_t kSlot = sizeof(void*);

#define GEMM64_SLOT(table, function, slot) static_assert(offsetof(table, function) == (slot)*kSlot)

GEMM64_SLOT(OrtApi, CreateStatus, 0);
GEMM64_SLOT(OrtApi, GetErrorCode, 1);
GEMM64_SLOT(OrtApi, GetErrorMessage, 2);
GEMM64_SLOT(OrtApi, CreateEnv, 3);
GEMM64_SLOT(OrtApi, CreateSession, 7);
GEMM64_SLOT(OrtApi, CreateSessionFromArray, 8);
GEMM64_SLOT(OrtApi, Run, 9);
GEMM64_SLOT(OrtApi, CreateSessionOptions, 10);
GEMM64_SLOT(OrtApi, SetOptimizedModelFilePath, 11);
GEMM64_SLOT(OrtApi, EnableProfiling, 14);
GEMM64_SLOT(OrtApi, SetSessionLogSeverityLevel, 22);
GEMM64_SLOT(OrtApi, SetSessionGraphOptimizationLevel, 23);
GEMM64_SLOT(OrtApi, SetIntraOpNumThreads, 24);
GEMM64_SLOT(OrtApi, SessionGetInputCount, 30);
GEMM64_SLOT(OrtApi, SessionGetOutputCount, 31);
GEMM64_SLOT(OrtApi, SessionGetInputTypeInfo, 33);
GEMM64_SLOT(OrtApi, SessionGetInputName, 36);
GEMM64_SLOT(OrtApi, SessionGetOutputName, 37);
GEMM64_SLOT(OrtApi, CreateTensorAsOrtValue, 48);
GEMM64_SLOT(OrtApi, CreateTensorWithDataAsOrtValue, 49);
GEMM64_SLOT(OrtApi, GetTensorMutableData, 51);
GEMM64_SLOT(OrtApi, FillStringTensor, 52);
GEMM64_SLOT(OrtApi, GetStringTensorDataLength, 53);
GEMM64_SLOT(OrtApi, GetStringTensorContent, 54);
GEMM64_SLOT(OrtApi, CastTypeInfoToTensorInfo, 55);
GEMM64_SLOT(OrtApi, GetOnnxTypeFromTypeInfo, 56);
GEMM64_SLOT(OrtApi, GetTensorElementType, 60);
GEMM64_SLOT(OrtApi, GetDimensionsCount, 61);
GEMM64_SLOT(OrtApi, GetDimensions, 62);
GEMM64_SLOT(OrtApi, GetSymbolicDimensions, 63);
GEMM64_SLOT(OrtApi, GetTensorShapeElementCount, 64);
GEMM64_SLOT(OrtApi, GetTensorTypeAndShape, 65);
GEMM64_SLOT(OrtApi, GetValueType, 67);
GEMM64_SLOT(OrtApi, CreateCpuMemoryInfo, 69);
GEMM64_SLOT(OrtApi, AllocatorFree, 76);
GEMM64_SLOT(OrtApi, GetAllocatorWithDefaultOptions, 78);
GEMM64_SLOT(OrtApi, GetValue, 80);
GEMM64_SLOT(OrtApi, GetValueCount, 81);
GEMM64_SLOT(OrtApi, CreateValue, 82);
GEMM64_SLOT(OrtApi, KernelContext_GetInputCount, 88);
GEMM64_SLOT(OrtApi, KernelContext_GetOutputCount, 89);
GEMM64_SLOT(OrtApi, KernelContext_GetInput, 90);
GEMM64_SLOT(OrtApi, KernelContext_GetOutput, 91);
GEMM64_SLOT(OrtApi, ReleaseEnv, 92);
GEMM64_SLOT(OrtApi, ReleaseStatus, 93);
GEMM64_SLOT(OrtApi, ReleaseMemoryInfo, 94);
GEMM64_SLOT(OrtApi, ReleaseSession, 95);
GEMM64_SLOT(OrtApi, ReleaseValue, 96);
GEMM64_SLOT(OrtApi, ReleaseTypeInfo, 98);
GEMM64_SLOT(OrtApi, ReleaseTensorTypeAndShapeInfo, 99);
GEMM64_SLOT(OrtApi, ReleaseSessionOptions, 100);
GEMM64_SLOT(OrtApi, SessionEndProfiling, 110);
GEMM64_SLOT(OrtApi, AddSessionConfigEntry, 130);
GEMM64_SLOT(OrtApi, AddExternalInitializers, 210);
GEMM64_SLOT(OrtApi, CreateOpAttr, 211);
GEMM64_SLOT(OrtApi, ReleaseOpAttr, 212);
GEMM64_SLOT(OrtApi, GetSessionConfigEntry, 238);
GEMM64_SLOT(OrtApi, Logger_LogMessage, 247);
GEMM64_SLOT(OrtApi, Logger_GetLoggingSeverityLevel, 248);
GEMM64_SLOT(OrtApi, ReadOpAttr, 272);
GEMM64_SLOT(OrtApi, GetValueInfoName, 289);
GEMM64_SLOT(OrtApi, GetValueInfoTypeInfo, 290);
GEMM64_SLOT(OrtApi, GetModelEditorApi, 291);
GEMM64_SLOT(OrtApi, CreateKeyValuePairs, 295);
GEMM64_SLOT(OrtApi, AddKeyValuePair, 296);
GEMM64_SLOT(OrtApi, GetKeyValuePairs, 298);
GEMM64_SLOT(OrtApi, ReleaseKeyValuePairs, 300);
GEMM64_SLOT(OrtApi, RegisterExecutionProviderLibrary, 301);
GEMM64_SLOT(OrtApi, UnregisterExecutionProviderLibrary, 302);
GEMM64_SLOT(OrtApi, GetEpDevices, 303);
GEMM64_SLOT(OrtApi, SessionOptionsAppendExecutionProvider_V2, 304);
GEMM64_SLOT(OrtApi, HardwareDevice_Type, 307);
GEMM64_SLOT(OrtApi, EpDevice_EpName, 312);
GEMM64_SLOT(OrtApi, GetEpApi, 317);
GEMM64_SLOT(OrtApi, GetTensorSizeInBytes, 318);
GEMM64_SLOT(OrtApi, ValueInfo_GetInitializerValue, 326);
GEMM64_SLOT(OrtApi, ValueInfo_IsGraphOutput, 330);
GEMM64_SLOT(OrtApi, ValueInfo_IsConstantInitializer, 331);
GEMM64_SLOT(OrtApi, ValueInfo_IsFromOuterScope, 332);
GEMM64_SLOT(OrtApi, Graph_GetName, 333);
GEMM64_SLOT(OrtApi, Graph_GetModelPath, 334);
GEMM64_SLOT(OrtApi, Graph_GetOnnxIRVersion, 335);
GEMM64_SLOT(OrtApi, Graph_GetNumOperatorSets, 336);
GEMM64_SLOT(OrtApi, Graph_GetOperatorSets, 337);
GEMM64_SLOT(OrtApi, Graph_GetNumInputs, 338);
GEMM64_SLOT(OrtApi, Graph_GetInputs, 339);
GEMM64_SLOT(OrtApi, Graph_GetNumOutputs, 340);
GEMM64_SLOT(OrtApi, Graph_GetOutputs, 341);
GEMM64_SLOT(OrtApi, Graph_GetNumInitializers, 342);
GEMM64_SLOT(OrtApi, Graph_GetInitializers, 343);
GEMM64_SLOT(OrtApi, Graph_GetNumNodes, 344);
GEMM64_SLOT(OrtApi, Graph_GetNodes, 345);
GEMM64_SLOT(OrtApi, Node_GetId, 348);
GEMM64_SLOT(OrtApi, Node_GetName, 349);
GEMM64_SLOT(OrtApi, Node_GetOperatorType, 350);
GEMM64_SLOT(OrtApi, Node_GetDomain, 351);
GEMM64_SLOT(OrtApi, Node_GetSinceVersion, 352);
GEMM64_SLOT(OrtApi, Node_GetNumInputs, 353);
GEMM64_SLOT(OrtApi, Node_GetInputs, 354);
GEMM64_SLOT(OrtApi, Node_GetNumOutputs, 355);
GEMM64_SLOT(OrtApi, Node_GetOutputs, 356);
GEMM64_SLOT(OrtApi, Node_GetNumImplicitInputs, 357);
GEMM64_SLOT(OrtApi, Node_GetImplicitInputs, 358);
GEMM64_SLOT(OrtApi, Node_GetNumAttributes, 359);
GEMM64_SLOT(OrtApi, Node_GetAttributes, 360);
GEMM64_SLOT(OrtApi, OpAttr_GetTensorAttributeAsOrtValue, 362);
GEMM64_SLOT(OrtApi, OpAttr_GetType, 363);
GEMM64_SLOT(OrtApi, OpAttr_GetName, 364);
GEMM64_SLOT(OrtApi, Node_GetNumSubgraphs, 365);
GEMM64_SLOT(OrtApi, Node_GetEpName, 368);
GEMM64_SLOT(OrtApi, GetTensorData, 378);
GEMM64_SLOT(OrtApi, GetSessionOptionsConfigEntries, 379);
GEMM64_SLOT(OrtEpApi, CreateEpDevice, 0);
GEMM64_SLOT(OrtEpApi, ReleaseEpDevice, 1);
GEMM64_SLOT(OrtEpApi, EpGraphSupportInfo_AddNodesToFuse, 2);
GEMM64_SLOT(OrtEpApi, NodeComputeContext_NodeName, 4);
GEMM64_SLOT(OrtEpApi, CreateHardwareDevice, 16);
GEMM64_SLOT(OrtEpApi, ReleaseHardwareDevice, 17);
GEMM64_SLOT(OrtEpApi, CreateProfilingEvent, 65);
GEMM64_SLOT(OrtEpApi, ReleaseProfilingEvent, 66);
GEMM64_SLOT(OrtEpApi, ProfilingEventsContainer_AddEvents, 72);
GEMM64_SLOT(OrtModelEditorApi, CreateNode, 6);
// Tables that begin with a version: it has a slot of its own.
GEMM64_SLOT(OrtNodeComputeInfo, ReleaseState, 3);
GEMM64_SLOT(OrtEpProfilerImpl, EndProfiling, 5);
GEMM64_SLOT(OrtEp, GetName, 1);
GEMM64_SLOT(OrtEp, GetCompiledModelCompatibilityInfo, 12);
GEMM64_SLOT(OrtEp, IsConcurrentRunSupported, 14);
GEMM64_SLOT(OrtEp, CreateProfiler, 16);
GEMM64_SLOT(OrtEp, OnSessionInitializationEnd, 22);
GEMM64_SLOT(OrtEpFactory, GetName, 1);
GEMM64_SLOT(OrtEpFactory, GetVersion, 7);
GEMM64_SLOT(OrtEpFactory, CreateSyncStreamForDevice, 13);
static_assert(offsetof(OrtNodeFusionOptions, drop_constant_initializers) == 4);

#undef GEMM64_SLOT

}  // namespace
}  // namespace gemm64
