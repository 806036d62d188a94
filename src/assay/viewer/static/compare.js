// Any number of models side by side, and where they differ.

import { pending } from "./busy.js";
import { badge } from "./badge.js";
import { crumbs, h, section, table } from "./dom.js";
import { runsOf, to } from "./router.js";
import { dataset, source, verdictOn } from "./source.js";
import { count, percent } from "./words.js";

export async function comparePage(key, split, query) {
  const data = await dataset(key);
  const able = data.runs.filter((run) => run.splits.includes(split));
  if (able.length < 2) throw new Error(`Comparing takes two models with predictions for ${split}.`);
  const named = runsOf(query).filter((run) => able.some((one) => one.key === run));
  const chosen = named.length > 1 ? named : [...new Set([...named, ...able.map((run) => run.key)])].slice(0, 2);
  const title = `Compare on ${split}`;
  const found = await source.compare(key, split, chosen);
  const runs = chosen.map((run) => data.runs.find((one) => one.key === run));
  const where = { data, split, runs, found };
  const parts = [
    crumbs(
      h("a", { href: "#/" }, "Data and runs"),
      h("a", { href: to(["data", key]) }, data.title),
      h("a", { href: to(["data", key, split], asQuery(chosen)) }, split),
    ),
    h("h1", {}, title),
    choice(data, split, able, chosen),
    overview(where),
    section("differences", "Where they differ", differences(where)),
    shares("labels", "Accuracy of each label", where),
    shares("concepts", "Accuracy of each concept", where),
    against(where),
  ];
  return { title, parts: parts.flat(Infinity) };
}

const asQuery = (runs, more = {}) => new URLSearchParams([...runs.map((run) => ["run", run]), ...Object.entries(more)]);

/** Return a box for each model; those that are ticked are compared, and stand in the address. */
function choice(data, split, able, chosen) {
  const boxes = able.map((run) => {
    const on = chosen.includes(run.key);
    const change = (event) => {
      const next = event.target.checked ? [...chosen, run.key] : chosen.filter((one) => one !== run.key);
      if (next.length < 2) event.target.checked = true;
      else location.hash = to(["compare", data.key, split], asQuery(next));
    };
    const box = h("input", { type: "checkbox", id: `compare-${run.key}`, checked: on, onchange: change });
    return h("label", { for: `compare-${run.key}` }, box, ` ${run.short}`);
  });
  return h(
    "form",
    { "aria-label": "Models", onsubmit: (event) => event.preventDefault() },
    h("fieldset", { class: "toggles" }, h("legend", {}, "Models to compare, two or more"), boxes),
  );
}

function overview({ data, split, runs, found }) {
  const samples = (run, outcome, number) =>
    number === null ? "–" : h("a", { href: to(["data", data.key, split], { run: run.key, outcome }) }, count(number));
  const rows = runs.map((run, place) => [
    h("a", { href: to(["run", data.key, run.key], { split }) }, run.title),
    pending("", async () => badge(await verdictOn(data.key, run.key))),
    `${count(found.right[place])} (${percent(found.right[place] / Math.max(1, found.rows))})`,
    samples(run, "misread", found.misread[place]),
    samples(run, "hidden", found.hidden[place]),
  ]);
  const heads = ["run", "verdict", "labels right", "a concept wrong", "labels right, a concept wrong"];
  return table(`${count(found.rows)} samples that all have predictions for`, heads, rows);
}

/** Return how many samples one model gets right and another wrong, for each pair, and what they have in common. */
function differences({ data, split, runs, found }) {
  const keys = runs.map((run) => run.key);
  const see = (text, query, id) => h("a", { href: to(["data", data.key, split], query), id }, text);
  const cell = (row, column) => {
    if (row === column) return "–";
    const query = asQuery([keys[row], keys[column]], { outcome: "only_first" });
    return see(count(found.only[row][column]), query, `only-${keys[row]}-${keys[column]}`);
  };
  const rows = runs.map((run, row) => [`${run.short} right`, ...runs.map((_, column) => cell(row, column))]);
  const common = (outcome) => see(count(found[outcome]), asQuery(keys, { outcome }), `see-${outcome}`);
  return [
    table(
      "Samples that the model of the row gets right and that of the column wrong",
      ["model", ...runs.map((run) => `${run.short} wrong`)],
      rows,
    ),
    h(
      "p",
      {},
      "All are right on ",
      common("all_right"),
      ", all are wrong on ",
      common("all_wrong"),
      ", and they differ on ",
      common("differ"),
      " samples. Each number leads to them.",
    ),
  ];
}

function shares(what, caption, { runs, found }) {
  const rows = found[what].map((one) => {
    const best = Math.max(...one.right.map((share) => share ?? -1));
    const text = (share) => (share === null ? "no prediction" : percent(share));
    return [one.name, ...one.right.map((share) => (share === best ? h("strong", {}, text(share)) : text(share)))];
  });
  return table(caption, [what.slice(0, -1), ...runs.map((run) => run.short)], rows, { class: "numbers" });
}

/** Return what the first of two predicts against what the second does, for each label with few values. */
function against({ data, runs, found }) {
  return found.labels
    .filter((one) => one.against)
    .map((one) => {
      const [first, second] = runs.map((run) => run.short);
      const { values } = data.knowledge.labels.find((label) => label.name === one.name);
      const rows = values.map((value, place) => [`${first}: ${value}`, ...one.against[place].map(String)]);
      const heads = ["predictions", ...values.map((value) => `${second}: ${value}`)];
      return h(
        "details",
        {},
        h("summary", {}, `Predictions against predictions: ${one.name}`),
        table(`${one.name}: rows ${first}, columns ${second}`, heads, rows),
      );
    });
}
