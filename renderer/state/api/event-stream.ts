import type { EventMessage } from '../../../server/contract/events.ts';

/**
 * Reads the messages of an event stream (`text/event-stream`) in which each event is one `data:` line of JSON, as the
 * engine writes it. Skips comments and other fields.
 */
export async function* readEventMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<EventMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of pieces(body)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      // The window is served by the same engine that writes this stream, so the shape matches the contract.
      if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as EventMessage;
    }
  }
}

/** Uses a reader because not every browser can iterate over a stream. */
async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
