// SPDX-License-Identifier: Apache-2.0
// What was counted, beside what was predicted; results, beside what they must be.

class CountersView {
  constructor(shown) {
    this.shown = shown;
    this.body = element("tbody");
    this.verdict = element("p", {class: "verdict", id: "verdict", role: "status"});
    this.results = element("div", {});
    this.section = section("counters", "Counters and results",
        paragraph("Each engine spends every clock on one cause. The prediction is made from the commands and the memory's figures alone, before anything runs."),
        this.verdict,
        scrollingTable("Table of counters", "Counted so far, and predicted in the end",
            [...wordColumns("counter"), "counted", "predicted", ...wordColumns("meaning")], this.body),
        this.results);
  }

  opened() {
    const {about} = this.shown.simulation;
    this.body.replaceChildren(...about.counters.map((counter, i) => element("tr", {},
        element("th", {scope: "row", class: "text"}, words(`${counter.engine}: ${counter.cause}`)), element("td", {}, "0"),
        element("td", {}, whole(about.predicted[i])), element("td", {class: "text long"}, counter.purpose))));
    this.results.replaceChildren();
    this.drawn = null;
  }

  say(good, text) {
    this.verdict.className = "verdict " + (good ? "good" : "bad");
    this.verdict.textContent = text;
  }

  draw() {
    const {standing, about, outcome, flips} = this.shown.simulation;
    standing.counters.forEach((count, i) => {
      this.body.rows[i].cells[1].textContent = whole(count);
    });
    if (standing.state === "failed") return this.say(false, `The device stopped with an error. ${standing.failure}`);
    if (!outcome) {
      this.verdict.className = "verdict";
      this.verdict.textContent = "The program is under way.";
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
    parts.push(off < 0 ? `All ${about.predicted.length} counters are as predicted: ${whole(outcome.clocks)} clocks.`
        : about.predictable ? `${whole(outcome.clocks)} clocks; the counter ${about.counters[off].engine} ${about.counters[off].cause} is not as predicted.`
        : `${whole(outcome.clocks)} clocks; without stalls it would be ${whole(about.predicted[0])}.`);
    if (flips.length !== 0) parts.push(`${flips.length === 1 ? "A bit was" : `${flips.length} bits were`} flipped; the device itself reported no error.`);
    this.say(wrong === 0 && (off < 0 || !about.predictable), parts.join(" "));
    this.results.replaceChildren(...outcome.jobs.map((job, index) => this.matrix(about.jobs[index].name, job)));
  }

  matrix(name, {results, expected}) {
    const most = 32;
    const rows = results.slice(0, most);
    const more = results.length > most || results[0].length > most ? `, the first ${most}` : "";
    return element("details", {}, element("summary", {}, `Results of the ${name}: ${results.length} by ${results[0].length}`),
        scrollingTable(`Results of the ${name}`, `Rows of M by columns of N${more}; a wrong value tells what it must be`,
            ["row", ...rows[0].slice(0, most).map((_, c) => String(c))],
            element("tbody", {}, rows.map((row, r) => element("tr", {}, element("th", {scope: "row"}, String(r)),
                row.slice(0, most).map((value, c) => element("td", {class: value === expected[r][c] ? null : "more"},
                    value === expected[r][c] ? String(value) : `${value} (not ${expected[r][c]})`)))))));
  }
}
