import { describe, expect, it } from 'vitest';
import { sectionIds } from '../../renderer/state/window/section-ids.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();
const narrow = { viewport: { width: 420, height: 800 } };

describe('the contents of the settings', () => {
  it('lead to a section, which is a page of its own, mark it and put it into the address', async () => {
    const { page, complaints } = await open({ screen: '/settings' });
    const contents = page.getByRole('navigation', { name: 'Contents' });
    const marked = () => contents.locator('[aria-current="page"]').allTextContents();
    await expect.poll(marked).toEqual(['This window']);
    await contents.getByRole('link', { name: 'Records' }).click();
    await expect.poll(() => page.url()).toContain('#/settings?section=records');
    await expect.poll(marked).toEqual(['Records']);
    expect(await page.getByRole('region').count()).toBe(1);
    await page.getByRole('region', { name: 'Records' }).waitFor();
    await contents.getByRole('link', { name: 'Export and import' }).click();
    await expect.poll(marked).toEqual(['Export and import']);
    await page.goBack();
    await expect.poll(marked).toEqual(['Records']);
    expect(await page.evaluate(() => scrollY)).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('are reached by a link from elsewhere, each by itself', async () => {
    const { page, gateway } = await open({ screen: '/settings?section=about' });
    await page.getByRole('region', { name: 'About' }).waitFor();
    for (const id of sectionIds.filter((each) => each !== 'desktop')) {
      await page.goto(`${gateway.origin}/#/settings?section=${id}`);
      await expect.poll(() => page.locator('[data-is-shown="true"]').getAttribute('id')).toBe(`settings-${id}`);
      expect(await page.getByRole('region').count()).toBeGreaterThan(0);
    }
  });

  it('fall back to the beginning where the address names no section', async () => {
    const { page } = await open({ screen: '/settings?section=teapot' });
    await page.getByRole('region', { name: 'This window' }).waitFor();
    const contents = page.getByRole('navigation', { name: 'Contents' });
    expect(await contents.locator('[aria-current="page"]').allTextContents()).toEqual(['This window']);
  });

  it('keep an unsaved edit in sight while another section is shown, and ask before it is lost', async () => {
    const { page } = await open({ screen: '/settings?section=address' });
    const port = page.getByLabel('Port', { exact: true });
    await port.fill('4321');
    await page.getByRole('link', { name: 'Serving' }).click();
    await page.getByRole('region', { name: 'Serving' }).waitFor();
    expect(await port.inputValue()).toBe('4321');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('dialog', { name: 'Discard unsaved changes?' }).waitFor();
  });

  it('are a choice where the window is narrow', async () => {
    const { page } = await open({ screen: '/settings', context: narrow });
    await page.getByRole('region', { name: 'This window' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Contents' }).count()).toBe(0);
    await page.getByLabel('Go to').selectOption('Serving');
    await page.getByRole('region', { name: 'Serving' }).waitFor();
    expect(await page.getByRole('region').count()).toBe(1);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
  });
});

describe('the search of the settings', () => {
  it('shows the matching rows in their sections, by synonyms of both languages', async () => {
    const { page, complaints } = await open({ screen: '/settings' });
    const search = page.getByRole('searchbox', { name: 'Search settings' });
    await search.fill('心跳');
    await expect.poll(() => page.getByRole('region').count()).toBe(1);
    const serving = page.getByRole('region', { name: 'Serving' });
    await serving.getByLabel('Keep-alive comments (seconds)').fill('20');
    expect(await serving.getByRole('textbox').count()).toBe(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    // Unsaved input stays visible.
    await search.fill('dark');
    const part = page.getByRole('region', { name: 'This window' });
    await part.getByLabel('Appearance').waitFor();
    expect(await part.getByLabel('Language').count()).toBe(0);
    expect(await serving.getByLabel('Keep-alive comments (seconds)').inputValue()).toBe('20');
    await serving.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => page.getByRole('region').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('says that nothing matches and offers to clear it', async () => {
    const { page } = await open({ screen: '/settings' });
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('teapot');
    await page.getByText('No setting matches “teapot”.').waitFor();
    expect(await page.getByRole('region').count()).toBe(0);
    await page.getByRole('button', { name: 'Clear search' }).last().click();
    await page.getByRole('region', { name: 'This window' }).waitFor();
  });
});

describe('the advanced settings', () => {
  it('are folded away in a section that has others, and shown by one click in all of them', async () => {
    const { page } = await open({ screen: '/settings?section=records' });
    const rows = page.getByLabel('Keep at most (requests)');
    await page.getByLabel('Keep requests (days)').waitFor();
    expect(await rows.count()).toBe(0);
    await page.getByRole('button', { name: /^Advanced/, expanded: false }).click();
    await rows.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Serving' }).click();
    await page.getByLabel('Keep-alive comments').waitFor();
    await page
      .getByRole('button', { name: /^Advanced/, expanded: true })
      .first()
      .click();
    await page.getByLabel('Keep-alive comments').waitFor({ state: 'detached' });
  });

  it('are found by the search, asked for by a link, and alone in a section need no click', async () => {
    const { page, gateway } = await open({ screen: '/settings' });
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('heartbeat');
    await page.getByLabel('Keep-alive comments').waitFor();
    await page.goto(`${gateway.origin}/#/settings?section=observability`);
    await page.getByRole('button', { name: 'Clear search' }).click();
    await page.getByLabel('Prometheus metrics').waitFor();
    expect(await page.getByRole('button', { name: /^Advanced/ }).count()).toBe(0);
    await page.goto(`${gateway.origin}/#/settings?section=serving&level=advanced`);
    await page.getByLabel('Memory for bodies').waitFor();
  });
});
