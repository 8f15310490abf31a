import type { EventMessage } from '../server/contract/events.ts';

/**
 * The messages of an event stream (`text/event-stream`) whose every event is one `data:` line of JSON, as the engine
 * writes it. Comments and other fields are passed over.
 */
export async function* readEventMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<EventMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of pieces(body)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      // The window is served by the very engine that writes this, so its shape is the contract's.
      if (line.startsWith('data:')) yield JSON.parse(line.slice('data:'.length)) as EventMessage;
    }
  }
}

/** By a reader, since not every browser can iterate a stream. */
async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
