/**
 * Sends a client's response with injected faults: performs the steps that the fault's shape yields, including its
 * delays.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Api, Route } from '../../apis/core/api.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import { faultHeader } from '../../contract/faults.ts';
import {
  type Fault,
  type FaultName,
  type InsteadFault,
  isEarly,
  needsStream,
  type ResponseFault,
  replacesAnswer,
} from '../../faults/fault-kinds.ts';
import type { FaultSwitch } from '../../faults/fault-switch.ts';
import { FaultTextError, parseFaults } from '../../faults/parse-rule.ts';
import { errorOf, type Shape, type Step, shapeResponse } from '../../faults/shape-response.ts';
import { after } from '../../ground/timers.ts';
import type { Member } from '../../routing/snapshot.ts';
import { errorHeaders, type ResponseOutlet } from '../answer/client-response.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';

interface FaultyCall {
  request: IncomingMessage;
  response: ServerResponse;
  api: Api;
  match: RouteMatch;
  member: Member;
  trace: RequestTrace;
}

/**
 * Injects faults on purpose before an answer, or in place of one. Loaded with the first request that may get any.
 *
 * The faults to inject into the request. Throws a GatewayError if its header asks for faults that it may not have.
 */
export function chooseFaults(faults: FaultSwitch, { request, match, member, trace }: FaultyCall): readonly Fault[] {
  const faultsHeader = request.headers[faultHeader];
  if (match.passthrough) {
    if (faultsHeader === undefined) return [];
    throw invalidFault(`${match.label} is passed through to a provider, and such requests meet no faults.`);
  }
  const streams = trace.stream && match.route.stream !== null;
  if (faultsHeader !== undefined) return requestedFaults(String(faultsHeader), member, streams);
  const facts = { model: trace.model, route: match.label, streams };
  return faults.sequenceFor(member.group.id, member.key.id)?.next(facts) ?? [];
}

function requestedFaults(text: string, { key }: Member, streams: boolean): readonly Fault[] {
  if (!key.faults) {
    throw invalidFault(
      `Key "${key.id}" does not let requests ask for faults. Set "faults" of the key to true, or leave out the header.`,
    );
  }
  const faults = parse(text);
  const unfit = streams ? undefined : faults.find(needsStream);
  if (unfit) throw invalidFault(`The fault "${unfit.name}" needs a request for a stream.`);
  return faults;
}

function parse(text: string): readonly Fault[] {
  try {
    return parseFaults(text);
  } catch (error) {
    throw error instanceof FaultTextError ? invalidFault(error.message) : error;
  }
}

function invalidFault(message: string): GatewayError {
  return new GatewayError('invalid_value', `${faultHeader}: ${message}`, { param: faultHeader });
}

/**
 * Injects the faults that take effect before there is an answer.
 * @returns `answered` if nothing else may be sent; otherwise the injector for the response, or null for none
 */
export async function injectFaults(
  faults: readonly Fault[],
  call: FaultyCall,
): Promise<'answered' | FaultInjector | null> {
  const { response, match, trace } = call;
  const lateHead = faults.find((fault) => fault.name === 'late-head');
  if (lateHead) {
    response.setHeader(faultHeader, noteFaults(trace, lateHead));
    await delay(lateHead.ms, response);
    if (response.closed) return 'answered';
  }
  const insteadFault = faults.find(replacesAnswer);
  if (insteadFault) {
    noteFaults(trace, insteadFault);
    await answer(insteadFault, call);
    return 'answered';
  }
  const ofResponse = faults.filter(isOfResponse);
  if (ofResponse.length === 0) return null;
  return new FaultInjector({
    faults: ofResponse,
    response,
    route: match.route,
    noteFaults: () => noteFaults(trace, ...ofResponse),
  });
}

const isOfResponse = (fault: Fault): fault is ResponseFault => !isEarly(fault);

/** Records faults of the request; returns the names of all so far. */
function noteFaults(trace: RequestTrace, ...faults: readonly Fault[]): string {
  const names = faults.map(({ name }) => name);
  const allNames = [...(trace.fault === null ? [] : [trace.fault]), ...names].join(', ');
  trace.fault = allNames;
  return allNames;
}

async function answer(fault: InsteadFault, call: FaultyCall): Promise<void> {
  const { response, trace } = call;
  switch (fault.name) {
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      await delay(fault.seconds * 1000, response);
      response.destroy();
      return;
    case 'html':
      sendPage(call);
      return;
    default: {
      const error = errorOf(fault);
      const bytesOut = sendInjected(fault.name === 'status' ? fault.code : call.api.statusOf(error), error, call);
      trace.response = {
        ...trace.response,
        status: response.statusCode,
        errorCode: error.kind.code ?? fault.name,
        bytesOut,
      };
    }
  }
}

/** Returns the number of its bytes. */
function sendInjected(status: number, error: ReturnType<typeof errorOf>, { response, api, trace }: FaultyCall): number {
  const body = Buffer.from(api.writeError(error));
  response.writeHead(status, {
    ...errorHeaders(api, error, trace.id),
    [faultHeader]: trace.fault ?? '',
    'content-length': String(body.length),
  });
  response.end(body);
  return body.length;
}

const page = '<!doctype html><html><body><h1>Sign in to the network</h1><p>A fault on purpose.</p></body></html>';

function sendPage({ response, trace }: FaultyCall): void {
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'x-sluice-request-id': trace.id,
    [faultHeader]: trace.fault ?? '',
  });
  response.end(page);
  trace.response = { ...trace.response, status: 200, bytesOut: Buffer.byteLength(page) };
}

/** Ends early if the connection closes. */
async function delay(ms: number, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  const close = () => closed.abort();
  response.once('close', close);
  await setTimeout(ms, undefined, { signal: closed.signal }).catch(() => {});
  response.off('close', close);
}

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

class FaultInjector implements ResponseOutlet {
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
