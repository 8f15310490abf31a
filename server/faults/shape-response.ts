/** Combines the effects of all faults on one response. */

import { gzipSync } from 'node:zlib';
import type { EventGate, Framing, StreamFormat, StreamWatch } from '../apis/core/stream-format.ts';
import { type ErrorKind, GatewayError } from '../contract/errors.ts';
import {
  changeUsage,
  editJson,
  enlargeEvent,
  filterContent,
  halfOf,
  hasCallArguments,
  isEndOfAnswer,
  tokensIn,
} from './edit-event.ts';
import { endsAnswer, type errorStatuses, type FaultOf, type InsteadFault, type ResponseFault } from './fault-kinds.ts';

/** `stream` is null for an answer that is not a stream. Returns null if the faults do not change the body. */
export function shapeResponse(faults: readonly ResponseFault[], stream: StreamFormat | null): Shape | null {
  // Faults that end the answer act on the output of the others.
  const orderedFaults = [...faults.filter((fault) => !endsAnswer(fault)), ...faults.filter(endsAnswer)];
  const shapes = stream ? shapesOfStream(orderedFaults, stream) : orderedFaults.map(shapeWhole);
  const acting = shapes.filter((shape) => shape !== null);
  const [first] = acting;
  return acting.length > 1 ? new ShapesInTurn(acting) : (first ?? null);
}

function shapesOfStream(faults: readonly ResponseFault[], stream: StreamFormat): (Shape | null)[] {
  const lateEvent = faults.find(({ name }) => name === 'late-event');
  const stop = faults.find((fault) => fault.name === 'stall' || fault.name === 'cut');
  return [
    lateEvent?.name === 'late-event' ? new LateBytes(lateEvent) : null,
    shapeEvents(faults, stream),
    stop?.bytes === undefined ? null : new StopAtByte(stop.bytes, stopOf(stop)),
  ];
}

/** Each shape changes the output of the one before it. */
class ShapesInTurn implements Shape {
  readonly #shapes: readonly Shape[];

  constructor(shapes: readonly Shape[]) {
    this.#shapes = shapes;
  }

  push(bytes: Buffer): Step[] {
    return this.#through([send(bytes)], 0);
  }

  end(): Step[] {
    return this.#shapes.flatMap((shape, index) => this.#through(shape.end(), index + 1));
  }

  #through(steps: readonly Step[], from: number): Step[] {
    return this.#shapes
      .slice(from)
      .reduce<Step[]>(
        (steps, shape) => steps.flatMap((step) => (step.kind === 'send' ? shape.push(step.bytes) : [step])),
        [...steps],
      );
  }
}

/** A step in sending a client's response. */
export type Step =
  | { kind: 'send'; bytes: Buffer }
  | { kind: 'wait'; ms: number }
  /** Nothing more is sent, but the connection stays open for this long. */
  | { kind: 'stall'; seconds: number }
  /** The connection is closed in the middle of the response. */
  | { kind: 'cut' }
  /** The response ends as if it were complete, and the rest is discarded. */
  | { kind: 'end' };

const send = (bytes: Buffer): Step => ({ kind: 'send', bytes });

/** Changes one response while it is sent. Pure: bytes in, steps out. */
export interface Shape {
  /** Keeps the bytes; the steps may refer to parts of them. */
  push(bytes: Buffer): Step[];
  /** Called after the last byte; the response then ends. */
  end(): Step[];
}

const upperBits = 0xc0;
const leadBits = 0xc0;

/** An offset within the first multi-byte character; null if there is none. */
function insideCharacter(bytes: Buffer): number | null {
  const lead = bytes.findIndex((byte) => (byte & upperBits) === leadBits);
  return lead === -1 || lead + 1 >= bytes.length ? null : lead + 1;
}

// Faults of a response that do not depend on events: stops at a byte, late bodies, and answers that are not streams.

/** Waits before the first byte. */
class LateBytes implements Shape {
  readonly #ms: number;
  #hasBegun = false;

  constructor({ ms }: FaultOf<'late-event'>) {
    this.#ms = ms;
  }

