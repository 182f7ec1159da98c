// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: clocks, causes and bytes, layer by layer.

const kSides = ["A", "B"];
const kSideColors = ["var(--c-work)", "var(--c-memory)"];

function deltaTile(name, [a, b], text) {
  const change = isNumber(a) && isNumber(b) && a !== 0 ? `, ${signed(((b / a - 1) * 100).toFixed(2), b - a)} %` : "";
  return [name, `${text(a)} → ${text(b)}`, isNumber(a) && isNumber(b) ? (a === b ? "the same" : signed(text(b - a), b - a) + change) : null];
}

/// More is worse: of clocks and bytes.
const worse = (v) => (v > 0 ? "more" : v < 0 ? "less" : "");

function deltas(label, value, text = whole, kind = worse) {
  const both = (p) => (isNumber(value(p.a)) && isNumber(value(p.b)) ? value(p.b) - value(p.a) : null);
  return [numeric(`${label} A`, (p) => value(p.a), text), numeric(`${label} B`, (p) => value(p.b), text),
          numeric("B − A", both, (v) => (v === null ? kNone : signed(text(v), v)), {kind}),
          numeric("%", (p) => (both(p) === null || !value(p.a) ? null : 100 * both(p) / value(p.a)),
                  (v) => (v === null ? kNone : signed(v.toFixed(2), v)), {kind})];
}

/// Bars of both runs beside each other. `layers`: pairs.
function pairBars(label, pairs, value, text) {
  const points = pairs.flatMap((pair, place) => [pair.a, pair.b].map((layer, side) => ({pair, place, side: kSides[side], value: layer ? value(layer) : null}))
                                                 .filter((p) => isNumber(p.value)));
  return chart(label, (width) => {
    const names = pairs.map((pair) => pair.name);
    const axis = nameAxis(names, width);
    return Plot.plot({
      width, marginLeft: axis.margin, marginTop: 10, marginRight: 30, height: 60 + 38 * names.length,
      x: {axis: "bottom", grid: true, label: null, tickFormat: text,
          ticks: text === bytes ? byteTicks(Math.max(...points.map((p) => p.value))) : Math.max(2, Math.round(width / 200))},
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
    place.replaceChildren(causeChart("Clocks of each engine by cause, in A and in B", engines),
                          table({caption: "every counter", rows, columns: [column("counter", (r) => r.key), ...deltas("", (v) => v, whole, () => "")
                              .map((col, i) => ({...col, label: col.label.trim()}))]}));
  };
  show(both);
  return section("clocks", "Where the clocks went", paragraph("Over the layers that both runs have."), layerChoice(both, show), place);
}

function compare() {
  const reports = data.reports.map((one) => one.report);
  const layers = reports.map(layersOf);
  const pairs = data.pairs.map(([a, b]) => ({name: (layers[0][a] ?? layers[1][b]).name, a: layers[0][a] ?? null, b: layers[1][b] ?? null}))
                    .filter((pair) => pair.a?.timed || pair.b?.timed);
  const sum = (side, value) => total(pairs.map((pair) => (pair[side] ? value(pair[side]) : 0)));
  const both = (value) => ["a", "b"].map((side) => sum(side, value));
  const moved = (layer) => total(Object.values(layer.bytes));
  const kinds = byteKinds(pairs.flatMap((pair) => [pair.a, pair.b].filter(Boolean)));
  const of = (value) => (layer) => (layer === null || layer === undefined ? null : typeof layer === "object" ? value(layer) : layer);
  const settings = reports.map((report) => settingsOf(report).filter(Boolean).map(printable).join(" · "));
  const totals = {name: "total", a: {clocks: sum("a", (l) => l.clocks), bytes: Object.fromEntries(kinds.map((k) => [k, sum("a", (l) => l.bytes[k] ?? 0)]))},
                  b: {clocks: sum("b", (l) => l.clocks), bytes: Object.fromEntries(kinds.map((k) => [k, sum("b", (l) => l.bytes[k] ?? 0)]))}};
  const alone = pairs.filter((pair) => !pair.a || !pair.b);
  const head = element("header", {class: "top"}, element("h1", {}, "Two runs side by side"),
      ...reports.map((report, i) => element("div", {}, element("p", {}, element("strong", {}, `${kSides[i]}: ${printable(data.reports[i].file)}`), `, ${titleOf(report)}`,
                                            element("br"), element("span", {class: "soft"}, settings[i])), verdict(report))),
      tiles([deltaTile("clocks", both((l) => l.clocks ?? 0), whole), deltaTile("bytes moved", both(moved), bytes),
             ["utilization", reports.map((r) => percent(r.total?.utilization ?? r.array?.utilization)).join(" → "), "of all MACs of the array"],
             deltaTile("layers with clocks", ["a", "b"].map((side) => pairs.filter((pair) => pair[side]).length), whole)]));
  const sections = [
    section("layers", "Clocks by layer", ...(alone.length === 0 ? [] : [paragraph(`Only one run has: ${alone.map((pair) => `${printable(pair.name)} (${pair.a ? "A" : "B"})`).join(", ")}.`)]),
            pairBars("Clocks by layer, A above B", pairs, (l) => l.clocks, whole),
            table({caption: "clocks by layer", rows: pairs, sum: pairs.length > 1 ? totals : null, columns: [
              column("layer", (p) => p.name), column("size", (p) => (p.a ?? p.b).size ?? null), ...deltas("clocks", of((l) => l.clocks))]})),
    compareCauses(pairs),
    section("bytes", "Bytes by layer", pairBars("Bytes by layer, A above B", pairs, moved, bytes),
            table({caption: "bytes by layer", rows: pairs, sum: pairs.length > 1 ? totals : null, columns: [
              column("layer", (p) => p.name), ...deltas("bytes", of(moved)),
              ...kinds.map((kind) => numeric(`${words(kind)}, B − A`, (p) => (p.a && p.b ? (p.b.bytes[kind] ?? 0) - (p.a.bytes[kind] ?? 0) : null),
                                             (v) => (v === null ? kNone : signed(whole(v), v)), {kind: worse}))]})),
  ];
  return [head, sections];
}
