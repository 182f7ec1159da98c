// SPDX-License-Identifier: Apache-2.0
// Where the cycles went: each engine's by cause, and the array's layer by layer.

/// Rows of stacked causes: `rows` are {name, causes: [[cause, cycles]]}, each drawn to the same length.
function causeChart(label, rows, compact = false) {
  const parts = rows.flatMap((row, place) => {
    const all = total(row.causes.map(([, cycles]) => cycles)) || 1;
    let at = 0;
    return [...row.causes].sort((a, b) => causeOrder(a[0]) - causeOrder(b[0])).filter(([, cycles]) => cycles > 0)
        .map(([cause, cycles]) => ({place, row, cause, cycles, share: cycles / all, from: at, to: (at += cycles / all)}));
  });
  const draw = (width) => {
    const names = rows.map((row) => row.name);
    const room = width - nameAxis(names, width).margin - 24;
    const wide = parts.filter((p) => p.share * room > 7.2 * words(p.cause).length + 10);
    return bars({width, names, x: {domain: [0, 1], percent: false, tickFormat: (v) => `${Math.round(100 * v)} %`, label: null}, marks: [
      Plot.barX(parts, {y: "place", x1: "from", x2: "to", fill: (p) => causeColor(p.cause), insetLeft: 0.5, insetRight: 0.5}),
      rows.length > 40 || compact ? null
          : Plot.text(wide, {y: "place", x: (p) => (p.from + p.to) / 2, text: (p) => words(p.cause), fill: (p) => causeText(p.cause), fontWeight: 600}),
      Plot.tip(parts, Plot.pointerY({y: "place", x: (p) => (p.from + p.to) / 2,
               title: (p) => `${printable(p.row.name)}: ${words(p.cause)}\n${whole(p.cycles)} cycles, ${percent(p.share)}`, maxRadius: 400})),
    ]});
  };
  return chart(label, draw, causeLegend(parts.map((p) => p.cause)));
}

function engineRows(counters) {
  const engines = new Map();
  for (const {engine, cause, counted} of counters.filter(isClocks)) {
    if (!engines.has(engine)) engines.set(engine, {name: engine, causes: []});
    engines.get(engine).causes.push([cause, counted]);
  }
  return [...engines.values()];
}

/// All layers, or one of them.
function layerChoice(layers, changed) {
  return choice("Layer:", [["all", "all layers"], ...layers.map((layer, i) => [i, short(layer.name, 60)])],
                (value) => changed(value === "all" ? layers : [layers[Number(value)]]));
}

function cycles(report, layers) {
  const counted = layers.filter((layer) => layer.timed && layer.counters);
  if (counted.length === 0) return null;
  const place = element("div");
  const show = (chosen) => {
    const counters = countersOf(chosen);
    const name = chosen.length === 1 ? printable(chosen[0].name) : "all layers";
    place.replaceChildren(
        causeChart(`Cycles of each engine by cause, ${name}`, engineRows(counters)),
        folded("cycles by engine and cause", table({caption: `cycles by engine and cause, ${name}`, rows: counters.filter(isClocks),
               columns: [column("engine", (c) => c.engine), column("cause", (c) => words(c.cause)), numeric("cycles", (c) => c.counted),
                         numeric("share", (c) => c.counted / total(chosen.map((l) => l.cycles)), percent)]})));
  };
  const parts = [paragraph("Every engine spends every cycle on exactly one cause. Blue is work; grey is idle, when there is " +
                           "nothing to do; the other colours are waits."),
                 layerChoice(counted, show), place];
  show(counted);
  if (counted.length > 1) {
    const rows = counted.map((layer) => ({name: layer.name, causes: entries(layer.counters.compute)}));
    parts.push(element("h3", {}, "The array, layer by layer"), causeChart("Cycles of the array by cause, a bar a layer", rows, true));
    const causes = [...new Set(rows.flatMap((row) => row.causes.map(([cause]) => cause)))];
    parts.push(folded("the array’s cycles by layer", table({caption: "the array’s cycles by layer and cause", rows: counted, columns: [
      column("layer", (l) => l.name),
      ...causes.map((cause) => numeric(words(cause), (l) => l.counters.compute[cause]))]})));
  }
  return section("clocks", "Where the cycles went", ...parts);
}
