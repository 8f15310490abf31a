/** The listener's side of a realtime session: guards, admission, connection and errors. Its course is `exchange/realtime/session.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestLocation, RouteMatch } from '../apis/registry.ts';
import { GatewayError } from '../contract/errors.ts';
import type { LocalReply } from '../exchange/answer/local-reply.ts';
import type { CassetteSource } from '../exchange/cassette/cassette-companion.ts';
import { checkHops } from '../exchange/outgoing/outgoing-request.ts';
import { Session, type SessionDoor } from '../exchange/realtime/session.ts';
import { RequestTrace } from '../exchange/record/exchange-trace.ts';
import { configuredSecrets } from '../exchange/redact/redact-credential.ts';
import type { MaybePromise } from '../ground/promises.ts';
import type { CompiledKey, Member, Snapshot } from '../routing/snapshot.ts';
import type { Permit } from './admission.ts';
import { type ApiPorts, sendError } from './api-request.ts';
import { authenticate, checkSource, checkUrl, validKey } from './guards.ts';
import { checkHandshake, type UpgradedConnection } from './web-socket-request.ts';

export interface SessionCallPorts
  extends Pick<ApiPorts, 'exchange' | 'registry' | 'snapshot' | 'admission' | 'reportError'> {
  cassettes: CassetteSource;
}

export function openSession(
  ports: SessionCallPorts,
  request: IncomingMessage,
  connection: UpgradedConnection,
): Session {
  const { exchange, cassettes } = ports;
  const session = new Session({ ...exchange, cassettes }, new ApiSessionDoor(ports, request, connection));
  connection.response.once('close', () => session.clientLeft());
  return session;
}

class ApiSessionDoor implements SessionDoor {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly location: RequestLocation;
  readonly snapshot: Snapshot;
  readonly trace: RequestTrace;
  readonly handOver: UpgradedConnection['handOver'];
  readonly #ports: SessionCallPorts;

  constructor(ports: SessionCallPorts, request: IncomingMessage, connection: UpgradedConnection) {
    this.#ports = ports;
    this.request = request;
    this.response = connection.response;
    this.handOver = (take) => connection.handOver(take);
    this.location = ports.registry.locate(request.url ?? '/', request.headers);
    this.snapshot = ports.snapshot();
    const presentedKeys = this.location.api.readKeys(request.headers, this.location.query);
    this.trace = new RequestTrace('GET', presentedKeys, configuredSecrets(this.snapshot).distinct);
  }

  checkSender(): void {
    const { headers } = this.request;
    checkSource(headers, this.snapshot.source);
    checkUrl(this.request.url);
    checkHops(headers);
  }

  findRoute(): RouteMatch {
    return this.#ports.registry.find('GET', this.location);
  }

  member(at: 'handshake' | 'now'): Member {
    const snapshot = at === 'now' ? this.#ports.snapshot() : this.snapshot;
    const key = authenticate(snapshot, this.trace.presentedKeys[0], Date.now());
    const group = snapshot.groupOf(key);
    if (!group) throw new GatewayError('internal', `Key "${key.id}" refers to a group that does not exist.`);
    return { key, group };
  }

  validKey(at: 'handshake' | 'now'): CompiledKey | null {
    return at === 'now'
      ? validKey(this.#ports.snapshot(), this.trace.presentedKeys[0], Date.now())
      : validKey(this.snapshot, this.trace.presentedKeys[0], this.trace.startedAt);
  }

  checkHandshake(): void {
    checkHandshake(this.request.headers);
  }

  enter(key: CompiledKey): MaybePromise<Permit> {
    return this.#ports.admission.enter(key, this.response);
  }

  refuse(error: GatewayError): LocalReply | null {
    const { id: requestId, secrets } = this.trace;
    return sendError(this.request, this.response, { error, api: this.location.api, requestId, secrets });
  }
}
