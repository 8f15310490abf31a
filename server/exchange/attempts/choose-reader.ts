import type { IncomingMessage } from 'node:http';
import { isUnexpectedText } from '../../apis/core/errors/read-whole.ts';
import type { Failure } from '../../apis/core/failure.ts';
import type { Route } from '../../apis/core/route.ts';
import type { PartialText, StreamText } from '../../apis/core/stream-text.ts';
import { framingOf } from '../../apis/core/streams/sse-framing.ts';
import type { Wire } from '../../apis/core/wire.ts';
import { differingFailure } from '../../routing/classify-failure.ts';
import { isEventStream } from '../answer/client-headers.ts';
import type { CallPlan } from '../plan/plan.ts';
import type { Download } from '../readers/download.ts';
import { DownloadReader } from '../readers/download-reader.ts';
import type { Streamed } from '../readers/error-event.ts';
import { ErrorReader } from '../readers/error-reader.ts';
import { EventsReader } from '../readers/events-reader.ts';
import { PassReader } from '../readers/pass-reader.ts';
import type { FailureReason, RequestFacts, ResponseHead, ResponseReader } from '../readers/response-reader.ts';
import { SplicedEventsReader } from '../readers/spliced-events-reader.ts';
import { maxHeldBytes, WholeReader } from '../readers/whole-reader.ts';
import type { OutgoingCall } from '../request/outgoing-call.ts';
import type { RequestBody } from '../request/request-body.ts';
import type { PreparedRequest } from '../translation/request-translation.ts';

/** What a reader of streams needs to know about the request. */
export interface StreamNeeds {
  /**
   * The client asked for a stream, possibly with a value that Pydantic, and so vLLM, reads as true: `"stream": "true"`
   * (docs.pydantic.dev, "Booleans").
   */
  isStreamFit: boolean;
  /** How many choices or images a stream carries in parallel. */
  answers: number;
  /** Only Sluice asked for usage, so it has to be removed again. */
  stripUsage: boolean;
  /** Collects what the client has of a text stream; null if no other target may continue it. */
  text: StreamText | null;
  /** Set if the client has the beginning of an answer and this attempt is for the rest. */
  rest: MissingRest | null;
  /** Null if the rest of a broken download cannot be requested. */
  download: Download | null;
}

export interface MissingRest {
  soFar: PartialText;
  /** The target is asked to continue from what the client has rather than for the whole answer. */
  isContinuation: boolean;
  /** Called with the target's id of the answer before any of it is sent on. */
  foundAs(upstreamId: string): void;
}

/** `route`: of the upstream's API, which is another than the client's if there is a translation. */
export function requestFactsOf(
  body: RequestBody,
  route: Route,
  method: string = route.method,
  { translation, hosting }: Partial<Pick<PreparedRequest, 'translation' | 'hosting'>> = {},
): RequestFacts {
  const { request } = route.wire;
  const isTranslated = Boolean(translation);
  return {
    route,
    method,
    isStreamAsked: body.fields.stream && route.stream !== null,
    isTextAsked: request.isTextAsked(body),
    isTranslated,
    errorBody: hosting?.hosted.errorBody,
    isBackground: !isTranslated && route.job !== null && request.isBackground(body),
    tellsOutcome: !isTranslated && route.job !== null && (method === 'GET' || request.isBackground(body)),
    isKept: !isTranslated && route.job !== null && (body.fields.store || request.isBackground(body)),
  };
}

/** Only a single text can be assembled from two streams: one choice, and only on some routes. */
export function mayBeRescued(plan: CallPlan, call: OutgoingCall): boolean {
  const { match, body } = call;
  return mayTranslatedBeRescued(plan, call) && match.route.wire.request.isOneText(body);
}

/** A translated answer is always a single one; what it contains decides whether it can be continued. */
export function mayTranslatedBeRescued({ targets }: CallPlan, { group, match, body }: OutgoingCall): boolean {
  const { rescue, retries } = group.policy;
  if (rescue === 'off' || !body.fields.stream || (targets.length === 1 && retries === 0)) return false;
  return match.route.job === null || match.route.job.behaviour === 'creates';
}

/** Only the rest of a file can be requested by its offset. */
export function mayBeResumed({ group, match }: OutgoingCall, { method }: IncomingMessage): boolean {
  return match.route.content && match.passthrough === null && method === 'GET' && group.policy.rescue === 'resume';
}

type ReaderChoice =
  | { kind: 'stream' | 'error' | 'other'; reader: ResponseReader }
  /** The response is unusable. */
  | { kind: 'none'; reason: FailureReason };

/** Chooses the reader for the body of a response with this status and these headers. */
export function chooseReader(facts: RequestFacts, head: ResponseHead, needs: StreamNeeds): ReaderChoice {
  const { download } = needs;
  if (head.status >= 400) return { kind: 'error', reader: new ErrorReader(facts, head) };
  // A deletion has succeeded whatever its answer says: OpenAI's API describes none, and answers in several forms.
  const isDeleted = facts.method === 'DELETE' && head.status < 300;
  if (facts.route.body === 'passed' || isDeleted) return { kind: 'other', reader: new PassReader() };
  if (isBare(facts, head)) return uselessAnswer(`answered with status ${head.status} alone`);
  if (isUnexpectedText({ ...facts, wire: facts.route.wire, headers: head.headers }))
    return uselessAnswer('answered with a page of text');
  if (download?.isUnderWay && !download.continues(head)) return otherFile;
  if (download?.isUnderWay || download?.begins(head, maxHeldBytes)) {
    return { kind: 'other', reader: new DownloadReader(download) };
  }
  if (!isEventStream(head.headers, framingOf(facts.route)))
    return { kind: 'other', reader: new WholeReader(facts, head) };
  const { stream } = facts.route;
  if (!stream || !mayStream(facts, needs)) return unrequestedStream;
  const { tellsOutcome, isBackground, isTranslated } = facts;
  const streamed = { format: stream, headers: head.headers, tellsOutcome, isBackground, isTranslated };
  return { kind: 'stream', reader: eventsReader(facts.route.wire, streamed, needs) };
}

function eventsReader({ rescue }: Wire, streamed: Streamed, needs: StreamNeeds): ResponseReader {
  const { answers, stripUsage, text, rest } = needs;
  if (!text || !rest || !rescue) return new EventsReader({ ...streamed, answers, stripUsage, text });
  const splice = rescue.openSplice(rest.soFar, { isContinuation: rest.isContinuation, stripUsage });
  return new SplicedEventsReader({ ...streamed, text, splice });
}

/** Whether the response has no body, or is a redirect without a location. */
function isBare({ method }: RequestFacts, { status }: ResponseHead): boolean {
  if (status === 204 || status === 205) return true;
  return status >= 300 && (status !== 304 || method === 'POST');
}

/** A speech stream is requested by another field, and one by GET in the query. */
function mayStream({ route, method }: RequestFacts, { isStreamFit }: StreamNeeds): boolean {
  return isStreamFit || route.stream?.isDecidedByResponse === true || method === 'GET';
}

/** `problem` completes the sentence "Provider … ". */
function uselessAnswer(problem: string, failure?: Failure): ReaderChoice {
  return { kind: 'none', reason: { kind: 'damage', problem, ...(failure && { failure }) } };
}

const unrequestedStream = uselessAnswer('answered with a stream of events, which was not asked for');
const otherFile = uselessAnswer('did not answer with the rest of the file that broke off', differingFailure);
