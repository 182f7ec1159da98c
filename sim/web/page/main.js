// SPDX-License-Identifier: Apache-2.0
// Puts the page together, and opens what its address says.

class Shown {
  constructor(module) {
    this.simulation = new Simulation(module);
    // Cycles are counted from the first in which the accelerator was busy; the doorbell rang a little before.
    this.simulation.shownClock = (clock = this.simulation.standing.device_clock) =>
        clock - this.simulation.standing.device_clock + this.simulation.standing.clock;
    this.simulation.deviceClock = (clock) => clock - this.simulation.standing.clock + this.simulation.standing.device_clock;
    this.signals = new Signals(this.simulation);
    this.origins = new Origins(this);
    this.values = new Values(this);
    this.form = new WorkForm(this);
    this.time = new TimeControls(this);
    this.array = new ArrayView(this);
    this.tour = new TourView(this);
    this.digits = new DigitsView(this);
    this.counters = new CountersView(this);
    this.flow = new FlowView(this);
    this.views = [this.array, this.flow, new WavesView(this), new MemoriesView(this), new VectorView(this), new LanesView(this),
                  new PortsView(this), new CommandsView(this), this.counters, this.digits];
  }

  /// Does something that may be refused; the reason is shown.
  attempt(action) {
    this.form.error.textContent = "";
    try {
      action();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.form.error.textContent = error.message;
      this.form.error.scrollIntoView?.({block: "nearest"});
    }
  }

  open(request) {
    this.simulation.open(request);
    this.time.opened();
    this.values.forget();
    this.views.forEach((view) => view.opened?.());
    this.array.chosen = [0, 0];
    // The cycles until the first command came are shown as cycle 0 at the earliest.
    this.simulation.until({counter: 0});
    this.simulation.first = this.simulation.standing.device_clock;
    this.draw();
  }

  move(action) {
    action();
    this.draw();
  }

  flip(what) {
    this.attempt(() => {
      this.simulation.flip(what);
      this.move(() => this.simulation.forward(1));
    });
  }

  draw() {
    const focused = document.activeElement?.dataset?.place;
    for (const view of this.views) {
      // While it plays, what is out of sight can wait.
      if (!this.time.timer || this.inSight(view.section)) view.draw();
      else view.say?.();
    }
    this.values.draw();
    // What had the focus was drawn again.
    if (focused && document.activeElement?.dataset?.place !== focused) document.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
    const {standing, about} = this.simulation;
    const states = {going: this.time.timer ? "playing" : "paused", stopped: "paused", ended: "done", failed: "stopped by an error"};
    const text = `Cycle ${whole(standing.clock)} of ${whole(about.predicted[0])}: ${states[standing.state]}`;
    const more = `${standing.dispatched} of ${about.commands.length} commands dispatched; ${this.array.state}.`;
    this.time.where.textContent = text;
    this.time.more.textContent = more;
    if (!this.time.timer) this.time.spoken.textContent = [`${text}.`, more, ...this.views.map((view) => view.spoken).filter(Boolean)].join(" ");
    document.getElementById("link")?.setAttribute("href", "#" + new URLSearchParams(this.linked()));
  }

  inSight(part) {
    const {top, bottom} = part.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  }

  /// What a link to this state says.
  linked() {
    const {simulation} = this;
    const said = this.form.values();
    if (simulation.opened.work.kind === "network") Object.assign(said, {kind: "network", digit: this.digits.linked()});
    if (simulation.flips.length !== 0) {
      said.flips = simulation.flips.map(({clock, what}) =>
          `${simulation.shownClock(clock)}!${typeof what === "string" ? what : [what.signal, what.word, what.bit].join("/")}`).join(";");
    }
    return {...said, clock: simulation.standing.clock};
  }

  /// Flips the bits that a link says, each at its clock.
  flipAll(said) {
    for (const one of said.split(";")) {
      const [, clock, what] = /^(\d+)!([^!]+)$/.exec(one) ?? [];
      if (!clock) throw new Refused(`The link flips "${printable(one)}"; give a cycle, an exclamation mark and a place, such as 70!weight:1,2:6.`);
      this.simulation.goTo(this.simulation.deviceClock(Number(clock)));
      const [signal, word, bit] = what.split("/");
      this.simulation.flip(bit === undefined ? what : {signal, word: Number(word), bit: Number(bit)});
    }
  }

