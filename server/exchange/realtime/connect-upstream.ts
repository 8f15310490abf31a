/**
 * Connects a realtime session: tries targets one after the other, in the order of `AttemptPlan`, until one opens a
 * WebSocket. The session then stays with that upstream, because no other one has the conversation.
 */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { Route } from '../../apis/core/api.ts';
import { readError } from '../../apis/core/errors/error-body.ts';
import { failureBy } from '../../apis/core/errors/verdict.ts';
import type { Policy } from '../../contract/policy.ts';
import { AwakeTimer, awakeMs } from '../../ground/timers.ts';
import { AttemptPlan, type NextAttempt } from '../../routing/attempt-plan.ts';
import { type AttemptResult, type FailureResponse, redirectFailure } from '../../routing/attempt-result.ts';
import { onlyTarget, type Picker } from '../../routing/picker.ts';
import { type AttemptTimeouts, type CompiledGroup, compileTimeouts } from '../../routing/snapshot.ts';
import type { ResponseHeaders, Transport } from '../../transport/transport.ts';
import { TransportError, toTransportError } from '../../transport/transport-error.ts';
import { failureOf } from '../answer/attempt-failures.ts';
import { type RunningAttempt, runAttempts } from '../attempts/attempts.ts';
import { outgoingHeaders } from '../outgoing/outgoing-request.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { FailureReason } from '../readers/response-reader.ts';
import { AttemptNotes, type AttemptTrace, type RequestTrace } from '../record/exchange-trace.ts';
import { secretsOf } from '../redact/redact-credential.ts';

interface UpstreamPorts {
  transport: Transport;
  picker: Picker;
}

/** The session request, as sent to each target. */
interface SessionCall {
  route: Route;
  group: CompiledGroup;
  plan: CallPlan;
  trace: RequestTrace;
  /** The client's headers that may be forwarded. */
  headers: Readonly<Record<string, string>>;
  /** Returns the query for a target that uses this name for the model. */
  queryFor(model: string | null): string;
  /** The session belongs to an existing call, which only one provider has. */
  isPassed: boolean;
}

export interface OpenSession {
  kind: 'open';
  socket: WebSocket;
  /** Headers of the upstream's handshake response. */
  headers: ResponseHeaders;
  next: NextAttempt;
  trace: AttemptTrace;
  notes: AttemptNotes;
}

type Connected = OpenSession | { kind: 'left' } | { kind: 'unanswered'; failureResponse: FailureResponse };

export class UpstreamSearch {
  readonly #ports: UpstreamPorts;
  readonly #call: SessionCall;
  readonly #picker: Picker;
  readonly #clientGone = Promise.withResolvers<void>();
  readonly #underWay = new Set<UpstreamHandshake>();
  #hasLeft = false;
  #session: OpenSession | undefined;

  constructor(ports: UpstreamPorts, call: SessionCall) {
    this.#ports = ports;
    this.#call = call;
    this.#picker = call.isPassed ? onlyTarget(ports.picker) : ports.picker;
  }

  /** Call when the client leaves: aborts the current attempt. Has no effect on an open session. */
  clientLeft(): void {
    this.#hasLeft = true;
    this.#clientGone.resolve();
    for (const handshake of this.#underWay) handshake.abort();
  }

  /** @throws GatewayError `no_healthy_provider` if there is no target */
  async run(): Promise<Connected> {
    const { plan: callPlan, route } = this.#call;
    const policy = this.#policy();
    const plan = new AttemptPlan({
      targets: callPlan.targets,
      credentialId: callPlan.credentialId,
      policy,
      picker: this.#picker,
      request: {
        policy,
        capability: route.wire.operation,
        isPurchase: false,
        conversation: () => null,
        reasoningOrigin: () => null,
      },
      now: awakeMs,
      random: Math.random,
    });
    const outcome = await runAttempts({
      plan,
      picker: this.#picker,
      start: (next) => this.#start(next, plan),
      gone: () => this.#clientGone.promise,
    });
    if (outcome.kind === 'unanswered') return outcome;
    if (this.#session && this.#hasLeft) this.#session.socket.terminate();
    return this.#session && !this.#hasLeft ? this.#session : { kind: 'left' };
  }

  /** Disables hedging: a second session in parallel would be billed as well. */
  #policy(): Policy {
    const { group, isPassed } = this.#call;
    return { ...group.policy, hedgeAfterMs: 0, ...(isPassed && { retries: 0, fallbacks: 0 }) };
  }

  #start(next: NextAttempt, plan: AttemptPlan): RunningAttempt {
    const { trace } = this.#call;
    const attempt = trace.attempt(next.target, next.credential?.id ?? null, next.cause);
    const timeouts = this.#timeoutsOf(next, plan);
    return {
      record: attempt.record,
      result: this.#attempt(next, attempt, timeouts),
      hasBegun: () => this.#session?.trace === attempt,
    };
  }

