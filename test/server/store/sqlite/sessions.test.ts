import { expect, test } from 'vitest';
import { openSqliteDatabase } from '../../../../server/store/sqlite/database.ts';

test('sessions and their requests are read by index', () => {
  const database = openSqliteDatabase(':memory:');
  const plan = (sql: string) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ');
  expect(plan('SELECT * FROM sessions WHERE last_seq < 9 ORDER BY last_seq DESC LIMIT 50')).toBe(
    'SEARCH sessions USING INDEX sessions_by_use (last_seq<?)',
  );
  expect(plan("SELECT id FROM requests WHERE session = 'x' AND seq < 9 ORDER BY seq DESC LIMIT 9")).toBe(
    'SEARCH requests USING INDEX requests_by_session (session=? AND seq<?)',
  );
  database.close();
});
