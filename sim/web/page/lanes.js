// SPDX-License-Identifier: Apache-2.0
// The lanes: rows of words that are kept, the window register, nine multipliers and a sum.

class LanesView {
  constructor(shown) {
    this.shown = shown;
    this.lane = 0;
    this.described = element("p", {class: "soft", id: "lanes-state"});
    this.select = element("select", {onchange: () => {
      this.lane = Number(this.select.value);
      this.draw();
    }});
    this.buttons = element("div", {class: "buttons"}, element("label", {}, element("span", {}, "Lane"), this.select));
    this.body = element("div", {});
    this.section = section("lanes", "Lanes",
        paragraph("Depthwise convolutions and pools run on the depthwise unit of N lanes, a channel each. Words come once, in their order. As many rows as the " +
                  "kernel is high are kept; a register of kernel by kernel words moves over them, and nine multipliers add what is under it."),
        this.described, this.buttons, this.body);
  }

  opened() {
    const {n} = this.shown.simulation.about.array;
    this.lane = 0;
    this.select.replaceChildren(...Array.from({length: n}, (_, lane) => element("option", {value: lane}, String(lane))));
    this.body.replaceChildren();
  }

  /// Which tap multiplier m has in a part of the sum: [row, column], or null.
  tap(part, m) {
    const size = part === 0 ? 3 : part < 4 ? 5 : 7;
    const number = m + 9 * (part === 0 ? 0 : part < 4 ? part - 1 : part - 4);
    return number < size * size ? [Math.floor(number / size), number % size] : null;
  }

  draw() {
    const {signals, simulation} = this.shown;
    const job = simulation.about.jobs.find((one) => one.lanes);
    this.buttons.hidden = this.body.hidden = !job;
    if (!job) {
      this.described.textContent = "This work does not use them: open a depthwise convolution or a pool.";
      this.spoken = null;
      return;
    }
    const walk = (name) => signals.value("u_lanes.u_walk." + name);
    const active = signals.value("u_lanes.active_i") === 1;
    this.state = active ? `the lanes wait for the word of row ${walk("y_q")}, column ${walk("x_q")}, and for the sum at row ${walk("out_y_q")}, column ${walk("out_x_q")}` : "the lanes rest";
    this.spoken = `${this.state}.`;
    this.described.textContent = `In this cycle ${this.state}. ` + (signals.value("u_lanes.sum") ? "A sum begins. " : "") + (signals.value("u_lanes.shift") ? "The window moves on." : "");
    this.body.replaceChildren(this.lines(job), this.window(job), this.sums(job));
  }

  lines(job) {
    const {signals, values} = this.shown;
    const {width} = job.convolution;
    const columns = Array.from({length: width}, (_, x) => x);
    const rows = Array.from({length: job.lanes_kernel - 1}, (_, i) => job.lanes_kernel - 1 - i).map((line) => {
      const name = `u_lanes.above[${line}].kept.u_line.memory_q`;
      return [`line ${line}`, columns.map((x) => values.show(values.byte(`line ${line}, column ${x}, lane ${this.lane}`, name, x, this.lane,
          () => `It is the value of column ${x} that came ${line === 1 ? "with the row before" : `${line} rows before`}, or as many and one where this row has passed it; ` +
                `line ${line - 1 || "of the words that come"} handed it on.`,
          () => `With the next word of column ${x} it enters row ${line} of the window.`)))];
    });
    const at = signals.value("u_lanes.u_walk.x_q");
    return scrollingTable("Lines", `The rows that are kept, in lane ${this.lane}; the next word is that of column ${at}`,
        [...wordColumns("line"), ...columns.map((x) => (x === at ? `${x} ◂` : String(x)))], rowsOfValues(rows));
  }

