// SPDX-License-Identifier: Apache-2.0
// Predicted against counted, counter by counter, and the published formulas.

const kFormulas = {
  predicted: "predicted by gemm64", double_buffered_ws: "double-buffered WS", single_buffered_ws: "single-buffered WS",
  scale_sim_ws: "SCALE-Sim WS", scale_sim_os: "SCALE-Sim OS",
};

function formulaPoints(layers, analysed) {
  return layers.flatMap((layer, place) => {
    const all = {...(analysed ? {} : {predicted: layer.predicted}), ...layer.published};
    return entries(all).filter(([, cycles]) => isNumber(cycles) && cycles > 0)
        .map(([formula, cycles]) => ({place, layer, formula, cycles, ratio: cycles / layer.cycles}));
  });
}

/// Round ratios, 1 among them: a logarithmic axis has none between 1 and 2.
function ratioTicks([low, high], count) {
  const below = low < 0.85 ? [0.5, 0.2, 0.1].filter((ratio) => ratio >= low) : [];
  const above = d3.ticks(1, high, count).filter((ratio) => ratio > 1 && ratio <= high);
  return [...below.reverse(), 1, ...above];
}

function predicted(report, layers) {
  const timed = layers.filter((layer) => layer.timed);
  const points = formulaPoints(timed, isAnalysis(report));
  if (points.length === 0) return null;
  const of = isAnalysis(report) ? "predicted" : "counted";
  const names = Object.keys(kFormulas).filter((formula) => points.some((p) => p.formula === formula));
  const look = (formula) => ({color: kKindColors[names.indexOf(formula)], symbol: kFormulaSymbols[names.indexOf(formula)]});
  const span = d3.extent([0.9, 1.1, ...points.map((p) => p.ratio)]);
  const drawn = chart(`Cycles by published formulas${of === "counted" ? " and as predicted" : ""}, as multiples of the ${of} cycles, by layer`,
                      (width) => bars({width, names: timed.map((l) => l.name),
    x: {type: "log", domain: [span[0] / 1.05, span[1] * 1.08], label: `÷ ${of} cycles`, tickFormat: (v) => `${figures(v, 3)}×`,
        tickValues: (count) => ratioTicks(span, count)},
    symbol: {domain: names, range: names.map((name) => symbolOf(look(name).symbol))},
    marks: [
      Plot.ruleX([1], {stroke: "var(--grid)", strokeDasharray: "4 3"}),
      // What equals another mark is drawn first, so that both are seen.
      Plot.dot(points, {y: "place", x: "ratio", fill: (p) => look(p.formula).color, symbol: "formula",
               r: (p) => (p.formula === "predicted" ? 7 : 4.5), stroke: "var(--surface)", strokeWidth: 0.8, sort: {channel: "-r"}}),
      Plot.tip(points, Plot.pointer({y: "place", x: "ratio",
               title: (p) => `${printable(p.layer.name)}\n${kFormulas[p.formula] ?? words(p.formula)}\n${whole(p.cycles)} cycles, ${figures(p.ratio, 5)}× the ${of}`})),
    ], r: {type: "identity"}}), legend(names.map((name) => ({name: kFormulas[name], ...look(name)}))));
  const parts = [drawn, folded("cycles by formula", table({caption: `cycles, ${of} and by formula`, rows: timed, columns: [
    column("layer", (l) => l.name), numeric(of, (l) => l.cycles),
    ...names.map((name) => numeric(kFormulas[name], (l) => (name === "predicted" ? l.predicted : l.published[name])))]}))];
  const counted = timed.filter((layer) => layer.counters && layer.predictedCounters);
  if (counted.length !== 0) parts.unshift(...countersTable(counted));
  return section("predicted", isAnalysis(report) ? "Predicted cycles and published formulas" : "Predicted against counted", ...parts);
}

/// A statement about all counters, and the table of one layer's.
function countersTable(layers) {
  const differ = layers.flatMap((layer) => countersOf([layer]).filter((c) => c.counted !== c.predicted)).length;
  const all = total(layers.map((layer) => countersOf([layer]).length));
  const place = element("div");
  const show = (chosen) => {
    const name = chosen.length === 1 ? printable(chosen[0].name) : "all layers";
    place.replaceChildren(table({caption: `predicted and counted, ${name}`, rows: countersOf(chosen), columns: [
      column("counter", (c) => `${c.engine}.${c.cause}`), numeric("predicted", (c) => c.predicted), numeric("counted", (c) => c.counted),
      numeric("difference", (c) => c.counted - c.predicted, (v) => signed(whole(v), v), {kind: (v) => (v === 0 ? "" : "more")})]}));
  };
  show(layers);
  return [
    element("p", {class: "verdict " + (differ === 0 ? "good" : "bad")},
            differ === 0 ? `✓ All ${whole(all)} counters of ${layers.length} ${layers.length === 1 ? "layer" : "layers"} are equal to their prediction.`
                         : `✗ ${whole(differ)} of ${whole(all)} counters differ from their prediction.`),
    element("details", {}, element("summary", {}, "Table: every counter"), layerChoice(layers, show), place)];
}
