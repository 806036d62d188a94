// The filters of a split: by label, region of the rule, concept, and how a run or two did.

import { h, select } from "./dom.js";
import { changed, to, valueOf, withValue } from "./router.js";
import { OUTCOMES, OUTCOMES_OF_TWO } from "./words.js";

const FEW_LABELS = 2;
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
    labels.map((label) => byLabel(label, query, counts, go, labels.length <= FEW_LABELS)),
    byConcept(data.knowledge.concepts, query, go),
    h("p", {}, h("a", { href: to(["data", data.key, split]), id: "reset" }, "Clear all filters")),
  );
}

/** Return the choice of one run, or two. */
export function runSelects(data, split, query, go) {
  const able = data.runs.filter((run) => run.splits.includes(split));
  if (!able.length) return h("p", { class: "soft" }, `No run has answered for ${split}.`);
  const options = [
    { value: "", text: "none" },
    ...able.map((run) => ({ value: run.key, text: `${run.name} (${run.model})` })),
  ];
  const run = query.get("run") ?? "";
  const others = options.filter((one) => one.value === "" || one.value !== run);
  const set = (key) => (value) => {
    let next = changed(query, key, value);
    const lost = value === "" || next.get("run") === next.get("versus");
    if (lost && key === "run") next = changed(changed(next, "outcome"), "versus");
    if (lost && OUTCOMES_OF_TWO.some((one) => one.value === next.get("outcome"))) next = changed(next, "outcome");
    go(next);
  };
  return [
    select("Model", "run", options, run, set("run")),
    run && able.length > 1 ? select("Second model", "versus", others, query.get("versus") ?? "", set("versus")) : null,
  ];
}

function byRun(data, split, query, go) {
  const options = query.get("versus") ? [...OUTCOMES, ...OUTCOMES_OF_TWO] : OUTCOMES;
  const constrained = data.knowledge.constraints.length > 0;
  const able = options.filter((one) => one.value !== "violating" || constrained);
  return [
    runSelects(data, split, query, go),
    query.get("run")
      ? select("Its answers", "outcome", able, query.get("outcome") ?? "", (value) =>
          go(changed(query, "outcome", value)),
        )
      : null,
  ];
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
      return h(
        "li",
        {},
        h("span", {}, `${one.name} = ${value}`),
        h(
          "button",
          { type: "button", id: `drop-${one.name}`, onclick: drop, "aria-label": `Drop the filter ${one.name}` },
          "×",
        ),
      );
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
