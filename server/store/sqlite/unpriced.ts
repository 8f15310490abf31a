/** Finds models that were used although their price is unknown. */
import { setImmediate } from 'node:timers/promises';
import { number, text } from '../rules/columns.ts';
import type { Database } from './database.ts';
import { wholeRange } from './seek.ts';

export interface UnpricedUse {
  provider: string;
  /** The upstream model. */
  model: string;
  requests: number;
}

/** There is no index on costs, so the scan is limited: about 100 ms, in batches of 4 ms. */
const latestRows = 100_000;
const rowsPerBatch = 4_000;
/** Bounds the result, since clients choose the names of models. */
const maxUses = 2_000;

/** The models of the latest 100,000 requests that may have had an unknown cost, by the rule of `isUnpriced`. */
export async function findUnpriced(database: Database): Promise<UnpricedUse[]> {
  const { low, high } = wholeRange(database);
  const select = database.prepare(
    `SELECT provider, coalesce(model_served, model_asked) AS model, count(*) AS requests FROM requests
     WHERE seq >= ? AND seq < ? AND cost_usd IS NULL AND provider IS NOT NULL AND capability IS NOT NULL
       AND coalesce(model_served, model_asked) IS NOT NULL
       AND (method = 'POST' OR usage IS NOT NULL) AND (outcome <> 'error' OR usage IS NOT NULL)
     GROUP BY 1, 2`,
  );
  const uses = new Map<string, UnpricedUse>();
  for (let from = Math.max(low, high - latestRows); from < high; from += rowsPerBatch) {
    for (const row of select.all(from, Math.min(from + rowsPerBatch, high))) {
      const [provider, model] = [text(row.provider) ?? '', text(row.model) ?? ''];
      const name = `${provider}/${model}`;
      const requests = (uses.get(name)?.requests ?? 0) + (number(row.requests) ?? 0);
      uses.set(name, { provider, model, requests });
    }
    await setImmediate();
  }
  return [...uses.values()].sort((a, b) => b.requests - a.requests).slice(0, maxUses);
}
