# SPDX-License-Identifier: Apache-2.0
# A thin layer over CMake and Ninja: installs what is missing, configures, builds, runs.
#
#   make sim ARGS="--batch 1 --json report.json"     options of `gemm64 run`
#   make test ARGS="-R TileWalk"                       options of ctest; a selection replaces that of the target
#   make netlist ARRAY=8 CELLS=255                     the gates of N = 8, and so many broken cells
#   CXX=g++ (another compiler), JOBS=4 (at a time), SETUP=true (install nothing)

BUILD := build
JOBS  := $(shell nproc)
SETUP := scripts/setup/setup.sh
ARGS  :=
ARRAY := 4
CELLS := 20
VIEW  := overview
FUZZ_SECONDS := 60
PREFIX := $(BUILD)/package
FASHION := /usr/share/datasets/fashion-mnist
# Make's own default for CXX is not a choice that anybody made.
COMPILER := $(if $(filter default,$(origin CXX)),clang++,$(CXX))

MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.PHONY: build sim report accuracy imagenet text test regression python torchscript wave firmware package bench fuzz abuse lint tidy synth wires netlist equivalence energy stuck flips fpga bitstream litex formal mutants host-mutants coverage functional-coverage testplan signoff docs web web-check self-check samples clean help
.DEFAULT_GOAL := build

# Fetches ONNX Runtime, if SETUP installs what is missing. Configures where nothing is configured, the compiler is another one, or more is wanted than was so far; all else
# CMake and Ninja see by themselves. $(1): what is wanted, main (the main job alone), all, or test.
define configure
$(if $(filter true,$(SETUP)),,@scripts/setup/fetch-onnxruntime.sh $(BUILD)/onnxruntime || \
    echo "make: the program's own executor runs what ONNX Runtime would" >&2)
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

# $(1): -L for the tests labelled regression, -LE for the others; what ARGS selects replaces it. Without ARGS the results
# are kept for `make testplan`, by the target's name, $(2).
run_tests = ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS) \
    $(if $(filter -L% -R% -I% --label% --tests%,$(ARGS)),,$(1) '^regression$$') \
    $(if $(ARGS)$(PARTS),,--output-junit $(abspath $(BUILD))/results-$(2).xml) $(ARGS)

build:
	@$(SETUP) build
	$(call configure,all)
	@$(compile)

sim:
	@$(SETUP) build
	$(call configure,main)
	@$(compile) --target gemm64
	@$(BUILD)/gemm64 run $(or $(ARGS),--convolutions host)
	$(if $(ARGS),,@$(BUILD)/gemm64 run --batch 1 --quiet)

# The same, with a page to look at; the program can write pages from then on.
report:
	@$(SETUP) build report
	$(call configure,main)
	@scripts/setup/charts.sh $(BUILD)/page
	@$(compile) --target gemm64
	@$(BUILD)/gemm64 run --report $(BUILD)/report.html $(ARGS)

# All 10,000 test images of Fashion-MNIST through a small trained network, with scales from 1,000 images of
# the training set.
accuracy:
	@$(SETUP) build
	$(call configure,main)
	@$(compile) --target gemm64
	@$(BUILD)/gemm64 run --model tests/data/fashion_cnn.onnx --calibrate $(FASHION)/train-images-idx3-ubyte.gz \
	    --calibrate-images 1000 --input $(FASHION)/t10k-images-idx3-ubyte.gz \
	    --labels $(FASHION)/t10k-labels-idx1-ubyte.gz $(ARGS)

# EfficientNet-Lite0, as published, on three photos.
imagenet:
	@$(SETUP) build models test
	$(call configure,main)
	@$(compile) --target gemm64
	@scripts/models/imagenet.sh --build $(BUILD) $(ARGS)

# A trained T5 in int8 writes titles, token by token.
text:
	@$(SETUP) build test python
	$(call configure,all)
	@cmake -S . -B $(BUILD) -DGEMM64_PYTHON=ON >$(BUILD)/python.log || { cat $(BUILD)/python.log >&2; exit 1; }
	@$(compile) --target gemm64_python_package
	@scripts/models/text.sh --build $(BUILD) $(ARGS)

# What the tutorials and the course name, into the working directory.
samples:
	@$(SETUP) build
	@scripts/codegen/samples.py $(ARGS)

