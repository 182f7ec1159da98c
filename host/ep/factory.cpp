// SPDX-License-Identifier: Apache-2.0
#include "host/ep/factory.hpp"

#include <memory>

#include "host/ep/options.hpp"
#include "host/util/error.hpp"

namespace gemm64::ep {
namespace {

/// Every function that ONNX Runtime may call is there, since it does not ask whether one is.
struct Factory : OrtEpFactory {
  Factory(const OrtApiBase& base, FindAttachment by) : OrtEpFactory{}, api(base), find(by) {
    ort_version_supported = ort::kOldestApi;  // later functions are not declared
    GetName = [](const OrtEpFactory*) { return kProviderName; };
    GetVendor = [](const OrtEpFactory*) { return "gemm64"; };
    GetVendorId = [](const OrtEpFactory*) { return std::uint32_t{0}; };
    GetVersion = [](const OrtEpFactory*) { return GEMM64_VERSION; };
    GetSupportedDevices = devices;
    CreateEp = create;
    ReleaseEp = [](OrtEpFactory*, OrtEp* provider) { release_provider(provider); };
    ValidateCompiledModelCompatibilityInfo =
        [](OrtEpFactory*, const OrtHardwareDevice* const*, std::size_t, const char*,
           OrtCompiledModelCompatibility* compatibility) -> OrtStatus* {
      *compatibility = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
      return nullptr;
    };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                         OrtAllocator** allocator) -> OrtStatus* {
      *allocator = nullptr;
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) {};
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) -> OrtStatus* {
      *transfer = nullptr;
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
    CreateSyncStreamForDevice = [](OrtEpFactory*, const OrtMemoryDevice*, const OrtKeyValuePairs*,
                                   OrtSyncStreamImpl** stream) -> OrtStatus* {
      *stream = nullptr;
      return nullptr;
    };
  }

  /// The simulated device is one of the processor's: ONNX Runtime knows kinds of hardware only.
  static OrtStatus* devices(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                            std::size_t count, OrtEpDevice** found, std::size_t most,
                            std::size_t* found_count) {
    const ort::Api& api = static_cast<Factory*>(self)->api;
    return guarded(api, ORT_FAIL, [&] {
      *found_count = 0;
      for (std::size_t i = 0; i < count && *found_count < most; ++i) {
        if (api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
        api.check(api.ep().CreateEpDevice(self, devices[i], nullptr, nullptr, found));
        *found_count = 1;
        return;
      }
    });
  }

  static OrtStatus* create(OrtEpFactory* self, const OrtHardwareDevice* const*,
                           const OrtKeyValuePairs* const*, std::size_t,
                           const OrtSessionOptions* options, const OrtLogger* logger,
                           OrtEp** provider) {
    const auto& own = *static_cast<Factory*>(self);
    const ort::Api& api = own.api;
    return guarded(api, ORT_INVALID_ARGUMENT, [&] {
      OrtKeyValuePairs* entries = nullptr;
      api.check(api->GetSessionOptionsConfigEntries(options, &entries));
      const ort::Owned<OrtKeyValuePairs> owned(entries, api->ReleaseKeyValuePairs);
      const ort::Options given = ort::pairs(api, *entries);
      *provider =
          make_provider(api, logger, given, own.find == nullptr ? nullptr : own.find(given));
    });
  }

  const ort::Api api;
  const FindAttachment find;
};

}  // namespace

OrtStatus* make_factory(const OrtApiBase& base, FindAttachment find, OrtEpFactory** made,
                        std::size_t* count) {
  try {
    *made = std::make_unique<Factory>(base, find).release();
    *count = 1;
    return nullptr;
  } catch (const std::exception& error) {
    // Without the interface that was asked for, the first one has what it takes to say so.
    const OrtApi* const oldest = base.GetApi(1);
    return oldest == nullptr ? nullptr : oldest->CreateStatus(ORT_NOT_IMPLEMENTED, error.what());
  }
}

void release_factory(OrtEpFactory* factory) { delete static_cast<Factory*>(factory); }

}  // namespace gemm64::ep
