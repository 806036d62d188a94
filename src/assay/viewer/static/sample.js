// One sample: its picture, what is true of it, what models say, and what follows when a concept is changed.

import { crumbs, h } from "./dom.js";
import { editor } from "./edit.js";
import { labels, places, provenance, probabilities, texts, violations } from "./facts.js";
import { runSelects } from "./filters.js";
import { picture, toggles } from "./picture.js";
import { changed, runsOf, to } from "./router.js";
import { dataset, shelf, source } from "./source.js";

export async function samplePage(key, split, row, query) {
  const [data, sample, { live }] = await Promise.all([dataset(key), source.sample(key, split, row, query), shelf()]);
  const able = data.runs.filter((run) => run.splits.includes(split));
  const named = runsOf(query);
  const shown = named.length ? named : able.slice(0, 1).map((run) => run.key);
  const runs = shown.map((name) => data.runs.find((run) => run.key === name)).filter(Boolean);
  const here = { data, split, row: Number(row), sample, runs, live };
  const pictures = Object.fromEntries(sample.has.map((column) => [column, source.picture(key, split, row, column)]));
  const title = `Sample ${sample.index} of ${split}`;
  const own = picture({ layout: data.layout, pictures, things: sample.things, text: sample.text, title });
  const edit = editor(here);
  const parts = [
    crumbs(
      h("a", { href: "#/" }, "Data and runs"),
      h("a", { href: to(["data", key]) }, data.title),
      h("a", { href: to(["data", key, split], query), id: "back" }, split),
    ),
    h("h1", {}, title, " ", steps(key, split, sample, query)),
    origin(data, sample, query),
    verdictLinks(data, split, runs),
    h(
      "div",
      { class: "bench" },
      h(
        "div",
        { class: "pictures" },
        toggles(pictures, sample.things),
        h("div", { class: "pair" }, own, edit.picture),
        edit.outcome,
      ),
      h(
        "div",
        { class: "facts" },
        h(
          "form",
          { class: "models", "aria-label": "Models", onsubmit: (event) => event.preventDefault() },
          models(data, split, row, query),
        ),
        labels(here),
        edit.concepts,
        h(
          "div",
          { class: "more" },
          violations(here),
          places(here),
          texts(sample),
          probabilities(here),
          provenance(data, split, sample),
        ),
      ),
    ),
  ];
  return { title, parts };
}

/** Return where a counterfactual world comes from, null for other samples. */
function origin(data, { changed_from: from }, query) {
  if (!from || from.row < 0) return null;
  const address = to(["data", data.key, from.split, String(from.row)], query);
  const link = h("a", { href: address, id: "origin" }, `a sample of ${from.split}`);
  return h("p", {}, "The same as ", link, ", with ", h("strong", {}, from.concept), " changed.");
}

/** Return where the verdicts on the models that are shown are, and their comparison. */
function verdictLinks(data, split, runs) {
  const links = runs.map((run) =>
    h("a", { href: to(["run", data.key, run.key], { split }) }, `Verdict on ${run.short}`),
  );
  const able = data.runs.filter((run) => run.splits.includes(split));
  const chosen = new URLSearchParams(runs.map((run) => ["run", run.key]));
  if (able.length > 1)
    links.push(h("a", { href: to(["compare", data.key, split], chosen), id: "compare" }, "Compare models"));
  return links.length
    ? h(
        "ul",
        { class: "inline" },
        links.map((link) => h("li", {}, link)),
      )
    : null;
}

function steps(key, split, sample, query) {
  const link = (row, text) =>
    row === null
      ? h("span", { class: "soft" }, text)
      : h(
          "a",
          {
            href: to(["data", key, split, String(row)], query),
            id: `step-${text}`,
            rel: text === "Next" ? "next" : "prev",
          },
          text,
        );
  return h("span", { class: "steps" }, link(sample.before, "Previous"), link(sample.after, "Next"));
}

function models(data, split, row, query) {
  const go = (next) => {
    location.hash = to(["data", data.key, split, row], next);
  };
  const able = data.runs.filter((run) => run.splits.includes(split));
  const given = runsOf(query).length || !able.length ? query : changed(query, "run", able[0].key);
  return runSelects(data, split, given, go);
}