  push(bytes: Buffer): Step[] {
    if (this.#hasBegun) return [send(bytes)];
    this.#hasBegun = true;
    return [{ kind: 'wait', ms: this.#ms }, send(bytes)];
  }

  end(): Step[] {
    return [];
  }
}

/** Stops after the given number of bytes. */
class StopAtByte implements Shape {
  readonly #stop: Step;
  #bytesLeft: number;

  constructor(bytes: number, stop: Step) {
    this.#bytesLeft = bytes;
    this.#stop = stop;
  }

  push(bytes: Buffer): Step[] {
    const passing = bytes.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= passing.length;
    return passing.length < bytes.length ? [send(passing), this.#stop] : [send(passing)];
  }

  end(): Step[] {
    return [];
  }
}

/** Longer answers are downloads. They are not held in memory, and pass unchanged. */
const maxHeldBytes = 4 * 1024 * 1024;

/** Holds an answer until its end and changes it as a whole. */
class HeldWhole implements Shape {
  readonly #change: (whole: Buffer) => Step[];
  #chunks: Buffer[] = [];
  #heldBytes = 0;

  constructor(change: (whole: Buffer) => Step[]) {
    this.#change = change;
  }

  push(bytes: Buffer): Step[] {
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > maxHeldBytes + bytes.length) return [send(bytes)];
    this.#chunks.push(bytes);
    return this.#heldBytes > maxHeldBytes ? this.#release().map(send) : [];
  }

  end(): Step[] {
    return this.#chunks.length === 0 ? [] : this.#change(Buffer.concat(this.#release()));
  }

  #release(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }
}

/** The effect of a fault on an answer that is not a stream; null if it does not affect the body. */
function shapeWhole(fault: ResponseFault): Shape | null {
  switch (fault.name) {
    case 'late-event':
      return new LateBytes(fault);
    case 'stall':
    case 'cut':
      return stopIn(fault);
    case 'malformed-event':
      return new HeldWhole((whole) => [send(whole.subarray(0, Math.ceil(whole.length / 2)))]);
    case 'usage':
      return new HeldWhole((whole) => [send(editJson(whole, (value) => changeUsage(value, fault.change)))]);
    case 'filtered':
      return new HeldWhole((whole) => [send(editJson(whole, filterContent))]);
    case 'damaged-gzip':
      return new HeldWhole((whole) => [send(damagedGzip(whole))]);
    default:
      return null;
  }
}

type Stopping = FaultOf<'stall'> | FaultOf<'cut'>;

function stopOf(fault: Stopping): Step {
  return fault.name === 'cut' ? { kind: 'cut' } : { kind: 'stall', seconds: fault.seconds };
}

/** Stops at the given byte, otherwise in the middle, because an answer that is not a stream has no events. */
function stopIn(fault: Stopping): Shape {
  const stop = stopOf(fault);
  if (fault.bytes !== undefined) return new StopAtByte(fault.bytes, stop);
  const isInCharacter = fault.name === 'cut' && fault.inside === 'character';
  return new HeldWhole((whole) => {
    const middle = Math.floor(whole.length / 2);
    const at = isInCharacter ? (insideCharacter(whole) ?? middle) : middle;
    return [send(whole.subarray(0, at)), stop];
  });
}

/** The second half of the compressed bytes is overwritten. */
export function damagedGzip(bytes: Buffer): Buffer {
  const packed = gzipSync(bytes);
  packed.fill(0xff, Math.floor(packed.length / 2));
  return packed;
}

// Faults of a stream: at a certain event, between events, or in their content.

interface SeenEvent {
  bytes: Buffer;
  /** Starts at 1; comments are not counted. */
  number: number;
  /** Whether it ends the answer, or contains the reason why the answer ended. */
  isEnd: boolean;
  /** The parsed data; undefined if there is none. */
  value: unknown;
}

/** How a rule changes one event. */
type EventRule = (event: SeenEvent) => Step[];

/** Applies the faults to a stream's events, one after the other; null if they do not affect events. */
function shapeEvents(faults: readonly ResponseFault[], stream: StreamFormat): Shape | null {
  const watch = stream.watch(1);
  const rules = faults.map((fault) => ruleOf(fault, watch)).filter((rule) => rule !== null);
  return rules.length === 0 ? null : new EventShape(stream.framing, watch, inTurn(rules));
}

/** Each rule receives the output of the one before it. All of them count the provider's events. */
function inTurn(rules: readonly EventRule[]): EventRule {
  return (event) => {
    let steps: Step[] = [send(event.bytes)];
    for (const rule of rules) {
      steps = steps.flatMap((step) => (step.kind === 'send' ? rule({ ...event, bytes: step.bytes }) : [step]));
    }
    return steps;
  };
}

const defaultAfter = 3;

function ruleOf(fault: ResponseFault, watch: StreamWatch): EventRule | null {
  switch (fault.name) {
    case 'pace':
      return paceRule(fault);
    case 'stall':
      return fault.bytes === undefined ? stoppedAfter(fault) : null;
    case 'cut':
      if (fault.bytes !== undefined) return null;
      if (fault.inside === 'character') return cutInCharacter;
      return fault.inside === 'tool-call' ? cutInCall() : stoppedAfter(fault);
    case 'malformed-event':
      return ({ bytes, number }) => (number === fault.after + 1 ? [send(halfOf(bytes)), send(bytes)] : [send(bytes)]);
    case 'huge-event':
      return ({ bytes, number }) => [
        send(number === fault.after + 1 ? enlargeEvent(bytes, fault.kilobytes * 1024) : bytes),
      ];
    case 'error-event':
      return errorAfter(fault.after, watch);
    case 'missing-end':
      return ({ bytes, isEnd }) => (isEnd ? [{ kind: 'end' }] : [send(bytes)]);
    case 'duplicate-events':
      return ({ bytes, number }) => (number % fault.each === 0 ? twice(bytes) : [send(bytes)]);
    case 'usage':
      return ({ bytes }) => [send(editJson(bytes, (value) => changeUsage(value, fault.change)))];
    case 'filtered':
      return ({ bytes }) => [send(filteredEvent(bytes))];
    case 'damaged-gzip':
      return ({ bytes }) => [send(damagedGzip(bytes)), { kind: 'end' }];
    default:
      return null;
  }
}

const openBracket = 0x5b;

/** The first element of an array includes the opening bracket, which cannot be repeated. */
const twice = (bytes: Buffer): Step[] => [send(bytes), ...(bytes[0] === openBracket ? [] : [send(bytes)])];

const stoppedAfter = (fault: Stopping): EventRule => {
  const { after = defaultAfter } = fault;
  const stop = stopOf(fault);
  return ({ bytes, number }) => (number > after ? [stop] : [send(bytes)]);
};

/** A stream with fewer events also ends with the error. */
const errorAfter =
  (after: number, watch: StreamWatch): EventRule =>
  ({ bytes, number, isEnd }) => {
    if (number <= after && !isEnd) return [send(bytes)];
    const error = {
      message: 'The server had an error. (A fault on purpose.)',
      type: 'server_error',
      param: null,
      code: null,
    };
    return [send(Buffer.from(watch.errorEvent(error))), { kind: 'end' }];
  };

function paceRule(fault: FaultOf<'pace'>): EventRule {
  const eventsPerSecond = fault['events-per-second'];
  const tokensPerSecond = fault['tokens-per-second'] ?? 1;
  return ({ bytes, value }) => {
    const seconds = eventsPerSecond === undefined ? tokensIn(value) / tokensPerSecond : 1 / eventsPerSecond;
    return seconds === 0 ? [send(bytes)] : [{ kind: 'wait', ms: seconds * 1000 }, send(bytes)];
  };
}

/** A stream without such a character is cut in the middle of its end. */
const cutInCharacter: EventRule = ({ bytes, isEnd }) => {
  const at = insideCharacter(bytes) ?? (isEnd ? Math.floor(bytes.length / 2) : null);
  return at === null ? [send(bytes)] : [send(bytes.subarray(0, at)), { kind: 'cut' }];
};

/** Cuts in the second event with arguments, or the only one; without a tool call, in the middle of the stream's end. */
function cutInCall(): EventRule {
  let pieces = 0;
  return ({ bytes, isEnd }) => {
    const text = bytes.toString('utf8');
    const isPiece = hasCallArguments(text);
    if (isPiece) pieces++;
    const isWholeCall = isPiece && text.includes('"functionCall"');
    if (!isEnd && !isWholeCall && !(isPiece && pieces === 2)) return [send(bytes)];
    return [send(bytes.subarray(0, Math.floor(bytes.length / 2))), { kind: 'cut' }];
  };
}

function filteredEvent(bytes: Buffer): Buffer {
  const edited = editJson(bytes, filterContent);
  if (edited === bytes || !edited.includes('response.completed')) return edited;
  return Buffer.from(edited.toString('utf8').replace('event: response.completed', 'event: response.incomplete'));
}

class EventShape implements Shape {
  readonly #framing: Framing;
  readonly #watch: StreamWatch;
  readonly #rule: EventRule;
  readonly #gate: EventGate;
  #number = 0;
  #steps: Step[] = [];

  constructor(framing: Framing, watch: StreamWatch, rule: EventRule) {
    this.#framing = framing;
    this.#watch = watch;
    this.#rule = rule;
    const pass = (bytes: Buffer) => void this.#steps.push(send(bytes));
    this.#gate = framing.openGate(pass, {
      filter: (event, isWhole) => {
        if (isWhole) this.#steps.push(...this.#stepsOf(event));
        return null;
      },
    });
  }

  push(bytes: Buffer): Step[] {
    this.#gate.push(bytes);
    return this.#takeSteps();
  }

  /** Sends the rest after the last event, such as the bracket of an array. */
  end(): Step[] {
    const rest = this.#gate.takeRest();
    return rest.length === 0 ? [] : [send(rest)];
  }

  #stepsOf(event: Buffer): Step[] {
    if (this.#framing.isKeepAlive(event)) return [send(event)];
    const streamEvent = this.#framing.readEvent(event);
    if (streamEvent) this.#watch.note(streamEvent);
    this.#number++;
    const isEnd = this.#watch.isComplete || isEndOfAnswer(event.toString('utf8'));
    return this.#rule({ bytes: event, number: this.#number, isEnd, value: streamEvent?.value });
  }

  #takeSteps(): Step[] {
    const steps = this.#steps;
    this.#steps = [];
    return steps;
  }
}

