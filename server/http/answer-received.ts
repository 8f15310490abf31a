/**
 * Answers a request whose body has been read: with a fault on purpose, a recording, something that Sluice has stored, or
 * by an exchange with providers.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { withSegment } from '../apis/core/requests/segments.ts';
import type { RequestLocation, RouteMatch } from '../apis/registry.ts';
import { estimatedTokenCount, tokenCountPlan } from '../exchange/attempts/token-count.ts';
import type { CassetteDeck } from '../exchange/cassette/cassette-deck.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { passableHeaders } from '../exchange/outgoing/outgoing-headers.ts';
import { outgoingQuery } from '../exchange/outgoing/outgoing-request.ts';
import type { CallPlan } from '../exchange/plan/plan.ts';
import type { RequestTrace } from '../exchange/record/exchange-trace.ts';
import type { OutgoingCall } from '../exchange/request/outgoing-call.ts';
import type { RequestBody } from '../exchange/request/request-body.ts';
import { keptAnswer } from '../exchange/translation/kept-answer.ts';
import type { FaultSwitch } from '../faults/fault-switch.ts';
import type { MaybePromise } from '../ground/maybe-promise.ts';
import type { ResponseStore } from '../store/ports/response-store.ts';
import { ClientGone } from './body/body-faults.ts';
import { type Completing, completed } from './body/continuation-body.ts';
import { sendJson } from './send-json.ts';

export interface AnswerPorts {
  faults: FaultSwitch;
  keptResponses: ResponseStore;
}

interface ReceivedRequest extends Completing {
  request: IncomingMessage;
  response: ServerResponse;
  location: RequestLocation;
  match: RouteMatch;
  /** Null if the key has none. */
  cassette: CassetteDeck | null;
  trace: RequestTrace;
  exchange: Exchange;
  hasLeft(): boolean;
}

/** Resolves when the client has its answer or has left. Throws GatewayError if nothing was sent. */
export async function answerReceived(ports: AnswerPorts, received: ReceivedRequest): Promise<void> {
  const answering = answerInstead(ports, received);
  if (answering instanceof Promise ? await answering : answering) return;
  const { exchange, match, member, location } = received;
  const continuing = completed(ports.keptResponses, received);
  const body = continuing instanceof Promise ? await continuing : continuing;
  const finding = exchange.findJobs(match, member, body, location.query);
  if (finding) await finding;
  const planning = exchange.plan(match, member, body);
  const plan = planning instanceof Promise ? await planning : planning;
  if (received.hasLeft()) throw new ClientGone();
  const counting = match.route.writeTokenCount ? tokenCountPlan(plan, match.route) : plan;
  const count = counting ? null : estimatedTokenCount(received.response, match.route, body);
  if (count) sendAnswer(received, count);
  else await exchange.run(counting ?? plan, outgoingCall(received, body, plan));
}

/** Whether something other than a provider has answered. Returns no promise for a usual request. */
function answerInstead(ports: AnswerPorts, received: ReceivedRequest): MaybePromise<boolean> {
  const mayHaveFaults = ports.faults.concerns(received.request.headers);
  return mayHaveFaults || received.cassette ? answerSimulated(ports, received) : answerStored(ports, received);
}

async function answerSimulated(ports: AnswerPorts, received: ReceivedRequest): Promise<boolean> {
  const { cassette, match, body, exchange, request } = received;
  if (ports.faults.concerns(request.headers) && (await applyFaults(ports.faults, received))) return true;
  if (cassette && (await exchange.replay(cassette, match, body))) return true;
  return answerStored(ports, received);
}

/** Whether the request was answered by a fault on purpose. */
async function applyFaults(faultSwitch: FaultSwitch, received: ReceivedRequest): Promise<boolean> {
  const { chooseFaults, injectFaults } = await import('./inject-faults.ts');
  const { request, response, location, match, member, trace, exchange, body } = received;
  trace.model = match.model ?? body.fields.model;
  const call = { request, response, api: location.api, match, member, trace };
  const faults = chooseFaults(faultSwitch, call);
  if (faults.length === 0) return false;
  const outcome = await injectFaults(faults, call);
  if (received.hasLeft()) throw new ClientGone();
  if (outcome === 'answered') return true;
  exchange.faultInjector = outcome;
  return false;
}

/** Whether the answer was a response that Sluice has stored. */
function answerStored(ports: AnswerPorts, received: ReceivedRequest): MaybePromise<boolean> {
  const { match, member, location } = received;
  const send = (answer: object | null) => answer !== null && sendAnswer(received, answer);
  const storedAnswer = keptAnswer(ports.keptResponses, { match, groupId: member.group.id, query: location.query });
  return storedAnswer instanceof Promise ? storedAnswer.then(send) : send(storedAnswer);
}

function sendAnswer({ response, trace, exchange }: ReceivedRequest, answer: object): true {
  exchange.answered(sendJson(response, answer, trace.id));
  return true;
}

function outgoingCall(received: ReceivedRequest, body: RequestBody, { upstreamId }: CallPlan): OutgoingCall {
  const { match, member, request, location, trace, memory } = received;
  const { path, query } = location;
  return {
    match,
    group: member.group,
    body,
    memory,
    headers: passableHeaders(request.headers, trace.secrets),
    path: match.id !== null && upstreamId ? withSegment(path, match.openSegment, upstreamId) : path,
    query: outgoingQuery(query, trace.secrets),
  };
}
