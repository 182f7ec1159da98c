// SPDX-License-Identifier: Apache-2.0
// What is on the chip: weight buffer, scratchpad and window, accumulator banks.

/// Figures of the buffers as tiles; and the words around where they are read as numbers.
class MemoriesView {
  constructor(shown) {
    this.shown = shown;
    this.body = element("div", {});
    this.details = element("details", {ontoggle: () => this.draw()}, element("summary", {}, "Words of the buffers as numbers"), this.body);
    this.list = element("dl", {class: "tiles"});
    this.section = section("memories", "Buffers, window and sums",
        paragraph("The weight buffer and the scratchpad are written where words arrive and read where the array needs them; a convolution's window is " +
                  "gathered as it is read. Sums are added in two banks: one is stored while the other one fills. Choose a value to see where it comes from and goes to."),
        this.list, this.details);
  }

  draw() {
    const {signals, simulation, values} = this.shown;
    const small = (title, name, from, to) => values.show(values.small(title, name, from, to));
    const value = (name) => signals.value(name);
    const {array, jobs} = simulation.about;
    const counts = (what) => `It counts ${what}.`;
    const rows = [
      ["Weight buffer", [small("words in the weight buffer", "weight_words", "Words that came over the weights port, less those that the array took.", "A tile begins where enough of them are there."),
                         ` of ${array.weight_words} words`],
       ["written at ", small("the place of the next word of weights", "u_weights.write_q", counts("the words that came, around the buffer"), "The next beat of the weights port goes there."),
        ", read at ", small("the place of the word of weights read next", "u_weights.read_q", counts("the words that were read, around the buffer"), "That word goes to the array next.")]],
      ["Scratchpad", [small("words ahead in the scratchpad", "activation_words", "Words that came over the data port and no tile has claimed.", "A tile begins where its rows are there."), " words ahead"],
       ["written at ", small("the place of the next word in the scratchpad", "u_activations.write_place", "It follows the words that came; a convolution's planes have places of their own.", "The next beat for it goes there."),
        ", read at ", small("the place of the word read next", "u_activations.read_q", "It follows the rows that were read; a convolution's window says its places itself.", "That word enters the array next."),
        `, of ${array.scratchpad_words}`]],
      ["Current row", [value("activation_read") ? "row " : "none; last ", small("the row of the block", "row", counts("rows of the tile that were read"), "It is the row of the bank to which sums will be added.")],
       ["block ", small("the current block", "u_compute.block_q", counts("blocks of rows of the MATMUL"), "It says when the MATMUL ends."),
        ", tile ", small("the tile along K", "u_compute.tile_q", counts("tiles along K of the block"), "The first one begins sums, the last one ends them."), " along K, ",
        small("the tile along N", "u_compute.pass_q", counts("tiles along N of the block"), "It says which columns of results the sums are of."),
        " along N, bank ", small("the bank that is added to", "row_bank", "It changes with each block of results.", "Sums are added there, while the other bank is stored.")]],
      ["Storing", [value("store_read") ? "row " : "nothing; last ", small("the row that is stored", "store_row", counts("rows of the block that were read"), "The accumulator shows that row in the next cycle.")],
       ["bank ", small("the bank that is stored", "store_bank", "It changes with each block of results.", "Its sums leave for the results port.")]],
    ];
    if (jobs.some((job) => job.window)) {
      const walk = (title, name) => small(title, "u_compute.u_window." + name, counts("as the window walks over the map"), "It chooses the pixel that is read.");
      rows.push(["Window", ["tap ", walk("the tap's row", "tap_row_q"), ", ", walk("the tap's column", "tap_column_q")],
                 ["output pixel ", walk("the output pixel's row", "out_row_q"), ", ", walk("the output pixel's column", "out_column_q"), "; ",
                  ...(value("u_activations.inside_i") ? ["scratchpad word ", small("the scratchpad's word of the pixel", "u_activations.place_i", "The window adds steps to it, with each row and tap.", "That word enters the array.")]
                                                      : ["beyond the border"])]]);
    }
    this.list.replaceChildren(...rows.map(([name, much, more]) =>
        element("div", {}, element("dt", {}, name), element("dd", {}, ...much, element("small", {}, ...more)))));
    if (this.details.open) this.numbers(array.n);
  }

  table(title, name, first, count, n, make) {
    const lines = Array.from({length: count}, (_, i) => first + i).filter((word) => word >= 0 && word < this.shown.signals.words(name));
    return scrollingTable(title, title, [...wordColumns("word"), ...Array.from({length: n}, (_, i) => String(i))],
        rowsOfValues(lines.map((word) => [String(word), Array.from({length: n}, (_, i) => this.shown.values.show(make(word, i)))])));
  }

  numbers(n) {
    const {signals, values, origins} = this.shown;
    const before = (name, memory) => Math.max(0, Math.min(signals.value(name), signals.words(memory) - n) - 2);
    const weights = "u_weights.u_buffer.memory_q";
    const window = this.shown.simulation.about.jobs.some((job) => job.window);
    const place = signals.value(window ? "u_activations.place_i" : "u_activations.read_q");
    const banks = ["u_first", "banks.u_second"].map((bank) => `u_activations.u_scratchpad.${bank}.memory_q`);
    const bank = place < signals.words(banks[0]) ? 0 : 1, scratchpad = banks[bank];
    const first = bank ? signals.words(banks[0]) : 0;  // word of the scratchpad with which the bank begins
    const tables = [
      this.table("Weight buffer, around where it is read", weights, before("u_weights.read_q", weights), n + 2, n, (word, i) =>
          values.byte(`weight buffer, word ${word}, byte ${i}`, weights, word, i, () => origins.filled("weights", "weights", word, i), () => origins.weightGoes(word, i))),
      this.table("Scratchpad, around where it is read", scratchpad, window && !signals.value("u_activations.inside_i") ? 0 : Math.max(0, Math.min(place - first, signals.words(scratchpad) - n) - 2), n + 2, n, (word, i) =>
          values.byte(`scratchpad, word ${first + word}, byte ${i}`, scratchpad, word, i, () => origins.filled("scratchpad", "data", first + word, i),
              () => `Each time it is read it enters row ${i} of the array, or lane ${i} of the lanes.`)),
    ];
    for (const bank of [0, 1]) {
      const name = (column) => `u_accumulator.column[${column}].u_column.sums_${bank}_q`;
      tables.push(this.table(`Accumulator bank ${bank}, the first rows`, name(0), 0, 2 * n, n, (row, column) =>
          values.sum(`accumulator bank ${bank}, row ${row}, column ${column}`, name(column), row, 0, () => origins.accumulated(bank, row, column), () => origins.stored(bank, row, column))));
    }
    this.body.replaceChildren(...tables);
  }
}
