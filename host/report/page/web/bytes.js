// SPDX-License-Identifier: Apache-2.0
// Utilization and bytes by layer.

const kByteKinds = ["weights", "activations", "results", "commands", "parameters"];
const kByteColors = {weights: "weights", activations: "activations", results: "results", commands: "engine", parameters: "parameters",
                     read: "activations", written: "results"};
const byteColor = (kind) => `var(--c-${kByteColors[kind] ?? "other"})`;

function byteKinds(layers) {
  const kinds = new Set(layers.flatMap((layer) => Object.keys(layer.bytes)));
  return [...kByteKinds.filter((kind) => kinds.has(kind)), ...[...kinds].filter((kind) => !kByteKinds.includes(kind))];
}

function byteChart(label, rows, kinds) {
  const parts = rows.flatMap((row, place) => {
    let at = 0;
    return kinds.map((kind) => ({place, row, kind, from: at, to: (at += row.bytes[kind] ?? 0)})).filter((p) => p.to > p.from);
  });
  const most = Math.max(1, ...parts.map((p) => p.to));
  return chart(label, (width) => bars({width, names: rows.map((row) => row.name), space: 12, x: {domain: [0, most], tickFormat: bytes, label: null, tickValues: (count) => byteTicks(most, count)}, marks: [
    Plot.barX(parts, {y: "place", x1: "from", x2: "to", fill: (p) => byteColor(p.kind)}),
    Plot.tip(parts, Plot.pointerY({y: "place", x: (p) => (p.from + p.to) / 2,
             title: (p) => `${printable(p.row.name)}: ${words(p.kind)}\n${whole(p.to - p.from)} bytes`, maxRadius: 400})),
  ]}), legend(kinds.map((kind) => ({name: words(kind), color: byteColor(kind)}))));
}

/// Round numbers of KiB or MiB.
function byteTicks(most, count = 4) {
  const unit = 1024 ** Math.floor(Math.log(Math.max(1, most)) / Math.log(1024));
  return d3.ticks(0, most / unit, count).map((tick) => tick * unit);
}

/// Utilization of `rows` ({name, utilization, roofline}), and the part of its roofline that each reaches.
function utilizationChart(rows) {
  return element("div", {}, chart(`Utilization of the array, from ${percent(Math.min(...rows.map((l) => l.utilization)))} to ` +
                                      `${percent(Math.max(...rows.map((l) => l.utilization)))}`,
                     (width) => bars({width, names: rows.map((row) => row.name), x: {domain: [0, 1], tickFormat: (v) => `${Math.round(100 * v)} %`, label: null}, marks: [
    Plot.barX(rows, {y: (_, i) => i, x: "utilization", fill: "var(--c-work)"}),
    Plot.tickX(rows, {y: (_, i) => i, x: "roofline", stroke: "var(--text)", strokeWidth: 2.5}),
    Plot.tip(rows, Plot.pointerY({y: (_, i) => i, x: "utilization", maxRadius: 400,
             title: (l) => `${printable(l.name)}\n${percent(l.utilization)} of all MACs\n${percent(l.roofline)} of its roofline`})),
  ]}), legend([{name: "utilization: useful MACs of all", color: "var(--c-work)"}]),
     element("p", {class: "soft"}, "The dark line: the part of its roofline that is reached.")));
}

function bytesAndUtilization(report, layers) {
  const timed = layers.filter((layer) => layer.timed);
  if (timed.length === 0) return null;
  const kinds = byteKinds(timed);
  return section("bytes", "Utilization and bytes",
                 element("div", {class: "pair"}, element("div", {}, element("h3", {}, "Utilization"), utilizationChart(timed)),
                         element("div", {}, element("h3", {}, "Bytes moved"),
                                 byteChart("Bytes moved by layer and kind", timed, kinds))),
                 folded("utilization and bytes by layer", table({caption: "utilization and bytes by layer", rows: timed, columns: [
                   column("layer", (l) => l.name), numeric("utilization", (l) => l.utilization, percent),
                   numeric("of its roofline", (l) => l.roofline, percent),
                   ...kinds.map((kind) => numeric(words(kind), (l) => l.bytes[kind])),
                   numeric("all bytes", (l) => total(Object.values(l.bytes)))]})));
}
