import { errors } from 'undici';

/** Where a call to an upstream was when it failed. */
export type TransportPhase = 'connect' | 'headers' | 'body';

/** What failed: `refused` covers all that kept a connection from standing, but for names, certificates and time. */
export type TransportFault = 'dns' | 'refused' | 'tls' | 'proxy' | 'reset' | 'timeout' | 'malformed' | 'aborted';

/** A call to an upstream that brought no complete HTTP reply. `message` is for a person and holds no secrets. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: TransportFault;
  readonly phase: TransportPhase;

  constructor(fault: TransportFault, phase: TransportPhase, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.phase = phase;
  }
}

const faultByCode: Record<string, [TransportFault, TransportPhase | null]> = {
  ENOTFOUND: ['dns', 'connect'],
  EAI_AGAIN: ['dns', 'connect'],
  ECONNREFUSED: ['refused', 'connect'],
  EHOSTUNREACH: ['refused', 'connect'],
  ENETUNREACH: ['refused', 'connect'],
  EADDRNOTAVAIL: ['refused', 'connect'],
  ETIMEDOUT: ['timeout', 'connect'],
  UND_ERR_HEADERS_TIMEOUT: ['timeout', 'headers'],
  UND_ERR_BODY_TIMEOUT: ['timeout', 'body'],
  UND_ERR_ABORTED: ['aborted', null],
  UND_ERR_DESTROYED: ['aborted', null],
  UND_ERR_CLOSED: ['aborted', null],
  UND_ERR_HEADERS_OVERFLOW: ['malformed', 'headers'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['malformed', 'body'],
  UND_ERR_INVALID_ARG: ['malformed', null],
};

/** Names what undici or the socket reported. */
export function toTransportError(error: unknown, phase: TransportPhase): TransportError {
  if (error instanceof TransportError) return error;
  const cause = firstCause(error);
  const code = cause.code ?? '';
  const known = faultByCode[code];
  // Nobody answers any more on a connection that stood: not the upstream's silence but the way to it.
  if (code === 'ETIMEDOUT' && phase !== 'connect') return new TransportError('reset', phase, cause.message, error);
  if (known) return new TransportError(known[0], known[1] ?? phase, cause.message || code, error);
  if (error instanceof errors.HTTPParserError) return new TransportError('malformed', phase, cause.message, error);
  return new TransportError('reset', phase, cause.message || code || 'the connection broke', error);
}

interface CodedError {
  message: string;
  code?: string | undefined;
}

/** Happy Eyeballs wraps one error per address in an AggregateError; the first says enough. */
function firstCause(error: unknown): CodedError {
  if (error instanceof AggregateError && error.errors.length > 0) return firstCause(error.errors[0]);
  if (error instanceof Error) return { message: error.message, code: 'code' in error ? String(error.code) : undefined };
  return { message: String(error) };
}
