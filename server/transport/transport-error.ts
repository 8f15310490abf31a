import { errors } from 'undici';
import type { ConnectionFault } from '../contract/provider-views.ts';
import { isResourceExhaustion, lookUp } from '../ground/resource-exhaustion.ts';

/** The phase in which a call to an upstream failed. */
export type TransportPhase = 'connect' | 'headers' | 'body';

/**
 * `shortage`: this machine has no descriptors, ports or memory left. `refused` covers all other connection failures except
 * certificates and timeouts.
 */
export type TransportFault = ConnectionFault | 'aborted' | 'shortage';

export interface ShownCertificate {
  /** Null if it names none. */
  issuer: string | null;
  /** SHA-256, in the form `AB:CD:…`. */
  fingerprint: string;
}

/** A call to an upstream that produced no complete HTTP response. `message` is for people and contains no secrets. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly fault: TransportFault;
  readonly phase: TransportPhase;
  /**
   * The upstream closed a connection kept from earlier calls, and sent nothing. As a rule it had closed it before the request
   * arrived.
   */
  isStale = false;
  /** The certificate that the upstream showed and that was not accepted. */
  certificate: ShownCertificate | null = null;
  /** Nothing of the request was sent. */
  isUnsent = false;

  constructor(fault: TransportFault, phase: TransportPhase, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
    this.phase = phase;
  }
}

const faultByCode: Record<string, [TransportFault, TransportPhase | null]> = {
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
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['malformed', null],
  UND_ERR_INVALID_ARG: ['malformed', null],
};

/** Translates an error of undici or of the socket. `problem`: what is wrong with the head of the answer, if anything is. */
export function toTransportError(error: unknown, phase: TransportPhase, problem: string | null = null): TransportError {
  if (error instanceof TransportError) return error;
  if (problem !== null) return new TransportError('malformed', 'headers', problem, error);
  if (isResourceExhaustion(error)) return new TransportError('shortage', phase, firstCause(error).message, error);
  const cause = firstCause(error);
  const code = cause.code ?? '';
  if (cause.syscall === lookUp) return new TransportError('dns', 'connect', cause.message || code, error);
  const fault = faultByCode[code];
  // An established connection got no acknowledgement: the network failed, not the upstream.
  if (code === 'ETIMEDOUT' && phase !== 'connect') return new TransportError('reset', phase, cause.message, error);
  if (fault) return new TransportError(fault[0], fault[1] ?? phase, cause.message || code, error);
  if (error instanceof errors.HTTPParserError) return new TransportError('malformed', phase, cause.message, error);
  return new TransportError('reset', phase, cause.message || code || 'the connection broke', error);
}

interface CodedError {
  message: string;
  code?: string | undefined;
  syscall?: string | undefined;
}

/** Happy Eyeballs wraps one error per address in an AggregateError; the first is sufficient. */
function firstCause(error: unknown): CodedError {
  if (error instanceof AggregateError && error.errors.length > 0) return firstCause(error.errors[0]);
  if (error instanceof Error) {
    const textOf = (name: 'code' | 'syscall') => (name in error ? String(Reflect.get(error, name)) : undefined);
    return { message: error.message, code: textOf('code'), syscall: textOf('syscall') };
  }
  return { message: String(error) };
}
