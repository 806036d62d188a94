// The units of discovered concepts: each with the concept value that it matches, and the samples where it is largest.

import { h } from "./dom.js";
import { to } from "./router.js";
import { source } from "./source.js";
import { percent } from "./words.js";

/** Return a card for each unit, those that match a value first; null for a run that has none. */
export function units({ data }, found) {
  if (!found) return null;
  const cards = found.units.map((unit) => card(data.key, found.split, unit));
  return [
    h("p", { class: "soft" }, `Samples of ${found.split} where each unit is largest; marked where they have the value.`),
    h("ul", { class: "units" }, cards),
  ];
}

function card(key, split, unit) {
  const facts = [
    `${unit.direction < 0 ? "not " : ""}unit ${unit.unit}`,
    unit.name ? `named ${unit.name}` : null,
    unit.matched ? null : "matches no value; most in excess",
    unit.f1 === null ? null : `F1 ${unit.f1.toFixed(2)}`,
    `${percent(unit.share)} of all`,
  ];
  const pictures = unit.rows.map((row, place) => {
    const mark = unit.has[place] === null ? "unknown" : unit.has[place] ? "has" : "lacks";
    const words = { has: "has the value", lacks: "lacks the value", unknown: "not known" }[mark];
    const image = h("img", { src: source.picture(key, split, row, "image"), alt: `sample ${row}: ${words}`, loading: "lazy" });
    return h("a", { href: to(["data", key, split, row]), class: mark, title: `sample ${row}: ${words}` }, image);
  });
  return h("li", {}, h("h3", {}, unit.value), h("p", { class: "soft" }, facts.filter(Boolean).join(" · ")), pictures);
}
