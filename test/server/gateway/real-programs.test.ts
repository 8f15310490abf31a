/**
 * Coding agents, as installed from npm, in front of a model behind each API: one task with a tool and its result. The programs
 * are looked for on the PATH and in the folder that SLUICE_TEST_CLIENTS names (`npm install --prefix FOLDER …`). They are no
 * part of what `CI=true` requires: some cannot be had for every system.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CodingAgent, codingAgents } from '../../support/coding-agents.ts';
import { findProgram } from '../../support/find-program.ts';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { noteFile, noteReaders, noteText } from '../../support/note-readers.ts';
import { onlyIf } from '../../support/only-if.ts';
import { plainEnvironment } from '../../support/plain-environment.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

/** Ends a program that hangs. Far from what any of them needs. */
const programTimeoutMs = 60_000;

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

/** Runs it in a folder of its own, where nothing but loopback can be reached through HTTP. */
async function run(program: string, { setUp }: CodingAgent, model: string) {
  const { parameters, env: own } = setUp({ origin: gateway.origin, model, folder });
  const nowhere = 'http://127.0.0.1:9';
  const proxies = { HTTPS_PROXY: nowhere, HTTP_PROXY: nowhere, NO_PROXY: '127.0.0.1,localhost' };
  const child = spawn(program, parameters(`What does ${noteFile} say?`), {
    cwd: folder,
    env: { ...plainEnvironment, HOME: folder, ...proxies, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Some are started by a script, so that ending them means ending a group.
    detached: true,
  });
  const deadline = setTimeout(() => endGroup(child.pid), programTimeoutMs);
  try {
    const ended = once(child, 'exit');
    const [said, complained, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { exitCode, said, complained };
  } finally {
    clearTimeout(deadline);
    endGroup(child.pid);
  }
}

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

describe.each(codingAgents)('$package', (agent) => {
  const nameOf = agent.nameOf ?? ((provider, model) => `${provider}/${model}`);
  const program = findProgram(agent.command);
  const isFound = onlyIf(program !== null, `${agent.command} is not found (npm install ${agent.package})`);

  test.runIf(isFound).each(Object.entries(noteReaders))(
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
