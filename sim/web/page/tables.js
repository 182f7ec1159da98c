// SPDX-License-Identifier: Apache-2.0
// Tables that scroll where a screen is narrower than they are, by keys too.

/// A table whose region and caption have these words; a column is its name, or {name, class}.
const scrollingTable = (label, caption, columns, body) =>
    element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, element("table", {},
        element("caption", {}, caption),
        element("thead", {}, element("tr", {}, columns.map((column) =>
            element("th", {scope: "col", class: column.class ?? null}, column.name ?? column)))),
        body));

/// Columns of words, which stand at the left.
const wordColumns = (...names) => names.map((name) => ({name, class: "text"}));
