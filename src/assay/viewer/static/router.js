// Addresses: everything that a page shows is in the part after the `#`, so that it can be kept and shared.

/** Return the address of the page: its path as a list, and its query. */
export function here() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(query ?? "") };
}

/** Return the address of a path with a query. */
export function to(path, query = new URLSearchParams()) {
  const text = new URLSearchParams(query).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Put a query into the address of the page that is shown, without showing it again. */
export function remember(query) {
  const address = to(here().path, query);
  if (address === location.hash) return;
  history.replaceState(null, "", address);
  document.getElementById("main").dataset.shown = location.hash;
}

/** Return a query with one key set to these values, none of them empty. The page starts again at the first. */
export function changed(query, key, ...values) {
  const made = new URLSearchParams(query);
  made.delete(key);
  if (key !== "page") made.delete("page");
  values.filter((value) => value !== "").forEach((value) => made.append(key, value));
  return made;
}

/** Return the value that a query gives to a name under a key, as in `label=y:1`. */
export function valueOf(query, key, name) {
  const found = query.getAll(key).find((text) => text.startsWith(`${name}:`));
  return found === undefined ? "" : found.slice(name.length + 1);
}

/** Return a query in which a name has this value under a key, or none. */
export function withValue(query, key, name, value) {
  const others = query.getAll(key).filter((text) => !text.startsWith(`${name}:`));
  return changed(query, key, ...others, value === "" ? "" : `${name}:${value}`);
}

/** Return the runs that a query names: `run`, and further ones as `run` or `versus`. */
export function runsOf(query) {
  return [...new Set([...query.getAll("run"), ...query.getAll("versus")])].filter(Boolean);
}
