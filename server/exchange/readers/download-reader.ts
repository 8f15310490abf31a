import type { TransportError } from '../../transport/transport-error.ts';
import type { Download } from '../rescue/download.ts';
import { brokenBy } from './broken-off.ts';
import type { AttemptHost, ReplyBody } from './response-reader.ts';

/** A file, or the rest of one, that passes as it comes; what is left where it breaks off may be had from another attempt. */
export class DownloadedReply implements ReplyBody {
  readonly #host: AttemptHost;
  readonly #download: Download;

  constructor(host: AttemptHost, download: Download) {
    this.#host = host;
    this.#download = download;
  }

  take(chunk: Buffer): void {
    if (!this.#host.hasBegun && !this.#host.begin()) return;
    this.#download.took(chunk.length);
    this.#host.write(chunk);
  }

  end(): void {
    this.#host.complete();
  }

  fail(error: TransportError): void {
    if (!this.#host.hasBegun) this.#host.failTransport(error);
    else if (this.isComplete()) this.#host.complete();
    else this.#host.giveOver(brokenBy(error));
  }

  isComplete(): boolean {
    return this.#download.isWhole;
  }
}
