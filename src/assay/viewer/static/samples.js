// A split: its filters, and a page of its samples.

import { crumbs, h } from "./dom.js";
import { filters } from "./filters.js";
import { changed, runsOf, to } from "./router.js";
import { dataset, source } from "./source.js";
import { count, labelled, mark, misreadings, word } from "./words.js";

export async function samplesPage(key, split, query) {
  const [data, found] = await Promise.all([dataset(key), source.samples(key, split, query)]);
  const parts = [
    crumbs(h("a", { href: "#/" }, "Data and runs"), h("a", { href: to(["data", key]), id: "about-data" }, data.title)),
    h("h1", {}, `Samples of ${split}`),
    tabs(data, split, query),
    h(
      "div",
      { class: "columns" },
      filters(data, split, query, found),
      h(
        "section",
        { "aria-label": "Samples" },
        h("p", { role: "status", id: "count" }, counted(found)),
        found.rows.length
          ? h(
              "ol",
              { class: "thumbs" },
              found.rows.map((row) => thumb(data, split, query, row)),
            )
          : nothing(data, split),
        pager(data, split, query, found),
      ),
    ),
  ];
  return { title: `${data.title} ${split}`, parts };
}

function counted(found) {
  const said = `${count(found.total)} of ${count(found.kept ?? found.whole)} samples`;
  const cut = found.kept !== undefined && found.kept < found.whole;
  return cut ? `${said} in this bundle; the split has ${count(found.whole)}` : said;
}

function nothing(data, split) {
  const all = h("a", { href: to(["data", data.key, split]) }, "Clear all filters");
  return h("p", { class: "note", id: "nothing" }, "No sample is like this. ", all, " to see all of them.");
}

function tabs(data, split, query) {
  const kept = new URLSearchParams([...query].filter(([name]) => name !== "page"));
  const named = runsOf(query);
  const links = data.splits.map((one) => {
    const answered = named.every((run) => data.runs.find((held) => held.key === run)?.splits.includes(one.name));
    const text = `${one.name} (${count(one.size)})`;
    return h(
      "a",
      {
        href: to(["data", data.key, one.name], answered ? kept : new URLSearchParams()),
        "aria-current": one.name === split ? "page" : null,
      },
      text,
    );
  });
  const several = data.runs.filter((run) => run.splits.includes(split)).length > 1;
  const chosen = new URLSearchParams(named.map((run) => ["run", run]));
  return h(
    "nav",
    { class: "tabs", "aria-label": "Splits" },
    links,
    h("span", { class: "apart" }),
    named.map((run) => runLink(data, split, run)),
    several ? h("a", { href: to(["compare", data.key, split], chosen), id: "compare" }, "Compare models") : null,
  );
}

function runLink(data, split, key) {
  const run = data.runs.find((one) => one.key === key);
  return run
    ? h("a", { href: to(["run", data.key, key], { split }), id: `about-${key}` }, `Verdict on ${run.short}`)
    : null;
}

function thumb(data, split, query, sample) {
  const labels = data.knowledge.labels;
  const runs = Object.entries(sample.said)
    .filter(([, said]) => said)
    .map(([run, said]) => answer(data, run, said, labels));
  const picture =
    sample.text === undefined
      ? h("img", {
          src: source.picture(data.key, split, sample.row, "image"),
          alt: `Sample ${sample.index}`,
          loading: "lazy",
        })
      : h("span", { class: "snippet" }, sample.text);
  return h(
    "li",
    { class: outcome(sample) },
    h(
      "a",
      { href: to(["data", data.key, split, String(sample.row)], query), id: `sample-${sample.row}` },
      picture,
      h("span", { class: "told" }, labelled(labels, sample.labels)),
      runs,
    ),
  );
}

function outcome(sample) {
  const said = Object.values(sample.said).filter(Boolean);
  if (!said.length) return "";
  if (said.some((one) => !one.right)) return "wrong";
  return said.some((one) => one.misread) ? "misread" : "right";
}

/** Return what a run predicts of a sample: right or wrong, the label, and which concepts it misreads. */
function answer(data, run, said, labels) {
  const name = data.runs.find((one) => one.key === run)?.short ?? run;
  const value = labels.length === 1 ? word(labels[0].values, said.labels[0]) : said.right ? "right" : "wrong";
  const read = said.misread ? misreadings(data.knowledge.concepts, said) : "";
  return h(
    "span",
    { class: "said" },
    mark(said.right),
    ` ${name}: ${value}`,
    read ? h("span", { class: "reads" }, `predicts ${read}`) : null,
  );
}

function pager(data, split, query, found) {
  if (found.pages < 2) return null;
  const link = (page, text) => {
    const there = page >= 0 && page < found.pages;
    const href = to(["data", data.key, split], changed(query, "page", String(page)));
    return there ? h("a", { href, id: `page-${text}` }, text) : h("span", { class: "soft" }, text);
  };
  const last = found.pages - 1;
  return h(
    "nav",
    { class: "pager", "aria-label": "Pages of samples" },
    link(found.page ? 0 : -1, "First"),
    link(found.page - 1, "Previous"),
    h("span", {}, `Page ${count(found.page + 1)} of ${count(found.pages)}`),
    link(found.page + 1, "Next"),
    link(found.page < last ? last : -1, "Last"),
  );
}
