// SPDX-License-Identifier: Apache-2.0 AND MIT
// The part of ONNX Runtime's C API that is used here, declared by hand: no package that a user can
// install has its headers. Names, signatures and the order of functions are ONNX Runtime's, since
// they are its binary interface; its license follows.
//
// MIT License
//
// Copyright (c) Microsoft Corporation
//
// Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
// associated documentation files (the "Software"), to deal in the Software without restriction,
// including without limitation the rights to use, copy, modify, merge, publish, distribute,
// sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in all copies or
// substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
// NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
// NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
// DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
#pragma once

#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

struct OrtAllocator;
struct OrtDataTransferImpl;
struct OrtEnv;
struct OrtEpDevice;
struct OrtEpGraphSupportInfo;
struct OrtGraph;
struct OrtHardwareDevice;
struct OrtKernelContext;
struct OrtKernelRegistry;
struct OrtKeyValuePairs;
struct OrtLogger;
struct OrtMemoryDevice;
struct OrtMemoryInfo;
struct OrtNode;
struct OrtNodeComputeContext;
struct OrtOpAttr;
struct OrtProfilingEvent;
struct OrtProfilingEventsContainer;
struct OrtRunOptions;
struct OrtSession;
struct OrtSessionOptions;
struct OrtStatus;
struct OrtSyncStreamImpl;
struct OrtTensorTypeAndShapeInfo;
struct OrtTypeInfo;
struct OrtValue;
struct OrtValueInfo;

enum OrtErrorCode {
  ORT_OK,
  ORT_FAIL,
  ORT_INVALID_ARGUMENT,
  ORT_NO_SUCHFILE,
  ORT_NO_MODEL,
  ORT_ENGINE_ERROR,
  ORT_RUNTIME_EXCEPTION,
  ORT_INVALID_PROTOBUF,
  ORT_MODEL_LOADED,
  ORT_NOT_IMPLEMENTED,
  ORT_INVALID_GRAPH,
  ORT_EP_FAIL
};
enum OrtLoggingLevel {
  ORT_LOGGING_LEVEL_VERBOSE,
  ORT_LOGGING_LEVEL_INFO,
  ORT_LOGGING_LEVEL_WARNING,
  ORT_LOGGING_LEVEL_ERROR,
  ORT_LOGGING_LEVEL_FATAL
};
enum OrtOpAttrType {
  ORT_OP_ATTR_UNDEFINED,
  ORT_OP_ATTR_INT,
  ORT_OP_ATTR_INTS,
  ORT_OP_ATTR_FLOAT,
  ORT_OP_ATTR_FLOATS,
  ORT_OP_ATTR_STRING,
  ORT_OP_ATTR_STRINGS,
  ORT_OP_ATTR_GRAPH,
  ORT_OP_ATTR_TENSOR
};
/// Element types; the numbers of onnx::TensorProto::DataType.
enum ONNXTensorElementDataType : int { ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED };
enum ONNXType { ONNX_TYPE_UNKNOWN, ONNX_TYPE_TENSOR, ONNX_TYPE_SEQUENCE };
enum OrtHardwareDeviceType {
  OrtHardwareDeviceType_CPU,
  OrtHardwareDeviceType_GPU,
  OrtHardwareDeviceType_NPU
};
enum OrtAllocatorType { OrtInvalidAllocator = -1, OrtDeviceAllocator = 0, OrtArenaAllocator = 1 };
enum OrtMemType { OrtMemTypeDefault = 0 };
enum OrtProfilingEventCategory {
  OrtProfilingEventCategory_SESSION,
  OrtProfilingEventCategory_NODE,
  OrtProfilingEventCategory_KERNEL,
  OrtProfilingEventCategory_API
};
enum OrtEpDataLayout { OrtEpDataLayout_NCHW, OrtEpDataLayout_NHWC };
enum OrtCompiledModelCompatibility { OrtCompiledModelCompatibility_EP_NOT_APPLICABLE };
enum GraphOptimizationLevel {
  ORT_DISABLE_ALL = 0,
  ORT_ENABLE_BASIC = 1,
  ORT_ENABLE_EXTENDED = 2,
  ORT_ENABLE_ALL = 99
};

