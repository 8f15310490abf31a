/**
 * Captured requests: the headers and bodies that Sluice keeps while capture is on, and the reasons why something was
 * not kept.
 */

/**
 * Why a request is captured: its group or key has `capture` on, capture was switched on for some minutes
 * (`capture.start`), its client sent `x-sluice-capture: on`, or an earlier version compared it with a shadow.
 */
export const captureCauses = ['group', 'key', 'timed', 'header', 'shadow'] as const;
export type CaptureCause = (typeof captureCauses)[number];

/** Why a body is missing or incomplete. */
const captureGaps = [
  /** Longer than `settings.capture.maxBytes`; its beginning is kept. */
  'too-long',
  /** It broke off; the part that arrived is kept. */
  'incomplete',
  /** The request was refused before its body was read, or the response is a redirect. */
  'unread',
  /** A form with files, which is spooled to disk instead of being held in memory. */
  'upload',
  /** A passthrough body, which is relayed without being held in memory. */
  'relayed',
  /** Compressed, so that secrets could not be found and removed. */
  'compressed',
  /** An attempt's body that is byte for byte the client's: see `request` or `response` of the whole exchange. */
  'as-client',
  /** Nothing was sent: the attempt ended before, or the client disconnected before its response began. */
  'not-sent',
  /** Nothing arrived. */
  'no-response',
  /** Sluice answered by itself, such as with its list of models. */
  'own-answer',
  /** Captured by an older version of Sluice, which did not keep this. */
  'older-version',
] as const;
export type CaptureGap = (typeof captureGaps)[number];

/** Why nothing is kept for a request. */
const captureAbsences = [
  /** Capture was off. */
  'off',
  /** It was in memory only, where newer ones have taken its place. */
  'displaced',
  /** The request is still running. */
  'running',
  /** It was kept, but for longer than `settings.capture.retentionDays`, or newer ones needed its room. */
  'expired',
  /** It could not be written, because the process or the disk failed. */
  'lost',
  /** A realtime session, whose messages are never kept. */
  'session',
  /** Recorded by an older version of Sluice, which did not note whether capture was on. */
  'unknown',
] as const;
export type CaptureAbsence = (typeof captureAbsences)[number];

/** One entry per header value, with secrets removed. */
export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Secrets are removed from headers and body. */
export interface CapturedMessage<Body> {
  /** Null if there were none, or if they were not kept. */
  headers: HeaderList | null;
  /** Null if there was none, or if it was not kept; in the latter case `gap` is set. */
  body: Body | null;
  /** Length of the body before secrets were removed, even if only its beginning is kept; null if unknown. */
  bytes: number | null;
  /** Null if the whole body is kept, or if there was none. */
  gap: CaptureGap | null;
}

export interface CapturedRequest<Body> extends CapturedMessage<Body> {
  method: string;
  /** The client's path and query, or the attempt's whole URL, without credentials; null if unknown. */
  url: string | null;
}

export interface CapturedResponse<Body> extends CapturedMessage<Body> {
  /** Null if no response arrived. */
  status: number | null;
  /** Only of an event stream whose events came at different times. */
  flow?: EventFlow;
}

/** How many events of a stream arrived when, from its first byte on. What each of them says is not told apart. */
export interface EventFlow {
  /** Length of a step, 100 ms or, of a longer stream, more. */
  stepMs: number;
  /** Of each step. */
  events: readonly number[];
}

/** One attempt as its provider received it. */
export interface CapturedAttempt<Body> {
  request: CapturedRequest<Body>;
  /** Event streams that arrive compressed are kept uncompressed. */
  response: CapturedResponse<Body>;
}

/** A request as its client and its providers saw it. */
export interface CapturedExchange<Body> {
  /** The client's request and what the client received. */
  request: CapturedRequest<Body>;
  response: CapturedResponse<Body>;
  /** In the order of the record's `attempts`; empty if captured by an older version. */
  attempts: readonly CapturedAttempt<Body>[];
}
