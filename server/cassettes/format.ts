/**
 * The file format of cassettes. A cassette is a folder with one file for each recorded exchange
 * (`0001-chat-completions-3f2a9c.json`) and `cassette.json` with its settings. `docs/cassette.schema.json` is generated
 * from `exchangeSchema` (`node build/config-schema.ts`).
 */
import { z } from 'zod';

export const formatVersion = 1;

/** What Node can send: a token (RFC 9110, 5.6.2), and a value without line ends or characters beyond Latin-1. */
const headersSchema = z.record(
  z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'a name of a header'),
  z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'a value that a header may have'),
);
const jsonSchema = z.unknown().refine((value): boolean => value !== undefined, 'is missing');
const bytesSchema = z.int().min(0);
const digestSchema = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal digits');

const formPartSchema = z.union([
  z.strictObject({ name: z.string(), value: z.string() }),
  /** A file is compared by its content, which is not stored. */
  z.strictObject({
    name: z.string(),
    filename: z.string(),
    contentType: z.string(),
    bytes: bytesSchema,
    sha256: digestSchema,
  }),
]);

const requestBodySchema = z.union([
  z.strictObject({ json: jsonSchema }),
  z.strictObject({ form: z.array(formPartSchema) }),
  /** Any other body is compared by its content, which is not stored. */
  z.strictObject({ bytes: bytesSchema, sha256: digestSchema }),
]);

/** Milliseconds between the arrival of the request and the sending of the event. */
const afterMsSchema = z.number().min(0);

/**
 * One server-sent event. `data` is JSON that was sent as `data: …` in its shortest form, after a line `event: …` if
 * `event` is set. Any other event is stored as its `text`.
 */
const eventSchema = z.union([
  z.strictObject({ afterMs: afterMsSchema, event: z.string().optional(), data: jsonSchema }),
  z.strictObject({ afterMs: afterMsSchema, text: z.string() }),
]);

const responseBodySchema = z.union([
  z.strictObject({ events: z.array(eventSchema) }),
  /**
   * `indent`: the number of spaces by which the JSON was indented; absent if it was on one line. `end`: the text after
   * the JSON.
   */
  z.strictObject({
    json: jsonSchema,
    indent: z.int().min(1).max(10).optional(),
    end: z.string().optional(),
    afterMs: afterMsSchema,
  }),
  z.strictObject({ text: z.string(), afterMs: afterMsSchema }),
  z.strictObject({ base64: z.base64(), afterMs: afterMsSchema }),
]);

export const exchangeSchema = z.strictObject({
  version: z.literal(formatVersion),
  request: z.strictObject({
    method: z.string().min(1),
    /** Includes the query, without credentials. */
    path: z.string().startsWith('/'),
    wire: z.string(),
    headers: headersSchema,
    /** Null if there was none. */
    body: requestBodySchema.nullable(),
  }),
  response: z.strictObject({
    status: z.int().min(200).max(599),
    headers: headersSchema,
    /** `cut`: the connection broke. `client-left`: the client closed it before the end. */
    ended: z.enum(['complete', 'cut', 'client-left']),
    body: responseBodySchema.nullable(),
  }),
  /** As reported by the provider; null if unknown. */
  usage: z.record(z.string(), z.number()).nullable(),
});

export type RecordedExchange = z.infer<typeof exchangeSchema>;
export type RecordedRequest = RecordedExchange['request'];
export type RecordedResponse = RecordedExchange['response'];
export type RecordedBody = z.infer<typeof requestBodySchema>;
export type FormPart = z.infer<typeof formPartSchema>;
export type ResponseBody = z.infer<typeof responseBodySchema>;
export type RecordedEvent = z.infer<typeof eventSchema>;