struct OrtApi;
struct OrtEp;
struct OrtEpApi;
struct OrtEpFactory;
struct OrtEpProfilerImpl;
struct OrtModelEditorApi;

struct OrtApiBase {
  /// nullptr where the library is older than `version`.
  const OrtApi* (*GetApi)(std::uint32_t version);
  const char* (*GetVersionString)();
};

// What a provider implements. Each table begins with the version that it was made for, and ONNX
// Runtime looks at no function that came later.

struct OrtNodeFusionOptions {
  std::uint32_t ort_version_supported;
  bool drop_constant_initializers;
};

struct OrtNodeComputeInfo {
  std::uint32_t ort_version_supported;
  OrtStatus* (*CreateState)(OrtNodeComputeInfo* self, OrtNodeComputeContext* context, void** state);
  OrtStatus* (*Compute)(OrtNodeComputeInfo* self, void* state, OrtKernelContext* context);
  void (*ReleaseState)(OrtNodeComputeInfo* self, void* state);
};

struct OrtEpProfilerImpl {
  std::uint32_t ort_version_supported;
  void (*Release)(OrtEpProfilerImpl* self);
  OrtStatus* (*StartProfiling)(OrtEpProfilerImpl* self, std::int64_t start_offset_ns);
  OrtStatus* (*StartEvent)(OrtEpProfilerImpl* self, std::uint64_t correlation_id);
  OrtStatus* (*StopEvent)(OrtEpProfilerImpl* self, std::uint64_t correlation_id,
                          const OrtProfilingEvent* event);
  OrtStatus* (*EndProfiling)(OrtEpProfilerImpl* self, OrtProfilingEventsContainer* events);
};

struct OrtEp {
  std::uint32_t ort_version_supported;
  const char* (*GetName)(const OrtEp* self);
  OrtStatus* (*GetCapability)(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info);
  OrtStatus* (*Compile)(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes,
                        std::size_t count, OrtNodeComputeInfo** infos, OrtNode** ep_context_nodes);
  void (*ReleaseNodeComputeInfos)(OrtEp* self, OrtNodeComputeInfo** infos, std::size_t count);
  OrtStatus* (*GetPreferredDataLayout)(OrtEp* self, OrtEpDataLayout* layout);
  OrtStatus* (*ShouldConvertDataLayoutForOp)(OrtEp* self, const char* domain, const char* op_type,
                                             OrtEpDataLayout layout, int* should_convert);
  OrtStatus* (*SetDynamicOptions)(OrtEp* self, const char* const* keys, const char* const* values,
                                  std::size_t count);
  OrtStatus* (*OnRunStart)(OrtEp* self, const OrtRunOptions* options);
  OrtStatus* (*OnRunEnd)(OrtEp* self, const OrtRunOptions* options, bool sync_stream);
  OrtStatus* (*CreateAllocator)(OrtEp* self, const OrtMemoryInfo* memory, OrtAllocator** allocator);
  OrtStatus* (*CreateSyncStreamForDevice)(OrtEp* self, const OrtMemoryDevice* device,
                                          OrtSyncStreamImpl** stream);
  const char* (*GetCompiledModelCompatibilityInfo)(OrtEp* self, const OrtGraph* graph);
  // Since 1.24.
  OrtStatus* (*GetKernelRegistry)(OrtEp* self, const OrtKernelRegistry** registry);
  OrtStatus* (*IsConcurrentRunSupported)(OrtEp* self, bool* is_supported);
  // Since 1.25.
  OrtStatus* (*Sync)(OrtEp* self);
  OrtStatus* (*CreateProfiler)(OrtEp* self, OrtEpProfilerImpl** profiler);
  // Since 1.26 and 1.27.
  bool (*IsGraphCaptureEnabled)(const OrtEp* self);
  bool (*IsGraphCaptured)(const OrtEp* self, int annotation_id);
  OrtStatus* (*ReplayGraph)(OrtEp* self, int annotation_id);
  int (*GetGraphCaptureNodeAssignmentPolicy)(const OrtEp* self);
  OrtStatus* (*GetAvailableResource)(const OrtEp* self, void* available);
  OrtStatus* (*OnSessionInitializationEnd)(OrtEp* self);
  // Of no use here, and to be null.
  void* later[8];
};

