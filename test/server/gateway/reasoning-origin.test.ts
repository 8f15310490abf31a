/** A conversation whose reasoning only one account can read returns to that account, whatever the strategy. */
import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { beforeEach, expect, test } from 'vitest';
import { mainProvider, startGateway, type TestGateway } from '../../support/gateway.ts';
import { claudeAt } from '../../support/sdk-clients.ts';
import { stopAfterEach } from '../../support/stop-after-each.ts';
import { answered, sendGoogleError } from '../../support/strict-gemini.ts';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../../support/upstream.ts';

const stopLater = stopAfterEach();
let upstream: ScriptedUpstream;
let gateway: TestGateway;
const model = 'gemini-3-pro';
const turnsLeft = 6;

beforeEach(async () => {
  upstream = await stopLater(startUpstream());
  const provider = mainProvider(`${upstream.origin}/v1beta`, {
    dialect: 'gemini',
    credentials: [{ id: 'c1' }, { id: 'c2' }, { id: 'c3' }],
  });
  gateway = await stopLater(
    startGateway({
      config: {
        providers: [provider, { ...provider, id: 'spare', credentials: [{ id: 'c1' }] }],
        groups: [{ id: 'default', policy: { strategy: 'round-robin' } }],
      },
      secrets: {
        'provider/main/c1': 'key-1',
        'provider/main/c2': 'key-2',
        'provider/main/c3': 'key-3',
        'provider/spare/c1': 'key-of-spare',
      },
    }),
  );
});

const keyOf = ({ headers }: SeenRequest) => String(headers['x-goog-api-key']);
const keysUsed = () => upstream.seen.map(keyOf);

/** Calls a tool in each turn, with a signature of the account that was used. */
function callsTools(refused: ReadonlySet<string> = new Set()): void {
  upstream.answer((request, response) => {
    const key = keyOf(request);
    if (refused.has(key)) return sendGoogleError(response, 429, 'RESOURCE_EXHAUSTED', 'Slow down.');
    const seal = Buffer.from(`sealed by ${key}`).toString('base64');
    const answer = answered([{ functionCall: { name: 'look', args: {} }, thoughtSignature: seal }]);
    json(response, { ...answer, responseId: `response-${upstream.seen.length}` });
  });
}

const look = { type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } };

/** Runs a turn of a chat whose client keeps no reasoning. */
async function chatTurn(messages: OpenAI.ChatCompletionMessageParam[]): Promise<void> {
  const { choices } = await gateway.client.chat.completions.create({ model, messages, tools: [look] });
  const calls = (choices[0]?.message.tool_calls ?? []).filter((call) => call.type === 'function');
  const plain = calls.map(({ id, type, function: { name, arguments: given } }) => ({
    id,
    type,
    function: { name, arguments: given },
  }));
  messages.push({ role: 'assistant', content: null, tool_calls: plain });
  for (const { id } of calls) messages.push({ role: 'tool', tool_call_id: id, content: 'nothing' });
}

const signaturesSent = () =>
  [...(upstream.seen.at(-1)?.body.toString() ?? '').matchAll(/"thoughtSignature":"([^"]*)"/g)].map(([, seal = '']) =>
    Buffer.from(seal, 'base64').toString(),
  );

test('a chat with kept reasoning stays on the key that made it, while new conversations take turns', async () => {
  callsTools();
  const first: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Look around.' }];
  const second: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Look up.' }];
  for (let turn = 0; turn < 3; turn++) for (const messages of [first, second]) await chatTurn(messages);
  expect(keysUsed()).toEqual(['key-1', 'key-2', 'key-1', 'key-2', 'key-1', 'key-2']);
  expect(signaturesSent()).toEqual(['sealed by key-2', 'sealed by key-2']);
});

test('so does a client that carries the reasoning in an envelope', async () => {
  callsTools();
  const claude = claudeAt(gateway);
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look around.' }];
  const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
  for (let turn = 0; turn < 3; turn++) {
    // Another conversation advances the rotation of credentials.
    await chatTurn([{ role: 'user', content: `Look ${turn}` }]);
    const { content } = await claude.messages.create({ model, max_tokens: 100, messages, tools });
    const calls = content.filter((block) => block.type === 'tool_use');
    messages.push({ role: 'assistant', content });
    messages.push({
      role: 'user',
      content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'nothing' })),
    });
  }
  const own = keysUsed().filter((_, index) => index % 2 === 1);
  expect(own).toEqual(['key-2', 'key-2', 'key-2']);
  expect(signaturesSent()).toEqual(['sealed by key-2', 'sealed by key-2']);
});

test('it moves while its key cannot serve it, and the reasoning then made binds it to the new place', async () => {
  const refused = new Set<string>();
  callsTools(refused);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Look around.' }];
  await chatTurn(messages);
  for (const key of ['key-1', 'key-2', 'key-3']) refused.add(key);
  await chatTurn(messages);
  refused.clear();
  for (let turn = 0; turn < turnsLeft; turn++) await chatTurn(messages);
  expect(keysUsed()[0]).toBe('key-1');
  expect(keysUsed().slice(-turnsLeft)).toEqual(Array(turnsLeft).fill('key-of-spare'));
});
