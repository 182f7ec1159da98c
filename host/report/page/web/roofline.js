// SPDX-License-Identifier: Apache-2.0
// The roofline: how many MACs per cycle each layer reaches, under what its bytes and the array allow.

const kBounds = ["MACs", "weights", "activations", "results", "memory", "sums"];

function roofline(report, layers) {
  const points = layers.filter((layer) => layer.timed && layer.macs > 0).map((layer) => roofPoint(layer, report));
  if (points.length === 0) return null;
  const peak = peakOf(report);
  const width = portWidth(report);
  const unit = roofUnit(report);
  const low = Math.min(peak / width / 2, ...points.map((p) => p.x / 1.5));
  const high = Math.max((peak / width) * 2, ...points.map((p) => p.x * 1.5));
  const roof = [...new Set([low, peak / width, high])].sort((a, b) => a - b).map((x) => ({x, y: Math.min(peak, x * width)}));
  const bottom = Math.min(...roof.map((r) => r.y), ...points.map((p) => p.y / 1.4));
  const kinds = kBounds.filter((bound) => points.some((p) => p.bound === bound));
  const label = `Roofline: ${points.length} layers, MACs per cycle over MACs per ${unit} of the busiest port. ` +
      `The array’s peak is ${whole(peak)} MACs per cycle.`;
  const describe = (p) => `${printable(p.layer.name)}\n${figures(p.y, 4)} MACs per cycle\n${figures(p.x, 4)} MACs a ${unit}\n` +
      `bound by ${p.bound}, ${percent(p.layer.roofline)} of its roof`;
  const draw = (wide) => {
    const x = d3.scaleLog([low, high], [62, wide - 20]);
    const y = d3.scaleLog([bottom, peak * 1.3], [370, 24]);
    return Plot.plot({
      width: wide, height: 410, marginLeft: 62, marginRight: 20, marginTop: 24, marginBottom: 40,
      x: {type: "log", domain: [low, high], label: `MACs per ${unit} of the busiest port`, grid: true,
          ticks: fittingTicks(x, (v) => figures(v, 3), (count) => logTicks([low, high], count)), tickFormat: (v) => figures(v, 3)},
      y: {type: "log", domain: [bottom, peak * 1.3], label: "MACs per cycle", grid: true, ticks: 5, tickFormat: (v) => figures(v, 3)},
      color: {domain: kinds, range: kinds.map((kind) => kKindColors[kBounds.indexOf(kind)])},
      symbol: {domain: kinds, range: kinds.map((kind) => symbolOf(kBoundSymbols[kBounds.indexOf(kind)]))},
      marks: [
        Plot.line(roof, {x: "x", y: "y", stroke: "var(--text)", strokeWidth: 1.8}),
        Plot.text([roof.at(-1)], {x: "x", y: "y", text: () => `${whole(peak)} MACs per cycle`, dy: -8, textAnchor: "end", fill: "var(--text)"}),
        Plot.dot(points, {x: "x", y: "y", fill: "bound", symbol: "bound", r: 5.5, stroke: "var(--surface)", strokeWidth: 0.8}),
        ...[true, false].map((left) => Plot.text(labelled(points, x, y, wide).filter((p) => isLeft(p, x, wide) === left), {
                  x: "x", y: "y", text: (p) => short(p.layer.name, 22), textAnchor: left ? "end" : "start", dy: 16, fill: "var(--text)",
                  stroke: "var(--surface)", strokeWidth: 4, paintOrder: "stroke"})),
        Plot.tip(points, Plot.pointer({x: "x", y: "y", title: describe})),
      ],
    });
  };
  return section("roofline", "Roofline",
                 paragraph(`A layer can reach no more MACs per cycle than the array has, nor more than its ${unit}s allow. Its mark ` +
                           "shows which of the two is lower for it; the distance to the line is what waits cost."),
                 chart(label, draw, legend(kinds.map((kind) => ({
                   name: kind === "MACs" ? "bound by the array’s MACs" : `bound by ${unit}s: ${kind}`,
                   color: kKindColors[kBounds.indexOf(kind)], symbol: kBoundSymbols[kBounds.indexOf(kind)]})))),
                 folded("roofline", table({caption: "roofline, a point a layer", rows: points, columns: [
                   column("layer", (p) => p.layer.name), numeric(`MACs a ${unit}`, (p) => p.x, (v) => figures(v, 4)),
                   numeric("MACs per cycle", (p) => p.y, (v) => figures(v, 4)),
                   numeric("of its roof", (p) => p.layer.roofline, percent), column("bound by", (p) => p.bound)]})));
}

const nameWidth = (p) => textWidth(short(p.layer.name, 22));
/// A name is left of its point if the chart ends too soon on the right.
const isLeft = (p, x, wide) => x(p.x) + nameWidth(p) > wide - 20;

/// The layers with the most cycles whose names fit: inside the chart, and apart from each other.
function labelled(points, x, y, wide) {
  const taken = [];
  return [...points].sort((a, b) => b.layer.cycles - a.layer.cycles).slice(0, 24).filter((p) => {
    const space = nameWidth(p);
    const right = isLeft(p, x, wide) ? x(p.x) : x(p.x) + space;
    const box = {left: right - space, right, top: y(p.y) + 8, bottom: y(p.y) + 24};
    if (taken.length === 8 || box.left < 62 || box.top < 20 || box.bottom > 370 || taken.some((o) => o.left < box.right && box.left < o.right && o.top < box.bottom && box.top < o.bottom)) return false;
    taken.push(box);
    return true;
  });
}
