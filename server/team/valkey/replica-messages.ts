/** Short messages between replicas, by publish and subscribe. Delivery is not guaranteed, and nothing waits for it. */
import type { CountsConnection } from './counts-connection.ts';
import type { LinkError, ValkeyLink } from './valkey-link.ts';

interface MessagePorts {
  link: Pick<ValkeyLink, 'publish' | 'subscribe'>;
  connection: Pick<CountsConnection, 'isUp' | 'serverMs'>;
  /** This replica's id. */
  replica: string;
  /**
   * Valkey's database number. It is part of the channel because publishing ignores databases, and each database may
   * have other replicas.
   */
  database: number;
  log: { warn(fields: object, message: string): void };
}

export class ReplicaMessages {
  readonly #ports: MessagePorts;
  readonly #channel: string;
  readonly #stopListening: () => void;
  #listener: (text: string) => void = () => {};
  #hasTold = false;

  constructor(ports: MessagePorts) {
    this.#ports = ports;
    this.#channel = `sluice:health:${ports.database}`;
    this.#stopListening = ports.link.subscribe(this.#channel, {
      received: (message) => this.#take(message),
      failed: (error) => this.#logOnce(error),
    });
  }

  /** Unix milliseconds by Valkey's clock, as far as it is known. */
  serverMs(): number {
    return this.#ports.connection.serverMs();
  }

  /** Replaces the listener, which is called with the messages of other replicas. */
  onMessage(listener: (text: string) => void): void {
    this.#listener = listener;
  }

  send(text: string): void {
    const { connection, link, replica } = this.#ports;
    if (!connection.isUp) return;
    link.publish(this.#channel, `${replica} ${text}`).catch((error: LinkError) => this.#logOnce(error));
  }

  close(): void {
    this.#stopListening();
  }

  #take(message: string): void {
    const end = message.indexOf(' ');
    if (end !== -1 && message.slice(0, end) !== this.#ports.replica) this.#listener(message.slice(end + 1));
  }

  /** `CountsConnection` reports a lost connection. */
  #logOnce({ problem, message }: LinkError): void {
    if (this.#hasTold || problem !== 'not-permitted') return;
    this.#hasTold = true;
    this.#ports.log.warn(
      { reason: message },
      `Valkey does not let this user exchange the health of providers between replicas: allow +publish, +subscribe and &sluice:*`,
    );
  }
}
