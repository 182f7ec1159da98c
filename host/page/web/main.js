// SPDX-License-Identifier: Apache-2.0
// Puts the page together.

function single() {
  const report = data.reports[0].report;
  const layers = layersOf(report);
  return [summary(report, layers), [
    layerTable(layers, report), roofline(report, layers), clocks(report, layers), bytesAndUtilization(report, layers),
    predicted(report, layers), accuracy(report), timeline(report, layers)]];
}

const [head, made] = data.reports.length === 2 ? compare() : single();
const sections = made.filter(Boolean);
document.title = head.querySelector("h1").textContent + " – gemm64";
const links = sections.map((one) => element("li", {}, element("a", {href: "#" + one.id}, one.querySelector("h2").textContent)));
document.body.append(
    element("a", {class: "skip", href: "#main"}, "Skip to the figures"), head,
    element("nav", {"aria-label": "parts of the report"}, element("ul", {}, links)),
    element("main", {id: "main", tabindex: -1}, sections),
    element("footer", {}, "Clocks are those of one simulated accelerator. Every chart has a table with the same figures; this page needs no network. " +
                          "Charts: D3 and Observable Plot (ISC licence)."));
document.documentElement.dataset.ready = "yes";
