// SPDX-License-Identifier: Apache-2.0
// A report of run, gemm or analyze as rows of layers. A new field of the JSON becomes a row of kLayerColumns; until
// then it appears as it is, under its own name.

/// The layers, in one form. `raw` is the report's own.
function layersOf(report) {
  return (report.layers ?? []).map((raw, place) => {
    const of = raw.array && typeof raw.array === "object" ? raw.array : raw;
    const cycles = raw.cycles ?? of.clocks ?? null;
    const roof = of.roof_clocks ? Math.max(...Object.values(of.roof_clocks)) : null;
    return {
      raw, place, name: raw.name, cycles,
      timed: isNumber(cycles) && cycles > 0,
      predicted: raw.predicted_cycles ?? of.clocks ?? null,
      size: isNumber(of.m) && of.k !== 0 ? `${of.m}×${of.k}×${of.n}` + (of.products > 1 ? ` × ${of.products}` : "") : null,
      macs: raw.macs ?? null,
      bytes: of.bytes && typeof of.bytes === "object" ? of.bytes : {},
      // A pool has no MACs that could use the array.
      utilization: isNumber(cycles) && cycles > 0 && raw.macs !== 0 ? of.utilization ?? null : null,
      roofline: isNumber(cycles) && cycles > 0 ? raw.roofline_utilization ?? (roof ? roof / cycles : null) : null,
      counters: raw.counters ?? null,
      predictedCounters: raw.predicted_counters ?? null,
      published: of.published_cycles ?? {},
    };
  });
}

const isAnalysis = (report) => report.array !== null && typeof report.array === "object";
/// MACs per cycle at most; the arrays of `dut` may have other numbers of rows than of columns.
const peakOf = (report) => (isNumber(report.rows) ? report.rows * report.columns : arrayOf(report) ** 2);
const arrayOf = (report) => (isAnalysis(report) ? report.array.n : report.array);

/// Bytes a cycle of each port (or of all, where they share a memory).
function portWidth(report) {
  if (report.port_bytes) return 1;  // counted in beats
  const n = arrayOf(report);
  return Math.min(report.memory?.bytes_per_cycle || n, n);
}

/// Bytes of each port; weights and results have one of their own, everything else shares the third.
function portBytes(layer) {
  const {weights = 0, results = 0} = layer.bytes;
  const data = total(Object.values(layer.bytes)) - weights - results;
  return {weights, activations: data, results};
}

/// Of a user's own array, whose streams differ in width, beats of each stream.
function portBeats(layer, report) {
  return entries(layer.bytes).map(([port, count]) => [port, count / report.port_bytes[port]]);
}

const roofUnit = (report) => (report.port_bytes ? "beat" : "byte");

/// Where a layer stands under the roof, and what bounds it.
function roofPoint(layer, report) {
  const ports = report.port_bytes ? portBeats(layer, report) : entries(portBytes(layer));
  const shared = (report.memory?.sharing ?? "independent") !== "independent";
  const busiest = shared ? ["memory", total(ports.map(([, count]) => count))]
                         : ports.reduce((most, port) => (port[1] > most[1] ? port : most));
  const peak = peakOf(report);
  const isMacs = layer.macs / peak >= busiest[1] / portWidth(report);
  return {layer, x: layer.macs / Math.max(1, busiest[1]), y: layer.macs / layer.cycles, bound: layer.raw.bound ?? (isMacs ? "MACs" : busiest[0])};
}

const kLayerColumns = [
  column("layer", (l) => l.name, (v) => printable(v)),
  column("on", (l) => l.raw.on),
  column("operator", (l) => l.raw.operator),
  column("M×K×N", (l) => l.size),
  column("padded", (l) => (l.size ? l.raw.padded?.join("×") : null)),
  numeric("tiles", (l) => (l.size ? l.raw.tiles ?? l.raw.array?.tiles : null) ?? null),
  column("results", (l) => (typeof l.raw.results === "string" ? l.raw.results : null)),
  numeric("MACs", (l) => l.macs || null),
  numeric("cycles", (l) => l.cycles),
  numeric("predicted", (l) => (l.raw.predicted_cycles === undefined ? null : l.predicted)),
  numeric("utilization", (l) => l.utilization, percent),
  numeric("of its roofline", (l) => l.roofline, percent),
  numeric("weights", (l) => l.bytes.weights, bytes),
  numeric("activations", (l) => l.bytes.activations, bytes),
  numeric("results, bytes", (l) => l.bytes.results, bytes),
  numeric("commands", (l) => l.bytes.commands, bytes),
  numeric("parameter sets", (l) => l.bytes.parameters, bytes),
  numeric("mismatches", (l) => l.raw.mismatches),
  numeric("largest error", (l) => l.raw.max_abs_error, (v) => figures(v)),
  numeric("wall time, s", (l) => l.raw.seconds, (v) => figures(v)),
  column("why on the host", (l) => l.raw.reason ?? l.raw.why_on_host, null, {long: true}),
];
const kKnownFields = ["name", "on", "operator", "m", "k", "n", "padded", "tiles", "results", "macs", "cycles",
                      "predicted_cycles", "utilization", "roofline_utilization", "mismatches", "max_abs_error", "seconds",
                      "reason", "why_on_host", "folded"];

const kPaperColumns = ["layer", "M×K×N", "tiles", "MACs", "cycles", "predicted", "utilization", "of its roofline", "weights",
                       "activations", "results, bytes", "mismatches"];

/// The columns of these layers, with fields that have no column of their own yet.
function layerColumns(layers) {
  const fields = new Set();
  for (const {raw} of layers) {
    for (const [field, value] of entries(raw)) {
      if (!kKnownFields.includes(field) && value !== null && typeof value !== "object") fields.add(field);
    }
  }
  const others = [...fields].map((field) => {
    const values = layers.map((l) => l.raw[field]).filter((v) => v !== null && v !== undefined);
    const make = values.every(isNumber) ? numeric : column;
    const text = make === column ? (v) => (v === null || v === undefined ? kNone : printable(v))
                                 : (v) => (Number.isInteger(v) ? whole(v) : figures(v, 4));
    return make(words(field), (l) => l.raw[field], text);
  });
  return [...kLayerColumns, ...others].map((col) => ({...col, screen: !kPaperColumns.includes(col.label)}));
}

/// Every counter of a layer, or of all together: [engine, cause, counted, predicted].
function countersOf(layers) {
  const sums = new Map();
  const add = (counters, side) => {
    for (const [engine, causes] of entries(counters)) {
      for (const [cause, count] of entries(causes)) {
        const key = JSON.stringify([engine, cause]);
        if (!sums.has(key)) sums.set(key, {engine, cause, counted: 0, predicted: 0});
        sums.get(key)[side] += count;
      }
    }
  };
  for (const layer of layers) {
    add(layer.counters, "counted");
    add(layer.predictedCounters, "predicted");
  }
  return [...sums.values()];
}
const isClocks = ({engine}) => engine !== "bytes" && engine !== "total";
