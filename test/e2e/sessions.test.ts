/** The Sessions screen: what an agent did turn by turn, while it goes on, and how it is stopped. */
import { expect, test } from 'vitest';
import { claudeCode } from '../support/agent-requests.ts';
import { testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { appearances, openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();

test.each(appearances)(
  'a session is followed, shown by turn and stopped at $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const opened = await open({
      screen: '/sessions',
      context: { colorScheme, locale, viewport: { width, height: 900 } },
    });
    const { page, gateway } = opened;
    const isChinese = locale === 'zh-CN';
    const { headers, body } = claudeCode('run');
    const ask = (content: string) =>
      gateway.fetch('/messages', {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, model: 'demo-chat', messages: [{ role: 'user', content }] }),
      });
    await page.getByText(isChinese ? '还没有会话' : 'No sessions yet').waitFor();
    expect((await ask('One')).status).toBe(200);
    await page.getByText(isChinese ? '1 个请求' : '1 request').waitFor();
    expect((await ask('One')).status).toBe(200);
    await page.getByText(isChinese ? '2 个请求' : '2 requests').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'claude-cli/2.1.197' }).click();
    await page.getByRole('heading', { name: isChinese ? '第 2 轮' : 'Turn 2' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    const stop = isChinese ? '停止会话' : 'Stop session';
    await page.getByRole('button', { name: stop }).click();
    await page.getByRole('dialog').getByRole('button', { name: stop }).click();
    await page.getByRole('button', { name: isChinese ? '恢复会话' : 'Resume session' }).waitFor();
    expect((await ask('Three')).status).toBe(400);
    expect(opened.complaints).toEqual([]);
  },
);
