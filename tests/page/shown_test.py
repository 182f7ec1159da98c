# SPDX-License-Identifier: Apache-2.0
"""What a page shows: the report's figures, in every section, whatever the names are."""

import copy
import json
import os
import unittest

import harness

HOSTILE = [
    "</script><script>window.broken = 1</script>",
    "\"><img src=x onerror=\"window.broken = 1\">",
    "<!--<script>", "]]>", "'; window.broken = 1; '", "&lt;b&gt; &amp;", "${window.broken = 1}",
    "back\u202eslash\u2066", "line\u2028feed\n\t\r\u0000\u0007", "Ω≈ç√ 名前 🦊 שלום", "__proto__", "constructor",
    "", " ", "x" * 5000,
]


class Shown(unittest.TestCase):
    def sections(self, shown):
        return shown.execute_script("return [...document.querySelectorAll('main > section')].map((one) => one.id)")

    def test_every_section_has_its_place(self):
        for name, sections in {
                "gemm": ["layers", "roofline", "clocks", "bytes", "predicted", "timeline"],
                "linear": ["layers", "roofline", "clocks", "bytes", "predicted", "timeline"],
                "classified": ["layers", "roofline", "clocks", "bytes", "predicted", "accuracy", "timeline"],
                "analysis": ["layers", "roofline", "bytes", "traffic", "predicted", "timeline"]}.items():
            shown = harness.show(harness.report(name)[0])
            self.assertEqual(self.sections(shown), sections, name)
            self.assertEqual(shown.execute_script(
                "return [...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href'))"),
                ["#" + section for section in sections], name)

    def test_traffic_has_the_layers_of_the_host(self):
        page, report = harness.report("analysis")
        rows = {row[0]: row[1:] for row in harness.rows(harness.show(page), "traffic")}
        for layer in report["layers"]:
            if layer["macs"]:
                self.assertEqual(rows[layer["name"]][0], f"{layer['macs']:,}")
        self.assertIn("/maxpool/MaxPool", rows)

    def test_a_sweep_shows_its_points_and_their_front(self):
        for name in harness.SWEEPS:
            page, rows = harness.sweep(name)
            shown = harness.show(page)
            self.assertEqual(self.sections(shown), ["designs", "points"], name)
            cells = self.cells(shown, "#points")
            self.assertEqual([cell["cycles"] for cell in cells], [f"{row['cycles']:,}" for row in rows])
        _, rows = harness.sweep("many")
        best = [min(row["cycles"] for row in rows if row["array"] <= array) for array in (2, 4, 8, 16, 32, 64)]
        front = [row["cycles"] for row in rows if any(row["cycles"] == best[i] and row["array"] == array
                                                      for i, array in enumerate((2, 4, 8, 16, 32, 64)))]
        cells = self.cells(shown, "#designs")
        self.assertEqual(sorted(cell["cycles"] for cell in cells), sorted(f"{cycles:,}" for cycles in front))
        self.assertEqual(shown.execute_script("return document.querySelectorAll('#designs h3').length"), 1, "too many for bars")

    def test_a_sweep_s_networks_are_chosen(self):
        shown = harness.show(harness.sweep("ran")[0])
        self.assertIn("✓ VERIFIED: every value, cycle and byte of 32 points.",
                      shown.execute_script("return document.querySelector('header .verdict').textContent"))
        charts = "return [...document.querySelectorAll('#designs .chart svg')].map((one) => one.getAttribute('aria-label'))"
        harness.wait_for(lambda: len(shown.execute_script(charts)) == 4, "charts of lenet")
        self.assertTrue(all("lenet, batch 1" in label or "Utilization" in label for label in shown.execute_script(charts)))
        shown.execute_script("""
            const select = document.querySelector('#designs select');
            select.selectedIndex = 3;
            select.dispatchEvent(new Event('change'));""")
        harness.wait_for(lambda: any("40x64x48, batch 4" in label for label in shown.execute_script(charts)), "charts of 40x64x48")

    def test_a_sweep_s_failures_and_names_stay_what_they_are(self):
        def change(data):
            sweep = data["sweep"]
            at = {name: i for i, name in enumerate(sweep["columns"])}
            sweep["file"] = HOSTILE[0]
            sweep["verdict"] = "Warning: " + HOSTILE[1] + "\nNOT VERIFIED: 1 of 32 points."
            for row in sweep["rows"]:
                row[at["network"]] = HOSTILE[row[at["point"]] % 10]
            sweep["rows"][0][at["verified"]] = False
            sweep["rows"][1][at["cycles"]] = sweep["rows"][1][at["x"]] = sweep["rows"][1][at["y"]] = None
            sweep["rows"][1][at["error"]] = HOSTILE[4]
        shown = harness.show(harness.with_data(harness.sweep("ran")[0], "odd_sweep.html", change))
        self.assertIsNone(shown.execute_script("return window.broken ?? null"))
        self.assertIn("✗ NOT VERIFIED", shown.execute_script("return document.querySelector('header .verdict').textContent"))
        cells = self.cells(shown, "#points")
        self.assertEqual((cells[0]["verified"], cells[1]["cycles"], cells[1]["error"]), ("no", "–", HOSTILE[4]))
        self.assertIn("not verified", shown.execute_script("return document.querySelector('#designs .legend').textContent"))

    def cells(self, shown, place):
        """The rows of the first table in `place`, by column."""
        heads = shown.execute_script(f"return [...document.querySelectorAll('{place} table')[0].querySelectorAll('thead th')].map((one) => one.textContent)")
        return [dict(zip(heads, row)) for row in harness.rows(shown, place[1:])]

    def test_layers_are_those_of_the_report(self):
        page, report = harness.report("linear")
        shown = harness.show(page)
        heads = shown.execute_script("return [...document.querySelectorAll('#layers thead th')].map((one) => one.textContent)")
        rows = [dict(zip(heads, row)) for row in harness.rows(shown, "layers")]
        self.assertEqual([row["layer"] for row in rows], [layer["name"] for layer in report["layers"]])
        for row, layer in zip(rows, report["layers"]):
            self.assertEqual(row["MACs"], f"{layer['macs']:,}")
            if layer["on"] == "device":
                self.assertEqual(row["cycles"], f"{layer['cycles']:,}")
                self.assertEqual(row["predicted"], f"{layer['predicted_cycles']:,}")
                self.assertEqual(row["M×K×N"], f"{layer['m']}×{layer['k']}×{layer['n']}")
        foot = shown.execute_script("return document.querySelector('#layers tfoot').textContent")
        self.assertIn(f"{report['total']['cycles']:,}", foot)

    def test_a_field_that_it_does_not_know_is_a_column(self):
        report = copy.deepcopy(harness.report("linear")[1])
        report["layers"][0]["reloaded_weights"] = 4711
        report["layers"][0]["packed_by"] = "host"
        shown = harness.show(harness.page_of("fields", report))
        heads = shown.execute_script("return [...document.querySelectorAll('#layers thead th')].map((one) => one.textContent)")
        row = dict(zip(heads, harness.rows(shown, "layers")[0]))
        self.assertEqual((row["reloaded weights"], row["packed by"]), ("4,711", "host"))

    def test_counters_that_differ_are_told(self):
        page, report = harness.report("gemm")
        verdict = "return document.querySelector('#predicted .verdict').textContent"
        counters = sum(len(engine) for engine in report["layers"][0]["counters"].values())
        self.assertIn(f"✓ All {counters} counters of 1 layer", harness.show(page).execute_script(verdict))
        wrong = copy.deepcopy(report)
        wrong["layers"][0]["counters"]["compute"]["idle"] += 1
        wrong["verified"] = False
        shown = harness.show(harness.page_of("wrong", wrong))
        self.assertIn(f"✗ 1 of {counters} counters", shown.execute_script(verdict))
        self.assertIn("✗ Not verified", shown.execute_script("return document.querySelector('header .verdict').textContent"))

    def test_images_that_differ_are_listed(self):
        page, report = harness.report("classified")
        of = report["classification"]
        of = {**of, "differ": [{"image": 7, "float32": 1, "int8": 2, "label": 2}, {"image": 12, "float32": 3, "int8": 4, "label": 3}]}
        shown = harness.show(harness.page_of("differ", {**report, "classification": of}))
        self.assertEqual(harness.rows(shown, "accuracy"), [["7", "2", "1", "2", "int8"], ["12", "3", "3", "4", "float32"]])
        text = harness.show(page).execute_script("return document.querySelector('#accuracy').textContent")
        self.assertIn(f"{of['top1']} of 300" if "float32" not in of else f"{of['float32']['top1']} of 300", text)

    def test_roofline_says_what_bounds_a_layer(self):
        shown = harness.show(harness.report("linear")[0])
        # The last layer's weights are loaded while those before it run.
        self.assertEqual([row[-1] for row in harness.rows(shown, "roofline")], ["weights", "weights", "results"])
        # 3,025×363×64: 28.6 % of the tiles' columns and rows are padding, so its bytes bound no more than its MACs.
        rows = harness.rows(harness.show(harness.report("analysis")[0]), "roofline")
        self.assertIn("MACs", {row[-1] for row in rows})

    def test_a_users_array_stays_below_its_roof(self):
        shown = harness.show(harness.report("dut")[0])
        # Results are three times as wide as operands: their bytes would bound it far below what it reaches.
        for _, per_beat, per_clock, *_ in harness.rows(shown, "roofline"):
            self.assertLessEqual(float(per_clock), min(4, float(per_beat)) * 1.001)
        text = shown.execute_script("return document.body.innerText")
        self.assertIn("2×2 array · weight-stationary", text)
        self.assertNotIn("undefined", text)
        # The cycles of an array that is not gemm64's are not predicted.
        self.assertNotIn("predicted", text)
        self.assertIn("is the bound of its streams", text)

    def test_tables_sort_by_any_column(self):
        shown = harness.show(harness.report("analysis")[0])
        heads = shown.execute_script("return [...document.querySelectorAll('#layers thead th')].map((one) => one.textContent)")
        at = heads.index("MACs")
        sort = "document.querySelectorAll('#layers thead button')[arguments[0]].click()"
        order = lambda: [int(row[at].replace(",", "")) for row in harness.rows(shown, "layers") if row[at] != "–"]
        states = "return document.querySelectorAll('#layers thead th')[arguments[0]].getAttribute('aria-sort')"
        shown.execute_script(sort, at)
        self.assertEqual(order(), sorted(order(), reverse=True))
        self.assertEqual(shown.execute_script(states, at), "descending")
        shown.execute_script(sort, at)
        self.assertEqual(order(), sorted(order()))
        self.assertEqual(shown.execute_script(states, at), "ascending")
        shown.execute_script(sort, 0)
        names = [row[0] for row in harness.rows(shown, "layers")]
        self.assertEqual(len(names), len(harness.report("analysis")[1]["layers"]))
        self.assertEqual(shown.execute_script(states, at), None)
        self.assertLess(names.index("/layer1/layer1.0/conv1/Conv"), names.index("/layer4/layer4.2/conv3/Conv"))

    def test_hostile_names_stay_names(self):
        report = copy.deepcopy(harness.report("linear")[1])
        layer = report["layers"][0]
        report["layers"] = [{**copy.deepcopy(layer), "name": name} for name in HOSTILE]
        report["model"] = HOSTILE[0]
        report["device"] = HOSTILE[1]
        report["problems"] = HOSTILE
        report["layers"][0][HOSTILE[0]] = HOSTILE[1]
        report["layers"][0]["counters"][HOSTILE[1]] = {HOSTILE[0]: 1}
        report["classification"] = {"images": 1, "best": [[{"class": 1, "score": 0.5, "name": name} for name in HOSTILE[:5]]],
                                    "differ": []}
        page = harness.page_of("hostile", report)
        shown = harness.show(page)
        names = [row[0] for row in harness.rows(shown, "layers")]
        self.assertEqual(names[:7], HOSTILE[:7])
        self.assertEqual(names[7], "back\\u{202e}slash\\u{2066}")
        self.assertEqual(names[8], "line\\u{2028}feed\\u{000a}\\u{0009}\\u{000d}\\u{0000}\\u{0007}")
        self.assertEqual(names[9], HOSTILE[9])
        self.assertEqual(len(names), len(HOSTILE))
        self.assertIsNone(shown.execute_script("return window.broken ?? null"))
        self.assertEqual(shown.execute_script("return document.querySelectorAll('script').length"), 3)
        self.assertEqual(shown.execute_script("return document.querySelectorAll('img, iframe, object, link').length"), 0)
        harness.run("report", "--compare", "hostile.json", "hostile.json", "--output", "hostile2.html", code=0)
        shown = harness.show(harness.path("hostile2.html"))
        self.assertEqual([row[0] for row in harness.rows(shown, "layers")][:7], HOSTILE[:7])
        self.assertIsNone(shown.execute_script("return window.broken ?? null"))

    def test_reports_with_nothing_in_them_are_shown(self):
        _, report = harness.report("gemm")
        empty = {**copy.deepcopy(report), "layers": [], "error": "the device hangs", "verified": False}
        shown = harness.show(harness.page_of("empty", empty))
        self.assertIn("the device hangs", shown.execute_script("return document.querySelector('header .verdict').textContent"))
        self.assertEqual(self.sections(shown), ["layers"])

    def test_a_field_of_a_wrong_kind_costs_its_section_alone(self):
        report = copy.deepcopy(harness.report("linear")[1])
        report["layers"][0]["padded"] = 5
        shown = harness.show(harness.page_of("odd", report))
        self.assertEqual(len(self.sections(shown)), 6)
        self.assertEqual(shown.execute_script("return document.querySelectorAll('section .verdict.bad').length"), 1)

    def test_two_runs_stand_side_by_side(self):
        harness.run("gemm", 20, 30, 40, "--array", 4, "--device", "tlm", "--memory", "shared", "--json", "shared.json")
        _, a = harness.report("gemm")
        harness.run("report", "--compare", "gemm.json", "shared.json", "--output", "compared.html")
        page = harness.path("compared.html")
        shown = harness.show(page)
        b = harness.data_of(page)["reports"][1]["report"]
        self.assertEqual(self.sections(shown), ["layers", "clocks", "bytes"])
        ca, cb = a["total"]["cycles"], b["total"]["cycles"]
        self.assertGreater(cb, ca)
        self.assertEqual(harness.rows(shown, "layers"),
                         [["gemm", "20×30×40", f"{ca:,}", f"{cb:,}", f"+{cb - ca:,}", f"+{100 * (cb / ca - 1):.2f}"]])

    def test_runs_with_other_layers_are_compared_as_the_terminal_does(self):
        harness.run("run", "lenet", "--device", "tlm", "--batch", 4, "--json", "whole.json")
        harness.report("linear")
        text = harness.run("report", "--compare", "linear.json", "whole.json", "--output", "sets.html").stdout
        shown = harness.show(harness.path("sets.html"))
        both = harness.data_of(harness.path("sets.html"))["comparison"]
        a, b = both["both"]["clocks"]
        self.assertRegex(text, f"layers of both +{a:,} +{b:,} ")
        self.assertIn(f"cycles{a:,} → {b:,}", shown.execute_script("return document.querySelector('.tiles').textContent"))
        head = shown.execute_script("return document.querySelector('header').textContent")
        self.assertIn("Only in B: ", head)
        # Pools have no MACs, and are no layers of a report where the host has them.
        layers = harness.data_of(harness.path("sets.html"))["reports"][0]["report"]["layers"]
        hosts = {layer["name"] for layer in layers if layer.get("on") == "host"}
        self.assertTrue(hosts)
        for layer in both["only"][1]:
            place = "; on the host in A" if layer["name"] in hosts else ""
            self.assertIn(f"{layer['name']} ({layer['clocks']:,} cycles{place})", head)
        self.assertEqual(len(harness.rows(shown, "layers")), len(both["layers"]))

    def test_headline_names_its_memory(self):
        def tiles(page):
            return harness.show(page).execute_script(
                "return [...document.querySelectorAll('.tiles div')].map((one) => [...one.children].map((part) => part.textContent))")

        harness.run("analyze", os.path.join(harness.DATA, "mobilenet_v2.onnx"), "--quantized", "--report", "q.html", "--json", "q.json")
        with open(harness.path("q.json"), encoding="utf-8") as file:
            array = json.load(file)["array"]
        first, second, *others = tiles(harness.path("q.html"))
        self.assertEqual(first[0], "cycles with dram:lpddr4, predicted")
        self.assertEqual(first[1], f"{array['dram_cycles']:,}{array['compute_bound_cycles']:,} is the compute bound (ideal ports)")
        self.assertEqual(second[0], "cycles of all layers, predicted: compute bound (ideal ports)")
        self.assertIn("energy, estimated", [name for name, _ in others])
        self.assertEqual(tiles(harness.report("gemm")[0])[0][0], "cycles: compute bound (ideal ports)")
        harness.run("gemm", 8, 8, 8, "--array", 4, "--memory", "dram:ddr4", "--report", "d.html")
        self.assertEqual(tiles(harness.path("d.html"))[0][0], "cycles: dram:ddr4")

    def test_a_symbol_has_one_meaning(self):
        shown = harness.show(harness.report("linear")[0])
        shapes = {section: set(shown.execute_script(
            f"return [...document.querySelectorAll('#{section} .legend path')].map((one) => one.getAttribute('d'))"))
            for section in ("roofline", "predicted")}
        self.assertTrue(shapes["roofline"] and shapes["predicted"])
        self.assertEqual(shapes["roofline"] & shapes["predicted"], set())

    def test_headings_stand_right_under_the_first_table_s_caption(self):
        shown = harness.show(harness.report("linear")[0])
        self.assertLess(shown.execute_script(
            "return document.querySelector('#layers thead').getBoundingClientRect().height"), 45)
