// SPDX-License-Identifier: Apache-2.0
// The timeline: the engines' tracks over the cycles, to be zoomed with wheel, fingers, buttons or keys.

const kTrack = {height: 24, gap: 5, label: 92, top: 8, right: 14, axis: 26};

/// One path a cause: as many slices as there are cost as little as a few.
function trackPaths(track, x, top, right) {
  const [from, to] = x.domain();
  const paths = new Map();
  const add = (cause, left, width, y = top, height = kTrack.height) => {
    paths.set(cause, (paths.get(cause) ?? "") + `M${left.toFixed(1)},${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`);
  };
  // Slices narrower than a pixel share it; what most of it is gives it its colour.
  let pixel = -1;
  let parts = new Map();
  const flush = () => {
    if (parts.size > 0) add([...parts].reduce((a, b) => (b[1] > a[1] ? b : a))[0], pixel, 1);
    parts = new Map();
  };
  for (let i = sliceAt(track.slices, from); i < track.slices.length && track.slices[i].begin < to; ++i) {
    const slice = track.slices[i];
    const left = Math.max(kTrack.label, x(slice.begin));
    const width = Math.min(right, x(slice.end)) - left;
    if (slice.causes) {
      const all = total(slice.causes.map(([, cycles]) => cycles));
      let y = top + kTrack.height;
      for (const [cause, cycles] of slice.causes) {
        const height = kTrack.height * cycles / all;
        add(cause, left, Math.max(0.4, width - (width > 4 ? 1 : 0)), (y -= height), height);
      }
    } else if (width >= 1) {
      add(slice.cause, left, width > 4 ? width - 0.7 : width);
    } else {
      if (Math.floor(left) !== pixel) flush();
      pixel = Math.floor(left);
      parts.set(slice.cause, (parts.get(slice.cause) ?? 0) + width);
    }
  }
  flush();
  return [...paths].map(([cause, d]) => svg("path", {d, fill: cause === "layer" ? "var(--accent)" : causeColor(cause)}));
}

/// Names inside slices that have room for them.
function trackNames(track, x, top, right) {
  const made = [];
  const [from, to] = x.domain();
  for (let i = sliceAt(track.slices, from); i < track.slices.length && track.slices[i].begin < to && made.length < 120; ++i) {
    const slice = track.slices[i];
    if (slice.causes) continue;
    const left = Math.max(kTrack.label, x(slice.begin));
    const room = Math.floor((Math.min(right, x(slice.end)) - left - 8) / 6.6);
    const text = slice.cause === "idle" ? "" : words(slice.text);
    // Names of layers may lack their beginning; of causes and tiles that would tell nothing.
    if (text && room >= (slice.cause === "layer" ? Math.min(6, text.length) : text.length)) {
      made.push(svg("text", {x: left + 4, y: top + 16, fill: "var(--surface)", "font-size": 11}, short(text, room)));
    }
  }
  return made;
}

