// SPDX-License-Identifier: Apache-2.0
// Values of signals, in the cycle that is shown and in those before it.

class Signals {
  constructor(simulation) {
    this.simulation = simulation;
  }

  has(name) {
    return this.simulation.signals.has(name);
  }

  bytes(name, word = 0) {
    const {offset, bytes} = this.simulation.signals.get(name);
    const at = this.simulation.module._gemm64_view() + offset + word * bytes;
    return this.simulation.module.HEAPU8.subarray(at, at + bytes);
  }

  words(name) {
    return this.simulation.signals.get(name).words;
  }

  /// An unsigned number of at most 48 bits.
  value(name, word = 0) {
    return this.bytes(name, word).slice(0, 6).reduceRight((sum, byte) => sum * 256 + byte, 0);
  }

  /// The bits of a word from `first`, a multiple of 8, on; at most 48.
  number({signal, word = 0, first = 0, bits, signed = false}) {
    const all = this.bytes(signal, word).slice(first >> 3, (first >> 3) + Math.ceil(bits / 8));
    const value = all.reduceRight((sum, byte) => sum * 256 + byte, 0) % 2 ** bits;
    return signed && value >= 2 ** (bits - 1) ? value - 2 ** bits : value;
  }

  int8(name, word, byte = 0) {
    return this.bytes(name, word)[byte] << 24 >> 24;
  }

  int32(name, lane = 0, word = 0) {
    const at = this.bytes(name, word).subarray(4 * lane, 4 * lane + 4);
    return at[0] | at[1] << 8 | at[2] << 16 | at[3] << 24;
  }

  bit(name, index) {
    return this.bytes(name)[index >> 3] >> (index & 7) & 1;
  }

  /// The words of a cycle of the device that is past: its events at 1 and 2, the addresses of beats, then
  /// small signals. Null where it is forgotten.
  past(clock) {
    const words = this.simulation.about.past_words;
    const at = (this.simulation.module._gemm64_past() >> 2) + (clock % 512) * words;
    const found = this.simulation.module.HEAPU32.subarray(at, at + words);
    return clock >= 0 && found[0] === clock ? found : null;
  }

  then(clock, name) {
    const found = this.past(clock);
    const index = this.simulation.smallIndex.get(name);
    return found && index !== undefined ? found[index] : null;
  }

  /// What an engine spends a cycle of the device on; null if it is forgotten.
  cause(engine, clock = this.simulation.standing.device_clock) {
    const {counters} = this.simulation.about;
    return counters.find((one, counter) => one.engine === engine && this.counts(clock, counter))?.cause ?? null;
  }

  counts(clock, counter) {
    const found = this.past(clock);
    return found ? (counter < 32 ? found[1] >>> counter & 1 : found[2] >>> (counter - 32) & 1) : 0;
  }
}
