import { describe, expect, test } from 'vitest';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { openTables } from '../../../support/postgres-store.ts';
import { startReplica } from '../../../support/replica.ts';
import { createMemorySecretStore } from '../../../support/stand-ins.ts';
import { startUpstream } from '../../../support/upstream.ts';
import {
  configOf,
  filesIn,
  leaksIn,
  plant,
  queried,
  storedSecrets,
  textOf,
  witness,
} from '../../gateway/planted-secrets.ts';

describe.runIf(hasPostgres())('in PostgreSQL', () => {
  const server = startPostgresInSuite();

  test('no table, no answer and no file of the replica holds a part of a secret', async () => {
    const upstream = await startUpstream();
    const url = await server.createDatabase();
    const sluice = await startReplica({
      url,
      initial: configOf(upstream, { capture: true }),
      ports: () => ({ openSecrets: async () => createMemorySecretStore(storedSecrets) }),
    });
    const errors = await plant(sluice, upstream);
    const answers = await queried(sluice);
    await sluice.gateway.stop(1_000);
    const places: Record<string, string> = { errors: errors.join('\n'), ...answers, ...filesIn(sluice.folder) };
    const database = await openTables(url);
    const { rows: tables } = await database.ask("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    for (const { tablename } of tables) {
      const { rows } = await database.ask(`SELECT * FROM "${tablename}"`);
      places[`the table ${tablename}`] = rows.map(textOf).join('\n');
    }
    await database.close();
    await sluice.stop();
    await upstream.stop();
    const found = Object.entries(places).flatMap(([place, text]) => leaksIn(text).map((leak) => `${place}: ${leak}`));
    expect(found).toEqual([]);
    for (const place of ['the query request', 'the query sessions'])
      expect([place, places[place]?.includes('[redacted]')]).toEqual([place, true]);
    const withText = Object.keys(places).filter((place) => places[place]?.includes(witness));
    expect(withText).toEqual(
      expect.arrayContaining([expect.stringMatching(/^the table captures/), 'the query request']),
    );
  });
});
