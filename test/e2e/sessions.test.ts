/** The Sessions screen: what an agent did turn by turn, while it is running, and how it is stopped. */
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { claudeCode } from '../support/installed-programs.ts';
import { accessibilityFaults } from './accessibility.ts';
import { oneOrAllAppearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

test.each(oneOrAllAppearances)(
  'a session is followed, shown by turn and stopped at $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const opened = await open({
      screen: '/sessions',
      config: { groups: [{ id: 'default', capture: true }] },
      context: { colorScheme, locale, viewport: { width, height: 900 } },
    });
    const { page, gateway } = opened;
    const isChinese = locale === 'zh-CN';
    const { headers, body } = claudeCode('run');
    const system = '<env>\nWorking directory: /home/ann/gate\n</env>\nCurrent branch: fix-17';
    const ask = (content: unknown, before: object[] = []) =>
      gateway.fetch('/messages', {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, system, model: 'demo-chat', messages: [...before, { role: 'user', content }] }),
      });
    await page.getByText(isChinese ? '还没有会话' : 'No sessions yet').waitFor();
    await page.getByText('x-sluice-session: my-run-1').waitFor();
    const settings = page.getByRole('link', { name: isChinese ? '在设置中开启' : 'Turn it on in Settings' });
    expect(await settings.getAttribute('href')).toContain('section=records');
    expect(await accessibilityFaults(page)).toEqual([]);
    await takePicture(page, `gallery/sessions-empty-${width}-${colorScheme}-${locale}`);
    expect((await ask('Mend the gate.')).status).toBe(200);
    await page.getByText(isChinese ? '1 个请求' : '1 request').waitFor();
    expect((await ask('Mend the gate.')).status).toBe(200);
    await page.getByText(isChinese ? '2 个请求' : '2 requests').waitFor();
    await page.getByText('gate (fix-17)').waitFor();
    await page.getByText(isChinese ? '请求如何成为会话' : 'How requests become sessions').click();
    await page.getByText('x-sluice-session: my-run-1').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await takePicture(page, `gallery/sessions-${width}-${colorScheme}-${locale}`);
    await page.getByRole('link', { name: 'Mend the gate.' }).click();
    await page.getByRole('heading', { name: isChinese ? '第 2 轮' : 'Turn 2' }).waitFor();
    const calls = ['Read', 'Bash'].map((name) => ({ type: 'tool_use', id: name, name, input: { path: `${name}.md` } }));
    const results = calls.map(({ id }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: 'x',
      is_error: id === 'Bash',
    }));
    expect(
      (
        await ask(results, [
          { role: 'user', content: 'Mend the gate.' },
          { role: 'assistant', content: calls },
        ])
      ).status,
    ).toBe(200);
    await page.getByText(isChinese ? 'Bash Bash.md 3 B 失败' : 'Bash Bash.md 3 B failed').waitFor();
    await page.getByText('/home/ann/gate', { exact: true }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await takePicture(page, `gallery/session-${width}-${colorScheme}-${locale}`);
    await page.getByText(isChinese ? '对话' : 'Conversation', { exact: true }).click();
    await page.getByText('Read.md').waitFor();
    await expect.poll(() => page.getByText('Mend the gate.').count()).toBeGreaterThan(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await takePicture(page, `gallery/session-conversation-${width}-${colorScheme}-${locale}`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: isChinese ? '导出' : 'Export' }).click();
    const file = await text(await (await download).createReadStream());
    const lines = file.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).turn)).toEqual([1, 2, 2]);
    const stop = isChinese ? '停止会话' : 'Stop session';
    await page.getByRole('button', { name: stop }).click();
    await page.getByRole('dialog').getByRole('button', { name: stop }).click();
    await page.getByRole('button', { name: isChinese ? '恢复会话' : 'Resume session' }).waitFor();
    expect((await ask('Three')).status).toBe(400);
    await page.getByRole('link', { name: isChinese ? '所有会话' : 'All sessions' }).click();
    if (width < 600) await page.getByRole('button', { name: isChinese ? '筛选' : 'Filters', exact: true }).click();
    const state = page.getByLabel(isChinese ? '状态' : 'State');
    await state.selectOption('running');
    await page.getByText(isChinese ? '没有符合条件的会话' : 'No matching sessions').waitFor();
    await state.selectOption('refused');
    await page.getByRole('link', { name: 'Mend the gate.' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    await page.getByRole('link', { name: isChinese ? '请求记录' : 'Requests' }).click();
    await page.locator('a[href*="/sessions/ses_"]').first().click();
    await page.getByRole('heading', { name: isChinese ? '第 2 轮' : 'Turn 2' }).waitFor();
    expect(opened.complaints).toEqual([]);
  },
);
