// SPDX-License-Identifier: Apache-2.0
// The element-wise unit: 8-bit results and a second operand.

const kVector = "u_output.u_results.u_vector.";
const kRequantize = "u_output.u_results.u_requantize.";
const kOperands = "u_output.u_operands.";
const ones = (number) => number.toString(2).replaceAll("0", "").length;

class VectorView {
  constructor(shown) {
    this.shown = shown;
    this.list = element("dl", {class: "tiles"});
    this.stages = element("div", {});
    this.described = element("p", {class: "soft", id: "vector-state"});
    this.body = element("div", {});
    this.details = element("details", {ontoggle: () => this.draw()}, element("summary", {}, "Second operands and table as numbers"), this.body);
    this.section = section("vector", "Requantizer and element-wise unit",
        paragraph("Sums become values of 8 bits in the requantizer's 9 stages. In the element-wise unit, 11 stages more, a second operand from memory is " +
                  "added or multiplied, or a table looked up, in float32: a residual block adds what entered it there."),
        this.described, this.list, this.stages, this.details);
  }

  /// The result in a column of the row in a stage; null where there is none.
  result(stage, column) {
    const {signals, origins} = this.shown;
    return origins.leaving(ones(Math.floor(signals.value(kVector + "valid_q") / 2 ** stage)), column);
  }

  requantized(stage, column) {
    const {signals, origins} = this.shown;
    return origins.leaving(ones(signals.value(kVector + "valid_q")) + ones(Math.floor(signals.value(kRequantize + "valid_q") / 2 ** stage)), column);
  }

  /// The second operand that belongs to a result.
  operand(result) {
    const job = this.shown.simulation.about.jobs[result.job];
    if (!job.vector || result.address === undefined) return null;
    const address = result.address - job.addresses.results + job.addresses.operands + result.column % this.shown.simulation.about.array.n;
    return {address, text: this.shown.origins.element(address)};
  }

  draw() {
    const {signals, simulation, values} = this.shown;
    const small = (title, name, from, to) => values.show(values.small(title, name, from, to));
    const on = (name) => signals.value(name) !== 0;
    const used = simulation.about.jobs.some((job) => job.vector);
    const [requantized, under] = [kRequantize, kVector].map((scope) => ones(signals.value(scope + "valid_q")));
    const level = signals.value(kOperands + "level_q");
    const what = !on("u_output.u_results.vector_q") ? "not used" : on(kVector + "add_q") ? "adds the second operand" :
        on(kVector + "multiply_q") ? "multiplies with it" : "hands on";
    this.state = `${requantized} rows in the requantizer, ${under} in the element-wise unit, ${level} words of second operands wait`;
    this.spoken = used || requantized ? `${this.state}.` : null;
    this.described.textContent = this.state + (used ? "." : "; nothing of this work passes the element-wise unit: open a residual block to see it at work.");
    const tile = (name, much, ...more) => element("div", {}, element("dt", {}, name), element("dd", {}, much, element("small", {}, ...more)));
    this.list.replaceChildren(
        tile("Requantizer", `${requantized} of 9 stages`, "row given next: ",
             small("the row that is given next", "u_output.u_results.row_q", "One more with each row of a block that is read.", "It chooses the accumulator's row.")),
        tile("Element-wise unit", `${under} of 11 stages`, what),
        tile("Second operands", small("words of second operands that wait", kOperands + "level_q", "Words that came, less those that were read.",
                                      "A tile is stored once all its second operands are there."),
             "written at ", small("the place of the next operand", kOperands + "write_q", "One more with each word that comes.", "The next word goes there."),
             ", read at ", small("the place of the operand read next", kOperands + "read_q", "One more with each row that passes on.", "The next row takes that word.")),
        tile("Table", on(kVector + "table_on_q") ? "looked up" : "not used", "words to load: ",
             small("words of the table to load", "u_output.u_results.table_left_q", "256 bytes in words, less those that came.", "No row passes on before all are there.")));
    this.drawStages();
    if (this.details.open) this.drawMemories();
  }

