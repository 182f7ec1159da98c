// SPDX-License-Identifier: Apache-2.0
// Two runs compared: cycles, causes and bytes, layer by layer.

const kSides = ["A", "B"];
const kSideColors = ["var(--c-work)", "var(--c-memory)"];

function deltaTile(name, [a, b], text) {
  const change = isNumber(a) && isNumber(b) && a !== 0 ? `, ${signed(((b / a - 1) * 100).toFixed(2), b - a)} %` : "";
  return [name, `${text(a)} → ${text(b)}`, isNumber(a) && isNumber(b) ? (a === b ? "the same" : signed(text(b - a), b - a) + change) : null];
}

/// More is worse: of cycles and bytes.
const worse = (v) => (v > 0 ? "more" : v < 0 ? "less" : "");

/// `value(row, side)`: of A (0) and of B (1).
function deltas(label, value, text = whole, kind = worse) {
  const both = (p) => (isNumber(value(p, 0)) && isNumber(value(p, 1)) ? value(p, 1) - value(p, 0) : null);
  return [numeric(`${label} A`, (p) => value(p, 0), text), numeric(`${label} B`, (p) => value(p, 1), text),
          numeric("B − A", both, (v) => (v === null ? kNone : signed(text(v), v)), {kind}),
          numeric("%", (p) => (both(p) === null || !value(p, 0) ? null : 100 * both(p) / value(p, 0)),
                  (v) => (v === null ? kNone : signed(v.toFixed(2), v)), {kind})];
}

/// Bars of both runs next to each other. `layers`: pairs.
function pairBars(label, pairs, value, text) {
  const points = pairs.flatMap((pair, place) => [pair.a, pair.b].map((layer, side) => ({pair, place, side: kSides[side], value: layer ? value(layer) : null}))
                                                 .filter((p) => isNumber(p.value)));
  return chart(label, (width) => {
    const names = pairs.map((pair) => pair.name);
    const axis = nameAxis(names, width);
    const most = Math.max(1, ...points.map((p) => p.value));
    const scale = d3.scaleLinear([0, most], [axis.margin, width - 30]);
    return Plot.plot({
      width, marginLeft: axis.margin, marginTop: 10, marginRight: 30, height: 60 + 38 * names.length,
      x: {axis: "bottom", grid: true, label: null, tickFormat: text, domain: [0, most],
          ticks: fittingTicks(scale, text, text === bytes ? (count) => byteTicks(most, count) : undefined)},
      fy: {domain: axis.domain, tickFormat: axis.format, label: null, axis: "left", padding: 0.2}, y: {domain: kSides, axis: null, padding: 0.08},
      marks: [Plot.barX(points, {fy: "place", y: "side", x: "value", fill: (p) => kSideColors[kSides.indexOf(p.side)]}),
              Plot.tip(points, Plot.pointerY({fy: "place", y: "side", x: "value", maxRadius: 400,
                       title: (p) => `${printable(p.pair.name)}, ${p.side}\n${text(p.value)}`}))],
    });
  }, legend(kSides.map((side, i) => ({name: side, color: kSideColors[i]}))));
}

function compareCauses(pairs) {
  const both = pairs.filter((pair) => pair.a?.counters && pair.b?.counters);
  if (both.length === 0) return null;
  const place = element("div");
  const show = (chosen) => {
    const sides = ["a", "b"].map((side) => countersOf(chosen.map((pair) => pair[side])));
    const [a, b] = sides.map((counters) => new Map(counters.map((c) => [`${c.engine}.${c.cause}`, c])));
    const rows = [...new Set([...a.keys(), ...b.keys()])].map((key) => ({key, engine: (a.get(key) ?? b.get(key)).engine,
                                                                        a: a.get(key)?.counted ?? null, b: b.get(key)?.counted ?? null}));
    const [ofA, ofB] = sides.map(engineRows);
    const engines = [...new Set([...ofA, ...ofB].map((row) => row.name))].flatMap((engine) =>
        [ofA, ofB].map((side, i) => ({name: `${engine}, ${kSides[i]}`, causes: side.find((row) => row.name === engine)?.causes ?? []})));
    place.replaceChildren(causeChart("Cycles of each engine by cause, in A and in B", engines),
                          table({caption: "every counter", rows, columns: [column("counter", (r) => r.key), ...deltas("", (row, side) => [row.a, row.b][side], whole, () => "")
                              .map((col, i) => ({...col, label: col.label.trim()}))]}));
  };
  show(both);
  return section("clocks", "Where the cycles went", paragraph("Over the layers that both runs have."), layerChoice(both, show), place);
}

