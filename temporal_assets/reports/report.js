"use strict";
// Searching and sorting tables, opening trees. Nothing here makes markup out of text.
(() => {
  const FEWEST_ROWS = 9; // a table one sees whole needs no search

  const element = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };

  const search = (says, onInput) => {
    const label = element("label", says);
    const input = element("input", "", { type: "search", autocomplete: "off" });
    input.addEventListener("input", () => onInput(input.value.trim().toLowerCase()));
    label.append(input);
    return label;
  };

  const value = (row, column) => {
    const text = row.cells[column].textContent;
    const number = Number.parseFloat(text.replace(/[,%+ ]/g, ""));
    return /^[-+]?[\d,.]+(e[-+]?\d+)?%?$/.test(text.trim()) ? number : text;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : typeof a === typeof b ? a.localeCompare(b) : typeof a === "number" ? -1 : 1;

  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = element("button", head.textContent, { type: "button" });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") === "descending"
          || (!head.hasAttribute("aria-sort") && !head.classList.contains("n"));
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => (up ? 1 : -1) * compare(value(a, column), value(b, column)));
        table.tBodies[0].append(...rows);
      });
    });
  };

  const searchable = (table) => {
    const rows = [...table.tBodies[0].rows];
    const found = element("output", "");
    const tools = element("div", "", { class: "tools" });
    const box = search("Search this table", (wanted) => {
      let count = 0;
      for (const row of rows) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
        count += row.hidden ? 0 : 1;
      }
      found.textContent = wanted ? `${count} of ${rows.length} rows` : "";
    });
    tools.append(box, found);
    table.parentElement.before(tools);
  };

  const explorable = (tree) => {
    const all = [...tree.querySelectorAll("details")];
    const tools = element("div", "", { class: "tools" });
    for (const [says, open] of [["Open all", true], ["Close all", false]]) {
      const button = element("button", says, { type: "button" });
      button.addEventListener("click", () => all.forEach((one) => { one.open = open; }));
      tools.append(button);
    }
    const entries = [...tree.querySelectorAll("details, p")];
    tools.prepend(search("Search folders", (wanted) => {
      for (const one of entries) {
        one.hidden = !one.textContent.toLowerCase().includes(wanted);
        if (wanted && !one.hidden && one.tagName === "DETAILS") one.open = true;
      }
    }));
    tree.before(tools);
  };

  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < FEWEST_ROWS || table.closest(".front")) continue;
    sortable(table);
    if (!table.closest("figure")) searchable(table);
  }
  document.querySelectorAll(".prefix-tree").forEach(explorable);
  if (matchMedia("(max-width: 34rem)").matches) {
    document.querySelector("nav details").open = false;
  }
})();
