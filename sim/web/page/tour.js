// SPDX-License-Identifier: Apache-2.0
// A guided tour: each step is a state of the page, and has a link.

const kNarrow = "(max-width: 64rem)";  // one column, as in page.css

const kTour = [
  {title: "Weights stay where they are", state: {array: 4, m: 6, k: 4, n: 4, go: "tile", more: 4}, look: "array",
   text: "The array is weight-stationary: each cell keeps one weight of W, and rows of A pass through. Weights of the first tile " +
         "have entered a column per cycle, just ahead of the activations that need them."},
  {title: "Why the skew", state: {array: 8, m: 8, k: 8, n: 8, go: "tile", more: 5}, look: "array",
   text: "Activations step one column to the right in each cycle, so one row of A is in different columns at different cycles: a slanted " +
         "wavefront. Every cell then meets its operand without any wire longer than a cell."},
  {title: "Partial sums go down", state: {array: 8, m: 8, k: 8, n: 8, go: "tile", more: 9}, look: "array",
   text: "Products of four rows are added before one register; its sum goes on to the rows below. The stage below works on the same row of A " +
         "one cycle later."},
  {title: "The next tile follows the last row", state: {array: 8, m: 8, k: 16, n: 16, go: "tile", tiles: 2, more: 3}, look: "array",
   text: "K and N are larger than the array, so W comes in tiles. While the last rows of one tile are still in the array, the next " +
         "tile's weights follow them, column by column: no cycle is lost between tiles."},
  {title: "What a partial sum costs", state: {array: 8, m: 16, k: 32, n: 8, accumulate: "host", go: "end"}, look: "counters", mark: "bytes: results",
   text: "With sums added by the host, every tile of K leaves the chip as int32. Compare the bytes of results with those of the same " +
         "product where the two banks on the chip add them."},
  {title: "Why few rows waste cycles", state: {array: 8, m: 1, k: 32, n: 32, go: "tile", tiles: 3, more: 3}, look: "array",
   text: "A tile takes as many cycles as its weights need to enter, N, however few rows of A there are. With M = 1 each cell has work in one " +
         "cycle of eight, so a single slanted line of cells is tinted; with M of at least N, nearly all are."},
  {title: "Who waits for memory", state: {array: 8, m: 8, k: 32, n: 32, latency: 200, go: "tile", more: 12}, look: "waves",
   text: "Memory that answers late costs its latency once, not for each burst, as requests go ahead of their answers. All engines waited " +
         "for the first words (orange); now words arrive in each cycle (blue)."},
  {title: "A flipped bit", state: {array: 4, m: 8, k: 4, n: 4, flip: "weight:1,2:6", go: "end"}, look: "counters", mark: "results",
   text: "One bit of the weight in row 1, column 2 was flipped as it was in use. Cycles are as predicted; a column of results is not. The check " +
         "against the reference shows which."},
];

class TourView {
  constructor(shown) {
    this.shown = shown;
    this.at = -1;
    this.title = element("h3", {}, "Eight steps");
    this.text = element("p", {"aria-live": "polite"}, "Each step opens a work, goes to a cycle, and explains what is to be seen there.");
    const button = (text, by) => element("button", {type: "button", onclick: () => this.go(this.at + by)}, text);
    this.card = element("div", {class: "step"}, this.title, this.text,
                        element("div", {class: "buttons"}, button("Step back", -1), button("Next step", 1)));
    this.section = section("tour", "Guided tour", this.card,
        element("ol", {class: "steps"}, kTour.map((step, index) =>
            element("li", {}, element("a", {href: `#tour=${index + 1}`}, step.title)))));
  }

  go(index) {
    location.hash = `tour=${Math.min(kTour.length, Math.max(1, index + 1))}`;
  }

  show(index) {
    this.at = index;
    const step = kTour[index];
    this.title.textContent = `${index + 1} of ${kTour.length}: ${step.title}`;
    this.text.textContent = step.text;
    this.section.querySelectorAll("li a").forEach((link, i) => set(link, {"aria-current": i === index ? "step" : "false"}));
    this.place();
    return step;
  }

  /// Puts the step where it can be read together with what it speaks of: in the column that stays in view, or, in one
  /// column, above that part.
  place() {
    const part = document.getElementById(kTour[this.at]?.look);
    if (matchMedia(kNarrow).matches && part) part.querySelector("h2").after(this.card);
    else this.section.querySelector("h2").after(this.card);
  }
}
