/** Which model the window suggests, and what its list shows about the others. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { json, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { createKeptKey, openInSuite } from './window-suite.ts';

const open = openInSuite();
let steady: ScriptedUpstream;
let shaky: ScriptedUpstream;
beforeEach(async () => {
  steady = await startUpstream();
  shaky = await startUpstream((_request, response) => json(response, { error: { message: 'broken' } }, 500));
});
afterEach(() => Promise.all([steady.stop(), shaky.stop()]));

/** `gpt-5-nano`, the cheapest model, belongs to the failing provider. */
async function openPlayground() {
  const window = await open({
    config: {
      keys: [],
      settings: { demo: 'on' },
      groups: [{ id: 'default', policy: { retries: 0 } }],
      providers: [
        { id: 'steady', name: 'Steady', baseUrl: steady.baseUrl, models: ['aaa-unpriced', 'gpt-5', 'gpt-5-mini'] },
        { id: 'shaky', name: 'Shaky', baseUrl: shaky.baseUrl, models: ['gpt-5-nano'] },
      ],
    },
  });
  return { ...window, secret: await createKeptKey(window, 'try-out') };
}

it('suggests the model that costs least where none was used yet, neither the first by name nor the demo', async () => {
  const { page, gateway } = await openPlayground();
  await page.goto(`${gateway.origin}/#/playground/chat`);
  const field = page.getByLabel('Model', { exact: true });
  await expect.poll(() => field.inputValue()).toBe('gpt-5-nano');
  await field.click();
  const option = page.getByRole('option', { name: /gpt-5-nano/ });
  await option.getByText(/^Chat · \$0\.05 in, \$0\.40 out/).waitFor();
});

it('suggests none that fails, marks it in the list, and takes a name that no provider lists', async () => {
  const { page, gateway, clientWith, secret } = await openPlayground();
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  for (let count = 0; count < 6; count++)
    await clientWith(secret)
      .chat.completions.create({ model: 'gpt-5-nano', messages })
      .catch(() => {});
  await page.goto(`${gateway.origin}/#/playground/chat`);
  const field = page.getByRole('combobox', { name: 'Model', exact: true });
  await expect.poll(() => field.inputValue()).toBe('gpt-5-mini');
  await field.click();
  const failing = page.getByRole('option', { name: /gpt-5-nano/ });
  await failing.getByRole('img', { name: /^(Cooling down|Last requests failed)$/ }).waitFor();
  await field.fill('my-own-name');
  await page.getByText('Not in the list. It is sent as typed.').waitFor();
  await field.press('Escape');
  expect(await field.inputValue()).toBe('my-own-name');
});

it('is accessible with a list that is longer than what is seen of it', async () => {
  const many = Array.from({ length: 40 }, (_, index) => `model-${index}`);
  const { page, gateway } = await open({
    config: { providers: [{ id: 'steady', name: 'Steady', baseUrl: steady.baseUrl, models: many }] },
  });
  await page.goto(`${gateway.origin}/#/playground/chat`);
  await page.getByRole('combobox', { name: 'Model', exact: true }).click();
  await page.getByRole('option', { name: /model-39/ }).waitFor({ state: 'attached' });
  expect(await accessibilityFaults(page)).toEqual([]);
});
