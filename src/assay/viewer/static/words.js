// Values, answers, outcomes and numbers in words.

import { h } from "./dom.js";
import { to } from "./router.js";

/** Return a number with its thousands apart. */
export const count = (number) => number.toLocaleString("en");

/** Return a text in which what stands between backticks is set as code. */
export const prose = (text) =>
  String(text)
    .split("`")
    .map((part, place) => (place % 2 ? h("code", {}, part) : part));

/** Return a share in percent, or a dash. */
export const percent = (share) =>
  share === null || share === undefined || Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1)}\u00a0%`;

/** Return a score with two digits, or a dash. */
export const score = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));

/** Return the text of a value. */
export function word(values, code) {
  return code === null || code === undefined || code < 0 ? "–" : String(values[code]);
}

/** Return the name of a metric as people write it. */
export function metric(name) {
  return name
    .replaceAll("_", " ")
    .replace(/\bf1\b/, "F1")
    .replace(/\bece\b/, "ECE")
    .replace(/\bood\b/, "OOD");
}

/** Return the labels of a sample in a line: of many that are true or false, those that are true. */
export function labelled(labels, codes) {
  const told = labels.map((label, place) => ({ label, value: label.values[codes[place]] ?? "–" }));
  const worth = told.filter(({ value }) => labels.length === 1 || value !== false);
  const texts = worth.map(({ label, value }) =>
    labels.length > 1 && value === true ? label.name : `${label.name} = ${value}`,
  );
  return texts.join(", ") || "no label is true";
}

/** Return which concepts are misread, such as `a 2→4, b 8→6`; `reads` has places, true and predicted codes. */
export function misreadings(concepts, { reads, misread }) {
  const parts = reads.map(([place, truth, said]) => {
    const { name, values } = concepts[place];
    return `${name}\u00a0${word(values, truth)}→${word(values, said)}`;
  });
  const more = misread - reads.length;
  return parts.join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Return the name of a dataset's task, leading to its page if it has one. */
export function taskLink({ task, registered }) {
  return registered ? h("a", { href: to(["tasks", task.name]) }, task.name) : task.name;
}

/** Return a mark for right or wrong that does not need colour. */
export function mark(right, what = "") {
  const said = `${right ? "right" : "wrong"}${what ? ` ${what}` : ""}`;
  return h(
    "span",
    { class: `mark ${right ? "right" : "wrong"}`, role: "img", "aria-label": said, title: said },
    right ? "✓" : "✗",
  );
}

/** Return an answer as an element: the value, whether it is right, and how likely the model holds it to be. */
export function answer(said, values, truth) {
  if (!said || said.code < 0) return h("span", { class: "soft" }, "no prediction");
  const sure = said.probabilities?.[said.code];
  const parts = [h("span", { class: "value" }, word(values, said.code))];
  if (truth !== undefined && truth !== null) parts.push(mark(said.code === truth));
  if (sure !== undefined) parts.push(bar(sure), h("span", { class: "soft number" }, sure.toFixed(2)));
  return h("span", { class: "answer" }, parts);
}

/** Return a bar that is filled by a share. */
export function bar(share, kind = "") {
  const fill = h("span", { class: `fill ${kind}` });
  fill.style.width = `${100 * share}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, fill);
}

export const OUTCOMES = [
  { value: "", text: "any" },
  { value: "right", text: "labels right" },
  { value: "wrong", text: "labels wrong" },
  { value: "misread", text: "a concept wrong" },
  { value: "hidden", text: "labels right, a concept wrong" },
  { value: "violating", text: "breaks a constraint" },
];
export const OUTCOMES_OF_SEVERAL = [
  { value: "differ", text: "the models differ" },
  { value: "only_first", text: "only the first is right" },
  { value: "only_second", text: "the second is right, not the first" },
  { value: "all_right", text: "all are right" },
  { value: "all_wrong", text: "all are wrong" },
];
