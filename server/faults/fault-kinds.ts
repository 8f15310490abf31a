/** The faults that can be injected for a client program, and their parameters. */

import { z } from 'zod';
import { hourMs } from '../contract/units.ts';

const integer = (least: number, most: number) => z.coerce.number().int().min(least).max(most);

/** How long a response without an end stays open if its client does not leave; similar to providers' own limits. */
const openSeconds = integer(1, 3_600).default(600);
/** The number of events after which something happens; 0 for before the first one. */
const events = integer(0, 100_000);
const after = events.default(3);
const retryAfter = integer(0, 86_400).optional();
const milliseconds = integer(1, hourMs);

export const errorStatuses = [400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529] as const;

const statusCode = z.coerce.number().pipe(z.literal(errorStatuses));

/** Where a response stops: after a number of events or of body bytes, or inside something. */
const stopFields = {
  after: events.optional(),
  bytes: integer(0, 1_000_000_000).optional(),
};

const schemas = {
  'late-head': z.strictObject({ ms: milliseconds.default(3_000) }),
  status: z.strictObject({ code: statusCode, 'retry-after': retryAfter }),
  'rate-limit': z.strictObject({ 'retry-after': retryAfter }),
  quota: z.strictObject({}),
  overloaded: z.strictObject({ 'retry-after': retryAfter }),
  'context-overflow': z.strictObject({}),
  reset: z.strictObject({}),
  silence: z.strictObject({ seconds: openSeconds }),
  html: z.strictObject({}),
  'late-event': z.strictObject({ ms: milliseconds.default(5_000) }),
  pace: z
    .strictObject({
      'tokens-per-second': z.coerce.number().min(0.1).max(100_000).optional(),
      'events-per-second': z.coerce.number().min(0.1).max(100_000).optional(),
    })
    .refine(
      (pace) => (pace['tokens-per-second'] === undefined) !== (pace['events-per-second'] === undefined),
      'give tokens-per-second or events-per-second',
    ),
  stall: z
    .strictObject({ ...stopFields, seconds: openSeconds })
    .refine(({ after, bytes }) => after === undefined || bytes === undefined, 'give after or bytes, not both'),
  cut: z
    .strictObject({ ...stopFields, inside: z.enum(['character', 'tool-call']).optional() })
    .refine(
      (cut) => [cut.after, cut.bytes, cut.inside].filter((each) => each !== undefined).length <= 1,
      'give one of after, bytes and inside',
    ),
  'malformed-event': z.strictObject({ after }),
  'huge-event': z.strictObject({ after, kilobytes: integer(1, 65_536).default(1_024) }),
  'error-event': z.strictObject({ after }),
  'missing-end': z.strictObject({}),
  'duplicate-events': z.strictObject({ each: integer(1, 100_000).default(2) }),
  usage: z.strictObject({ change: z.enum(['omit', 'zero', 'double']).default('omit') }),
  filtered: z.strictObject({}),
  'damaged-gzip': z.strictObject({}),
  'wrong-type': z.strictObject({}),
};

export const faultSchemas: Readonly<{ [Name in FaultName]: z.ZodType<Parameters[Name]> }> = schemas;

export type FaultName = keyof typeof schemas;
type Parameters = { [Name in FaultName]: z.infer<(typeof schemas)[Name]> };

/** A fault with its parameters, such as `{ name: 'stall', after: 40, seconds: 600 }`. */
export type Fault = { [Name in FaultName]: { name: Name } & Parameters[Name] }[FaultName];
export type FaultOf<Name extends FaultName> = Extract<Fault, { name: Name }>;

/** Faults before or instead of the answer. The others change the answer as it is sent. */
const early = [
  'late-head',
  'status',
  'rate-limit',
  'quota',
  'overloaded',
  'context-overflow',
  'reset',
  'silence',
  'html',
] as const satisfies readonly FaultName[];
type EarlyFault = FaultOf<(typeof early)[number]>;
export type ResponseFault = Exclude<Fault, EarlyFault>;

const earlyNames = new Set<FaultName>(early);
export const isEarly = (fault: Fault): fault is EarlyFault => earlyNames.has(fault.name);

/** Faults that replace the answer. */
export type InsteadFault = Exclude<EarlyFault, FaultOf<'late-head'>>;
export const replacesAnswer = (fault: Fault): fault is InsteadFault => isEarly(fault) && fault.name !== 'late-head';

/** Faults that end the answer. */
const endings = new Set<FaultName>(['error-event', 'missing-end', 'stall', 'cut', 'damaged-gzip']);
export const endsAnswer = ({ name }: Fault): boolean => endings.has(name);

/** Faults that apply only to streams. */
const ofStreams = new Set<FaultName>(['pace', 'huge-event', 'error-event', 'missing-end', 'duplicate-events']);
export const needsStream = ({ name }: Fault): boolean => ofStreams.has(name);

/** Descriptions for people, with parameters. */
export const faultTexts: Readonly<Record<FaultName, string>> = {
  'late-head': 'answers only after ms=3000',
  status: `answers with an error: code=${errorStatuses.join('|')}, retry-after=SECONDS`,
  'rate-limit': 'answers 429 rate_limit_exceeded, with retry-after=SECONDS if given',
  quota: 'answers 429 insufficient_quota',
  overloaded: 'answers as an overloaded service, 529 to Anthropic’s clients and 503 to others; retry-after=SECONDS',
  'context-overflow': 'answers 400: the conversation is too long for the model',
  reset: 'resets the connection in place of an answer',
  silence: 'never answers; closes the connection after seconds=600',
  html: 'answers 200 with an HTML page, as a sign-in page of a network does',
  'late-event': 'sends the head, and the first event or the body only after ms=5000',
  pace: 'sends a stream at tokens-per-second=N or events-per-second=N',
  stall: 'stops sending after=3 events or bytes=N, and keeps the connection open for seconds=600',
  cut: 'closes the connection after=3 events, bytes=N, or inside=character|tool-call',
  'malformed-event':
    'sends half of an event ahead of the whole one, after=3 others; of an answer that is no stream, only the first half',
  'huge-event': 'makes the event after=3 others kilobytes=1024 large',
  'error-event': 'ends the stream with an error event after=3 events',
  'missing-end': 'leaves out the end of the stream',
  'duplicate-events': 'sends each=2nd event twice',
  usage: 'changes the reported usage: change=omit|zero|double',
  filtered: 'says that the answer was stopped by a content filter',
  'damaged-gzip': 'sends a compressed body that cannot be decompressed',
  'wrong-type': 'calls the answer text/plain',
};

export const faultNames = Object.keys(faultTexts) as FaultName[];