# The accelerator that finds faults of its own, N = 64 or ARRAY, for --self-check; those built before stay.
self-check: SELF_CHECKED = $(if $(filter file,$(origin ARRAY)),64,$(ARRAY))
self-check:
	@$(SETUP) build
	$(call configure,main)
	@before=$$(sed -n 's/^GEMM64_SELF_CHECK:STRING=//p' $(BUILD)/CMakeCache.txt); \
	    cmake -S . -B $(BUILD) "-DGEMM64_SELF_CHECK=$$before;$(SELF_CHECKED)" >$(BUILD)/self_check.log || \
	    { cat $(BUILD)/self_check.log >&2; exit 1; }
	@$(compile) --target gemm64
	@echo 'Built: $(BUILD)/gemm64 run --self-check --array $(SELF_CHECKED)'

test:
	@$(SETUP) build test
	$(call configure,test)
	@scripts/setup/charts.sh --test $(BUILD)/page || echo "make: the tests of pages will fail" >&2
	@$(compile)
	@$(call run_tests,-LE,test)

# The tests that `make test` leaves out because they take long, and the programs that only they need. With SEED=N or
# SEED=new also random tests, campaigns of faults and mutants of the RTL and of the host with that seed or a new one. PARTS=4:
# a quarter of the tests, another with each commit.
fresh_options = $(if $(filter new,$(SEED)),,--seed $(SEED))
regression:
	@$(SETUP) build test $(if $(SEED),mutants)
	$(call configure,test)
	@scripts/setup/charts.sh --test $(BUILD)/page || echo "make: the tests of pages will fail" >&2
	@cmake -S . -B $(BUILD) -DGEMM64_FUNCTIONAL=ON >$(BUILD)/functional.log || { cat $(BUILD)/functional.log >&2; exit 1; }
	@$(compile) --target all gemm64_regression
	$(if $(PARTS),@scripts/ci/part.py --build $(BUILD) --parts $(PARTS) --out $(BUILD)/part.txt)
	@status=0; $(call run_tests,-L,regression) $(if $(PARTS),-I $(abspath $(BUILD)/part.txt)) || status=1; \
	    $(if $(SEED),scripts/ci/fresh_draw.py --build $(BUILD) --jobs $(JOBS) $(fresh_options) || status=1;) exit $$status

# To be imported from build/python; `pip install .` makes a package of it.
python:
	@$(SETUP) build python
	$(call configure,all)
	@cmake -S . -B $(BUILD) -DGEMM64_PYTHON=ON >$(BUILD)/python.log || { cat $(BUILD)/python.log >&2; exit 1; }
	@$(compile) --target gemm64_python_package
	@echo 'Built: PYTHONPATH=$(BUILD)/python python3 (with NumPy), then import gemm64. Or pip install .'

# The plug-in, build/gemm64_torchscript.so, and its tests on networks of torchvision, whose files take up to 2 GB
# in build/torchscript while a test runs.
torchscript:
	@$(SETUP) build torchscript models
	$(call configure,main)
	@cmake -S . -B $(BUILD) -DGEMM64_TORCHSCRIPT=ON >$(BUILD)/torchscript.log || \
	    { cat $(BUILD)/torchscript.log >&2; exit 1; }
	@$(compile) --target gemm64 gemm64_torchscript
	@/usr/bin/python3 tests/torchscript/run --build $(BUILD) $(ARGS)

# The viewer is needed only where there is a display to show it on.
wave:
	@scripts/waves/wave.sh --check $(VIEW)
	@$(SETUP) build $(if $(DISPLAY)$(WAYLAND_DISPLAY),wave)
	$(call configure,all)
	@$(compile) --target gemm64
	@scripts/waves/wave.sh --build $(BUILD) $(VIEW) $(ARGS)

# On the fast device, then on the RTL: AlexNet's Linear layers, and a small quantized network.
FIRMWARE_NETWORK := --model tests/data/fashion_cnn.onnx --calibrate $(FASHION)/train-images-idx3-ubyte.gz \
    --calibrate-images 1000 --input $(FASHION)/t10k-images-idx3-ubyte.gz --images 8
