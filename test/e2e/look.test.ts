/** @suite long The look of the window: its typefaces and its motion. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { hashOf, testKey } from '../support/gateway.ts';
import { openInSuite } from './window-suite.ts';

const open = openInSuite();

/** Faces whose files have been used. */
const loadedFaces = (page: Page) =>
  page.evaluate(() => [...document.fonts].filter(({ status }) => status === 'loaded').map(({ family }) => family));

it('is set in its own two typefaces, whose digits are equally wide, from its own address', async () => {
  const { page, gateway, complaints } = await open({ screen: '/connect' });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.reload();
  await page.locator('code, pre').first().waitFor();
  await expect
    .poll(async () => (await loadedFaces(page)).map((family) => family.replaceAll('"', '')).sort())
    .toEqual(['Geist Mono Variable', 'Geist Variable']);
  expect(asked.filter((url) => /\.woff2$/.test(url))).toHaveLength(2);
  expect(asked.filter((url) => !url.startsWith(gateway.origin) && !url.startsWith('data:'))).toEqual([]);
  const widths = await page.evaluate(() =>
    ['1111', '0000', '4747'].map((digits) => {
      const text = document.body.appendChild(document.createElement('span'));
      text.textContent = digits;
      const { width } = text.getBoundingClientRect();
      text.remove();
      return width;
    }),
  );
  expect(new Set(widths).size).toBe(1);
  expect(complaints).toEqual([]);
});

it('shows its text before its typefaces have arrived', async () => {
  const { page } = await open({ screen: '/settings' });
  const release = Promise.withResolvers<void>();
  await page.route('**/*.woff2', async (route) => {
    await release.promise;
    await route.continue();
  });
  await page.reload({ waitUntil: 'commit' });
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await loadedFaces(page)).toEqual([]);
  release.resolve();
  await expect.poll(() => loadedFaces(page)).not.toEqual([]);
});

it.each(['no-preference', 'reduce'] as const)('moves for 150 ms at most: %s', async (reducedMotion) => {
  const { page } = await open({ screen: '/keys' });
  await page.emulateMedia({ reducedMotion });
  await page.getByRole('switch').first().waitFor();
  const longestMs = await page.evaluate(() => {
    const milliseconds = (time: string) => Number.parseFloat(time) * (time.trim().endsWith('ms') ? 1 : 1_000);
    const times = [...document.querySelectorAll('body *')].flatMap((element) =>
      getComputedStyle(element).transitionDuration.split(',').map(milliseconds),
    );
    return Math.max(...times);
  });
  expect(longestMs).toBeLessThanOrEqual(reducedMotion === 'reduce' ? 0 : 150);
});

it.each([
  [420, 44],
  [1280, 28],
])('has room for a finger around the buttons of rows, but not where rows are low: %i px', async (width, side) => {
  const keys = ['one', 'two'].map((name) => ({ id: name, name, group: 'default', hash: hashOf(`${testKey}-${name}`) }));
  const context = { viewport: { width, height: 800 } };
  const { page } = await open({ screen: '/keys', config: { keys }, context });
  const row = page
    .getByRole('listitem')
    .filter({ has: page.getByRole('switch') })
    .first();
  const sizes = await row.locator('button').evaluateAll((all) =>
    all.map((each) => {
      const { width, height } = each.getBoundingClientRect();
      return [width, height];
    }),
  );
  expect(sizes).toEqual([
    [side, side],
    [side, side],
  ]);
  expect(await row.evaluate((each) => each.getBoundingClientRect().height)).toBeLessThan(width === 420 ? 80 : 46);
});
