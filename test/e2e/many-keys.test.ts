/** More keys than events report: the window queries those that it shows. */
import { describe, expect, it } from 'vitest';
import { maxKeysReported } from '../../server/contract/find-keys.ts';
import { hashOf, testKey } from '../support/gateway.ts';
import { accessibilityFaults } from './accessibility.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();

const count = maxKeysReported + 100;
const last = `team-key-${count}`;
const keys = Array.from({ length: count }, (_, index) => ({
  id: `team-key-${index + 1}`,
  name: `Team key ${index + 1}`,
  group: `group-${(index % 60) + 1}`,
  hash: hashOf(index === count - 1 ? testKey : `secret ${index}`),
}));
const groups = [{ id: 'default' }, ...Array.from({ length: 60 }, (_, index) => ({ id: `group-${index + 1}` }))];
const config = { keys, groups };

describe('a window of very many keys', () => {
  it('shows the first, more when asked, and finds any by a part of its name', async () => {
    const { page, gateway, complaints } = await open({ screen: '/keys', config });
    await page.getByText('Showing 50 of 600').waitFor();
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('Showing 100 of 600').waitFor();
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
    const { page, clientWith, complaints } = await open({ screen: `/keys?key=${last}`, config });
    expect(await page.getByRole('dialog').getByLabel('Name').inputValue()).toBe('Team key 600');
    await clientWith(testKey).models.list();
    await page.goto(`${page.url().split('#')[0]}#/requests`);
    await page.getByRole('cell', { name: 'Team key 600' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('names keys of any group that is in use, and not all of very many', async () => {
    const { page } = await open({ screen: '/groups', config });
    await page.getByText('Showing 50 of 61').waitFor();
    await page.getByRole('searchbox', { name: 'Search groups' }).fill('group-60');
    await page.getByRole('link', { name: 'group-60' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page
      .getByRole('dialog')
      .getByText(/Team key 60, .*Team key 600/)
      .waitFor();
  });

  it.each(appearances)('is in order in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, complaints } = await open({ context, screen: '/keys', config });
    await page.getByText(/Showing 50 of 600|显示 600 项中的 50 项/).waitFor();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('searchbox').fill('team key 5');
    await page.getByText(/Showing 50 of 111|显示 111 项中的 50 项/).waitFor();
    await takePicture(page, `many-keys-${width}-${colorScheme}`, { fullPage: false });
    expect(complaints).toEqual([]);
  });
});
