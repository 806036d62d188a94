// The tasks that there are, each with a picture that is drawn when it comes into view, and a page for each.

import { pending } from "./busy.js";
import { crumbs, h, table } from "./dom.js";
import { to } from "./router.js";
import { source } from "./source.js";
import { typeset } from "./typeset.js";
import { count, labelled, prose } from "./words.js";

export async function tasksPage() {
  const tasks = await source.tasks();
  const cards = tasks.map(card);
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries.filter((entry) => entry.isIntersecting)) {
      seen.unobserve(target);
      if (isIntersecting) draw(target, target.dataset.task);
    }
  });
  cards.forEach((one) => seen.observe(one.querySelector(".drawing")));
  return { title: "Tasks", parts: [h("h1", {}, "Tasks"), h("ul", { class: "cards tasks" }, cards)] };
}

function card(task) {
  const address = to(["tasks", task.name]);
  return h(
    "li",
    { class: "card" },
    h("h2", {}, h("a", { href: address }, task.name)),
    h("div", { class: "drawing", "data-task": task.name }),
    h("p", {}, prose(task.summary)),
  );
}

/** Ask for the picture of a task: drawing takes a moment. */
function draw(place, name) {
  const work = async () => {
    const { image, text, error } = await source.taskPicture(name);
    if (error) return h("p", { class: "soft" }, `No picture: ${error}`);
    return image ? h("img", { src: image, alt: `An example of ${name}` }) : h("p", { class: "snippet" }, text);
  };
  place.replaceChildren(pending("Drawing", work));
}

export async function taskPage(name) {
  const task = await source.task(name);
  const { concepts, labels, constraints } = task.knowledge;
  const few = (values) =>
    values.length > 12 ? `${values.slice(0, 12).join(", ")}, … (${values.length})` : values.join(", ");
  const parts = [
    crumbs(h("a", { href: "#/tasks" }, "Tasks")),
    h("h1", {}, task.name, " ", h("span", { class: "soft" }, `version ${task.version}`)),
    h("p", {}, prose(task.summary)),
    h(
      "ol",
      { class: "thumbs plain" },
      task.examples.map((one, place) => example(one, place, task)),
    ),
    h("pre", { tabindex: 0 }, task.about),
    table(
      "Rule",
      ["label", "values", "formula"],
      labels.map((label) => [label.name, few(label.values), typeset(label.formula)]),
    ),
    table(
      "Concepts",
      ["concept", "values"],
      concepts.map((concept) => [concept.name, few(concept.values)]),
    ),
    table(
      "Constraints",
      ["constraint", "formula"],
      constraints.map((one) => [one.name, typeset(one.formula)]),
    ),
    table(
      "Splits",
      ["split", "usual size"],
      task.splits.map((split) => [split.name, count(split.size)]),
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
