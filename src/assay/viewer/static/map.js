// Samples as points of a plane, coloured by a concept, a label, what is predicted, or what is wrong.

import { pending } from "./busy.js";
import { crumbs, h, select, svg } from "./dom.js";
import { changed, remember, to } from "./router.js";
import { dataset, runOf, source } from "./source.js";
import { count, percent, word } from "./words.js";

const SIZE = 560;
const MARGIN = 1.05; // points lie within -1 and 1
const TINTS = 12;
const OUTCOMES = { right: "all right", misread: "a concept wrong", wrong: "a label wrong" };

export async function mapPage(key, split, name, query) {
  const data = await dataset(key);
  const run = runOf(data, name);
  const layer = query.get("layer") ?? "";
  const title = `Map of ${split} by ${run.title}`;
  const go = (next) => {
    location.hash = to(["map", key, split, name], next);
  };
  const box = pending("Computing the map", async (tell) => {
    const found = await source.map(key, name, split, layer, tell);
    return plane({ data, run, split, found, query });
  });
  const layers = pending("Looking for layers", async (tell) => {
    const { layers: names, why } = await source.layers(key, name, split, tell);
    const options = names.map((one, place) => ({ value: place ? one : "", text: one }));
    const choice = select("Layer", "layer", options, layer, (value) => go(changed(query, "layer", value)));
    return [choice, why ? h("p", { class: "soft" }, why) : null];
  });
  const parts = [
    crumbs(
      h("a", { href: "#/" }, "Data and runs"),
      h("a", { href: to(["data", key]) }, data.title),
      h("a", { href: to(["run", key, name], { split }) }, run.title),
    ),
    h("h1", {}, `Map of ${split}`),
    h("p", { class: "soft" }, "The first two principal components of a layer; near points look alike to the model."),
    layers,
    box,
  ];
  return { title, parts };
}

/** Return the ways to colour the points: a name, and for each point its group; groups lead to their samples. */
function colourings({ data, run, found }) {
  const { concepts, labels } = data.knowledge;
  const outcome = {
    name: "error",
    group: found.outcomes,
    text: (group) => OUTCOMES[group],
    query: (group) => ({ run: run.key, outcome: group }),
  };
  const column = (kind, codes, { name, values }, place, query) => ({
    name: `${kind} ${name}`,
    group: codes.map((row) => row[place]),
    text: (code) => word(values, code),
    query: (code) => query(name, code),
  });
  return [
    outcome,
    ...labels.map((one, i) => column("label", found.labels, one, i, (name, code) => ({ label: `${name}:${code}` }))),
    ...labels.map((one, i) =>
      column("prediction", found.predicted, one, i, (name, code) => ({ run: run.key, predicts: `${name}:${code}` })),
    ),
    ...concepts.map((one, i) =>
      column("concept", found.concepts, one, i, (name, code) => ({ run: run.key, concept: `${name}:${code}` })),
    ),
  ];
}

/** Return the points with their colours; the choice of these is kept in the address. */
function plane(where) {
  const { found, query } = where;
  const ways = colourings(where);
  const box = h("div", {});
  const show = (name) => {
    const way = ways.find((one) => one.name === name) ?? ways[0];
    const groups = way.name === "error" ? Object.keys(OUTCOMES) : [...new Set(way.group)].sort((a, b) => a - b);
    const colour = (group) => (way.name === "error" ? group : `tint-${groups.indexOf(group) % TINTS}`);
    box.replaceChildren(points(where, way, colour), legend(where, way, groups, colour));
  };
  const choose = (name) => {
    query.set("colour", name);
    remember(query);
    show(name);
  };
  const options = ways.map((one) => ({ value: one.name, text: one.name }));
  const chosen = query.get("colour") ?? "error";
  show(chosen);
  const told = found.explained.map((share) => percent(share)).join(" and ");
  const features = `${count(found.features)} features; the axes explain ${told} of their variance.`;
  return [
    select("Colour by", "colour", options, chosen, choose),
    box,
    h("p", { class: "soft" }, `${features} A point leads to its sample.`),
  ];
}

function points({ data, run, split, found }, way, colour) {
  const open = (row) => () => {
    location.hash = to(["data", data.key, split, String(row)], { run: run.key });
  };
  const dots = found.points.map(([x, y], place) => {
    const group = way.group[place];
    const at = { cx: ((x + MARGIN) / (2 * MARGIN)) * SIZE, cy: ((MARGIN - y) / (2 * MARGIN)) * SIZE, r: 4 };
    const told = svg("title", {}, `sample ${found.rows[place]}: ${way.text(group)}`);
    return svg("circle", { ...at, class: `point ${colour(group)}`, onclick: open(found.rows[place]) }, told);
  });
  const label = `${count(found.rows.length)} samples of ${split} as points, coloured by ${way.name}`;
  return svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": label, class: "plane" }, dots);
}

/** Return what each colour means, how many points have it, and the way to all samples like them. */
function legend({ data, split }, way, groups, colour) {
  const entries = groups.map((group) => {
    const many = way.group.filter((one) => one === group).length;
    const dot = svg("circle", { cx: 5, cy: 5, r: 5, class: `point ${colour(group)}` });
    const text = way.text(group);
    const known = typeof group === "string" || group >= 0;
    return h(
      "li",
      {},
      svg("svg", { viewBox: "0 0 10 10", class: "swatch", "aria-hidden": "true" }, dot),
      known ? h("a", { href: to(["data", data.key, split], way.query(group)) }, text) : text,
      ` ${count(many)}`,
    );
  });
  return h("ul", { class: "inline", "aria-label": "Colours" }, entries);
}
