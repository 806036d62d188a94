// Asks for JSON.

/** Return the JSON at an address, or fail with the reason that the server gives. */
export async function fetched(address, options = {}) {
  const response = await fetch(address, options);
  const data = await response.json().catch(() => ({ error: `no answer from ${address}` }));
  if (!response.ok) throw new Error(data.error ?? `${response.status} ${response.statusText}`);
  return data;
}

/** Return the JSON that comes back for JSON that is sent. */
export function posted(address, data) {
  const headers = { "Content-Type": "application/json" };
  return fetched(address, { method: "POST", headers, body: JSON.stringify(data) });
}
