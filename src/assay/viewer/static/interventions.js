// What becomes of the labels when concepts are corrected: a slider of how many, and the curve behind it.

import { onRequest, pending } from "./busy.js";
import { lineChart } from "./chart.js";
import { h, select } from "./dom.js";
import { source } from "./source.js";
import { count, percent } from "./words.js";

/** Return a button that asks for the curve: it takes the model, and a moment. */
export function interventions({ data, run, split }) {
  const ask = (policy) => (tell) => source.interventions(data.key, run.key, split, policy, tell);
  const show = (found) => curve(found, (policy) => box.replaceChildren(again(policy)));
  const again = (policy) => pending("Asking the model", async (tell) => show(await ask(policy)(tell)));
  const box = onRequest("Correct concepts, and see the labels follow", "Asking the model", async (tell) =>
    show(await ask("uncertainty")(tell)),
  );
  box.id = "try-interventions";
  const what = "Interventions set concepts to their true values inside the model; the picture stays as it is.";
  return [h("p", { class: "soft" }, what), box];
}

function curve(found, choose) {
  const { points, policies, policy } = found;
  const drawing = h("div", {});
  const result = h("p", { role: "status", id: "corrected" });
  const slide = (place) => {
    const point = points[place];
    const before = points[0];
    drawing.replaceChildren(drawn(found, point.budget));
    result.replaceChildren(
      h("strong", {}, `${count(point.budget)} of ${count(found.concepts)} concepts intervened on`),
      `: labels right in ${percent(point.accuracy)} (${difference(point.accuracy, before.accuracy)}), `,
      `concepts in ${percent(point.concept_accuracy)}; ${point.edited.toFixed(1)} corrections per sample.`,
    );
  };
  const range = { type: "range", id: "budget", min: 0, max: points.length - 1, step: 1, value: 0 };
  const move = (event) => slide(Number(event.target.value));
  const parts = [
    select(
      "Which concepts first",
      "policy",
      policies.map((one) => ({ value: one.name, text: `${one.name}: ${one.text}` })),
      policy,
      choose,
    ),
    h(
      "div",
      { class: "field slider" },
      h("label", { for: "budget" }, "Concepts intervened on"),
      h("input", { ...range, oninput: move }),
    ),
    result,
    drawing,
    h("p", { class: "soft" }, `On ${count(found.examples)} samples of ${found.split}; labels by ${found.by}.`),
  ];
  slide(0);
  return parts;
}

function difference(now, before) {
  const points = 100 * (now - before);
  return `${points < 0 ? "−" : "+"}${Math.abs(points).toFixed(1)} points`;
}

function drawn({ points }, at) {
  const line = (name, text) => ({ name: text, points: points.map((point) => [point.budget, point[name]]) });
  return lineChart({
    title: "Accuracy by the number of concepts intervened on",
    across: "concepts intervened on",
    lines: [line("accuracy", "labels"), line("concept_accuracy", "concepts")],
    low: 0,
    high: 1,
    at,
  });
}
