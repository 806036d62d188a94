// A verdict with its reasons and its numbers.

import { badge, deciding } from "./badge.js";
import { h, table } from "./dom.js";
import { to } from "./router.js";
import { count, metric, percent, score } from "./words.js";

const NUMBERS = ["label_f1", "concept_f1", "collapse", "rule_consistency", "ood_label_accuracy"];
const CAUSES = {
  perception: "perception: the label follows from wrong concepts",
  rule: "the rule: the concepts would give the right label",
  unsure: "uncertain concepts: their values give the right label, their probabilities the wrong one",
  both: "both",
  unknown: "not known",
};

/** Return the parts of the panel. */
export function verdict(data, run, found) {
  const findings = found.findings.map((one, place) =>
    h("li", {}, place ? [h("strong", {}, one.kind), `: ${one.meaning} `] : null, one.text),
  );
  return [
    h("p", { class: "headline" }, badge(found), " ", h("strong", {}, found.meaning)),
    h("p", { class: "soft" }, "Decided by ", deciding(found) || "what it does not predict", "."),
    h("ul", { class: "reasons" }, findings),
    numbers(found),
    notes(found),
    causes(data, run, found),
    concepts(data, run, found),
    scores(found),
  ];
}

function numbers({ numbers: known, first_split: split, scores: all }) {
  const cards = NUMBERS.filter((name) => known[name] !== null && known[name] !== undefined).map((name) => {
    const exact = all[split]?.[name];
    const interval = exact && exact.low !== null ? `${score(exact.low)} to ${score(exact.high)}` : "";
    return h(
      "div",
      { class: "fact" },
      h("dt", {}, metric(name)),
      h("dd", {}, score(known[name])),
      h("dd", {}, interval),
    );
  });
  return h("dl", { class: "facts-row", "aria-label": `Key numbers on ${split}, with 95 % intervals` }, cards);
}

function notes({ notes: texts, shortcuts }) {
  const told = shortcuts && !texts.includes(shortcuts) ? [...texts, shortcuts] : texts;
  if (!told.length) return null;
  const items = told.map((text) => h("li", {}, text));
  return h("details", { open: told.length <= 3 }, h("summary", {}, `${told.length} notes`), h("ul", {}, items));
}

/** Return where wrong labels come from, as far as predictions tell. */
function causes(data, run, { errors, first_split: split }) {
  const found = errors[split];
  if (!found?.wrong) return null;
  const rows = Object.entries(CAUSES)
    .filter(([name]) => found[name])
    .map(([name, text]) => [text, count(found[name]), percent(found[name] / found.wrong)]);
  const address = to(["data", data.key, split], { run: run.key, outcome: "wrong" });
  return [
    table(`Causes of the ${count(found.wrong)} wrong labels on ${split}`, ["cause", "labels", "share"], rows),
    h("p", {}, h("a", { href: address }, "See the samples with wrong labels")),
  ];
}

function concepts(data, run, { concepts: states, first_split: split }) {
  const rows = states.map((one) => [
    one.name,
    one.state,
    one.answered ? `${count(one.right)} of ${count(one.answered)}` : "–",
    one.used ? "yes" : "no",
  ]);
  return h(
    "details",
    { open: rows.length <= 8 },
    h("summary", {}, `How each concept is read on ${split}`),
    table(`Concepts on ${split}`, ["concept", "state", "right", "used by the rule"], rows),
  );
}

function scores({ scores: all }) {
  const splits = Object.keys(all);
  const names = [...new Set(splits.flatMap((split) => Object.keys(all[split])))];
  const rows = names.map((name) => [metric(name), ...splits.map((split) => score(all[split][name]?.value))]);
  return h(
    "details",
    {},
    h("summary", {}, "All metrics"),
    table("Metrics of each split", ["metric", ...splits], rows, { class: "numbers" }),
  );
}