function timelineView(tracks, label) {
  const all = [Math.min(...tracks.flatMap((t) => t.slices.slice(0, 1).map((s) => s.begin))),
               Math.max(...tracks.flatMap((t) => t.slices.slice(-1).map((s) => s.end)))];
  const pointed = element("p", {class: "pointed", role: "status"});
  const place = element("div", {class: "timeline chart", tabindex: 0, role: "group", "aria-label": label, "aria-describedby": "timeline-keys"});
  const sums = element("div");
  const height = kTrack.top + tracks.length * (kTrack.height + kTrack.gap) + kTrack.axis;
  const drawing = svg("svg", {role: "img", "aria-label": label, height});
  place.append(drawing);
  let width = 0;
  let x = d3.scaleLinear(all, [0, 1]);
  let at = {track: 0, clock: all[0]};  // of the keys

  const draw = () => {
    if (width === 0) return;
    const right = width - kTrack.right;
    const parts = [];
    tracks.forEach((track, i) => {
      const top = kTrack.top + i * (kTrack.height + kTrack.gap);
      parts.push(svg("text", {x: 0, y: top + 16, fill: "currentColor"}, short(track.name, 13)));
      parts.push(...trackPaths(track, x, top, right), ...trackNames(track, x, top, right));
    });
    const cursor = x(at.clock);
    if (document.activeElement === place && cursor >= kTrack.label - 1 && cursor <= right) {
      const top = kTrack.top + at.track * (kTrack.height + kTrack.gap);
      parts.push(svg("path", {d: `M${cursor},${top - 3}v${kTrack.height + 6}`, stroke: "var(--text)", "stroke-width": 3}));
    }
    const axis = svg("g", {transform: `translate(0,${height - kTrack.axis})`});
    d3.select(axis).call(d3.axisBottom(x).ticks(Math.max(2, width / 130)).tickFormat((v) => (Number.isInteger(v) ? whole(v) : "")));
    drawing.replaceChildren(...parts, axis);
  };
  const tell = () => {
    const [from, to] = x.domain().map(Math.round);
    const rows = tracks.slice(1).flatMap((track) => causesWithin(track, from, to).map(([cause, cycles]) => ({track, cause, cycles})));
    sums.replaceChildren(table({caption: `cycles ${whole(from)} to ${whole(to)}, by engine and cause`, rows, columns: [
      column("engine", (r) => r.track.name), column("cause", (r) => words(r.cause)), numeric("cycles", (r) => Math.round(r.cycles)),
      numeric("share", (r) => r.cycles / Math.max(1, to - from), percent)]}));
  };

  const zoom = d3.zoom().filter((event) => event.type !== "wheel" ? !event.button : event.ctrlKey || event.metaKey || document.activeElement === place)
                   .on("zoom", ({transform}) => {
    x = transform.rescaleX(d3.scaleLinear(all, [kTrack.label, width - kTrack.right]));
    requestAnimationFrame(draw);
  }).on("end", tell);
  const selection = d3.select(drawing).call(zoom).on("dblclick.zoom", null);
  const show = (from, to) => {
    if (width === 0) return;
    const room = width - kTrack.right - kTrack.label;
    const k = (all[1] - all[0]) / (to - from);
    selection.call(zoom.transform, d3.zoomIdentity.translate(kTrack.label, 0).scale(k)
        .translate(-kTrack.label - room * (from - all[0]) / (all[1] - all[0]), 0));
  };
  const resize = () => {
    const now = place.clientWidth === 0 ? width : Math.max(280, Math.floor(place.clientWidth));  // 0: not laid out
    if (now === width) return;
    const domain = width ? x.domain() : all;
    width = now;
    set(drawing, {width, viewBox: `0 0 ${width} ${height}`});
    const extent = [[kTrack.label, 0], [width - kTrack.right, height]];
    zoom.extent(extent).translateExtent(extent).scaleExtent([1, Math.max(1, (all[1] - all[0]) / 16)]);
    show(...domain);
  };
  new ResizeObserver(resize).observe(place);

  const by = (factor) => selection.call(zoom.scaleBy, factor);
  const move = (part) => selection.call(zoom.translateBy, -part * (width - kTrack.label) / d3.zoomTransform(drawing).k, 0);
  const say = (track, slice) => { pointed.textContent = slice ? `${track.name}: ${sliceText(slice)}` : ""; };
  const step = (tracksOn, slicesOn) => {
    at.track = Math.max(0, Math.min(tracks.length - 1, at.track + tracksOn));
    const {slices} = tracks[at.track];
    if (slices.length === 0) return say(tracks[at.track], null);
    const [from, to] = x.domain();
    if (at.clock < from || at.clock >= to) at.clock = from;
    const i = Math.max(0, Math.min(slices.length - 1, sliceAt(slices, at.clock) + slicesOn));
    if (slicesOn !== 0) at.clock = slices[i].begin;
    if (at.clock < from || at.clock >= to) show(...[at.clock - (to - from) / 4, at.clock + (to - from) * 3 / 4].map((v, k) =>
        Math.max(all[0] + (k ? to - from : 0), Math.min(all[1] - (k ? 0 : to - from), v))));
    say(tracks[at.track], slices[i]);
    draw();
  };
  const keys = {
    ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => by(2), "=": () => by(2), "-": () => by(0.5),
    Home: () => show(...all), "0": () => show(...all), ArrowUp: () => step(-1, 0), ArrowDown: () => step(1, 0),
    n: () => step(0, 1), p: () => step(0, -1),
  };
  place.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  place.addEventListener("focus", draw);
  place.addEventListener("blur", draw);
  drawing.addEventListener("pointermove", (event) => {
    const [left, y] = d3.pointer(event, drawing);
    const track = tracks[Math.floor((y - kTrack.top) / (kTrack.height + kTrack.gap))];
    if (!track || left < kTrack.label) return;
    const clock = x.invert(left);
    const slice = track.slices[sliceAt(track.slices, clock)];
    say(track, slice && slice.begin <= clock ? slice : null);
  });
  const button = (text, name, action) => element("button", {type: "button", "aria-label": name, onclick: action}, text);
  const spans = tracks[0].slices;
  const layers = spans.length > 1 ? choice("Show:", [["all", "all layers"], ...spans.map((s, i) => [i, short(s.text, 60)])],
      (value) => (value === "all" ? show(...all) : show(spans[value].begin, Math.max(spans[value].end, spans[value].begin + 16)))) : null;
  const causes = tracks.slice(1).flatMap((t) => t.slices.flatMap((s) => (s.causes ? s.causes.map(([cause]) => cause) : [s.cause])));
  return [
    element("div", {class: "buttons"}, button("+", "zoom in", () => by(2)), button("−", "zoom out", () => by(0.5)),
            button("←", "earlier", () => move(-0.5)), button("→", "later", () => move(0.5)), button("all", "show all cycles", () => show(...all)), layers),
    element("figure", {}, place, causeLegend(causes)), pointed,
    element("p", {class: "soft", id: "timeline-keys"}, "Drag to move; zoom with the wheel while the timeline has the focus, or with Ctrl. Keys: ",
            ...["← →", " move, ", "+ −", " zoom, ", "0", " all, ", "↑ ↓", " choose an engine, ", "n p", " its next and previous slice."]
                .map((text, i) => (i % 2 === 0 ? element("kbd", {}, text) : text))),
    folded("cycles in view, by engine and cause", sums),
  ];
}

function timeline(report, layers) {
  const recording = data.timeline;
  const tracks = recording ? recordedTracks(recording) : summedTracks(layers);
  if (tracks.length === 0 || tracks.every((track) => track.slices.length === 0)) return null;
  const text = recording
      ? "What each engine did, as recorded cycle by cycle." +
            (recording.shortest > 1 ? ` Neighbouring slices of fewer than ${whole(recording.shortest)} cycles stand as one, named after what most of them were; the file of --timeline has them all.` : "")
      : `${isAnalysis(report) ? "Predicted cycles" : "Cycles"} of the layers, one after the other.` +
            (isAnalysis(report) ? "" : " Within a layer only sums are known: an engine’s causes stand above each other, as high as their shares. A run with --timeline FILE.json in addition to --report shows every command and tile.");
  return section("timeline", "Timeline", paragraph(text),
                 ...timelineView(tracks, `Timeline of ${tracks.length} tracks: ${tracks.map((t) => printable(t.name)).join(", ")}`));
}
