import { expect, test } from 'vitest';
import { problemWith } from '../../../support/postgres-store.ts';

test.each(['', 'secret', 'mysql://user:secret@host/db', 'http://secret'])(
  '%j is no address of a database',
  async (url) => {
    expect(await problemWith(url)).toContain('postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  },
);

test('a server that cannot be reached is named, without the password', async () => {
  const message = await problemWith('postgres://user:secret@%2Fno%2Fsuch%2Ffolder:5433/db');
  expect(message).toMatch(
    /^PostgreSQL at \/no\/such\/folder:5433 cannot be used now \(.*ENOENT.*\)\. Check that it runs/,
  );
});
