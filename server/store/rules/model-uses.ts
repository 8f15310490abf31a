/** Which models were used: those that clients asked for, with which keys, and those without a known price. */

import { unpriced, unpricedAttempts } from '../../contract/count.ts';
import type { ClientUseView } from '../../contract/request-views.ts';
import { number, type Row, text } from './columns.ts';
import { attemptCount, attemptSql, rowSql, type SqlNotation } from './condition-sql.ts';

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

// Models that were used although their price is unknown, by the rule of `countOf`.

export interface UnpricedUse {
  provider: string;
  /** The upstream model. */
  model: string;
  requests: number;
}

/** Bounds the result, since clients choose the names of models. */
const maxUses = 2_000;

/** Reads the table expression `asked`, which has the columns of `requests`. */
export function unpricedUsesSql(asked: string, notation: SqlNotation): string {
  const { attemptMember, attempts } = notation;
  const ofAttempt = `coalesce(${attemptMember('model')}, model_asked)`;
  return `SELECT provider, model, count(DISTINCT seq) AS requests FROM (
      SELECT seq, provider, coalesce(model_served, model_asked) AS model FROM ${asked}
        WHERE ${attemptCount} < 2 AND outcome IS NOT NULL AND ${rowSql(unpriced, notation)}
      UNION ALL SELECT seq, ${attemptMember('provider')} AS provider, ${ofAttempt} AS model FROM ${asked}, ${attempts}
        WHERE ${attemptCount} > 1 AND outcome IS NOT NULL AND ${attemptSql(unpricedAttempts, notation)}
    ) AS uses WHERE model IS NOT NULL GROUP BY provider, model`;
}

/** Adds up rows of that; the most used first, equal ones by name. */
export class UnpricedUses {
  readonly #uses = new Map<string, UnpricedUse>();

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const use = {
        provider: text(row.provider) ?? '',
        model: text(row.model) ?? '',
        requests: number(row.requests) ?? 0,
      };
      const name = `${use.provider}/${use.model}`;
      const requests = (this.#uses.get(name)?.requests ?? 0) + use.requests;
      this.#uses.set(name, { ...use, requests });
    }
  }

  get list(): UnpricedUse[] {
    const nameOf = ({ provider, model }: UnpricedUse) => `${provider}/${model}`;
    return [...this.#uses.values()]
      .sort((one, other) => other.requests - one.requests || (nameOf(one) < nameOf(other) ? -1 : 1))
      .slice(0, maxUses);
  }
}