  #timeoutsOf({ target: { provider } }: NextAttempt, plan: AttemptPlan): AttemptTimeouts {
    const limits = this.#call.group.timeouts.get(provider.id) ?? compileTimeouts(provider.ownTimeouts);
    return plan.leavesAnother(limits.stream.firstByteMs) ? limits.stream : limits.last;
  }

  async #attempt(next: NextAttempt, trace: AttemptTrace, timeouts: AttemptTimeouts): Promise<AttemptResult> {
    const notes = new AttemptNotes(trace.record, secretsOf(this.#call.trace.secrets, next.credential));
    const handshake = new UpstreamHandshake(this.#ports.transport, () => notes.sending());
    this.#underWay.add(handshake);
    try {
      const answer = await handshake.run({ ...this.#addressOf(next), timeouts });
      notes.answered(answer.kind === 'open' ? 101 : answer.status, answer.headers['x-request-id']);
      if (answer.kind === 'refused') return this.#failureResult(next, notes, this.#reasonOf(answer));
      if (this.#hasLeft || this.#session) {
        answer.socket.terminate();
        notes.failed('client-gone');
        return { kind: 'given-up' };
      }
      this.#adoptSession({ ...answer, next, trace, notes });
      return { kind: 'answered', failure: null };
    } catch (thrown) {
      if (this.#hasLeft) {
        notes.failed('client-gone');
        return { kind: 'given-up' };
      }
      return this.#failureResult(next, notes, { kind: 'transport', error: toTransportError(thrown, 'connect') });
    } finally {
      this.#underWay.delete(handshake);
    }
  }

  #addressOf({ target, credential }: NextAttempt) {
    const { headers, route, queryFor } = this.#call;
    const { provider, model } = target;
    return {
      origin: provider.endpoint.origin,
      path: provider.dialect.address(provider.endpoint, route.path, queryFor(model), model),
      headers: outgoingHeaders(headers, provider, credential),
      proxy: provider.proxy,
      certificate: provider.certificate,
    };
  }

  #adoptSession(session: OpenSession): void {
    const { target, credential } = session.next;
    this.#session = session;
    this.#call.trace.answering = session.trace;
    this.#picker.answers(target, credential?.id ?? null);
  }

  #reasonOf({ status, headers, body }: HandshakeAnswer & { kind: 'refused' }): FailureReason {
    // A status below 400 comes from a web server at a wrong base URL, not from the API.
    if (status < 400) {
      const problem = `answered the WebSocket handshake with status ${status}`;
      return { kind: 'damage', problem, failure: redirectFailure };
    }
    const { error, isPage } = readError(body);
    const failure = failureBy({ status, headers, error, isPage, isAboutJob: false });
    const relayedHeaders = { ...headers, 'content-length': String(body.length) };
    return { kind: 'answer', failure, answer: { status, headers: relayedHeaders, body, error, isPage } };
  }

  #failureResult({ target }: NextAttempt, notes: AttemptNotes, reason: FailureReason): AttemptResult {
    const redacted = (text: string) => notes.redacted(text);
    const { failure, message, failureResponse } = failureOf(reason, {
      target,
      hasBegun: false,
      mayContinue: false,
      redacted,
    });
    notes.failed(failure.class, message);
    notes.over();
    return { kind: 'failed', failure, failureResponse };
  }
}

interface Address {
  /** `https://api.openai.com` */
  origin: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  /** `system`, `direct` or a proxy's URL. */
  proxy: string;
  timeouts: AttemptTimeouts;
}

/**
 * One attempt to open a session: opens a dedicated connection, then performs the handshake over it. Both can be
 * aborted.
 */
class UpstreamHandshake {
  readonly #transport: Pick<Transport, 'connect'>;
  readonly #onSending: () => void;
  readonly #aborted = Promise.withResolvers<never>();
  #connection: Socket | undefined;

  /** `onSending`: called once the connection is established. */
  constructor(transport: Pick<Transport, 'connect'>, onSending: () => void) {
    this.#transport = transport;
    this.#onSending = onSending;
  }

