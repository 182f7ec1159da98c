#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws sim/web/pictures/*.png, a view each, from the page that `make web` made: tests/web/picture.py"""
import base64
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "page"))
import harness  # noqa: E402

VIEWS = [("array", "#tour=4"), ("waves", "#tour=4"), ("tour", "#tour=4"), ("counters", "#tour=8"),
         ("memories", "#array=8&kind=convolution&channels=8&height=6&width=6&results=int8&clock=190"),
         ("vector", "#array=8&kind=residual&channels=8&height=4&width=4"),
         ("lanes", "#array=8&kind=depthwise&channels=8&height=6&width=6&clock=84"), ("ports", "#tour=4"), ("digits", "#array=8"), ("commands", "#tour=4")]

for view, link in VIEWS:
    shown = harness.browser()
    harness.look(width=1280)  # two columns, the tour apart from the views
    shown.get("about:blank")
    shown.get(f"file://{ROOT}/build/web/index.html{link}")
    harness.wait_for(lambda: shown.execute_script("return document.documentElement.dataset.ready"), "the page")
    if view == "vector":  # as it ends its work
        shown.execute_script("const {simulation} = window.shown; simulation.forward(1e7); window.shown.move(() => simulation.back(34))")
    if view == "memories":
        shown.execute_script("document.querySelector('#memories details').open = true; window.shown.draw(); document.querySelector('[data-place^=\"weight buffer, word\"]').click()")
    if view == "digits":
        shown.execute_script("window.shown.views.at(-1).take(data.digits.samples[3])")
    shown.execute_script("document.querySelector('nav').remove(); document.querySelectorAll('.scroll').forEach((one) => { one.style.maxHeight = '19rem'; })")
    clip = shown.execute_script("const {x, y, width, height} = document.getElementById(arguments[0]).getBoundingClientRect(); "
                                "return {x: x + scrollX, y: y + scrollY, width, height, scale: 1}", view)
    taken = shown.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    with open(os.path.join(ROOT, "sim", "web", "pictures", f"{view}.png"), "wb") as file:
        file.write(base64.b64decode(taken["data"]))
