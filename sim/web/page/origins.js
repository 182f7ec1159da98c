// SPDX-License-Identifier: Apache-2.0
// Where values come from, in words.

const hex = (address) => "0x" + address.toString(16);

/// Of the work that is open, in the cycle that is shown.
class Origins {
  constructor(shown) {
    this.shown = shown;
  }

  get simulation() {
    return this.shown.simulation;
  }

  ask(what, of) {
    return this.simulation.ask({do: what, ...of});
  }

  clock(device) {
    return `clock ${whole(this.simulation.shownClock(device))}`;
  }

  /// What the byte at an address is.
  element(address) {
    return this.ask("element", {address})?.text ?? "a zero that fills up the word";
  }

  /// How long a small signal has had its value.
  since(name) {
    const {signals, simulation} = this.shown;
    const now = simulation.standing.device_clock;
    const value = signals.then(now, name);
    for (let clock = now; value !== null; --clock) {
      const before = signals.then(clock - 1, name);
      if (before === null) break;
      if (before !== value) return `It has been so since ${this.clock(clock)}; before, it was ${whole(before)}.`;
    }
    return "It has been so for as long as the page remembers.";
  }

  /// Where a byte of a buffer's word came from.
  filled(buffer, port, word, byte) {
    const found = this.ask("filled", {buffer, word});
    if (!found) return "No word has come here yet.";
    return `It came over the ${port} port in ${this.clock(found.clock)}, from address ${hex(found.address + byte)}: ${this.element(found.address + byte)}.`;
  }

  /// Where a word of the buffer of weights goes to.
  weightGoes(word, byte) {
    const {about} = this.simulation;
    const n = about.array.n;
    const found = this.ask("filled", {buffer: "weights", word});
    const element = found && this.ask("element", {address: found.address});
    const job = element ? about.jobs[element.job] : about.jobs[0];
    if (job.lanes) return `When it is read it goes to lane ${byte}, into the memory of one of its multipliers.`;
    const column = found ? (found.address - job.addresses.weights) / n % n : word % n;
    return `When it is read it goes into the array: row ${byte}, column ${column}.`;
  }

  /// The name of the result that leaves that many beats after those that have left, in a column of the array.
  leaving(ahead, column) {
    const row = this.ask("leaving", {beat: this.simulation.standing.stored_before + ahead});
    if (!row) return null;
    const at = row.n * this.simulation.about.array.n + column;
    return {...row, column: at, text: at < this.simulation.about.jobs[row.job].n ? this.result(row.job, row.row, at) : "a column after the last one"};
  }

  result(job, row, column) {
    return this.ask("result", {job, row, column});
  }

  /// Rows that entered the array up to the cycle that is shown.
  get entered() {
    const {about, standing} = this.simulation;
    return standing.counters[about.counters.findIndex((one) => one.engine === "compute" && one.cause === "compute")];
  }

  /// The row of activations that was read in that cycle of the device.
  enteredIn(clock) {
    const {signals, simulation} = this.shown;
    let row = this.entered;
    for (let at = simulation.standing.device_clock; at >= clock; --at) row -= signals.then(at, "activation_read") === 1 ? 1 : 0;
    return this.ask("entering", {row});
  }

  /// The operands that a row of the array gets with a row of activations: {a, w} in words, and their places in the
  /// matrices.
  operands({job: index, row: m, k: tile, n: tileOfN}, row, column) {
    const {about} = this.simulation;
    const job = about.jobs[index];
    const size = about.array.n;
    const n = tileOfN * size + column;
    if (!job.window) {
      const k = tile * size + row;
      const beyond = (outside) => (outside ? " (padding)" : "");
      return {k, n, m, a: `A[${m}, ${k}]${beyond(k >= job.k)}`, w: `W[${n}, ${k}]${beyond(n >= job.n || k >= job.k)}`};
    }
    const {width, height, out_width: across, kernel, stride, pad, channels} = job.convolution;
    const taps = kernel * kernel;
    const tap = tile % taps;
    const channel = Math.floor(tile / taps) * size + row;
    const y = Math.floor(m / across) * stride - pad + Math.floor(tap / kernel);
    const x = m % across * stride - pad + tap % kernel;
    const inside = y >= 0 && x >= 0 && y < height && x < width;
    const k = channel < channels ? channel * taps + tap : job.k;
    const beyond = channel >= channels ? " (padding)" : "";
    const from = job.source === undefined ? "" : ` of the ${about.jobs[job.source].name}'s results`;
    return {k, n, m, channel, pixel: inside ? y * width + x : -1,
            a: inside ? `channel ${channel} of pixel (${y}, ${x})${from}${beyond}` : "a zero from beyond the border",
            w: `the weight of output channel ${n}, channel ${channel}, tap (${Math.floor(tap / kernel)}, ${tap % kernel})${beyond}`};
  }

  /// The block of results whose sums are in a bank: {job, row, rows, n, whole}; null where there was none.
  inBank(bank) {
    const {blocks} = this.simulation.standing;
    const {about} = this.simulation;
    // Blocks take turns. The array may have begun one while the last sums of the one before are on their way.
    const lanes = about.jobs[0].lanes;
    const last = lanes || this.entered === 0 ? null : this.ask("entering", {row: this.entered - 1});
    const begun = lanes ? blocks : last?.block ?? -1;
    let number = begun - (begun + bank) % 2;
    let block = number < 0 ? null : this.ask("block", {block: number});
    if (!block && number >= 2) block = this.ask("block", {block: number -= 2});
    return block && {...block, whole: number < blocks};
  }

  accumulated(bank, row, column) {
    const block = this.inBank(bank);
    if (!block || row >= block.rows) return "Nothing of this work has been added here.";
    const {about} = this.simulation;
    const at = block.n * about.array.n + column;
    const job = about.jobs[block.job];
    const by = job.lanes ? `lane ${column}` : `the array's column ${column}`;
    const what = at < job.n ? this.result(block.job, block.row + row, at) : "a column after the last one";
    return `It is what ${by} gave for ${what}: ${block.whole ? "the whole sum" : "so far, the tiles along K before the current one, and that one where its row has passed"}.`;
  }

  stored(bank, row, column) {
    const block = this.inBank(bank);
    if (!block || row >= block.rows) return "It goes nowhere: the next block writes over it.";
    const {about} = this.simulation;
    const job = about.jobs[block.job];
    const path = job.results === "int32" ? "as it is" : job.vector ? "through requantizer and element-wise unit" : "through the requantizer";
    return block.whole ? `The engine of results reads it and sends it ${path} to memory.`
                       : `More tiles along K may be added; then it goes ${path} to memory.`;
  }

  /// The word that is that many rows above and words before the last one in the lanes' window: {job, address, text}.
  inWindow(row, before, lane) {
    const {signals, simulation} = this.shown;
    const {about} = simulation;
    const at = about.jobs.findIndex((one) => one.lanes);
    if (at < 0) return null;
    const job = about.jobs[at];
    const {width, height} = job.convolution;
    const now = simulation.standing.device_clock;
    for (let clock = now - 2; signals.then(clock, "u_lanes.shift") !== null; --clock) {
      if (signals.then(clock, "u_lanes.shift") !== 1) continue;
      const [x, y, plane] = ["x_q", "y_q", "plane_q"].map((name) => signals.then(clock, "u_lanes.u_walk." + name));
      const word = (plane * height + y) * width + x - row * width - before;
      if (word < 0 || word >= Math.ceil(job.convolution.channels / about.array.n) * height * width) return null;
      const address = job.addresses.activations + word * about.array.n + lane;
      return {address, came: clock, text: this.element(address)};
    }
    return null;
  }
}
