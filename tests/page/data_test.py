# SPDX-License-Identifier: Apache-2.0
"""What a page is given: the report itself, a recording that adds up, and never more than 1.5 MB."""

import json
import os
import unittest

import harness


class Data(unittest.TestCase):
    def test_holds_the_report_that_json_holds(self):
        for name in harness.REPORTS:
            page, report = harness.report(name)
            self.assertEqual(harness.data_of(page)["reports"][0]["report"], report, name)

    def test_is_the_same_from_the_report_file(self):
        page, _ = harness.report("linear")
        harness.run("report", "linear.json", "--output", "again.html")
        with open(page, encoding="utf-8") as first, open(harness.path("again.html"), encoding="utf-8") as second:
            self.assertEqual(first.read(), second.read())

    def test_refers_to_nothing_outside(self):
        page, _ = harness.report("gemm")
        with open(page, encoding="utf-8") as file:
            head = file.read().split("<style>")[0]
        self.assertIn("default-src 'none'", head)
        self.assertNotIn("http:", head)
        self.assertNotIn("src=", head)

    def test_goes_to_standard_output_and_is_lost_on_a_full_disk(self):
        product = ["gemm", 4, 4, 4, "--array", 4, "--device", "tlm"]
        outcome = harness.run(*product, "--report", "-")
        self.assertTrue(outcome.stdout.startswith("<!DOCTYPE html>"))
        self.assertTrue(outcome.stdout.endswith("</html>\n"))
        self.assertIn("VERIFIED", outcome.stderr)
        outcome = harness.run(*product, "--report", "/dev/full", code=3)
        self.assertIn("gemm64: /dev/full: ", outcome.stderr)
        self.assertIn("Report: product.html\n", harness.run(*product, "--report", "product.html").stdout)
        outcome = harness.run(*product, "--report", "same.json", "--json", "./same.json", code=2)
        self.assertIn("--report same.json", outcome.stderr)

    def test_without_a_timeline_that_can_be_read_again_shows_layers(self):
        harness.run(*harness.REPORTS["gemm"][:6], "--timeline", "/dev/null", "--report", "unread.html")
        self.assertIsNone(harness.data_of(harness.path("unread.html"))["timeline"])

    def test_recording_adds_up_to_the_counters(self):
        page, report = harness.report("gemm")
        recording = harness.data_of(page)["timeline"]
        self.assertEqual(recording["shortest"], 1)
        counters = report["layers"][0]["counters"]
        tracks = {track["name"]: track for track in recording["tracks"]}
        for engine, causes in counters.items():
            if engine in ("total", "bytes"):
                continue
            sums = {}
            for cause, clocks in zip(tracks[engine]["causes"], tracks[engine]["clocks"]):
                name = recording["causes"][cause]
                sums[name] = sums.get(name, 0) + clocks
            self.assertEqual(sums, {cause: count for cause, count in causes.items() if count}, engine)
        layers = tracks["layers"]
        self.assertEqual(layers["clocks"], [report["total"]["cycles"]])
        self.assertEqual([recording["texts"][layers["texts"][0]]], ["gemm"])

    def test_long_recordings_are_made_shorter_and_keep_their_cycles(self):
        events = [{"ph": "M", "pid": 100, "tid": 1, "name": "thread_name", "args": {"name": "layers"}},
                  {"ph": "M", "pid": 100, "tid": 5, "name": "thread_name", "args": {"name": "compute"}},
                  {"ph": "X", "pid": 100, "tid": 1, "ts": 0, "dur": 9000000, "cat": "layer", "name": "gemm"}]
        for tile in range(120000):
            events.append({"ph": "X", "pid": 100, "tid": 5, "ts": 75 * tile, "dur": 64, "cat": "tile",
                           "name": f"k{tile} n{tile}", "args": {"compute": 64}})
            events.append({"ph": "X", "pid": 100, "tid": 5, "ts": 75 * tile + 64, "dur": 11, "cat": "wait",
                           "name": "wait_weights"})
        with open(harness.path("long.json"), "w", encoding="utf-8") as file:
            file.write('{"traceEvents":[\n' + ",\n".join(json.dumps(event) for event in events) + '\n],"otherData":{}}\n')
        _, report = harness.report("gemm")
        page = harness.page_of("long_page", report, "--timeline", "long.json")
        self.assertLess(os.path.getsize(page), 1_500_000)
        recording = harness.data_of(page)["timeline"]
        self.assertGreater(recording["shortest"], 1)
        track = next(track for track in recording["tracks"] if track["name"] == "compute")
        self.assertEqual(sum(track["clocks"]) + sum(track["gaps"]), 9_000_000)
        self.assertEqual({recording["causes"][cause] for cause in track["causes"]}, {"compute"})

    def test_the_largest_recording_leaves_it_below_its_limit(self):
        """As many slices as there may be, each with a name of its own."""
        events = [{"ph": "M", "pid": 100, "tid": 5, "name": "thread_name", "args": {"name": "compute"}}]
        for tile in range(36000):
            events.append({"ph": "X", "pid": 100, "tid": 5, "ts": 64 * tile, "dur": 64, "cat": "tile",
                           "name": f"k{tile % 144} n{tile}", "args": {"compute": 64}})
        with open(harness.path("most.json"), "w", encoding="utf-8") as file:
            file.write('{"traceEvents":[\n' + ",\n".join(json.dumps(event) for event in events) + '\n],"otherData":{}}\n')
        _, report = harness.report("gemm")
        page = harness.page_of("most_page", report, "--timeline", "most.json")
        self.assertEqual(harness.data_of(page)["timeline"]["shortest"], 1)
        self.assertLess(os.path.getsize(page), 1_500_000)
