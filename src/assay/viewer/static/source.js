// Where data comes from: a running `assay view`, or the files of a bundle. Both answer the same questions.

import { bundle } from "./bundle.js";
import { fetched, posted } from "./fetched.js";

const at = (...parts) => ["api", ...parts.map((part) => encodeURIComponent(part))].join("/");

const live = {
  shelf: () => fetched(at("shelf.json")),
  samples: (key, split, query) => fetched(`${at("data", key, `${split}.json`)}?${query}`),
  sample: (key, split, row, query) => fetched(`${at("data", key, split, `${row}.json`)}?${query}`),
  picture: (key, split, row, column) => at("data", key, split, row, `${column}.png`),
  edit: (key, split, row, changes) => posted(at("data", key, split, row, "edit"), { changes }),
  ask: (key, split, row, run, changes) => posted(at("data", key, split, row, "ask", run), { changes }),
  compare: (key, split, run, versus) =>
    fetched(`${at("data", key, split, "compare.json")}?${new URLSearchParams({ run, versus })}`),
  verdict: (key, run) => fetched(at("verdicts", key, `${run}.json`)),
  tasks: () => fetched(at("tasks.json")),
  task: (name) => fetched(at("tasks", `${name}.json`)),
};

export const source = document.documentElement.dataset.source === "bundle" ? bundle : live;

let kept = null;

/** Return all that is served, asked for once. */
export function shelf() {
  kept ??= source.shelf();
  return kept;
}

/** Return a dataset of the shelf. */
export async function dataset(key) {
  const found = (await shelf()).datasets.find((one) => one.key === key);
  if (!found) throw new Error(`There is no dataset “${key}” here.`);
  return found;
}
