// SPDX-License-Identifier: Apache-2.0
// What lies on the chip: weight buffer, scratchpad and window, accumulator banks, requantizer.

/// A memory as a strip of words, one pixel column or more each, with marks; and the words around a mark as numbers.
class MemoriesView {
  constructor(shown) {
    this.shown = shown;
    this.body = element("div", {});
    this.open = false;
    this.details = element("details", {ontoggle: () => {
      this.open = this.details.open;
      this.draw();
    }}, element("summary", {}, "Words of the buffers as numbers"), this.body);
    this.list = element("dl", {class: "tiles"});
    this.section = section("memories", "Buffers, window and sums",
        paragraph("The weight buffer and the scratchpad are written where words arrive and read where the array needs them; a convolution's window is " +
                  "gathered as it is read. Sums are added in two banks: one is stored while the other one fills."),
        this.list, this.details);
  }

  draw() {
    const {signals, simulation} = this.shown;
    const n = simulation.about.array.n;
    const value = (name) => (signals.has(name) ? signals.value(name) : "–");
    const rows = [
      ["Weight buffer", `${value("weight_words")} of ${simulation.about.array.weight_words} words`,
       `written at ${value("u_weights.write_q")}, read at ${value("u_weights.read_q")}`],
      ["Scratchpad", `${value("activation_words")} words ahead`,
       `written at ${value("u_activations.write_q")}, read at ${value("u_activations.read_q")}, of ${simulation.about.array.scratchpad_words}`],
      ["Row under way", value("activation_read") ? `row ${value("row")}` : "none",
       `block ${value("u_compute.block_q")}, tile ${value("u_compute.tile_q")} along K, ${value("u_compute.pass_q")} along N, bank ${value("row_bank")}`],
      ["Storing", value("store_read") ? `row ${value("store_row")}` : "nothing", `bank ${value("store_bank")}`],
    ];
    if (simulation.about.jobs.some((job) => job.window)) {
      rows.push(["Window", `tap ${value("u_compute.u_window.tap_row_q")}, ${value("u_compute.u_window.tap_column_q")}`,
                 `output pixel ${value("u_compute.u_window.out_row_q")}, ${value("u_compute.u_window.out_column_q")}; ` +
                 (value("u_activations.inside_i") ? `scratchpad word ${value("u_activations.place_i")}` : "beyond the border")]);
    }
    const requantizer = [...simulation.signals.keys()].find((name) => name.endsWith(".biased_1"));
    if (requantizer) {
      const scope = requantizer.slice(0, -"biased_1".length);
      const stages = signals.value(scope + "valid_q").toString(2);
      rows.push(["Requantizer", /1/.test(stages) ? `${stages.replaceAll("0", "").length} rows under way` : "empty",
                 `sum + bias ${signals.int32(requantizer, 0, 0)} (column 0), leaving ${signals.int8(scope + "result_9_q", 0, 0)}`]);
    }
    this.list.replaceChildren(...rows.map(([name, much, more]) =>
        element("div", {}, element("dt", {}, name), element("dd", {}, String(much), element("small", {}, more)))));
    if (this.open) this.numbers(n);
  }

  table(title, name, first, count, of, extra) {
    const {signals} = this.shown;
    const n = this.shown.simulation.about.array.n;
    const lines = Array.from({length: count}, (_, i) => first + i).filter((word) => word >= 0 && word < of);
    return scrollingTable(title, title, ["word", ...Array.from({length: n}, (_, i) => String(i))],
        element("tbody", {}, lines.map((word) => element("tr", {}, element("th", {scope: "row"}, String(word)),
            Array.from({length: n}, (_, i) => element("td", {}, String(extra(signals, name, word, i))))))));
  }

  numbers(n) {
    const {signals} = this.shown;
    const byte = (from, name, word, i) => from.int8(name, word, i);
    const of = (name) => signals.words(name);
    const around = (name, count) => Math.max(0, signals.value(name) - count);
    const tables = [];
    for (const [title, name, at] of [["Weight buffer, around where it is read", "u_weights.u_buffer.memory_q", "u_weights.read_q"],
                                     ["Scratchpad, around where it is read", "u_activations.u_scratchpad.memory_q", "u_activations.read_q"]]) {
      if (signals.has(name)) tables.push(this.table(title, name, around(at, 2), n + 2, of(name), byte));
    }
    for (const bank of [0, 1]) {
      const name = `u_accumulator.column[0].u_column.sums_${bank}_q`;
      tables.push(this.table(`Accumulator bank ${bank}, the first rows`, name, 0, 2 * n, of(name),
          (from, _, word, i) => from.int32(`u_accumulator.column[${i}].u_column.sums_${bank}_q`, 0, word)));
    }
    this.body.replaceChildren(...tables);
  }
}
