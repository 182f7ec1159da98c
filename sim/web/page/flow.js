// SPDX-License-Identifier: Apache-2.0
// The way of the data from memory through the chip and back: a box for each unit, an arrow for each path.

/// Places in a grid: column, row, columns across. Two drawings, as a phone has no space for six columns.
const kFlowWide = {columns: 6, heights: [34, 56, 56, 56], places: {
  memory: [0, 0, 6], commands: [0, 1, 1], weights: [1, 1, 1], activations: [2, 1, 1], parameters: [3, 1, 1], operands: [4, 1, 1],
  compute: [1, 2, 2], accumulator: [1, 3, 2], requantizer: [3, 3, 1], elementwise: [4, 3, 1], results: [5, 3, 1]}};
const kFlowNarrow = {columns: 3, heights: [34, 52, 52, 52, 52, 52, 52, 34], places: {
  memory: [0, 0, 3], commands: [0, 1, 1], weights: [1, 1, 1], activations: [2, 1, 1], compute: [1, 2, 2], accumulator: [1, 3, 2],
  parameters: [0, 4, 1], requantizer: [1, 4, 2], operands: [0, 5, 1], elementwise: [1, 5, 2], results: [1, 6, 2], back: [0, 7, 3]}};
const kFlowGap = {across: 16, down: 30};

/// The state of a unit by the cause that its cycle has.
const kFlowStates = [["work", "works"], ["memory", "waits"], ["drain", "drains or fills"], ["idle", "idle"]];
function causeState(cause) {
  if (["dispatch", "transfer", "compute"].includes(cause)) return "work";
  if (cause === "drain" || cause === "fill") return "drain";
  return cause === null || cause === "idle" ? "idle" : "memory";
}

/// Colors of a drawing, each with its meaning.
const colorLegend = (items) => element("ul", {class: "legend"}, items.map(([style, name]) =>
    element("li", {}, element("span", {class: "swatch", style}), name)));
const stateLegend = () => kFlowStates.map(([color, name]) => [`background: var(--c-${color})`, name]);

class FlowView {
  constructor(shown) {
    this.shown = shown;
    this.picture = element("div", {class: "chart"});
    this.section = section("flow", "Data flow",
        paragraph("Weights and activations come from memory, products are added in the array and the accumulator, results return to memory. " +
                  "A depthwise convolution or a pool uses the depthwise unit in place of the array."),
        this.picture,
        colorLegend([...stateLegend(), ["background: var(--accent); height: 4px", "data move in this cycle"]]));
  }

  /// What each unit does in this cycle: [name, state, words below the name].
  units() {
    const {signals, simulation, array} = this.shown;
    const {about, standing} = simulation;
    const value = (name) => signals.value(name);
    const engine = (name, title, text) => {
      const cause = signals.cause(name);
      return [title, causeState(cause), text ?? (cause === null ? "idle" : words(cause))];
    };
    const count = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;
    const job = about.jobs.find((one) => one.lanes) ?? about.jobs[0];
    const requantized = ones(value(kRequantize + "valid_q")), elementwise = ones(value(kVector + "valid_q"));
    const sums = job.results === "int32" ? "int32 sums pass" : null;
    return {
      memory: ["Memory", "none", ""], back: ["Memory", "none", ""],
      commands: engine("commands", "Commands", `${standing.dispatched} of ${about.commands.length}`),
      weights: engine("weights", "Weights", count(value("weight_words"), "word")),
      activations: engine("activations", "Scratchpad", count(value("activation_words"), "word")),
      parameters: engine("parameters", "Parameters"), operands: engine("operands", "Operands"),
      compute: engine("compute", job.lanes ? "Depthwise unit" : `Array, ${about.array.n} × ${about.array.n}`,
                      job.lanes ? undefined : `${array.busy()} of ${about.array.n ** 2} cells work`),
      accumulator: ["Accumulator", this.adds() ? "work" : "idle", `adds in bank ${value("row_bank")}, stores bank ${value("store_bank")}`],
      requantizer: ["Requantizer", requantized ? "work" : "idle", sums ?? `${requantized} of 9 stages`],
      elementwise: ["Element-wise", elementwise ? "work" : "idle", sums ?? (job.vector ? `${elementwise} of 11 stages` : "passes on")],
      results: engine("results", "Store"),
    };
  }

  adds() {
    const {signals, simulation} = this.shown;
    const {n, stage_rows: rows} = simulation.about.array;
    return signals.value("u_lanes.valid_q") === 1 || signals.bytes(`u_array.stage[${n / rows - 1}].u_stage.valid`).some((byte) => byte !== 0);
  }

