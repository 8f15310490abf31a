import net, { type AddressInfo } from 'node:net';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { examineDatabase } from '../../../../server/store/postgres/examine.ts';
import { postgresMigrations } from '../../../../server/store/postgres/migrations.ts';
import { migratePostgres } from '../../../../server/store/postgres/open-database.ts';
import { Postgres } from '../../../../server/store/postgres/postgres.ts';
import { hasPostgres, startPostgresInSuite } from '../../../support/postgres.ts';
import { open, problemWith } from '../../../support/postgres-store.ts';

describe.runIf(hasPostgres())('a database that cannot be used', () => {
  const server = startPostgresInSuite();
  let url: string;
  beforeAll(async () => {
    url = await server.createDatabase();
  });

  test('since it is not there, is named with how to make it', async () => {
    const message = await problemWith(url.replace(/[^/]+$/, 'nowhere'));
    expect(message).toContain('has no database "nowhere". Create it: createdb --owner sluice nowhere');
  });

  test('since the user is not known, names the user', async () => {
    expect(await problemWith(url.replace('sluice@', 'stranger:secret@'))).toContain('refuses the user "stranger"');
  });

  test('since rights are missing, says which', async () => {
    await server.query('CREATE ROLE guest LOGIN');
    expect(await problemWith(url.replace('sluice@', 'guest@'))).toContain(
      'The user "guest" may not make Sluice\'s tables',
    );
  });

  test('since an older Sluice has made it for another user, says which rights are missing and leaves it', async () => {
    const own = await server.createDatabase();
    const postgres = new Postgres({ url: own, failed() {} });
    await migratePostgres(postgres, postgresMigrations.slice(0, 1));
    await postgres.script('CREATE ROLE tenant LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO tenant');
    await postgres.script('GRANT CREATE ON SCHEMA public TO tenant');
    expect(await problemWith(own.replace('sluice@', 'tenant@'))).toContain('The user "tenant" may not make');
    expect(await tablesOf(postgres)).toEqual(['config_revisions', 'schema_migrations']);
    expect((await postgres.ask('SELECT 1 FROM schema_migrations')).count).toBe(1);
    await postgres.close();
  });

  test('since it is another program’s, says so and leaves it', async () => {
    const own = await server.createDatabase();
    const postgres = new Postgres({ url: own, failed() {} });
    await postgres.script('CREATE TABLE requests (id integer)');
    expect(await problemWith(own)).toMatch(/has tables of another program \(relation "requests" already exists\)/);
    expect(await tablesOf(postgres)).toEqual(['requests']);
    await postgres.close();
  });

  test('since it is read-only, says so', async () => {
    await server.query('CREATE ROLE reader LOGIN SUPERUSER');
    await server.query('ALTER ROLE reader SET default_transaction_read_only = on');
    expect(await problemWith(url.replace('sluice@', 'reader@'))).toContain('is read-only');
  });

  test('since a newer Sluice has changed it, says so and leaves it', async () => {
    const own = await server.createDatabase();
    await (await open(own)).close();
    const postgres = new Postgres({ url: own, failed() {} });
    await postgres.ask("INSERT INTO schema_migrations VALUES (1000, 'of the future', 1000)");
    await postgres.close();
    expect(await problemWith(own)).toContain('Update Sluice.');
  });
});

async function tablesOf(postgres: Postgres): Promise<string[]> {
  const { rows } = await postgres.ask(
    "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname",
  );
  return rows.map(({ relname }) => String(relname));
}

describe.runIf(hasPostgres())('a pooler', () => {
  const server = startPostgresInSuite();

  test('that delivers no notices is found by doctor, and a direct connection has none of that', async () => {
    const url = await server.createDatabase();
    expect(await examineDatabase(url, {})).toMatchObject({ ok: true });
    const pooler = await startDeafRelay(url);
    try {
      expect(await examineDatabase(pooler.url, {})).toMatchObject({
        ok: false,
        message: expect.stringContaining('pool_mode = session'),
      });
    } finally {
      pooler.stop();
    }
  });
});

/** Passes everything on but notifications, as a pooler does that pools by transaction. */
async function startDeafRelay(url: string) {
  const client = new pg.Client(url);
  const socketPath = `${client.host}/.s.PGSQL.${client.port}`;
  const relay = net.createServer((near) => {
    const far = net.connect(socketPath);
    let rest = Buffer.alloc(0);
    far.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const message = rest.subarray(0, rest.readUInt32BE(1) + 1);
        rest = rest.subarray(message.length);
        if (message[0] !== 'A'.charCodeAt(0)) near.write(message);
      }
    });
    near.pipe(far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { port } = relay.address() as AddressInfo;
  return { url: `postgres://${client.user}@127.0.0.1:${port}/${client.database}`, stop: () => relay.close() };
}
