// A split: its filters, and a page of its samples.

import { h, table } from "./dom.js";
import { filters } from "./filters.js";
import { changed, to } from "./router.js";
import { dataset, source } from "./source.js";
import { verdicts } from "./verdicts.js";
import { labelled, mark, taskLink, word } from "./words.js";

export async function samplesPage(key, split, query) {
  const [data, found] = await Promise.all([dataset(key), source.samples(key, split, query)]);
  const parts = [
    h("h1", {}, data.key, " ", h("span", { class: "soft" }, data.task.name)),
    tabs(data, split, query),
    about(data),
    verdicts(data),
    h(
      "div",
      { class: "columns" },
      filters(data, split, query, found),
      h(
        "section",
        { "aria-label": "Samples" },
        h("p", { role: "status", id: "count" }, counted(found)),
        h(
          "ol",
          { class: "thumbs" },
          found.rows.map((row) => thumb(data, split, query, row)),
        ),
        pager(data, split, query, found),
      ),
    ),
  ];
  return { title: `${data.key} ${split}`, parts };
}

function counted(found) {
  const said = `${found.total.toLocaleString("en")} of ${(found.kept ?? found.whole).toLocaleString("en")} samples`;
  const cut = found.kept !== undefined && found.kept < found.whole;
  return cut ? `${said} in this bundle; the split has ${found.whole.toLocaleString("en")}` : said;
}

function tabs(data, split, query) {
  const kept = new URLSearchParams([...query].filter(([name]) => name !== "page"));
  const answered = (name) => data.runs.some((run) => run.key === query.get("run") && run.splits.includes(name));
  const links = data.splits.map((one) => {
    const next = query.get("run") && !answered(one.name) ? new URLSearchParams() : kept;
    const text = `${one.name} (${one.size.toLocaleString("en")})`;
    return h(
      "a",
      { href: to(["data", data.key, one.name], next), "aria-current": one.name === split ? "page" : null },
      text,
    );
  });
  const two = data.runs.filter((run) => run.splits.includes(split)).length > 1;
  return h(
    "nav",
    { class: "tabs", "aria-label": "Splits" },
    links,
    two ? h("a", { class: "apart", href: to(["compare", data.key, split]) }, "Compare two models") : null,
  );
}

/** Return the rule, and where the dataset comes from. */
function about(data) {
  const { labels, constraints } = data.knowledge;
  const rules = labels.map((label) => [label.name, h("code", {}, label.formula)]);
  const limits = constraints.map((one) => [one.name, h("code", {}, one.formula)]);
  const versions = Object.entries(data.versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  return h(
    "details",
    { class: "about" },
    h("summary", {}, "Rule and provenance"),
    table("Rule", ["label", "formula"], rules),
    table("Constraints", ["constraint", "formula"], limits),
    h(
      "dl",
      {},
      h("dt", {}, "Task"),
      h("dd", {}, taskLink(data), `, version ${data.task.version}`),
      h("dt", {}, "Settings"),
      h("dd", {}, h("code", {}, JSON.stringify(data.task.config))),
      h("dt", {}, "Seed"),
      h("dd", {}, String(data.seed)),
      h("dt", {}, "Fingerprint"),
      h("dd", {}, h("code", {}, data.fingerprint)),
      h("dt", {}, "Made with"),
      h("dd", {}, versions),
    ),
  );
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

function answer(data, run, said, labels) {
  const name = data.runs.find((one) => one.key === run)?.name ?? run;
  const value = labels.length === 1 ? `: ${word(labels[0].values, said.labels[0])}` : "";
  const note = said.right && said.misread ? " (misread)" : "";
  return h("span", { class: "said" }, mark(said.right), ` ${name}${value}${note}`);
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
    h("span", {}, `Page ${(found.page + 1).toLocaleString("en")} of ${found.pages.toLocaleString("en")}`),
    link(found.page + 1, "Next"),
    link(found.page < last ? last : -1, "Last"),
  );
}
