/** Which models clients have asked for, and with which keys. */

import type { ClientUseView } from '../../contract/request-views.ts';
import { number, type Row, text } from './columns.ts';

export interface ClientModelUse {
  /** As in `RequestRecord`. */
  client: string;
  keyId: string | null;
  /** As the client named it. */
  model: string;
  requests: number;
  /** Unix milliseconds. */
  lastUsedAt: number;
}

/** Reads the table expression `asked`, which has the columns of `requests`. */
export function clientModelsSql(asked: string): string {
  return `SELECT client, key_id, model_asked, count(*) AS requests, max(started_at) AS last_used_at FROM ${asked}
    WHERE client IS NOT NULL AND model_asked IS NOT NULL AND shadow_of IS NULL GROUP BY client, key_id, model_asked`;
}

/** Adds up rows of that. */
export class ClientModels {
  readonly #uses: Map<string, ClientModelUse>;

  /** Begins with what another one has added up. */
  constructor(counted?: ClientModels) {
    this.#uses = new Map(counted ? counted.#uses : []);
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const client = text(row.client) ?? '';
      const keyId = text(row.key_id);
      const model = text(row.model_asked) ?? '';
      const name = JSON.stringify([client, keyId, model]);
      const before = this.#uses.get(name);
      this.#uses.set(name, {
        client,
        keyId,
        model,
        requests: (number(row.requests) ?? 0) + (before?.requests ?? 0),
        lastUsedAt: Math.max(number(row.last_used_at) ?? 0, before?.lastUsedAt ?? 0),
      });
    }
  }

  /** Most recently used first, equal ones by name; as many as of `ClientUses`. */
  get list(): ClientModelUse[] {
    return [...this.#uses]
      .sort(([name, use], [otherName, other]) => other.lastUsedAt - use.lastUsedAt || (name < otherName ? -1 : 1))
      .slice(0, mostClientUses)
      .map(([, use]) => use);
  }
}

/** Bounds the result, since clients choose their names. */
export const mostClientUses = 500;

/** Reads the table expression `asked`, which has the columns of `requests`. */
export function clientUsesSql(asked: string): string {
  return `SELECT client, key_id, max(started_at) AS last_used_at FROM ${asked}
    WHERE client IS NOT NULL AND shadow_of IS NULL GROUP BY client, key_id`;
}

/** Adds up rows of that. */
export class ClientUses {
  readonly #latest = new Map<string, ClientUseView>();

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const use = {
        client: text(row.client) ?? '',
        keyId: text(row.key_id),
        lastUsedAt: number(row.last_used_at) ?? 0,
      };
      const name = nameOf(use);
      const latest = this.#latest.get(name);
      if (!latest || use.lastUsedAt > latest.lastUsedAt) this.#latest.set(name, use);
    }
  }

  /** Most recently used first, equal ones by name. */
  get list(): ClientUseView[] {
    return [...this.#latest.values()]
      .sort((one, other) => other.lastUsedAt - one.lastUsedAt || (nameOf(one) < nameOf(other) ? -1 : 1))
      .slice(0, mostClientUses);
  }
}

/** Another one for each pair, whatever a client calls itself. */
const nameOf = ({ client, keyId }: ClientUseView) => JSON.stringify([client, keyId]);
