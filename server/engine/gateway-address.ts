/** Where a gateway listens, and where people and programs reach it. */
import { baseUrlAt, reachableOrigin } from '../contract/address.ts';
import { GatewayError } from '../contract/errors.ts';
import type { ListeningServer } from '../http/server.ts';
import { hostAndPort } from '../routing/compile.ts';
import type { TeamPorts } from './ports.ts';

/** Before it listens it has no address, and what asks for one throws. */
export class GatewayAddress {
  /** Hosts with ports at which a provider would be Sluice itself. */
  readonly own = new Set<string>();
  readonly #publicOrigin: string | undefined;
  #server: ListeningServer | null = null;

  constructor(people: TeamPorts['people']) {
    this.#publicOrigin = people?.publicOrigin;
  }

  /** Null before it listens. */
  get server(): ListeningServer | null {
    return this.#server;
  }

  listens(server: ListeningServer): void {
    this.#server = server;
    this.own.add(`127.0.0.1:${server.port}`);
    this.own.add(hostAndPort(new URL(this.origin())));
  }

  origin(): string {
    const local = this.#local();
    return this.#publicOrigin ?? local;
  }

  baseUrl(): string {
    return baseUrlAt(this.origin());
  }

  view(): { baseUrl: string | null; listensAt: string | null } {
    return this.#server ? { baseUrl: this.baseUrl(), listensAt: this.#local() } : { baseUrl: null, listensAt: null };
  }

  #local(): string {
    if (this.#server === null) throw new GatewayError('shutting_down', 'Sluice does not listen, so it has no address.');
    return reachableOrigin(this.#server);
  }
}
