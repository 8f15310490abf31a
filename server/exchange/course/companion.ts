/**
 * What accompanies a request on its course (`exchange.ts`): features with a room of their own, which `companions.ts` lists.
 * Each may join a request when its key is known. It is then called at the moments of the course, in the order of the list.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestLocation, RouteMatch } from '../../apis/registry.ts';
import type { GatewayError } from '../../contract/errors.ts';
import type { RequestRecord, Reserved } from '../../contract/ledger.ts';
import type { MaybePromise } from '../../ground/promises.ts';
import type { NextAttempt } from '../../routing/attempt-plan.ts';
import type { Member, Snapshot } from '../../routing/snapshot.ts';
import type { BookedJob } from '../../store/rules/rows.ts';
import type { ResponseOutlet } from '../answer/client-response.ts';
import type { LocalReply } from '../answer/local-reply.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { Accounting, AttemptTrace, RequestTrace } from '../record/exchange-trace.ts';
import type { ClientResponseTap } from '../record/response-taps.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';

/** A feature, once for the gateway. */
export interface Companion {
  /** The key of a request is known. Null: the feature does not concern it. */
  admitted(request: AdmittedRequest): MaybePromise<Visit | null>;
}

/** A feature and one request, at the moments of the course. */
export interface Visit {
  /** What is passed through is read as a whole, too. */
  readonly needsWholeBody?: boolean;
  /** No provider will be asked. */
  readonly asksNobody?: boolean;
  /** A body was read, in full or in part, but cannot be used. Its memory may be reused afterwards. */
  unusable?(start: Buffer, isCut: boolean): void;
  /** The body has been read. True: the feature has answered. */
  received?(call: ReceivedCall): MaybePromise<boolean>;
  /** The targets are known, and the request is within its limits. True: the feature has answered. */
  planned?(call: PlannedCall): MaybePromise<boolean>;
  /** An attempt begins. Called for each, in order. */
  sent?(attempt: AttemptTrace, next: NextAttempt): void;
  /** Sluice has answered by itself. */
  replied?(reply: LocalReply, isError: boolean): void;
  /** The client has its answer, or has left. What is noted now becomes part of the request's row. */
  answered?(ending: Ending): void;
  /** The row is written, if the request has one. The body is disposed of after this. */
  ended?(record: RequestRecord, hasRow: boolean): void;
}

export interface AdmittedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly location: RequestLocation;
  readonly snapshot: Snapshot;
  readonly trace: RequestTrace;
  readonly member: Member;
  /** Null if Sluice answers by itself. */
  readonly match: RouteMatch | null;
  /** What observes the client's response. */
  readonly taps: ClientResponseTap[];
  /** What the client's response is written to; null: its socket. */
  outlet: ResponseOutlet | null;
}

export interface ReceivedCall {
  readonly match: RouteMatch;
  readonly body: RequestBody;
  readonly memory: OutgoingCall['memory'];
  hasLeft(): boolean;
  /** Reads a body that Sluice has put together, to be used instead. */
  readJson(bytes: Buffer, continuesId: string | undefined): MaybePromise<RequestBody>;
  replaceBody(body: RequestBody): void;
  /** Who is to be told if the client leaves, or Sluice shuts down, while this feature looks for an answer and sends it. */
  answeredBy(answerer: Answerer): void;
  /** Answers with this. */
  reply(answer: object): true;
}

export interface PlannedCall {
  readonly plan: CallPlan;
  readonly call: OutgoingCall;
  /** Of the limits; null if there are none. */
  readonly reserved: Reserved | null;
  answeredBy(answerer: Answerer): void;
}

/** Whoever is answering a request. */
export interface Answerer {
  clientLeft(): void;
  /** Ends the response and tells the client why. False if nothing of it is being sent, so that the caller has to do so. */
  cutOff(error: GatewayError): boolean;
}

/** How a request is about to be recorded. */
export interface Ending {
  accounting: Accounting;
  /** The job whose usage is in the accounting. */
  books?: BookedJob;
}

/** Whether one of the visits has answered. Returns a promise only if one of them does. */
export function oneAnswers(
  visits: readonly Visit[],
  ask: (visit: Visit) => MaybePromise<boolean> | undefined,
  from = 0,
): MaybePromise<boolean> {
  for (let index = from; index < visits.length; index++) {
    const visit = visits[index] as Visit;
    const answering = ask(visit);
    if (answering instanceof Promise)
      return answering.then((hasAnswered) => hasAnswered || oneAnswers(visits, ask, index + 1));
    if (answering) return true;
  }
  return false;
}
