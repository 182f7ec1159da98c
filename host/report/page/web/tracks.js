// SPDX-License-Identifier: Apache-2.0
// What the timeline shows: slices of a recording, or one slice a layer where there is none.

/// Tracks of {name, slices: [{begin, end, cause, text}]}, slices in order and apart from each other; of several causes
/// at once they have `causes` instead of one.
function recordedTracks(recording) {
  return recording.tracks.map((track) => {
    let begin = recording.begin;
    let text = 0;
    return {name: track.name, slices: track.causes.map((cause, i) => {
      begin += track.gaps[i];
      text += track.texts[i];
      const slice = {begin, end: begin + track.clocks[i], cause: recording.causes[cause], text: printable(recording.texts[text])};
      begin = slice.end;
      return slice;
    })};
  });
}

/// Layers one after the other. What an engine did within a layer is known in sum only, so its causes stand above each
/// other, as high as their shares.
function summedTracks(layers) {
  const timed = layers.filter((layer) => layer.timed);
  const engines = new Map();
  const names = {name: "layers", slices: []};
  let begin = 0;
  for (const layer of timed) {
    const end = begin + layer.cycles;
    names.slices.push({begin, end, cause: "layer", text: printable(layer.name)});
    for (const row of layer.counters ? engineRows(countersOf([layer])) : []) {
      if (!engines.has(row.name)) engines.set(row.name, {name: row.name, slices: []});
      const causes = row.causes.filter(([, cycles]) => cycles > 0).sort((a, b) => causeOrder(a[0]) - causeOrder(b[0]));
      if (causes.length === 0) continue;
      engines.get(row.name).slices.push({begin, end, causes, cause: causes[0][0], text: printable(layer.name)});
    }
    begin = end;
  }
  return [names, ...engines.values()];
}

/// The first slice that ends after `clock`.
function sliceAt(slices, clock) {
  return d3.bisector((slice) => slice.end).right(slices, clock);
}

/// Cycles of a track in [begin, end) by cause.
function causesWithin(track, begin, end) {
  const sums = new Map();
  for (let i = sliceAt(track.slices, begin); i < track.slices.length && track.slices[i].begin < end; ++i) {
    const slice = track.slices[i];
    const part = Math.min(end, slice.end) - Math.max(begin, slice.begin);
    const all = slice.causes ? total(slice.causes.map(([, cycles]) => cycles)) : 1;
    for (const [cause, cycles] of slice.causes ?? [[slice.cause, 1]]) {
      sums.set(cause, (sums.get(cause) ?? 0) + part * cycles / all);
    }
  }
  return [...sums];
}

function sliceText(slice) {
  const span = `cycles ${whole(slice.begin)} to ${whole(slice.end)} (${whole(slice.end - slice.begin)})`;
  if (!slice.causes) return `${slice.cause === "layer" || words(slice.cause) === slice.text ? "" : words(slice.cause) + ", "}${slice.text}: ${span}`;
  const all = total(slice.causes.map(([, cycles]) => cycles));
  return `${slice.text}: ${span}; ` + slice.causes.map(([cause, cycles]) => `${words(cause)} ${percent(cycles / all)}`).join(", ");
}
