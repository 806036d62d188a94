// Facts about a sample: labels, violated constraints, its region of the rule, words, probabilities, where it comes from.

import { h, table } from "./dom.js";
import { typeset } from "./typeset.js";
import { answer, word } from "./words.js";

/** Return the labels: by the rule, by each model, and by the rule on the concepts that a model reads. */
export function labels({ data, sample, runs }) {
  const reading = runs.filter((run) => sample.answers[run.key]?.by_rule);
  const rows = data.knowledge.labels.map((label, place) => [
    [h("strong", {}, label.name), h("span", { class: "rule", tabindex: 0 }, typeset(label.formula))],
    word(label.values, sample.labels[place]),
    ...runs.map((run) => answer(sample.answers[run.key]?.labels[place], label.values, sample.labels[place])),
    ...reading.map((run) => word(label.values, sample.answers[run.key].by_rule[place])),
  ]);
  const heads = [
    "label",
    "true",
    ...runs.map((run) => run.short),
    ...reading.map((run) => `rule on the concepts of ${run.short}`),
  ];
  return table("Labels", heads, rows, { class: "labels" });
}

export function violations({ data, sample, runs }) {
  if (!data.knowledge.constraints.length) return null;
  const formula = Object.fromEntries(data.knowledge.constraints.map((one) => [one.name, one.formula]));
  const item = (name) => h("li", {}, h("strong", {}, name), " ", typeset(formula[name]));
  const told = (who, names) => [
    h("h3", {}, who),
    names.length ? h("ul", {}, names.map(item)) : h("p", { class: "soft" }, "none"),
  ];
  const spoken = runs.filter((run) => sample.answers[run.key]);
  return h(
    "section",
    { id: "violations" },
    h("h2", {}, "Violated constraints"),
    told("In the world", sample.violated),
    spoken.map((run) => told(`By the predictions of ${run.short}`, sample.answers[run.key].violated)),
  );
}

export function places({ sample }) {
  const rows = Object.entries(sample.tags).map(([label, tags]) => [
    label,
    h(
      "ul",
      { class: "plain" },
      tags.map((tag) => h("li", {}, typeset(tag))),
    ),
  ]);
  return table("Region of the rule: variant, near-boundary type, or far", ["label", "region"], rows);
}

export function texts(sample) {
  return h(
    "section",
    {},
    h("h2", {}, "In words"),
    sample.text ? h("pre", { id: "text" }, sample.text) : null,
    h("details", {}, h("summary", {}, "The world in one line"), h("pre", {}, sample.world)),
  );
}

export function probabilities({ data, sample, runs }) {
  const spoken = runs.filter((run) => sample.answers[run.key]);
  const things = [
    ...data.knowledge.labels.map((label, place) => ({ ...label, place, kind: "labels" })),
    ...data.knowledge.concepts.map((concept, place) => ({ ...concept, place, kind: "concepts" })),
  ];
  const rows = spoken.flatMap((run) =>
    things.flatMap(({ name, values, place, kind }) => {
      const said = sample.answers[run.key][kind][place].probabilities;
      return said
        ? [[name, run.short, values.map((value, code) => `${value}: ${said[code].toFixed(2)}`).join("   ")]]
        : [];
    }),
  );
  if (!rows.length) return null;
  return h(
    "details",
    {},
    h("summary", {}, "All probabilities"),
    table("Probabilities of every value", ["what", "model", "probabilities"], rows),
  );
}

export function provenance(data, split, sample) {
  const versions = Object.entries(data.versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  const pool = data.splits.find((one) => one.name === split)?.pool;
  const facts = {
    Task: `${data.task.name}, version ${data.task.version}`,
    Seed: data.seed,
    Split: `${split}, example ${sample.index}`,
    "Pool of source images": pool,
    Fingerprint: data.fingerprint,
    "Made with": versions,
  };
  return h(
    "details",
    {},
    h("summary", {}, "Style and provenance"),
    h(
      "dl",
      {},
      Object.entries(facts).map(([name, fact]) => [h("dt", {}, name), h("dd", {}, String(fact))]),
    ),
    h("pre", {}, JSON.stringify(sample.style, null, 1)),
  );
}
