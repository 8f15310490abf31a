import { afterEach, beforeEach, expect, test } from 'vitest';
import { startGateway, type TestGateway, testKey } from '../../support/gateway.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway.stop());

const clientOf = async (headers: Record<string, string>) => {
  await (await gateway.fetch('/models', { headers })).text();
  return (await gateway.record()).client;
};

test('a request is noted with its user agent', async () => {
  expect(await clientOf({ 'user-agent': 'Tool/1.2' })).toBe('Tool/1.2');
});

test('a request is noted with its title behind the user agent', async () => {
  expect(await clientOf({ 'user-agent': 'OpenAI/Python 3.54.0', 'x-title': 'LangChain' })).toBe(
    'OpenAI/Python 3.54.0 [LangChain]',
  );
});

test('a long title is cut', async () => {
  expect(await clientOf({ 'user-agent': 'Tool/1.2', 'x-title': 'a'.repeat(300) })).toBe(`Tool/1.2 [${'a'.repeat(60)}]`);
});

test('the key in a title is hidden', async () => {
  expect(await clientOf({ 'user-agent': 'Tool/1.2', 'x-title': `by ${testKey}` })).not.toContain(testKey);
});
