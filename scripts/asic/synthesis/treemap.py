# SPDX-License-Identifier: Apache-2.0
"""A squarified treemap (Bruls, Huizing and van Wijk, 2000) as SVG."""

from xml.sax.saxutils import escape

WIDTH, HEIGHT, TITLE = 960, 600, 28
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f")


def _worst(row, side):
    total = sum(row)
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def squarify(values, x, y, width, height):
    """Rectangles (x, y, width, height) for values in descending order, each as large as its share of the whole."""
    rectangles = []
    scale = width * height / sum(values)
    rest = [value * scale for value in values]
    while rest:
        side = min(width, height)
        row = [rest[0]]
        while len(row) < len(rest) and _worst(row + [rest[len(row)]], side) <= _worst(row, side):
            row.append(rest[len(row)])
        rest = rest[len(row):]
        depth = sum(row) / side
        along = 0.0
        for area in row:
            length = area / depth
            rectangles.append((x, y + along, depth, length) if width >= height else (x + along, y, length, depth))
            along += length
        if width >= height:
            x, width = x + depth, width - depth
        else:
            y, height = y + depth, height - depth
    return rectangles


def svg(title, parts):
    """SVG text of a treemap: parts are (name, note, value) with values above 0."""
    parts = sorted(parts, key=lambda part: -part[2])
    total = sum(value for _, _, value in parts)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + TITLE}" '
           'font-family="sans-serif" font-size="13">',
           f'<text x="4" y="19" font-size="16">{escape(title)}</text>']
    boxes = squarify([value for _, _, value in parts], 0, TITLE, WIDTH, HEIGHT)
    for index, ((name, note, value), (x, y, width, height)) in enumerate(zip(parts, boxes)):
        text = f"{name}: {note}, {100 * value / total:.1f} %"
        out.append(f'<g><title>{escape(text)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                   f'height="{height:.1f}" fill="{COLOURS[index % len(COLOURS)]}" stroke="white"/>')
        if width > 8 * len(name) and height > 20:
            out.append(f'<text x="{x + 5:.1f}" y="{y + 16:.1f}">{escape(name)}</text>')
            if width > 8 * len(note) and height > 38:
                out.append(f'<text x="{x + 5:.1f}" y="{y + 33:.1f}">{escape(note)}</text>')
        out.append("</g>")
    return "\n".join(out) + "\n</svg>\n"