  drawStages() {
    const {signals, simulation, values} = this.shown;
    const lanes = Array.from({length: simulation.about.array.n}, (_, lane) => lane);
    const row = (name, scope, stage, make) => {
      const there = Math.floor(signals.value(scope + "valid_q") / 2 ** (stage - 1)) % 2 === 1;
      const find = scope === kVector ? (lane) => this.result(stage, lane) : (lane) => this.requantized(stage, lane);
      const first = there ? find(0) : null;
      return [first ? `${name}, row ${first.row}` : name,
              lanes.map((lane) => (there ? values.show(make(lane, () => find(lane)?.text ?? "a row after the last one", () => find(lane))) : kNone)), there ? null : "soft"];
    };
    const lane = (title, signal, index, bits, signed, from, to, point) =>
        ({title: `${title}, lane ${index}`, signal, word: index, first: 0, bits, signed, point, from, to});
    const entering = (find) => {
      const result = find();
      const second = result && this.operand(result);
      return second ? `It came through the ring of second operands, from address ${hex(second.address)}: ${second.text}.` : "The element-wise unit takes no second operand now.";
    };
    const rows = [
      row("sum + bias", kRequantize, 1, (index, text) => lane("the sum with its bias", kRequantize + "biased_1", index, 32, true,
          () => `It is the sum for ${text()}, from the accumulator, and the bias of its column.`, () => "Its float32 goes on to be multiplied with the scale.")),
      row("8-bit result", kRequantize, 9, (index, text) => ({...values.byte(`the requantized result, lane ${index}`, kRequantize + "result_9_q", undefined, index,
          () => `It is ${text()}: the sum times the scale, rounded, and clamped.`,
          () => (signals.value("u_output.u_results.vector_q") ? "It goes on to the element-wise unit." : "It goes to the results port."))})),
      row("1: result", kVector, 1, (index, text) => lane("the result that enters", kVector + "result_1", index, 8, true,
          () => `It comes from the requantizer (through the table, where it is used), for ${text()}.`, () => "Its second operand is added to it in the stages that follow.")),
      row("1: second operand", kVector, 1, (index, text, find) => lane("the second operand", kVector + "operand_1", index, 8, true,
          () => entering(find), () => `It is added to ${text()}.`)),
      row("9: both sums", kVector, 9, (index, text) => lane("the sum with the second operand", kVector + "sum_9", index, 48, true,
          () => `It is the result and its second operand, each times its scale, for ${text()}.`, () => "It is rounded as float32 is, and then to a whole number.", 31)),
      row("10: rounded", kVector, 10, (index, text) => lane("the rounded sum", kVector + "whole_10", index, 11, true,
          () => `It is the sum for ${text()}, to the nearest whole number.`, () => "It is clamped to 8 bits in the next stage.")),
      row("11: leaves", kVector, 11, (index, text, find) => ({...values.byte(`what leaves the element-wise unit, lane ${index}`, kVector + "result_11_q", undefined, index,
          () => `It is ${text()}: the rounded sum, clamped.`,
          () => { const at = find(); return at?.address === undefined ? "It goes to the results port." : `It goes over the results port to address ${hex(at.address + index)}.`; })})),
    ];
    this.stages.replaceChildren(scrollingTable("Stages of requantizer and element-wise unit", "A row of results in each stage, a lane for each column", [...wordColumns("stage"), ...lanes.map(String)], rowsOfValues(rows)));
  }

  drawMemories() {
    const {signals, simulation, values, origins} = this.shown;
    const n = simulation.about.array.n;
    const ring = kOperands + "u_buffer.memory_q", table = kVector + "table_q";
    const first = Math.max(0, Math.min(signals.value(kOperands + "read_q") - 2, signals.words(ring) - n - 2));
    const rows = Array.from({length: n + 2}, (_, i) => first + i).map((word) => [String(word), Array.from({length: n}, (_, byte) =>
        values.show(values.byte(`second operand, word ${word}, lane ${byte}`, ring, word, byte, () => origins.filled("operands", "data", word, byte),
            () => `It is read with a row of results and goes to lane ${byte} of the element-wise unit.`)))]);
    const entries = Array.from({length: 16}, (_, i) => [String(16 * i), Array.from({length: 16}, (_, j) => {
      const entry = 16 * i + j;
      return values.show(values.byte(`the table's entry ${entry}`, table, Math.floor(entry / n), entry % n, () => "LOAD_OPERANDS brings a table ahead of the second operands, where a STORE asks for one.",
          () => `Where the table is used, a result whose byte is ${entry} becomes this.`));
    })]);
    const columns = (count) => Array.from({length: count}, (_, i) => String(i));
    this.body.replaceChildren(
        scrollingTable("Second operands", "Second operands, around where they are read", [...wordColumns("word"), ...columns(n)], rowsOfValues(rows)),
        scrollingTable("The table", "The table of the element-wise unit, 256 entries", [...wordColumns("entry"), ...columns(16)], rowsOfValues(entries)));
  }
}
