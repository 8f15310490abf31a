import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Usage } from '../contract/ledger.ts';
import type { StoredPiece } from '../exchange/answer/local-reply.ts';
import type { CassetteRequest, Recording } from '../exchange/cassette/cassette-companion.ts';
import { encodingsOf } from '../exchange/readers/encodings.ts';
import type { Headers } from '../exchange/record/response-taps.ts';
import type { Redactor } from '../exchange/redact/redactor.ts';
import { finishInSlices } from '../ground/promises.ts';
import { formatVersion, type RecordedExchange, type RecordedRequest, type RecordedResponse } from './format.ts';
import { packBody, packHead } from './response-part.ts';

/** Larger answers are not recorded, because cassettes are read by people and stored with source code. */
export const maxRecordedBytes = 64 * 1024 * 1024;

interface RecordingOptions {
  incoming: Pick<CassetteRequest, 'id' | 'keepAlive'>;
  request: RecordedRequest;
  redactor: Redactor;
  /** On the scale of `performance.now()`. */
  startMs: number;
  /** Called once, with the reason if there is no exchange to store. */
  ended(exchange: Promise<RecordedExchange> | 'unanswered' | 'too-large'): void;
}

/** Collects the answer of one request as its client receives it. */
export class ExchangeRecording implements Recording {
  readonly #options: RecordingOptions;
  #head: { status: number; headers: Headers } | null = null;
  #pieces: StoredPiece[] = [];
  #bytes = 0;

  constructor(options: RecordingOptions) {
    this.#options = options;
  }

  begin(status: number, headers: Headers): void {
    this.#head = { status, headers };
  }

  take(bytes: Buffer): void {
    // Keep-alive comments are not recorded, because their timing depends on the machine.
    if (bytes === this.#options.incoming.keepAlive || bytes.length === 0) return;
    this.#bytes += bytes.length;
    if (this.#bytes > maxRecordedBytes) this.#pieces = [];
    else
      this.#pieces.push({ afterMs: Math.round(performance.now() - this.#options.startMs), bytes: Buffer.from(bytes) });
  }

  end(ending: RecordedResponse['ended'], usage: Usage | null): boolean {
    const { ended } = this.#options;
    if (!this.#head || this.#bytes > maxRecordedBytes) {
      ended(this.#head ? 'too-large' : 'unanswered');
      return false;
    }
    ended(this.#packed(this.#head, ending, usage));
    return true;
  }

  /** In slices, since secrets are sought in all of it. */
  async #packed(
    head: { status: number; headers: Headers },
    ended: RecordedResponse['ended'],
    usage: Usage | null,
  ): Promise<RecordedExchange> {
    const { request, redactor, incoming } = this.#options;
    const packed = packHead(head, incoming.id, redactor);
    const pieces = unpackPieces(this.#pieces, head.headers);
    const body = await finishInSlices(packBody(packed.headers['content-type'], pieces, redactor));
    return {
      version: formatVersion,
      request,
      response: { ...packed, ended, body },
      usage: usage && { ...usage },
    };
  }
}

const unpack = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync };

/** Decompresses the body, so that people and the redactor can read it. A damaged body stays as it is. */
function unpackPieces(pieces: readonly StoredPiece[], headers: Headers): readonly StoredPiece[] {
  const encodings = encodingsOf(headers);
  const [first] = pieces;
  if (encodings.length === 0 || !first) return pieces;
  try {
    let bytes: Buffer = Buffer.concat(pieces.map((piece) => piece.bytes));
    for (const encoding of encodings.toReversed())
      bytes = unpack[encoding](bytes, { maxOutputLength: maxRecordedBytes });
    return [{ afterMs: first.afterMs, bytes }];
  } catch {
    return pieces;
  }
}
