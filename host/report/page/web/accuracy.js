// SPDX-License-Identifier: Apache-2.0
// How often the network is right, what it takes for what, and the images on which int8 and float32 differ.

function classNames(of) {
  const names = new Map();
  for (const image of [...(of.best ?? []), ...(of.float32_best ?? [])]) {
    for (const best of image) if (best.name !== undefined) names.set(best.class, best.name);
  }
  return (index) => (names.has(index) ? `${index} ${printable(names.get(index))}` : String(index));
}

function matrixTable(matrix) {
  const most = Math.max(1, ...matrix.flatMap((row, i) => row.filter((_, j) => i !== j)));
  const rows = matrix.map((row, label) => ({row, label}));
  const columns = [numeric("right class", (r) => r.label, String), ...matrix[0].map((_, found) =>
      numeric(`as ${found}`, (r) => r.row[found], whole, {kind: (v, r) => (r.label === found ? "right" : v > 0 ? "heat" : "")}))];
  const made = table({caption: "images of each class (rows), and what they were taken for (columns)", columns, rows, sorts: false});
  made.querySelectorAll("tbody tr").forEach((tr, i) => tr.querySelectorAll("td").forEach((td, j) => {
    td.style.setProperty("--heat", i === j ? 1 : Math.sqrt(matrix[i][j] / most));
  }));
  return made;
}

function accuracy(report) {
  const of = report.classification;
  if (!of) return null;
  const name = classNames(of);
  const parts = [];
  const share = (count) => `${whole(count)} of ${whole(of.images)}`;
  const compared32 = (figure) => (of.float32 ? `float32: ${percent(of.float32[figure + "_share"])}, ${share(of.float32[figure])}` : null);
  if (isNumber(of.top1)) {
    parts.push(tiles([["right class is the best (top-1)", percent(of.top1_share), compared32("top1") ?? share(of.top1)],
                      isNumber(of.top5) && ["right class is among five best", percent(of.top5_share), compared32("top5") ?? share(of.top5)],
                      of.differ && ["images with another best class than float32", whole(of.differ.length), `of ${whole(of.images)}`]]));
  }
  if (of.differ) {
    parts.push(element("h3", {}, "Images on which int8 and float32 differ"));
    parts.push(of.differ.length === 0 ? paragraph("None.") : table({caption: "images on which int8 and float32 differ", rows: of.differ, columns: [
      numeric("image", (d) => d.image), column("right", (d) => (d.label === undefined ? null : d.label), (v) => (v === null ? kNone : name(v))),
      column("float32", (d) => d.float32, name), column("int8", (d) => d.int8, name),
      column("who is right", (d) => (d.label === undefined ? null : d.int8 === d.label ? "int8" : d.float32 === d.label ? "float32" : "neither"))]}));
  }
  if (Array.isArray(of.matrix) && of.matrix.length > 0) {
    parts.push(element("h3", {}, "What was taken for what"), matrixTable(of.matrix));
  } else if (of.confusions?.length) {
    parts.push(element("h3", {}, "What was taken for what"), table({caption: "classes taken for others", rows: of.confusions, columns: [
      column("right", (c) => c.label, name), column("taken for", (c) => c.class, name), numeric("images", (c) => c.images)]}));
  }
  if (of.best?.length) {
    const best = of.best.slice(0, 200).map((classes, image) => ({image, classes}));
    parts.push(folded("each image’s best classes", table({caption: `best classes of ${best.length < of.best.length ? "the first " : ""}${best.length} images`, rows: best, columns: [
      numeric("image", (b) => b.image),
      ...[0, 1, 2, 3, 4].map((i) => column(`best ${i + 1}`, (b) => (b.classes[i] ? `${name(b.classes[i].class)} (${figures(b.classes[i].score, 4)})` : null)))]})));
  }
  return section("accuracy", "Accuracy", ...parts);
}
