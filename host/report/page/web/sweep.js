// SPDX-License-Identifier: Apache-2.0
// A sweep: designs as points of two objectives with their Pareto front, and cycles, utilization and bytes of each.

const kMostBars = 60;  // more designs are points only
const kPortKinds = ["weights", "activations", "results", "commands and parameters"];

/// Rows as objects, with the names and bytes that charts need.
function sweepRows({columns, rows, design}) {
  return rows.map((values) => {
    const row = Object.fromEntries(columns.map((name, i) => [name, values[i]]));
    const bytes = Object.fromEntries(kPortKinds.slice(0, 3).map((kind) => [kind, row["bytes." + kind] ?? 0]));
    return {...row, name: design.length ? design.map((key) => row[key]).join(" · ") : `point ${row.point}`,
            bytes: {...bytes, [kPortKinds[3]]: (row.bytes ?? 0) - total(Object.values(bytes))},
            bytesMoved: row.bytes, roofline: row.roofline_utilization};
  });
}

/// What a color of the points means: a key of few values that no axis shows, or null.
function colorKey(rows, {design, axes}) {
  return design.find((key) => !axes.includes(key) && new Set(rows.map((row) => row[key])).size <= 6) ?? null;
}

/// A scale of values, logarithmic if they are positive and far apart, and round numbers of it.
function spread(values, range) {
  const [low, high] = d3.extent(values);
  const log = low > 0 && high / low > 4;
  const edge = log ? Math.pow(high / low, 0.03) : (high - low || Math.abs(high) || 1) * 0.04;
  const domain = log ? [low / edge, high * edge] : [low - edge, high + edge];
  const ticks = (count) => (log ? logTicks(domain, count) : d3.ticks(...domain, count));
  return {type: log ? "log" : "linear", domain, scale: (log ? d3.scaleLog : d3.scaleLinear)(domain, range), ticks};
}

/// Ticks of the sizes that designs have, if these are few.
function sizeTicks(values, {scale, ticks}) {
  const sizes = d3.sort(new Set(values));
  const some = (count) => sizes.filter((_, i) => i % Math.ceil(sizes.length / count) === 0);
  return fittingTicks(scale, compact, sizes.length <= 8 ? some : ticks);
}

function scatter(points, of, name) {
  const [vertical, horizontal] = of.axes.map(words);
  const key = colorKey(points, of);
  const values = key ? d3.sort(new Set(points.map((p) => p[key])), compared) : [];
  const color = (p) => (p.verified === false ? "var(--bad)" : kKindColors[Math.max(0, values.indexOf(p[key]))]);
  const front = d3.sort(points.filter((p) => p.front), (p) => p.x, (p) => p.y);
  const describe = (p) => of.design.map((one) => `${words(one)} ${printable(p[one])}`).join("\n") +
      `\n${whole(p.cycles)} cycles` + (p.verified === false ? "\nnot verified" : "");
  const draw = (width) => {
    const x = spread(points.map((p) => p.x), [62, width - 24]);
    const y = spread(points.map((p) => p.y), [340, 30]);
    const [across, up] = [sizeTicks(points.map((p) => p.x), x), y.ticks(5)];
    const text = (v) => compact(v);  // of a logarithmic scale, tickFormat would leave some out
    return Plot.plot({
      width, height: 390, marginLeft: 62, marginRight: 24, marginTop: 30, marginBottom: 44,
      x: {type: x.type, domain: x.domain, label: horizontal}, y: {type: y.type, domain: y.domain, label: vertical},
      marks: [
        Plot.gridX(across), Plot.axisX(across, {text}), Plot.gridY(up), Plot.axisY(up, {text}),
        Plot.line(front, {x: "x", y: "y", curve: "step-after", stroke: "var(--text)", strokeWidth: 1.4}),
        Plot.dot(points.filter((p) => !p.front), {x: "x", y: "y", fill: color, r: 3.2, symbol: (p) => (p.verified === false ? "times" : "circle"),
                 stroke: (p) => (p.verified === false ? color(p) : "none")}),
        Plot.dot(front, {x: "x", y: "y", fill: color, symbol: "diamond", r: 6, stroke: "var(--text)", strokeWidth: 1}),
        Plot.tip(points, Plot.pointer({x: "x", y: "y", title: describe})),
      ],
      symbol: {type: "identity"},
    });
  };
  const colors = key ? values.map((value, i) => ({name: `${words(key)} ${printable(value)}`, color: kKindColors[i], symbol: "circle"})) : [];
  return chart(`${vertical} over ${horizontal} of ${points.length} designs, ${name}; ${front.length} are on the Pareto front`, draw, legend([
    ...colors, {name: "on the Pareto front", color: "var(--text)", symbol: "diamond"},
    ...(points.some((p) => p.verified === false) ? [{name: "not verified", color: "var(--bad)", symbol: "times"}] : [])]));
}

