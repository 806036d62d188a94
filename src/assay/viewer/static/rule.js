// The rule of a dataset: formulas, a truth table or a grid where they are small, a decision diagram.

import { diagram } from "./diagram.js";
import { h, section, table } from "./dom.js";
import { typeset } from "./typeset.js";
import { count, word } from "./words.js";

/** Return the section about the rule. */
export function rule(data, found) {
  const { labels, constraints } = data.knowledge;
  const formulas = labels.map((label) =>
    h(
      "p",
      { class: "equation", tabindex: 0 },
      h("var", {}, label.name),
      h("span", { class: "sign" }, " = "),
      typeset(label.formula),
    ),
  );
  const limits = constraints.map((one) => [one.name, typeset(one.formula)]);
  return section(
    "rule",
    "Rule",
    formulas,
    limits.length
      ? h(
          "details",
          {},
          h("summary", {}, `${count(limits.length)} constraints`),
          table("Constraints", ["constraint", "formula"], limits),
        )
      : null,
    values(data, found),
    found.diagram
      ? h("details", {}, h("summary", {}, "Decision diagram"), diagram(data.knowledge.concepts, found.diagram))
      : null,
  );
}

function values(data, found) {
  if (found.kind === "none") return h("p", { class: "soft" }, found.why);
  if (found.kind === "many") {
    return h("p", { class: "soft" }, `${count(found.count)} combinations of values: too many for a truth table.`);
  }
  const concepts = found.concepts.map((place) => data.knowledge.concepts[place]);
  return h(
    "details",
    { open: found.rows.length <= 16 },
    h("summary", {}, found.kind === "grid" ? "All combinations" : "Truth table"),
    found.kind === "grid" ? grids(data, found, concepts) : truths(data, found, concepts),
  );
}

function truths(data, found, concepts) {
  const { labels } = data.knowledge;
  const rows = found.rows.map((codes, place) => [
    ...codes.map((code, column) => word(concepts[column].values, code)),
    ...labels.map((label, number) => truth(label, found.labels[place][number], found.possible[place])),
  ]);
  const heads = [...concepts.map((one) => one.name), ...labels.map((one) => one.name)];
  return table("The label of each combination of the concepts that the rule names", heads, rows, { class: "truth" });
}

function truth(label, code, possible) {
  const text = word(label.values, code);
  return h("span", { class: `value ${text}` }, possible ? text : `${text} (breaks a constraint)`);
}

/** Return a table of two concepts for each label. */
function grids(data, found, [down, across]) {
  return data.knowledge.labels.map((label, number) => {
    const rows = down.values.map((value, row) => [
      String(value),
      ...across.values.map((_, column) =>
        word(label.values, found.labels[row * across.values.length + column][number]),
      ),
    ]);
    const caption = `${label.name}: rows ${down.name}, columns ${across.name}`;
    return table(caption, [`${down.name} \\ ${across.name}`, ...across.values.map(String)], rows, { class: "grid" });
  });
}
