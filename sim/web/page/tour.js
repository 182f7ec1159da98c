// SPDX-License-Identifier: Apache-2.0
// A guided tour: each step is a state of the page, and has a link.

const kTour = [
  {title: "Weights stay where they are", state: {array: 4, m: 6, k: 4, n: 4, go: "tile"}, look: "array",
   text: "The array is weight-stationary: each cell keeps one weight of W, and rows of A pass through. Here the first tile starts. Its weights " +
         "are not all there yet: they enter a column per cycle, just ahead of the activations that need them."},
  {title: "Why the skew", state: {array: 8, m: 8, k: 8, n: 8, go: "tile", more: 5}, look: "array",
   text: "Activations step one column to the right in each cycle, so one row of A is in different columns at different cycles: a slanted " +
         "wavefront. Every cell then meets its operand without any wire longer than a cell."},
  {title: "Partial sums go down", state: {array: 8, m: 8, k: 8, n: 8, go: "tile", more: 9}, look: "array",
   text: "Products of four rows are added before one register; its sum goes on to the rows below. The stage below works on the same row of A " +
         "one cycle later."},
  {title: "The next tile enters behind the last row", state: {array: 8, m: 8, k: 16, n: 16, go: "tile", tiles: 2, more: 3}, look: "array",
   text: "K and N are larger than the array, so W comes in tiles. While the last rows of one tile are still on their way, the next " +
         "tile's weights follow them, column by column: no cycle is lost between tiles."},
  {title: "What a partial sum costs", state: {array: 8, m: 16, k: 32, n: 8, accumulate: "host", go: "end"}, look: "counters",
   text: "With sums added by the host, every tile of K leaves the chip as int32. Compare the bytes of results with those of the same " +
         "product where the two banks on the chip add them."},
  {title: "Why few rows waste cycles", state: {array: 8, m: 1, k: 32, n: 32, go: "end"}, look: "counters",
   text: "A tile takes as many cycles as its weights need to enter, N, however few rows of A there are. With M = 1 the cells have work in one " +
         "clock of eight; with M of at least N, in nearly all."},
  {title: "Who waits for memory", state: {array: 8, m: 8, k: 32, n: 32, latency: 200, go: "clock", more: 150}, look: "waves",
   text: "Memory that answers late costs its latency once, not for each burst, as requests go ahead of their answers. Look at what each engine " +
         "spends its cycles on."},
  {title: "A flipped bit", state: {array: 4, m: 8, k: 4, n: 4, flip: "weight:1,2:6", go: "end"}, look: "counters",
   text: "One bit of the weight in row 1, column 2 was flipped as it was in use. Cycles are as predicted; a column of results is not. The check " +
         "against the reference tells which."},
];

class TourView {
  constructor(shown) {
    this.shown = shown;
    this.at = 0;
    this.title = element("h3", {}, "Eight steps");
    this.text = element("p", {"aria-live": "polite"}, "Each step opens a work, goes to a cycle, and tells what is to be seen there.");
    this.section = section("tour", "Guided tour", this.title, this.text, element("div", {class: "buttons"},
        element("button", {type: "button", onclick: () => this.go(this.at - 1)}, "Step back"),
        element("button", {type: "button", onclick: () => this.go(this.at + 1)}, "Next step"),
        element("ol", {class: "steps"}, kTour.map((step, index) =>
            element("li", {}, element("a", {href: `#tour=${index + 1}`}, step.title))))));
  }

  go(index) {
    location.hash = `tour=${Math.min(kTour.length, Math.max(1, index + 1))}`;
  }

  show(index) {
    this.at = index;
    const step = kTour[index];
    this.title.textContent = `${index + 1} of ${kTour.length}: ${step.title}`;
    this.text.textContent = step.text;
    return step;
  }
}
