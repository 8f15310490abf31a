/** What was read of public prices and exchange rates: one row for all replicas, written by one of them at a time. */
import type { RenewalStore } from '../store.ts';
import { channel, type Notices } from './notices.ts';
import type { Postgres } from './postgres.ts';

/** An arbitrary number that no other program uses in the same database. */
const renewalLock = 4_810_005;

const writeSql = `WITH written AS (
    INSERT INTO renewed_prices (document, changes) VALUES ($1, 1)
    ON CONFLICT (only_one) DO UPDATE SET document = excluded.document, changes = renewed_prices.changes + 1 RETURNING 1
  ) SELECT pg_notify('${channel}', 'prices') FROM written`;

export function createRenewalRow(postgres: Postgres, notices: Notices): RenewalStore {
  /** That of the document that was last read here. */
  let seen = 0;
  const read = async (queries: Pick<Postgres, 'ask'>) => {
    const { rows } = await queries.ask('SELECT document, changes FROM renewed_prices');
    seen = Number(rows[0]?.changes ?? 0);
    return rows[0] === undefined ? null : String(rows[0].document);
  };
  return {
    read: () => read(postgres),
    async exclusive(work) {
      const isDone = await postgres.exclusive(renewalLock, async (queries) => {
        const text = await work(await read(queries));
        if (text !== null) await queries.ask(writeSql, text);
        return true;
      });
      return isDone ?? false;
    },
    onChange(listener) {
      // Also called every few seconds, when there is seldom anything new.
      notices.on('prices', () => {
        postgres.ask('SELECT changes FROM renewed_prices').then(
          ({ rows }) => {
            if (Number(rows[0]?.changes ?? 0) !== seen) listener();
          },
          // Told by everything else that asks the database.
          () => {},
        );
      });
    },
  };
}
