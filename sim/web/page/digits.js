// SPDX-License-Identifier: Apache-2.0
// A digit that the reader draws, through a small network: three convolutions as one program.

const kDrawn = 32;  // points of the drawing along a side; 4 by 4 of them are a pixel of 0 to 16, as in the data it was trained with

class DigitsView {
  constructor(shown) {
    this.shown = shown;
    this.points = new Uint8Array(kDrawn * kDrawn);
    this.canvas = element("canvas", {width: 224, height: 224, class: "digit", role: "img", "aria-label": "Drawing of a digit; the buttons next to it choose ready ones",
      onpointerdown: (event) => {
        this.canvas.setPointerCapture(event.pointerId);
        this.point(event);
      },
      onpointermove: (event) => {
        if (event.buttons !== 0) this.point(event);
      }});
    this.verdict = element("p", {class: "verdict", role: "status", id: "class"});
    this.maps = element("div", {class: "maps"});
    this.section = section("digits", "A network on a digit",
        paragraph("Draw a digit, or pick a sample. Three convolutions run as one program: to 8 channels, with stride 2 to 16, and to ten values."),
        this.canvas,
        element("div", {class: "buttons"}, data.digits.samples.map((sample, digit) =>
            element("button", {type: "button", onclick: () => this.take(sample), "aria-label": `Take a ${digit}`}, String(digit)))),
        element("div", {class: "buttons"},
            element("button", {type: "button", id: "classify", onclick: () => this.shown.attempt(() => this.classify())}, "Run the network"),
            element("button", {type: "button", onclick: () => this.clear()}, "Clear")),
        this.verdict, this.maps);
  }

  point(event) {
    const side = this.canvas.clientWidth / kDrawn;
    const [x, y] = [event.offsetX / side, event.offsetY / side];
    for (let j = 0; j < kDrawn; ++j) {
      for (let i = 0; i < kDrawn; ++i) if (Math.hypot(i + 0.5 - x, j + 0.5 - y) < 2) this.points[j * kDrawn + i] = 1;
    }
    this.sample = null;
    this.paint();
  }

  take(sample) {
    this.sample = sample;
    this.points.fill(0);
    this.paint();
    this.shown.attempt(() => this.classify());
  }

  /// What was drawn, for a link: a digit of the data's, or the points of the drawing, four a letter.
  linked() {
    const sample = data.digits.samples.indexOf(this.sample);
    if (sample >= 0) return String(sample);
    return Array.from({length: this.points.length / 4}, (_, i) => this.points.slice(4 * i, 4 * i + 4).reduce((sum, point) => 2 * sum + point, 0).toString(16)).join("");
  }

  follow(said) {
    if (/^\d$/.test(said)) {
      this.sample = data.digits.samples[Number(said)];
    } else if (new RegExp(`^[\\da-f]{${this.points.length / 4}}$`).test(said)) {
      this.sample = null;
      this.points.set([...said].flatMap((letter) => [8, 4, 2, 1].map((bit) => (parseInt(letter, 16) & bit ? 1 : 0))));
    } else {
      throw new Refused(`The link's digit is "${printable(said)}"; give one from 0 to 9, or a drawing as the page links to it.`);
    }
    this.paint();
    this.classify();
  }

  clear() {
    this.sample = null;
    this.points.fill(0);
    this.verdict.textContent = "";
    this.maps.replaceChildren();
    this.paint();
  }

