import type { TransportError } from '../../transport/transport-error.ts';
import { brokenBy } from './broken-stream.ts';
import { brokenTransport, type ResponseReader, type Steps } from './response-reader.ts';

/** Passes a response of unknown format as it arrives. If it breaks off, the client's connection is broken too. */
export class PassReader implements ResponseReader {
  #hasBegun = false;

  read(chunk: Buffer): Steps {
    this.#hasBegun = true;
    return [{ kind: 'pass', bytes: chunk }];
  }

  end(): Steps {
    return [{ kind: 'complete' }];
  }

  fail(error: TransportError): Steps {
    return this.#hasBegun ? [{ kind: 'break', error: brokenBy(error), event: null }] : [brokenTransport(error)];
  }
}
