#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws windows of a timeline (`gemm64 run --timeline`, `gemm64 firmware --timeline`) as an SVG, one below the
other on an axis of its own: what Perfetto shows, for a page."""

import argparse
import colorsys
import json
import sys
import zlib
from xml.sax.saxutils import escape

WIDTH, LEFT, ROW, GAP, PANEL_GAP, HEAD = 1200, 150, 15, 4, 22, 30
LETTER = 5.6  # of the small font, on average
INK, FAINT, PAPER = "#24292f", "#6e7781", "#ffffff"
FIXED = {"idle": "#eaeef2", "drain": "#d0d7de", "interrupt": "#cf222e", "works": "#2da44e"}
WAITING, TILES = "#f0a08c", ("#aad4b5", "#8fc7a0")
NARROW = 2.5  # of slices that are narrower one stands for all


class BadTimeline(Exception):
    pass


class Slice:
    """One slice of a track, and how many others it is in."""

    def __init__(self, event):
        self.begin = event["ts"]
        self.end = self.begin + event["dur"]
        self.name = event["name"]
        self.category = event["cat"]
        self.depth = 0


def read_tracks(path):
    """Tracks by name, in their order, each a list of slices in the order of their begins."""
    try:
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        names = {e["tid"]: e["args"]["name"] for e in events
                 if e["ph"] == "M" and e["name"] == "thread_name"}
        tracks = {names[tid]: [] for tid in sorted(names)}
        for event in events:
            if event["ph"] == "X":
                tracks[names[event["tid"]]].append(Slice(event))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadTimeline(f"{path}: no timeline of gemm64: {error!r}") from error
    for slices in tracks.values():
        open_ends = []
        for item in slices:
            while open_ends and open_ends[-1] <= item.begin:
                open_ends.pop()
            item.depth = len(open_ends)
            open_ends.append(item.end)
    return tracks


def colour(item):
    """Work in colours by name, waiting in red, idling in grey."""
    if item.name in FIXED:
        return FIXED[item.name]
    if item.category == "wait":
        return WAITING
    if item.category == "tile":
        return TILES[item.begin % 2]
    word = item.name.split()[0]
    hue = (zlib.crc32(word.encode()) % 300 + 40) / 360
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, 0.75, 0.5))


def step_of(span):
    """A round number of cycles, of which some six to twelve fit."""
    step = 1
    while span / step > 12:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return step


def draw_slices(slices, top, begin, end):
    """The slices of a track in the window, and how many rows they take."""
    scale = (WIDTH - LEFT) / (end - begin)
    lines, filled, rows = [], {}, 1
    for item in slices:
        if item.end <= begin or item.begin >= end:
            continue
        x = LEFT + (max(item.begin, begin) - begin) * scale
        right = LEFT + (min(item.end, end) - begin) * scale
        if right - x < NARROW:
            if x < filled.get(item.depth, 0):
                continue
            right = x + NARROW
        filled[item.depth] = right
        rows = max(rows, item.depth + 1)
        y = top + item.depth * ROW
        lines.append(f'<rect x="{x:.1f}" y="{y}" width="{right - x:.1f}" height="{ROW - 1}" '
                     f'fill="{colour(item)}"/>')
        letters = int((right - x - 4) / LETTER)
        if letters >= 3:
            name = item.name if len(item.name) <= letters else item.name[:letters - 1] + "…"
            lines.append(f'<text x="{x + 2:.1f}" y="{y + ROW - 4}" font-size="10">{escape(name)}'
                         '</text>')
    return lines, rows


def draw_window(tracks, top, begin, end, caption):
    """A window's lines, and where it ends."""
    lines = [f'<text x="0" y="{top + 12}" font-size="13" font-weight="bold">{escape(caption)}'
             '</text>']
    y = top + HEAD
    body = []
    for name, slices in tracks.items():
        drawn, rows = draw_slices(slices, y, begin, end)
        if not drawn:
            continue
        body.append(f'<text x="0" y="{y + ROW - 4}" font-size="11">{escape(name)}</text>')
        body += drawn
        y += rows * ROW + GAP
    step = step_of(end - begin)
    for clock in range((begin + step - 1) // step * step, end, step):
        x = LEFT + (clock - begin) * (WIDTH - LEFT) / (end - begin)
        lines.append(f'<line x1="{x:.1f}" y1="{top + HEAD - 4}" x2="{x:.1f}" y2="{y}" '
                     f'stroke="{FAINT}" stroke-width="0.3"/>')
        lines.append(f'<text x="{x:.1f}" y="{top + HEAD - 6}" font-size="9" fill="{FAINT}" '
                     f'text-anchor="middle">{clock:,}</text>')
    return lines + body, y


def picture(tracks, windows):
    lines, y = [], 8
    for begin, end, caption in windows:
        drawn, y = draw_window(tracks, y, begin, end, caption)
        lines += drawn
        y += PANEL_GAP
    height = y - PANEL_GAP + 6
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-8 0 {WIDTH + 16} {height}" '
         f'width="{WIDTH + 16}" height="{height}" font-family="Helvetica, Arial, sans-serif" '
         f'fill="{INK}">',
         f'<rect x="-8" width="{WIDTH + 16}" height="{height}" fill="{PAPER}"/>', *lines,
         "</svg>"]) + "\n"


def window(text):
    """BEGIN:END:CAPTION, in cycles; without END to the last one."""
    begin, end, caption = (text.split(":", 2) + ["", ""])[:3]
    try:
        begin, end = int(begin or 0), int(end) if end else None
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}': give BEGIN:END or BEGIN:END:CAPTION, in cycles")
    if begin < 0 or (end is not None and end <= begin):
        raise argparse.ArgumentTypeError(f"'{text}': the window ends before it begins")
    return begin, end, caption


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("timeline", help="the JSON file")
    parser.add_argument("-o", "--output", required=True, help="the SVG file")
    parser.add_argument("--window", action="append", type=window, metavar="BEGIN:END:CAPTION",
                        help="cycles to draw; several stand below each other (default: all)")
    parser.add_argument("--leave-out", action="append", default=[], metavar="NAME",
                        help="tracks whose names begin like this")
    options = parser.parse_args()
    try:
        tracks = read_tracks(options.timeline)
    except BadTimeline as error:
        sys.exit(f"timeline-picture: {error}")
    tracks = {name: slices for name, slices in tracks.items()
              if not name.startswith(tuple(options.leave_out))}
    last = max((item.end for slices in tracks.values() for item in slices), default=1)
    windows = [(begin, last if end is None else end, caption)
               for begin, end, caption in options.window or [(0, None, "")]]
    try:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(picture(tracks, windows))
    except OSError as error:
        sys.exit(f"timeline-picture: {options.output}: {error.strerror}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
