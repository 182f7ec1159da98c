// SPDX-License-Identifier: Apache-2.0
// The array: a cell for each multiplier, with its weight, its activation and the partial sum after it.

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/// A picture that is redrawn from the state; words next to it say the same.
class ArrayView {
  constructor(shown) {
    this.shown = shown;
    this.chosen = [0, 0];
    this.canvas = element("canvas", {
      tabindex: 0, role: "img", id: "array-picture", onclick: (event) => this.point(event), onkeydown: (event) => this.key(event)});
    this.words = element("p", {id: "cell", class: "pointed", "aria-live": "polite"});
    this.how = "numbers";
    this.bit = element("select", {id: "array-bit"}, Array.from({length: 32}, (_, bit) => element("option", {value: bit}, String(bit))));
    this.bit.value = "6";
    this.flips = element("div", {class: "buttons"}, element("label", {}, element("span", {}, "Flip bit"), this.bit), " of this ",
        ["weight", "activation", "partial-sum"].map((kind) =>
            element("button", {type: "button", onclick: () => this.shown.flip(this.fault(kind))}, kind.replace("-", " "))));
    this.legend = element("div", {id: "array-legend"});
    this.section = section("array", "Array",
        paragraph("Weights stay, activations go right, sums go down. A cell shows its weight at the top, the activation that passes in this " +
                  "cycle in the middle, and the sum down to this row at the bottom."),
        element("div", {class: "buttons"}, choice("Cells as", [["numbers", "numbers"], ["colour", "colors"]], (how) => {
          this.how = how;
          this.draw();
        })),
        element("div", {class: "picture"}, this.canvas), this.legend, this.words, this.flips);
  }

  get n() {
    return this.shown.simulation.about.array.n;
  }

  /// What is in a cell: the operands, and the sum that leaves the row in this cycle.
  cell(row, column) {
    const signals = this.shown.signals;
    const rows = this.shown.simulation.about.array.stage_rows;
    const stage = Math.floor(row / rows);
    const scope = (index) => `u_array.stage[${index}].u_stage.`;
    const weightAt = (r) => signals.int8(scope(stage) + "weight_q", column, r % rows);
    const activationAt = (r) => signals.int8(scope(stage) + "activation_q", (r % rows) * (this.n + 1) + column);
    const above = stage === 0 ? 0 : signals.int32(scope(stage - 1) + "sum_o", column);
    let sum = above;
    for (let r = stage * rows; r <= row; ++r) sum = sum + weightAt(r) * activationAt(r) | 0;
    return {weight: weightAt(row), activation: activationAt(row), sum, stage, valid: signals.bit(scope(stage) + "valid", column) === 1};
  }

  fault(kind) {
    const [row, column] = this.chosen;
    const stage = Math.floor(row / this.shown.simulation.about.array.stage_rows);
    return kind === "partial-sum" ? `partial-sum:${stage},${column}:${this.bit.value}` : `${kind}:${row},${column}:${this.bit.value}`;
  }

  point(event) {
    const side = this.canvas.clientWidth / this.n;
    const at = (offset) => Math.min(this.n - 1, Math.max(0, Math.floor(offset / side)));
    this.chosen = [at(event.offsetY), at(event.offsetX)];
    this.draw();
  }

  key(event) {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.chosen = this.chosen.map((at, axis) => Math.min(this.n - 1, Math.max(0, at + step[axis])));
    this.draw();
  }

  /// The row of activations that passes a cell, and the elements of A and W that meet there; null where none passes.
  source(row, column, cell) {
    const {simulation, signals, origins} = this.shown;
    const clock = simulation.standing.device_clock - 2 - cell.stage - column;
    if (!cell.valid || signals.then(clock, "activation_read") !== 1) return null;
    const entered = origins.enteredIn(clock);
    if (!entered) return null;
    return {clock, job: entered.job, place: signals.then(clock, "row"), bank: signals.then(clock, "row_bank"), ...origins.operands(entered, row, column)};
  }

  /// Where the operands of a cell come from, and where the sum goes.
  origin(row, column, cell) {
    const {simulation} = this.shown;
    const {array} = simulation.about;
    const from = this.source(row, column, cell);
    if (!from) return "No row of activations passes here in this cycle.";
    return `The activation is ${from.a}, the weight ${from.w}; the row was read from the scratchpad in cycle ${simulation.shownClock(from.clock)}. The sum leaves the array at column ` +
        `${column} in cycle ${simulation.shownClock(from.clock) + 2 + array.n / array.stage_rows + column}, for row ${from.place} of ` +
        `accumulator bank ${from.bank}.`;
  }

  /// Cells with a row of activations.
  busy() {
    const {stage_rows: rows} = this.shown.simulation.about.array;
    let cells = 0;
    for (let s = 0; s * rows < this.n; ++s) {
      for (let c = 0; c < this.n; ++c) cells += rows * this.shown.signals.bit(`u_array.stage[${s}].u_stage.valid`, c);
    }
    return cells;
  }