// The errors that faults inject, worded as in OpenAI's API; each API's `writeError` converts them to its own format.

/** An error that a rule injected, and that no provider sent. */
class InjectedError extends GatewayError {
  readonly #kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, retryAfterSeconds: number | undefined) {
    super('internal', message, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
    this.#kind = kind;
  }

  override get kind(): ErrorKind {
    return this.#kind;
  }
}

type ErrorFault = Exclude<InsteadFault, FaultOf<'reset' | 'silence' | 'html'>>;
type Status = (typeof errorStatuses)[number];
type ErrorDetails = [type: string, code: string | null, message: string];

const invalid = 'invalid_request_error';

const errorDetails: Readonly<Record<Status, ErrorDetails>> = {
  400: [invalid, 'invalid_value', 'The request is invalid.'],
  401: [invalid, 'invalid_api_key', 'Incorrect API key provided.'],
  403: [invalid, 'permission_denied', 'You are not allowed to use this model.'],
  404: [invalid, 'model_not_found', 'The model does not exist or you do not have access to it.'],
  408: [invalid, 'request_timeout', 'The request took too long to arrive.'],
  409: [invalid, 'conflict', 'The request conflicts with another one.'],
  413: [invalid, 'request_too_large', 'The request is too large.'],
  429: ['requests', 'rate_limit_exceeded', 'Rate limit reached for requests.'],
  500: ['server_error', null, 'The server had an error while processing your request.'],
  502: ['server_error', null, 'Bad gateway.'],
  503: ['server_error', 'server_overloaded', 'The engine is currently overloaded, please try again later.'],
  504: ['server_error', 'upstream_timeout', 'The upstream did not answer in time.'],
  529: ['server_error', 'server_overloaded', 'Overloaded.'],
};

const quota: ErrorDetails = ['insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.'];
const overflow: ErrorDetails = [
  invalid,
  'context_length_exceeded',
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 190000 tokens.",
];

/** The error and the status with which it is sent. */
export function errorOf(fault: ErrorFault): InjectedError {
  switch (fault.name) {
    case 'status':
      return make(fault.code, errorDetails[fault.code], fault['retry-after']);
    case 'rate-limit':
      return make(429, errorDetails[429], fault['retry-after']);
    case 'overloaded':
      // Only Anthropic's API has the status 529, which it uses for this code.
      return make(503, errorDetails[503], fault['retry-after']);
    case 'quota':
      return make(429, quota, undefined);
    case 'context-overflow':
      return make(400, overflow, undefined);
  }
}

function make(
  status: number,
  [type, code, message]: ErrorDetails,
  retryAfterSeconds: number | undefined,
): InjectedError {
  // SDKs retry every 429 unless the response forbids it, as Sluice does for an exhausted quota.
  const kind = { status, type, code, ...(code === 'insufficient_quota' && { retryable: false as const }) };
  return new InjectedError(kind, `${message} (A fault on purpose: Sluice asked no provider.)`, retryAfterSeconds);
}
