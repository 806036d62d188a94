// Change concepts by hand: the world drawn anew, the rule's labels, and what models say of the new picture, and of the
// old one with the concepts set inside of them.

import { spinner } from "./busy.js";
import { h, table } from "./dom.js";
import { outcome } from "./outcome.js";
import { picture } from "./picture.js";
import { source } from "./source.js";
import { answer, word } from "./words.js";

/** Return three parts of the page that hang together: the changed picture, what follows, and the concepts to change. */
export function editor(here) {
  const parts = {
    picture: h("div", { class: "edited", id: "edited" }),
    outcome: h("section", { class: "outcome", id: "outcome", "aria-live": "polite" }),
  };
  const changes = new Map();
  let turn = 0;
  const renew = async () => {
    const mine = ++turn;
    const wanted = Object.fromEntries(changes);
    mark(here, changes);
    if (!changes.size) return clear(parts);
    parts.outcome.setAttribute("aria-busy", "true");
    if (!parts.picture.childElementCount) parts.picture.replaceChildren(h("div", { class: "blank" }));
    parts.picture.classList.add("drawing-again");
    parts.picture.prepend(spinner("Drawing the picture again …"));
    const world = edited(here, wanted);
    const said = asked(here, wanted);
    for (const known of [
      { world: await world, said: null },
      { world: await world, said: await said },
    ]) {
      if (mine !== turn) return;
      show(here, parts, known, wanted);
    }
    parts.outcome.removeAttribute("aria-busy");
  };
  return { ...parts, concepts: concepts(here, changes, renew) };
}

const safely = (promise) => promise.catch((error) => ({ error: error.message }));

/** Return the changed world, or why there is none. */
function edited({ data, split, row }, changes) {
  return safely(source.edit(data.key, split, row, changes));
}

/** Return what the models that can be asked say, each with its run. */
function asked({ data, split, row, runs }, changes) {
  const live = runs.filter((run) => run.live);
  return Promise.all(
    live.map(async (run) => ({ run, ...(await safely(source.ask(data.key, split, row, run.key, changes))) })),
  );
}

function clear(parts) {
  parts.picture.classList.remove("drawing-again");
  parts.picture.replaceChildren();
  parts.outcome.replaceChildren();
  parts.outcome.removeAttribute("aria-busy");
}

function mark({ data, sample }, changes) {
  data.knowledge.concepts.forEach((concept, place) => {
    const box = document.getElementById(`set-${concept.name}`);
    box.classList.toggle("changed", changes.has(concept.name));
    if (!changes.has(concept.name)) box.value = String(sample.concepts[place]);
  });
  document.getElementById("undo").disabled = !changes.size;
}

function show(here, parts, { world, said }, changes) {
  const { layout } = here.data;
  const why = world.error ?? world.undrawn;
  const drawn = why
    ? h("p", { class: "note", role: "alert" }, why)
    : picture({ layout, pictures: world.pictures, things: world.things, text: world.text, title: "With the change" });
  parts.picture.classList.remove("drawing-again");
  parts.picture.replaceChildren(drawn);
  parts.outcome.replaceChildren(...outcome(here, world, said, changes));
}

/** Return the concepts: what is true, what models read, and a box to change each. */
function concepts(here, changes, renew) {
  const { data, sample, runs, live } = here;
  const rows = data.knowledge.concepts.map((concept, place) => [
    concept.name,
    word(concept.values, sample.concepts[place]),
    ...runs.map((run) => answer(sample.answers[run.key]?.concepts[place], concept.values, sample.concepts[place])),
    ...(live ? [box(concept, sample.concepts[place], changes, renew)] : []),
  ]);
  const heads = ["concept", "true", ...runs.map((run) => run.short), ...(live ? ["change to"] : [])];
  const undo = () => {
    changes.clear();
    renew();
  };
  return h(
    "section",
    { id: "concepts" },
    h("h2", {}, "Concepts"),
    live
      ? [
          h("p", { class: "soft" }, "Change a concept, and see the picture, the label and the models’ predictions follow."),
          h("button", { type: "button", id: "undo", disabled: true, onclick: undo }, "Undo all changes"),
        ]
      : h(
          "p",
          { class: "note", id: "no-edit" },
          "Concepts cannot be changed here: a bundle holds neither the task that draws worlds nor the models. ",
          "Run “assay view” on the folders for that.",
        ),
    table("True and predicted concepts", heads, rows),
  );
}

function box(concept, truth, changes, renew) {
  const choose = (event) => {
    const code = Number(event.target.value);
    code === truth ? changes.delete(concept.name) : changes.set(concept.name, code);
    renew();
  };
  const options = concept.values.map((value, code) =>
    h("option", { value: code, selected: code === truth }, String(value)),
  );
  return h(
    "select",
    { id: `set-${concept.name}`, "aria-label": `Change ${concept.name} to`, onchange: choose },
    options,
  );
}
