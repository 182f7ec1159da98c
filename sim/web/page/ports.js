// SPDX-License-Identifier: Apache-2.0
// The ports with their bursts, and the commands with the one under way.

class PortsView {
  constructor(shown) {
    this.shown = shown;
    this.body = element("tbody");
    this.section = section("ports", "Ports",
        paragraph("A channel moves where both sides are ready, waits where only the sender is. Weights have a port of their own."),
        scrollingTable("Table of channels", "The channels of the memory ports in this clock",
            wordColumns("channel", "handshake", "what"), this.body));
  }

  draw() {
    const {signals} = this.shown;
    const rows = [];
    const channel = (name, valid, ready, what) => {
      const [sent, taken] = [signals.value(valid), signals.value(ready)];
      rows.push([name, sent ? (taken ? "moves" : "waits") : (taken ? "ready" : "idle"), sent ? what() : "–"]);
    };
    const bytesOf = (name) => Array.from(signals.bytes(name).slice(0, this.shown.simulation.about.array.n), (byte) => byte << 24 >> 24);
    const burst = (prefix) => `${signals.value(prefix + "len_o") + 1} beats from 0x${signals.value(prefix + "addr_o").toString(16)}`;
    const beat = (data, last) => `${bytesOf(data).join(" ")}${signals.value(last) ? " (last)" : ""}`;
    channel("weights: request", "m_weights_arvalid_o", "m_weights_arready_i", () => burst("m_weights_ar"));
    channel("weights: data", "m_weights_rvalid_i", "m_weights_rready_o", () => beat("m_weights_rdata_i", "m_weights_rlast_i"));
    const reader = (id) => data.readers[signals.value(id)] + ": ";
    channel("data: request", "m_data_arvalid_o", "m_data_arready_i", () => reader("m_data_arid_o") + burst("m_data_ar"));
    channel("data: data", "m_data_rvalid_i", "m_data_rready_o", () => reader("m_data_rid_i") + beat("m_data_rdata_i", "m_data_rlast_i"));
    channel("results: request", "m_results_awvalid_o", "m_results_awready_i", () => burst("m_results_aw"));
    channel("results: data", "m_results_wvalid_o", "m_results_wready_i", () => beat("m_results_wdata_o", "m_results_wlast_o"));
    channel("results: response", "m_results_bvalid_i", "m_results_bready_o", () => "a burst has been written");
    this.body.replaceChildren(...rows.map(([name, state, what]) => element("tr", {},
        element("th", {scope: "row", class: "text"}, name), element("td", {class: "text"}, state), element("td", {class: "text long"}, what))));
  }
}

class CommandsView {
  constructor(shown) {
    this.shown = shown;
    this.body = element("tbody");
    this.section = section("commands", "Commands",
        paragraph("The ring's program. A command is dispatched to its engine, and engines run ahead of each other as far as their data allow."),
        scrollingTable("Table of commands", "The program", wordColumns("number", "state", "command"), this.body));
  }

  opened() {
    this.body.replaceChildren(...this.shown.simulation.about.commands.map((command, index) => element("tr", {},
        element("th", {scope: "row", class: "text"}, String(index)), element("td", {class: "text"}, ""), element("td", {class: "text long"}, command.text))));
  }

  draw() {
    const done = this.shown.simulation.standing.dispatched;
    [...this.body.rows].forEach((row, index) => {
      const state = index < done - 1 ? "dispatched" : index === done - 1 ? "dispatched last" : index === done ? "next" : "waits";
      if (row.cells[1].textContent !== state) row.cells[1].textContent = state;
      row.classList.toggle("now", index === done - 1);
    });
  }
}
