# SPDX-License-Identifier: Apache-2.0
"""Faults of a page's layout, measured in the browser: texts that overprint each other or leave their frame, numbers that
break, and pages wider than the window."""

import base64
import os
import struct

_FAULTS = r"""
const faults = [];
const root = document.documentElement;
if (root.scrollWidth > innerWidth) faults.push(`the page is ${root.scrollWidth} pixels wide in a window of ${innerWidth}`);

const frames = (one) => { const all = []; for (let up = one; up; up = up.parentElement) all.push(up); return all; };
// A frame that scrolls shows a part of its contents; one that only clips must hold them.
const scrolls = (one, axis) => ['auto', 'scroll'].includes(getComputedStyle(one)['overflow' + axis]);
const clips = (one) => getComputedStyle(one).overflowX !== 'visible' && !(one instanceof SVGElement);
const floats = (one) => ['fixed', 'sticky'].includes(getComputedStyle(one).position);
const hidden = (one) => one.closest('.hidden, .skip, [hidden]') !== null || !one.checkVisibility({checkVisibilityCSS: true, checkOpacity: true});

const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
  const parent = node.parentElement;
  if (!node.data.trim() || parent.closest('script, style, noscript, option, title') || hidden(parent)) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const around = frames(parent);
  const layer = around.find(floats) ?? null;
  for (const box of range.getClientRects()) {
    if (box.width < 1 || box.height < 1) continue;
    let {left, right, top, bottom} = box;
    let cut = '';
    for (const frame of around.filter(clips)) {
      const inside = frame.getBoundingClientRect();
      if (!scrolls(frame, 'X') && (left < inside.left - 2 || right > inside.right + 2)) cut = 'sideways';
      if (!scrolls(frame, 'Y') && (top < inside.top - 3 || bottom > inside.bottom + 3)) cut = 'at the top or bottom';
      [left, right] = [Math.max(left, inside.left), Math.min(right, inside.right)];
      [top, bottom] = [Math.max(top, inside.top), Math.min(bottom, inside.bottom)];
      if (scrolls(frame, 'X')) break;
    }
    if (cut) faults.push(`"${node.data.trim()}" is cut ${cut}`);
    if (right - left < 1 || bottom - top < 1) continue;
    if (left < -1 || right > innerWidth + 1) faults.push(`"${node.data.trim()}" leaves the window`);
    texts.push({node, layer, left, right, top: top + scrollY, bottom: bottom + scrollY});
  }
  for (const number of node.data.matchAll(/\d[\d.,]*\d/g)) {
    range.setStart(node, number.index);
    range.setEnd(node, number.index + number[0].length);
    const lines = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
    if (lines.size > 1 && !(parent instanceof SVGElement)) faults.push(`the number ${number[0]} breaks`);
  }
}

// Text scrolls under a fixed bar on purpose; two texts of one layer must not touch.
texts.sort((a, b) => a.top - b.top);
texts.forEach((one, index) => {
  for (let i = index + 1; i < texts.length && texts[i].top < one.bottom; ++i) {
    const other = texts[i];
    if (other.node === one.node || other.layer !== one.layer) continue;
    const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const height = one.bottom - other.top;
    // Line boxes are higher than their letters.
    const least = 0.35 * Math.min(one.bottom - one.top, other.bottom - other.top);
    if (width > 1 && Math.min(height, other.bottom - other.top) > least) {
      faults.push(`"${one.node.data.trim()}" and "${other.node.data.trim()}" overprint each other`);
    }
  }
});
return [...new Set(faults)];
"""


def faults(shown):
    """The faults of the page as it is shown now, a sentence each."""
    return shown.execute_script(_FAULTS)


def picture(shown, path=None):
    """(width, height) of a picture of the whole page; written to `path` if there is one."""
    size = shown.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
    clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
    data = base64.b64decode(shown.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})["data"])
    if path:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return struct.unpack(">II", data[16:24])
