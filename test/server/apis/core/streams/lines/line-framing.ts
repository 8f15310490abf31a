import type { EventGate, Framing, GateOptions } from '../../../../../../server/apis/core/framing.ts';
import { isObject } from '../../../../../../server/contract/is-object.ts';

const lineFeed = 0x0a;
const maxHeldBytes = 64 * 1024;

/** Lets whole lines through. */
class LineGate implements EventGate {
  insideEvent = false;
  readonly #write: (bytes: Buffer) => void;
  readonly #options: GateOptions;
  #rest = Buffer.alloc(0);

  constructor(write: (bytes: Buffer) => void, options: GateOptions) {
    this.#write = write;
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#rest, chunk]);
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed)) {
      this.#send(bytes.subarray(0, end + 1));
      bytes = bytes.subarray(end + 1);
    }
    this.#rest = bytes;
    if (!this.insideEvent && bytes.length > maxHeldBytes) this.#options.filter(bytes, false);
    this.insideEvent ||= bytes.length > maxHeldBytes;
    if (this.insideEvent) this.#write(this.takeRest());
  }

  takeRest(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  #send(line: Buffer): void {
    const { filter } = this.#options;
    const passing = this.insideEvent ? line : filter(line, true);
    this.insideEvent = false;
    if (passing) this.#write(passing);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One JSON object per line. */
export const lineFraming: Framing = {
  contentType: 'application/x-ndjson',
  isStream: (contentType) => contentType.startsWith('application/x-ndjson'),
  openGate: (write, options) => new LineGate(write, options),
  readEvent: (line) => {
    const data = line.toString().trim();
    const value = parse(data);
    return value === undefined ? null : { name: '', data, value };
  },
  mayBeContent: () => true,
  readPartialEvent: () => ({ name: '', data: '', value: {} }),
  isKeepAlive: (line) => line.toString().trim() === '',
  kindOfRest: (rest, event) => (isObject(event?.value) ? 'event' : rest.length > 0 ? 'piece' : 'nothing'),
  beginsLikeAnEvent: () => false,
  keepAlive: Buffer.from('\n'),
};
