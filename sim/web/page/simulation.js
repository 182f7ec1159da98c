// SPDX-License-Identifier: Apache-2.0
// The simulation in WebAssembly: works, cycles, and the way back.

const kStates = ["going", "stopped", "ended", "failed"];
const kPage = 1 << 12;         // bytes that a snapshot keeps or shares
const kMostKept = 192 << 20;   // bytes of all snapshots

/// What was asked was refused, in a sentence for the reader.
class Refused extends Error {}

/// All state of the simulation is in the module's memory, so a copy of that is a snapshot. One is kept every few
/// cycles; going back restores the last before the clock, and simulates the rest again.
class Simulation {
  constructor(module) {
    this.module = module;
    this.opened = null;
  }

  ask(request) {
    const answer = JSON.parse(this.module.ccall("gemm64_ask", "string", ["string"], [JSON.stringify(request)]));
    if (answer?.error) throw new Refused(answer.error);
    return answer;
  }

  /// Opens a work: {array, memory, work}. What was open before stays where this one is refused.
  open(request) {
    const before = this.opened ? this.copy() : null;
    try {
      this.about = this.ask({do: "open", ...request});
    } catch (error) {
      if (before) this.module.HEAPU8.set(before);
      throw error;
    }
    this.opened = request;
    this.signals = new Map(this.about.signals.map(([name, offset, bytes, words, writable]) => [name, {offset, bytes, words, writable}]));
    this.smallIndex = new Map(this.about.small.map((name, index) => [name, index + this.about.past_head]));
    this.stop = null;
    this.flips = [];
    this.speed = 20000;  // cycles a second, until it was measured
    this.measured = {cycles: 0, seconds: 0};
    this.standing = this.ask({do: "standing"});
    this.simulate(1);
    this.base = this.copy();
    this.snapshots = [{clock: this.standing.device_clock, pages: new Map(), flips: 0}];
    this.kept = 0;
    this.first = this.standing.device_clock;
    this.seenOutcome = null;
    return this.about;
  }

  copy() {
    return this.module.HEAPU8.slice(0, this.module._gemm64_memory_end());
  }

  /// Simulates without keeping anything; the state's name.
  simulate(cycles) {
    const begun = performance.now();
    const before = this.standing.device_clock;
    const state = kStates[this.module._gemm64_step(cycles)];
    this.standing = this.ask({do: "standing"});
    this.measured.cycles += this.standing.device_clock - before;
    this.measured.seconds += (performance.now() - begun) / 1000;
    if (this.measured.seconds > 0.02) {
      this.speed = Math.max(2000, this.measured.cycles / this.measured.seconds);
      this.measured = {cycles: 0, seconds: 0};
    }
    return state;
  }

  get over() {
    return this.standing.state === "ended" || this.standing.state === "failed";
  }

  /// Goes forward by at most that many cycles; true where it did them all.
  forward(cycles) {
    let left = cycles;
    while (left > 0 && !this.over) {
      const last = this.snapshots.at(-1).clock;
      const until = last + Math.max(500, Math.round(this.speed / 5)) - this.standing.device_clock;
      if (until <= 0) {
        this.keep();
        continue;
      }
      const now = Math.min(left, until);
      if (this.simulate(now) === "stopped") return false;
      left -= now;
    }
    return left === 0;
  }

  keep() {
    const end = this.module._gemm64_memory_end();
    const now = new Int32Array(this.module.HEAPU8.buffer, 0, end >> 2);
    const base = new Int32Array(this.base.buffer, 0, this.base.length >> 2);
    const pages = new Map();
    const words = kPage >> 2;
    for (let at = 0; at < now.length; at += words) {
      const most = Math.min(at + words, now.length);
      let i = at;
      while (i < most && now[i] === base[i]) ++i;
      if (i < most) pages.set(at * 4, this.module.HEAPU8.slice(at * 4, most * 4));
    }
    this.snapshots.push({clock: this.standing.device_clock, pages, flips: this.flips.length});
    this.kept += pages.size * kPage;
    if (this.kept > kMostKept) {  // every second one goes
      this.snapshots = this.snapshots.filter((one, index) => index % 2 === 0 || index + 1 === this.snapshots.length);
      this.kept = total(this.snapshots.map((one) => one.pages.size * kPage));
    }
  }

  /// Goes to a cycle of the device, forward or back, from the snapshot before it where that is nearer. Bits that were
  /// flipped from that cycle on are as they were.
  goTo(clock) {
    clock = Math.max(this.first, clock);
    const flips = this.flips.filter((one) => one.clock < clock);
    this.snapshots = this.snapshots.filter((one) => one.flips <= flips.length);
    const snapshot = this.snapshots.findLast((one) => one.clock <= clock);
    if (clock < this.standing.device_clock || snapshot.clock > this.standing.device_clock) {
      this.restore(snapshot);
      this.flips = flips.slice(0, snapshot.flips);
      for (const one of flips.slice(snapshot.flips)) {
        this.goOnTo(one.clock);
        this.flip(one.what);
      }
    }
    this.goOnTo(clock);
  }

  goOnTo(clock) {
    this.stopAt(null);
    while (this.standing.device_clock < clock && !this.over) this.forward(clock - this.standing.device_clock);
  }

  restore({pages}) {
    this.module.HEAPU8.fill(0, this.base.length, this.module._gemm64_memory_end());
    this.module.HEAPU8.set(this.base);
    for (const [at, bytes] of pages) this.module.HEAPU8.set(bytes, at);
    this.seenOutcome = null;
    this.standing = this.ask({do: "standing"});
  }

  back(cycles) {
    this.goTo(this.standing.device_clock - cycles);
  }

  /// {counter} or {signal, value}; null: nowhere.
  stopAt(where) {
    this.ask({do: "stop_at", ...(where ?? {})});
    this.stop = where;
  }

  /// Goes on to where that holds.
  until(where) {
    const old = this.stop;
    this.stopAt(where);
    while (this.forward(20000) && !this.over) continue;
    this.stopAt(old);
  }

  /// A fault as the program takes it, without its clock, or {signal, word, bit} of a register.
  flip(what) {
    this.ask({do: "flip", ...(typeof what === "string" ? {fault: what} : what)});
    this.snapshots = this.snapshots.filter((one) => one.clock <= this.standing.device_clock);
    this.flips.push({clock: this.standing.device_clock, what});
  }

  get outcome() {
    if (this.standing.state !== "ended") return null;
    this.seenOutcome ??= this.ask({do: "outcome"});
    return this.seenOutcome;
  }
}
