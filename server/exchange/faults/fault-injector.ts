/**
 * Sends a client's response with injected faults: performs the steps that the fault's shape yields, including its
 * delays.
 */
import type { ServerResponse } from 'node:http';
import type { Route } from '../../apis/core/route.ts';
import { faultHeader } from '../../contract/faults.ts';
import type { FaultName, ResponseFault } from '../../faults/fault-kinds.ts';
import { shapeResponse } from '../../faults/shape-response.ts';
import type { Shape, Step } from '../../faults/steps.ts';
import { after } from '../../ground/timers.ts';
import type { ResponseOutlet } from '../answer/client-response.ts';

interface FaultInjectorOptions {
  faults: readonly ResponseFault[];
  response: ServerResponse;
  route: Route;
  /** Called when the response begins. Returns the names of all faults of the request. */
  noteFaults(): string;
}

type Headers = Record<string, string | string[]>;

const keepingLength = new Set<FaultName>(['cut', 'stall', 'late-event', 'wrong-type']);

/** With more steps waiting to be sent, the upstream is paused. */
const maxWaitingSteps = 256;

export class FaultInjector implements ResponseOutlet {
  /** The response is cut off on purpose, now or after the steps that are waiting. */
  abortsResponse = false;
  /** The whole answer has been written to this object, although the client may get less of it, or get it later. */
  hasAll = false;
  readonly #options: FaultInjectorOptions;
  #shape: Shape | null = null;
  #steps: Step[] = [];
  #isWaiting = false;
  /** Nothing more will be sent. */
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  #drained: (() => void) | undefined;

  constructor(options: FaultInjectorOptions) {
    this.#options = options;
    options.response.once('close', () => this.#close());
  }

  /** Sends the head. An error, and a response without a body, are sent as they are. */
  begin(status: number, headers: Headers): void {
    const { response, noteFaults } = this.#options;
    const hasBody = status < 400 && status !== 204 && status !== 304 && response.req.method !== 'HEAD';
    if (!hasBody) {
      response.writeHead(status, headers);
      return;
    }
    this.#shape = this.#shapeFor(headers);
    response.writeHead(status, { ...this.#headersFor(headers), [faultHeader]: noteFaults() });
    // A client sees the head of a late or stalled body.
    response.flushHeaders();
  }

  /** False: write no more before the listener of `once` is called. */
  write(bytes: Buffer): boolean {
    if (this.#isOver) return true;
    if (!this.#shape) return this.#options.response.write(bytes);
    // Copied, because the bytes may wait for long while the caller reuses the buffer.
    this.#perform(this.#shape.push(Buffer.from(bytes)));
    return this.#steps.length < maxWaitingSteps && !this.#options.response.writableNeedDrain;
  }

  end(last: Buffer | undefined): void {
    this.hasAll = true;
    if (this.#isOver) return;
    if (!this.#shape) {
      this.#options.response.end(last);
      return;
    }
    this.#perform([...(last ? this.#shape.push(last) : []), ...this.#shape.end(), { kind: 'end' }]);
  }

  once(_event: 'drain', listener: () => void): void {
    this.#drained = listener;
    this.#notifyDrained();
  }

  #shapeFor(headers: Headers): Shape | null {
    const { faults, route } = this.#options;
    const type = String(headers['content-type'] ?? '');
    // Compressed answers are not inspected.
    const isStream = headers['content-encoding'] === undefined && route.stream?.framing.isStream(type);
    return shapeResponse(faults, isStream ? route.stream : null);
  }

  #headersFor(headers: Headers): Headers {
    const { 'content-length': length, ...others } = headers;
    const names = new Set<FaultName>(this.#options.faults.map(({ name }) => name));
    // A response that is cut or stalls keeps its `content-length`, as a real one would.
    const keepsLength = this.#options.faults.every(({ name }) => keepingLength.has(name));
    return {
      ...(keepsLength && length !== undefined && { 'content-length': length }),
      ...others,
      ...(names.has('wrong-type') && { 'content-type': 'text/plain; charset=utf-8' }),
      ...(names.has('damaged-gzip') && { 'content-encoding': 'gzip' }),
    };
  }

  #perform(steps: readonly Step[]): void {
    this.#steps.push(...steps);
    this.abortsResponse ||= steps.some(({ kind }) => kind === 'cut' || kind === 'stall');
    this.#pump();
  }

  #pump(): void {
    while (!this.#isWaiting && !this.#isOver) {
      const step = this.#steps.shift();
      if (!step) break;
      this.#take(step);
    }
    this.#notifyDrained();
  }

  #take(step: Step): void {
    const { response } = this.#options;
    switch (step.kind) {
      case 'send':
        if (step.bytes.length > 0 && !response.write(step.bytes))
          this.#wait((resume) => response.once('drain', resume));
        return;
      case 'wait':
        this.#wait((resume) => {
          this.#timer = after(resume, step.ms);
        });
        return;
      case 'stall':
        this.#finish();
        this.#timer = after(() => this.#cut(), step.seconds * 1000).unref();
        return;
      case 'cut':
        this.#finish();
        this.#cut();
        return;
      case 'end':
        this.#finish();
        response.end();
    }
  }

  #wait(begin: (resume: () => void) => void): void {
    this.#isWaiting = true;
    begin(() => {
      this.#isWaiting = false;
      this.#pump();
    });
  }

  #finish(): void {
    this.#isOver = true;
    this.#steps = [];
  }

  /** Data that was already written is still sent. */
  #cut(): void {
    this.#options.response.socket?.destroySoon();
  }

  #notifyDrained(): void {
    if (!this.#isOver && (this.#isWaiting || this.#steps.length > 0 || this.#options.response.writableNeedDrain))
      return;
    const listener = this.#drained;
    this.#drained = undefined;
    listener?.();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#finish();
    this.#notifyDrained();
  }
}
