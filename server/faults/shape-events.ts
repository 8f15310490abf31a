/** Faults of a stream: at a certain event, between events, or in their content. */
import type { EventGate, Framing } from '../apis/core/framing.ts';
import type { StreamFormat, StreamWatch } from '../apis/core/stream-format.ts';
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
import type { FaultOf, ResponseFault } from './fault-kinds.ts';
import { damagedGzip, type Stopping, stopOf } from './shape-bytes.ts';
import { insideCharacter, type Shape, type Step, send } from './steps.ts';

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
export function shapeEvents(faults: readonly ResponseFault[], stream: StreamFormat): Shape | null {
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
