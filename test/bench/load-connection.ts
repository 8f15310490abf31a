import net, { type Socket } from 'node:net';
import { MessageReader } from './message-reader.ts';

const receiveBytes = 64 * 1024;

/** The bytes of each answer, or a function that checks its body. */
export type Expected = Buffer | ((body: Buffer) => boolean);

/** A kept-alive connection that repeats the same request and checks each answer. */
export class LoadConnection {
  done = 0;
  errors = 0;
  bytes = 0;
  isBroken = false;
  /** From the last request to the first byte of its answer's body, in microseconds. */
  firstByteUs = 0;
  #socket: Socket | undefined;
  readonly #request: Buffer;
  readonly #expected: Expected;
  /** Kept for checks that need the whole body. */
  #pieces: Buffer[] = [];
  readonly #reader: MessageReader;
  #whenAnswered: (() => void) | undefined;
  #askedMs = 0;
  #offset = 0;
  #isGood = true;

  private constructor(request: Buffer, expected: Expected) {
    this.#request = request;
    this.#expected = expected;
    this.#reader = new MessageReader({
      onHead: (head) => {
        this.#isGood = head.startsWith('HTTP/1.1 200');
      },
      onBody: (bytes) => this.#check(bytes),
      onEnd: () => this.#end(),
    });
  }

  static open(port: number, request: Buffer, expected: Expected): Promise<LoadConnection> {
    const connection = new LoadConnection(request, expected);
    return new Promise((resolve, reject) => {
      const onread = {
        buffer: Buffer.allocUnsafe(receiveBytes),
        callback: (length: number, buffer: Uint8Array) => {
          connection.#reader.push(Buffer.from(buffer.buffer, buffer.byteOffset, length));
          return true;
        },
      };
      const socket = net.connect({ host: '127.0.0.1', port, noDelay: true, onread });
      connection.#socket = socket;
      socket.on('connect', () => resolve(connection));
      socket.on('error', reject);
      socket.on('close', () => connection.#broke());
    });
  }

  /** Sends the request. `whenAnswered` is called once, even if the connection breaks. */
  ask(whenAnswered: () => void): void {
    this.#whenAnswered = whenAnswered;
    this.#offset = 0;
    this.#askedMs = performance.now();
    this.#socket?.write(this.#request);
  }

  answer(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isBroken) resolve();
      else this.ask(resolve);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #check(bytes: Buffer): void {
    if (this.#offset === 0) this.firstByteUs = (performance.now() - this.#askedMs) * 1_000;
    const end = this.#offset + bytes.length;
    const expected = this.#expected;
    if (typeof expected === 'function') this.#pieces.push(Buffer.from(bytes));
    else if (end > expected.length || bytes.compare(expected, this.#offset, end) !== 0) this.#isGood = false;
    this.#offset = end;
  }

  #end(): void {
    this.bytes += this.#offset;
    if (this.#isGood && this.#isWhole()) this.done++;
    else this.errors++;
    this.#pieces = [];
    this.#answered();
  }

  #isWhole(): boolean {
    const expected = this.#expected;
    return typeof expected === 'function' ? expected(Buffer.concat(this.#pieces)) : this.#offset === expected.length;
  }

  #broke(): void {
    this.isBroken = true;
    if (!this.#whenAnswered) return;
    this.errors++;
    this.#answered();
  }

  #answered(): void {
    const whenAnswered = this.#whenAnswered;
    this.#whenAnswered = undefined;
    whenAnswered?.();
  }
}
