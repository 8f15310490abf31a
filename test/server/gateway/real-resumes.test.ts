/**
 * Coding agents installed from npm, which take up their conversation again at the model of another provider: one after the
 * other of them, and in the end the first one, whose thoughts the conversation has.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { codingAgents, findProgram, programTimeoutMs, runProgram } from '../../support/installed-programs.ts';
import { noteFile, noteReaders, noteText } from '../../support/note-readers.ts';
import { onlyIf } from '../../support/only-if.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

let gateway: TestGateway;
const upstreams: ScriptedUpstream[] = [];

beforeAll(async () => {
  const providers = [];
  const secrets: Record<string, string> = {};
  for (const [id, { model, dialect, secret, basePath, script }] of Object.entries(noteReaders)) {
    const upstream = await startUpstream(script);
    upstreams.push(upstream);
    providers.push(mainProvider(upstream.origin + basePath, { id, models: [model], ...dialect }));
    secrets[`provider/${id}/c1`] = secret;
  }
  gateway = await startGateway({ config: { providers }, secrets });
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});

/**
 * The parameters of a first run, with those that continue the latest conversation. Not of Gemini CLI (0.61.0), which then tells each
 * result of a tool twice, and so is refused by Gemini itself.
 */
const resumed: Record<string, (parameters: string[]) => string[]> = {
  claude: (parameters) => [...parameters, '--continue'],
  codex: (parameters) => [...parameters.slice(0, -1), 'resume', '--last', ...parameters.slice(-1)],
  opencode: (parameters) => [...parameters, '--continue'],
  qwen: (parameters) => ['--continue', ...parameters],
};

describe.each(codingAgents.filter(({ command }) => command in resumed))('$package', (agent) => {
  const { command, setUp, nameOf = (provider: string, model: string) => `${provider}/${model}` } = agent;
  const program = findProgram(command);
  const isFound = onlyIf(program !== null, `${command} is not found (npm install ${agent.package})`);
  const isChat = ['opencode', 'qwen'].includes(command);
  const readers = Object.entries(noteReaders).filter(([, { isForOtherApis }]) => !isChat || !isForOtherApis);

  test.runIf(isFound).each(readers)(
    'goes on at every other provider with what %s began',
    { timeout: 7 * programTimeoutMs },
    async (first) => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-agent-'));
      writeFileSync(join(folder, noteFile), noteText);
      const others = readers.map(([id]) => id).filter((id) => id !== first);
      for (const [turn, id] of [first, ...others, first].entries()) {
        const model = nameOf(id, noteReaders[id]?.model ?? '');
        const { parameters, env } = setUp({ origin: gateway.origin, model, folder });
        const asked = parameters(turn === 0 ? `What does ${noteFile} say?` : 'What did it say again?');
        const outcome = await runProgram(program ?? '', {
          parameters: turn === 0 ? asked : (resumed[command]?.(asked) ?? []),
          folder,
          env,
        });
        expect(outcome.said, `${id}: ${outcome.said}${outcome.complained}`).toContain(noteText);
        expect(outcome.exitCode, id).toBe(0);
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  );
});
