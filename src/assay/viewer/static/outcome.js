// What follows from changed concepts: by the rule, and by the models.

import { spinner } from "./busy.js";
import { h, table } from "./dom.js";
import { answer, word } from "./words.js";

const BEFORE_AND_AFTER = ["before", "after"];
const WAYS = { counterfactual: "on the changed image", intervention: "with the concept set" };

/** Return what follows; `said` is null as long as the models have not predicted. */
export function outcome(here, world, said, changes) {
  const { data, sample } = here;
  const told = data.knowledge.labels.map((label, place) => labelRows(label, place, here, world, said ?? []));
  const moved = told.filter((one) => one.moved || told.length === 1).flatMap((one) => one.rows);
  const still = told.filter((one) => !one.moved && told.length > 1).length;
  const read = readings(here, said ?? [], changes);
  return [
    h("h2", {}, "What follows"),
    followed(data, world),
    table("Labels before and after the change", ["label", ...BEFORE_AND_AFTER], moved),
    still && !world.error
      ? h("p", { class: "soft" }, `Labels that do not change, by the rule and by the models: ${still}.`)
      : null,
    said ? null : spinner("Asking the models …"),
    table("Predictions of the changed concepts on the changed image", ["concept", ...BEFORE_AND_AFTER], read),
    ...(world.error ? [] : inTheRule(sample, world)),
  ].filter(Boolean);
}

function followed({ knowledge }, world) {
  if (world.error || !world.follows.length) return null;
  const told = knowledge.concepts.flatMap(({ name, values }, place) =>
    world.follows.includes(name) ? [`${name} = ${word(values, world.concepts[place])}`] : [],
  );
  return h("p", { class: "note" }, `To render this image, these concepts change too: ${told.join(", ")}.`);
}

/** Return the rows about one label, and whether anyone says something else than before. */
function labelRows(label, place, { sample }, world, said) {
  const now = world.error ? null : world.labels[place];
  const rows = [
    [
      `${label.name}, by the rule`,
      word(label.values, sample.labels[place]),
      world.error ? "–" : arrow(word(label.values, now), now !== sample.labels[place]),
    ],
  ];
  let moved = now !== null && now !== sample.labels[place];
  for (const one of said) {
    for (const [kind, words] of Object.entries(WAYS)) {
      const before = one.own?.labels[place];
      const after = one[kind]?.labels?.[place];
      const other = after && after.code !== before.code;
      moved ||= Boolean(other);
      const why = one.error ?? one[kind]?.error;
      rows.push([
        `${label.name}, by ${one.run.short} ${words}`,
        answer(before, label.values, sample.labels[place]),
        why ? h("span", { class: "soft" }, why) : arrow(answer(after, label.values, now), other),
      ]);
    }
  }
  return { rows, moved };
}

function arrow(content, moved) {
  return h(
    "span",
    { class: moved ? "moved" : "" },
    moved ? "→ " : "",
    content,
    moved ? h("span", { class: "hear" }, " (changed)") : "",
  );
}

function readings({ data, sample }, said, changes) {
  return data.knowledge.concepts.flatMap((concept, place) =>
    (concept.name in changes ? said : []).map((one) => [
      `${concept.name}, by ${one.run.short}`,
      answer(one.own?.concepts[place], concept.values, sample.concepts[place]),
      answer(one.counterfactual?.concepts?.[place], concept.values, changes[concept.name]),
    ]),
  );
}

/** Return where the changed world lies in each rule and what it violates, where that is new, and its text. */
function inTheRule(sample, world) {
  const places = Object.keys(world.tags).map((label) => [
    `region of the rule of ${label}`,
    sample.tags[label].join("; "),
    world.tags[label].join("; "),
  ]);
  const violated = ["violated rules", sample.violated.join(", ") || "none", world.violated.join(", ") || "none"];
  const fresh = [violated, ...places].filter(([, before, after]) => before !== after);
  const rows = fresh.map(([what, before, after]) => [what, before, arrow(after, true)]);
  return [
    table("Region of the rule and violations", ["what", ...BEFORE_AND_AFTER], rows),
    world.text ? h("pre", {}, world.text) : null,
    h("details", {}, h("summary", {}, "The changed world in one line"), h("pre", {}, world.world)),
  ];
}
