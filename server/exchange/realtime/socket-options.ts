/**
 * The longest message in either direction. OpenAI accepts 15 MiB of audio in one event, and base64 adds a third; a message
 * is buffered as a whole before it is forwarded.
 */
const maxMessageBytes = 32 * 1024 * 1024;

/** Options of both sockets. Compression hardly shrinks audio, but costs time and memory. */
export const socketOptions = { perMessageDeflate: false, maxPayload: maxMessageBytes } as const;
