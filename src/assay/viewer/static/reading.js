// How a run predicts a split: confusion of each group of concepts and each label, every cell of which leads to its samples;
// how right it is in each region of the rule; which constraints its predictions break.

import { bars } from "./chart.js";
import { h, section, table } from "./dom.js";
import { to } from "./router.js";
import { typeset } from "./typeset.js";
import { count, percent } from "./words.js";

const NONE = "none";
const KINDS = { holds: "holds", "just misses": "just misses", changes: "one change away" };
const MOST_BARS = 12;
const MOST_MAPS = 6;

const samples = ({ data, run, split }, query) => to(["data", data.key, split], { run: run.key, ...query });

/** Return how many samples are right, wrong and misread, each leading to them. */
export function summary(where) {
  const { outcomes, answered, whole, groups } = where.reading;
  const ofConcepts = { misread: "a concept wrong", hidden: "labels right although a concept is wrong" };
  const texts = { right: "labels right", wrong: "labels wrong", ...(groups.length ? ofConcepts : {}) };
  const items = Object.entries(texts).map(([name, text]) =>
    h(
      "li",
      {},
      h("a", { href: samples(where, { outcome: name }), id: `see-${name}` }, count(outcomes[name])),
      ` ${text} (${percent(outcomes[name] / Math.max(1, answered))})`,
    ),
  );
  const told = answered === whole ? `${count(whole)} samples` : `predictions for ${count(answered)} of ${count(whole)}`;
  return h("ul", { class: "inline", "aria-label": `Outcomes on ${where.split}: ${told}` }, h("li", {}, told), items);
}

/** Return the confusion: what is predicted for each true value, of concepts first. */
export function readings(where) {
  const { groups, labels } = where.reading;
  const silent = groups.length
    ? null
    : h("p", { class: "note" }, "This model predicts no concepts, so there is no confusion of them to show.");
  const maps = worstFirst(groups).map((group) => {
    const shared = group.concepts.length > 1 ? ` (${group.concepts.length} concepts share this encoder)` : "";
    return h(
      "div",
      { class: "map" },
      h("h3", {}, group.name, h("span", { class: "soft" }, shared)),
      h("p", {}, inWords(group)),
      confusion(where, group, (truth, said) => ({ reads: `${group.name}:${truth}:${said}` })),
    );
  });
  const asked = worstFirst(labels).map((label) =>
    h(
      "div",
      { class: "map" },
      h("h3", {}, "Label ", label.name),
      h("p", {}, `accuracy ${percent(label.right / Math.max(1, label.answered))} (n = ${count(label.answered)})`),
      confusion(where, label, (truth, said) => ({
        label: `${label.name}:${truth}`,
        predicts: `${label.name}:${said}`,
      })),
    ),
  );
  return section("reading", "Predicted against true values", silent, some(maps, "maps", "concepts"), some(asked, "maps", "labels"));
}

const worstFirst = (entries) => [...entries].sort((a, b) => a.right / (a.answered || 1) - b.right / (b.answered || 1));

/** Return the first parts, and the others to be opened. */
function some(parts, kind, what, most = MOST_MAPS) {
  const rest = parts.slice(most);
  return [
    h("div", { class: kind }, parts.slice(0, most)),
    rest.length
      ? h(
          "details",
          {},
          h("summary", {}, `${rest.length} more ${what}, right more often`),
          h("div", { class: kind }, rest),
        )
      : null,
  ];
}

/** Return what is most often predicted for each value, such as `predicts 4 for 2, 6 for 8`. */
function inWords({ values, counts, right, answered }) {
  const share = `accuracy ${percent(right / Math.max(1, answered))} (n = ${count(answered)})`;
  if (!counts) return `${share}; ${values.length} values are too many for a table.`;
  const wrong = counts.flatMap((row, truth) => {
    const said = row.slice(0, -1);
    const best = said.indexOf(Math.max(...said));
    return Math.max(...said) > 0 && best !== truth ? [[values[truth], values[best]]] : [];
  });
  if (!wrong.length) return `${share}; each value is mostly predicted right.`;
  const pairs = wrong.map(([truth, said]) => `${said} for ${truth}`).join(", ");
  return [h("strong", {}, `predicts ${pairs}`), `; ${share}.`];
}

