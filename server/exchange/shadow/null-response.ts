import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** Takes everything at once and keeps nothing. */
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

/** The response to a request whose answer nobody receives. */
export function nullResponse(request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(new NullSocket());
  return response;
}
