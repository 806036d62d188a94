// A verdict as a badge: its word, its tone, and the number that decided.

import { h } from "./dom.js";
import { metric, score } from "./words.js";

const SIGNS = { good: "✓", bad: "✗", weak: "!", unknown: "?" };

/** Return the badge of a verdict; its sign tells the tone to those who see no colour. */
export function badge({ verdict, tone }) {
  return h(
    "span",
    { class: `badge ${tone in SIGNS ? tone : "unknown"}` },
    h("span", { "aria-hidden": "true" }, SIGNS[tone] ?? "?"),
    ` ${verdict}`,
  );
}

/** Return what stands in the place of a badge until the run is judged. */
export function judging() {
  return h("span", { class: "badge open" }, h("span", { class: "spinner", "aria-hidden": "true" }), " judging …");
}

/** Return the number that decided, with its name. */
export function deciding({ measure, value, split }) {
  return value === null ? "" : `${metric(measure)} ${score(value)} on ${split}`;
}
