// SPDX-License-Identifier: Apache-2.0
// Charts by Observable Plot, drawn again where their width changes.

/// `draw(width)` gives an SVG element. `label` says what it shows; `after` follows inside the figure.
function chart(label, draw, ...after) {
  const frame = element("div", {class: "chart"});
  let width = 0;
  const update = () => {
    if (frame.clientWidth === 0) return;  // not laid out
    const now = Math.max(280, Math.floor(frame.clientWidth));
    if (now === width) return;
    width = now;
    const drawn = draw(width);
    // One picture with one label; its parts have none of their own.
    drawn.querySelectorAll("[aria-label]").forEach((part) => part.removeAttribute("aria-label"));
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", label);
    frame.replaceChildren(drawn);
  };
  new ResizeObserver(update).observe(frame);
  return element("figure", {}, frame, ...after);
}

/// The names next to bars: places in a list, since names may repeat.
function nameAxis(names, width) {
  const most = width < 520 ? 16 : 28;
  const longest = Math.max(4, ...names.map((name) => Math.min(most, [...printable(name)].length)));
  return {margin: Math.round(22 + 7.1 * longest), domain: names.map((_, i) => i), format: (i) => short(names[i], most)};
}

const rowHeight = (count) => (count > 40 ? 16 : 26);

const kPen = document.createElement("canvas").getContext("2d");
function textWidth(text) {
  kPen.font = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';  // as page.css sets charts
  return kPen.measureText(text).width;
}

/// As many ticks of a scale as have space for their labels; `candidates(count)` returns about that many.
function fittingTicks(scale, format, candidates = (count) => scale.ticks(count)) {
  for (let count = 8; count > 1; --count) {
    const ticks = candidates(count);
    const fits = (tick, i) => i === 0 || scale(tick) - scale(ticks[i - 1]) >= (textWidth(format(tick)) + textWidth(format(ticks[i - 1]))) / 2 + 10;
    if (ticks.length <= count + 2 && ticks.every(fits)) return ticks;
  }
  return candidates(1).slice(0, 1);
}

/// Round numbers of a logarithmic scale: 1, 2 and 5 times powers of ten, or some of the powers.
function logTicks([low, high], count) {
  const decades = Math.log10(high / low);
  const steps = 3 * decades <= count ? [1, 2, 5] : [1];
  const stride = steps.length > 1 ? 1 : Math.max(1, Math.ceil(decades / count));
  return d3.range(Math.floor(Math.log10(low)), Math.log10(high), stride)
      .flatMap((power) => steps.map((step) => step * 10 ** power)).filter((tick) => tick >= low && tick <= high);
}

/// Bars of rows next to their names. `marks`: of Plot, with y = the row's place. `x.tickValues(count)` returns ticks other
/// than the scale's.
function bars({width, names, x: {tickValues, ...x}, marks, space = 0, ...more}) {
  const axis = nameAxis(names, width);
  const right = 24 + space;
  const scale = (x.type === "log" ? d3.scaleLog : d3.scaleLinear)(x.domain, [axis.margin, width - right]);
  return Plot.plot({
    width, marginLeft: axis.margin, marginRight: right, marginTop: 10, marginBottom: x.label ? 44 : 34,
    height: (x.label ? 56 : 46) + rowHeight(names.length) * names.length,
    x: {axis: "bottom", grid: true, ticks: fittingTicks(scale, x.tickFormat, tickValues), ...x},
    y: {type: "band", domain: axis.domain, tickFormat: axis.format, label: null, tickSize: 0, padding: 0.22},
    marks, ...more,
  });
}

/// Shapes tell kinds apart where colours do not. Each has one meaning on the page: what bounds a layer, or a formula.
const kBoundSymbols = ["circle", "triangle", "square", "diamond", "cross", "hexagon"];
const kFormulaSymbols = ["star", "wye", "down", "bar", "hexagon"];
/// Those that D3 does not have, as polygons of unit size.
const kPolygons = {
  down: [[0, 0.9], [0.8, -0.5], [-0.8, -0.5]],
  bar: [[-0.28, -0.9], [0.28, -0.9], [0.28, 0.9], [-0.28, 0.9]],
  hexagon: [[0, -0.9], [0.78, -0.45], [0.78, 0.45], [0, 0.9], [-0.78, 0.45], [-0.78, -0.45]],
};
function symbolOf(name) {
  if (!kPolygons[name]) return d3["symbol" + name[0].toUpperCase() + name.slice(1)];
  return {draw(context, size) {
    const unit = Math.sqrt(size / 2);
    kPolygons[name].forEach(([x, y], i) => (i === 0 ? context.moveTo(x * unit, y * unit) : context.lineTo(x * unit, y * unit)));
    context.closePath();
  }};
}
const kKindColors = ["var(--c-work)", "var(--c-memory)", "var(--c-compute)", "var(--c-weights)", "var(--c-buffer)",
                     "var(--c-engine)", "var(--c-other)"];

function legend(items) {
  return element("ul", {class: "legend"}, items.map(({name, color, symbol}) => {
    const path = symbol ? d3.symbol(symbolOf(symbol), 70)() : "M-6,-6h12v12h-12z";
    return element("li", {}, svg("svg", {width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true"},
                                 svg("path", {d: path, fill: color})), name);
  }));
}

const kCauseColors = {
  dispatch: "work", transfer: "work", compute: "work", drain: "drain", fill: "drain", idle: "idle",
  wait_memory: "memory", wait_buffer: "buffer", wait_scratchpad: "scratchpad", wait_engine: "engine",
  wait_weights: "weights", wait_activations: "activations", wait_compute: "compute", wait_results: "results",
  wait_parameters: "parameters", wait_response: "response",
};
const causeColor = (cause) => `var(--c-${kCauseColors[cause] ?? "other"})`;
/// Of names written on it.
const causeText = (cause) => ({idle: "var(--text)", drain: "#10131a", fill: "#10131a"}[cause] ?? "var(--surface)");
/// Work first, then waits, then what is idle.
const causeOrder = (cause) => {
  const at = Object.keys(kCauseColors).indexOf(cause);
  return cause === "idle" ? 1000 : at < 0 ? 900 : at;
};
/// An item for each color; causes of one color share it.
const causeLegend = (causes) => legend([...d3.group([...new Set(causes)].sort((a, b) => causeOrder(a) - causeOrder(b)), causeColor)]
                                           .map(([color, all]) => ({name: all.map(words).join(", "), color})));
