/** Yields the data of server-sent events, in the batches in which they arrived. */
export async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<unknown[]> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? `${decoder.decode()}\n\n` : decoder.decode(value, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    const events = blocks.flatMap(dataOf);
    if (events.length > 0) yield events;
    if (done) return;
  }
}

function dataOf(block: string): unknown[] {
  const data = block
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");
  if (data === "" || data === "[DONE]") return [];
  return [JSON.parse(data) as unknown];
}