/** Return a table of counts: a row for each true value that occurs, a column for each predicted one. */
function confusion(where, { name, values, counts }, queryOf) {
  if (!counts) return null;
  const rows = counts.map((row, truth) => ({ row, truth })).filter(({ row }) => row.some(Boolean));
  const columns = [...values.keys()].filter((code) => rows.some(({ row }) => row[code]) || counts[code].some(Boolean));
  const silent = rows.some(({ row }) => row.at(-1));
  const codes = silent ? [...columns, values.length] : columns;
  const text = (code) => (code === values.length ? "none" : String(values[code]));
  const made = rows.map(({ row, truth }) => {
    const total = row.reduce((sum, number) => sum + number, 0);
    return [String(values[truth]), ...codes.map((code) => cell(row[code], total, truth, code))];
  });
  function cell(number, total, truth, code) {
    if (!number) return h("span", { class: "cell none" }, "·");
    const said = code === values.length ? NONE : code;
    const told = `${name} ${values[truth]} predicted as ${text(code)}: ${count(number)} of ${count(total)}`;
    const link = h(
      "a",
      {
        class: `cell ${truth === code ? "same" : "other"}`,
        href: samples(where, queryOf(truth, said)),
        "aria-label": told,
        title: told,
      },
      count(number),
    );
    link.style.setProperty("--share", String(number / total));
    return link;
  }
  const caption = `${name}: true values in rows, predicted ones in columns`;
  return table(caption, ["true \\ predicted", ...codes.map(text)], made, { class: "confusion" });
}

/** Return the accuracy in each region of the rule, the worst first. */
export function boundary(where) {
  const { regions } = where.reading;
  const labels = [...new Set(regions.map((one) => one.label))];
  const parts = labels.map((label) => {
    const own = regions
      .filter((one) => one.label === label)
      .sort((a, b) => a.right / a.examples - b.right / b.examples);
    const rows = own.map((one) => ({
      name:
        one.kind === "far"
          ? "far"
          : h("span", {}, h("span", { class: "soft" }, KINDS[one.kind] ?? one.kind, " "), typeset(one.name)),
      share: one.right / one.examples,
      text: `${percent(one.right / one.examples)} of ${count(one.examples)}`,
      href: samples(where, { tag: `${label}:${one.name}`, outcome: one.right < one.examples ? "wrong" : "right" }),
    }));
    const shown = (part) => bars(part, `Accuracy of ${label} by region`);
    const rest = rows.slice(MOST_BARS);
    const more = rest.length
      ? h("details", {}, h("summary", {}, `${rest.length} more regions, right more often`), shown(rest))
      : null;
    return [labels.length > 1 ? h("h3", {}, label) : null, shown(rows.slice(0, MOST_BARS)), more];
  });
  return section(
    "boundary",
    "Boundary: accuracy in each region of the rule",
    parts.length ? h("p", { class: "soft" }, "Each region leads to its samples, where some are wrong to those.") : null,
    parts,
  );
}

/** Return how often each constraint is broken. */
export function constraints(where) {
  const found = where.reading.constraints.filter((one) => one.count);
  if (!where.data.knowledge.constraints.length) return null;
  const formulas = Object.fromEntries(where.data.knowledge.constraints.map((one) => [one.name, one.formula]));
  const rows = found.map((one) => [
    [h("strong", {}, one.name), " ", h("span", { class: "where" }, typeset(formulas[one.name]))],
    h("a", { href: samples(where, { violates: one.name }) }, count(one.count)),
    percent(one.count / Math.max(1, where.reading.answered)),
  ]);
  const none = h("p", { class: "soft" }, "The predicted concepts break no constraint.");
  return section(
    "constraints",
    "Violated constraints",
    rows.length ? table("Predictions that break a constraint", ["constraint", "samples", "share"], rows) : none,
  );
}
