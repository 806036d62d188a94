// The filters of a split: by label, region of the rule, concept, and how a run or two did.

import { h, select } from "./dom.js";
import { changed, runsOf, to, valueOf, withValue } from "./router.js";
import { OUTCOMES, OUTCOMES_OF_SEVERAL, word } from "./words.js";

const FEW_LABELS = 2;
const ABOUT_RUNS = ["reads", "predicts", "violates"];
const KINDS = {
  holds: "Variants: ways in which it holds",
  "just misses": "Near-boundary types",
  changes: "One change away",
};

/** Return the form; each choice leads to another address. */
export function filters(data, split, query, counts) {
  const go = (next) => {
    location.hash = to(["data", data.key, split], next);
  };
  const labels = data.knowledge.labels;
  return h(
    "form",
    { class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    h("h2", {}, "Filters"),
    byRun(data, split, query, go),
    byPrediction(data.knowledge, query, go),
    labels.map((label) => byLabel(label, query, counts, go, labels.length <= FEW_LABELS)),
    byConcept(data.knowledge.concepts, query, go),
    h("p", {}, h("a", { href: to(["data", data.key, split]), id: "reset" }, "Clear all filters")),
  );
}

/** Return the choice of one run, or two; further ones that the address names can be dropped. */
export function runSelects(data, split, query, go) {
  const able = data.runs.filter((run) => run.splits.includes(split));
  if (!able.length) return h("p", { class: "soft" }, `No run has predictions for ${split}.`);
  const named = runsOf(query);
  const options = [{ value: "", text: "none" }, ...able.map((run) => ({ value: run.key, text: run.title }))];
  const set = (place) => (value) => {
    const next = [...named];
    next[place] = value;
    go(withRuns(query, place === 0 && value === "" ? [] : next));
  };
  const others = options.filter((one) => one.value === "" || one.value !== named[0]);
  const more = named.slice(2).map((run) => {
    const { short } = able.find((one) => one.key === run) ?? { short: run };
    const drop = () =>
      go(
        withRuns(
          query,
          named.filter((one) => one !== run),
        ),
      );
    return chip(short, `run-${run}`, drop);
  });
  return [
    select("Model", "run", options, named[0] ?? "", set(0)),
    named[0] && able.length > 1 ? select("Second model", "versus", others, named[1] ?? "", set(1)) : null,
    more.length ? h("ul", { class: "chips", "aria-label": "Further models" }, more) : null,
  ];
}

/** Return a query about these runs; what only made sense of those before is dropped. */
function withRuns(query, runs) {
  const named = [...new Set(runs.filter(Boolean))];
  let next = changed(changed(query, "versus"), "run", ...named);
  const several = OUTCOMES_OF_SEVERAL.some((one) => one.value === next.get("outcome"));
  if (!named.length || (several && named.length < 2)) next = changed(next, "outcome");
  return named.length ? next : ABOUT_RUNS.reduce((one, key) => changed(one, key), next);
}

function byRun(data, split, query, go) {
  const named = runsOf(query);
  const options = named.length > 1 ? [...OUTCOMES, ...OUTCOMES_OF_SEVERAL] : OUTCOMES;
  const constrained = data.knowledge.constraints.length > 0;
  const able = options.filter((one) => one.value !== "violating" || constrained);
  return [
    runSelects(data, split, query, go),
    named.length
      ? select("Its predictions", "outcome", able, query.get("outcome") ?? "", (value) =>
          go(changed(query, "outcome", value)),
        )
      : null,
  ];
}

/** Return what is asked of predictions, such as a cell of the reading map, each to be dropped. */
function byPrediction({ concepts, encoders, labels }, query, go) {
  const valuesOf = (name) => {
    const first = encoders.find((group) => group.name === name)?.concepts[0] ?? name;
    return (concepts.find((one) => one.name === first) ?? labels.find((one) => one.name === name))?.values ?? [];
  };
  const texts = {
    reads: (text) => {
      const [, name, truth, said] = text.match(/^(.*):([^:]*):([^:]*)$/) ?? [null, text, "", ""];
      return `${name} ${word(valuesOf(name), Number(truth))} predicted as ${said === "none" ? "none" : word(valuesOf(name), Number(said))}`;
    },
    predicts: (text) => {
      const [name, code] = [text.slice(0, text.lastIndexOf(":")), text.slice(text.lastIndexOf(":") + 1)];
      const values = labels.find((one) => one.name === name)?.values ?? [];
      return `predicts ${name} = ${code === "none" ? "none" : word(values, Number(code))}`;
    },
    violates: (text) => `breaks ${text}`,
  };
  const chips = ABOUT_RUNS.flatMap((key) =>
    query.getAll(key).map((text, place) => {
      const drop = () => go(changed(query, key, ...query.getAll(key).filter((one) => one !== text)));
      return chip(texts[key](text), `${key}-${place}`, drop);
    }),
  );
  return chips.length ? h("ul", { class: "chips", "aria-label": "Filters by prediction" }, chips) : null;
}

function chip(text, id, drop) {
  const button = { type: "button", id: `drop-${id}`, onclick: drop, "aria-label": `Drop the filter ${text}` };
  return h("li", {}, h("span", {}, text), h("button", button, "×"));
}

function byLabel(label, query, counts, go, few) {
  const value = valueOf(query, "label", label.name);
  const tag = valueOf(query, "tag", label.name);
  const told = counts.labels[label.name];
  const values = label.values.map((one, code) => {
    return { value: String(code), text: value ? String(one) : `${one} (${told[code].toLocaleString("en")})` };
  });
  const parts = [
    select("Value", `label-${label.name}`, [{ value: "", text: "any" }, ...values], value, (chosen) =>
      go(withValue(query, "label", label.name, chosen)),
    ),
    counts.tags[label.name]
      ? select("Region of the rule", `tag-${label.name}`, places(counts.tags[label.name], tag), tag, (chosen) =>
          go(withValue(query, "tag", label.name, chosen)),
        )
      : null,
  ];
  return h(
    "details",
    { class: "facet", open: few || value !== "" || tag !== "" },
    h("summary", {}, "Label ", h("strong", {}, label.name)),
    parts,
  );
}

function places(tags, chosen) {
  const kinds = new Set(tags.map((tag) => tag.kind));
  const general = [{ value: "", text: "anywhere" }];
  if (kinds.has("holds")) general.push({ value: "*holds", text: "holds, in any way" });
  if (kinds.has("just misses") || kinds.has("changes")) general.push({ value: "*near", text: "near the boundary" });
  if (kinds.has("far")) general.push({ value: "far", text: "far from the boundary" });
  const named = tags
    .filter((tag) => tag.kind !== "far" && (chosen || tag.count))
    .map((tag) => ({
      value: tag.name,
      text: chosen ? tag.name : `${tag.name} (${tag.count})`,
      group: KINDS[tag.kind],
    }));
  return [...general, ...named];
}

function byConcept(concepts, query, go) {
  const set = query.getAll("concept").map((text) => text.slice(0, text.lastIndexOf(":")));
  const chips = concepts
    .filter((one) => set.includes(one.name))
    .map((one) => {
      const value = one.values[Number(valueOf(query, "concept", one.name))];
      const drop = () => go(withValue(query, "concept", one.name, ""));
      return chip(`${one.name} = ${value}`, one.name, drop);
    });
  const free = concepts.filter((one) => !set.includes(one.name));
  const options = free.flatMap((one) =>
    one.values.map((value, code) => {
      return { value: `${one.name}:${code}`, text: `${one.name} = ${value}`, group: one.name };
    }),
  );
  const add = (text) => go(changed(query, "concept", ...query.getAll("concept"), text));
  return h(
    "details",
    { class: "facet", open: true },
    h("summary", {}, "Concepts"),
    chips.length ? h("ul", { class: "chips", "aria-label": "Concept filters" }, chips) : null,
    select("Only where", "concept", [{ value: "", text: "any" }, ...options], "", add),
  );
}
