#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `make web` in headless Chromium: does it give what this machine's own simulation gives, is it fast enough,
and can everybody use it, on a desk and on a phone? Options: --build FOLDER, --works COUNT, --pictures FOLDER (leaves pictures
there), and unittest's.
"""
import argparse
import base64
import json
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "page"))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", default=os.path.join(ROOT, "build"))
parser.add_argument("--works", type=int, default=50)
parser.add_argument("--pictures")
chosen, rest = parser.parse_known_args()
os.environ.setdefault("GEMM64_AXE", os.path.join(chosen.build, "page", "axe.js"))

import harness  # noqa: E402  (it reads the environment)
import layout  # noqa: E402

PAGE = os.path.abspath(os.path.join(chosen.build, "web", "index.html"))


def show(link="#tour=1", **how):
    """Opens the page at a link. Errors fail."""
    shown = harness.browser()
    harness.look(**how)
    shown.get("about:blank")
    shown.get("file://" + PAGE + link)
    harness.wait_for(lambda: shown.execute_script("return document.documentElement.dataset.ready"), "the page")
    errors = [entry["message"] for entry in shown.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert not errors, errors
    return shown


def picture(name):
    if chosen.pictures:
        shot = harness.browser().execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        with open(os.path.join(chosen.pictures, f"{name}.png"), "wb") as file:
            file.write(base64.b64decode(shot["data"]))


class SameHardware(unittest.TestCase):
    def test_counters_and_results_of_random_works_are_the_native_ones(self):
        native = subprocess.run([os.path.join(chosen.build, "gemm64_web_native"), str(chosen.works), "4", "8", "16"],
                                capture_output=True, text=True, check=True).stdout
        shown = show()
        cycles = 0
        for line in native.splitlines():
            expected = json.loads(line)
            found = shown.execute_script("""
                const {simulation} = window.shown;
                simulation.open(simulation.ask({do: 'draw', seed: arguments[0], array: arguments[1]}));
                simulation.forward(1e7);
                return {...simulation.outcome, predicted: simulation.about.predicted, live: simulation.standing.counters}""",
                                         expected["seed"], expected["array"])
            what = json.dumps(expected["work"])
            self.assertEqual(found["counters"], expected["counters"], what)
            self.assertEqual(found["live"], expected["counters"], what)
            self.assertEqual(found["predicted"], expected["counters"], what)
            for job, results in zip(found["jobs"], expected["results"]):
                self.assertEqual(job["wrong"], 0, what)
                self.assertEqual([value for row in job["results"] for value in row], results, what)
            cycles += found["clocks"]
        print(f"{chosen.works} random works at N = 4, 8 and 16: {cycles} cycles, counters and results as native and as predicted")

    def test_going_back_gives_what_was_there(self):
        shown = show("#array=8&m=64&k=256&n=256")
        worst = shown.execute_script("""
            const {simulation} = window.shown;
            const state = () => JSON.stringify([simulation.standing,
                Array.from(simulation.module.HEAPU8.slice(simulation.module._gemm64_view(), simulation.module._gemm64_view() + simulation.about.view_bytes))]);
            const places = [40, 977, 5003, 9000, 12345].map((clock) => simulation.first + clock);
            const seen = places.map((clock) => { simulation.goTo(clock); return state(); });
            simulation.forward(1e7);
            let worst = 0;
            for (const index of [4, 0, 3, 1, 2, 4]) {
              const begun = performance.now();
              simulation.goTo(places[index]);
              worst = Math.max(worst, performance.now() - begun);
              if (state() !== seen[index]) return `another state at clock ${places[index]}`;
            }
            simulation.forward(1e7);
            return simulation.outcome.jobs[0].wrong === 0 ? worst : 'wrong results';""")
        self.assertIsInstance(worst, (int, float), worst)
        print(f"going back: at most {worst:.0f} ms")
        self.assertLess(worst, 500)

    def test_any_clock_of_a_long_program_is_reached_again(self):
        shown = show()
        worst = shown.execute_script("""
            const {simulation} = window.shown;
            simulation.open({array: 8, memory: {latency: 20}, work: {kind: 'product', m: 256, k: 512, n: 512}});
            simulation.forward(1e7);
            const end = simulation.standing.device_clock;
            let worst = 0;
            for (let i = 0; i < 12; ++i) {
              const clock = simulation.first + (i * 7919 + 5) * 131 % (end - simulation.first);
              const begun = performance.now();
              simulation.goTo(clock);
              worst = Math.max(worst, performance.now() - begun);
              if (simulation.standing.device_clock !== clock) return `clock ${simulation.standing.device_clock} instead of ${clock}`;
            }
            return [end, worst];""")
        self.assertIsInstance(worst, list, worst)
        print(f"any of {worst[0]:,} cycles: at most {worst[1]:.0f} ms")
        self.assertLess(worst[1], 500)

    def test_each_cell_holds_what_the_page_says_of_it(self):
        shown = show()
        for array in (4, 8, 16):
            cells = shown.execute_script("""
                const {simulation, array} = window.shown;
                const n = arguments[0];
                simulation.open({array: n, memory: {latency: 20}, work: {kind: 'product', m: 2 * n + 3, k: 2 * n + 1, n: 2 * n}});
                const [{a, w}] = simulation.about.jobs;
                let cells = 0;
                while (simulation.forward(1) && !simulation.over) {
                  for (let row = 0; row < n; ++row) {
                    for (let column = 0; column < n; ++column) {
                      const cell = array.cell(row, column);
                      const from = array.source(row, column, cell);
                      if (!from) continue;
                      ++cells;
                      const at = (matrix, i, k) => matrix[i]?.[k] ?? 0;
                      let sum = 0;
                      for (let k = from.k - row; k <= from.k; ++k) sum += at(a, from.m, k) * at(w, from.n, k);
                      if (cell.activation !== at(a, from.m, from.k) || cell.weight !== at(w, from.n, from.k) || cell.sum !== sum) {
                        return `clock ${simulation.standing.clock}, row ${row}, column ${column}: ${JSON.stringify([cell, from])}`;
                      }
                    }
                  }
                }
                return cells;""", array)
            self.assertEqual(cells, (2 * array + 3) * 3 * 2 * array * array, cells)

    def test_what_buffers_and_ports_hold_is_what_their_addresses_say(self):
        shown = show()
        for array in (4, 8):
            for kind in ("product", "convolution", "chain", "residual", "depthwise", "pool"):
                found = shown.execute_script("""
                    const {simulation, signals, origins} = window.shown;
                    const [array, kind] = arguments;
                    simulation.open({array, memory: {latency: 20}, work: {kind, m: 20, k: 3 * array, n: 2 * array, channels: 6, out_channels: 5, height: 5, width: 6, kernel: 3, pad: 1}});
                    const held = new Map();
                    const memory = (address, bytes) => simulation.ask({do: 'memory', address, bytes}).map((byte) => byte << 24 >> 24).join();
                    const seen = {};
                    const buffers = {weights: 'u_weights.u_buffer.memory_q', scratchpad: 'u_activations.u_scratchpad.u_first.memory_q', operands: 'u_output.u_operands.u_buffer.memory_q'};
                    while (simulation.forward(37) && !simulation.over) {
                      for (const [buffer, name] of Object.entries(buffers)) {
                        for (let word = 0; word < 64; ++word) {
                          const from = simulation.ask({do: 'filled', buffer, word});
                          if (!from || from.clock >= simulation.standing.device_clock) continue;
                          seen[buffer] = (seen[buffer] ?? 0) + 1;
                          const holds = Array.from({length: array}, (_, byte) => signals.int8(name, word, byte)).join();
                          if (holds !== memory(from.address, array)) return `${buffer}, word ${word} in clock ${simulation.standing.clock}`;
                        }
                      }
                    }
                    return seen;""", array, kind)
                self.assertIsInstance(found, dict, f"{array}, {kind}: {found}")
                expected = {"weights", "scratchpad"} | ({"operands"} if kind == "residual" else set())
                self.assertEqual(set(found), expected, kind)

    def test_each_cell_of_a_convolution_holds_what_the_page_says_of_it(self):
        shown = show()
        for array in (4, 8):
            cells = shown.execute_script("""
                const {simulation, array} = window.shown;
                const n = arguments[0];
                simulation.open({array: n, memory: {latency: 20}, work: {kind: 'residual', channels: n + 1, out_channels: 3, height: 5, width: 4, kernel: 3, pad: 1}});
                const {jobs} = simulation.about;
                simulation.forward(1e7);
                const entering = [jobs[0].a, simulation.outcome.jobs[0].results];
                simulation.goTo(simulation.first);
                const cells = [0, 0];
                while (simulation.forward(1) && !simulation.over) {
                  for (let row = 0; row < n; ++row) {
                    for (let column = 0; column < n; ++column) {
                      const cell = array.cell(row, column);
                      const from = array.source(row, column, cell);
                      if (!from) continue;
                      ++cells[from.job];
                      const a = from.pixel < 0 ? 0 : entering[from.job][from.pixel][from.channel] ?? 0;
                      const w = jobs[from.job].w[from.n]?.[from.k] ?? 0;
                      if (cell.activation !== a || cell.weight !== w) return `clock ${simulation.standing.clock}, row ${row}, column ${column}: ${JSON.stringify([cell, from])}`;
                    }
                  }
                }
                return cells;""", array)
            pixels = 20
            first, second = 9 * 2 * 1, 1 * (2 if array == 4 else 2)  # tiles: two planes of channels, then one
            self.assertEqual(cells, [pixels * first * array * array, pixels * second * array * array], cells)

    def test_the_vector_path_holds_what_the_page_says_of_it(self):
        shown = show()
        for array in (4, 8, 16):
            values = shown.execute_script("""
                const {simulation, signals, views} = window.shown;
                const vector = views.find((view) => view.section.id === 'vector');
                const n = arguments[0];
                simulation.open({array: n, memory: {latency: 20, stalls: 0.3}, work: {kind: 'residual', channels: n + 1, out_channels: 3, height: 5, width: 4, kernel: 3, pad: 1}});
                simulation.forward(1e7);
                const {jobs} = simulation.outcome;
                const {a} = simulation.about.jobs[0];
                simulation.goTo(simulation.first);
                const scope = 'u_output.u_results.u_vector.';
                let values = 0;
                while (simulation.forward(1) && !simulation.over) {
                  const valid = signals.value(scope + 'valid_q');
                  for (let lane = 0; lane < n; ++lane) {
                    const check = (stage, found, expected) => {
                      if (!(valid >> stage - 1 & 1)) return null;
                      const of = vector.result(stage, lane);
                      if (of.column >= jobs[of.job].results[0].length) return null;
                      ++values;
                      return found() === expected(of) ? null : `clock ${simulation.standing.clock}, stage ${stage}, lane ${lane}: ${JSON.stringify(of)}`;
                    };
                    const wrong = check(11, () => signals.int8(scope + 'result_11_q', 0, lane), (of) => jobs[of.job].results[of.row][of.column])
                        ?? check(1, () => signals.int8(scope + 'operand_1', lane), (of) => a[of.row][of.column]);
                    if (wrong) return wrong;
                  }
                }
                return values;""", array)
            self.assertGreaterEqual(values, 2 * 20 * (array + 1), values)

    def test_the_lanes_hold_what_the_page_says_of_them(self):
        shown = show()
        for array in (4, 8):
            for kernel in (3, 5):
                values = shown.execute_script("""
                    const {simulation, signals, origins} = window.shown;
                    const [n, kernel] = arguments;
                    simulation.open({array: n, memory: {latency: 20}, work: {kind: 'depthwise', channels: n + 2, height: 6, width: 7, kernel, pad: 1}});
                    const values = [0, 0];
                    simulation.forward(1e7);
                    const {results} = simulation.outcome.jobs[0];
                    simulation.goTo(simulation.first);
                    while (simulation.forward(1) && !simulation.over) {
                      for (let lane = 0; lane < n; ++lane) {
                        for (let row = 0; row < kernel; ++row) {
                          for (let column = 0; column < kernel; ++column) {
                            const from = origins.inWindow(row, column, lane);
                            if (!from) continue;
                            ++values[0];
                            const [byte] = simulation.ask({do: 'memory', address: from.address, bytes: 1});
                            if (signals.int8('u_lanes.window_q', 7 * row + column, lane) !== byte << 24 >> 24) return `clock ${simulation.standing.clock}, row ${row}, column ${column}, lane ${lane}: ${from.text}`;
                          }
                        }
                        if (signals.value('u_lanes.valid_q')) {
                          const [y, x, plane] = ['out_y_q', 'out_x_q', 'out_plane_q'].map((name) => signals.then(simulation.standing.device_clock - 4, 'u_lanes.u_walk.' + name));
                          const expected = results[y * simulation.about.jobs[0].convolution.out_width + x][plane * n + lane] ?? null;
                          if (expected === null) continue;
                          ++values[1];
                          if (signals.int32('u_lanes.sum_4_q', lane) !== expected) return `clock ${simulation.standing.clock}, lane ${lane}: the sum for (${y}, ${x})`;
                        }
                      }
                    }
                    return values;""", array, kernel)
                self.assertIsInstance(values, list, values)
                self.assertGreater(values[0], 42 * (array + 2))
                sums = 42 if kernel == 3 else 4 * 5
                self.assertEqual(values[1], sums * (array + 2))

    def test_sums_in_the_banks_are_those_that_the_page_names(self):
        shown = show()
        for kind in ("product", "convolution", "depthwise"):
            values = shown.execute_script("""
                const {simulation, signals, origins} = window.shown;
                const n = 4;
                simulation.open({array: n, memory: {latency: 20}, work: {kind: arguments[0], m: 150, k: 6, n: 9, channels: 6, out_channels: 6, height: 9, width: 9, kernel: 3, pad: 1}});
                simulation.forward(1e7);
                const {jobs} = simulation.outcome;
                simulation.goTo(simulation.first);
                let values = 0;
                while (simulation.forward(13) && !simulation.over) {
                  for (const bank of [0, 1]) {
                    const block = origins.inBank(bank);
                    if (!block?.whole) continue;
                    for (let row = 0; row < block.rows; ++row) {
                      for (let column = 0; column < n; ++column) {
                        const expected = jobs[block.job].results[block.row + row][block.n * n + column];
                        if (expected === undefined) continue;
                        ++values;
                        if (signals.int32(`u_accumulator.column[${column}].u_column.sums_${bank}_q`, 0, row) !== expected) {
                          return `clock ${simulation.standing.clock}, bank ${bank}, row ${row}, column ${column}: ${JSON.stringify(block)}`;
                        }
                      }
                    }
                  }
                }
                return values;""", kind)
            self.assertIsInstance(values, int, f"{kind}: {values}")
            self.assertGreater(values, 1000)

    def test_speed(self):
        shown = show()
        for array in (4, 8, 16):
            speed = shown.execute_script("""
                const {simulation} = window.shown;
                simulation.open({array: arguments[0], memory: {latency: 20}, work: {kind: 'product', m: 128, k: 256, n: 256}});
                simulation.module._gemm64_step(2000);
                const begun = performance.now();
                const before = simulation.ask({do: 'standing'}).device_clock;
                simulation.module._gemm64_step(20000);
                return (simulation.ask({do: 'standing'}).device_clock - before) / (performance.now() - begun) * 1000""", array)
            print(f"N = {array}: {speed:,.0f} cycles a second while nothing is drawn")
        drawn = shown.execute_async_script("""
            const done = arguments[0];
            const {time, form} = window.shown;
            form.set({array: '16', m: '128', k: '128', n: '128'});
            form.submit();
            document.getElementById('array').scrollIntoView();
            time.speed = 60;
            time.toggle();
            let times = 0;
            const begun = performance.now();
            const old = window.shown.draw.bind(window.shown);
            window.shown.draw = () => { old(); ++times; };
            setTimeout(() => { time.stopPlaying(); delete window.shown.draw; done(times / (performance.now() - begun) * 1000); }, 3000);""")
        print(f"N = 16: {drawn:.0f} pictures a second while playing")


class Page(unittest.TestCase):
    def test_every_step_of_the_tour_opens(self):
        for step in range(1, 9):
            shown = show(f"#tour={step}")
            self.assertEqual(shown.execute_script("return document.getElementById('refused').textContent"), "", step)
            self.assertTrue(shown.execute_script("return document.querySelector('#tour h3').textContent").startswith(f"{step} of 8"))
            picture(f"tour-{step}")

    def test_a_link_gives_the_state_again(self):
        shown = show("#array=4&kind=convolution&channels=4&height=5&width=5&clock=77")
        said = shown.execute_script("return document.getElementById('state').textContent")
        self.assertIn("Cycle 77 of", said)
        again = show(shown.execute_script("return document.getElementById('link').getAttribute('href')"))
        self.assertEqual(again.execute_script("return document.getElementById('state').textContent"), said)

    def test_a_link_keeps_flips_numbers_and_drawings(self):
        link = "return document.getElementById('link').getAttribute('href')"
        shown = show("#array=4&m=1&k=2&n=1&a=3+4&w=5+-6&flips=40!accumulator:0,0,0:4;60!u_weights.write_q/0/0&clock=70")
        self.assertEqual(shown.execute_script("return window.shown.simulation.about.jobs[0].w"), [[5, -6]])
        self.assertEqual(shown.execute_script("const {simulation} = window.shown; return simulation.flips.map(({clock}) => simulation.shownClock(clock))"), [40, 60])
        again = show(shown.execute_script(link))
        self.assertEqual(again.execute_script("return [window.shown.simulation.flips.length, window.shown.simulation.about.jobs[0].a]"), [2, [[3, 4]]])
        shown = show("#array=4&kind=network&digit=7")
        self.assertIn("It is a 7.", shown.execute_script("return document.getElementById('class').textContent"))
        shown.execute_script("const {digits} = window.shown; digits.clear(); for (let y = 4; y < 28; ++y) digits.points.fill(1, 32 * y + 14, 32 * y + 18); document.getElementById('classify').click()")
        said = shown.execute_script("return document.getElementById('class').textContent")
        again = show(shown.execute_script(link))
        self.assertEqual(again.execute_script("return document.getElementById('class').textContent"), said)

    def test_it_stops_where_an_address_crosses_a_port(self):
        shown = show("#array=4&m=4&k=8&n=4")
        address = shown.execute_script("return window.shown.simulation.about.jobs[0].addresses.weights") + 4 * 3
        shown.execute_script("document.getElementById('stop').value = 'port:0'; document.getElementById('stop-value').value = arguments[0]; window.shown.time.untilChosen()", hex(address))
        self.assertEqual(shown.execute_script("return [window.shown.simulation.standing.state, window.shown.signals.value('m_weights_rvalid_i')]"), ["stopped", 1])
        self.assertEqual(shown.execute_script("return window.shown.simulation.ask({do: 'filled', buffer: 'weights', word: 3}).address"), address)

    def test_a_digit_gets_its_class_in_the_predicted_cycles(self):
        shown = show()
        right = 0
        for array in (4, 8, 16):
            for digit in range(10):
                found = shown.execute_script("""
                    const {form, views, simulation} = window.shown;
                    form.fields.array.value = arguments[0];
                    const digits = views.at(-1);
                    digits.take(data.digits.samples[arguments[1]]);
                    return {digit: digits.digit, said: document.getElementById('refused').textContent, wrong: simulation.outcome?.jobs.map((job) => job.wrong),
                            cycles: simulation.outcome?.clocks, predicted: simulation.about.predicted[0]}""", str(array), digit)
                self.assertEqual(found["said"], "")
                self.assertEqual(found["wrong"], [0, 0, 0])
                self.assertEqual(found["cycles"], found["predicted"])
                if digit == 3:
                    shown.execute_script("const map = document.querySelectorAll('.maps canvas')[1]; map.dispatchEvent(new MouseEvent('click', {clientX: map.getBoundingClientRect().left + 2, clientY: map.getBoundingClientRect().top + 2}))")
                    value = shown.execute_script("return [window.shown.values.panel.textContent, window.shown.simulation.outcome.jobs[1].results[0][0]]")
                    self.assertIn(f"Channel 0 of pixel (0, 0) that leaves the layer 2 is {value[1]}", value[0])
                right += found["digit"] == digit
        self.assertGreaterEqual(right, 27)
        picture("digits")

    def test_every_value_that_is_shown_tells_where_it_is_from_and_goes_to(self):
        for link in ("kind=product&m=8&k=8&n=8&clock=75", "kind=residual&channels=4&height=4&width=4&clock=560", "kind=depthwise&channels=4&height=5&width=5&clock=90",
                     "kind=pool&channels=4&height=5&width=5&results=int8&clock=400"):
            shown = show("#array=4&" + link)
            shown.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            shown.execute_script("window.shown.draw()")
            found = shown.execute_script("""
                const panel = window.shown.values.panel;
                const parts = {};
                for (const one of document.querySelectorAll('button.value')) {
                  one.click();
                  const [what, from, to] = [...panel.querySelectorAll('p')].map((line) => line.textContent);
                  if (![what, from, to].every((line) => /^[^a-z].*\\.$/s.test(line)) || /undefined|null|NaN/.test(what + from + to)) return [one.dataset.place, what, from, to];
                  const part = one.closest('section').id;
                  parts[part] = (parts[part] ?? 0) + 1;
                }
                return parts;""")
            self.assertIsInstance(found, dict, found)
            for part in ("memories", "vector", "ports", "commands", "counters", "waves"):
                if part != "ports" or "product" in link:
                    self.assertGreater(found.get(part, 0), 0, f"{link}: {part}")
            self.assertEqual("lanes" in found, "depthwise" in link or "pool" in link, link)

    def test_any_register_that_is_shown_can_be_flipped(self):
        shown = show("#array=4&kind=product&m=8&k=8&n=8&clock=60")
        found = shown.execute_script("""
            const {simulation, signals} = window.shown;
            const failed = [];
            let flipped = 0;
            for (const [name, {words, writable}] of simulation.signals) {
              if (writable === 0 || name.startsWith('u_registers')) continue;
              const bit = writable - 1;
              const number = () => signals.number({signal: name, word: 0, first: bit >> 3 << 3, bits: 8});
              // A register that nothing loads in this cycle keeps the flipped bit.
              const clock = simulation.standing.device_clock;
              simulation.forward(1);
              const without = number();
              simulation.goTo(clock);
              simulation.flip({signal: name, word: 0, bit});
              simulation.forward(1);
              ++flipped;
              if (number() !== (without ^ 1 << (bit & 7))) failed.push(name);
              simulation.goTo(clock - 1);
              simulation.goTo(clock);
            }
            return [flipped, failed];""")
        self.assertGreater(found[0], 60)
        self.assertEqual(found[1], [])
        found = shown.execute_script("""
            const {simulation, signals, values} = window.shown;
            document.querySelector('#memories details').open = true;
            window.shown.draw();
            const button = document.querySelector('[data-place="weight buffer, word 2, byte 3"]');
            button.click();
            values.bit.value = '4';
            const word = () => Array.from({length: 4}, (_, byte) => signals.int8('u_weights.u_buffer.memory_q', 2, byte));
            const before = word();
            values.button.click();
            return [before, word(), values.panel.textContent];""")
        before, after, said = found
        self.assertEqual(after, before[:3] + [before[3] ^ 16])
        self.assertIn(f"byte 3 is {after[3]}", said)

    def test_going_back_undoes_the_flips_behind_it_alone(self):
        shown = show("#array=4&m=8&k=8&n=8&clock=70")
        found = shown.execute_script("""
            const {simulation, signals} = window.shown;
            const sums = () => Array.from({length: 20}, (_, row) => signals.int32('u_accumulator.column[0].u_column.sums_0_q', 0, row)).join();
            const begin = simulation.standing.device_clock;
            const run = (flips, to) => {
              for (const [clock, row] of flips) {
                simulation.goTo(begin + clock);
                simulation.flip(`accumulator:0,${row},0:3`);
              }
              simulation.goTo(begin + to);
              return [simulation.flips.length, sums()];
            };
            const [, both] = run([[1, 15], [4, 16]], 9);
            const again = [];
            simulation.forward(40000);  // snapshots are kept on the way
            again.push(run([], 9));
            simulation.keep();
            again.push(run([], 12), run([], 9), run([], 3), run([], 9));
            simulation.goTo(begin);
            const [, first] = run([[1, 15]], 9);
            simulation.goTo(begin);
            const [, none] = run([], 9);
            return {flips: again.map(([count]) => count), both: again.slice(0, 1).concat(again.slice(2, 3)).every(([, one]) => one === both),
                    first: again[4][1] === first, different: new Set([both, first, none]).size};""")
        self.assertEqual(found, {"flips": [2, 2, 2, 1, 1], "both": True, "first": True, "different": 3})

    def test_a_flipped_bit_is_told(self):
        shown = show("#tour=8")
        self.assertIn("results are wrong", shown.execute_script("return document.getElementById('verdict').textContent"))

    def test_what_is_refused_is_told_in_a_sentence(self):
        for link, message in [("#array=4&m=x", 'M is "x"; give a whole number from 1 to 512.'),
                           ("#array=5", 'The link asks for array = "5"; there is no such choice.'),
                           ("#tour=9", 'The tour\'s step is "9"; give a whole number from 1 to 8.'),
                           ("#array=4&flips=x", 'The link flips "x"; give a cycle, an exclamation mark and a place, such as 70!weight:1,2:6.'),
                           ("#array=4&kind=convolution&kernel=2&pad=2", "pad is 2 and the kernel 2x2; give a pad below 2")]:
            shown = show(link)
            self.assertEqual(shown.execute_script("return document.getElementById('refused').textContent"), message)

    def test_without_webassembly_a_sentence_says_so(self):
        shown = harness.browser()
        added = shown.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.WebAssembly;"})
        try:
            shown.get("about:blank")
            shown.get("file://" + PAGE)
            harness.wait_for(lambda: shown.execute_script("return document.documentElement.dataset.ready") == "no", "the sentence")
            self.assertIn("no WebAssembly", shown.execute_script("return document.body.textContent"))
            shown.get_log("browser")
        finally:
            shown.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

    def test_keys_step(self):
        shown = show("#array=4&m=4&k=8&n=4")
        clock = lambda: shown.execute_script("return window.shown.simulation.standing.clock")
        body = shown.find_element("tag name", "body")
        before = clock()
        body.send_keys("c")
        self.assertEqual(clock(), before + 1)
        body.send_keys("t")
        self.assertEqual(shown.execute_script("return window.shown.signals.value('u_compute.start')"), 1)
        there = clock()
        body.send_keys("cccb")
        self.assertEqual(clock(), there + 2)
        body.send_keys("e")
        self.assertIn("All 16 results are right.", shown.execute_script("return document.getElementById('verdict').textContent"))
        self.assertIn("as predicted", shown.execute_script("return document.getElementById('verdict').textContent"))

    def test_axe_finds_nothing(self):
        with open(harness.AXE, encoding="utf-8") as file:
            axe = file.read()
        for scheme in ("light", "dark"):
            for link in ("#tour=3", "#tour=8", "#array=4&kind=convolution&channels=4&height=5&width=5&clock=100",
                         "#array=4&kind=residual&channels=4&height=4&width=4&clock=560", "#array=4&kind=depthwise&channels=4&height=5&width=5&clock=90"):
                shown = show(link, scheme=scheme)
                shown.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                shown.execute_script("window.shown.draw(); document.querySelector('#memories button.value').click()")
                shown.execute_script(axe)
                found = shown.execute_async_script("""
                    const done = arguments[0];
                    axe.run(document, {resultTypes: ['violations']}).then(({violations}) => done(violations.map((one) =>
                        `${one.id}: ${one.help}: ` + one.nodes.slice(0, 3).map((node) => node.html).join(' | '))))""")
                self.assertEqual(found, [], f"{link}, {scheme}")

    def fits(self, link, width, prepare=""):
        shown = show(link, width=width)
        shown.execute_script("window.shown.time.stopPlaying();" + prepare)
        name = "page-" + re.sub(r"\W+", "-", link).strip("-") + f"-{width}"
        path = chosen.pictures and os.path.join(chosen.pictures, name + ".png")
        self.assertEqual(layout.picture(shown, path)[0], width, name)
        self.assertEqual(layout.faults(shown), [], name)
        return shown

    def test_nothing_overprints_on_a_desk_or_a_phone(self):
        opened = "document.querySelectorAll('details').forEach((one) => { one.open = true; }); window.shown.draw();"
        for width in (1400, 390):
            for link in ("", "#tour=5", "#tour=8", "#array=16&m=20&k=16&n=16&clock=150", "#array=4&kind=network&digit=7",
                         "#array=8&kind=residual&channels=8&height=4&width=4&clock=560",
                         "#array=8&kind=depthwise&channels=8&height=6&width=6&kernel=5&clock=90"):
                self.fits(link, width)
                self.fits(link, width, opened)

    def test_a_layout_that_breaks_is_found(self):
        shown = self.fits("", 390)
        for script, expected in (
                ("document.querySelector('#flow .chart').style.width = '250px'; document.querySelector('#flow svg').style.maxWidth = 'none'", "is cut"),
                ("document.querySelector('#bar .buttons').style.flexWrap = 'nowrap'", "pixels wide"),
                ("document.querySelectorAll('#flow text')[5].setAttribute('y', document.querySelectorAll('#flow text')[6].getAttribute('y'))", "overprint")):
            shown.execute_script(script)
            self.assertIn(expected, " ".join(layout.faults(shown)), script)

    def test_it_opens_on_a_product_that_runs(self):
        shown = show("")
        cycle = "return window.shown.simulation.standing.clock"
        before = shown.execute_script(cycle)
        harness.wait_for(lambda: shown.execute_script(cycle) > before + 2, "the next cycles", 20)
        busy, cells = shown.execute_script("""
            const {array} = window.shown;
            return [array.busy(), Array.from({length: 64}, (_, i) => array.cell(i >> 3, i & 7)).filter((one) => one.weight !== 0 && one.sum !== 0).length]""")
        self.assertGreater(min(busy, cells), 32)

    def test_play_controls_stay_in_view(self):
        for width in (1400, 390):
            shown = show("", width=width)
            for part in shown.execute_script("return [...document.querySelectorAll('section')].map((one) => one.id)"):
                shown.execute_script("document.getElementById(arguments[0]).scrollIntoView()", part)
                seen, heading = shown.execute_script("""
                    const bar = document.getElementById('bar').getBoundingClientRect(), play = document.getElementById('play').getBoundingClientRect();
                    const heading = document.getElementById(arguments[0]).querySelector('h2').getBoundingClientRect();
                    const at = document.elementFromPoint(play.left + 5, play.top + 5);
                    return [play.top >= 0 && play.bottom < 140 && at.closest('#play') !== null, heading.top >= bar.bottom - 1];""", part)
                self.assertTrue(seen, f"{part}, {width} pixels: the play button is out of view")
                self.assertTrue(heading, f"{part}, {width} pixels: its heading is covered by the play controls")

    def test_each_step_of_the_tour_is_read_next_to_what_it_speaks_of(self):
        spoken = {5: "#counters tr.now", 7: "#waves svg", 8: "#counters td.bad"}
        for width in (1400, 390):
            for step in range(1, 9):
                shown = show(f"#tour={step}", width=width)
                harness.settle(shown)
                for part in (".step p", ".step button:last-of-type", spoken.get(step, "#array-picture")):
                    top, bottom = shown.execute_script("""
                        const {top, bottom} = document.querySelector(arguments[0]).getBoundingClientRect();
                        return [top - document.getElementById('bar').getBoundingClientRect().bottom, bottom]""", part)
                    self.assertGreaterEqual(top, -1, f"step {step}, {width} pixels: {part}")
                    self.assertLess(top, 780, f"step {step}, {width} pixels: {part}")
                    if part.startswith(".step"):
                        self.assertLess(bottom, 900, f"step {step}, {width} pixels: {part}")
                # Steps are items of a list, apart from each other.
                gaps = shown.execute_script("""
                    const items = [...document.querySelectorAll('.steps li')].map((one) => one.getBoundingClientRect());
                    return items.slice(1).map((one, i) => one.top - items[i].bottom)""")
                self.assertGreater(min(gaps), 2)

    def test_each_class_of_the_digits_is_labeled(self):
        shown = show("#array=4&kind=network&digit=7")
        texts = shown.execute_script("return [...document.querySelectorAll('.classes text')].map((one) => [one.textContent, getComputedStyle(one).fontWeight])")
        values = shown.execute_script("return window.shown.simulation.outcome.jobs.at(-1).results[0]")
        self.assertEqual([text for text, _ in texts], [one for digit, value in enumerate(values) for one in (str(value), str(digit))])
        self.assertEqual([text for text, weight in texts if weight == "700"][1], "7")

    def test_the_array_s_captions_stand_where_they_say(self):
        shown = show("#array=4&m=6&k=4&n=4")
        shown.execute_script("window.shown.play({go: 'tile', more: 4})")
        self.assertIn("weight at the top, the activation that passes in this cycle in the middle, and the sum down to this row at the bottom",
                      shown.execute_script("return document.querySelector('#array p').textContent"))
        rows = shown.execute_script("""
            const {array} = window.shown;
            const pen = array.canvas.getContext('2d'), written = [];
            pen.fillText = (text, x, y) => written.push([String(text), x, y]);
            array.draw();
            delete pen.fillText;
            const side = array.canvas.clientWidth / array.n, cell = array.cell(0, 0);
            return [written.filter(([, x, y]) => x < side && y < side).sort((a, b) => a[2] - b[2]).map(([text]) => text),
                    [cell.weight, `×${cell.activation}`, cell.sum].map(String)]""")
        self.assertEqual(rows[0], rows[1])

    def test_the_data_flow_shows_what_moves(self):
        shown = show("#array=4&m=8&k=8&n=8")
        label = "return document.querySelector('#flow svg').getAttribute('aria-label')"
        seen = set()
        for _ in range(200):
            seen |= {unit for unit in ("Weights works", "Scratchpad works", "Array, 4 × 4 works", "Accumulator works", "Store works")
                     if unit in shown.execute_script(label)}
            if shown.execute_script("window.shown.move(() => window.shown.simulation.forward(3)); return window.shown.simulation.over"):
                break
        self.assertEqual(len(seen), 5, seen)

    def test_narrow_windows_need_no_scrolling_sideways(self):
        for width in (320, 760):
            shown = show("#tour=4", width=width)
            harness.wait_for(lambda: shown.execute_script("return document.documentElement.scrollWidth") <= width, f"{width} pixels", 10)
            picture(f"narrow-{width}")

    def test_dark_is_dark_and_it_prints_on_light_paper(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        bright = lambda shown: sum(int(part) for part in shown.execute_script(ground)[4:-1].split(",")) > 384
        self.assertTrue(bright(show("#tour=4")))
        picture("light")
        self.assertFalse(bright(show("#tour=4", scheme="dark")))
        picture("dark")
        harness.look(scheme="dark", media="print")
        self.assertTrue(bright(harness.browser()))
        paper = base64.b64decode(harness.browser().execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        self.assertTrue(paper.startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *rest])
