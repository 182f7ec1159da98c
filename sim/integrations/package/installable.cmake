# SPDX-License-Identifier: Apache-2.0
# Lets `cmake --install` of the package end with an error where there is nothing to install.

# gemm64_package_is_off(): this build has none.
function(gemm64_package_is_off)
  install(CODE "message(FATAL_ERROR \"This build has no package, since it is configured without the \
SystemC platform. Type make -C sim package, or configure it with -DGEMM64_PLATFORM=ON.\")"
    COMPONENT package EXCLUDE_FROM_ALL)
endfunction()

# gemm64_package_needs(<file>): before what installs it.
function(gemm64_package_needs file)
  install(CODE "if(NOT EXISTS \"${file}\")
    message(FATAL_ERROR \"The package is not built: ${file} is missing. Type make -C sim package, or build \
the target gemm64_package first.\")
  endif()" COMPONENT package)
endfunction()
