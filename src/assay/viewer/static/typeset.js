// Formulas set with the signs of logic instead of words.

import { h } from "./dom.js";

const SIGNS = {
  and: "∧",
  or: "∨",
  not: "¬",
  in: "∈",
  True: "⊤",
  False: "⊥",
  "==": "=",
  "!=": "≠",
  "<=": "≤",
  ">=": "≥",
  "*": "·",
  "**": "^",
};
const WORDS = "count all_equal all_different any all abs min max pow xor implies iff if else for pairs prolog".split(
  " ",
);
const PARTS = /("[^"]*"|'[^']*')|([A-Za-z_][\w.]*)|(\d+)|(==|!=|<=|>=|\*\*|\/\/|\S)|(\s+)/g;

/** Return a formula as an element; its text, for those who hear it, stays what it is. */
export function typeset(formula) {
  const parts = [];
  for (const [text, quoted, name, number, sign] of String(formula).matchAll(PARTS)) {
    if (quoted) parts.push(h("span", { class: "symbol" }, text.slice(1, -1)));
    else if (name && name in SIGNS) parts.push(h("span", { class: "sign" }, SIGNS[name]));
    else if (name) parts.push(WORDS.includes(name) ? h("span", { class: "function" }, name) : h("var", {}, name));
    else if (number) parts.push(text);
    else if (sign) parts.push(sign in SIGNS ? h("span", { class: "sign" }, SIGNS[sign]) : text);
    else if (parts.at(-1)?.textContent !== SIGNS.not) parts.push(" ");
  }
  return h("span", { class: "formula", title: String(formula) }, parts);
}
