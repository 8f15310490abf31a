/** One attempt to open a session: opens a dedicated connection, then performs the handshake over it. Both can be aborted. */
import type { Socket } from 'node:net';
import type { AttemptTimeouts } from '../../routing/compile-timeouts.ts';
import type { Transport } from '../../transport/transport.ts';
import { TransportError } from '../../transport/transport-error.ts';
import { type HandshakeAnswer, openUpstream } from './open-upstream.ts';

interface Address {
  /** `https://api.openai.com` */
  origin: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  /** `system`, `direct` or a proxy's URL. */
  proxy: string;
  timeouts: AttemptTimeouts;
}

export class UpstreamHandshake {
  readonly #transport: Pick<Transport, 'connect'>;
  readonly #onSending: () => void;
  readonly #aborted = Promise.withResolvers<never>();
  #connection: Socket | undefined;

  /** `onSending`: called once the connection is established. */
  constructor(transport: Pick<Transport, 'connect'>, onSending: () => void) {
    this.#transport = transport;
    this.#onSending = onSending;
  }

  /** Call only once. Rejects with a TransportError. */
  async run({ origin, path, headers, proxy, timeouts }: Address): Promise<HandshakeAnswer> {
    const connecting = this.#transport.connect({ origin, proxy, timeouts });
    try {
      this.#connection = await Promise.race([connecting, this.#aborted.promise]);
    } catch (error) {
      connecting.then((socket) => socket.destroy()).catch(() => {});
      throw error;
    }
    this.#onSending();
    return openUpstream(this.#connection, { origin, path, headers, answerMs: timeouts.firstByteMs });
  }

  /** Call only before `run` settles. */
  abort(): void {
    this.#aborted.reject(new TransportError('aborted', 'connect', 'the client disconnected'));
    this.#connection?.destroy();
  }
}
