import type { AttemptHost } from '../../server/exchange/readers/response-reader.ts';
import { findRoute, type InferenceRoute } from '../../server/wire/routes.ts';

/** An attempt that nobody disputes. */
export class UndisputedHost implements AttemptHost {
  readonly status = 200;
  readonly headers = {};
  readonly method = 'POST';
  readonly isStreamAsked = true;
  readonly isTextAsked = false;
  readonly route: InferenceRoute;
  hasBegun = false;
  isOver = false;
  written: Buffer[] = [];
  dropped = 0;
  progress = 0;
  /** How it ended. */
  ended = '';
  /** The latest that it was told of a damage. */
  what = '';

  constructor(path = '/chat/completions') {
    this.route = findRoute('POST', path).route;
  }

  begin() {
    this.hasBegun = true;
    return true;
  }
  write(bytes: Buffer) {
    this.written.push(Buffer.from(bytes));
  }
  complete(last?: Buffer) {
    if (last) this.write(last);
    this.end('complete');
  }
  end(how: string) {
    this.isOver = true;
    this.ended = how;
  }
  completeWithError = () => this.end('error');
  refuse = () => this.end('refused');
  damaged = (what: string) => {
    this.what = what;
    this.end('damaged');
  };
  failTransport = () => this.end('failed');
  breakOff = () => this.end('broken');
  giveOver = () => this.end('given over');
  diverged = () => this.end('diverged');
  contentCame() {}
  progressed() {
    this.progress++;
  }
  awaitContent() {}
  passAsStream() {
    return false;
  }
  readAsStream() {}
  callJson() {}
  insideEvent() {}
  droppedEvent() {
    this.dropped++;
  }
}
