/** @suite long The look of the window: its typefaces and its motion. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
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