firmware:
	@$(SETUP) build platform
	$(call configure,all)
	@cmake -S . -B $(BUILD) -DGEMM64_PLATFORM=ON >$(BUILD)/platform.log || \
	    { cat $(BUILD)/platform.log >&2; exit 1; }
	@$(compile) --target gemm64
	@$(BUILD)/gemm64 firmware --device tlm $(ARGS)
	@$(BUILD)/gemm64 firmware --device rtl $(ARGS)
	@$(BUILD)/gemm64 firmware --device tlm $(FIRMWARE_NETWORK)
	@$(BUILD)/gemm64 firmware --device rtl $(FIRMWARE_NETWORK)

# What other projects find with find_package(gemm64): libraries, headers, the driver's sources.
package:
	@$(SETUP) build platform
	$(call configure,all)
	@cmake -S . -B $(BUILD) -DGEMM64_PLATFORM=ON >$(BUILD)/platform.log || \
	    { cat $(BUILD)/platform.log >&2; exit 1; }
	@$(compile) --target gemm64_package
	@cmake --install $(BUILD) --component package --prefix $(abspath $(PREFIX)) >$(BUILD)/package.log
	@echo 'Installed: cmake -DCMAKE_PREFIX_PATH=$(abspath $(PREFIX)), then find_package(gemm64)'

bench:
	@$(SETUP) build test
	$(call configure,test)
	@$(compile) --target gemm64_bench
	@$(BUILD)/gemm64_bench $(ARGS)

# libFuzzer is clang's. New inputs stay in build/fuzz/corpus, what broke it as build/fuzz/crash-*.
fuzz:
	@$(SETUP) build debug
	@cmake --preset fuzz -DCMAKE_CXX_COMPILER:STRING=clang++
	@cmake --build --preset fuzz --parallel $(JOBS)
	@mkdir -p $(BUILD)/fuzz/corpus
	@$(BUILD)/fuzz/gemm64_importer_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
	    -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=65536 -print_final_stats=1 \
	    -artifact_prefix=$(BUILD)/fuzz/ $(ARGS) \
	    $(BUILD)/fuzz/corpus tests/data tests/data/malformed

# What broke a promise stays in build/abuse with a command that does it again.
# SANITIZE=1: the host's code under the sanitizers of addresses and undefined behaviour.
abuse:
ifdef SANITIZE
	@$(SETUP) build test debug
	$(call configure,test)
	@$(compile) --target gemm64_sanitized
	@tests/signoff/abuse/abuse $(BUILD)/gemm64_sanitized --sanitized --tries 2000 --limit 300 \
	    --jobs $(JOBS) $(ARGS)
else
	@$(SETUP) build
	$(call configure,all)
	@$(compile) --target gemm64
	@tests/signoff/abuse/abuse $(BUILD)/gemm64 --tries 20000 --jobs $(JOBS) $(ARGS)
endif

# What README.md, docs/ and the folders' READMEs say, as pages with a search. Before: are links and the reference (firmware too) right?
docs:
	@$(SETUP) build test docs
	$(call configure,test)
	@cmake -S . -B $(BUILD) -DGEMM64_PLATFORM=ON >$(BUILD)/platform.log || \
	    { cat $(BUILD)/platform.log >&2; exit 1; }
	@$(compile) --target gemm64
	@tests/docs/links.py
	@scripts/codegen/reference.py --build $(BUILD) --check
	@scripts/codegen/docs.py --build $(BUILD)/docs

lint:
	@$(SETUP) lint
	@scripts/ci/lint.sh

# The accelerator in a browser: build/web/index.html, a file that needs nothing else.
web:
	@$(SETUP) build web
	@scripts/setup/web.py --build $(BUILD)/web --jobs $(JOBS)

# Does the page give what this machine's own simulation gives? And can everybody use it?
web-check:
	@$(SETUP) build test web
	$(call configure,test)
	@scripts/setup/charts.sh --test $(BUILD)/page
	@$(compile) --target gemm64_web_native
	@scripts/setup/web.py --build $(BUILD)/web --jobs $(JOBS)
	@/usr/bin/python3 -B tests/web/check --build $(BUILD) $(ARGS)

# clang-tidy on host/, sim/ and python/src; takes what the tests are built of.
tidy:
	@$(SETUP) build test tidy
	$(call configure,test)
	@$(compile)
	@scripts/ci/tidy.py --build $(BUILD) --jobs $(JOBS) $(ARGS)

synth:
	@$(SETUP) synth
	@scripts/asic/synth.py $(ARGS)

# The longest path with the wires of a layout in it: that of a column of the array's stage.
wires:
	@$(SETUP) wires
	@scripts/asic/wires.py --out $(BUILD)/wires $(ARGS)

