#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws host/report/page/pictures/report.png from a page, for the README:

    build/gemm64 run --timeline t.json --report report.html
    tests/page/picture.py report.html host/report/page/pictures/report.png

It shows the head, the cycles and the timeline around the border of the last two layers.
"""

import base64
import os
import sys
import time

import harness
from selenium.webdriver.common.by import By

if len(sys.argv) != 3:
    sys.exit(__doc__)
shown = harness.show(os.path.abspath(sys.argv[1]), width=1080)
shown.execute_script("""
    for (const one of document.querySelectorAll('section, footer, nav'))
      one.hidden = !['cycles', 'timeline'].includes(one.id);
    [...document.querySelector('.tiles').children].slice(5).forEach((one) => { one.hidden = true; });
    document.querySelector('main').style.paddingBottom = '1rem';""")
# Deep into the second layer, then to where the third begins.
shown.find_elements(By.CSS_SELECTOR, "#timeline option")[2].click()
shown.find_element(By.CSS_SELECTOR, ".timeline").send_keys("+" * 9 + "n")
shown.execute_script("document.activeElement.blur()")
time.sleep(1)
height = shown.execute_script("return Math.ceil(document.querySelector('main').getBoundingClientRect().bottom + scrollY)")
shot = shown.execute_cdp_cmd("Page.captureScreenshot", {
    "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": 1080, "height": height, "scale": 1}})
with open(sys.argv[2], "wb") as file:
    file.write(base64.b64decode(shot["data"]))
