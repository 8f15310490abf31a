/**
 * `sluice record` and `sluice replay`, with the demo provider.
 *
 * @suite long
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { endProgramsAfterEach, runCli, runVerb, serve, spawnCli, temporaryFolder } from './run-cli.ts';

endProgramsAfterEach();

/** Sends its arguments as questions, and prints the statuses and answers. */
const asks = `
  const { env } = process;
  const answers = [];
  for (const content of process.argv.slice(1)) {
    const response = await fetch(env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + env.OPENAI_API_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content }] }),
    });
    answers.push([response.status, response.headers.get('x-sluice-replay'), await response.text()]);
  }
  const models = await fetch(env.OPENAI_BASE_URL + '/models', { headers: { authorization: 'Bearer ' + env.OPENAI_API_KEY } });
  console.log(JSON.stringify({ answers, models: (await models.json()).data.map(({ id }) => id) }));
`;

interface Told {
  answers: [status: number, replay: string | null, text: string][];
  models: string[];
}

/** A database that cannot be reached: these runs must not use it, although other commands do. */
const env = { SLUICE_STORE: 'postgres://sluice@127.0.0.1:1/sluice' };

async function runWith(verb: string[], ...contents: string[]) {
  const { code, stdout, stderr } = await runCli([...verb, '--', process.execPath, '-e', asks, ...contents], { env });
  const told: Told = stdout === '' ? { answers: [], models: [] } : JSON.parse(stdout);
  return { code, stderr, ...told };
}

const filesIn = (folder: string) => readdirSync(folder).sort();

test('a program gets the recorded answers again, without a data folder', async () => {
  const [data, cassette] = [join(temporaryFolder(), 'none'), join(temporaryFolder(), 'new')];
  const recorded = await runWith(['record', '--cassette', cassette, '--data-dir', data], 'Hello', 'Bye');
  expect(recorded).toMatchObject({ code: 0, stderr: `Cassette ${cassette}: 2 recorded.\n` });
  expect(filesIn(cassette)).toEqual([
    expect.stringMatching(/^0001-chat-completions-[0-9a-f]{6}\.json$/),
    expect.stringMatching(/^0002-chat-completions-[0-9a-f]{6}\.json$/),
  ]);
  const replayed = await runWith(['replay', '--cassette', cassette], 'Bye', 'Hello');
  expect(replayed).toMatchObject({ code: 0, stderr: `Cassette ${cassette}: 2 replayed, 0 without a recording.\n` });
  const [hello, bye] = recorded.answers.map(([, , text]) => text);
  expect(replayed.answers).toEqual([
    [200, 'hit', bye],
    [200, 'hit', hello],
  ]);
  expect(replayed.models).toEqual(['demo-chat']);
  expect(() => readdirSync(data)).toThrow('ENOENT');
});

test('a request without a recording fails a run that would have passed', async () => {
  const cassette = temporaryFolder();
  await runWith(['record', '--cassette', cassette], 'Hello');
  const { code, stderr, answers } = await runWith(['replay', '--cassette', cassette], 'Hallo');
  expect({ code, status: answers[0]?.[0] }).toEqual({ code: 1, status: 404 });
  expect(stderr).toBe(
    `Cassette ${cassette}: 0 replayed, 1 without a recording.\n1 recording not asked for: ${filesIn(cassette)[0]}.\n`,
  );
});

test('with --new-only existing recordings are replayed, and other requests are recorded', async () => {
  const cassette = temporaryFolder();
  const first = await runWith(['record', '--cassette', cassette], 'Hello');
  const second = await runWith(['record', '--cassette', cassette, '--new-only'], 'Hello', 'Bye');
  expect(second.stderr).toBe(`Cassette ${cassette}: 1 replayed, 1 recorded.\n`);
  expect(second.answers[0]?.[2]).toBe(first.answers[0]?.[2]);
  expect(filesIn(cassette)).toHaveLength(2);
});

