import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { Framing } from '../framing.ts';
import type { Route } from '../route.ts';
import { isKeepAlive, readEvent, readPartialEvent } from '../sse-event.ts';
import { kindOfRest } from './rest-of-stream.ts';
import { SseGate } from './sse-gate.ts';

const eventStreamType = boundedPattern(/^text\/event-stream\b/i);
/** `data: ping` and an empty `data:` say nothing; JSON that cannot be parsed has lost something. */
const damagedJson = boundedPattern(/^data: ?\s*[{["]/m);
/** Other fields may come before the data. */
const headBytes = 4 * 1024;
const fieldOrComment = boundedPattern(/^(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:/);

/** Server-sent events. */
export const sseFraming: Framing = {
  contentType: 'text/event-stream; charset=utf-8',
  isStream: (contentType) => eventStreamType.test(contentType),
  openGate: (write, options) => new SseGate(write, options),
  readEvent: (event) => readEvent(event.toString('utf8')),
  mayBeContent: (event) => damagedJson.test(event.toString('latin1', 0, headBytes)),
  readPartialEvent,
  isKeepAlive,
  kindOfRest,
  /** Events begin with a field or a comment. */
  beginsLikeAnEvent: (bytes) => fieldOrComment.test(bytes.toString('latin1', 0, 64)),
  keepAlive: Buffer.from(': keep-alive\n\n'),
};

/** The framing of streams of this route; server-sent events if it has none. */
export function framingOf({ stream }: Route): Framing {
  return stream?.framing ?? sseFraming;
}
