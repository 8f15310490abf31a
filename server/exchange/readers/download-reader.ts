import type { TransportError } from '../../transport/transport-error.ts';
import { brokenBy } from './broken-stream.ts';
import type { Download } from './download.ts';
import { brokenTransport, type ResponseReader, type Steps } from './response-reader.ts';

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
