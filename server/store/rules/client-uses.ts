/** The clients of requests, and when each last used which key. */
import type { ClientUseView } from '../../contract/request-views.ts';
import { number, type Row, text } from './columns.ts';

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