# The gates of N = $(ARRAY), as `make synth` maps them, behind the driver; CELLS of them are broken, one at a time.
netlist:
	@$(SETUP) build test synth
	$(call configure,test)
	@scripts/asic/netlist.py --array $(ARRAY) --out $(BUILD)/netlist
	@cmake -S . -B $(BUILD) -DGEMM64_NETLIST=$(abspath $(BUILD)/netlist/gemm64_n$(ARRAY).v) >$(BUILD)/netlist.log || \
	    { cat $(BUILD)/netlist.log >&2; exit 1; }
	@$(compile) --target gemm64_netlist_test
	@tests/signoff/netlist/reset $(BUILD)/netlist/gemm64_n$(ARRAY).json
	@GEMM64_BROKEN_CELLS=$(CELLS) $(BUILD)/gemm64_netlist_test $(ARGS)

# The gates of each block, and of all else around the blocks, proved to do what the RTL does.
equivalence:
	@$(SETUP) synth
	@scripts/asic/equivalence.py --out $(BUILD)/synth $(ARGS)

# The operands are a run's own: what a tile's waveform shows.
energy:
	@$(SETUP) build energy
	$(call configure,all)
	@$(compile) --target gemm64
	@scripts/asic/energy.py --program $(BUILD)/gemm64 --build $(BUILD)/energy --jobs $(JOBS) $(ARGS)

# Each pin of the array's gates, stuck, in the self-test.
stuck:
	@$(SETUP) build energy
	$(call configure,all)
	@$(compile) --target gemm64
	@scripts/asic/stuck.py --program $(BUILD)/gemm64 --build $(BUILD)/stuck $(ARGS)

# Each bit of each register, flipped in each cycle of a product of one tile.
flips:
	@$(SETUP) build
	@tests/signoff/faults/run --build $(BUILD)/flips --jobs $(JOBS) $(ARGS)

fpga:
	@$(SETUP) fpga
	@scripts/fpga/fpga.py --build $(BUILD)/fpga --jobs $(JOBS) $(ARGS)

# build/bitstream/n4/gemm64_ulx3s_n4.bit, and what it takes of the device.
bitstream:
	@$(SETUP) bitstream
	@scripts/fpga/bitstream.py --build $(BUILD)/bitstream $(ARGS)

# A VexRiscv, the accelerator beside it, and firmware that multiplies on it. In LiteX's simulator.
litex:
	@$(SETUP) litex
	@scripts/fpga/litex.py --build $(BUILD)/litex --jobs $(JOBS) $(ARGS)

formal:
	@$(SETUP) formal
	@tests/signoff/formal/prove --cover --jobs $(JOBS) $(ARGS)

# ARGS="--draw 60": so many of them, drawn by the commit.
mutants:
	@$(SETUP) build test
	@tests/signoff/mutation/run --jobs $(JOBS) $(ARGS)

# The same with the host's sources and their tests. ARGS="--seed WORD": other mutants of all that there could be.
host-mutants:
	@$(SETUP) build test mutants
	@tests/signoff/mutation/host/run --jobs $(JOBS) $(ARGS)

# Which bins of functional coverage the tests reach, and which lines, branches and toggles of the RTL.
coverage:
	@$(SETUP) build test
	$(call configure,test)
	@status=0; $(if $(filter --summary,$(ARGS)),,scripts/ci/functional_coverage.py --build $(BUILD) --jobs $(JOBS) || status=1;) \
	    scripts/ci/coverage.py --jobs $(JOBS) $(ARGS) || status=1; exit $$status

# The bins only.
functional-coverage:
	@$(SETUP) build test
	$(call configure,test)
	@scripts/ci/functional_coverage.py --build $(BUILD) --jobs $(JOBS) $(ARGS)

# The results of the last `make test` and `make regression`, by testpoint of tests/testplan.hjson.
testplan:
	@$(SETUP) build test
	$(call configure,test)
	@scripts/setup/venv.sh $(BUILD)/venv-verification scripts/ci/verification-requirements.txt
	@$(BUILD)/venv-verification/bin/python scripts/ci/testplan.py --build $(BUILD) \
	    --results $(BUILD)/results-test.xml $(wildcard $(BUILD)/results-regression.xml) $(ARGS)