function compare() {
  const {layers: common, both, only} = data.comparison;
  const reports = data.reports.map((one) => one.report);
  const layers = reports.map(layersOf);
  const pairs = common.map(({name, places: [a, b], clocks, bytes}) => ({name, a: layers[0][a], b: layers[1][b], clocks, bytes}));
  const kinds = byteKinds(pairs.flatMap((pair) => [pair.a, pair.b]));
  const kindsOf = (layer) => Object.fromEntries(kinds.map((kind) => [kind, layer.bytes[kind] ?? 0]));
  const sums = ["a", "b"].map((side) => ({bytes: Object.fromEntries(kinds.map((kind) => [kind, total(pairs.map((pair) => kindsOf(pair[side])[kind]))]))}));
  const totals = {name: "layers of both", clocks: both.clocks, bytes: both.bytes, a: sums[0], b: sums[1]};
  const settings = reports.map((report) => settingsOf(report).filter(Boolean).map(printable).join(" · "));
  const single = only.map((side, i) => (side.length === 0 ? null : paragraph(`Only in ${kSides[i]}: ` + side.map((layer) =>
      `${printable(layer.name)} (${whole(layer.clocks)} cycles${layer.there ? `; ${layer.there} in ${kSides[1 - i]}` : ""})`).join(", ") + ".")));
  const count = `of the ${whole(common.length)} ${common.length === 1 ? "layer" : "layers"} with cycles in both`;
  const head = element("header", {class: "top"}, element("h1", {}, "Two runs compared"),
      ...reports.map((report, i) => element("div", {}, element("p", {}, element("strong", {}, `${kSides[i]}: ${printable(data.reports[i].file)}`), `, ${titleOf(report)}`,
                                            element("br"), element("span", {class: "soft"}, settings[i])), verdict(report))),
      tiles([deltaTile("cycles", both.clocks, whole), deltaTile("bytes moved", both.bytes, bytes),
             ["utilization", both.utilization.map(percent).join(" → "), "of all MACs of the array"],
             ["layers with cycles", reports.map((_, i) => whole(common.length + only[i].length)).join(" → "), `${whole(common.length)} in both`]]),
      paragraph(`Cycles, bytes and utilization are those ${count}.`), ...single.filter(Boolean));
  if (common.length === 0) return [head, [section("layers", "Cycles by layer", paragraph("No layer has cycles in both."))]];
  const sum = pairs.length > 1 ? totals : null;
  const sections = [
    section("layers", "Cycles by layer",
            pairBars("Cycles by layer, A above B", pairs, (l) => l.clocks, whole),
            table({caption: "cycles by layer", rows: pairs, sum, columns: [
              column("layer", (p) => p.name), column("size", (p) => p.a.size ?? null), ...deltas("cycles", (p, side) => p.clocks[side])]})),
    compareCauses(pairs),
    section("bytes", "Bytes by layer", pairBars("Bytes by layer, A above B", pairs, (l) => total(Object.values(l.bytes)), bytes),
            table({caption: "bytes by layer", rows: pairs, sum, columns: [
              column("layer", (p) => p.name), ...deltas("bytes", (p, side) => p.bytes[side]),
              ...kinds.map((kind) => numeric(`${words(kind)}, B − A`, (p) => (p.b.bytes[kind] ?? 0) - (p.a.bytes[kind] ?? 0),
                                             (v) => signed(whole(v), v), {kind: worse}))]})),
  ];
  return [head, sections];
}
