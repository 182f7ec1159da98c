// SPDX-License-Identifier: Apache-2.0
// What the reader sets: the work, the memory, and the time.

const kForm = [  // name, label, kind of work (null: all), least, most, at first
  ["m", "M", "product", 1, 512, 8], ["k", "K", "product", 1, 512, 16], ["n", "N", "product", 1, 512, 8],
  ["channels", "channels", "map", 1, 64, 4], ["out_channels", "output channels", "dense", 1, 64, 8], ["height", "height", "map", 1, 32, 8],
  ["width", "width", "map", 1, 32, 8], ["kernel", "kernel", "map", 1, 7, 3], ["stride", "stride", "map", 1, 4, 1], ["pad", "padding", "map", 0, 6, 1],
  ["seed", "seed of random numbers", null, 0, 1000000000, 1], ["latency", "latency of the memory, cycles", null, 1, 1000, 20],
];

const twoLayers = (kind) => kind === "chain" || kind === "residual";
const onLanes = (kind) => kind === "depthwise" || kind === "pool";

/// A whole number that a person typed, or a refusal in a sentence.
function typed(label, text, least, most) {
  if (!/^\s*([+-]?\d+|0x[\da-f]+)\s*$/i.test(text) || Number(text) < least || Number(text) > most) {
    throw new Refused(`${label} is "${printable(text)}"; give a whole number from ${least} to ${most}.`);
  }
  return Number(text);
}

/// Rows of numbers as a person types them; null where there are none.
function typedMatrix(label, text) {
  if (!text.trim()) return null;
  return text.trim().split(/\n+/).map((line) => line.trim().split(/[\s,;]+/).map((one) => typed(label, one, -128, 127)));
}

class WorkForm {
  constructor(shown) {
    this.shown = shown;
    this.fields = {};
    const field = ([name, label, kind, least, most, first]) => {
      this.fields[name] = element("input", {type: "text", inputmode: "numeric", value: first, size: 5, id: "field-" + name});
      return element("label", {"data-kind": kind}, element("span", {}, label), this.fields[name]);
    };
    const select = (name, label, options, kind = null) => {
      const made = choice(label, options, () => this.kinds());
      made.dataset.kind = kind ?? "";
      this.fields[name] = made.querySelector("select");
      return made;
    };
    this.matrices = {};
    const matrix = (name, label) => {
      this.matrices[name] = element("textarea", {rows: 3, cols: 24, spellcheck: "false"});
      return element("label", {"data-kind": name === "w" ? "w" : "numbers"}, element("span", {}, label), this.matrices[name]);
    };
    this.error = element("p", {class: "verdict bad", role: "alert", id: "refused"});
    this.form = element("form", {onsubmit: (event) => {
      event.preventDefault();
      this.shown.attempt(() => this.submit());
    }},
        element("div", {class: "fields"},
            select("array", "Array", [["4", "4 × 4"], ["8", "8 × 8"], ["16", "16 × 16"]]),
            select("kind", "Work", [["product", "a product"], ["convolution", "a convolution"], ["chain", "two convolutions, one program"],
                                     ["residual", "a residual block"], ["depthwise", "a depthwise convolution"], ["pool", "a pool (maximum)"]]),
            ...kForm.slice(0, 10).map(field),
            select("results", "results", [["int32", "int32 sums"], ["int8", "int8, requantized"]], "results"),
            select("accumulate", "tiles of K added", [["device", "on the device"], ["host", "by the host"]], "product")),
        element("details", {}, element("summary", {}, "Numbers of your own"),
            element("p", {class: "soft"}, "A row a line, from -128 to 127. A has M rows of K; W has N rows of K, as a Linear layer keeps it. Of a convolution, A has a row for each pixel, W one for each output channel, with channels and taps. Empty: random."),
            element("div", {class: "fields"}, matrix("a", "A"), matrix("w", "W"))),
        element("details", {}, element("summary", {}, "What if: memory and ports"),
            element("div", {class: "fields"}, ...kForm.slice(10).map(field),
                select("sharing", "ports", [["independent", "independent"], ["shared", "share one memory"], ["exclusive", "one at a time"],
                                            ["dram:lpddr4", "share an LPDDR4 channel"]]),
                select("stalls", "random stalls", [["0", "none"], ["0.1", "in 10 % of cycles"], ["0.3", "in 30 % of cycles"], ["0.6", "in 60 % of cycles"]]))),
        element("div", {class: "buttons"}, element("button", {type: "submit"}, "Open this work"), element("a", {id: "link", href: "#"}, "Link to this state")),
        this.error);
    this.section = section("work", "Work", this.form);
    this.kinds();
  }

