import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Notices } from '../../../../server/store/postgres/notices.ts';
import { createPostgresPeopleStore } from '../../../../server/store/postgres/people-store.ts';
import { eventually } from '../../../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { mia, peopleContract, session } from '../contract/people.ts';
import { silent } from '../sqlite/records.ts';

describe.runIf(hasPostgres())('people in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  beforeEach(async () => {
    url = await server.createDatabase();
  });

  const open = async () => {
    const postgres = await openTables(url);
    const notices = new Notices({ url, log: silent, pollMs: 86_400_000 });
    const close = async () => {
      await Promise.all([notices.close(), postgres.close()]);
    };
    return { ...createPostgresPeopleStore(postgres, notices), close };
  };
  peopleContract(open);

  test('what one replica revokes is revoked at another', async () => {
    const [one, other] = [await open(), await open()];
    expect((await other.find('h1'))?.person.name).toBe('Mia');
    const told = vi.fn();
    other.onEnded?.(told);
    await one.end({ personId: mia.id });
    expect(await other.find('h1')).toBeNull();
    // It may not be listening yet. Once it is, it calls the listener once by itself.
    await eventually(async () => {
      await one.open(session);
      await one.end({ id: session.id });
      return told.mock.calls.length > 1;
    });
    await Promise.all([one.close(), other.close()]);
  });
});
