// SPDX-License-Identifier: Apache-2.0
// What all parts of the page need: the data, elements, and numbers as people read them.

const data = JSON.parse(document.getElementById("data").textContent);

/// An element with attributes and children; text is always text, never markup.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  set(made, attributes);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function set(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  made.append(...children);
  return made;
}

/// Names come from files: what would turn the direction of writing or break a line is spelt out.
function printable(text) {
  return String(text).replace(
      /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      (c) => `\\u{${c.charCodeAt(0).toString(16).padStart(4, "0")}}`);
}

/// The end of a name, which is more specific than its beginning.
function short(text, most = 26) {
  const letters = [...printable(text)];
  return letters.length <= most ? letters.join("") : "…" + letters.slice(1 - most).join("");
}

const kNone = "–";
const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const grouped = new Intl.NumberFormat("en-US", {maximumFractionDigits: 0});
const whole = (value) => (isNumber(value) ? grouped.format(value) : kNone);
const figures = (value, digits = 3) =>
    isNumber(value) ? new Intl.NumberFormat("en-US", {maximumSignificantDigits: digits}).format(value) : kNone;
const compact = new Intl.NumberFormat("en-US", {notation: "compact", maximumSignificantDigits: 3}).format;
/// "100.00 %" only where it is all.
function percent(part) {
  if (!isNumber(part)) return kNone;
  const text = (100 * part).toFixed(2);
  return (text === "100.00" && part < 1 ? "99.99" : text) + " %";
}
function bytes(count) {
  if (!isNumber(count)) return kNone;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(count) >= 1024 && unit + 1 < units.length) {
    count /= 1024;
    ++unit;
  }
  return `${unit === 0 ? whole(count) : figures(count, 4)} ${units[unit]}`;
}
const signed = (text, value) => (value > 0 ? "+" + text : text);
const words = (name) => printable(name).replaceAll("_", " ");
const total = (values) => values.reduce((sum, value) => sum + (isNumber(value) ? value : 0), 0);
const entries = (object) => (object && typeof object === "object" ? Object.entries(object) : []);

/// A part of the page, reached from the navigation.
function section(id, title, ...content) {
  return element("section", {id, "aria-labelledby": id + "-title"}, element("h2", {id: id + "-title"}, title), ...content);
}

const paragraph = (...text) => element("p", {class: "soft"}, ...text);

/// A choice among `options` ([value, text]); `changed` gets the value.
function choice(label, options, changed) {
  const select = element("select", {onchange: () => changed(select.value)},
                         options.map(([value, text]) => element("option", {value}, text)));
  return element("label", {}, element("span", {}, label), select);
}