  /// A product whose first tile is in the array, and that goes on.
  welcome() {
    this.form.set({array: "8", m: "24", k: "16", n: "16"});
    this.form.submit();
    this.play({go: "tile", more: 14});
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.time.toggle();
  }

  /// The state that the address specifies; a product that runs if it specifies none.
  follow() {
    const said = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    this.attempt(() => {
      if (said.tour) {
        const step = this.tour.show(typed("The tour's step", said.tour, 1, kTour.length) - 1);
        this.form.set(step.state);
        this.form.submit();
        this.play(step.state);
        if (step.mark) this.counters.mark(step.mark);
        document.getElementById(step.look).scrollIntoView();
      } else if (!said.kind && !said.array) {
        this.welcome();
      } else {
        if (said.kind === "network") {
          this.form.set({...said, kind: undefined});
          this.digits.follow(said.digit ?? "0");
        } else {
          this.form.set(said);
          this.form.submit();
        }
        if (said.flips) this.flipAll(said.flips);
        if (said.clock) this.move(() => this.simulation.goTo(this.simulation.deviceClock(typed("The cycle", said.clock, 0, 100000000))));
      }
    });
  }

  play({go, tiles = 1, more = 0, flip}) {
    this.move(() => {
      const {simulation} = this;
      if (flip || go === "tile") for (let i = 0; i < tiles; ++i) simulation.until({signal: "u_compute.start", value: 1});
      if (flip) {
        simulation.forward(4);
        simulation.flip(flip);
      }
      if (more) simulation.forward(more);
      if (go === "end") simulation.forward(10000000);
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    const action = this.time.keys.get(event.key);
    if (!action) return;
    event.preventDefault();
    this.attempt(action);
  }
}

function compose({tour, form, time, flow, views}) {
  document.title = "gemm64 in a browser";
  const column = element("div", {class: "side"});
  const parts = views.map((view) => view.section);
  parts.splice(-2, 0, time.section);
  // In one column the product comes first.
  const narrow = matchMedia(kNarrow);
  const arrange = () => {
    if (narrow.matches) flow.section.after(tour.section, form.section);
    else column.append(tour.section, form.section);
    tour.place();
  };
  const links = [tour.section, form.section, ...parts].map((one) => element("li", {}, element("a", {href: "#" + one.id}, one.querySelector("h2").textContent)));
  document.body.append(
      element("a", {class: "skip", href: "#main"}, "Skip to the accelerator"),
      element("header", {class: "top"}, element("h1", {}, "gemm64 in a browser"),
          paragraph("The accelerator's own RTL, compiled to WebAssembly: each value here is that of a register, in the cycle that is shown.")),
      time.bar,
      element("nav", {"aria-label": "parts of the page"}, element("ul", {}, links)),
      element("main", {id: "main", tabindex: -1}, column, element("div", {class: "parts"}, parts)),
      element("footer", {}, "Keys: c cycle, r row, t tile, d command, b back, n ten cycles back, p play or pause, s start, e end; arrows choose a cell of the array. " +
                            "This page needs no network."));
  arrange();
  narrow.addEventListener("change", arrange);
}

function tell(sentence) {
  document.body.append(element("main", {}, element("h1", {}, "gemm64 in a browser"), element("p", {class: "verdict bad", role: "alert"}, sentence)));
  document.documentElement.dataset.ready = "no";
}

if (typeof WebAssembly !== "object") {
  tell("This browser has no WebAssembly, which the simulation needs; open the page in Firefox, Chrome, Edge or Safari of 2022 or later.");
} else {
  const wasm = document.getElementById("wasm");
  const wasmBinary = Uint8Array.from(atob(wasm.textContent), (letter) => letter.charCodeAt(0));
  wasm.remove();
  gemm64_module({wasmBinary}).then((module) => {
    const shown = new Shown(module);
    compose(shown);
    shown.follow();
    addEventListener("hashchange", () => {
      if (!document.getElementById(location.hash.slice(1))) shown.follow();
    });
    addEventListener("keydown", (event) => shown.key(event));
    addEventListener("resize", () => shown.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown.draw());
    window.shown = shown;
    document.documentElement.dataset.ready = "yes";
  }).catch((error) => tell(`The simulation did not start (${error.message ?? error}); open the page in Firefox, Chrome, Edge or Safari of 2022 or later.`));
}