  kinds() {
    const kind = this.fields.kind?.value ?? "product";
    for (const label of this.form?.querySelectorAll("label[data-kind]") ?? []) {
      const of = label.dataset.kind;
      const hidden = {product: kind !== "product", map: kind === "product", dense: kind === "product" || onLanes(kind),
                      results: twoLayers(kind), numbers: twoLayers(kind), w: twoLayers(kind) || kind === "pool"};
      label.hidden = hidden[of] ?? false;
    }
  }

  /// What the fields say, as a request.
  request() {
    const number = Object.fromEntries(kForm.map(([name, label, kind, least, most]) => [name, () => typed(label, this.fields[name].value, least, most)]));
    const work = {kind: this.fields.kind.value, results: this.fields.results.value, seed: number.seed()};
    for (const [name, , kind] of kForm.slice(0, 10)) {
      const asked = kind === "product" ? work.kind === "product" : work.kind !== "product" && !(kind === "dense" && onLanes(work.kind));
      if (asked) work[name] = number[name]();
    }
    if (work.kind === "product") work.accumulate = this.fields.accumulate.value;
    if (twoLayers(work.kind)) delete work.results;
    if (work.accumulate === "host" && work.results === "int8") throw new Refused("int8 results need the sums on the device; choose int32, or add tiles on the device.");
    if (!twoLayers(work.kind)) {
      for (const name of work.kind === "pool" ? ["a"] : ["a", "w"]) {
        const rows = typedMatrix(name.toUpperCase(), this.matrices[name].value);
        if (rows) work[name] = rows;
      }
    }
    return {array: Number(this.fields.array.value), work,
            memory: {latency: number.latency(), sharing: this.fields.sharing.value, stalls: Number(this.fields.stalls.value)}};
  }

  submit() {
    this.shown.open(this.request());
  }

  /// Shows what a link says; names that it does not know stay as they are.
  set(values) {
    for (const [name, field] of Object.entries(this.fields)) {
      const first = kForm.find((one) => one[0] === name)?.[5] ?? field.options?.[0].value;
      field.value = values[name] ?? first;
      if (field.options && field.selectedIndex < 0) throw new Refused(`The link asks for ${name} = "${printable(values[name])}"; there is no such choice.`);
    }
    for (const [name, area] of Object.entries(this.matrices)) area.value = values[name] ?? "";
    this.kinds();
  }

  values() {
    const typed = Object.entries(this.matrices).filter(([, area]) => area.value.trim());
    return Object.fromEntries([...Object.entries(this.fields), ...typed].map(([name, field]) => [name, field.value]));
  }
}

