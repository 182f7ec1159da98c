// SPDX-License-Identifier: Apache-2.0
// The ports with their bursts, and the commands with the one in progress.

class PortsView {
  constructor(shown) {
    this.shown = shown;
    this.body = element("tbody");
    this.bursts = element("ul", {class: "bursts"});
    this.section = section("ports", "Ports",
        paragraph("A channel moves where both sides are ready, waits where only the sender is. Weights have a port of their own."),
        scrollingTable("Table of channels", "The channels of the memory ports in this cycle",
            wordColumns("channel", "handshake", "what"), this.body), this.bursts);
  }

  draw() {
    const {signals, values, origins, simulation} = this.shown;
    const {n} = simulation.about.array;
    const now = signals.past(simulation.standing.device_clock);
    const rows = [];
    const channel = (name, valid, ready, what) => {
      const [sent, taken] = [signals.value(valid), signals.value(ready)];
      rows.push([name, sent ? (taken ? "moves" : "waits") : (taken ? "ready" : "idle"), sent ? what() : "–"]);
    };
    const burst = (prefix) => `${signals.value(prefix + "len_o") + 1} beats from 0x${signals.value(prefix + "addr_o").toString(16)}`;
    // A beat, byte by byte; `port` counts the ports in the order of the addresses that are kept of each cycle.
    const beat = (port, of, data, last, to, place = "") => {
      const address = now?.[3 + port] === 0xffffffff ? null : now?.[3 + port];
      const described = (byte) => (address == null ? "It waits, or its address has not been given yet." : null) ??
          (port === 2 ? `It is written to address ${hex(address + byte)}: ${origins.element(address + byte)}.` : `It comes from address ${hex(address + byte)}: ${origins.element(address + byte)}.`);
      return [place, ...Array.from({length: n}, (_, byte) => [values.show(values.byte(`byte ${byte} of the ${of} beat`, data, undefined, byte,
          () => (port === 2 ? "It comes from the sums, by way of the engine of results." : described(byte)), () => (port === 2 ? described(byte) : to))), " "]).flat(),
              signals.value(last) ? "(last)" : ""];
    };
    channel("weights: request", "m_weights_arvalid_o", "m_weights_arready_i", () => burst("m_weights_ar"));
    channel("weights: data", "m_weights_rvalid_i", "m_weights_rready_o", () => beat(0, "weights", "m_weights_rdata_i", "m_weights_rlast_i", "It goes into the weight buffer."));
    const reader = (id) => data.readers[signals.value(id)] + ": ";
    channel("data: request", "m_data_arvalid_o", "m_data_arready_i", () => reader("m_data_arid_o") + burst("m_data_ar"));
    channel("data: data", "m_data_rvalid_i", "m_data_rready_o", () => beat(1, "data", "m_data_rdata_i", "m_data_rlast_i", `It goes to the engine of ${data.readers[signals.value("m_data_rid_i")]}.`, reader("m_data_rid_i")));
    channel("results: request", "m_results_awvalid_o", "m_results_awready_i", () => burst("m_results_aw"));
    channel("results: data", "m_results_wvalid_o", "m_results_wready_i", () => beat(2, "results", "m_results_wdata_o", "m_results_wlast_o"));
    channel("results: response", "m_results_bvalid_i", "m_results_bready_o", () => "a burst has been written");
    this.body.replaceChildren(...rows.map(([name, state, what]) => element("tr", {},
        element("th", {scope: "row", class: "text"}, name), element("td", {class: "text"}, state), element("td", {class: "text long"}, ...[what].flat()))));
    const most = 6;
    this.bursts.replaceChildren(...simulation.ask({do: "bursts"}).map((bursts, port) => element("li", {}, `Bursts in flight, ${["weights", "data", "results"][port]} port: ` +
        (bursts.length === 0 ? "none" : bursts.slice(0, most).map(([next, left]) => `${left} beats from ${hex(next)}`).join("; ") + (bursts.length > most ? ` and ${bursts.length - most} more` : "")) + ".")));
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
        element("th", {scope: "row", class: "text"}, String(index)), element("td", {class: "text"}, ""),
        element("td", {class: "text long"}, this.shown.values.show(this.described(command, index), command.text)))));
  }

  described(command, index) {
    const {simulation} = this.shown;
    const engines = {WEIGHTS: "weights", ACTIVATIONS: "activations", PARAMETERS: "parameters", OPERANDS: "second operands"};
    const [name] = command.text.split(" ");
    const to = /^LOAD_/.test(name) ? `engine of ${engines[name.slice(5)]}` : name === "STORE" ? "engine of results" : /^(MATMUL|DEPTHWISE|SET_WINDOW)/.test(name) ? "compute engine" : null;
    return {title: `Command ${index}`, text: command.text,
            from: () => `It is in the ring in memory, at address ${hex(simulation.about.ring + simulation.about.command_bytes * index)}, for the ${simulation.about.jobs[command.job].name}; the engine of commands fetches it.`,
            to: () => (to ? `It is dispatched to the ${to}.` : "The engine of commands carries it out itself, once all before it has ended as it asks.") +
                      (index < simulation.standing.dispatched ? " That has happened." : " That is to come.")};
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
