// SPDX-License-Identifier: Apache-2.0
// Puts the page together.

/// A section, or a word on why it is not there: a field of a wrong kind must not cost the other sections.
function attempt(make, ...of) {
  try {
    return make(...of);
  } catch (error) {
    return section(make.name, make.name, element("p", {class: "verdict bad"}, `This part cannot be shown: ${error.message}`));
  }
}

function single() {
  const report = data.reports[0].report;
  const layers = layersOf(report);
  return [summary(report, layers), [layerTable, roofline, cycles, bytesAndUtilization, traffic, predicted, accuracy, timeline]
      .map((make) => attempt(make, report, layers))];
}

const [head, made] = data.sweep ? sweep() : data.reports.length === 2 ? compare() : single();
const sections = made.filter(Boolean);
document.title = head.querySelector("h1").textContent + " – gemm64";
const links = sections.map((one) => element("li", {}, element("a", {href: "#" + one.id}, one.querySelector("h2").textContent)));
document.body.append(
    element("a", {class: "skip", href: "#main"}, "Skip to the figures"), head,
    element("nav", {"aria-label": "parts of the report"}, element("ul", {}, links)),
    element("main", {id: "main", tabindex: -1}, sections),
    element("footer", {}, "Cycles are those of one simulated accelerator. Every chart has a table with the same figures; this page needs no network. " +
                          "Charts: D3 and Observable Plot (ISC licence)."));
document.documentElement.dataset.ready = "yes";