class TimeControls {
  constructor(shown) {
    this.shown = shown;
    const button = (text, key, action, id) =>
        element("button", {type: "button", id, "aria-keyshortcuts": key, onclick: () => this.shown.attempt(action)}, text, " ", element("kbd", {"aria-hidden": "true"}, key));
    const {simulation} = shown;
    const until = (where) => () => this.shown.move(() => simulation.until(where));
    this.keys = new Map();
    const made = [
      ["Cycle", "c", () => this.shown.move(() => simulation.forward(1)), "step-clock"],
      ["Row", "r", until({signal: "activation_read", value: 1}), "step-row"],
      ["Tile", "t", until({signal: "u_compute.start", value: 1}), "step-tile"],
      ["Command", "d", until({counter: 1}), "step-command"],
      ["Back", "b", () => this.shown.move(() => simulation.back(1)), "step-back"],
      ["−10", "n", () => this.shown.move(() => simulation.back(10)), "step-back-ten"],
      ["Start", "s", () => this.shown.move(() => simulation.goTo(simulation.first)), "to-start"],
      ["End", "e", () => this.shown.move(() => simulation.forward(10000000)), "to-end"],
    ].map(([text, key, action, id]) => {
      this.keys.set(key, action);
      return button(text, key, action, id);
    });
    this.play = element("button", {type: "button", id: "play", "aria-pressed": "false", "aria-keyshortcuts": "p", onclick: () => this.toggle()}, "Play");
    this.keys.set("p", () => this.toggle());
    this.speed = 4;
    this.clock = element("input", {type: "text", inputmode: "numeric", size: 6, id: "go-to", "aria-label": "Cycle to go to"});
    this.where = element("p", {id: "state", class: "verdict"});
    this.more = paragraph("");
    this.spoken = element("p", {id: "spoken", role: "status", class: "hidden"});
    this.stopAt = element("select", {id: "stop"});
    // Stays in view wherever the reader is.
    this.bar = element("div", {id: "bar", role: "region", "aria-label": "play controls"}, this.where, this.spoken,
        element("div", {class: "buttons"}, this.play, ...made,
            choice("at", [["4", "4 cycles/s"], ["1", "1 cycle/s"], ["10", "10 cycles/s"], ["60", "60 cycles/s"], ["1000", "1,000 cycles/s"], ["0", "full speed"]],
                   (value) => { this.speed = Number(value); })));
    this.section = section("time", "Go to a cycle", this.more,
        element("div", {class: "buttons"},
            element("form", {onsubmit: (event) => {
              event.preventDefault();
              this.shown.attempt(() => this.goTo());
            }}, this.clock, " ", element("button", {type: "submit"}, "Go to cycle")),
            element("form", {onsubmit: (event) => {
              event.preventDefault();
              this.shown.attempt(() => this.untilChosen());
            }}, element("label", {}, element("span", {}, "run until"), this.stopAt),
                element("input", {type: "text", inputmode: "numeric", size: 5, value: "1", id: "stop-value", "aria-label": "Value of the signal, or address"}), " ",
                element("button", {type: "submit"}, "Run"))));
  }

  opened() {
    const {about, signals} = this.shown.simulation;
    const chosen = this.stopAt.value;
    this.stopAt.replaceChildren(
        element("optgroup", {label: "an engine"}, about.counters.map((one, i) => [one, i]).filter(([one]) => one.engine !== "bytes" && one.engine !== "total")
            .map(([one, i]) => element("option", {value: `counter:${i}`}, words(`${one.engine}: ${one.cause}`)))),
        element("optgroup", {label: "an address crosses a port"}, ["weights", "data", "results"].map((port, i) =>
            element("option", {value: `port:${i}`}, `${port} port: the address`))),
        element("optgroup", {label: "a signal has the value"}, [...signals].filter(([, one]) => one.words === 0 && one.bytes <= 8)
            .map(([name]) => element("option", {value: `signal:${name}`}, name))));
    if (chosen) this.stopAt.value = chosen;
    this.stopPlaying();
  }

  untilChosen() {
    const [kind, name] = this.stopAt.value.split(/:(.*)/s);
    const value = kind === "counter" ? 1 : typed("The value", document.getElementById("stop-value").value, 0, 2 ** 48);
    const where = {counter: {counter: Number(name)}, signal: {signal: name, value}, port: {port: Number(name), value}};
    this.shown.move(() => this.shown.simulation.until(where[kind]));
  }

  goTo() {
    const clock = typed("The cycle", this.clock.value, 0, 100000000);
    this.shown.move(() => this.shown.simulation.goTo(this.shown.simulation.deviceClock(clock)));
  }

  toggle() {
    if (this.timer) return this.stopPlaying();
    this.play.setAttribute("aria-pressed", "true");
    this.play.textContent = "Pause";
    let before = performance.now();
    let owed = 0;
    this.pictures = 0;
    const turn = (now) => {
      this.timer = requestAnimationFrame(turn);
      const {simulation} = this.shown;
      owed += this.speed === 0 ? simulation.speed / 50 : (now - before) / 1000 * this.speed;
      before = now;
      const cycles = Math.min(Math.floor(owed), Math.ceil(simulation.speed / 30));
      owed = cycles < Math.floor(owed) ? 0 : owed - cycles;
      if (cycles > 0) this.shown.move(() => simulation.forward(cycles));
      ++this.pictures;
      if (simulation.over) this.stopPlaying();
    };
    this.timer = requestAnimationFrame(turn);
  }

  stopPlaying() {
    const played = this.timer;
    if (played) cancelAnimationFrame(played);
    this.timer = null;
    if (played) this.shown.draw();
    this.play.setAttribute("aria-pressed", "false");
    this.play.replaceChildren("Play ", element("kbd", {"aria-hidden": "true"}, "p"));
  }
}
