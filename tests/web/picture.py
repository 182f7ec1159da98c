#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws sim/web/pictures/*.png, a view each, from the page that `make web` made: tests/web/picture.py"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "page"))
import harness  # noqa: E402

VIEWS = [("array", "#tour=4"), ("waves", "#tour=4"), ("tour", "#tour=4"), ("counters", "#tour=8"),
         ("memories", "#array=8&kind=convolution&channels=8&height=6&width=6&results=int8&clock=150"),
         ("vector", "#array=8&kind=residual&channels=8&height=4&width=4&clock=562"),
         ("lanes", "#array=8&kind=depthwise&channels=8&height=6&width=6&clock=105"), ("ports", "#tour=4"), ("digits", "#array=8"), ("commands", "#tour=4")]

for view, link in VIEWS:
    shown = harness.browser()
    harness.look(width=1000)
    shown.get("about:blank")
    shown.get(f"file://{ROOT}/build/web/index.html{link}")
    harness.wait_for(lambda: shown.execute_script("return document.documentElement.dataset.ready"), "the page")
    if view == "digits":
        shown.execute_script("window.shown.views.at(-1).take(data.digits.samples[3])")
    shown.execute_script("document.querySelector('nav').remove(); document.querySelectorAll('.scroll').forEach((one) => { one.style.maxHeight = '16rem'; })")
    with open(os.path.join(ROOT, "sim", "web", "pictures", f"{view}.png"), "wb") as file:
        file.write(shown.find_element("id", view).screenshot_as_png)
