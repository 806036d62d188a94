// Counterfactual pairs side by side: one concept is changed, and the prediction should follow where the label does.

import { pending } from "./busy.js";
import { h, select } from "./dom.js";
import { remember, to } from "./router.js";
import { source } from "./source.js";
import { count, labelled, mark, word } from "./words.js";

/** Return the pairs of a run, those of a kind at a time; the choice is kept in the address. */
export function pairs({ data, run, query }) {
  if (!run.splits.includes("pairs")) {
    const why = data.why_no_pairs ?? "this run has no predictions for them; make some: assay predict RUN --split pairs";
    return h("p", { class: "soft" }, `No counterfactual pairs: ${why}.`);
  }
  const box = h("div", { class: "pairs" });
  const show = (kind, page) => {
    const work = async () => list(data, run, await source.pairs(data.key, run.key, kind, page), kind, choose);
    box.replaceChildren(pending("Loading pairs", work));
  };
  const choose = (kind, page) => {
    query.set("pairs", kind);
    if (page) query.set("pair-page", String(page));
    else query.delete("pair-page");
    remember(query);
    show(kind, page);
  };
  show(query.get("pairs") ?? "all", Number(query.get("pair-page") ?? 0));
  return box;
}

function list(data, run, found, kind, choose) {
  const kinds = found.kinds.map((one) => ({ value: one.name, text: `${one.text} (${count(one.count)})` }));
  const items = found.pairs.map((pair) => h("li", {}, sideBySide(data, run, pair)));
  return [
    select("Show", "pairs-kind", kinds, kind, (value) => choose(value, 0)),
    items.length ? h("ol", { class: "pair-list" }, items) : h("p", { class: "soft" }, "There are no such pairs."),
    pager(found, (page) => choose(kind, page)),
  ];
}

function pager(found, turn) {
  if (found.pages < 2) return null;
  const button = (page, text) =>
    h("button", { type: "button", disabled: page < 0 || page >= found.pages, onclick: () => turn(page) }, text);
  return h(
    "nav",
    { class: "pager", "aria-label": "Pages of pairs" },
    button(found.page - 1, "Previous"),
    h("span", {}, `Page ${found.page + 1} of ${found.pages}`),
    button(found.page + 1, "Next"),
  );
}

function sideBySide(data, run, { concept, sides }) {
  const { name, values } = data.knowledge.concepts[concept];
  const [before, after] = sides;
  const changed = `${name} ${word(values, before.value)} → ${word(values, after.value)}`;
  return h(
    "figure",
    { class: "change" },
    h("figcaption", {}, h("strong", {}, changed), told(values, before, after)),
    h(
      "div",
      { class: "sides" },
      sides.map((side, place) => half(data, run, side, place ? "after" : "before")),
    ),
  );
}

function told(values, before, after) {
  if (after.read < 0) return "";
  const read = `predicted as ${word(values, before.read)} → ${word(values, after.read)} `;
  return [" ", h("span", { class: "soft" }, read), mark(after.read === after.value, "after the change")];
}

function half(data, run, side, when) {
  const { labels } = data.knowledge;
  const address = to(["data", data.key, side.split, String(side.row)], { run: run.key });
  const alt = `${when} the change: sample ${side.index} of ${side.split}`;
  const image = data.columns.includes("image")
    ? h("img", { src: source.picture(data.key, side.split, side.row, "image"), alt, loading: "lazy" })
    : alt;
  return h(
    "div",
    {},
    h("a", { href: address }, image),
    h("span", { class: "told" }, labelled(labels, side.labels)),
    h("span", { class: "said" }, mark(side.right), ` predicts ${labelled(labels, side.predicted)}`),
  );
}
