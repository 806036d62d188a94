// The tasks that there are, and a page for each.

import { h, table } from "./dom.js";
import { to } from "./router.js";
import { source } from "./source.js";
import { labelled } from "./words.js";

export async function tasksPage() {
  const tasks = await source.tasks();
  const items = tasks.map((task) =>
    h("li", {}, h("a", { href: to(["tasks", task.name]) }, task.name), ` – ${task.summary}`),
  );
  return { title: "Tasks", parts: [h("h1", {}, "Tasks"), h("ul", { class: "tasks" }, items)] };
}

export async function taskPage(name) {
  const task = await source.task(name);
  const { concepts, labels, constraints } = task.knowledge;
  const few = (values) =>
    values.length > 12 ? `${values.slice(0, 12).join(", ")}, … (${values.length})` : values.join(", ");
  const parts = [
    h("nav", { class: "crumbs", "aria-label": "Where this is" }, h("a", { href: "#/tasks" }, "Tasks")),
    h("h1", {}, task.name, " ", h("span", { class: "soft" }, `version ${task.version}`)),
    h("p", {}, task.summary),
    h(
      "ol",
      { class: "thumbs plain" },
      task.examples.map((one, place) => example(one, place, task)),
    ),
    h("pre", {}, task.about),
    table(
      "Rule",
      ["label", "values", "formula"],
      labels.map((label) => [label.name, few(label.values), h("code", {}, label.formula)]),
    ),
    table(
      "Concepts",
      ["concept", "values"],
      concepts.map((concept) => [concept.name, few(concept.values)]),
    ),
    table(
      "Constraints",
      ["constraint", "formula"],
      constraints.map((one) => [one.name, h("code", {}, one.formula)]),
    ),
    table(
      "Splits",
      ["split", "usual size"],
      task.splits.map((split) => [split.name, split.size.toLocaleString("en")]),
    ),
    table(
      "Settings",
      ["setting", "default", "what it does"],
      task.settings.map((one) => [one.name, h("code", {}, one.default), one.help]),
    ),
  ];
  return { title: task.name, parts };
}

function example(one, place, task) {
  const told = labelled(task.knowledge.labels, one.labels);
  const picture = one.image
    ? h("img", { src: one.image, alt: `Example ${place + 1}: ${told}` })
    : h("span", { class: "snippet" }, one.text);
  return h("li", {}, picture, h("span", { class: "told" }, told));
}
