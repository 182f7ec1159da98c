// SPDX-License-Identifier: Apache-2.0
// Any value that is shown can be chosen: what it is, where it comes from, where it goes, and a bit to flip.

/// A value is described by its title; by signal, word, first bit and bits, whether it has a sign, and bits after the
/// point; or by its text only; and by from() and to(), which tell in words.
class Values {
  constructor(shown) {
    this.shown = shown;
    this.chosen = null;
    this.words = element("p", {}, "");
    this.from = element("p", {}, "");
    this.to = element("p", {}, "");
    this.bit = element("select", {id: "value-bit"});
    this.button = element("button", {type: "button", onclick: () => this.flip()}, "Flip it");
    this.flips = element("div", {class: "buttons"}, element("label", {}, element("span", {}, "bit"), this.bit), this.button);
    this.wire = element("p", {class: "soft"}, "It is no register, so none of its bits can be flipped; one of the register before it can.");
    this.panel = element("div", {id: "value", class: "value-described", role: "group", "aria-label": "The chosen value"},
        element("div", {"aria-live": "polite"}, this.words, this.from, this.to), this.flips, this.wire);
  }

  /// A button that shows a value, or these words for it.
  show(place, text) {
    return element("button", {type: "button", class: "value", "data-place": place.title, onclick: (event) => this.choose(place, event.currentTarget)},
        text ?? this.text(place));
  }

  /// "words moved" as "Words moved."
  sentence(text) {
    return text[0].toUpperCase() + text.slice(1).replace(/\.?$/, ".");
  }

  number(place) {
    return this.shown.signals.number(place);
  }

  text(place) {
    if (place.text !== undefined) return String(place.text);
    const value = this.number(place);
    return place.point ? String(Number((value / 2 ** place.point).toFixed(6))) : String(value);
  }

  /// Bits of it that can be flipped.
  writable(place) {
    const {simulation} = this.shown;
    return place.signal !== undefined && simulation.signals.get(place.signal).writable > (place.first ?? 0) ? place.bits : 0;
  }

  choose(place, at) {
    this.chosen = place;
    let child = at;
    while (child.parentElement.tagName !== "SECTION") child = child.parentElement;
    child.after(this.panel);
    const bits = this.writable(place);
    this.flips.hidden = bits === 0;
    this.wire.hidden = bits !== 0 || place.signal === undefined;
    this.bit.replaceChildren(...Array.from({length: bits}, (_, bit) => element("option", {value: bit}, String(bit))));
    this.bit.value = String(Math.max(0, bits - 2));
    this.draw();
    this.panel.scrollIntoView?.({block: "nearest"});
  }

  forget() {
    this.chosen = null;
    this.panel.remove();
  }

  draw() {
    const place = this.chosen;
    if (!place) return;
    const where = place.signal === undefined ? "" : ` (${place.signal}${place.word === undefined ? "" : `[${place.word}]`})`;
    this.words.replaceChildren(element("strong", {}, `${place.title[0].toUpperCase()}${place.title.slice(1)} is ${this.text(place)}`), `, in ${this.shown.origins.clock()}${where}.`);
    this.from.textContent = place.from();
    this.to.textContent = place.to();
  }

  flip() {
    const {signal, word = 0, first = 0} = this.chosen;
    this.shown.flip({signal, word, bit: first + Number(this.bit.value)});
  }

  /// What tables and lists show: bytes and lanes of a word.
  byte(title, signal, word, index, from, to) {
    return {title, signal, word, first: 8 * index, bits: 8, signed: true, from, to};
  }

  sum(title, signal, word, lane, from, to) {
    return {title, signal, word, first: 32 * lane, bits: 32, signed: true, from, to};
  }

  /// A number of its own, such as a pointer: also how long it has been so.
  small(title, signal, from, to) {
    const {bytes, writable} = this.shown.simulation.signals.get(signal);
    return {title, signal, first: 0, bits: writable || 8 * Math.min(6, bytes), from: () => `${from} ${this.shown.origins.since(signal)}`, to: () => to};
  }
}

/// In a table of buttons one is reached by Tab, the others by arrow keys.
function moveInTable(event) {
  const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
  const cell = event.target.closest?.("td");
  if (!step || !cell || !event.target.matches("button.value")) return;
  const row = cell.closest("tbody").rows[cell.parentElement.sectionRowIndex + step[0]];
  const next = row?.cells[cell.cellIndex + step[1]]?.querySelector("button.value");
  if (!next) return;
  event.preventDefault();
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/// A table's rows of buttons, of which Tab reaches the first.
function rowsOfValues(rows) {
  const body = element("tbody", {onkeydown: moveInTable}, rows.map(([name, cells, how]) =>
      element("tr", {class: how ?? null}, element("th", {scope: "row", class: "text"}, name), cells.map((cell) => element("td", {}, cell)))));
  body.querySelectorAll("button.value").forEach((one, index) => { one.tabIndex = index === 0 ? 0 : -1; });
  return body;
}
