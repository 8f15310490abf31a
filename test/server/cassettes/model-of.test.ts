import { expect, test } from 'vitest';
import type { RecordedRequest } from '../../../server/cassettes/format.ts';
import { modelOf } from '../../../server/cassettes/recording.ts';
import { modelOf as modelOfCall, withModel } from '../../../server/contract/sent-request.ts';

const recorded = (path: string, json: unknown = {}): RecordedRequest => ({
  method: 'POST',
  wire: 'any',
  path,
  headers: {},
  body: { json },
});

test.each([
  ['/v1beta/models/gemini-2.5-pro:generateContent', 'gemini-2.5-pro'],
  ['/v1beta/models/ollama/qwen3-coder:generateContent', 'ollama/qwen3-coder'],
  ['/v1beta/models/llama3:8b:streamGenerateContent?alt=sse', 'llama3:8b'],
  ['/v1beta/models/openai%2Fgpt-5:generateContent', 'openai/gpt-5'],
  ['/v1beta/tunedModels/mine-1:generateContent', 'tunedModels/mine-1'],
])('the model of a recording of %s is %s', (path, model) => {
  expect(modelOf(recorded(path))).toBe(model);
  expect(modelOfCall({ path, body: '{}' })).toBe(model);
  expect(modelOfCall(withModel({ path, body: '{}' }, 'a/b:c') ?? { path: '', body: '' })).toBe('a/b:c');
});

test.each([
  ['/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21', {}, 'my-gpt'],
  ['/v1/chat/completions', { model: 'gpt-5' }, 'gpt-5'],
  ['/v1/messages', { model: 'claude-opus-5-5' }, 'claude-opus-5-5'],
  ['/v1/files', {}, null],
])('the model of a recording of %s with %j is %s', (path, json, model) => {
  expect(modelOf(recorded(path, json))).toBe(model);
});
