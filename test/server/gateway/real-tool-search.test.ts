/**
 * Claude Code with an MCP server of forty tools, for a model behind each API: it searches for one of them and calls it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway, testKey } from '../../support/gateway.ts';
import { findProgram, programTimeoutMs, runProgram } from '../../support/installed-programs.ts';
import { onlyIf } from '../../support/only-if.ts';
import * as anthropic from '../../support/strict-anthropic.ts';
import * as converse from '../../support/strict-bedrock.ts';
import { bedrockKey } from '../../support/strict-bedrock.ts';
import * as chat from '../../support/strict-chat.ts';
import * as gemini from '../../support/strict-gemini.ts';
import * as responses from '../../support/strict-responses.ts';
import { type Script, type ScriptedUpstream, startUpstream } from '../../support/upstream.ts';

type Json = Record<string, unknown>;

const wanted = 'mcp__many__tool_7';
const answer = 'Nine, says the tool.';

/** A call, or null for the answer. */
function callFor({ tools, toolConfig, ...rest }: Json): { name: string; input: Json } | null {
  const offered = JSON.stringify(tools ?? toolConfig ?? []);
  if (JSON.stringify(rest).includes('Result of tool_7: 3')) return null;
  if (offered.includes(`"${wanted}"`)) return { name: wanted, input: { value: 3 } };
  if (!offered.includes('"ToolSearch"')) return null;
  return { name: 'ToolSearch', input: { query: `select:${wanted}`, max_results: 5 } };
}

interface Model {
  model: string;
  dialect: Json;
  secret: string;
  basePath: string;
  script: Script;
}

let calls = 0;
function nextId(): string {
  calls += 1;
  return `toolu_${calls}`;
}

const models: Record<string, Model> = {
  chat: {
    model: 'llama-3.3-70b',
    dialect: { serves: ['chat'] },
    secret: 'k',
    basePath: '/v1',
    script: chat.strictChat((body, response) => {
      const call = callFor(body);
      if (!call) return chat.sendStream(response, chat.streamOf([{ content: answer }], 'stop'));
      const toolCall = { index: 0, ...chat.toolCall(nextId(), call.name, call.input) };
      chat.sendStream(response, chat.streamOf([{ tool_calls: [toolCall] }], 'tool_calls'));
    }),
  },
  responses: {
    model: 'gpt-5.4',
    dialect: { serves: ['responses'] },
    secret: 'k',
    basePath: '/v1',
    script: responses.strictResponses((body, response) => {
      const call = callFor(body);
      const item = call ? responses.callWith(nextId(), call.name, call.input) : responses.messageWith(answer);
      chat.sendStream(response, responses.streamOfResponse(responses.responseWith([item])));
    }),
  },
  gemini: {
    model: 'gemini-3-pro',
    dialect: { dialect: 'gemini' },
    secret: gemini.geminiKey,
    basePath: '/v1beta',
    script: gemini.strictGemini(({ body }, response) => {
      const call = callFor(body);
      const part = call ? { functionCall: { name: call.name, args: call.input } } : { text: answer };
      gemini.sendEvents(response, [gemini.answered([part])]);
    }),
  },
  converse: {
    model: 'us.meta.llama3-3-70b-instruct-v1:0',
    dialect: { dialect: 'bedrock' },
    secret: bedrockKey,
    basePath: '',
    script: converse.strictConverse((request, response) => {
      const call = callFor(request.body);
      const block = call ? converse.toolUse(nextId(), call.name, call.input) : { text: answer };
      converse.sendConverse(response, request, [block], call ? 'tool_use' : 'end_turn');
    }),
  },
  anthropic: {
    model: 'claude-opus-5-5',
    dialect: { dialect: 'anthropic' },
    secret: anthropic.anthropicKey,
    basePath: '',
    script: anthropic.strictAnthropic((body, response) => {
      const call = callFor(body);
      const block = call ? anthropic.toolUse(nextId(), call.name, call.input) : anthropic.text(answer);
      anthropic.send(response, body, [block], call ? 'tool_use' : 'end_turn');
    }),
  },
};

let folder: string;
let gateway: TestGateway;
let upstream: ScriptedUpstream;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-tools-'));
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const program = findProgram('claude');
const isFound = onlyIf(program !== null, 'claude is not found (npm install @anthropic-ai/claude-code)');

test.runIf(isFound).each(Object.entries(models))(
  'a tool that Claude Code finds can be called by a model behind %s, and no other is sent',
  { timeout: programTimeoutMs + 30_000 },
  async (id, { model, dialect, secret, basePath, script }) => {
    upstream = await startUpstream(script);
    const provider = mainProvider(upstream.origin + basePath, { id, models: [model], ...dialect });
    gateway = await startGateway({ config: { providers: [provider] }, secrets: { [`provider/${id}/c1`]: secret } });
    const server = join(import.meta.dirname, '../../fixtures/many-tools-server.mjs');
    const many = { command: process.execPath, args: [server] };
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { many } }));
    const outcome = await runProgram(program ?? '', {
      parameters: ['--mcp-config', 'mcp.json', '--allowedTools', 'mcp__many', '--print', 'Convert 3'],
      folder,
      env: {
        ANTHROPIC_BASE_URL: gateway.origin,
        ANTHROPIC_AUTH_TOKEN: testKey,
        ANTHROPIC_MODEL: id === 'anthropic' ? model : `${id}/${model}`,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: `${id}/${model}`,
        ENABLE_TOOL_SEARCH: 'true',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    });
    expect(outcome.said, `${outcome.said}${outcome.complained}`).toContain(answer);
    const { tools, toolConfig } = JSON.parse(upstream.seen.at(-1)?.body.toString() ?? '');
    expect(JSON.stringify(tools ?? toolConfig).match(/mcp__many__tool_\d+/g)).toEqual([wanted]);
  },
);
