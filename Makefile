# SPDX-License-Identifier: Apache-2.0
# A thin layer over CMake and Ninja: installs what is missing, configures, builds, runs. Folders have makefiles of their own.
#
#   make sim ARGS="--batch 1 --json report.json"     options of `gemm64 run`
#   make test ARGS="-R TileWalk"                       options of ctest; a selection replaces that of the target
#   make -C scripts/asic synth                         a target of a folder; `make help` lists the folders

include scripts/setup/common.mk
VIEW  := overview
.PHONY: build sim test regression lint python docs report wave web bench signoff clean
.DEFAULT_GOAL := build

# $(1): which tests, by label; what ARGS selects replaces it. Without ARGS the results
# are kept for `make -C scripts/ci testplan`, by the target's name, $(2).
run_tests = ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS) \
    $(if $(filter -L% -R% -I% --label% --tests%,$(ARGS))$(PARTS),,$(1)) \
    $(if $(ARGS)$(PARTS),,--output-junit $(abspath $(BUILD))/results-$(2).xml) $(ARGS)

## build: builds the program, build/gemm64, with arrays of all sizes
build:
	@$(SETUP) build
	$(call configure,all)
	@$(compile)

## sim: builds what that needs, runs AlexNet's Linear layers for 64 images, then all of it for one, and checks them
sim:
	@$(SETUP) build
	$(call configure,main)
	@$(compile) --target gemm64
	@$(BUILD)/gemm64 run $(or $(ARGS),--convolutions host)
	$(if $(ARGS),,@$(BUILD)/gemm64 run --batch 1 --quiet)

## test: builds and runs the tests; ARGS="-L quick" those that answer within a minute
test:
	@$(SETUP) build test
	$(call configure,test)
	@scripts/setup/charts.sh --test $(BUILD)/page || echo "make: the tests of pages will fail" >&2
	@$(compile)
	@$(call run_tests,-LE '^(regression|all_seeds)$$',test)

## regression: builds and runs the tests that take long, which make test leaves out; PARTS=12: a twelfth of them, by the commit
# The programs that only these tests need are built, too. With SEED=N or
# SEED=new also random tests, campaigns of faults and mutants of the RTL and of the host with that seed or a new one. PARTS=12:
# a twelfth of the tests, another with each commit.
fresh_options = $(if $(filter new,$(SEED)),,--seed $(SEED))
regression:
	@$(SETUP) build test $(if $(SEED),mutants)
	$(call configure,test)
	@scripts/setup/charts.sh --test $(BUILD)/page || echo "make: the tests of pages will fail" >&2
	@$(compile) --target all gemm64_regression
	$(if $(PARTS),@scripts/ci/part.py --build $(BUILD) --parts $(PARTS) --out $(BUILD)/part.txt)
	@status=0; $(call run_tests,-L '^regression$$',regression) $(if $(PARTS),-I $(abspath $(BUILD)/part.txt)) || status=1; \
	    $(if $(SEED),scripts/ci/fresh_draw.py --build $(BUILD) --jobs $(JOBS) $(fresh_options) || status=1;) exit $$status

## lint: checks the RTL, the layout of C++, and the generated headers
lint:
	@$(SETUP) lint
	@scripts/ci/lint.sh

## python: builds the Python module into build/python
python:
	@$(SETUP) build python
	$(call configure,all)
	$(call switch_on,GEMM64_PYTHON,python)
	@$(compile) --target gemm64_python_package
	@echo 'Built: PYTHONPATH=$(BUILD)/python python3 (with NumPy), then import gemm64. Or pip install .'

## docs: builds the documents as pages with a search, build/docs/site/index.html
# Checks links and the reference, with that of firmware, first.
docs:
	@$(SETUP) build test docs
	$(call configure,test)
	$(call switch_on,GEMM64_PLATFORM,platform)
	@$(compile) --target gemm64
	@tests/docs/links.py
	@scripts/codegen/reference.py --build $(BUILD) --check
	@scripts/codegen/docs.py --build $(BUILD)/docs

## report: runs all of AlexNet for 64 images and writes a page, build/report.html; fetches its charts with npm
# The program can write pages from then on.
report:
	@$(SETUP) build report
	$(call configure,main)
	@scripts/setup/charts.sh $(BUILD)/page
	@$(compile) --target gemm64
	@$(BUILD)/gemm64 run --report $(BUILD)/report.html $(ARGS)

## wave: runs a small product and shows its waveform; VIEW=overview, array, commands, axi, accumulator or lanes
# The viewer is needed only where there is a display to show it on.
wave:
	@scripts/waves/wave.sh --check $(VIEW)
	@$(SETUP) build $(if $(DISPLAY)$(WAYLAND_DISPLAY),wave)
	$(call configure,all)
	@$(compile) --target gemm64
	@scripts/waves/wave.sh --build $(BUILD) $(VIEW) $(ARGS)

## web: makes a page on which the accelerator runs in a browser, build/web/index.html; make -C sim web-check tests it
# The file needs nothing else.
web:
	@$(SETUP) build web
	@scripts/setup/web.py --build $(BUILD)/web --jobs $(JOBS)

## bench: measures the simulation's speed, and the textbook array's
bench:
	@$(SETUP) build test
	$(call configure,test)
	@$(compile) --target gemm64_bench
	@$(BUILD)/gemm64_bench $(ARGS)

## signoff: runs synth, equivalence, energy, fpga, formal, coverage, mutants, tidy and host-mutants, and prints one table
# Each check installs and builds what it needs.
signoff:
	@scripts/ci/signoff.py --build $(BUILD) $(ARGS)

## clean: removes build/
clean:
	rm -rf $(BUILD)

## -C sim: firmware, package, self-check, web-check
## -C scripts/asic: synth, wires, netlist, equivalence, energy, stuck
## -C scripts/fpga: fpga, bitstream, litex
## -C scripts/models: accuracy, imagenet, trained, text, torchscript
## -C scripts/ci: tidy, coverage, functional-coverage, testplan
## -C tests/signoff: formal, mutants, host-mutants, flips, abuse, fuzz