struct OrtEpFactory {
  std::uint32_t ort_version_supported;
  const char* (*GetName)(const OrtEpFactory* self);
  const char* (*GetVendor)(const OrtEpFactory* self);
  OrtStatus* (*GetSupportedDevices)(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                                    std::size_t count, OrtEpDevice** ep_devices,
                                    std::size_t most_ep_devices, std::size_t* ep_devices_count);
  OrtStatus* (*CreateEp)(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                         const OrtKeyValuePairs* const* metadata, std::size_t count,
                         const OrtSessionOptions* options, const OrtLogger* logger, OrtEp** ep);
  void (*ReleaseEp)(OrtEpFactory* self, OrtEp* ep);
  std::uint32_t (*GetVendorId)(const OrtEpFactory* self);
  const char* (*GetVersion)(const OrtEpFactory* self);
  OrtStatus* (*ValidateCompiledModelCompatibilityInfo)(
      OrtEpFactory* self, const OrtHardwareDevice* const* devices, std::size_t count,
      const char* info, OrtCompiledModelCompatibility* compatibility);
  OrtStatus* (*CreateAllocator)(OrtEpFactory* self, const OrtMemoryInfo* memory,
                                const OrtKeyValuePairs* options, OrtAllocator** allocator);
  void (*ReleaseAllocator)(OrtEpFactory* self, OrtAllocator* allocator);
  OrtStatus* (*CreateDataTransfer)(OrtEpFactory* self, OrtDataTransferImpl** transfer);
  bool (*IsStreamAware)(const OrtEpFactory* self);
  OrtStatus* (*CreateSyncStreamForDevice)(OrtEpFactory* self, const OrtMemoryDevice* device,
                                          const OrtKeyValuePairs* options,
                                          OrtSyncStreamImpl** stream);
};

// What ONNX Runtime implements.

struct OrtModelEditorApi {
  void* unused_0[6];
  OrtStatus* (*CreateNode)(const char* operator_name, const char* domain_name,
                           const char* node_name, const char* const* input_names,
                           std::size_t input_names_len, const char* const* output_names,
                           std::size_t output_names_len, OrtOpAttr** attributes,
                           std::size_t attribs_len, OrtNode** node);
};

struct OrtEpApi {
  OrtStatus* (*CreateEpDevice)(OrtEpFactory* ep_factory, const OrtHardwareDevice* hardware_device,
                               const OrtKeyValuePairs* ep_metadata,
                               const OrtKeyValuePairs* ep_options, OrtEpDevice** ep_device);
  void (*ReleaseEpDevice)(OrtEpDevice*);
  OrtStatus* (*EpGraphSupportInfo_AddNodesToFuse)(OrtEpGraphSupportInfo* graph_support_info,
                                                  const OrtNode* const* nodes,
                                                  std::size_t num_nodes,
                                                  const OrtNodeFusionOptions* node_fusion_options);
  void* unused_3[1];
  const char* (*NodeComputeContext_NodeName)(const OrtNodeComputeContext* context);
  void* unused_5[11];
  OrtStatus* (*CreateHardwareDevice)(OrtHardwareDeviceType type, std::uint32_t vendor_id,
                                     std::uint32_t device_id, const char* vendor_name,
                                     const OrtKeyValuePairs* metadata,
                                     OrtHardwareDevice** hardware_device);
  void (*ReleaseHardwareDevice)(OrtHardwareDevice*);
  void* unused_18[47];
  OrtStatus* (*CreateProfilingEvent)(OrtProfilingEventCategory category, std::int32_t process_id,
                                     std::int32_t thread_id, const char* event_name,
                                     std::int64_t timestamp_us, std::int64_t duration_us,
                                     const char* const* arg_keys, const char* const* arg_values,
                                     std::size_t num_args, OrtProfilingEvent** out);
  void (*ReleaseProfilingEvent)(OrtProfilingEvent*);
  void* unused_67[5];
  OrtStatus* (*ProfilingEventsContainer_AddEvents)(OrtProfilingEventsContainer* events_container,
                                                   const OrtProfilingEvent* const* events,
                                                   std::size_t num_events);
};

