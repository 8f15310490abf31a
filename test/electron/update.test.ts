/**
 * An update from one version to the next: the built main with electron-updater's own code, a generic feed on loopback,
 * and a shell script as the AppImage. What other systems do after "install" is outside of Sluice, and is covered in
 * manual-checks.md.
 *
 * @suite long
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessibilityFaults } from '../e2e/accessibility.ts';
import { onlyIf } from '../support/only-if.ts';
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { openDesktopsInSuite, startHeldStream } from './desktop-suite.ts';
import type { DesktopOptions, OpenedDesktop } from './open-desktop.ts';

let folder: string;
let feed: ScriptedUpstream;
let desktop: OpenedDesktop;
/** How the feed sends the new program. */
let send: (response: ServerResponse) => void;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-update-'));
  mkdirSync(join(folder, 'resources'));
  putOldProgram();
  send = (response) => response.end(newProgram());
  feed = await startUpstream(({ url }, response) => {
    if (url.startsWith('/latest-linux')) response.end(JSON.stringify(release()));
    else send(response.setHeader('content-length', newProgram().length));
  });
  const source = { provider: 'generic', url: feed.origin, updaterCacheDirName: 'sluice-updater' };
  writeFileSync(join(folder, 'resources/app-update.yml'), JSON.stringify(source));
});
afterEach(async () => {
  await feed.stop();
  rmSync(folder, { recursive: true, force: true });
});
// Opened here so that its desktop is closed before the files that it uses are removed.
const openDesktop = openDesktopsInSuite();

const appImage = () => join(folder, 'Sluice.AppImage');
const started = () => join(folder, 'started');

function putOldProgram(): void {
  writeFileSync(appImage(), '#!/bin/sh\n');
  chmodSync(appImage(), 0o755);
}

/** A script that records its start. It is long enough to be sent in several pieces. */
function newProgram(): Buffer {
  return Buffer.from(`#!/bin/sh\necho started > '${started()}'\nexit\n${'#'.repeat(256 * 1024)}`);
}

/** In electron-builder's format; JSON is valid YAML. */
function release() {
  const sha512 = createHash('sha512').update(newProgram()).digest('base64');
  const url = 'Sluice-9.9.9-linux-x86_64.AppImage';
  const releaseNotes = '### Fixed\n\n- Streams are <b>whole</b>,\n  always.\n- Another thing.\n';
  return { version: '9.9.9', files: [{ url, sha512, size: newProgram().length }], path: url, sha512, releaseNotes };
}

async function open({ isAppImage = true, ...options }: DesktopOptions & { isAppImage?: boolean } = {}): Promise<void> {
  const env = { DOUBLE_PACKAGED: '1', DOUBLE_RESOURCES: join(folder, 'resources') };
  desktop = await openDesktop({ ...options, env: { ...env, ...(isAppImage && { APPIMAGE: appImage() }) } });
}

async function labelOf(id: string): Promise<string | undefined> {
  return (await desktop.state()).tray?.menu.find((item) => item.id === id)?.label;
}

describe.runIf(onlyIf(process.platform === 'linux', 'an AppImage is what a test can replace'))('an update', () => {
  it('shows what it changes and how far it is, can be cancelled, and is loaded when asked for again', async () => {
    let drip: NodeJS.Timeout | undefined;
    send = (response) => {
      response.write(newProgram().subarray(0, 64 * 1024));
      drip = setInterval(() => response.write('#'), 100);
      response.on('close', () => clearInterval(drip));
    };
    await open();
    const page = await desktop.page();
    await page.evaluate(() => location.assign('#/settings?section=desktop'));
    const part = page.getByRole('region', { name: 'Desktop' });
    await part.getByText('Version 9.9.9 is being downloaded.').waitFor();
    expect(await part.getByRole('listitem').allTextContents()).toEqual([
      'Streams are <b>whole</b>, always.',
      'Another thing.',
    ]);
    const progress = part.getByRole('progressbar', { name: 'Update download' });
    await expect.poll(() => progress.getAttribute('aria-valuenow')).toBe('25');
    expect(await labelOf('update')).toBe('Downloading 9.9.9…');
    expect(await accessibilityFaults(page)).toEqual([]);

    await part.getByRole('button', { name: 'Cancel download' }).click();
    await part.getByText('Not checked for updates yet.').waitFor();
    send = (response) => response.end(newProgram());
    await part.getByRole('button', { name: 'Check for updates' }).click();
    await part.getByText('Version 9.9.9 is ready.').waitFor();
    expect((await desktop.state()).shown.notifications).toMatchObject([{ title: 'Sluice 9.9.9 is ready' }]);
    expect(desktop.complaints).toEqual([]);
  });

  it('replaces the program once running requests have ended, and is started', async () => {
    const { upstream, providers, finish } = await startHeldStream();
    await open({ config: { providers }, args: ['--hidden'] });
    await expect.poll(() => labelOf('update')).toBe('Install 9.9.9 and restart');
    const stream = await (await desktop.client()).chat.completions.create({
      ...{ model: 'gpt-x', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
    });
    let text = '';
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      if (text !== 'Hel') continue;
      await desktop.order('clickMenu', { id: 'update' });
      await expect.poll(() => labelOf('state')).toBe('Sluice stops when running requests have ended…');
      expect(readFileSync(appImage(), 'utf8')).toBe('#!/bin/sh\n');
      finish();
    }
    expect(text).toBe('Hello');
    expect(await desktop.ended).toBe(0);
    expect(readFileSync(appImage()).equals(newProgram())).toBe(true);
    await expect.poll(() => existsSync(started())).toBe(true);
    await upstream.stop();
  });

  it('that cannot be installed leaves Sluice serving, which says why, and can be tried again', async () => {
    await open({ args: ['--hidden'] });
    await expect.poll(() => labelOf('update')).toBe('Install 9.9.9 and restart');
    rmSync(appImage());
    await desktop.order('clickMenu', { id: 'update' });
    const told = ['The update could not be installed. Sluice keeps running the current version.'];
    await expect.poll(async () => (await desktop.state()).shown.messages).toEqual(told);
    expect(await labelOf('state')).toMatch(/^Serving at/);
    const { data } = await (await desktop.client()).models.list();
    expect(data.map(({ id }) => id)).toContain('demo-chat');
    putOldProgram();
    await desktop.order('clickMenu', { id: 'update' });
    expect(await desktop.ended).toBe(0);
    expect(readFileSync(appImage()).equals(newProgram())).toBe(true);
  });

  it('that breaks off is reported, and the gateway continues', async () => {
    send = (response) => response.write('#!', () => response.destroy());
    await open({ args: ['--hidden'] });
    await expect.poll(() => labelOf('update')).toBe('The update failed; try again');
    const { data } = await (await desktop.client()).models.list();
    expect(data.map(({ id }) => id)).toContain('demo-chat');
  });

  it('is left to the person if Sluice was installed where it cannot be replaced, as from a tar.gz', async () => {
    await open({ args: ['--hidden'], isAppImage: false });
    await expect.poll(() => labelOf('update')).toBe('Updates come with this installation');
  });
});