const rowColumns = ({design}, rows) => [
  numeric("point", (r) => r.point), column("network", (r) => r.network, (v) => short(v, 60)), numeric("batch", (r) => r.batch),
  ...design.map((key) => (typeof rows[0][key] === "number" ? numeric : column)(words(key), (r) => r[key])),
  numeric("cycles", (r) => r.cycles), numeric("predicted", (r) => r.predicted_cycles), numeric("utilization", (r) => r.utilization, percent),
  numeric("of its roofline", (r) => r.roofline, percent), column("main wait", (r) => r.main_wait, (v) => (v ? words(v) : kNone)),
  numeric("bytes", (r) => r.bytesMoved), numeric("MACs", (r) => r.macs), column("on the front", (r) => (r.front ? "yes" : null)),
  column("verified", (r) => r.verified, (v) => (v === null ? kNone : v ? "yes" : "no"), {kind: (v) => (v === false ? "more" : "")}),
  column("error", (r) => r.error, null, {long: true})];

/// Charts of the designs of one network and batch.
function groupCharts(rows, of) {
  const timed = rows.filter((row) => isNumber(row.cycles));
  const name = `${short(rows[0].network, 60)}, batch ${rows[0].batch}`;
  if (timed.length === 0) return [paragraph(rows.some((row) => row.error) ? "No design of this network could run." : "Nothing of this network is on the device.")];
  const parts = [];
  if (timed.some((row) => isNumber(row.y))) {
    const front = d3.sort(timed.filter((row) => row.front), (row) => row.y);
    parts.push(element("h3", {}, `${words(of.axes[0])} over ${words(of.axes[1])}`), scatter(timed, of, name),
               folded("the Pareto front", table({caption: `designs on the Pareto front, ${name}`, columns: rowColumns(of, timed), rows: front})));
  }
  if (timed.length > kMostBars) return parts;
  const most = Math.max(...timed.map((row) => row.cycles));
  const keys = of.design.length ? paragraph(`A bar is named by ${of.design.map(words).join(" · ")}.`) : null;
  const part = (title, ...charts) => element("div", {}, element("h3", {}, title), ...charts);
  const moved = kPortKinds.map((kind) => numeric(kind, (row) => row.bytes[kind], bytes));
  return [...parts, keys, part("Cycles", chart(`Cycles of ${timed.length} designs, ${name}`, (width) => bars({
    width, names: timed.map((row) => row.name), x: {domain: [0, most], tickFormat: compact, label: null}, marks: [
      Plot.barX(timed, {y: (_, i) => i, x: "cycles", fill: (r) => (r.verified === false ? "var(--bad)" : "var(--c-work)")}),
      Plot.tip(timed, Plot.pointerY({y: (_, i) => i, x: "cycles", maxRadius: 400, title: (r) => `${printable(r.name)}\n${whole(r.cycles)} cycles`}))]}))),
    element("div", {class: "pair"}, part("Utilization", utilizationChart(timed)),
            part("Bytes moved", byteChart(`Bytes moved by design and kind, ${name}`, timed, kPortKinds))),
    folded("cycles, utilization and bytes by design", table({caption: `cycles, utilization and bytes, ${name}`,
                                                              columns: [...rowColumns(of, timed).slice(0, -5), ...moved], rows: timed}))];
}

function designs(rows, of) {
  const groups = [...d3.group(rows, (row) => JSON.stringify([row.network, row.batch])).values()];
  const place = element("div");
  const show = (i) => place.replaceChildren(...groupCharts(groups[i], of).filter(Boolean));
  if (groups.length) show(0);
  return section("designs", "Designs", groups.length > 1 ? choice("Network:", groups.map(([{network, batch}], i) =>
                     [i, `${short(network, 60)}, batch ${batch}`]), (value) => show(Number(value))) : null, place);
}

const points = (rows, of) =>
    section("points", "Points", table({caption: `${whole(rows.length)} ${rows.length === 1 ? "point" : "points"}`, columns: rowColumns(of, rows), rows}));

function sweep() {
  const of = data.sweep;
  const rows = sweepRows(of);
  const fastest = d3.least(rows.filter((row) => isNumber(row.cycles)), (row) => row.cycles);
  const failed = rows.some((row) => row.verified === false);
  const ran = rows.some((row) => row.verified === true);
  const notes = of.verdict.split("\n").filter(Boolean);
  return [element("header", {class: "top"}, element("h1", {}, `Sweep ${printable(of.file).split("/").at(-1)}`),
                  ...notes.slice(0, -1).map((note) => paragraph(printable(note))),
                  element("p", {class: "verdict " + (failed ? "bad" : ran ? "good" : "")}, (failed ? "✗ " : ran ? "✓ " : "") + notes.at(-1)),
                  tiles([["points", whole(rows.length)], ["networks", whole(new Set(rows.map((row) => row.network)).size)],
                         fastest && ["fewest cycles", whole(fastest.cycles), `${short(fastest.network, 30)}, ${printable(fastest.name)}`],
                         rows.some((row) => row.front) && ["on the Pareto front", whole(rows.filter((row) => row.front).length)]])),
          [designs, points].map((make) => attempt(make, rows, of))];
}
