/**
 * Shadow requests in the window: enabled for a group, shown beside a request and summarised.
 */
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { mainProvider } from '../support/gateway.ts';
import { json, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { unfold } from './person.ts';
import { oneOrAllAppearances, openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();

const answer = (content: string) => ({
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
});

const english = {
  part: 'Shadow requests',
  on: 'Also send a share of the requests to another model',
  model: 'Model',
  share: 'Share of the requests (%)',
  save: 'Save',
  saved: 'Saved.',
  differ: 'The answers differ.',
  compare: 'Compare the answers',
  equal: '0 of 1 answers equal',
  mark: 'shadow',
};
const chinese: typeof english = {
  part: '影子请求',
  on: '将一部分请求同时发送给另一个模型',
  model: '模型',
  share: '请求比例（%）',
  save: '保存',
  saved: '已保存。',
  differ: '两个回答不同。',
  compare: '比较两个回答',
  equal: '1 个回答中有 0 个相同',
  mark: '影子',
};

test.each(oneOrAllAppearances)(
  'a shadow is set up and compared at $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const upstream = await startUpstream((request, response) => {
      const isCheap = request.body.includes('"cheap"');
      json(response, answer(isCheap ? 'The sky scatters light.' : 'The sky scatters blue light.'));
    });
    const opened = await open({
      screen: '/groups/default',
      context: { colorScheme, locale, viewport: { width, height: 900 } },
      config: {
        providers: [mainProvider(upstream.baseUrl, { credentials: [], models: ['gpt-x', 'cheap'] })],
        settings: { prices: { 'gpt-x': { input: 10, output: 10 }, cheap: { input: 1, output: 1, maxOutput: 100 } } },
      },
    });
    const { page, gateway } = opened;
    const names = locale === 'zh-CN' ? chinese : english;
    await unfold(page, names.part);
    await page.getByRole('switch', { name: names.on }).check();
    await page.getByRole('textbox', { name: names.model, exact: true }).fill('main/cheap');
    await page.getByRole('textbox', { name: names.share }).fill('100');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: names.save }).click();
    // Until the window has received the saved group, leaving the screen would ask for confirmation.
    await page.getByText(names.saved, { exact: true }).waitFor();
    expect((await gateway.gateway.query({ type: 'groups' }))[0]?.shadow?.share).toBe(1);

    const messages = [{ role: 'user' as const, content: 'Why is the sky blue?' }];
    const { _request_id: id } = await gateway.client.chat.completions.create({ model: 'gpt-x', messages });
    await eventually(async () => {
      await gateway.record(id ?? '');
      return (await gateway.gateway.query({ type: 'request', id: id ?? '' })).shadow?.outcome === 'ok';
    });
    await page.goto(`${gateway.origin}/#/requests/${id}`);
    await page.getByText(names.differ).waitFor();
    await page.getByRole('button', { name: names.compare }).click();
    await page.locator('del', { hasText: 'blue' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);

    await page.goto(`${gateway.origin}/#/requests`);
    await page.getByRole('cell', { name: names.mark }).waitFor();

    await page.goto(`${gateway.origin}/#/groups/default`);
    await page.getByText(names.equal).waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(opened.complaints).toEqual([]);
    await upstream.stop();
  },
);
