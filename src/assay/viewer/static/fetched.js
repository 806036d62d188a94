// Asks for JSON, once or until it is ready.

const PAUSE = 400; // milliseconds between two questions for work that is not finished

/** What is asked for while a page is shown; a new page ends the questions of the one before. */
export const visit = { controller: new AbortController() };

/** End the questions of the page that is left. */
export function leave() {
  visit.controller.abort();
  visit.controller = new AbortController();
}

async function answered(address, options) {
  const response = await fetch(address, options);
  const data = await response.json().catch((error) => {
    throw error.name === "AbortError" ? error : new Error(`no answer from ${address}`);
  });
  if (!response.ok) throw new Error(data.error ?? `${response.status} ${response.statusText}`);
  return { data, ready: response.status !== 202 };
}

/** Return the JSON at an address, or fail with the reason that the server gives. */
export async function fetched(address, options = {}) {
  return (await answered(address, options)).data;
}

/** Return the JSON at an address when the work behind it is done; `tell` hears how far it is. */
export async function awaited(address, tell = () => {}) {
  const { signal } = visit.controller;
  for (;;) {
    const { data, ready } = await answered(address, { signal });
    if (ready) return data;
    tell(data.pending);
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    signal.throwIfAborted();
  }
}

/** Return the JSON that comes back for JSON that is sent. */
export function posted(address, data) {
  const headers = { "Content-Type": "application/json" };
  return fetched(address, { method: "POST", headers, body: JSON.stringify(data) });
}
