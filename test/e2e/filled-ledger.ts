import { join } from 'node:path';
import type { ConfigInput } from '../../server/contract/config.ts';
import type { RequestRecord } from '../../server/contract/ledger.ts';
import { openSqliteDatabase } from '../../server/store/sqlite/database.ts';
import { createLedger } from '../../server/store/sqlite/ledger.ts';
import { finishedRow, silent } from '../server/store/sqlite/records.ts';
import { hashOf } from '../support/gateway.ts';
import { attemptRecord } from '../support/stand-ins.ts';

// A Sluice in daily use, for pictures. None of its providers is called.

const key = (id: string, name: string, group: string) => ({ id, name, group, hash: hashOf(id) });
const credential = (variable: string) => [{ id: 'c1', secret: `env:${variable}` }];

export const furnishedEnv = { OPENAI_KEY: 'sk-1', AZURE_KEY: 'sk-2', MISTRAL_API_KEY: 'sk-3' };

export const furnishedConfig: Partial<ConfigInput> = {
  providers: [
    {
      id: 'openai',
      name: 'OpenAI',
      preset: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      credentials: credential('OPENAI_KEY'),
      models: ['gpt-5', 'gpt-5-mini', 'gpt-4o-transcribe', 'gpt-image-1', 'text-embedding-3-large'],
    },
    {
      id: 'azure-eu',
      name: 'Azure OpenAI, Europe',
      preset: 'azure',
      dialect: 'azure',
      baseUrl: 'https://acme-eu.openai.azure.com/openai/v1',
      credentials: credential('AZURE_KEY'),
      models: ['gpt-5', 'gpt-5-mini'],
    },
    {
      id: 'groq',
      name: 'Groq',
      baseUrl: 'https://api.groq.com/openai/v1',
      credentials: credential('GROQ_KEY'),
      models: ['llama-4-70b'],
    },
    {
      id: 'ollama',
      name: 'Ollama',
      preset: 'ollama',
      baseUrl: 'http://127.0.0.1:11434/v1',
      models: ['qwen3:14b', 'nomic-embed-text'],
    },
  ],
  aliases: [
    {
      name: 'fast',
      targets: [
        { provider: 'openai', model: 'gpt-5-mini' },
        { provider: 'azure-eu', model: 'gpt-5-mini', priority: 1 },
        { provider: 'ollama', model: 'qwen3:14b', priority: 2 },
      ],
    },
    { name: 'embed', targets: [{ provider: 'ollama', model: 'nomic-embed-text' }] },
  ],
  groups: [
    {
      id: 'default',
      name: 'Everyday',
      order: [{ provider: 'openai' }, { provider: 'azure-eu', priority: 1 }],
      defaults: { chat: 'fast', embeddings: 'embed' },
    },
    { id: 'agents', name: 'Coding agents', models: ['gpt-5*', 'fast'], deny: ['gpt-5-pro'] },
    { id: 'local', name: 'Stays on this machine', providers: ['ollama'] },
  ],
  keys: [key('editor', 'Editor', 'default'), key('codex', 'Codex CLI', 'agents'), key('notes', 'Notes app', 'local')],
  settings: { demo: 'on' },
};

const count = 700;
const spanMs = 23 * 3_600_000;
const models = ['gpt-5', 'gpt-5-mini', 'gpt-5-mini', 'qwen3:14b', 'gpt-5', 'text-embedding-3-large', 'gpt-5-mini'];
const keys = ['editor', 'codex', 'codex', 'notes'];

/** Requests of the last 23 hours, more during the day, some of them failed or refused. */
export function furnish(folder: string): void {
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  const ledger = createLedger({ database, log: silent });
  const endMs = Date.now() - 2_000;
  for (let index = 0; index < count; index++) {
    const share = index / count;
    // Two waves, as on usual days.
    const sinceMs = spanMs * (1 - share + 0.06 * Math.sin(share * 4 * Math.PI));
    ledger.finished(requestAt(index, endMs - Math.max(0, Math.round(sinceMs))));
  }
  ledger.close();
  database.close();
}

