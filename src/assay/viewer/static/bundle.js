// The source of a bundle: files beside the page. It answers as the server does.

import { fetched } from "./fetched.js";
import { done, matching } from "./matching.js";
import { runsOf } from "./router.js";

const PAIRS_SHOWN = 12;
const splits = new Map();

function at(...parts) {
  return parts.map((part) => encodeURIComponent(part)).join("/");
}

/** Return the data of a file; what could not be had when the bundle was written is an error here too. */
async function read(...parts) {
  const data = await fetched(at(...parts)).catch(() => {
    throw new Error("This is not in the bundle. Run “assay view” on the folders for it.");
  });
  if (data.error) throw new Error(data.error);
  return data;
}

function splitOf(key, split) {
  const address = at("data", key, `${split}.json`);
  if (!splits.has(address)) splits.set(address, fetched(address));
  return splits.get(address);
}

async function about(key) {
  const shelf = await fetched("shelf.json");
  return { ...shelf.datasets.find((one) => one.key === key), page: shelf.page };
}

function counts(samples, held, knowledge) {
  const labels = knowledge.labels.map((label, place) => [
    label.name,
    label.values.map((_, code) => samples.filter((sample) => sample.labels[place] === code).length),
  ]);
  const tags = Object.entries(held.kinds).map(([label, kinds]) => [
    label,
    Object.entries(kinds).map(([name, kind]) => {
      return { name, kind, count: samples.filter((sample) => sample.tags[label].includes(name)).length };
    }),
  ]);
  return { labels: Object.fromEntries(labels), tags: Object.fromEntries(tags) };
}

async function found(key, split, query) {
  const [held, { knowledge, page }] = await Promise.all([splitOf(key, split), about(key)]);
  return { held, knowledge, size: page, samples: matching(held, new URLSearchParams(query), knowledge) };
}

async function samples(key, split, query) {
  const { held, knowledge, size, samples } = await found(key, split, query);
  const pages = Math.max(1, Math.ceil(samples.length / size));
  const page = Math.min(Number(query.get("page") ?? 0), pages - 1);
  const rows = samples.slice(page * size, (page + 1) * size).map((sample) => {
    const said = Object.fromEntries(runsOf(query).map((run) => [run, done(sample, run)]));
    const text = sample.has.includes("image") ? undefined : (sample.text ?? "");
    return { row: sample.row, index: sample.index, labels: sample.labels, said, text };
  });
  const kept = { kept: held.samples.length, whole: held.whole };
  return { total: samples.length, ...kept, page, pages, rows, ...counts(samples, held, knowledge) };
}

async function sample(key, split, row, query) {
  const { held, samples } = await found(key, split, query);
  const wanted = held.samples.find((one) => one.row === Number(row));
  if (!wanted) throw new Error(`This bundle does not hold sample ${row} of ${split}.`);
  const before = samples.filter((one) => one.row < wanted.row).at(-1)?.row ?? null;
  const after = samples.find((one) => one.row > wanted.row)?.row ?? null;
  return { ...wanted, before, after };
}

/** Return a page of the pairs of a kind that the bundle holds. */
async function pairs(key, run, kind, page) {
  const { split, kinds, pairs: held } = await read("runs", key, run, "pairs.json");
  const own = held.filter((pair) => pair.kinds.includes(kind));
  const pages = Math.max(1, Math.ceil(own.length / PAIRS_SHOWN));
  return {
    split,
    kinds: kinds.map((one) => ({ ...one, count: held.filter((pair) => pair.kinds.includes(one.name)).length })),
    page: Math.min(page, pages - 1),
    pages,
    pairs: own.slice(page * PAIRS_SHOWN, (page + 1) * PAIRS_SHOWN),
  };
}

/** Return the comparison of some runs: files name them by their places among the runs of the dataset, in order. */
async function compare(key, split, runs) {
  const { runs: all } = await about(key);
  const places = runs.map((run) => all.findIndex((one) => one.key === run)).sort((a, b) => a - b);
  const stored = await read("data", key, split, `compare-${places.join("-")}.json`);
  const order = runs.map((run) => stored.runs.indexOf(run));
  const arranged = (values) => order.map((place) => values[place]);
  const shares = (entries) =>
    entries.map((one) => ({ ...one, right: arranged(one.right), against: turned(one.against) }));
  const turned = (table) => (!table || order[0] < order[1] ? table : table.map((_, i) => table.map((row) => row[i])));
  return {
    ...stored,
    ...Object.fromEntries(["right", "misread", "hidden"].map((name) => [name, arranged(stored[name])])),
    only: arranged(stored.only).map(arranged),
    labels: shares(stored.labels),
    concepts: shares(stored.concepts),
  };
}

export const bundle = {
  shelf: () => fetched("shelf.json"),
  samples,
  sample,
  picture: (key, split, row, column) => at("data", key, split, row, `${column}.png`),
  edit: null,
  ask: null,
  compare,
  run: (key, run) => read("runs", key, `${run}.json`),
  verdict: (key, run) => read("runs", key, run, "verdict.json"),
  pairs,
  reading: (key, run, split) => read("runs", key, run, `${split}-reading.json`),
  interventions: (key, run, split, policy) => read("runs", key, run, `${split}-interventions-${policy}.json`),
  layers: async () => ({
    layers: ["concept probabilities"],
    why: "A bundle holds no models: run “assay view” on the folders to look into their layers.",
  }),
  map: (key, run, split) => read("runs", key, run, `${split}-map.json`),
  dataset: (key) => read("datasets", `${key}.json`),
  distribution: (key, split) => read("datasets", key, `${split}-distribution.json`),
  audit: null,
  shortcuts: (key) => read("datasets", key, "shortcuts.json"),
  tasks: () => fetched("tasks.json"),
  task: (name) => fetched(at("tasks", `${name}.json`)),
  taskPicture: async (name) => (await fetched(at("tasks", `${name}.json`))).examples[0],
};
