/**
 * The load generator, which runs in its own process. It receives jobs from its parent one by one, replies with the
 * counts of each, and ends with the parent. Every answer is compared byte by byte with the expected one.
 */
import net, { type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildConversation, type Conversation, conversationEvents, isWholeConversation } from './conversations.ts';
import {
  type Address,
  buildRequest,
  eventGapMs,
  eventsOf,
  expectedBody,
  MessageReader,
  type RequestName,
} from './payloads.ts';

const receiveBytes = 64 * 1024;

/** The bytes of each answer, or a function that checks its body. */
export type Expected = Buffer | ((body: Buffer) => boolean);

/** A kept-alive connection that repeats the same request and checks each answer. */
export class LoadConnection {
  done = 0;
  errors = 0;
  bytes = 0;
  isBroken = false;
  /** From the last request to the first byte of its answer's body, in microseconds. */
  firstByteUs = 0;
  #socket: Socket | undefined;
  readonly #request: Buffer;
  readonly #expected: Expected;
  /** Kept for checks that need the whole body. */
  #pieces: Buffer[] = [];
  readonly #reader: MessageReader;
  #whenAnswered: (() => void) | undefined;
  #askedMs = 0;
  #offset = 0;
  #isGood = true;

  private constructor(request: Buffer, expected: Expected) {
    this.#request = request;
    this.#expected = expected;
    this.#reader = new MessageReader({
      onHead: (head) => {
        this.#isGood = head.startsWith('HTTP/1.1 200');
      },
      onBody: (bytes) => this.#check(bytes),
      onEnd: () => this.#end(),
    });
  }

  static open(port: number, request: Buffer, expected: Expected): Promise<LoadConnection> {
    const connection = new LoadConnection(request, expected);
    return new Promise((resolve, reject) => {
      const onread = {
        buffer: Buffer.allocUnsafe(receiveBytes),
        callback: (length: number, buffer: Uint8Array) => {
          connection.#reader.push(Buffer.from(buffer.buffer, buffer.byteOffset, length));
          return true;
        },
      };
      const socket = net.connect({ host: '127.0.0.1', port, noDelay: true, onread });
      connection.#socket = socket;
      socket.on('connect', () => resolve(connection));
      socket.on('error', reject);
      socket.on('close', () => connection.#broke());
    });
  }

  /** Sends the request. `whenAnswered` is called once, even if the connection breaks. */
  ask(whenAnswered: () => void): void {
    this.#whenAnswered = whenAnswered;
    this.#offset = 0;
    this.#askedMs = performance.now();
    this.#socket?.write(this.#request);
  }

  answer(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isBroken) resolve();
      else this.ask(resolve);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #check(bytes: Buffer): void {
    if (this.#offset === 0) this.firstByteUs = (performance.now() - this.#askedMs) * 1_000;
    const end = this.#offset + bytes.length;
    const expected = this.#expected;
    if (typeof expected === 'function') this.#pieces.push(Buffer.from(bytes));
    else if (end > expected.length || bytes.compare(expected, this.#offset, end) !== 0) this.#isGood = false;
    this.#offset = end;
  }

  #end(): void {
    this.bytes += this.#offset;
    if (this.#isGood && this.#isWhole()) this.done++;
    else this.errors++;
    this.#pieces = [];
    this.#answered();
  }

  #isWhole(): boolean {
    const expected = this.#expected;
    return typeof expected === 'function' ? expected(Buffer.concat(this.#pieces)) : this.#offset === expected.length;
  }

  #broke(): void {
    this.isBroken = true;
    if (!this.#whenAnswered) return;
    this.errors++;
    this.#answered();
  }

  #answered(): void {
    const whenAnswered = this.#whenAnswered;
    this.#whenAnswered = undefined;
    whenAnswered?.();
  }
}

type Asked = RequestName | Conversation;

/** Each connection repeats the request as soon as it is answered, until the time is over or the count is reached. */
interface LoopJob {
  kind: 'loop';
  to: Address;
  request: Asked;
  connections: number;
  durationMs: number;
  count?: number;
}

/** One connection to each address. The requests alternate, with this many for each. */
interface AlternateJob {
  kind: 'alternate';
  to: [Address, Address];
  request: Asked;
  count: number;
}

/**
 * Each connection has two streams in succession. The first ones are started one by one, so that all connections are
 * open during the second ones.
 */
interface StreamsJob {
  kind: 'streams';
  to: Address;
  request: Asked;
  connections: number;
}

/** Each connection has one stream; all are requested at once. */
interface BurstJob {
  kind: 'burst';
  to: Address;
  request: Asked;
  connections: number;
}

export type Job = LoopJob | AlternateJob | StreamsJob | BurstJob;

export interface JobResult {
  done: number;
  /** Wrong answers and broken connections. */
  errors: number;
  wallMs: number;
  /** Total size of the answers' bodies. */
  bytes: number;
  /** The number of events in streams, otherwise of answers. */
  events: number;
  /**
   * From the request to the first byte of the answer's body. For `alternate`: from the request to the answer's end, at
   * the first address.
   */
  firstUs: number[];
  /** For `alternate`: the same at the second address. */
  secondUs: number[];
}

process.on('message', (job: Job) => void run(job).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function run(job: Job): Promise<JobResult> {
  if (job.kind === 'alternate') return alternate(job);
  if (job.kind === 'burst') return burst(job);
  return job.kind === 'streams' ? streams(job) : loop(job);
}

function connect(job: Job, to: Address, connections: number): Promise<LoadConnection[]> {
  const { request: asked } = job;
  const isConversation = typeof asked !== 'string';
  const request = isConversation ? buildConversation(asked, to) : buildRequest(asked, to);
  const expected: Expected = isConversation ? (body) => isWholeConversation(asked, body) : expectedBody(asked);
  return Promise.all(Array.from({ length: connections }, () => LoadConnection.open(to.port, request, expected)));
}

async function loop(job: LoopJob): Promise<JobResult> {
  const connections = await connect(job, job.to, job.connections);
  const startedMs = performance.now();
  const endMs = startedMs + job.durationMs;
  let asked = 0;
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const next = () => {
            const isOver = performance.now() >= endMs || asked === job.count || connection.isBroken;
            if (isOver) return resolve();
            asked++;
            connection.ask(next);
          };
          next();
        }),
    ),
  );
  return summarize(job, connections, startedMs);
}

