/** Marking a server of one's own as local and free. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { trackOf } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const answer = {
  id: 'x',
  object: 'chat.completion',
  choices: [{ message: { role: 'assistant', content: 'OK' } }],
  usage,
};

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => json(response, answer));
});
afterAll(() => upstream.stop());

const limits = { budgets: [{ unit: 'usd', amount: 5, per: 'day' } as const] };

it('makes a budget in dollars admit its models', async () => {
  const config = {
    groups: [{ id: 'default', limits }],
    providers: [{ id: 'mine', baseUrl: upstream.baseUrl, models: ['my-model'] }],
  };
  const { page, gateway, complaints } = await open({ screen: '/providers/mine', config });
  const ask = () => {
    const body = JSON.stringify({ model: 'my-model', messages: [{ role: 'user', content: 'Hi' }] });
    return gateway.fetch('/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
  };
  expect((await ask()).status).toBe(403);
  const power = page.getByRole('switch', { name: 'Local, free' });
  await trackOf(power).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await ask()).status).toBe(200);
  expect(await gateway.gateway.query({ type: 'providers' })).toMatchObject([{ free: true, isFree: true }]);
  expect(complaints).toEqual([]);
});

it('is proposed where a model on this machine has no price', async () => {
  const providers = [
    { id: 'mine', baseUrl: upstream.baseUrl, models: ['my-model'] },
    { id: 'far', baseUrl: 'https://llm.example.com/v1', models: ['its-model'] },
  ];
  const { page, gateway } = await open({ screen: '/settings?section=prices', config: { providers } });
  const prices = page.getByRole('list', { name: 'Prices' });
  await prices.getByRole('button', { name: 'Set price: its-model at far' }).waitFor();
  expect(await prices.getByRole('button', { name: /^Local, free/ }).count()).toBe(1);
  await takePicture(page, 'local-price');
  await prices.getByRole('button', { name: 'Local, free: my-model at mine' }).click();
  const row = prices.getByRole('listitem').filter({ hasText: 'my-model' });
  await row.getByText('Free of charge').waitFor();
  expect(await prices.getByRole('button', { name: /^Local, free/ }).count()).toBe(0);
  expect(await gateway.gateway.query({ type: 'providers' })).toMatchObject([{ free: true }, { free: null }]);
  expect(await accessibilityFaults(page)).toEqual([]);
});

it.each(appearances)('fits in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
  const context = { viewport: { width, height: 800 }, colorScheme, locale };
  const providers = [
    {
      id: 'ollama',
      preset: 'ollama',
      baseUrl: 'http://127.0.0.1:11434/v1',
      models: ['qwen3:8b', 'gpt-oss:120b-cloud'],
    },
  ];
  const { page } = await open({ screen: '/providers/ollama', config: { providers }, context });
  const power = page.getByRole('switch', { name: /^(Local, free|本地，免费)/ });
  await power.waitFor();
  expect(await power.isChecked()).toBe(true);
  await takePicture(page, `local-provider-${width}-${colorScheme}-${locale}`);
  expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  expect(await accessibilityFaults(page)).toEqual([]);
});
