/**
 * More keys and groups than events report: the window queries those that it shows.
 *
 * @suite long
 */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { maxReported } from '../../server/contract/find.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { expectFocus } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

const count = maxReported + 100;
const last = `team-key-${count}`;
const keys = Array.from({ length: count }, (_, index) => ({
  id: `team-key-${index + 1}`,
  name: `Team key ${index + 1}`,
  group: `group-${index + 1}`,
  hash: hashOf(index === count - 1 ? testKey : `secret ${index}`),
  ...(index === count - 1 && { expiresAt: new Date(Date.now() + 86_400_000).toISOString() }),
}));
const lastGroup = `group-${count}`;
const groups = keys.map(({ group }, index) => ({ id: group, name: `Group ${index + 1}` }));
const config = { keys, groups };
/** Where the list of requests has the column of keys by default. */
const large = { viewport: { width: 1700, height: 900 } };

/** Reads how long the page's scripts have run, which other programs on the machine hardly change. */
async function scriptMsOf(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'ScriptDuration')?.value ?? 0);
  };
}

/** Types into a searchable menu, and chooses the result by keyboard alone. */
async function choose(page: Page, menu: string, text: string, option: string): Promise<void> {
  const field = page.getByRole('combobox', { name: menu, exact: true });
  await field.focus();
  await page.keyboard.type(text);
  const options = page.getByRole('listbox').getByRole('option');
  await expect.poll(() => options.allTextContents()).toEqual([option]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => field.inputValue()).toBe(option);
}

describe('a window of very many keys', () => {
  it('shows the first, and more when asked', async () => {
    const { page, complaints } = await open({ screen: '/keys', config });
    await page.getByText('Showing 50 of 600').waitFor();
    const scriptMs = await scriptMsOf(page);
    await page.getByRole('button', { name: 'Show more' }).focus();
    const costs: number[] = [];
    for (let shown = 100; shown <= maxReported; shown += 50) {
      const before = await scriptMs();
      await page.keyboard.press('Enter');
      await page
        .getByText(shown < maxReported ? `Showing ${shown} of 600` : /^The first 500 of 600\. Search/)
        .waitFor();
      costs.push((await scriptMs()) - before);
    }
    // What is shown already is not drawn again: the last fifty cost about what the first did, not several times as much.
    expect(Math.min(...costs.slice(-3))).toBeLessThan(5 * Math.min(...costs.slice(0, 3)));
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('finds any by a part of its name', async () => {
    const { page, gateway, complaints } = await open({ screen: '/keys', config });
    const search = page.getByRole('searchbox', { name: 'Search keys' });
    await search.fill('nowhere');
    await page.getByText('Nothing fits.').waitFor();
    await search.fill('key 600');
    const on = page.getByRole('switch', { name: 'Enable key Team key 600' });
    await on.waitFor({ state: 'attached' });
    expect(await page.getByRole('switch').count()).toBe(1);
    await gateway.gateway.execute({ type: 'key.update', id: last, changes: { enabled: false } });
    await expect.poll(() => on.isChecked()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it('opens the form of any key by its address, and names it in the list of requests', async () => {
    const { page, clientWith, complaints } = await open({ screen: `/keys?key=${last}`, config, context: large });
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Team key 600');
    await clientWith(testKey).models.list();
    await page.goto(`${page.url().split('#')[0]}#/requests`);
    await page.getByRole('cell', { name: 'Team key 600' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows any group and its keys, and names those that are in the way of its removal', async () => {
    const { page, gateway, complaints } = await open({ screen: '/groups', config });
    await page.getByText('Showing 50 of 600').waitFor();
    await page.getByRole('searchbox', { name: 'Search groups' }).fill('group 600');
    await page.getByRole('link', { name: 'Group 600' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page
      .getByRole('dialog')
      .getByText(/Team key 600/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await gateway.gateway.execute({ type: 'group.put', group: { id: lastGroup, name: 'The last group' } });
    await page.getByRole('heading', { name: 'The last group' }).waitFor();
    await page.getByRole('link', { name: '1 key' }).click();
    await page.getByRole('switch', { name: 'Enable key Team key 600' }).waitFor({ state: 'attached' });
    expect(await page.getByRole('switch').count()).toBe(1);
    await page.getByText('group The last group').waitFor();
    await page.goto(`${page.url().split('#')[0]}#/groups/nowhere`);
    await page.getByText('There is no group “nowhere”').waitFor();
    expect(complaints).toEqual([]);
  });

  it('finds any key and group in its menus', async () => {
    const { page, clientWith, complaints } = await open({ screen: '/requests', config, context: large });
    await clientWith(testKey).models.list();
    await page.getByRole('button', { name: 'More filters' }).click();
    await choose(page, 'Key', 'key 600', 'Team key 600');
    await choose(page, 'Group', 'group 600', 'Group 600');
    expect(page.url()).toContain(`key=${last}&group=${lastGroup}`);
    await page.getByRole('cell', { name: 'Team key 600' }).waitFor();
    await page.getByRole('combobox', { name: 'Key', exact: true }).fill('nowhere');
    await page.getByText('Nothing fits.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Capture' }).click();
    await page.getByRole('menuitem', { name: 'A group or key' }).click();
    await choose(page, 'Requests of', '600 team', 'Team key 600');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Capture' }).click();
    await page.getByText(/Capturing: Key Team key 600/).waitFor();
    await page.goto(`${page.url().split('#')[0]}#/playground/chat`);
    await choose(page, 'Key', 'key 600', 'Team key 600');
    expect(complaints).toEqual([]);
  });

  it('finds any key and group in its palette, and tells on the overview what needs attention', async () => {
    const { page, complaints } = await open({ screen: '/overview', config });
    await page.getByRole('link', { name: /The key “Team key 600” expires/ }).waitFor();
    await page.keyboard.press('Control+k');
    await expectFocus(page.getByRole('combobox', { name: 'Command palette' }));
    await page.keyboard.type('key 600');
    await page.getByRole('option', { name: 'Team key 600', exact: true }).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('group 600');
    await page.getByRole('option', { name: 'Group 600', exact: true }).click();
    await page.getByRole('heading', { name: 'Group 600' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it.each(appearances)('is in order in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ context, screen: '/keys', config });
    await page.getByText(/Showing 50 of 600|显示 600 项中的 50 项/).waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('searchbox').fill('team key 5');
    await page.getByText(/Showing 50 of 195|显示 195 项中的 50 项/).waitFor();
    await takePicture(page, `many-keys-${width}-${colorScheme}`, { fullPage: false });
    expect(complaints).toEqual([]);
  });
});
