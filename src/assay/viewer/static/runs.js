// A table of runs: verdicts and key numbers, which come one after another; it can be sorted and searched.

import { badge, deciding, judging } from "./badge.js";
import { h } from "./dom.js";
import { to } from "./router.js";
import { knownVerdict, verdictOn } from "./source.js";
import { score } from "./words.js";

const COLUMNS = [
  { name: "verdict", text: "verdict", of: ({ verdict }) => verdict?.verdict ?? "" },
  { name: "run", text: "run", of: ({ run }) => run.title },
  { name: "data", text: "dataset", of: ({ data }) => data.title },
  ...[
    ["label_f1", "label F1"],
    ["concept_f1", "concept F1"],
    ["ood_label_accuracy", "OOD accuracy"],
  ].map(([name, text]) => ({ name, text, number: true, of: ({ verdict }) => verdict?.numbers[name] ?? null })),
];

/** Return the table of the runs of some datasets, and a function that shows those in which a text occurs. */
export function runsTable(datasets, { sort = "", down = false, sorted = () => {}, named = true } = {}) {
  const entries = datasets.flatMap((data) => data.runs.map((run) => entry(data, run, named)));
  if (!entries.length) return null;
  const order = { name: sort, down };
  const body = h("tbody", {});
  const heads = COLUMNS.filter((column) => named || column.name !== "data").map((column) =>
    head(column, order, () => sortBy(column.name)),
  );
  const arrange = () => body.append(...arranged(entries, order).map((one) => one.row));
  const sortBy = (name) => {
    order.down = order.name === name ? !order.down : Boolean(COLUMNS.find((one) => one.name === name).number);
    order.name = name;
    heads.forEach((one) => one.refresh());
    arrange();
    sorted(order.name, order.down);
  };
  arrange();
  judgeAll(entries, arrange);
  const empty = h("p", { class: "soft", hidden: true, role: "status" }, "No run has this in its name or verdict.");
  const caption = "Runs: the verdict on each, and the numbers behind it";
  const made = h(
    "table",
    { class: "runs" },
    h("caption", {}, caption),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map((one) => one.cell),
      ),
    ),
    body,
  );
  const filter = (text) => {
    entries.forEach((one) => (one.row.hidden = !matches(one, text)));
    empty.hidden = entries.some((one) => !one.row.hidden);
  };
  const region = { class: "scroll", tabindex: 0, role: "region", "aria-label": caption };
  return { element: [h("div", region, made), empty], filter };
}

function entry(data, run, named) {
  const one = { data, run, named, verdict: knownVerdict(data.key, run.key) };
  one.row = h("tr", {});
  fill(one);
  return one;
}

/** Fill the row of a run with what is known of it. */
function fill(one) {
  const { data, run, named, verdict, error, row } = one;
  const state = verdict ? badge(verdict) : error ? h("span", { class: "soft" }, error) : judging();
  const why = verdict ? h("span", { class: "why" }, verdict.why || deciding(verdict)) : null;
  const name = h("a", { href: to(["run", data.key, run.key]), id: `run-${run.key}` }, run.title);
  row.replaceChildren(
    h("td", {}, state),
    h("th", { scope: "row" }, name, why),
    ...(named ? [h("td", { class: "of-data" }, h("a", { href: to(["data", data.key]) }, data.title))] : []),
    ...COLUMNS.filter((column) => column.number).map((column) =>
      h("td", { class: "number" }, verdict ? score(column.of(one)) : "…"),
    ),
  );
}

/** Ask for one verdict after another, so that pictures are not kept waiting. */
async function judgeAll(entries, arrange) {
  for (const one of entries.filter(({ verdict }) => !verdict)) {
    try {
      one.verdict = await verdictOn(one.data.key, one.run.key);
    } catch (error) {
      if (error.name === "AbortError") return;
      one.error = error.message;
    }
    const held = one.row.contains(document.activeElement) ? document.activeElement.id : null;
    fill(one);
    arrange();
    if (held) document.getElementById(held)?.focus();
  }
}

function arranged(entries, { name, down }) {
  const column = COLUMNS.find((one) => one.name === name);
  if (!column) return entries;
  const sign = down ? -1 : 1;
  const missing = (value) => value === null || value === "";
  return [...entries].sort((one, other) => {
    const [a, b] = [column.of(one), column.of(other)];
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b)); // what is not known comes last
    return sign * (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
  });
}

function head(column, order, sort) {
  const arrow = h("span", { "aria-hidden": "true" });
  const button = h("button", { type: "button", class: "sort", onclick: sort, id: `sort-${column.name}` });
  button.append(column.text, " ", arrow);
  const cell = h("th", { scope: "col", class: column.number ? "number" : `of-${column.name}` }, button);
  const refresh = () => {
    const mine = order.name === column.name;
    cell.setAttribute("aria-sort", mine ? (order.down ? "descending" : "ascending") : "none");
    arrow.textContent = mine ? (order.down ? "▼" : "▲") : "";
  };
  refresh();
  return { cell, refresh };
}

function matches({ data, run, verdict }, text) {
  const words = [run.title, run.name, run.model, data.key, data.task.name, verdict?.verdict ?? ""].join(" ");
  return words.toLowerCase().includes(text.trim().toLowerCase());
}
