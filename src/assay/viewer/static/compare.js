// Two models side by side, and where they differ.

import { h, select, table } from "./dom.js";
import { to } from "./router.js";
import { dataset, source } from "./source.js";

export async function comparePage(key, split, query) {
  const data = await dataset(key);
  const able = data.runs.filter((run) => run.splits.includes(split));
  if (able.length < 2) throw new Error(`Comparing takes two models that have answered for ${split}.`);
  const run = query.get("run") ?? able[0].key;
  const versus = query.get("versus") ?? able.find((one) => one.key !== run).key;
  const title = `Compare on ${split}`;
  const head = [
    h(
      "nav",
      { class: "crumbs", "aria-label": "Where this is" },
      h("a", { href: to(["data", key, split]) }, `${key} / ${split}`),
    ),
    h("h1", {}, title),
    h(
      "form",
      { class: "models", "aria-label": "Models", onsubmit: (event) => event.preventDefault() },
      choice("First model", "run", able, run, (value) => go(key, split, value, versus === value ? run : versus)),
      choice("Second model", "versus", able, versus, (value) => go(key, split, run === value ? versus : run, value)),
    ),
  ];
  const found = await source.compare(key, split, run, versus);
  const names = [run, versus].map((one) => data.runs.find((held) => held.key === one)?.name ?? one);
  const pair = new URLSearchParams({ run, versus });
  return {
    title,
    parts: [
      ...head,
      outcomes(key, split, pair, names, found),
      labels(names, found),
      concepts(names, found),
      against(data, names, found),
    ].flat(),
  };
}

function choice(label, id, able, chosen, choose) {
  return select(
    label,
    id,
    able.map((run) => ({ value: run.key, text: `${run.name} (${run.model})` })),
    chosen,
    choose,
  );
}

function go(key, split, run, versus) {
  location.hash = to(["compare", key, split], new URLSearchParams({ run, versus }));
}

function outcomes(key, split, pair, [first, second], found) {
  const count = (name) => {
    const query = new URLSearchParams(pair);
    query.set("outcome", name);
    return h("a", { href: to(["data", key, split], query), id: `see-${name}` }, found[name].toLocaleString("en"));
  };
  return [
    table(
      `Labels right and wrong, of ${found.rows.toLocaleString("en")} samples that both answered`,
      ["", `${second} right`, `${second} wrong`],
      [
        [`${first} right`, found.both_right.toLocaleString("en"), count("only_first")],
        [`${first} wrong`, count("only_second"), count("both_wrong")],
      ],
    ),
    h("p", {}, "They say different things of ", count("differ"), " samples. Each number leads to them."),
  ];
}

const percent = (share) => (share === null ? "no prediction" : `${(100 * share).toFixed(1)} %`);

function labels(names, found) {
  return table(
    "How often each label is right",
    ["label", ...names],
    found.labels.map((one) => [one.name, ...one.right.map(percent)]),
  );
}

function concepts(names, found) {
  return table(
    "How often each concept is read right",
    ["concept", ...names],
    found.concepts.map((one) => [one.name, ...one.right.map(percent)]),
  );
}

/** Return what the first said against what the second said, for each label with few values. */
function against(data, [first, second], found) {
  return found.labels
    .filter((one) => one.against)
    .map((one) => {
      const { values } = data.knowledge.labels.find((label) => label.name === one.name);
      const rows = values.map((value, place) => [`${first}: ${value}`, ...one.against[place].map(String)]);
      return h(
        "details",
        {},
        h("summary", {}, `Answers against answers: ${one.name}`),
        table(
          `${one.name}: rows ${first}, columns ${second}`,
          ["", ...values.map((value) => `${second}: ${value}`)],
          rows,
        ),
      );
    });
}
