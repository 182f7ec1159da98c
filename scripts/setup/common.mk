# SPDX-License-Identifier: Apache-2.0
# What the makefiles share: variables, configuration, and that recipes of each folder's makefile run in the root.
#
#   JOBS=4 (at a time), SETUP=true (installs nothing), CXX=g++ (another compiler), ARGS="..." (options of what runs)

ROOT := $(realpath $(dir $(lastword $(MAKEFILE_LIST)))../..)
MAKEFILE := $(realpath $(firstword $(MAKEFILE_LIST)))
BUILD := build
JOBS  := $(shell nproc)
SETUP := scripts/setup/setup.sh
ARGS  :=
ARRAY := 4
FASHION := /usr/share/datasets/fashion-mnist
# Make's own default for CXX is no user's choice.
COMPILER := $(if $(filter default,$(origin CXX)),clang++,$(CXX))

MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.DEFAULT_GOAL := help

# make -C FOLDER TARGET
ifneq ($(CURDIR),$(ROOT))
GOALS := $(or $(MAKECMDGOALS),help)
.PHONY: $(GOALS)
$(GOALS):
	@$(MAKE) -C $(ROOT) -f $(MAKEFILE) $@
endif

# Fetches ONNX Runtime, if SETUP installs what is missing. Configures where nothing is configured, the compiler is another one, or more is wanted than was so far; all else
# CMake and Ninja see by themselves. $(1): what is wanted, main (only the main job), all, or test.
define configure
$(if $(filter true,$(SETUP)),,@scripts/setup/fetch-onnxruntime.sh $(BUILD)/onnxruntime || \
    echo "make: gemm64 run and quantize need GEMM64_ONNXRUNTIME=FILE until it is fetched" >&2)
@compiler=$$(command -v $(COMPILER)) || \
    { echo "make: no compiler is called $(COMPILER)" >&2; exit 1; }; \
cache=$(BUILD)/CMakeCache.txt; all=OFF; test=OFF; fresh=; \
has() { grep -qsxF "$$1:BOOL=ON" $$cache; }; \
if has GEMM64_ALL_MODELS || [ $(1) != main ]; then all=ON; fi; \
if has BUILD_TESTING || [ $(1) = test ]; then test=ON; fi; \
if ! grep -qsxF "CMAKE_CXX_COMPILER:STRING=$$compiler" $$cache; then fresh=--fresh; \
elif [ -f $(BUILD)/build.ninja ] && { has GEMM64_ALL_MODELS || [ $$all = OFF ]; } && \
    { has BUILD_TESTING || [ $$test = OFF ]; }; then exit 0; fi; \
cmake --preset default -B $(BUILD) $$fresh -DCMAKE_CXX_COMPILER:STRING=$$compiler \
    -DGEMM64_ALL_MODELS:BOOL=$$all -DBUILD_TESTING:BOOL=$$test
endef

compile = cmake --build $(BUILD) --parallel $(JOBS)

ifeq ($(CURDIR),$(ROOT))
# Lines of help precede each target, after two number signs.
.PHONY: help
help:
	@sed -n 's/^## \([^:]*\): */$(if $(filter $(ROOT)/Makefile,$(MAKEFILE)),make )\1\t/p' $(MAKEFILE) | expand -t 24
endif

# $(1): a variable of CMake that is switched on, $(2): the name of the log.
define switch_on
@cmake -S . -B $(BUILD) -D$(1)=ON >$(BUILD)/$(2).log || { cat $(BUILD)/$(2).log >&2; exit 1; }
endef