  /** Call only once. Rejects with a TransportError. */
  async run({ origin, path, headers, proxy, timeouts }: Address): Promise<HandshakeAnswer> {
    const connecting = this.#transport.connect({ origin, proxy, timeouts });
    try {
      this.#connection = await Promise.race([connecting, this.#aborted.promise]);
    } catch (error) {
      connecting.then((socket) => socket.destroy()).catch(() => {});
      throw error;
    }
    this.#onSending();
    return openUpstream(this.#connection, { origin, path, headers, answerMs: timeouts.firstByteMs });
  }

  /** Call only before `run` settles. */
  abort(): void {
    this.#aborted.reject(new TransportError('aborted', 'connect', 'the client disconnected'));
    this.#connection?.destroy();
  }
}

// Performs the WebSocket handshake with an upstream over an established connection.

/**
 * The longest message in either direction. OpenAI accepts 15 MiB of audio in one event, and base64 adds a third; a message
 * is buffered as a whole before it is forwarded.
 */
const maxMessageBytes = 32 * 1024 * 1024;

/** Options of both sockets. Compression hardly shrinks audio, but costs time and memory. */
const socketOptions = { perMessageDeflate: false, maxPayload: maxMessageBytes } as const;

interface Handshake {
  /** `https://api.openai.com` */
  origin: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  /** Time limit until the response begins, in milliseconds. */
  answerMs: number;
}

/** The upstream's response to the handshake. */
type HandshakeAnswer =
  /** The socket is paused, so that no message is lost before a listener is attached. */
  | { kind: 'open'; socket: WebSocket; headers: ResponseHeaders }
  | { kind: 'refused'; status: number; headers: ResponseHeaders; body: Buffer };

/** `closeTimeout`: an upstream has two seconds to answer a close frame. */
const upstreamOptions = { ...socketOptions, followRedirects: false, closeTimeout: 2_000 };
/** A longer refusal is truncated to this length. */
const maxBodyBytes = 1024 * 1024;

/** Rejects with a TransportError on failure. Closes the connection unless the handshake succeeds. */
export async function openUpstream(connection: Socket, handshake: Handshake): Promise<HandshakeAnswer> {
  const { origin, path, headers, answerMs } = handshake;
  // `ws` refuses an address with a fragment; a client may send one all the same.
  const address = origin.replace('http', 'ws') + path.replaceAll('#', '%23');
  let timer: AwakeTimer | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const expire = () => reject(new TransportError('timeout', 'headers', `no answer within ${answerMs} ms`));
    timer = new AwakeTimer(expire, answerMs);
  });
  try {
    const socket = new WebSocket(address, [], { ...upstreamOptions, headers, createConnection: () => connection });
    return await Promise.race([answerOf(socket), limit]);
  } catch (error) {
    connection.destroy();
    throw toTransportError(error, 'headers');
  } finally {
    timer?.clear();
  }
}

function answerOf(socket: WebSocket): Promise<HandshakeAnswer> {
  return new Promise((resolve, reject) => {
    let headers: ResponseHeaders = {};
    // `ws` also reports a terminated handshake as an error.
    socket.on('error', reject);
    socket.once('upgrade', (response) => {
      headers = response.headers;
    });
    socket.once('open', () => {
      socket.pause();
      socket.off('error', reject);
      resolve({ kind: 'open', socket, headers });
    });
    socket.once('unexpected-response', (_request, response) => {
      readRefusal(response).then(
        (answer) => {
          resolve(answer);
          socket.terminate();
        },
        (error) => {
          reject(error);
          socket.terminate();
        },
      );
    });
  });
}

async function readRefusal(response: IncomingMessage): Promise<HandshakeAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBodyBytes) break;
  }
  return { kind: 'refused', status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

interface Acceptance {
  /** The only subprotocol to confirm, and only if the client offers it; other subprotocols may contain a key. */
  protocol: string;
  /** Additional headers of the 101 response. */
  headers: Readonly<Record<string, string>>;
}

/** Answers a valid client handshake with 101. Null if the client is gone. `early`: bytes received after the handshake. */
export function acceptClient(
  request: IncomingMessage,
  socket: Duplex,
  early: Buffer,
  { protocol, headers }: Acceptance,
): WebSocket | null {
  const server = new WebSocketServer({
    ...socketOptions,
    noServer: true,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  });
  server.on('headers', (lines) => {
    for (const name in headers) lines.push(`${name}: ${headers[name]}`);
  });
  const accepted: WebSocket[] = [];
  server.handleUpgrade(request, socket, early, (client) => accepted.push(client));
  return accepted[0] ?? null;
}
