// The first page: datasets with pictures, and runs with their verdicts.

import { h, section } from "./dom.js";
import { remember, to } from "./router.js";
import { runsTable } from "./runs.js";
import { shelf, source } from "./source.js";
import { count, prose, taskLink } from "./words.js";

const SORTS = [
  { name: "name", text: "name", of: (data) => data.key },
  { name: "task", text: "task", of: (data) => data.task.name },
  { name: "size", text: "size", of: (data) => -data.splits.reduce((sum, split) => sum + split.size, 0) },
  { name: "runs", text: "number of runs", of: (data) => -data.runs.length },
];

export async function home(query) {
  const held = await shelf();
  const table = runsTable(held.datasets, {
    sort: query.get("sort") ?? "",
    down: query.has("down"),
    sorted: (name, down) => keep(query, { sort: name, down: down ? "1" : "" }),
  });
  const cards = held.datasets.map((data) => ({ data, element: card(data) }));
  const list = h("ul", { class: "cards" });
  const none = h("p", { class: "soft", hidden: true, role: "status" }, "No dataset has this in its name or task.");
  const refresh = () => {
    const text = query.get("q") ?? "";
    list.append(...sorted(cards, query.get("order") ?? "").map((one) => one.element));
    cards.forEach((one) => (one.element.hidden = !matches(one.data, text)));
    none.hidden = cards.some((one) => !one.element.hidden);
    table?.filter(text);
  };
  refresh();
  const broken = held.broken.map((one) => h("li", {}, h("code", {}, one.folder), ` – ${one.why}`));
  const parts = [
    h("h1", {}, "Data and runs"),
    held.live
      ? null
      : h("p", { class: "note" }, `A bundle: up to ${held.samples} samples of each split, nothing to edit.`),
    finding(query, refresh),
    section("runs", "Runs", table?.element ?? h("p", { class: "soft" }, "No runs were given. Train one: assay train.")),
    section("datasets", "Datasets", list, none),
    section("broken", "Left out", broken.length ? h("ul", { class: "broken" }, broken) : null),
  ];
  return { title: "Data and runs", parts };
}

/** Keep choices in the address. */
function keep(query, choices) {
  for (const [name, value] of Object.entries(choices)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  remember(query);
}

/** Return the search box and the order of the datasets. */
function finding(query, refresh) {
  const type = (event) => {
    keep(query, { q: event.target.value });
    refresh();
  };
  const order = (event) => {
    keep(query, { order: event.target.value });
    refresh();
  };
  const box = h("input", { type: "search", id: "search", value: query.get("q") ?? "", oninput: type });
  box.setAttribute("placeholder", "task, model, verdict …");
  const chosen = query.get("order") ?? SORTS[0].name;
  const options = SORTS.map((one) => h("option", { value: one.name, selected: one.name === chosen }, one.text));
  return h(
    "form",
    { class: "find", role: "search", onsubmit: (event) => event.preventDefault() },
    h("div", { class: "field" }, h("label", { for: "search" }, "Search ", h("kbd", {}, "/")), box),
    h(
      "div",
      { class: "field" },
      h("label", { for: "order" }, "Datasets by"),
      h("select", { id: "order", onchange: order }, options),
    ),
  );
}

function sorted(cards, name) {
  const { of } = SORTS.find((one) => one.name === name) ?? SORTS[0];
  const compare = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));
  return [...cards].sort((one, other) => compare(of(one.data), of(other.data)));
}

function matches(data, text) {
  const words = [data.key, data.task.name, data.summary, ...data.runs.map((run) => run.title)].join(" ");
  return words.toLowerCase().includes(text.trim().toLowerCase());
}

function card(data) {
  const address = to(["data", data.key]);
  const splits = data.splits.map((one) =>
    h("li", {}, h("a", { href: to(["data", data.key, one.name]) }, one.name), ` ${count(one.size)}`),
  );
  return h(
    "li",
    { class: "card" },
    h("h3", {}, h("a", { href: address }, data.title)),
    strip(data, address),
    h("p", {}, taskLink(data), " – ", prose(data.summary)),
    h("ul", { class: "inline", "aria-label": `Splits of ${data.title}` }, splits),
  );
}

/** Return the first pictures of a dataset; null where it has none. */
export function strip(data, address) {
  if (!data.columns.includes("image")) return null;
  const { split, rows } = data.preview;
  const images = rows.map((row) =>
    h("img", { src: source.picture(data.key, split, row, "image"), alt: "", loading: "lazy" }),
  );
  return h("a", { href: address, class: "strip", "aria-hidden": "true", tabindex: -1 }, images);
}
