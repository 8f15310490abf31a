/**
 * The end of a replica whose disk takes nothing, with its database there, away, or silent: it comes within the grace period,
 * streams are told, and rows that nobody has by then are counted.
 */
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  addProvider,
  createKey,
  endProgramsAfterEach,
  type Serving,
  serve,
  temporaryFolder,
} from '../server/cli/run-cli.ts';
import { stretched } from '../support/cpu-work.ts';
import { begun, eventually } from '../support/eventually.ts';
import { hasPostgres, startPostgresInSuite } from '../support/postgres.ts';
import { fillDisk, holdSmallDisks, mayHoldSmallDisks, type SmallDisks } from '../support/small-disk.ts';
import { chunk, completion } from '../support/strict-chat.ts';
import { eventStream, json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

endProgramsAfterEach();

describe.runIf(hasPostgres() && mayHoldSmallDisks())('a replica', () => {
  const server = startPostgresInSuite();
  let upstream: ScriptedUpstream;
  let disks: SmallDisks;
  let folder: string;
  let env: Record<string, string>;
  let key: string;
  let serving: Serving;

  /** Chats are answered at once, streams begin and do not end. */
  beforeEach(async () => {
    upstream = await startUpstream(({ body }, response) => {
      if (!body.includes('"stream":true')) return json(response, completion({ content: 'Hello' }));
      eventStream(response);
      response.write(chunk({ role: 'assistant', content: 'So far' }));
    });
    folder = temporaryFolder();
    disks = await holdSmallDisks({ [folder]: 4 });
    const url = await server.createDatabase();
    env = { SLUICE_PASSPHRASE: 'correct horse battery staple', UPSTREAM_KEY: 'x', SLUICE_STORE: url };
    await start();
    key = await createKey(temporaryFolder(), env);
    const added = await addProvider(temporaryFolder(), { url: upstream.baseUrl, models: 'gpt-x', env });
    expect(added.code, added.stderr).toBe(0);
    await eventually(async () => (await chat()).status === 200);
  });
  afterEach(async () => {
    server.go();
    await serving.end('SIGKILL');
    await disks.remove();
    await upstream.stop();
  });

  const start = async () => {
    serving = await serve(folder, ['--grace-period', '1'], { env, within: disks.enter });
  };
  const chat = async (stream = false) => {
    const response = await fetch(`${serving.ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-x', stream, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    return { status: response.status, text: begun(response.text()) };
  };

  const shortages = {
    'a full disk': async () => fillDisk(disks.seen(folder)),
    // Linux makes no disk read-only on which a file is open for writing, unless the disk fails.
    'a read-only disk': async () => {
      expect(await serving.end()).toBe(0);
      const [command = '', ...parameters] = [...disks.enter, 'mount', '-o', 'remount,ro', folder];
      execFileSync(command, parameters);
      await start();
    },
  };
  const databases = {
    'is there': async () => {},
    'is away': () => server.kill(),
    'does not answer': () => server.pause(),
  };
  const [shortageNames, databaseNames] = [shortages, databases].map((each) => Object.keys(each));

  describe.each(databaseNames as (keyof typeof databases)[])('whose database %s', (database) => {
    test.each(shortageNames as (keyof typeof shortages)[])('ends in time with %s', async (shortage) => {
      await shortages[shortage]();
      await databases[database]();
      try {
        const streams = await Promise.all(Array.from({ length: 3 }, () => chat(true)));
        for (let round = 0; round < 50; round++) expect((await chat()).status).toBe(200);
        const signalledMs = performance.now();
        expect(await serving.end('SIGTERM')).toBe(0);
        // The grace period, and five seconds for everything else.
        expect(performance.now() - signalledMs).toBeLessThan(stretched(6_000));
        for (const { text } of streams) expect(await text).toMatch(/So far[\s\S]*"code":"shutting_down"\}\}\n\n$/);
        const lost = Number(
          /(\d+) rows of the ledger could not be written: .+\./.exec(serving.output.stderr)?.[1] ?? 0,
        );
        if (database === 'is there') expect(lost).toBe(0);
        else expect(lost).toBeGreaterThanOrEqual(53);
      } finally {
        server.go();
        if (database === 'is away') await server.start();
      }
    });
  });
});