async function streams(job: StreamsJob): Promise<JobResult> {
  const connections = await connect(job, job.to, job.connections);
  const lengthMs = eventCount(job.request) * eventGapMs;
  const startedMs = performance.now();
  const firstUs: number[] = [];
  await Promise.all(
    connections.map(async (connection, index) => {
      await sleep((index * lengthMs) / job.connections);
      await connection.answer();
      await connection.answer();
      firstUs.push(connection.firstByteUs);
    }),
  );
  return { ...summarize(job, connections, startedMs), firstUs };
}

async function burst(job: BurstJob): Promise<JobResult> {
  const connections = await connect(job, job.to, job.connections);
  const startedMs = performance.now();
  await Promise.all(connections.map((connection) => connection.answer()));
  const firstUs = connections.map((connection) => connection.firstByteUs);
  return { ...summarize(job, connections, startedMs), firstUs };
}

async function alternate(job: AlternateJob): Promise<JobResult> {
  const [[first], [second]] = await Promise.all([connect(job, job.to[0], 1), connect(job, job.to[1], 1)]);
  if (!first || !second) throw new Error('no connection');
  const startedMs = performance.now();
  const firstUs: number[] = [];
  const secondUs: number[] = [];
  for (let round = 0; round < job.count && !first.isBroken && !second.isBroken; round++) {
    firstUs.push(await timeUs(first));
    secondUs.push(await timeUs(second));
  }
  return { ...summarize(job, [first, second], startedMs), firstUs, secondUs };
}

async function timeUs(connection: LoadConnection): Promise<number> {
  const startedMs = performance.now();
  await connection.answer();
  return (performance.now() - startedMs) * 1_000;
}

function eventCount(asked: Asked): number {
  return typeof asked === 'string' ? eventsOf(asked) : conversationEvents[asked.pace];
}

function summarize(job: Job, connections: readonly LoadConnection[], startedMs: number): JobResult {
  const wallMs = performance.now() - startedMs;
  const sum = (of: (connection: LoadConnection) => number) => connections.reduce((total, one) => total + of(one), 0);
  const done = sum((connection) => connection.done);
  for (const connection of connections) connection.close();
  return {
    done,
    errors: sum((connection) => connection.errors),
    wallMs,
    bytes: sum((connection) => connection.bytes),
    events: done * eventCount(job.request),
    firstUs: [],
    secondUs: [],
  };
}
