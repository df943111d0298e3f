// Questions to the server on this machine.

export async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error("Marginalia does not answer: is it still running?");
  }
  const found = await response.json().catch(() => null);
  if (!response.ok || found === null) throw new Error(found?.error ?? `the server failed (${response.status})`);
  return found;
}
