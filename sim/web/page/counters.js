// SPDX-License-Identifier: Apache-2.0
// What was counted and what was predicted; results and the expected ones.

class CountersView {
  constructor(shown) {
    this.shown = shown;
    this.body = element("tbody");
    this.verdict = element("p", {class: "verdict", id: "verdict", role: "status"});
    this.results = element("div", {});
    this.table = scrollingTable("Table of counters", "Counted so far, and predicted in the end",
        [...wordColumns("counter"), "counted", "predicted", ...wordColumns("meaning")], this.body);
    this.section = section("counters", "Counters and results",
        paragraph("Each engine spends every cycle on one cause. The prediction is made only from the commands and the memory's settings, before anything runs."),
        this.verdict, this.results, this.table);
  }

  opened() {
    const {about} = this.shown.simulation;
    this.body.replaceChildren(...about.counters.map((counter, i) => element("tr", {},
        element("th", {scope: "row", class: "text"}, words(`${counter.engine}: ${counter.cause}`)), element("td", {}, this.shown.values.show(this.counted(counter, i), "0")),
        element("td", {}, whole(about.predicted[i])), element("td", {class: "text long"}, counter.purpose))));
    this.results.replaceChildren();
    this.drawn = null;
  }

  /// Shows a counter by its name, or the results.
  mark(name) {
    if (name === "results") {
      this.results.querySelector("details").open = true;
      return;
    }
    const row = [...this.body.rows].find((one) => one.cells[0].textContent === name);
    row.classList.add("now");
    this.table.scrollTop = row.offsetTop - this.table.clientHeight / 2;
  }

  counted(counter, index) {
    const {simulation, signals, origins} = this.shown;
    const last = () => {
      for (let clock = simulation.standing.device_clock; signals.past(clock); --clock) {
        if (signals.counts(clock, index)) return `It counted last in ${origins.clock(clock)}.`;
      }
      return "It has not counted for as long as the page remembers.";
    };
    const {values} = this.shown;
    return {title: `The counter ${words(`${counter.engine}: ${counter.cause}`)}`, get text() { return whole(simulation.standing.counters[index]); },
            from: () => `${values.sentence(counter.purpose)} ${last()}`, to: () => "The driver reads it in a register; the page compares it with the prediction in the end."};
  }

  /// A result: what it was added from, and where it is.
  result(job, value, row, column) {
    const {simulation, origins} = this.shown;
    const about = simulation.about.jobs[job];
    const terms = () => {
      if (!about.a || about.window || about.lanes || about.results !== "int32") return "";
      const most = 4;
      const some = Array.from({length: Math.min(most, about.k)}, (_, k) => `${about.a[row][k]} × ${about.w[column][k]}`).join(" + ");
      return ` It begins ${some}${about.k > most ? " + …" : ""}.`;
    };
    const {n} = simulation.about.array;
    const wide = about.results === "int32" ? 4 : 1;
    const address = about.addresses.results + wide * ((Math.floor(column / n) * about.m + row) * n + column % n);
    return {title: printable(origins.result(job, row, column)), text: value,
            from: () => `It is a sum of ${whole(about.k || about.convolution.kernel ** 2)} ${about.k ? "products" : "values, of which it is the largest"}${about.results === "int32" ? "" : ", requantized"}` +
                        `${about.vector ? ", with what entered added in the element-wise unit" : ""}.${terms()}`,
            to: () => (simulation.opened.work.accumulate === "host" ? "The host added it from the tiles' sums." : `It is at address ${hex(address)}.`) +
                      (simulation.about.jobs.some((one) => one.source === job) ? " The next layer reads it there." : "")};
  }

  tell(good, text) {
    this.verdict.className = "verdict " + (good ? "good" : "bad");
    this.verdict.textContent = text;
  }

  draw() {
    const {standing, about, outcome, flips} = this.shown.simulation;
    standing.counters.forEach((count, i) => {
      this.body.rows[i].cells[1].firstChild.textContent = whole(count);
    });
    if (standing.state === "failed") return this.tell(false, `The device stopped with an error. ${standing.failure}`);
    if (!outcome) {
      this.verdict.className = "verdict";
      this.verdict.textContent = "The program runs.";
      this.results.replaceChildren();
      this.drawn = null;
      return;
    }
    if (this.drawn === outcome) return;
    this.drawn = outcome;
    const wrong = total(outcome.jobs.map((job) => job.wrong));
    const values = total(outcome.jobs.map((job) => job.results.length * job.results[0].length));
    const off = about.predicted.findIndex((count, i) => count !== outcome.counters[i]);
    const parts = [wrong === 0 ? `All ${whole(values)} results are right.` : `${whole(wrong)} of ${whole(values)} results are wrong.`];
    parts.push(off < 0 ? `All ${about.predicted.length} counters are as predicted: ${whole(outcome.clocks)} cycles.`
        : about.predictable ? `${whole(outcome.clocks)} cycles; the counter ${about.counters[off].engine} ${about.counters[off].cause} is not as predicted.`
        : `${whole(outcome.clocks)} cycles; without stalls it would be ${whole(about.predicted[0])}.`);
    if (flips.length !== 0) parts.push(`${flips.length === 1 ? "A bit was" : `${flips.length} bits were`} flipped; the device itself reported no error.`);
    this.tell(wrong === 0 && (off < 0 || !about.predictable), parts.join(" "));
    this.results.replaceChildren(...outcome.jobs.map((job, index) => this.matrix(about.jobs[index].name, job, index)));
  }

  matrix(name, {results, expected}, job) {
    const most = 32;
    const rows = results.slice(0, most);
    const more = results.length > most || results[0].length > most ? `, the first ${most}` : "";
    return element("details", {}, element("summary", {}, `Results of the ${name}: ${results.length} by ${results[0].length}`),
        scrollingTable(`Results of the ${name}`, `Rows of M by columns of N${more}; a wrong value shows the expected one`,
            [...wordColumns("row"), ...rows[0].slice(0, most).map((_, c) => String(c))],
            this.rows(rows, expected, job, most)));
  }

  /// A table's rows; a wrong value stands out.
  rows(rows, expected, job, most) {
    const body = rowsOfValues(rows.map((row, r) => [String(r), row.slice(0, most).map((value, c) =>
        this.shown.values.show(this.result(job, value, r, c), value === expected[r][c] ? String(value) : `${value} (not ${expected[r][c]})`))]));
    rows.forEach((row, r) => row.slice(0, most).forEach((value, c) => {
      if (value !== expected[r][c]) body.rows[r].cells[c + 1].classList.add("bad");
    }));
    return body;
  }
}
