import { expect, test } from 'vitest';
import { cleanBaseUrl, readServiceAddress } from '../../../server/contract/address.ts';

const cases: readonly (readonly [pasted: string, meant: string])[] = [
  ['https://api.example.com/v1', 'https://api.example.com/v1'],
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['  https://api.example.com/v1//  ', 'https://api.example.com/v1'],
  ['api.example.com/v1', 'https://api.example.com/v1'],
  ['//api.example.com/v1', 'https://api.example.com/v1'],
  ['HTTPS://api.example.com/V1/Chat/Completions', 'HTTPS://api.example.com/V1'],
  ...['chat/completions', 'completions', 'messages', 'messages/count_tokens', 'messages/batches', 'models'].map(
    (call) => [`https://api.example.com/v1/${call}`, 'https://api.example.com/v1'] as const,
  ),
  ...['responses', 'responses/compact', 'responses/input_tokens', 'embeddings', 'moderations', 'models/gpt-5'].map(
    (call) => [`https://api.example.com/v1/${call}/`, 'https://api.example.com/v1'] as const,
  ),
  ...['images/generations', 'images/edits', 'audio/speech', 'audio/transcriptions', 'audio/translations'].map(
    (call) => [`api.example.com/v1/${call}`, 'https://api.example.com/v1'] as const,
  ),
  ['https://api.example.com/coding/v4/chat/completions', 'https://api.example.com/coding/v4'],
  ['https://api.example.com/anthropic/v1/messages', 'https://api.example.com/anthropic/v1'],
  ['https://g.example/v1beta/models/gemini-3:generateContent?key=planted', 'https://g.example/v1beta'],
  ['https://g.example/v1beta/models/gemini-3:streamGenerateContent?alt=sse', 'https://g.example/v1beta'],
  [
    'https://v.example/v1/projects/p/locations/l/publishers/google/models/g:predict',
    'https://v.example/v1/projects/p/locations/l',
  ],
  ['https://bedrock.example/model/anthropic.claude/converse-stream', 'https://bedrock.example'],
  [
    'https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1',
    'https://r.openai.azure.com/openai/v1',
  ],
  ['https://r.services.ai.azure.com/models/chat/completions', 'https://r.services.ai.azure.com/models'],
  ['https://r.services.ai.azure.com/models', 'https://r.services.ai.azure.com/models'],
  ['https://host.example/models/llama', 'https://host.example/models/llama'],
  ['127.0.0.1:5710/v1', 'http://127.0.0.1:5710/v1'],
  ['localhost:1234', 'http://localhost:1234'],
  ['[::1]:1234/v1', 'http://[::1]:1234/v1'],
  ['192.168.1.20:11434/api/tags', 'http://192.168.1.20:11434'],
  ['10.1.2.3/v1/chat/completions', 'http://10.1.2.3/v1'],
  ['172.31.0.1:8000', 'http://172.31.0.1:8000'],
  ['172.32.0.1:8000', 'https://172.32.0.1:8000'],
  ['nas:8080/v1', 'http://nas:8080/v1'],
  ['studio.local:1234/v1', 'http://studio.local:1234/v1'],
  ['studio.local:443/v1', 'https://studio.local:443/v1'],
  ['8.8.8.8/v1', 'https://8.8.8.8/v1'],
  ['"https://api.example.com/v1/messages",', 'https://api.example.com/v1'],
  ['curl https://api.example.com/v1/models', 'https://api.example.com/v1'],
  ['<https://api.example.com/v1>', 'https://api.example.com/v1'],
];

test.each(cases)('the address of a service as it is pasted is read as its base URL: %s', (pasted, meant) => {
  expect(cleanBaseUrl(pasted)).toBe(meant);
  // What was cleaned is clean: an edit that changes nothing stores nothing else.
  expect(cleanBaseUrl(meant)).toBe(meant);
});

test.each([
  'https://{resource}.openai.azure.com/openai/v1',
  'ftp://example.com/v1',
  'not an address',
  'https://',
  '',
  'https://api.example.com/v1?api-version=3',
  'https://user:secret@api.example.com/v1',
])('what only a person can put right stays as it is: %s', (text) => {
  expect(cleanBaseUrl(text)).toBe(text);
});

test.each([
  ['https://api.example.com/v1/messages', 'anthropic'],
  ['api.example.com/v1/chat/completions', 'openai'],
  ['https://api.example.com/v1beta/models/m:generateContent', 'gemini'],
  ['https://api.example.com/v1/models', null],
  ['https://api.example.com/v1', null],
])('the call whose address was pasted tells the API: %s', (pasted, dialect) => {
  expect(readServiceAddress(pasted).dialect).toBe(dialect);
});