  /// 8 by 8 values from 0 to 16: the drawing, moved and stretched as the data's digits are.
  get pixels() {
    if (this.sample) return this.sample;
    const used = [...this.points.keys()].filter((at) => this.points[at]);
    if (used.length === 0) throw new Refused("Nothing is drawn yet; draw a digit first, or take one.");
    const xs = used.map((at) => at % kDrawn), ys = used.map((at) => Math.floor(at / kDrawn));
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs) + 1, Math.min(...ys), Math.max(...ys) + 1];
    const size = Math.max(bottom - top, right - left);
    const pixels = Array.from({length: 8}, () => new Array(8).fill(0));
    for (let j = 0; j < kDrawn; ++j) {
      for (let i = 0; i < kDrawn; ++i) {
        const x = Math.floor((left + right) / 2 + (i + 0.5 - kDrawn / 2) / kDrawn * size);
        const y = Math.floor((top + bottom) / 2 + (j + 0.5 - kDrawn / 2) / kDrawn * size);
        if (x >= 0 && y >= 0 && x < kDrawn && y < kDrawn) pixels[j >> 2][i >> 2] += this.points[y * kDrawn + x];
      }
    }
    return pixels;
  }

  paint() {
    const pen = this.canvas.getContext("2d");
    pen.fillStyle = color("--surface");
    pen.fillRect(0, 0, 224, 224);
    const side = this.sample ? 28 : 7;
    const values = this.sample ? this.sample.flat().map((value) => value / 16) : this.points;
    pen.fillStyle = color("--text");
    values.forEach((value, at) => {
      pen.globalAlpha = value;
      pen.fillRect(at % (224 / side) * side, Math.floor(at / (224 / side)) * side, side, side);
    });
    pen.globalAlpha = 1;
  }

  classify() {
    const a = this.pixels.flat().map((value) => [7 * value]);
    const array = Number(this.shown.form.fields.array.value);
    this.shown.open({array, memory: this.shown.form.request().memory,
                     work: {kind: "network", height: 8, width: 8, a, layers: data.digits.layers}});
    this.shown.move(() => this.shown.simulation.forward(10000000));
    const {outcome, about} = this.shown.simulation;
    if (!outcome) return;
    const values = outcome.jobs.at(-1).results[0];
    this.digit = values.indexOf(Math.max(...values));
    this.verdict.textContent = `It is a ${this.digit}. ${whole(outcome.clocks)} cycles, ${whole(about.predicted[0])} predicted, on the array of ${array} by ${array}.`;
    this.maps.replaceChildren(...outcome.jobs.slice(0, -1).map((job, index) => this.layer(job.results, `Layer ${index + 1}`, index)),
                              this.classes(values, outcome.jobs.length - 1));
  }

  /// The network's output: a bar for each class, with the digit and the value; the largest one decides.
  classes(values, job) {
    const width = 300, step = width / values.length, high = 70, base = high + 18;
    const most = Math.max(1, ...values.map(Math.abs));
    const parts = values.flatMap((value, digit) => {
      const wins = digit === this.digit;
      const x = digit * step, height = high * Math.abs(value) / most;
      const fill = value < 0 ? "var(--c-memory)" : wins ? "var(--accent)" : "var(--c-idle)";
      const choose = (event) => this.shown.values.choose(this.shown.counters.result(job, value, 0, digit), event.currentTarget.closest("svg"));
      const text = (y, words, more) => svg("text", {x: x + step / 2, y, "text-anchor": "middle", fill: "var(--text)", "font-weight": wins ? 700 : 400, ...more}, words);
      return [svg("rect", {x: x + 3, y: value < 0 ? base : base - height, width: step - 6, height: Math.max(1, height), fill, onclick: choose}),
              text(value < 0 ? base + height + 12 : base - height - 4, String(value), {"font-size": 11}), text(2 * high + 46, String(digit), {"font-size": 14})];
    });
    return element("figure", {class: "classes"}, element("figcaption", {}, `Output: a value for each digit; the largest, that of ${this.digit}, decides`),
        svg("svg", {viewBox: `0 0 ${width} ${2 * high + 52}`, width, height: 2 * high + 52, role: "img",
                    "aria-label": `The values of the digits: ${values.map((value, digit) => `${digit}: ${value}`).join(", ")}`}, ...parts));
  }

  /// The channels of a layer, a map each.
  layer(results, name, job) {
    const side = Math.round(Math.sqrt(results.length));
    const channels = results[0].length;
    const pixel = side === 1 ? 20 : 6;
    // A pixel shows its value and its origin; by keys, the tables of results do.
    const choose = (event) => {
      const scale = canvas.width / canvas.clientWidth;
      const [x, y] = [event.offsetX * scale, event.offsetY * scale].map(Math.floor);
      const channel = Math.floor(x / (side * pixel + 4));
      const column = Math.floor(x % (side * pixel + 4) / pixel);
      const row = Math.floor(y / pixel) * side + column;
      if (column >= side || channel >= channels || row >= results.length) return;
      this.shown.values.choose(this.shown.counters.result(job, results[row][channel], row, channel), canvas);
    };
    const canvas = element("canvas", {onclick: choose, width: channels * (side * pixel + 4), height: side * pixel, role: "img",
      "aria-label": `${name}: ${channels} channels of ${side} by ${side}` + (side === 1 ? `: ${results[0].join(", ")}` : "")});
    const pen = canvas.getContext("2d");
    results.forEach((row, at) => row.forEach((value, channel) => {
      pen.fillStyle = value < 0 ? color("--c-memory") : color("--c-work");
      pen.globalAlpha = Math.abs(value) / 128;
      pen.fillRect(channel * (side * pixel + 4) + at % side * pixel, Math.floor(at / side) * pixel, pixel, pixel);
    }));
    return element("figure", {}, element("figcaption", {}, `${name}: ${channels} channels of ${side} by ${side}`), canvas);
  }

  opened() {
    if (this.shown.simulation.opened.work.kind !== "network") {
      this.verdict.textContent = "";
      this.maps.replaceChildren();
    }
  }

  draw() {
    this.paint();
  }
}
