import { differingFailure, type Failure, fleetingFailure } from '../routing/classify-failure.ts';
import { isProse } from '../wire/openai/judge-whole.ts';
import { isEventStream } from './client-headers.ts';
import { DownloadedReply } from './readers/download-reader.ts';
import { RefusedReply } from './readers/error-reader.ts';
import { StreamedReply } from './readers/events-reader.ts';
import type { AttemptHost, ReplyBody } from './readers/response-reader.ts';
import { maxHeldBytes, WholeReply } from './readers/whole-reader.ts';
import { ChatSplice } from './rescue/chat-splice.ts';
import type { ChatSoFar } from './rescue/chat-text.ts';
import type { Download } from './rescue/download.ts';
import { ResponseSplice } from './rescue/response-splice.ts';
import type { ResponseSoFar } from './rescue/response-text.ts';
import { type Splice, SplicedReply } from './rescue/spliced-events-reader.ts';
import type { StreamText } from './rescue/stream-text.ts';

/** What has to be known of a request to read a stream for it. */
export interface StreamNeeds {
  isStreamAsked: boolean;
  /** Asked for, or in words that only some servers take for a yes. */
  isStreamFit: boolean;
  /** How many answers a chat stream brings beside one another. */
  choices: number;
  /** Usage was asked for by Sluice alone and has to be taken out again. */
  stripUsage: boolean;
  /** Keeps what the client has of a stream of text; null where no other target is to go on with it. */
  text: StreamText | null;
  /** The client has the beginning of an answer, and this attempt is for the rest. */
  rest: WantedRest | null;
  /** Null where the rest of a file that breaks off is not to be asked for. */
  download: Download | null;
}

export interface WantedRest {
  soFar: ChatSoFar | ResponseSoFar;
  /** The target is asked to go on from what the client has, rather than for the whole. */
  isContinuation: boolean;
  /** Told what the target calls its answer, before any of it is sent on. */
  foundAs(upstreamId: string): void;
}

type ChosenBody =
  | { kind: 'stream' | 'other'; body: ReplyBody }
  /** The reply is of no use. `what` follows "Provider … ". */
  | { kind: 'none'; what: string; failure: Failure };

/** Who reads the body of a reply whose status and headers are here. */
export function chooseBody(host: AttemptHost, needs: StreamNeeds): ChosenBody {
  const { route } = host;
  const { choices, stripUsage, text, rest, download } = needs;
  if (host.status >= 400) return { kind: 'other', body: new RefusedReply(host) };
  if (isBare(host))
    return { kind: 'none', what: `answered with status ${host.status} alone`, failure: fleetingFailure };
  if (isProse(host)) return { kind: 'none', what: 'answered with a page of text', failure: fleetingFailure };
  if (download?.isUnderWay && !download.continues(host)) return otherFile;
  if (download?.isUnderWay || download?.begins(host, maxHeldBytes)) {
    return { kind: 'other', body: new DownloadedReply(host, download) };
  }
  if (!isEventStream(host.headers)) return { kind: 'other', body: new WholeReply(host) };
  if (!route.stream || !mayStream(host, needs)) return unaskedStream;
  const body =
    text && rest
      ? new SplicedReply(host, { text, splice: spliceFor(rest, stripUsage), foundAs: rest.foundAs })
      : new StreamedReply(host, { protocol: route.stream, choices, stripUsage, text });
  return { kind: 'stream', body };
}

/** A status that says that nothing follows it, or that it is elsewhere and not where. */
function isBare({ status, method }: AttemptHost): boolean {
  if (status === 204 || status === 205) return method !== 'DELETE';
  return status >= 300 && (status !== 304 || method === 'POST');
}

/** Speech is asked for as a stream in a way of its own, and what is asked for by GET in the query. */
function mayStream({ route, method }: AttemptHost, { isStreamFit }: StreamNeeds): boolean {
  return isStreamFit || route.stream === 'speech' || method === 'GET';
}

const unaskedStream: ChosenBody = {
  kind: 'none',
  what: 'answered with a stream of events, which was not asked for',
  failure: fleetingFailure,
};

const otherFile: ChosenBody = {
  kind: 'none',
  what: 'did not answer with the rest of the file that broke off',
  failure: differingFailure,
};

function spliceFor({ soFar, isContinuation }: WantedRest, stripUsage: boolean): Splice {
  return soFar.kind === 'chat' ? new ChatSplice({ soFar, isContinuation, stripUsage }) : new ResponseSplice(soFar);
}
