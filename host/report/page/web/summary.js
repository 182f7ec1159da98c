// SPDX-License-Identifier: Apache-2.0
// The head of the page: what ran, whether it held, and the figures that one looks for first.

function tiles(items) {
  return element("dl", {class: "tiles"}, items.filter(Boolean).map(([name, value, more]) =>
      element("div", {}, element("dt", {}, name), element("dd", {}, oneLine(value), more ? element("small", {}, more) : null))));
}

/// A number that gets smaller before it breaks: page.css needs the letters of the longest word.
function oneLine(value) {
  const letters = Math.max(...String(value).split(" ").map((word) => word.length));
  return element("span", {class: "figure", style: `--letters: ${letters}`}, value);
}

function titleOf(report) {
  const name = printable(report.model ?? "gemm64").split("/").at(-1);
  return isAnalysis(report) ? `${name}, analysed` : `${name} on device ‘${printable(report.device)}’`;
}

/// One line of the run's settings.
function settingsOf(report) {
  if (isAnalysis(report)) {
    return [`${report.array.n}×${report.array.n} array`, report.opset ? `opset ${report.opset}` : null,
            `${report.nodes} nodes`, `memory latency ${report.array.memory_latency} cycles`];
  }
  const memory = report.memory ?? {};
  // A user's own array has neither a memory nor a choice of where sums are added.
  return [`${report.rows ?? report.array}×${report.columns ?? report.array} array`, report.dataflow, report.precision,
          report.accumulate ? `partial sums added on the ${report.accumulate}` : null,
          `batch ${report.batch}`, report.memory ? `memory latency ${memory.latency} cycles` : null,
          report.memory && memory.sharing !== "independent" ? `${memory.sharing} memory` : null,
          memory.bytes_per_cycle ? `${memory.bytes_per_cycle} bytes per cycle` : null,
          memory.stall_probability ? `stalls ${memory.stall_probability}` : null,
          report.one_program ? "one program" : null];
}

function verdict(report) {
  if (isAnalysis(report)) return null;
  const why = [report.error, ...(report.problems ?? [])].filter(Boolean).map(printable).join("; ");
  const compared = report.check === "outputs" ? "every value of the network’s outputs equals a run on the host"
                                              : "every result equals the reference";
  const text = report.verified ? `Verified: ${compared}, every checked counter its prediction.`
                               : "Not verified" + (why ? ": " + why
                                                       : report.check === "none" ? ": no value was compared." : ".");
  return element("p", {class: "verdict " + (report.verified ? "good" : "bad")}, report.verified ? "✓ " : "✗ ", text);
}

/// The name of a report's own cycles, which says with what memory.
function cyclesOf(report) {
  const analysed = isAnalysis(report);
  const memory = analysed ? report.array.memory : report.memory?.sharing;
  const ideal = memory === "independent" && !report.memory?.bytes_per_cycle;
  const what = analysed ? "cycles of all layers, predicted" : "cycles";
  return memory === undefined ? what : `${what}: ${ideal ? "compute bound (ideal ports)" : memory}`;
}

function summary(report, layers) {
  const timed = layers.filter((layer) => layer.timed);
  const all = report.total ?? {};
  const array = isAnalysis(report) ? report.array : null;
  const cycles = array ? array.clocks : all.cycles;
  const quality = report.quality;
  const moved = total(timed.flatMap((layer) => Object.values(layer.bytes)));
  const energy = array?.energy;
  const mj = (value) => `${figures(value, 3)} mJ`;
  return element("header", {class: "top"},
                 element("h1", {}, titleOf(report)),
                 element("p", {class: "soft"}, settingsOf(report).filter(Boolean).map(printable).join(" · ")),
                 verdict(report),
                 tiles([
                   isNumber(array?.dram_cycles) && array.predicted_if_on_device.layers === 0 &&
                       [`cycles with ${array.dram_memory}, predicted`, whole(array.dram_cycles),
                       `${whole(array.compute_bound_cycles)} is the compute bound (ideal ports)`],
                   [cyclesOf(report), whole(cycles),
                    array ? `${whole(array.roof_clocks)} at the roofline`
                    : isNumber(all.predicted_cycles) ? `${whole(all.predicted_cycles)} predicted`
                    : isNumber(all.bound_cycles) ? `${whole(all.bound_cycles)} is the bound of its streams` : null],
                   ["utilization", percent(array ? array.utilization : all.utilization), "of all MACs of the array"],
                   isNumber(all.roofline_utilization) && ["of the roofline", percent(all.roofline_utilization)],
                   ["MACs on the array", whole(array ? array.macs : all.macs),
                    isNumber(all.device_share) ? `${percent(all.device_share)} of the network’s` : null],
                   ["bytes moved", bytes(moved), `${whole(moved)} bytes`],
                   energy && ["energy, estimated", mj(energy.total_mj),
                              `DRAM ${mj(energy.dram_mj)}, SRAM ${mj(energy.sram_mj)}, logic ${mj(energy.logic_mj)}`],
                   array && ["parameters", whole(all.parameters), bytes(all.parameter_bytes)],
                   isNumber(all.mismatches) && ["wrong results", whole(all.mismatches)],
                   quality && isNumber(quality.signal_to_noise_db) &&
                       ["SQNR", `${quality.signal_to_noise_db.toFixed(1)} dB`,
                        isNumber(quality.centred_signal_to_noise_db)
                            ? `${quality.centred_signal_to_noise_db.toFixed(1)} dB after removing the mean of each output` : null],
                   quality && ["same best class as float32", percent(quality.top1_agreement),
                               `${whole(quality.top1_equal)} of ${whole(quality.images)}`],
                 ]));
}

/// The layers' table, which holds what the charts show.
function layerTable(report, layers) {
  const timed = layers.filter((layer) => layer.timed);
  const kinds = [...new Set(timed.flatMap((layer) => Object.keys(layer.bytes)))];
  const sum = timed.length > 1 ? {
    name: "total", raw: {tiles: total(timed.map((l) => l.raw.tiles ?? l.raw.array?.tiles)), predicted_cycles:
        timed.find((l) => l.raw.predicted_cycles !== undefined)?.raw.predicted_cycles, mismatches:
        isAnalysis(report) ? null : total(timed.map((l) => l.raw.mismatches))},
    macs: total(timed.map((l) => l.macs)), cycles: report.total?.cycles ?? total(timed.map((l) => l.cycles)),
    predicted: total(timed.map((l) => l.predicted)),
    utilization: report.total?.utilization ?? report.array?.utilization, roofline: report.total?.roofline_utilization,
    bytes: Object.fromEntries(kinds.map((kind) => [kind, total(timed.map((l) => l.bytes[kind]))])),
  } : null;
  const count = `${whole(layers.length)} ${layers.length === 1 ? "layer" : "layers"}`;
  const what = timed.length === layers.length ? count : `${count}; the total is that of the ${timed.length} with cycles`;
  return section("layers", "Layers", table({caption: what, columns: layerColumns(layers), rows: layers, sum}));
}
