// A verdict: the short answer, and everything that was tested behind it.

import { badge, deciding } from "./badge.js";
import { h, table } from "./dom.js";
import { to } from "./router.js";
import { count, metric, percent, prose, score } from "./words.js";

const NUMBERS = ["label_f1", "concept_f1", "collapse", "rule_consistency", "ood_label_accuracy"];
const CAUSES = {
  table: "annotation: the rule gives the predicted label for the annotated concepts",
  perception: "misread concepts: the rule gives the predicted label for them",
  rule: "label head: the rule gives the right label for the predicted concepts",
  unsure: "uncertain concepts: the rule makes the predicted label most probable",
  both: "both misread concepts and the label head",
  unknown: "unknown",
};
const ORDER = ["finding", "explanation", "label", "concept"];
const TESTED = ["what", "name", "split", "state", "value", "95 % interval", "examples", "threshold", "note"];
const MOST = 500; // rows of what was tested

/** Return the parts of the panel: the word with its meaning, reasons, certainty, next step, and the rest folded. */
export function verdict(data, run, found) {
  const tested = [others(found), notes(found), causes(data, run, found), concepts(found), scores(found), rows(found)];
  return [
    h("p", { class: "headline" }, badge(found), " ", h("strong", {}, prose(found.meaning))),
    h(
      "ul",
      { class: "reasons" },
      found.reasons.map((text) => h("li", {}, prose(text))),
    ),
    found.certainty.text ? h("p", { class: "soft", id: "certainty" }, found.certainty.text) : null,
    found.next ? h("p", { id: "next" }, h("strong", {}, "Next: "), prose(found.next)) : null,
    numbers(found),
    h(
      "p",
      { class: "soft" },
      "Decided by ",
      deciding(found) || "what it does not predict",
      ". ",
      wrongSamples(data, run, found),
    ),
    h("details", { id: "tested" }, h("summary", {}, "Everything that was tested"), tested),
  ];
}

function wrongSamples(data, run, { errors, first_split: split }) {
  if (!errors[split]?.wrong) return null;
  const address = to(["data", data.key, split], { run: run.key, outcome: "wrong" });
  return h("a", { href: address }, `Samples with wrong labels on ${split}`);
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

/** Return all findings, with the wrong labels that each accounts for. */
function others({ findings }) {
  const items = findings.map((one, place) =>
    h(
      "li",
      {},
      badge({ verdict: one.kind, tone: one.tone }),
      " ",
      [one.meaning, one.text].map((text) => [prose(text), " "]),
      h("span", { class: "soft" }, accounts(one), place && one.next ? ["Next: ", prose(one.next)] : null),
      one.details.length
        ? h(
            "ul",
            {},
            one.details.map((text) => h("li", {}, prose(text))),
          )
        : null,
    ),
  );
  return [h("h3", {}, "Findings"), h("ul", { class: "reasons", id: "findings" }, items)];
}

function accounts({ wrong_labels: wrong, unsettled }) {
  const labels = wrong ? `It accounts for ${count(wrong)} wrong ${wrong === 1 ? "label" : "labels"}. ` : "";
  return labels + (unsettled.length ? `Explained about as well by: ${unsettled.join(", ")}. ` : "");
}

function notes({ notes: texts, shortcuts, thresholds }) {
  const more = shortcuts && !texts.includes(shortcuts) ? [shortcuts] : [];
  const changed = thresholds.length ? [`Thresholds that were changed: ${thresholds.join("; ")}.`] : [];
  const items = [...texts, ...more, ...changed].map((text) => h("li", {}, prose(text)));
  return items.length ? [h("h3", {}, "Notes"), h("ul", { class: "reasons" }, items)] : null;
}

/** Return where wrong labels come from, as far as predictions tell. */
function causes(data, run, { errors, first_split: split }) {
  const found = errors[split];
  if (!found?.wrong) return null;
  const parts = Object.entries(CAUSES)
    .filter(([name]) => found[name])
    .map(([name, text]) => [text, count(found[name]), percent(found[name] / found.wrong)]);
  return table(`Causes of the ${count(found.wrong)} wrong labels on ${split}`, ["cause", "labels", "share"], parts);
}

function concepts({ concepts: states, first_split: split }) {
  const parts = states.map((one) => [
    one.name,
    one.state,
    one.answered ? `${count(one.right)} of ${count(one.answered)}` : "–",
    one.used ? "yes" : "no",
  ]);
  return table(`Concepts on ${split}`, ["concept", "state", "right", "used by the rule"], parts);
}

function scores({ scores: all }) {
  const splits = Object.keys(all);
  const names = [...new Set(splits.flatMap((split) => Object.keys(all[split])))];
  const parts = names.map((name) => [metric(name), ...splits.map((split) => score(all[split][name]?.value))]);
  const shown = table("Metrics of each split", ["metric", ...splits], parts, { class: "numbers" });
  return h("details", {}, h("summary", {}, "All metrics"), shown);
}

/** Return the table of what was tested, what decided first. */
function rows({ table: tested }) {
  const place = (one) => (ORDER.includes(one.what) ? ORDER.indexOf(one.what) : ORDER.length);
  const text = (value, digits) => (value === null ? "" : value.toFixed(digits));
  const parts = [...tested]
    .sort((one, other) => place(one) - place(other))
    .slice(0, MOST)
    .map((one) => [
      one.what,
      one.name,
      one.split,
      one.state,
      text(one.value, 3),
      one.low === null || one.high === null ? "" : `${one.low.toFixed(3)} to ${one.high.toFixed(3)}`,
      one.examples === null ? "" : count(one.examples),
      text(one.threshold, 2),
      h("span", { class: "words" }, one.note),
    ]);
  const rest = tested.length > MOST ? `; the other ${count(tested.length - MOST)}: assay diagnose RUN --full` : "";
  const nats = "Explanations of the wrong labels are compared by their log-likelihood, in nats, on held-out worlds";
  const shown = table(`${nats}${rest}.`, TESTED, parts, { class: "tested" });
  return h("details", {}, h("summary", {}, `All tests and judgements (${count(tested.length)} rows)`), shown);
}
