// SPDX-License-Identifier: Apache-2.0
// A small waveform of the last cycles: the engines' causes, and signals by the names that the views in waves/ give them.

const kWaves = [
  // What it is called, the signal, and whether it is a number rather than a bit.
  ["busy", "busy"], ["ring tail", "ring_tail", true], ["ring head", "ring_head", true], ["next command", "u_commands.opcode", true],
  ["words in the buffer", "weight_words", true], ["words ahead", "activation_words", true], ["start", "u_compute.start"],
  ["row read", "activation_read"], ["row", "row", true], ["tile", "u_compute.tile_q", true], ["pass", "u_compute.pass_q", true],
  ["bank", "row_bank"], ["block done", "block_done"], ["store reads", "store_read"], ["weights R", "m_weights_rvalid_i"],
  ["data R", "m_data_rvalid_i"], ["results W", "m_results_wvalid_o"],
];

class WavesView {
  constructor(shown) {
    this.shown = shown;
    this.picture = element("div", {class: "chart"});
    this.list = element("dl", {class: "tiles"});
    this.details = element("details", {ontoggle: () => this.draw()}, element("summary", {}, "Values of these signals"), this.list);
    this.section = section("waves", "Waveform",
        paragraph("Most recent cycles; the current one is at the right. The engines are at the top, in the color of what they did; signals follow."),
        colorLegend(stateLegend()), this.picture, this.details);
  }

  draw() {
    const {simulation, signals} = this.shown;
    const width = this.picture.clientWidth || 640;
    const left = 130, line = 18;
    const cycles = Math.max(8, Math.min(64, Math.floor((width - left - 4) / 14)));
    const now = simulation.standing.device_clock;
    const step = (width - left - 4) / cycles;
    const engines = [...new Set(simulation.about.counters.map((one) => one.engine))].filter((name) => name !== "total" && name !== "bytes");
    const rows = kWaves.filter(([, name]) => simulation.smallIndex.has(name));
    const height = (engines.length + rows.length + 1) * line + 4;
    const paths = [];
    const label = (text, y) => paths.push(svg("text", {x: 0, y: y + 13, fill: "var(--text)"}, text));
    const words = [];
    engines.forEach((engine, index) => {
      const y = index * line;
      label(engine, y);
      for (let i = 0; i < cycles; ++i) {
        const clock = now - cycles + 1 + i;
        const cause = signals.cause(engine, clock);
        if (cause === null) continue;
        const state = causeState(cause);
        const work = state === "work";
        paths.push(svg("rect", {x: left + i * step, y: y + (work ? 2 : 8), width: Math.max(1, step - 0.5), height: work ? line - 4 : line - 10, fill: `var(--c-${state})`},
            svg("title", {}, `cycle ${simulation.shownClock(clock)}: ${engine} ${cause}`)));
        if (i === cycles - 1) words.push(`${engine}: ${cause.replaceAll("_", " ")}`);
      }
    });
    rows.forEach(([text, name, number], index) => {
      const y = (engines.length + index) * line;
      label(text, y);
      let last = null;
      let path = "";
      const texts = [];
      for (let i = 0; i < cycles; ++i) {
        const value = signals.then(now - cycles + 1 + i, name);
        if (value === null) continue;
        const x = left + i * step;
        if (!number) {
          path += `${last === null ? "M" : "L"}${x},${y + (value ? 3 : line - 3)}h${step}`;
        } else if (value !== last) {
          paths.push(svg("path", {d: `M${x},${y + 3}v${line - 6}`, stroke: "var(--grid)"}));
          texts.push([x + 2, name.endsWith("opcode") ? data.opcodes[value] ?? "" : String(value)]);
        }
        last = value;
      }
      // A value that changes before its digits have space is not written.
      texts.forEach(([x, value], i) => {
        if (x + 6.5 * value.length + 2 < (texts[i + 1]?.[0] ?? width)) paths.push(svg("text", {x, y: y + 13, fill: "var(--soft)", "font-size": 10}, value));
      });
      if (path) paths.push(svg("path", {d: path, fill: "none", stroke: "var(--accent)"}));
    });
    label(`cycle ${simulation.shownClock()}`, (engines.length + rows.length) * line);
    this.causes = words.join(", ");
    this.spoken = this.causes && `${this.causes}.`;
    if (this.details.open) {
      this.list.replaceChildren(...rows.map(([text, name]) => element("div", {}, element("dt", {}, text),
          element("dd", {}, this.shown.values.show(this.shown.values.small(text, name, `The views of GTKWave call it ${text}.`, "Run until it has a value that you give, under Time."))))));
    }
    this.picture.replaceChildren(svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
        "aria-label": `The last ${cycles} cycles of ${rows.length} signals and ${engines.length} engines. In this cycle: ${this.causes}.`}, ...paths));
  }
}