  /// Paths of data: [from, to, whether data move there in this cycle, the port's name].
  paths() {
    const {signals} = this.shown;
    const on = (...names) => names.every((name) => signals.value(name) === 1);
    const reads = (reader) => on("m_data_rvalid_i", "m_data_rready_o") && data.readers[signals.value("m_data_rid_i")] === reader;
    const stored = on("m_results_wvalid_o", "m_results_wready_i"), read = on("store_read");
    return [
      ["memory", "commands", reads("commands"), "data port"], ["memory", "weights", on("m_weights_rvalid_i", "m_weights_rready_o"), "weights port"],
      ["memory", "activations", reads("activations")], ["memory", "parameters", reads("parameters")],
      ["memory", "operands", reads("operands")],
      ["weights", "compute", on("u_array.stage[0].u_stage.weight_valid_i")],
      ["activations", "compute", on("activation_read") || on("u_lanes.shift")], ["compute", "accumulator", this.adds()],
      ["accumulator", "requantizer", read], ["parameters", "requantizer", signals.value(kRequantize + "valid_q") > 0],
      ["requantizer", "elementwise", read || stored], ["operands", "elementwise", signals.value(kVector + "valid_q") > 0 && on(kVector + "add_q")],
      ["elementwise", "results", stored], ["results", "memory", stored, "results port"],
    ];
  }

  draw() {
    const width = Math.max(280, this.picture.clientWidth || 640);
    const {columns, heights, places} = width < 680 ? kFlowNarrow : kFlowWide;
    const lane = columns === 3 ? 12 : 0;  // at the left: the data port's line to parameters and operands
    const step = (width - 2 - lane + kFlowGap.across) / columns;
    const tops = heights.map((_, row) => 1 + total(heights.slice(0, row)) + kFlowGap.down * row);
    const box = (unit) => {
      const [column, row, across] = places[unit];
      const left = unit === "memory" || unit === "back" ? 1 : 1 + lane + column * step;
      return {left, right: lane + (column + across) * step - kFlowGap.across, top: tops[row], bottom: tops[row] + heights[row]};
    };
    const height = tops.at(-1) + heights.at(-1) + 2;
    const parts = [];
    for (const [from, target, moves, name] of this.paths()) {
      const to = target === "memory" && places.back ? "back" : target;
      const laned = lane !== 0 && from === "memory" && ["parameters", "operands"].includes(to);
      parts.push(...this.path(box(from), box(to), {moves, laned, name, width}));
    }
    const said = [];
    for (const [unit, [name, state, text]] of Object.entries(this.units())) {
      if (!places[unit]) continue;
      const {left, right, top, bottom} = box(unit);
      const middle = (left + right) / 2;
      parts.push(svg("rect", {x: left, y: top, width: right - left, height: bottom - top, rx: 5, fill: "var(--surface)", stroke: "var(--grid)"}));
      if (state !== "none") parts.push(svg("rect", {x: left, y: top, width: 7, height: bottom - top, rx: 3, fill: `var(--c-${state})`}));
      parts.push(svg("text", {x: middle + (text ? 3 : 0), y: top + 22, "text-anchor": "middle", "font-weight": 600, fill: "var(--text)"}, name));
      if (text) parts.push(svg("text", {x: middle + 3, y: top + 40, "text-anchor": "middle", "font-size": 11, fill: "var(--soft)"}, text));
      if (state === "work" || state === "memory") said.push(`${name} ${state === "work" ? "works" : "waits"}`);
    }
    this.picture.replaceChildren(svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
        "aria-label": `Data flow from memory through the chip to memory. In this cycle: ${said.join(", ") || "nothing works"}.`}, ...parts));
  }

  /// An arrow between two boxes: straight if they face each other, else down a lane at the left.
  path(from, to, {moves, laned, name, width}) {
    const middle = (a, b) => (Math.max(a[0], b[0]) + Math.min(a[1], b[1])) / 2;
    const faces = Math.min(from.right, to.right) > Math.max(from.left, to.left);
    const stroke = moves ? "var(--accent)" : "var(--grid)", wide = moves ? 4 : 1.5;
    const made = [];
    let d, tip;
    if (laned) {
      const y = (to.top + to.bottom) / 2;
      d = `M5,${from.bottom}V${y}H${to.left - 4}`;
      tip = `M${to.left},${y}l-7,-4v8z`;
    } else if (faces) {
      const x = middle([from.left, from.right], [to.left, to.right]);
      const down = to.top > from.top;
      d = `M${x},${down ? from.bottom : from.top}V${down ? to.top - 5 : to.bottom + 5}`;
      tip = down ? `M${x},${to.top}l-4,-7h8z` : `M${x},${to.bottom}l-4,7h8z`;
      if (name) {
        const left = x + 75 > width;  // no space at the right
        made.push(svg("text", {x: x + (left ? -7 : 7), y: (down ? from : to).bottom + 19, "font-size": 11, fill: "var(--soft)", "text-anchor": left ? "end" : "start"}, name));
      }
    } else {
      const y = middle([from.top, from.bottom], [to.top, to.bottom]);
      const right = to.left > from.left;
      d = `M${right ? from.right : from.left},${y}H${right ? to.left - 5 : to.right + 5}`;
      tip = right ? `M${to.left},${y}l-7,-4v8z` : `M${to.right},${y}l7,-4v8z`;
    }
    made.unshift(svg("path", {d, fill: "none", stroke, "stroke-width": wide}), svg("path", {d: tip, fill: stroke}));
    return made;
  }
}