  say() {
    const [row, column] = this.chosen;
    const cell = this.cell(row, column);
    this.words.textContent = `Row ${row}, column ${column}: weight ${cell.weight}, activation ${cell.activation}, sum down to here ${cell.sum}. ` +
        this.origin(row, column, cell);
    this.state = `${this.busy()} of ${this.n * this.n} cells have a row of activations`;
    this.canvas.setAttribute("aria-label", `The array of ${this.n} by ${this.n} cells in cycle ${this.shown.simulation.shownClock()}: ` +
        `${this.state}. Arrow keys choose a cell, which is described below.`);
  }

  opened() {
    // Sixteen columns of numbers need all the width.
    this.section.classList.toggle("whole", this.n > 8);
  }

  /// The colors of the picture; those of numbers are not those of cells without numbers.
  drawLegend(numbers) {
    const rows = this.shown.simulation.about.array.stage_rows;
    if (this.legendOf === `${numbers} ${rows}`) return;
    this.legendOf = `${numbers} ${rows}`;
    const tint = (name, part) => `background: color-mix(in srgb, var(--${name}) ${part}%, var(--surface))`;
    const cells = numbers ? [[tint("c-work", 22), "a row of activations passes"], ["background: var(--surface)", "no activation"]]
        : [[tint("c-work", 60), "weight above zero"], [tint("c-memory", 60), "weight below zero"],
           ["background: var(--text); border-radius: 50%", "activation above zero"], ["background: var(--c-memory); border-radius: 50%", "activation below zero"]];
    const lines = [["background: var(--c-weights); height: 4px", "the weights of the next tile are here"],
                   ["background: var(--grid); height: 2px", `a register: ${rows} ${rows === 1 ? "row is" : "rows are"} added before it`],
                   ["background: none; border: 3px solid var(--accent)", "the chosen cell"]];
    this.legend.replaceChildren(colorLegend([...cells, ...lines]));
  }

  draw() {
    const n = this.n;
    const width = Math.min(this.canvas.parentElement.clientWidth || 640, 62 * n, 900);
    const ratio = window.devicePixelRatio || 1;
    const side = width / n;
    if (this.canvas.width !== Math.round(width * ratio)) {
      this.canvas.width = this.canvas.height = Math.round(width * ratio);
      this.canvas.style.width = this.canvas.style.height = width + "px";
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const paint = {surface: color("--surface"), text: color("--text"), line: color("--line"), grid: color("--grid"), soft: color("--soft"),
                   work: color("--c-work"), hot: color("--c-memory"), weights: color("--c-weights"), accent: color("--accent")};
    pen.fillStyle = paint.surface;
    pen.fillRect(0, 0, width, width);
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const numbers = this.how === "numbers" && side >= 34;
    this.drawLegend(numbers);
    const rows = this.shown.simulation.about.array.stage_rows;
    for (let row = 0; row < n; ++row) {
      for (let column = 0; column < n; ++column) {
        const cell = this.cell(row, column);
        const x = column * side, y = row * side;
        if (numbers) {
          if (cell.valid) {
            pen.globalAlpha = 0.22;
            pen.fillStyle = paint.work;
            pen.fillRect(x, y, side, side);
            pen.globalAlpha = 1;
          }
          pen.fillStyle = paint.text;
          pen.font = `600 ${Math.min(15, side / 3.6)}px system-ui, sans-serif`;
          pen.fillText(cell.weight, x + side / 2, y + side * 0.28);
          pen.font = `${Math.min(12, side / 4.6)}px system-ui, sans-serif`;
          pen.fillStyle = cell.valid ? paint.text : paint.soft;
          if (cell.valid) {
            pen.fillText("×" + cell.activation, x + side / 2, y + side * 0.54);
            pen.fillText(cell.sum, x + side / 2, y + side * 0.79, side - 2);
          }
        } else {  // the weight is the ground, the activation a disc on it
          pen.globalAlpha = Math.abs(cell.weight) / 128 * 0.8;
          pen.fillStyle = cell.weight < 0 ? paint.hot : paint.work;
          pen.fillRect(x, y, side, side);
          pen.globalAlpha = 1;
          if (cell.valid) {
            pen.beginPath();
            pen.arc(x + side / 2, y + side / 2, side * (0.1 + 0.28 * Math.abs(cell.activation) / 128), 0, 7);
            pen.fillStyle = cell.activation < 0 ? paint.hot : paint.text;
            pen.fill();
          }
        }
        pen.strokeStyle = paint.line;
        pen.lineWidth = 1;
        pen.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
      }
      if (row % rows === 0) {
        pen.fillStyle = paint.grid;
        pen.fillRect(0, row * side - 1, width, 2);
        const scope = `u_array.stage[${row / rows}].u_stage.`;
        if (this.shown.signals.value(scope + "weight_valid_i") === 1) {
          const fresh = this.shown.signals.value(scope + "weight_column_i");
          pen.fillStyle = paint.weights;
          pen.fillRect(0, row * side, (fresh + 1) * side, 4);
          pen.fillRect((fresh + 1) * side - 4, row * side, 4, rows * side);
        }
      }
    }
    pen.strokeStyle = paint.accent;
    pen.lineWidth = 3;
    pen.strokeRect(this.chosen[1] * side + 1.5, this.chosen[0] * side + 1.5, side - 3, side - 3);
    this.say();
  }
}
