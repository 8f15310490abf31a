/** Models that were used although their price is unknown, by the rule of `countOf`. */

import { unpriced, unpricedAttempts } from '../../contract/count.ts';
import { number, type Row, text } from './columns.ts';
import { attemptCount, attemptSql, rowSql, type SqlNotation } from './condition-sql.ts';

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
