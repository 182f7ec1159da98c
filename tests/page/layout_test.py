# SPDX-License-Identifier: Apache-2.0
"""Pages on a desk and on a phone: nothing overprints, breaks within a number or leaves its frame.

With GEMM64_PICTURES=FOLDER it also leaves pictures there.
"""

import copy
import os
import unittest

import harness
import layout

PICTURES = os.environ.get("GEMM64_PICTURES")
WIDTHS = (1400, 390)


def pages():
    for name in harness.REPORTS:
        yield name, harness.report(name)[0]
    for name in harness.SWEEPS:
        yield f"sweep-{name}", harness.sweep(name)[0]
    long = copy.deepcopy(harness.report("linear")[1])
    for layer in long["layers"]:
        layer["name"] = "/backbone/stage4/" * 3 + layer["name"]
        if layer.get("macs"):
            layer["macs"] *= 10**7
    long["total"] |= {"macs": 45_708_062_720_123, "cycles": 11_159_194_000_456, "predicted_cycles": 11_159_194_000_456}
    yield "long", harness.page_of("long_numbers", long)
    for other in ("linear", "long_numbers"):  # without and with the layers of the first
        harness.run("report", "--compare", "long_numbers.json", f"{other}.json", "--output", f"with_{other}.html")
        yield f"with-{other}", harness.path(f"with_{other}.html")


class Layout(unittest.TestCase):
    def test_pages_fit_a_desk_and_a_phone(self):
        for name, page in pages():
            for width in WIDTHS:
                shown = harness.show(page, width=width)
                shown.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                harness.settle(shown)
                path = PICTURES and os.path.join(PICTURES, f"{name}-{width}.png")
                self.assertEqual(layout.picture(shown, path)[0], width, name)
                self.assertEqual(layout.faults(shown), [], f"{name} in {width} pixels")

    def test_each_kind_of_fault_is_found(self):
        breaks = [
            ("document.querySelector('h1').style.cssText = 'white-space: nowrap; width: 2000px'", "pixels wide"),
            ("document.querySelectorAll('.tiles dt')[0].style.marginBottom = '-1.2em'", "overprint"),
            ("document.querySelector('.figure').style.cssText = 'width: 2em; display: block; overflow-wrap: anywhere'", "breaks"),
            ("document.querySelector('.chart').style.cssText = 'width: 100px; height: 30px'", "is cut"),
        ]
        for script, expected in breaks:
            shown = harness.show(harness.report("linear")[0], width=390)
            self.assertEqual(layout.faults(shown), [])
            shown.execute_script(script)
            self.assertIn(expected, " ".join(layout.faults(shown)), script)
