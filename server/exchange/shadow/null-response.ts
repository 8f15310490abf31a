import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** A socket that discards everything written to it. */
class NullSocket extends Socket {
  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done();
  }

  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }

  override _final(done: () => void): void {
    done();
  }
}

/** A response that is discarded. */
export function nullResponse(request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(new NullSocket());
  return response;
}
