/**
 * A long file on its way to the client: how to request the rest if it breaks off, and how to verify that a response is
 * the rest of the same file (RFC 9110, sections 13.1.5 and 14). Spans all attempts of the request.
 */
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import type { ResponseHeaders } from '../../transport/transport.ts';
import type { TransportError } from '../../transport/transport-error.ts';
import { brokenBy, brokenTransport, type ResponseReader, type Steps } from '../readers/response-reader.ts';

interface FileResponse {
  status: number;
  headers: ResponseHeaders;
}

/** The range of a file that a response contains, both ends included. */
interface FilePart {
  first: number;
  last: number;
  totalBytes: number;
}

export class Download {
  #part: FilePart | null = null;
  /** The strong validator of this version of the file (RFC 9110, section 8.8). */
  #validator = '';
  #passedBytes = 0;

  /** The client has the beginning. */
  get isUnderWay(): boolean {
    return this.#passedBytes > 0;
  }

  /** The client has the whole file. */
  get isWhole(): boolean {
    const rest = this.#rest();
    return rest !== undefined && rest.first > rest.last;
  }

  /** This is the file. False if the rest could not be requested, or the file is too short for that. */
  begins(response: FileResponse, minBytes: number): boolean {
    const part = partOf(response);
    const validator = strongValidator(response.headers);
    if (!part || validator === null || part.last - part.first < minBytes) return false;
    this.#part = part;
    this.#validator = validator;
    return true;
  }

  /** Headers that request the rest; undefined if nothing has been passed on yet. */
  restHeaders(): Record<'range' | 'if-range', string> | undefined {
    const rest = this.#rest();
    return rest && { range: `bytes=${rest.first}-${rest.last}`, 'if-range': this.#validator };
  }

  /** Whether a response is exactly the part that the client lacks. */
  continues({ status, headers }: FileResponse): boolean {
    const rest = this.#rest();
    const part = status === 206 ? partOf({ status, headers }) : null;
    if (!rest || !part) return false;
    const stated = this.#validator.startsWith('"') ? headers.etag : headers['last-modified'];
    const isSameFile = (stated === undefined || stated === this.#validator) && part.totalBytes === rest.totalBytes;
    return isSameFile && part.first === rest.first && part.last === rest.last;
  }

  /** So many more bytes have been passed on to the client. */
  passed(bytes: number): void {
    this.#passedBytes += bytes;
  }

  #rest(): FilePart | undefined {
    const part = this.isUnderWay ? this.#part : null;
    return part ? { ...part, first: part.first + this.#passedBytes } : undefined;
  }
}

/** Passes a file, or the rest of one, as it arrives. If it breaks off, another attempt may fetch the rest. */
export class DownloadReader implements ResponseReader {
  readonly #download: Download;
  #hasBegun = false;

  constructor(download: Download) {
    this.#download = download;
  }

  read(chunk: Buffer): Steps {
    this.#hasBegun = true;
    this.#download.passed(chunk.length);
    return [{ kind: 'pass', bytes: chunk }];
  }

  end(): Steps {
    return [{ kind: 'complete' }];
  }

  fail(error: TransportError): Steps {
    if (!this.#hasBegun) return [brokenTransport(error)];
    return [this.isComplete() ? { kind: 'complete' } : { kind: 'hand-over', error: brokenBy(error) }];
  }

  isComplete(): boolean {
    return this.#download.isWhole;
  }
}

/** Null unless the response states its range, its length agrees with it, and its bytes are not encoded. */
function partOf({ status, headers }: FileResponse): FilePart | null {
  const encoding = headers['content-encoding'];
  const bytes = Number(headers['content-length'] ?? Number.NaN);
  if (!(bytes > 0) || (encoding !== undefined && encoding !== 'identity')) return null;
  if (status === 200) {
    return headers['accept-ranges'] === 'bytes' ? { first: 0, last: bytes - 1, totalBytes: bytes } : null;
  }
  const range = status === 206 && contentRange.exec(String(headers['content-range']));
  if (!range) return null;
  const [first, last, totalBytes] = [Number(range[1]), Number(range[2]), Number(range[3])];
  return last - first + 1 === bytes ? { first, last, totalBytes } : null;
}

const contentRange = boundedPattern(/^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/);

/** The ETag if it is strong; otherwise Last-Modified if it is at least a second older than the response. */
function strongValidator({ etag, date, 'last-modified': modified }: ResponseHeaders): string | null {
  if (typeof etag === 'string') return etag.startsWith('"') ? etag : null;
  if (typeof modified !== 'string' || typeof date !== 'string') return null;
  return Date.parse(date) - Date.parse(modified) >= 1_000 ? modified : null;
}
