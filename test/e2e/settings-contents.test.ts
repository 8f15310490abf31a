import { describe, expect, it } from 'vitest';
import { accessibilityFaults } from './accessibility.ts';
import { openInSuite, overflowOf } from './window-suite.ts';

const open = openInSuite();
const narrow = { viewport: { width: 420, height: 800 } };

describe('the contents of the settings', () => {
  it('lead to a section, mark it and put it into the address', async () => {
    const { page, complaints } = await open({ screen: '/settings' });
    const contents = page.getByRole('navigation', { name: 'Contents' });
    const marked = () => contents.locator('[aria-current="location"]').allTextContents();
    await contents.getByRole('link', { name: 'Records' }).click();
    await expect.poll(() => page.url()).toContain('#/settings?section=records');
    await expect.poll(marked).toEqual(['Records']);
    const top = () =>
      page.getByRole('region', { name: 'Records' }).evaluate((part) => part.getBoundingClientRect().top);
    await expect.poll(top).toBeLessThan(200);
    // The last section cannot be scrolled to the top of the page.
    await contents.getByRole('link', { name: 'Export and import' }).click();
    await expect.poll(marked).toEqual(['Export and import']);
    await page.goBack();
    await expect.poll(marked).toEqual(['Records']);
    await page.mouse.move(700, 400);
    await page.mouse.wheel(0, -100_000);
    await expect.poll(marked).toEqual(['This window']);
    expect(complaints).toEqual([]);
  });

  it('are reached by a link from elsewhere', async () => {
    const { page } = await open({ screen: '/settings?section=about' });
    await expect
      .poll(() => page.getByRole('region', { name: 'About' }).evaluate((part) => part.getBoundingClientRect().bottom))
      .toBeLessThanOrEqual(800);
  });

  it('stay where they lead to while what stands above grows', async () => {
    const { page } = await open({ screen: '/settings?section=records' });
    const contents = page.getByRole('navigation', { name: 'Contents' });
    const records = page.getByRole('region', { name: 'Records' });
    const top = () => records.evaluate((part) => part.getBoundingClientRect().top);
    await expect.poll(top).toBeLessThan(200);
    const grow = (part: Element) => part.setAttribute('style', 'min-height: 900px');
    await page.getByRole('region', { name: 'Proxies and certificates' }).evaluate(grow);
    await expect.poll(top).toBeLessThan(200);
    expect(await contents.locator('[aria-current="location"]').allTextContents()).toEqual(['Records']);
  });

  it('fall back to the beginning where the address names no section', async () => {
    const { page } = await open({ screen: '/settings?section=teapot' });
    await page.getByRole('region', { name: 'About' }).waitFor();
    const contents = page.getByRole('navigation', { name: 'Contents' });
    expect(await contents.locator('[aria-current="location"]').allTextContents()).toEqual(['This window']);
    expect(await page.evaluate(() => scrollY)).toBe(0);
  });

  it('are a choice where the window is narrow', async () => {
    const { page } = await open({ screen: '/settings', context: narrow });
    await page.getByRole('region', { name: 'About' }).waitFor();
    expect(await page.getByRole('navigation', { name: 'Contents' }).count()).toBe(0);
    await page.getByLabel('Go to').selectOption('Serving');
    const top = () =>
      page.getByRole('region', { name: 'Serving' }).evaluate((part) => part.getBoundingClientRect().top);
    await expect.poll(top).toBeLessThan(200);
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
    await page.getByRole('region', { name: 'About' }).waitFor();
  });
});
