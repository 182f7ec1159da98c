// SPDX-License-Identifier: Apache-2.0
// MACs and traffic of all layers of an analysis, those that stay on the host included.

function traffic(report, layers) {
  if (!isAnalysis(report)) return null;
  const rows = layers.filter(({raw}) => raw.macs || raw.read_bytes || raw.written_bytes)
      .map((layer) => ({name: layer.name, macs: layer.macs ?? 0, bytes: {read: layer.raw.read_bytes ?? 0, written: layer.raw.written_bytes ?? 0}}));
  if (rows.length === 0) return null;
  const most = Math.max(1, ...rows.map((row) => row.macs));
  const macs = chart(`MACs of ${rows.length} layers, at most ${whole(most)}`, (width) => bars({
    width, names: rows.map((row) => row.name), x: {domain: [0, most], tickFormat: compact, label: null}, marks: [
      Plot.barX(rows, {y: (_, i) => i, x: "macs", fill: "var(--c-work)"}),
      Plot.tip(rows, Plot.pointerY({y: (_, i) => i, x: "macs", maxRadius: 400, title: (r) => `${printable(r.name)}\n${whole(r.macs)} MACs`}))]}));
  return section("traffic", "MACs and traffic", paragraph("All layers; traffic is what they read and write without an on-chip buffer."),
                 element("div", {class: "pair"}, element("div", {}, element("h3", {}, "MACs"), macs),
                         element("div", {}, element("h3", {}, "Traffic"), byteChart("Bytes that layers read and write without an on-chip buffer", rows, ["read", "written"]))),
                 folded("MACs and traffic by layer", table({caption: "MACs and traffic by layer", rows, columns: [
                   column("layer", (r) => r.name), numeric("MACs", (r) => r.macs || null), numeric("read", (r) => r.bytes.read, bytes),
                   numeric("written", (r) => r.bytes.written, bytes)]})));
}
