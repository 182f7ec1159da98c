# SPDX-License-Identifier: Apache-2.0
"""The timeline: to be zoomed and read by keys and buttons, with and without a recording."""

import re
import unittest

import harness
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


class Timeline(unittest.TestCase):
    def window(self, shown):
        """The cycles in view, from the table's caption."""
        text = shown.execute_script("return document.querySelector('#timeline details caption').textContent")
        return tuple(int(number.replace(",", "")) for number in re.findall(r"[\d,]+", text)[:2])

    def until(self, shown, held):
        harness.wait_for(lambda: held(self.window(shown)), "the window", 20)
        return self.window(shown)

    def test_keys_zoom_move_and_read(self):
        page, report = harness.report("gemm")
        shown = harness.show(page)
        begin, end = self.until(shown, lambda window: window[1] - window[0] == report["total"]["cycles"])
        place = shown.find_element(By.CSS_SELECTOR, ".timeline")
        place.send_keys("+")
        left, right = self.until(shown, lambda window: window[1] - window[0] < end - begin)
        self.assertAlmostEqual(right - left, (end - begin) / 2, delta=2)
        place.send_keys(Keys.ARROW_RIGHT)
        moved, _ = self.until(shown, lambda window: window[0] > left)
        place.send_keys(Keys.ARROW_LEFT)
        self.until(shown, lambda window: window[0] < moved)
        place.send_keys("0")
        self.assertEqual(self.until(shown, lambda window: window[1] - window[0] == end - begin), (begin, end))
        status = lambda: shown.find_element(By.CSS_SELECTOR, "#timeline [role=status]").text
        place.send_keys(Keys.ARROW_DOWN)
        self.assertTrue(status().startswith("commands: "), status())
        for _ in range(3):
            place.send_keys(Keys.ARROW_DOWN)
        place.send_keys("n")
        self.assertRegex(status(), r"^compute: .*cycles [\d,]+ to [\d,]+ \([\d,]+\)$")
        first = status()
        place.send_keys("n")
        self.assertNotEqual(status(), first)
        place.send_keys("p")
        self.assertEqual(status(), first)

    def test_buttons_zoom_and_show_all(self):
        page, report = harness.report("gemm")
        shown = harness.show(page)
        all_of_it = self.until(shown, lambda window: window[1] - window[0] == report["total"]["cycles"])
        shown.find_element(By.CSS_SELECTOR, "#timeline button[aria-label='zoom in']").click()
        self.until(shown, lambda window: window != all_of_it)
        shown.find_element(By.CSS_SELECTOR, "#timeline button[aria-label='show all cycles']").click()
        self.until(shown, lambda window: window == all_of_it)

    def test_table_of_the_window_adds_up_to_the_counters(self):
        page, report = harness.report("gemm")
        shown = harness.show(page)
        self.until(shown, lambda window: window[1] - window[0] == report["total"]["cycles"])
        found = {(row[0], row[1]): int(row[2].replace(",", "")) for row in harness.rows(shown, "timeline")}
        counters = report["layers"][0]["counters"]
        self.assertEqual(found, {(engine, cause.replace("_", " ")): count for engine, causes in counters.items()
                                 if engine not in ("total", "bytes") for cause, count in causes.items() if count})

    def test_without_a_recording_layers_follow_each_other(self):
        page, report = harness.report("linear")
        shown = harness.show(page)
        self.assertEqual(self.until(shown, lambda window: window[1] > 1), (0, report["total"]["cycles"]))
        self.assertIn("only sums are known", shown.find_element(By.ID, "timeline").text)
        choice = shown.find_element(By.CSS_SELECTOR, "#timeline select")
        layers = [layer for layer in report["layers"] if layer["on"] == "device"]
        self.assertEqual(len(choice.find_elements(By.TAG_NAME, "option")), len(layers) + 1)
        choice.find_elements(By.TAG_NAME, "option")[2].click()
        first = layers[0]["cycles"]
        self.until(shown, lambda window: window == (first, first + layers[1]["cycles"]))
