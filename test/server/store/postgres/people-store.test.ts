import { beforeEach, describe, expect, test } from 'vitest';
import { createPostgresPeopleStore } from '../../../../server/store/postgres/people-store.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { mia, peopleContract } from '../contract/people.ts';

describe.runIf(hasPostgres())('people in PostgreSQL', () => {
  const server = startPostgresInSuite();
  let url: string;
  beforeEach(async () => {
    url = await server.createDatabase();
  });

  const open = async () => {
    const postgres = await openTables(url);
    return createPostgresPeopleStore(postgres, () => postgres.close());
  };
  peopleContract(open);

  test('what one replica ends is ended on another', async () => {
    const [one, other] = [await open(), await open()];
    expect((await other.find('h1'))?.person.name).toBe('Mia');
    await one.end({ personId: mia.id });
    expect(await other.find('h1')).toBeNull();
    await Promise.all([one.close(), other.close()]);
  });
});
