// SPDX-License-Identifier: Apache-2.0
// Tables that sort by any column.

/// A column: what a row's value is, and how it is written. Numbers stand on the right.
function column(label, value, text = null, more = {}) {
  return {label, value, text: text ?? ((v) => (v === null || v === undefined ? kNone : printable(v))), ...more};
}
const numeric = (label, value, text = whole, more = {}) => column(label, value, text, {numeric: true, ...more});

/// Columns that paper has no room for are for the screen only.
const columnClass = (col) => [col.numeric ? "" : "text", col.screen ? "screen" : ""].filter(Boolean).join(" ");

function cell(col, row, header) {
  const value = col.value(row);
  const kind = [columnClass(col), col.long ? "long" : "", col.kind ? col.kind(value, row) : ""];
  return element(header ? "th" : "td",
                 {scope: header ? "row" : null, class: kind.filter(Boolean).join(" ") || null}, col.text(value, row));
}

/// Values in order, whatever they are: nothing known comes last.
function compared(a, b) {
  const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);
  if (!known(a) || !known(b)) return known(b) - known(a);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", {numeric: true});
}

/// `columns` of `rows`; the first column names the row. `sum`: a last row that stays last.
function table({caption, columns, rows, sum = null, sorts = true}) {
  const shown = columns.filter((col) => col.always || rows.some((row) => {
    const value = col.value(row);
    return value !== null && value !== undefined;
  }));
  const body = element("tbody");
  const fill = (ordered) =>
      body.replaceChildren(...ordered.map((row) => element("tr", {}, shown.map((col, i) => cell(col, row, i === 0)))));
  const heads = shown.map((col) => {
    const head = element("th", {scope: "col", class: columnClass(col) || null});
    if (!sorts) {
      head.append(col.label);
      return head;
    }
    head.append(element("button", {type: "button", onclick: () => {
      // Figures are asked for from the largest, names from the first.
      const now = head.getAttribute("aria-sort");
      const up = now ? now === "descending" : !col.numeric;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const known = rows.filter((row) => ![null, undefined].includes(col.value(row)));
      const unknown = rows.filter((row) => [null, undefined].includes(col.value(row)));
      known.sort((a, b) => (up ? 1 : -1) * compared(col.value(a), col.value(b)));
      fill([...known, ...unknown]);
    }}, col.label));
    return head;
  });
  fill(rows);
  const foot = sum && element("tfoot", {}, element("tr", {}, shown.map((col, i) => cell(col, sum, i === 0))));
  return element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "table: " + caption},
                 element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, heads)),
                         body, foot));
}

/// A table with a line that opens it: what a chart shows, for those who do not see it.
function folded(caption, made) {
  return element("details", {}, element("summary", {}, "Table: " + caption), made);
}
