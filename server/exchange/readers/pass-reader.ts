import type { TransportError } from '../../transport/transport-error.ts';
import { brokenBy } from './broken-off.ts';
import { brokenTransport, type ResponseReader, type Steps } from './response-reader.ts';

/** An answer that nobody here knows the form of: it passes as it comes, and where it breaks off, so does the client's connection. */
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
