// The first page: the datasets and runs that are served.

import { h, table } from "./dom.js";
import { to } from "./router.js";
import { shelf, source } from "./source.js";
import { taskLink } from "./words.js";

const PREVIEW = 4;

export async function home() {
  const held = await shelf();
  const cards = held.datasets.map(card);
  const broken = held.broken.map((one) => h("li", {}, h("code", {}, one.folder), ` – ${one.why}`));
  const parts = [
    h("h1", {}, "Data and runs"),
    held.live
      ? null
      : h("p", { class: "note" }, `A bundle: up to ${held.samples} samples of each split, nothing to edit.`),
    h("ul", { class: "cards" }, cards),
    broken.length ? h("section", {}, h("h2", {}, "Left out"), h("ul", { class: "broken" }, broken)) : null,
  ];
  return { title: "Data and runs", parts };
}

function card(data) {
  const split = data.splits.find((one) => one.name === "test") ?? data.splits[0];
  const address = to(["data", data.key, split.name]);
  const splits = data.splits.map((one) =>
    h("li", {}, h("a", { href: to(["data", data.key, one.name]) }, one.name), ` ${one.size.toLocaleString("en")}`),
  );
  const strip = h("a", { href: address, class: "strip", "aria-hidden": "true", tabindex: -1 });
  preview(data, split.name, strip).catch(() => strip.remove());
  return h(
    "li",
    { class: "card" },
    h("h2", {}, h("a", { href: address }, data.key)),
    h("p", {}, taskLink(data), ` – ${data.summary}`),
    strip,
    h("ul", { class: "inline", "aria-label": "Splits" }, splits),
    table(
      "Runs",
      ["run", "model", "answers for"],
      data.runs.map((run) => [run.name, run.model, run.splits.join(", ")]),
    ) ?? h("p", { class: "soft" }, "No runs were given for it."),
  );
}

/** Fill a strip with the first pictures of a split, when they come. */
async function preview(data, split, strip) {
  if (!data.columns.includes("image")) return;
  const { rows } = await source.samples(data.key, split, new URLSearchParams());
  strip.append(
    ...rows.slice(0, PREVIEW).map(({ row }) => {
      return h("img", { src: source.picture(data.key, split, row, "image"), alt: "", loading: "lazy" });
    }),
  );
}