function requestAt(index: number, startedAt: number): RequestRecord {
  const keyId = keys[(index * 3) % keys.length] ?? 'editor';
  const isLocal = keyId === 'notes';
  const model = isLocal ? 'qwen3:14b' : (models[(index * 5) % models.length] ?? 'gpt-5');
  const provider = model.startsWith('qwen') ? 'ollama' : index % 9 === 0 ? 'azure-eu' : 'openai';
  const isEmbedding = model.startsWith('text-embedding');
  const input = 400 + ((index * 7_919) % 9_000);
  const output = isEmbedding ? 0 : 40 + ((index * 613) % 1_400);
  const firstByteMs = 180 + ((index * 37) % 700);
  const totalMs = firstByteMs + output * 9;
  const price = provider === 'ollama' ? 0 : model === 'gpt-5' ? 1.25 : 0.25;
  const costUsd = (input * price + output * price * 8) / 1e6;
  const usage = { inputTokens: input, outputTokens: output, cachedInputTokens: Math.round(input * 0.4) };
  const attempt = attemptRecord({ provider, model, credential: 'c1', startedAt, firstByteMs, totalMs, usage, costUsd });
  const failed = {
    outcome: 'error',
    status: 429,
    errorCode: 'rate_limit_exceeded',
    usage: null,
    usageCertainty: 'none',
    costUsd: 0,
    totalMs: firstByteMs,
  } as const;
  const refused = {
    ...{ ...failed, status: 404, errorCode: 'model_not_found', modelAsked: 'gpt-5-mni', modelServed: null },
    ...{ provider: null, attempts: [], firstByteMs: null, totalMs: 2 },
  } as const;
  return finishedRow(`req_${index.toString(16).padStart(32, '0')}`, {
    ...{ startedAt, provider, keyId, usage, costUsd, firstByteMs, totalMs },
    groupId: keyId === 'codex' ? 'agents' : isLocal ? 'local' : 'default',
    capability: isEmbedding ? 'embeddings' : 'chat',
    route: isEmbedding ? '/v1/embeddings' : '/v1/chat/completions',
    stream: !isEmbedding,
    modelAsked: model === 'gpt-5-mini' ? 'fast' : model,
    modelServed: model,
    client: keyId === 'codex' ? 'codex_cli_rs/0.61' : 'OpenAI/Python 2.8.0',
    attempts:
      index % 11 === 5
        ? [
            { ...attempt, ...failedFirst },
            { ...attempt, startedAt: startedAt + failedFirst.totalMs, cause: 'fallback' },
          ]
        : [attempt],
    ...(index % 41 === 40 && failed),
    ...(index % 53 === 45 && refused),
  });
}

const failedFirst = {
  provider: 'azure-eu',
  failure: 'transient',
  status: null,
  error: 'the connection was refused',
  firstByteMs: null,
  totalMs: 12,
  usage: null,
  costUsd: null,
} as const;

const plainCount = 600;
const plainSpanMs = 20 * 3_600_000;

/** Writes 600 requests of the last twenty hours into the ledger of a data folder. Some of them have failed. */
export function fillWithRequests(folder: string): void {
  const beginMs = Date.now() - plainSpanMs;
  fill(folder, plainCount, (index) => beginMs + Math.floor(((index + 1) / plainCount) * plainSpanMs) - 1_000);
}

/** Writes ten requests of Codex, three days old. */
export function fillWithOldRequests(folder: string): void {
  const beginMs = Date.now() - 3 * 86_400_000;
  fill(folder, 10, (index) => beginMs + index, { client: 'codex_cli_rs/0.61' });
}

function fill(
  folder: string,
  requests: number,
  startedAt: (index: number) => number,
  more: Partial<RequestRecord> = {},
): void {
  const database = openSqliteDatabase(join(folder, 'ledger.sqlite'));
  const ledger = createLedger({ database, log: silent });
  for (let index = 0; index < requests; index++) {
    ledger.finished({ ...plainRequestAt(index, startedAt(index)), ...more });
  }
  ledger.close();
  database.close();
}

function plainRequestAt(index: number, startedAt: number): RequestRecord {
  // Lower numbers occur more often.
  const model = `gpt-${Math.floor((((index * 7) % 10) ** 2 / 100) * 8)}`;
  const failed = { outcome: 'error', status: 429, errorCode: 'rate_limit_exceeded', usage: null } as const;
  return finishedRow(`req_${index.toString(16).padStart(32, '0')}`, {
    startedAt,
    provider: index % 3 === 0 ? 'bare' : 'openai',
    modelAsked: model,
    modelServed: model,
    firstByteMs: 100 + ((index * 37) % 400),
    totalMs: 600 + ((index * 91) % 5_000),
    costUsd: 0.01,
    ...(index % 25 === 24 && failed),
  });
}