test('what is recorded again replaces its recording, under the same name', async () => {
  const cassette = temporaryFolder();
  await runWith(['record', '--cassette', cassette], 'Hello', 'Bye');
  const names = filesIn(cassette);
  const contents = () => filesIn(cassette).map((name) => readFileSync(join(cassette, name), 'utf8'));
  // As if a model had answered otherwise, then.
  const [, bye = ''] = names;
  writeFileSync(
    join(cassette, bye),
    readFileSync(join(cassette, bye), 'utf8').replace('"status": 200', '"status": 201'),
  );
  const before = contents();
  await runWith(['record', '--cassette', cassette], 'Bye');
  expect(filesIn(cassette)).toEqual(names);
  const after = contents();
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
});

/** Starts a process for each test, at the same time. Each asks the same questions in the name of its test. */
const runsTests = `
  const { spawn } = await import('node:child_process');
  const tests = process.argv.slice(1);
  const ask = ${JSON.stringify(`
    for (const content of ['Hello', 'Bye', 'Hello']) {
      const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json', 'x-sluice-test': process.argv[1] },
        body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content }] }),
      });
      if (!response.ok) process.exitCode = 1;
    }
  `)};
  const codes = await Promise.all(tests.map((test) => new Promise((resolve) =>
    spawn(process.execPath, ['--input-type=module', '-e', ask, test], { stdio: 'inherit' }).on('exit', resolve))));
  process.exitCode = Math.max(...codes);
`;

test('tests in processes of their own, at the same time, have recordings of their own', async () => {
  const cassette = temporaryFolder();
  const tests = ['test_a', 'test_b', 'test_c', 'test_d'];
  const run = async (verb: string[], names: string[]) => {
    const node = [process.execPath, '--input-type=module', '-e', runsTests, ...names];
    const { code, stdout } = await runCli([...verb, '--json', '--cassette', cassette, '--', ...node], { env });
    return { code, ...JSON.parse(stdout.trim().split('\n').at(-1) ?? '') };
  };
  expect(await run(['record'], tests)).toMatchObject({ code: 0, mode: 'record', cassette, recorded: 12, unused: [] });
  for (const name of tests) {
    expect(filesIn(join(cassette, name)).map((file) => file.slice(0, 5))).toEqual(['0001-', '0002-', '0003-']);
  }
  expect(await run(['replay', '--fail-on-unused'], tests.toReversed())).toMatchObject({
    ...{ code: 0, hits: 12, misses: 0, unused: [], missed: [] },
  });
  const files = filesIn(join(cassette, 'test_d'));
  const some = { hits: 9, misses: 0, unused: files.map((file) => `test_d/${file}`) };
  expect(await run(['replay'], tests.slice(0, 3))).toMatchObject({ code: 0, ...some });
  expect(await run(['replay', '--fail-on-unused'], tests.slice(0, 3))).toMatchObject({ code: 1, ...some });
  expect(await run(['replay'], ['test_e'])).toMatchObject({
    ...{ code: 1, hits: 0, misses: 3 },
    missed: Array.from({ length: 3 }, () => ({ test: 'test_e', request: 'POST /v1/chat/completions', nearest: null })),
  });
});

test('a second record into one folder is refused until the first has ended, or was killed', async () => {
  const cassette = temporaryFolder();
  // Ends with the program that has started it, also if that is killed.
  const waits = `
    const { ppid } = process;
    process.stdout.write('begun');
    setInterval(() => process.ppid === ppid || process.exit(), 50);
  `;
  const first = spawnCli(['record', '--cassette', cassette, '--', process.execPath, '-e', waits], { env });
  await expect.poll(() => first.output.stdout, { timeout: 30_000 }).toContain('begun');
  const second = await runWith(['record', '--cassette', cassette], 'Hello');
  expect(second).toMatchObject({
    ...{ code: 1, answers: [] },
    stderr: `sluice: Another "sluice record" is writing to ${cassette} (process ${first.child.pid}). Wait for its end, or give this one a folder of its own.\n`,
  });
  expect(await runWith(['replay', '--cassette', cassette], 'Hello')).toMatchObject({ code: 1 });
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await runWith(['record', '--cassette', cassette], 'Hello')).toMatchObject({ code: 0 });
  expect(filesIn(cassette)).toHaveLength(1);
});