struct OrtApi {
  OrtStatus* (*CreateStatus)(OrtErrorCode code, const char* msg);
  OrtErrorCode (*GetErrorCode)(const OrtStatus* status);
  const char* (*GetErrorMessage)(const OrtStatus* status);
  OrtStatus* (*CreateEnv)(OrtLoggingLevel log_severity_level, const char* logid, OrtEnv** out);
  void* unused_4[3];
  OrtStatus* (*CreateSession)(const OrtEnv* env, const char* model_path,
                              const OrtSessionOptions* options, OrtSession** out);
  OrtStatus* (*CreateSessionFromArray)(const OrtEnv* env, const void* model_data,
                                       std::size_t model_data_length,
                                       const OrtSessionOptions* options, OrtSession** out);
  OrtStatus* (*Run)(OrtSession* session, const OrtRunOptions* run_options,
                    const char* const* input_names, const OrtValue* const* inputs,
                    std::size_t input_len, const char* const* output_names,
                    std::size_t output_names_len, OrtValue** outputs);
  OrtStatus* (*CreateSessionOptions)(OrtSessionOptions** options);
  OrtStatus* (*SetOptimizedModelFilePath)(OrtSessionOptions* options,
                                          const char* optimized_model_filepath);
  void* unused_12[2];
  OrtStatus* (*EnableProfiling)(OrtSessionOptions* options, const char* profile_file_prefix);
  void* unused_15[7];
  OrtStatus* (*SetSessionLogSeverityLevel)(OrtSessionOptions* options,
                                           int session_log_severity_level);
  OrtStatus* (*SetSessionGraphOptimizationLevel)(OrtSessionOptions* options,
                                                 GraphOptimizationLevel graph_optimization_level);
  OrtStatus* (*SetIntraOpNumThreads)(OrtSessionOptions* options, int intra_op_num_threads);
  void* unused_25[5];
  OrtStatus* (*SessionGetInputCount)(const OrtSession* session, std::size_t* out);
  OrtStatus* (*SessionGetOutputCount)(const OrtSession* session, std::size_t* out);
  void* unused_32[1];
  OrtStatus* (*SessionGetInputTypeInfo)(const OrtSession* session, std::size_t index,
                                        OrtTypeInfo** type_info);
  void* unused_34[2];
  OrtStatus* (*SessionGetInputName)(const OrtSession* session, std::size_t index,
                                    OrtAllocator* allocator, char** value);
  OrtStatus* (*SessionGetOutputName)(const OrtSession* session, std::size_t index,
                                     OrtAllocator* allocator, char** value);
  void* unused_38[10];
  OrtStatus* (*CreateTensorAsOrtValue)(OrtAllocator* allocator, const std::int64_t* shape,
                                       std::size_t shape_len, ONNXTensorElementDataType type,
                                       OrtValue** out);
  OrtStatus* (*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo* info, void* p_data,
                                               std::size_t p_data_len, const std::int64_t* shape,
                                               std::size_t shape_len,
                                               ONNXTensorElementDataType type, OrtValue** out);
  void* unused_50[1];
  OrtStatus* (*GetTensorMutableData)(OrtValue* value, void** out);
  OrtStatus* (*FillStringTensor)(OrtValue* value, const char* const* s, std::size_t s_len);
  OrtStatus* (*GetStringTensorDataLength)(const OrtValue* value, std::size_t* len);
  OrtStatus* (*GetStringTensorContent)(const OrtValue* value, void* s, std::size_t s_len,
                                       std::size_t* offsets, std::size_t offsets_len);
  OrtStatus* (*CastTypeInfoToTensorInfo)(const OrtTypeInfo* type_info,
                                         const OrtTensorTypeAndShapeInfo** out);
  OrtStatus* (*GetOnnxTypeFromTypeInfo)(const OrtTypeInfo* type_info, ONNXType* out);
  void* unused_57[3];
  OrtStatus* (*GetTensorElementType)(const OrtTensorTypeAndShapeInfo* info,
                                     ONNXTensorElementDataType* out);
  OrtStatus* (*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo* info, std::size_t* out);
  OrtStatus* (*GetDimensions)(const OrtTensorTypeAndShapeInfo* info, std::int64_t* dim_values,
                              std::size_t dim_values_length);
  OrtStatus* (*GetSymbolicDimensions)(const OrtTensorTypeAndShapeInfo* info,
                                      const char** dim_params, std::size_t dim_params_length);
  OrtStatus* (*GetTensorShapeElementCount)(const OrtTensorTypeAndShapeInfo* info, std::size_t* out);
  OrtStatus* (*GetTensorTypeAndShape)(const OrtValue* value, OrtTensorTypeAndShapeInfo** out);
  void* unused_66[1];
  OrtStatus* (*GetValueType)(const OrtValue* value, ONNXType* out);
  void* unused_68[1];
  OrtStatus* (*CreateCpuMemoryInfo)(OrtAllocatorType type, OrtMemType mem_type,
                                    OrtMemoryInfo** out);
  void* unused_70[6];
  OrtStatus* (*AllocatorFree)(OrtAllocator* ort_allocator, void* p);
  void* unused_77[1];
  OrtStatus* (*GetAllocatorWithDefaultOptions)(OrtAllocator** out);
  void* unused_79[1];
  OrtStatus* (*GetValue)(const OrtValue* value, int index, OrtAllocator* allocator, OrtValue** out);
  OrtStatus* (*GetValueCount)(const OrtValue* value, std::size_t* out);
  OrtStatus* (*CreateValue)(const OrtValue* const* in, std::size_t num_values, ONNXType value_type,
                            OrtValue** out);
  void* unused_83[5];
  OrtStatus* (*KernelContext_GetInputCount)(const OrtKernelContext* context, std::size_t* out);
  OrtStatus* (*KernelContext_GetOutputCount)(const OrtKernelContext* context, std::size_t* out);
  OrtStatus* (*KernelContext_GetInput)(const OrtKernelContext* context, std::size_t index,
                                       const OrtValue** out);
  OrtStatus* (*KernelContext_GetOutput)(OrtKernelContext* context, std::size_t index,
                                        const std::int64_t* dim_values, std::size_t dim_count,
                                        OrtValue** out);
  void (*ReleaseEnv)(OrtEnv*);
  void (*ReleaseStatus)(OrtStatus*);
  void (*ReleaseMemoryInfo)(OrtMemoryInfo*);
  void (*ReleaseSession)(OrtSession*);
  void (*ReleaseValue)(OrtValue*);
  void* unused_97[1];
  void (*ReleaseTypeInfo)(OrtTypeInfo*);
  void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo*);
  void (*ReleaseSessionOptions)(OrtSessionOptions*);
  void* unused_101[9];
  OrtStatus* (*SessionEndProfiling)(OrtSession* session, OrtAllocator* allocator, char** out);
  void* unused_111[19];
  OrtStatus* (*AddSessionConfigEntry)(OrtSessionOptions* options, const char* config_key,
                                      const char* config_value);
  void* unused_131[79];
  OrtStatus* (*AddExternalInitializers)(OrtSessionOptions* options,
                                        const char* const* initializer_names,
                                        const OrtValue* const* initializers,
                                        std::size_t num_initializers);
  OrtStatus* (*CreateOpAttr)(const char* name, const void* data, int len, OrtOpAttrType type,
                             OrtOpAttr** op_attr);
  void (*ReleaseOpAttr)(OrtOpAttr*);
  void* unused_213[25];
  OrtStatus* (*GetSessionConfigEntry)(const OrtSessionOptions* options, const char* config_key,
                                      char* config_value, std::size_t* size);
  void* unused_239[8];
  OrtStatus* (*Logger_LogMessage)(const OrtLogger* logger, OrtLoggingLevel log_severity_level,
                                  const char* message, const char* file_path, int line_number,
                                  const char* func_name);
  OrtStatus* (*Logger_GetLoggingSeverityLevel)(const OrtLogger* logger, OrtLoggingLevel* out);
  void* unused_249[23];
  OrtStatus* (*ReadOpAttr)(const OrtOpAttr* op_attr, OrtOpAttrType type, void* data,
                           std::size_t len, std::size_t* out);
  void* unused_273[16];
  OrtStatus* (*GetValueInfoName)(const OrtValueInfo* value_info, const char** name);
  OrtStatus* (*GetValueInfoTypeInfo)(const OrtValueInfo* value_info, const OrtTypeInfo** type_info);
  const OrtModelEditorApi* (*GetModelEditorApi)();
  void* unused_292[3];
  void (*CreateKeyValuePairs)(OrtKeyValuePairs** out);
  void (*AddKeyValuePair)(OrtKeyValuePairs* kvps, const char* key, const char* value);
  void* unused_297[1];
  void (*GetKeyValuePairs)(const OrtKeyValuePairs* kvps, const char* const** keys,
                           const char* const** values, std::size_t* num_entries);
  void* unused_299[1];
  void (*ReleaseKeyValuePairs)(OrtKeyValuePairs*);
  OrtStatus* (*RegisterExecutionProviderLibrary)(OrtEnv* env, const char* registration_name,
                                                 const char* path);
  OrtStatus* (*UnregisterExecutionProviderLibrary)(OrtEnv* env, const char* registration_name);
  OrtStatus* (*GetEpDevices)(const OrtEnv* env, const OrtEpDevice* const** ep_devices,
                             std::size_t* num_ep_devices);
  OrtStatus* (*SessionOptionsAppendExecutionProvider_V2)(
      OrtSessionOptions* session_options, OrtEnv* env, const OrtEpDevice* const* ep_devices,
      std::size_t num_ep_devices, const char* const* ep_option_keys,
      const char* const* ep_option_vals, std::size_t num_ep_options);
  void* unused_305[2];
  OrtHardwareDeviceType (*HardwareDevice_Type)(const OrtHardwareDevice* device);
  void* unused_308[4];
  const char* (*EpDevice_EpName)(const OrtEpDevice* ep_device);
  void* unused_313[4];
  const OrtEpApi* (*GetEpApi)();
  OrtStatus* (*GetTensorSizeInBytes)(const OrtValue* ort_value, std::size_t* size);
  void* unused_319[7];
  OrtStatus* (*ValueInfo_GetInitializerValue)(const OrtValueInfo* value_info,
                                              const OrtValue** initializer_value);
  void* unused_327[3];
  OrtStatus* (*ValueInfo_IsGraphOutput)(const OrtValueInfo* value_info, bool* is_graph_output);
  OrtStatus* (*ValueInfo_IsConstantInitializer)(const OrtValueInfo* value_info,
                                                bool* is_constant_initializer);
  OrtStatus* (*ValueInfo_IsFromOuterScope)(const OrtValueInfo* value_info,
                                           bool* is_from_outer_scope);
  OrtStatus* (*Graph_GetName)(const OrtGraph* graph, const char** graph_name);
  OrtStatus* (*Graph_GetModelPath)(const OrtGraph* graph, const char** model_path);
  OrtStatus* (*Graph_GetOnnxIRVersion)(const OrtGraph* graph, std::int64_t* onnx_ir_version);
  OrtStatus* (*Graph_GetNumOperatorSets)(const OrtGraph* graph, std::size_t* num_operator_sets);
  OrtStatus* (*Graph_GetOperatorSets)(const OrtGraph* graph, const char** domains,
                                      std::int64_t* opset_versions, std::size_t num_operator_sets);
  OrtStatus* (*Graph_GetNumInputs)(const OrtGraph* graph, std::size_t* num_inputs);
  OrtStatus* (*Graph_GetInputs)(const OrtGraph* graph, const OrtValueInfo** inputs,
                                std::size_t num_inputs);
  OrtStatus* (*Graph_GetNumOutputs)(const OrtGraph* graph, std::size_t* num_outputs);
  OrtStatus* (*Graph_GetOutputs)(const OrtGraph* graph, const OrtValueInfo** outputs,
                                 std::size_t num_outputs);
  OrtStatus* (*Graph_GetNumInitializers)(const OrtGraph* graph, std::size_t* num_initializers);
  OrtStatus* (*Graph_GetInitializers)(const OrtGraph* graph, const OrtValueInfo** initializers,
                                      std::size_t num_initializers);
  OrtStatus* (*Graph_GetNumNodes)(const OrtGraph* graph, std::size_t* num_nodes);
  OrtStatus* (*Graph_GetNodes)(const OrtGraph* graph, const OrtNode** nodes, std::size_t num_nodes);
  void* unused_346[2];
  OrtStatus* (*Node_GetId)(const OrtNode* node, std::size_t* node_id);
  OrtStatus* (*Node_GetName)(const OrtNode* node, const char** node_name);
  OrtStatus* (*Node_GetOperatorType)(const OrtNode* node, const char** operator_type);
  OrtStatus* (*Node_GetDomain)(const OrtNode* node, const char** domain_name);
  OrtStatus* (*Node_GetSinceVersion)(const OrtNode* node, int* since_version);
  OrtStatus* (*Node_GetNumInputs)(const OrtNode* node, std::size_t* num_inputs);
  OrtStatus* (*Node_GetInputs)(const OrtNode* node, const OrtValueInfo** inputs,
                               std::size_t num_inputs);
  OrtStatus* (*Node_GetNumOutputs)(const OrtNode* node, std::size_t* num_outputs);
  OrtStatus* (*Node_GetOutputs)(const OrtNode* node, const OrtValueInfo** outputs,
                                std::size_t num_outputs);
  OrtStatus* (*Node_GetNumImplicitInputs)(const OrtNode* node, std::size_t* num_implicit_inputs);
  OrtStatus* (*Node_GetImplicitInputs)(const OrtNode* node, const OrtValueInfo** implicit_inputs,
                                       std::size_t num_implicit_inputs);
  OrtStatus* (*Node_GetNumAttributes)(const OrtNode* node, std::size_t* num_attributes);
  OrtStatus* (*Node_GetAttributes)(const OrtNode* node, const OrtOpAttr** attributes,
                                   std::size_t num_attributes);
  void* unused_361[1];
  OrtStatus* (*OpAttr_GetTensorAttributeAsOrtValue)(const OrtOpAttr* attribute,
                                                    OrtValue** attr_tensor);
  OrtStatus* (*OpAttr_GetType)(const OrtOpAttr* attribute, OrtOpAttrType* type);
  OrtStatus* (*OpAttr_GetName)(const OrtOpAttr* attribute, const char** name);
  OrtStatus* (*Node_GetNumSubgraphs)(const OrtNode* node, std::size_t* num_subgraphs);
  void* unused_366[2];
  OrtStatus* (*Node_GetEpName)(const OrtNode* node, const char** out);
  void* unused_369[9];
  OrtStatus* (*GetTensorData)(const OrtValue* value, const void** out);
  OrtStatus* (*GetSessionOptionsConfigEntries)(const OrtSessionOptions* options,
                                               OrtKeyValuePairs** out);
};

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