# All of the above that takes long, as one table. Each check installs and builds what it needs.
signoff:
	@scripts/ci/signoff.py --build $(BUILD) $(ARGS)

clean:
	rm -rf $(BUILD)

help:
	@echo "make        builds the program, build/gemm64, with arrays of all sizes"
	@echo "make sim    builds what that needs, runs AlexNet's Linear layers for 64 images, then all of it for one, and checks them"
	@echo "make report runs all of AlexNet for 64 images and writes a page, build/report.html; fetches its charts with npm"
	@echo "make accuracy  classifies Fashion-MNIST's 10,000 test images in int8 and in float32"
	@echo "make imagenet  names what three photos show, by EfficientNet-Lite0 with its published weights"
	@echo "make text   writes titles for three paragraphs by a trained T5, and compares every output with ONNX Runtime's"
	@echo "make test   builds and runs the tests; ARGS=\"-L quick\" those that answer within a minute"
	@echo "make regression  builds and runs the tests that take long, which make test leaves out"
	@echo "make python builds the Python module into build/python"
	@echo "make torchscript  builds the plug-in that reads TorchScript files, and tests it on networks of torchvision"
	@echo "make wave   runs a small product and shows its waveform; VIEW=overview, array, commands,"
	@echo "            axi, accumulator or lanes"
	@echo "make firmware  runs AlexNet's Linear layers and a quantized network by firmware on a simulated RISC-V processor"
	@echo "make package  installs libraries, headers and the driver in C for other projects into PREFIX=build/package"
	@echo "make bench  measures the simulation's speed, beside the textbook array's"
	@echo "make fuzz   feeds the ONNX importer with broken files for FUZZ_SECONDS=60"
	@echo "make abuse  tries to break the program with hostile files, options, disks and signals;"
	@echo "            SANITIZE=1: under the sanitizers of addresses and undefined behaviour"
	@echo "make docs   builds the documents as pages with a search, build/docs/site/index.html"
	@echo "make samples  writes the network, photos and names that tutorials and the course use into this folder"
	@echo "make self-check  builds the accelerator that finds faults of its own, N = 64 (or ARRAY=16), for --self-check"
	@echo "make web    makes a page on which the accelerator runs in a browser, build/web/index.html; web-check tests it"
	@echo "make lint   checks the RTL, the layout of C++, and the generated headers"
	@echo "make tidy   checks the C++ with clang-tidy"
	@echo "make synth  synthesizes the accelerator at five sizes: area and longest paths by module, memories"
	@echo "make wires      places and routes a column of the array, and tells what its wires cost"
	@echo "make netlist    runs the gates that make synth maps, N = 4 (or ARRAY=8), beside the RTL,"
	@echo "            and CELLS=20 of them that are other ones"
	@echo "make equivalence  proves that the gates which make synth maps do what the RTL does, block by block"
	@echo "make energy weighs what the gates take in tiles of AlexNet's Linear layers: pJ a MAC, mJ an image"
	@echo "make stuck  simulates each stuck pin of the array's gates in the self-test, and tells how many it finds"
	@echo "make flips  flips each bit of each register in each cycle of a product of one tile, and tells what came of it"
	@echo "make fpga   counts what the accelerator takes of an FPGA, at N = 8, 16, 32 and 64"
	@echo "make bitstream  places and routes the accelerator for a ULX3S board (ECP5-85F), at N = 4, and writes a bitstream"
	@echo "make litex  runs pieces of AlexNet on the accelerator of a simulated LiteX SoC, by firmware on its VexRiscv"
	@echo "make formal proves what tests/signoff/formal states of the RTL"
	@echo "make mutants  changes the RTL in some 1,500 places, one at a time, and lists those that no test notices"
	@echo "make host-mutants  does so in some 260 places of the host's C++, drawn from 12,000"
	@echo "make coverage  measures which bins of functional coverage, lines, branches and toggles of the RTL the tests reach"
	@echo "make functional-coverage  measures the bins only; ARGS=--list prints all of them"
	@echo "make testplan  prints the results of the last make test and make regression by testpoint; ARGS=--record keeps them"
	@echo "make signoff  runs synth, equivalence, energy, fpga, formal, coverage, mutants, tidy and host-mutants, and prints one table"
	@echo "make clean  removes build/"
	@echo
	@echo "ARGS=\"...\" is handed to the program; CXX, JOBS and SETUP=true as described at the head of the Makefile."