test('the exit code is that of the program', async () => {
  const cassette = temporaryFolder();
  const ended = await runCli(['replay', '--cassette', cassette, '--', process.execPath, '-e', 'process.exit(7)']);
  const bypassed =
    'No request of node to a model came through Sluice. If it has asked one, its own settings lead elsewhere, or name ' +
    'a model that it does not find here; "sluice run --model" names one.';
  expect(ended).toMatchObject({
    code: 7,
    stderr: `${bypassed}\nCassette ${cassette}: 0 replayed, 0 without a recording.\n`,
  });
});

test('recordings that cannot be written fail a run that would have passed, and its requests go on', async () => {
  const cassette = join(temporaryFolder(), 'cassette');
  const removes = `require('node:fs').rmSync(${JSON.stringify(cassette)}, { recursive: true });`;
  const program = [process.execPath, '-e', `${removes}(async () => {${asks}})()`, 'Hello'];
  const { code, stdout, stderr } = await runCli(['record', '--cassette', cassette, '--', ...program]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ answers: [[200, null, expect.any(String)]] });
  expect(stderr).toMatch(
    /^The recording 0001-\S+ could not be written to .*\nCassette .*: 0 recorded, 1 could not be written\.\n$/,
  );
});

describe('a cassette that cannot be used', () => {
  const replay = (cassette: string) => runVerb(['replay', '--cassette', cassette, '--', 'true']);

  test('is named with its damaged file and field', async () => {
    const cassette = temporaryFolder();
    await runWith(['record', '--cassette', cassette], 'Hello');
    const [name = ''] = filesIn(cassette);
    const path = join(cassette, name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replace('"status": 200', '"status": "good"'));
    expect(await replay(cassette)).toEqual({
      code: 1,
      stdout: '',
      stderr: `sluice: ${path} cannot be used: response.status: Invalid input: expected number, received string.\n`,
    });
    writeFileSync(path, text.slice(0, 100));
    expect((await replay(cassette)).stderr).toBe(`sluice: ${path} cannot be used: it is not valid JSON.\n`);
  });

  test('is reported before the program starts', async () => {
    const missing = join(temporaryFolder(), 'none');
    expect((await replay(missing)).stderr).toBe(
      `sluice: The cassette ${missing} cannot be read: there is no such folder.\n`,
    );
    const wrong = temporaryFolder();
    writeFileSync(join(wrong, 'cassette.json'), '{ "version": 1, "redact": ["("] }');
    expect((await replay(wrong)).stderr).toBe(
      `sluice: ${join(wrong, 'cassette.json')} cannot be used: redact[0]: not a regular expression of JavaScript.\n`,
    );
  });

  test('or a pace that is none is refused', async () => {
    const { code, stderr } = await runVerb(['replay', '--cassette', 'x', '--pace', 'slow', '--', 'true']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('A pace is instant, recorded or'),
    });
  });
});

test('a whole gateway records and replays, and ends with a summary', async () => {
  const [data, cassette] = [temporaryFolder(), temporaryFolder()];
  let key: string | undefined;
  const ask = async (mode: string) => {
    const { ready, output, end } = await serve(data, ['--cassette', cassette, '--cassette-mode', mode]);
    key ??= ready.key;
    const response = await fetch(`${ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const answer = [response.headers.get('x-sluice-replay'), await response.text()];
    expect(await end()).toBe(0);
    return { answer, stderr: output.stderr };
  };
  const recorded = await ask('record');
  expect(recorded.stderr).toContain(`Cassette ${cassette}: 1 recorded.\n`);
  const replayed = await ask('replay');
  expect(replayed.answer).toEqual(['hit', recorded.answer[1]]);
  expect(replayed.stderr).toContain(`Cassette ${cassette}: 1 replayed, 0 without a recording.\n`);
});
