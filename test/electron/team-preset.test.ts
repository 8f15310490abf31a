/**
 * Team presets that the system passes to the desktop, and one that is built into it.
 *
 * @suite long
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePresetLink } from '../../server/contract/sluice-link.ts';
import { acmePreset } from '../server/control/team-preset-file.ts';
import { checkout } from '../support/program.ts';
import { openDesktopsInSuite } from './desktop-suite.ts';
import { type OpenedDesktop, startMain } from './open-desktop.ts';

const link = makePresetLink(acmePreset) ?? '';
const open = openDesktopsInSuite();

async function expectPreview(desktop: OpenedDesktop): Promise<void> {
  const page = await desktop.page();
  const dialog = page.getByRole('dialog', { name: 'Team preset' });
  await dialog.getByText('Added: provider acme').waitFor();
  // Main holds the preset until the window fetches it. It is in no address that a history would store.
  expect(page.url()).not.toContain('data=');
}

describe('a link of Sluice', () => {
  it('that starts the program opens its window with the preview, hidden though it was to be', async () => {
    const desktop = await open({ args: ['--hidden', link] });
    await desktop.baseUrl();
    await expectPreview(desktop);
    const config = JSON.parse(readFileSync(join(desktop.folder, 'data/config.json'), 'utf8'));
    expect(config.providers ?? []).toEqual([]);
  });

  it('that starts a second program is shown by the first one, whose window was closed', async () => {
    const desktop = await open({ args: ['--hidden'] });
    await desktop.baseUrl();
    const second = startMain(desktop.folder, { args: [link] });
    expect(await second.ended).toBe(0);
    await expectPreview(desktop);
  });

  it('that comes as an event, as on macOS, is shown in the open window, and applied when asked', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    await desktop.order('handOver', { event: 'open-url', what: link });
    await expectPreview(desktop);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Enter the credential for Acme models' }).waitFor();
    expect(desktop.complaints).toEqual([]);
  });

  it('that is of another kind, or no preset, is refused with a notice', async () => {
    const desktop = await open();
    const page = await desktop.page();
    await page.getByRole('status').getByText('Serving').waitFor();
    const notice = page.getByRole('dialog').getByText('The link does not contain a readable team preset.');
    for (const wrong of [
      // An address instead of a preset.
      'sluice://preset?url=https://evil.example/team.json',
      // Not valid text.
      'sluice://preset?data=_w',
      // Too long.
      `sluice://preset?data=${'A'.repeat(31_000)}`,
    ]) {
      await desktop.order('handOver', { event: 'open-url', what: wrong });
      await notice.waitFor();
      await page.keyboard.press('Escape');
      await notice.waitFor({ state: 'detached' });
    }
  });

  it('is for an installed program only', async () => {
    const desktop = await open({ args: ['--hidden'], env: { DOUBLE_PACKAGED: '1' } });
    await expect.poll(async () => (await desktop.state()).linkSchemes).toEqual(['sluice']);
    const fromSources = await open({ args: ['--hidden'] });
    await fromSources.baseUrl();
    expect((await fromSources.state()).linkSchemes).toEqual([]);
  });
});

it('a file that the system hands over is shown, and one that is none is refused', async () => {
  const desktop = await open();
  const path = join(desktop.folder, 'team.json');
  writeFileSync(path, JSON.stringify(acmePreset));
  const page = await desktop.page();
  await page.getByRole('status').getByText('Serving').waitFor();
  await desktop.order('handOver', { event: 'open-file', what: path });
  await expectPreview(desktop);
  await page.keyboard.press('Escape');
  await desktop.order('handOver', { event: 'open-file', what: join(desktop.folder, 'gone.json') });
  await page.getByText('gone.json does not contain a readable team preset.').waitFor();
});

describe('a preset that is built in', () => {
  /** A copy of the built program that can contain a preset and an update feed. */
  let built: string;
  beforeAll(() => {
    built = mkdtempSync(join(tmpdir(), 'sluice-built-'));
    for (const part of ['program', 'window'])
      cpSync(join(checkout, 'dist', part), join(built, part), { recursive: true });
    writeFileSync(join(built, 'program/app-update.yml'), 'provider: generic\nurl: http://127.0.0.1:9/\n');
  });
  afterAll(() => rmSync(built, { recursive: true, force: true }));

  function mainWith(preset: object): string {
    writeFileSync(join(built, 'team-preset.json'), JSON.stringify(preset));
    return join(built, 'program/main.js');
  }

  it('is applied at the start, and switches updates off', async () => {
    const desktop = await open({ main: mainWith({ ...acmePreset, locked: ['groups'] }) });
    const page = await desktop.page();
    await page.evaluate(() => location.assign('#/groups'));
    await page.getByText('Set by Acme').first().waitFor();
    await page.evaluate(() => location.assign('#/settings?section=team'));
    await page.getByText('Built into this program.').waitFor();
    await page.evaluate(() => location.assign('#/settings?section=desktop'));
    await page.getByText('Updates come with this installation.').waitFor();
  });

  it('may leave updates on', async () => {
    // An installation that can be updated.
    const env = { DOUBLE_PACKAGED: '1', APPIMAGE: '/opt/Sluice.AppImage' };
    const desktop = await open({ main: mainWith({ ...acmePreset, updates: 'on' }), env });
    const page = await desktop.page();
    await page.evaluate(() => location.assign('#/settings?section=desktop'));
    await page.getByRole('button', { name: 'Check for updates' }).waitFor();
  });
});
