import { expect } from 'vitest';
import { openPostgresDatabase } from '../../../../server/store/postgres/open-database.ts';
import { silent } from '../sqlite/records.ts';

export const open = (url: string) => openPostgresDatabase({ url, log: silent });

/** The single line of the error that opening the database throws. */
export async function problemWith(url: string): Promise<string> {
  const thrown = await open(url).then(
    () => new Error('it was opened'),
    (error: Error) => error,
  );
  expect(thrown.message).not.toContain('secret');
  expect(thrown.message).not.toContain('\n');
  return thrown.message;
}
