# SPDX-License-Identifier: Apache-2.0
"""Who can read a page: axe-core's rules in light and dark, keys, narrow windows, paper.

With GEMM64_PICTURES=FOLDER it also leaves pictures of every page there, for a person to look at.
"""

import base64
import os
import unittest

import harness
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PICTURES = os.environ.get("GEMM64_PICTURES")


def pages():
    for name in harness.REPORTS:
        yield name, harness.report(name)[0]
    for name in harness.SWEEPS:
        yield f"sweep-{name}", harness.sweep(name)[0]
    harness.run("report", "--compare", "gemm.json", "gemm.json", "--output", "same.html")
    yield "compared", harness.path("same.html")


def picture(name):
    if not PICTURES:
        return
    shot = harness.browser().execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
    with open(os.path.join(PICTURES, f"{name}.png"), "wb") as file:
        file.write(base64.b64decode(shot["data"]))


class Access(unittest.TestCase):
    def test_axe_finds_nothing(self):
        self.assertTrue(os.path.exists(harness.AXE), f"{harness.AXE} is missing: run scripts/setup/charts.sh --test")
        with open(harness.AXE, encoding="utf-8") as file:
            axe = file.read()
        for name, page in pages():
            for scheme in ("light", "dark"):
                shown = harness.show(page, scheme=scheme)
                shown.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
                shown.execute_script(axe)
                found = shown.execute_async_script("""
                    const done = arguments[0];
                    axe.run(document, {resultTypes: ['violations']}).then(({violations}) => done(violations.map((one) =>
                        `${one.id}: ${one.help}: ` + one.nodes.slice(0, 3).map((node) => node.html).join(' | '))))""")
                self.assertEqual(found, [], f"{name}, {scheme}")

    def test_every_chart_has_a_label_and_a_table(self):
        for name, page in pages():
            shown = harness.show(page)
            labels = shown.execute_script(
                "return [...document.querySelectorAll('.chart svg[role=img]')].map((one) => one.getAttribute('aria-label'))")
            self.assertGreater(len(labels), 0 if name == "sweep-many" else 2, name)  # too many designs for bars
            self.assertTrue(all(len(label) > 20 for label in labels), labels)
            self.assertEqual(shown.execute_script("""
                return [...document.querySelectorAll('section')].filter((one) => one.querySelector('.chart') &&
                    !one.querySelector('table')).map((one) => one.id)"""), [], name)

    def test_keys_reach_everything_in_order(self):
        shown = harness.show(harness.report("linear")[0])
        shown.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
        self.assertEqual(shown.switch_to.active_element.text, "Skip to the figures")
        places = []
        for _ in range(300):
            shown.switch_to.active_element.send_keys(Keys.TAB)
            place = shown.execute_script("""
                const now = document.activeElement;
                return now === document.body ? null : [now.getBoundingClientRect().top + scrollY, now.closest('section, nav')?.id ?? '']""")
            if place is None:
                break
            places.append(place[1])
        order = [one for i, one in enumerate(places) if i == 0 or places[i - 1] != one]
        self.assertEqual(order, ["", "layers", "roofline", "clocks", "bytes", "predicted", "timeline"])
        header = shown.find_element(By.CSS_SELECTOR, "#layers thead button")
        header.send_keys(Keys.ENTER)
        self.assertEqual(shown.execute_script("return document.querySelector('#layers th').getAttribute('aria-sort')"), "ascending")

    def test_narrow_windows_need_no_scrolling_sideways(self):
        for name, page in pages():
            for width in (320, 760):
                shown = harness.show(page, width=width)
                harness.wait_for(lambda: shown.execute_script("return document.documentElement.scrollWidth") <= width,
                                 f"{name} in {width} pixels", 10)
                picture(f"{name}-{width}")

    def test_dark_is_dark_and_paper_is_light(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        bright = lambda shown: sum(int(part) for part in shown.execute_script(ground)[4:-1].split(",")) > 384
        for name, page in pages():
            self.assertTrue(bright(harness.show(page)), name)
            picture(f"{name}-light")
            self.assertFalse(bright(harness.show(page, scheme="dark")), name)
            picture(f"{name}-dark")
            harness.look(scheme="dark", media="print")
            self.assertTrue(bright(harness.browser()), name)

    def test_prints(self):
        for name, page in pages():
            shown = harness.show(page, scheme="dark")
            harness.look(scheme="dark", media="print")
            paper = base64.b64decode(shown.execute_cdp_cmd("Page.printToPDF", {
                "printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69})["data"])
            self.assertTrue(paper.startswith(b"%PDF"))
            if PICTURES:
                with open(os.path.join(PICTURES, f"{name}.pdf"), "wb") as file:
                    file.write(paper)