  window(job) {
    const {signals, values, origins} = this.shown;
    const size = job.lanes_kernel;
    const from = Array.from({length: size}, (_, i) => size - 1 - i);
    const [inRows, inColumns] = ["row_inside_1_q", "column_inside_1_q"].map((name) => signals.value("u_lanes." + name));
    const summing = signals.value("u_lanes.sum_1_q") === 1;
    const rows = from.map((row) => [row === 0 ? "newest row" : `${row} above`, from.map((column) => {
      const outside = summing && !(inRows >> row & 1 && inColumns >> column & 1);
      const place = values.byte(`the window's row ${size - 1 - row}, column ${size - 1 - column}, lane ${this.lane}`, "u_lanes.window_q", 7 * row + column, this.lane,
          () => {
            const word = origins.inWindow(row, column, this.lane);
            return word ? `It is ${word.text}, which came ${row} rows and ${column} words before the newest one.` : "No word of this work is here yet.";
          },
          () => (column + 1 < size ? "With the next word it moves a place to the left." : "With the next word it leaves the window.") +
                ` It is multiplied with the weight of tap (${size - 1 - row}, ${size - 1 - column})` + (outside ? ", but is beyond the border now: zero counts in its place." : "."));
      return values.show(place, outside ? `(${values.text(place)})` : undefined);
    })]);
    return scrollingTable("Window", `The register of ${size} by ${size} words, in lane ${this.lane}; in brackets values beyond the border`,
        [...wordColumns("row"), ...from.map((_, column) => String(column))], rowsOfValues(rows));
  }

  sums(job) {
    const {signals, values, origins, simulation} = this.shown;
    const now = simulation.standing.device_clock;
    const part = signals.then(now - 1, "u_lanes.part_1_q") ?? 0;
    const there = signals.value("u_lanes.sum_2_q") === 1;
    const {n} = simulation.about.array;
    const multipliers = Array.from({length: 9}, (_, m) => m);
    const tapOf = (m) => this.tap(part, m);
    const chosen = multipliers.map((m) => values.byte(`the value of multiplier ${m}, lane ${this.lane}`, "u_lanes.value_2", m, this.lane,
        () => (tapOf(m) ? `It was under tap (${tapOf(m)}) of the window in the clock before; beyond the border it is the value that counts there.` : "This part of the sum has no tap for it."),
        () => `It is multiplied with the weight next to it, and added.`));
    const weights = multipliers.map((m) => ({title: `the weight of multiplier ${m}, lane ${this.lane}`, signal: "u_lanes.weight", first: 8 * (n * m + this.lane), bits: 8, signed: true,
      from: () => (tapOf(m) ? `It is the weight of channel ${this.lane} of its plane at tap (${tapOf(m)}), from the lanes' own memory of weights.` : "This part of the sum has no tap for it."),
      to: () => "It is multiplied with the value next to it."}));
    const rows = [["value", chosen.map((place) => (there ? values.show(place) : kNone)), there ? null : "soft"],
                  ["weight", weights.map((place) => (there ? values.show(place) : kNone)), there ? null : "soft"]];
    const sum = values.sum(`the sum of lane ${this.lane}`, "u_lanes.sum_4_q", undefined, this.lane,
        () => {
          const [y, x, plane] = ["out_y_q", "out_x_q", "out_plane_q"].map((name) => signals.then(now - 4, "u_lanes.u_walk." + name));
          const channel = plane * n + this.lane;
          return signals.value("u_lanes.valid_q") && y !== null && channel < job.n
              ? `It is the whole sum for ${origins.result(simulation.about.jobs.indexOf(job), y * job.convolution.out_width + x, channel)}.` : "It is what was added so far, or the last sum.";
        },
        () => (signals.value("u_lanes.valid_q") ? "It goes to the accumulator in this cycle." : "It goes to the accumulator once all its parts are there."));
    return element("div", {},
        scrollingTable("Multipliers", `What the nine multipliers of lane ${this.lane} have, part ${part === 0 ? 1 : part < 4 ? part : part - 3} of a sum`,
            [...wordColumns("multiplier"), ...multipliers.map((m) => (tapOf(m) ? `tap ${tapOf(m)}` : "none"))], rowsOfValues(rows)),
        element("p", {}, `Sum${signals.value("u_lanes.valid_q") ? ", whole" : ""}: `, values.show(sum)));
  }
}
