/** Coding agents installed from npm, with a model behind each API: one task with a tool and its result. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  type CodingAgent,
  codingAgents,
  findProgram,
  programTimeoutMs,
  runProgram,
} from '../../support/installed-programs.ts';
import { noteFile, noteReaders, noteText } from '../../support/note-readers.ts';
import { onlyIf } from '../../support/only-if.ts';
import { json, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let gateway: TestGateway;
let folder: string;
const upstreams: Record<string, ScriptedUpstream> = {};

beforeAll(async () => {
  const providers = [];
  const secrets: Record<string, string> = {};
  for (const [id, { model, dialect, secret, basePath, script }] of Object.entries(noteReaders)) {
    const upstream = await startUpstream(script);
    upstreams[id] = upstream;
    providers.push(mainProvider(upstream.origin + basePath, { id, models: [model], ...dialect }));
    secrets[`provider/${id}/c1`] = secret;
  }
  gateway = await startGateway({ config: { providers }, secrets });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()));
});
beforeEach(() => {
  for (const upstream of Object.values(upstreams)) upstream.seen.length = 0;
  folder = mkdtempSync(join(tmpdir(), 'sluice-agent-'));
  writeFileSync(join(folder, noteFile), noteText);
});
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

async function run(program: string, { setUp }: CodingAgent, model: string) {
  const { parameters, env } = setUp({ origin: gateway.origin, model, folder });
  return runProgram(program, { parameters: parameters(`What does ${noteFile} say?`), folder, env });
}

describe.each(codingAgents)('$package', (agent) => {
  const nameOf = agent.nameOf ?? ((provider, model) => `${provider}/${model}`);
  const program = findProgram(agent.command);
  const isFound = onlyIf(program !== null, `${agent.command} is not found (npm install ${agent.package})`);

  const isOfOtherApi = ['claude', 'codex', 'gemini'].includes(agent.command);
  const readers = Object.entries(noteReaders).filter(([, { isForOtherApis }]) => isOfOtherApi || !isForOtherApis);

  test.runIf(isFound).each(readers)(
    'reads a note with its shell tool for a model behind %s',
    { timeout: programTimeoutMs + 30_000 },
    async (id, { model, seal }) => {
      const outcome = await run(program ?? '', agent, nameOf(id, model));
      expect(outcome.said, `${outcome.said}${outcome.complained}`).toContain(noteText);
      expect(outcome.exitCode).toBe(0);
      const told = (upstreams[id]?.seen ?? [])
        .map(({ body }) => body.toString())
        .filter((body) => body.includes(noteText));
      expect(
        told.some((body) => body.includes(seal)),
        'its thoughts come back to the model',
      ).toBe(true);
    },
  );
});

describe('a credential that the provider refuses', () => {
  const agents = codingAgents.filter(({ command }) => ['codex', 'opencode', 'qwen'].includes(command));
  const model = 'gpt-5';

  test.each(agents)('is sent at most twice in 25 s by $command', { timeout: 60_000 }, async (agent) => {
    const program = findProgram(agent.command);
    if (program === null) return console.log(`skipped: ${agent.command} is not found (npm install ${agent.package})`);
    const upstream = await startUpstream((_, response) =>
      json(response, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }, 401),
    );
    const provider = mainProvider(upstream.baseUrl, { id: 'main', models: [model] });
    const own = await startGateway({ config: { providers: [provider] }, secrets: { 'provider/main/c1': 'revoked' } });
    const { parameters, env } = agent.setUp({ origin: own.origin, model: `main/${model}`, folder });
    const outcome = await Promise.race([
      runProgram(program, { parameters: parameters('Hello'), folder, env }),
      new Promise<null>((resolve) => setTimeout(() => resolve(null), 25_000)),
    ]);
    expect(upstream.seen.map(({ url }) => url).length).toBeLessThanOrEqual(2);
    if (outcome) expect(`${outcome.said}${outcome.complained}`).toMatch(/credential/i);
    await own.stop();
    await upstream.stop();
  });
});
