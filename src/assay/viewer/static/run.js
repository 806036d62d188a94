// A run: the verdict and its reasons, what it predicts for each value, where in the rule it errs, and what can be tried on it.

import { badge, judging } from "./badge.js";
import { pending } from "./busy.js";
import { lineChart } from "./chart.js";
import { crumbs, h, section } from "./dom.js";
import { interventions } from "./interventions.js";
import { pairs } from "./pairs.js";
import { boundary, constraints, readings, summary } from "./reading.js";
import { changed, to } from "./router.js";
import { dataset, runOf, source, verdictOn } from "./source.js";
import { units } from "./units.js";
import { verdict } from "./verdict.js";
import { count } from "./words.js";

const PAIRS = "pairs";
const SECTIONS = {
  units: "Discovered units",
  reading: "Predicted against true values",
  boundary: "Boundary",
  constraints: "Constraints",
  pairs: "Counterfactual pairs",
  interventions: "Interventions",
  learning: "Learning curve",
};

export async function runPage(key, name, query) {
  const data = await dataset(key);
  const run = runOf(data, name);
  const splits = run.splits.filter((split) => split !== PAIRS);
  const split = query.get("split") ?? (splits.includes("test") ? "test" : splits[0]);
  const [facts, reading] = await Promise.all([source.run(key, name), split ? source.reading(key, name, split) : null]);
  const where = { data, run, split, query, reading };
  const mark = h("span", { class: "verdict-mark" }, judging());
  const parts = [
    crumbs(h("a", { href: "#/" }, "Data and runs"), h("a", { href: to(["data", key]) }, data.title)),
    h("h1", {}, run.title, " ", mark),
    h("p", { class: "soft" }, subtitle(run, facts)),
    pending("Judging", (tell) => judged(where, mark, tell), { id: "verdict", class: "panel" }),
    reading ? [tabs(where, splits), jumps(where, facts), summary(where)] : nothing(run),
    section("units", SECTIONS.units, units(where, facts.units)),
    reading ? readings(where) : null,
    reading ? [boundary(where), constraints(where)] : null,
    section("pairs", SECTIONS.pairs, pairs(where)),
    section("interventions", SECTIONS.interventions, reading ? interventions(where) : null),
    section("learning", SECTIONS.learning, learning(facts.epochs)),
    settings(run, facts),
  ];
  return { title: run.title, parts: parts.flat(Infinity) };
}

async function judged({ data, run }, mark, tell) {
  try {
    const found = await verdictOn(data.key, run.key, tell);
    mark.replaceChildren(badge(found));
    return verdict(data, run, found);
  } catch (error) {
    if (error.name !== "AbortError") mark.replaceChildren();
    throw error;
  }
}

function subtitle(run, { about }) {
  const parts = [
    `model ${run.model}`,
    run.seed === null ? null : `seed ${run.seed}`,
    about.parameters ? `${count(about.parameters)} parameters` : null,
    run.live ? null : "a file of predictions: there is no model to ask",
    `folder ${run.name}`,
  ];
  return parts.filter(Boolean).join(" · ");
}

function nothing(run) {
  return h("p", { class: "note" }, `${run.title} has no predictions. Make some: assay predict RUN --split test.`);
}

/** Return the splits that the run has predictions for, and where else it leads. */
function tabs({ data, run, split, query }, splits) {
  const links = splits.map((name) =>
    h(
      "a",
      {
        href: to(["run", data.key, run.key], changed(query, "split", name)),
        "aria-current": name === split ? "page" : null,
      },
      name,
    ),
  );
  const own = new URLSearchParams({ run: run.key });
  return h(
    "nav",
    { class: "tabs", "aria-label": "Splits" },
    links,
    h("span", { class: "apart" }),
    h("a", { href: to(["data", data.key, split], own), id: "see-samples" }, "Samples"),
    h("a", { href: to(["map", data.key, split, run.key]), id: "see-map" }, "Map of a layer"),
    data.runs.length > 1 ? h("a", { href: to(["compare", data.key, split], own), id: "see-compare" }, "Compare") : null,
  );
}

/** Return links to the sections of the page. */
function jumps({ data, reading }, facts) {
  const there = {
    boundary: reading.regions.length,
    constraints: data.knowledge.constraints.length,
    learning: facts.epochs.length,
    units: facts.units?.units.length ?? 0,
  };
  const leap = (id) => (event) => {
    event.preventDefault();
    document.getElementById(id)?.scrollIntoView();
  };
  const links = Object.entries(SECTIONS)
    .filter(([id]) => there[id] ?? true)
    .map(([id, text]) => h("li", {}, h("a", { href: location.hash, onclick: leap(id) }, text)));
  return h("nav", { "aria-label": "Sections" }, h("ul", { class: "inline jumps" }, links));
}

/** Return the loss and the validation score of each epoch. */
function learning(epochs) {
  if (!epochs.length) return h("p", { class: "soft" }, "This run kept no history of its training.");
  const line = (name, text) => ({ name: text, points: epochs.map((one, place) => [place + 1, one[name]]) });
  const best = epochs.findLastIndex((one) => one.best);
  const phases = [...new Set(epochs.map((one) => one.phase).filter(Boolean))];
  return h(
    "div",
    { class: "plots" },
    lineChart({ title: "Training loss", across: "epoch", lines: [line("loss", "loss")] }),
    lineChart({ title: "Validation score", across: "epoch", lines: [line("score", "validation score")] }),
    h(
      "p",
      { class: "soft" },
      `${epochs.length} epochs`,
      phases.length > 1 ? `, phases: ${phases.join(", ")}` : "",
      best >= 0 ? `; the best was epoch ${best + 1}.` : ".",
    ),
  );
}

function settings(run, { about }) {
  const plain = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  const rows = Object.entries({ ...about.config, ...about.versions }).map(([name, value]) => [
    h("dt", {}, name),
    h("dd", {}, plain(value)),
  ]);
  return rows.length ? h("details", {}, h("summary", {}, "Settings and versions"), h("dl", {}, rows)) : null;
}
