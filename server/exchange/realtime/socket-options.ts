/**
 * The longest message in either direction. OpenAI takes 15 MiB of sound in one event, which base64 makes a third longer;
 * a message is held as a whole before it goes on.
 */
const maxMessageBytes = 32 * 1024 * 1024;

/** What the sockets of both sides have in common. Sound hardly gets smaller by compression, which costs time and memory. */
export const socketOptions = { perMessageDeflate: false, maxPayload: maxMessageBytes } as const;
