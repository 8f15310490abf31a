/** Tests each promise of `docs/security.md` about the desktop, with the built main and a real page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {} from '../../renderer/state/api/create-api.ts';
import { ipcChannels } from '../../server/contract/ipc.ts';
import { hasChromium, skipWithoutChromium } from '../support/chromium.ts';
import { testKey } from '../support/gateway.ts';
import { checkout, ensureBuilt } from '../support/program.ts';
import { type OpenedDesktop, openDesktop } from './open-desktop.ts';

const configFile = join(checkout, 'build/electron-builder.json');
let desktop: OpenedDesktop;
let page: Page;

skipWithoutChromium();
beforeAll(async () => {
  if (!hasChromium) return;
  await ensureBuilt();
  desktop = await openDesktop();
  page = await desktop.page();
  await page.getByRole('status').getByText('Serving').waitFor();
});
afterAll(() => desktop?.close());

describe('the page', () => {
  it('is in a sandbox, apart from its preload, without Node', async () => {
    const { windows, sandboxIsForced } = await desktop.state();
    expect(windows[0]?.preferences).toMatchObject({
      ...{ contextIsolation: true, sandbox: true, nodeIntegration: false, webviewTag: false },
    });
    expect(windows[0]?.preferences).not.toHaveProperty('webSecurity');
    expect(sandboxIsForced).toBe(true);
    const found = await page.evaluate(() =>
      ['require', 'process', 'module', 'electron'].filter((name) => name in window),
    );
    expect(found).toEqual([]);
  });

  it('reaches the two functions of the bridge, and cannot change them', async () => {
    const found = await page.evaluate(() => {
      const bridge = window.sluiceDesktop;
      return { names: Object.keys(bridge ?? {}), isFrozen: Object.isFrozen(bridge) };
    });
    expect(found).toEqual({ names: ['call', 'listen'], isFrozen: true });
  });

  it('cannot call what is not in the table', async () => {
    const failure = await page.evaluate(async () => {
      const call: ((name: string, argument: null) => Promise<unknown>) | undefined = Reflect.get(
        window.sluiceDesktop ?? {},
        'call',
      );
      return call?.('toString', null).catch((error: unknown) => String(error));
    });
    expect(failure).toBe('Error: there is no such call');
  });

  it('is loaded from its own scheme, which is no file and no http', async () => {
    const { windows, schemes } = await desktop.state();
    expect(windows[0]?.url).toBe('sluice-window://app/');
    expect(schemes).toMatchObject([{ scheme: 'sluice-window', privileges: { standard: true, secure: true } }]);
    expect(schemes[0]?.privileges).not.toHaveProperty('bypassCSP');
  });

  it('has a policy that allows nothing but what came with the program', async () => {
    const answer = await page.evaluate(async () => {
      const response = await fetch('/');
      return response.headers.get('content-security-policy');
    });
    expect(answer).toContain("default-src 'none'");
    expect(answer).toContain("script-src 'self';");
    expect(answer).not.toContain('unsafe-eval');
    const evaluated = await page.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.wasInjected = true';
      document.head.append(script);
      return 'wasInjected' in window;
    });
    expect(evaluated).toBe(false);
  });

  it('gets nothing from outside, whatever asks for it', async () => {
    const reached = await page.evaluate(() =>
      Promise.all(
        ['https://example.com/', 'http://127.0.0.1:1/', 'file:///etc/passwd'].map((url) =>
          fetch(url, { mode: 'no-cors' }).then(
            () => `${url} answers`,
            () => null,
          ),
        ),
      ),
    );
    expect(reached).toEqual([null, null, null]);
  });

  it('is given no file from outside its folder', async () => {
    const statuses = await page.evaluate(() =>
      Promise.all(
        ['/..%2f..%2fpackage.json', '/%2e%2e/%2e%2e/package.json', '/assets/..%5c..%5cpackage.json'].map(
          async (path) => (await fetch(path)).status,
        ),
      ),
    );
    expect(statuses).toEqual([404, 404, 404]);
  });

  it('cannot navigate away', async () => {
    for (const url of ['https://example.com/', 'file:///etc/passwd', 'data:text/html,x']) {
      await page.evaluate((to) => location.assign(to), url).catch(() => {});
    }
    await page.getByRole('status').getByText('Serving').waitFor();
    expect((await desktop.state()).windows[0]?.url).toBe('sluice-window://app/');
  });

  it('opens no window: an https link goes to the browser of the system, any other nowhere', async () => {
    for (const url of [
      'https://example.com/docs',
      'http://example.com/',
      'file:///etc/passwd',
      'sluice-window://app/',
    ]) {
      await page.evaluate((to) => void window.open(to), url);
    }
    await expect.poll(async () => (await desktop.state()).shown.external).toEqual(['https://example.com/docs']);
    expect((await desktop.state()).windows).toHaveLength(1);
  });

  it.each([
    ['clipboard-sanitized-write', 'sluice-window://app/', true],
    ['clipboard-sanitized-write', 'https://example.com/', false],
    ['media', 'sluice-window://app/', false],
    ['notifications', 'sluice-window://app/', false],
  ] as const)('asks for "%s" from %s and is answered %s', async (name, url, answer) => {
    expect(await desktop.order('permission', { name, url })).toEqual({ isRequested: answer, isChecked: answer });
  });

  it.each([
    ['after a click', { media: ['audio'], pressed: 'mouseDown' }, true],
    ['after a key', { media: ['audio'], pressed: 'rawKeyDown' }, true],
    ['without either', { media: ['audio'] }, false],
    ['after a mere movement', { media: ['audio'], pressed: 'mouseMove' }, false],
    ['with the camera', { media: ['audio', 'video'], pressed: 'mouseDown' }, false],
    ['from elsewhere', { media: ['audio'], pressed: 'mouseDown', url: 'https://example.com/' }, false],
  ] as const)('asks for the microphone %s and is answered %o', async (_when, asked, isRequested) => {
    const order = { name: 'media', url: 'sluice-window://app/', ...asked } as const;
    expect(await desktop.order('permission', order)).toMatchObject({ isRequested });
  });

  it('uses the gateway under its own address, with a key as anyone', async () => {
    const ask = (key: string) =>
      page.evaluate(async (secret) => {
        const response = await fetch('/v1/chat/completions', {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
        });
        return { status: response.status, ...(await response.json()) };
      }, key);
    expect(await ask('sk-wrong')).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } });
    expect(await ask(testKey)).toMatchObject({ status: 200, object: 'chat.completion' });
  });

  it('downloads the requests of a filter, and nothing else of the control plane', async () => {
    const ask = (path: string) =>
      page.evaluate(async (url) => {
        const response = await fetch(url);
        return { status: response.status, text: await response.text() };
      }, path);
    const exported = await ask('/control/requests.csv?outcome=ok');
    expect(exported).toMatchObject({ status: 200, text: expect.stringMatching(/^id,started_at,key,/) });
    expect(await ask('/control/requests.csv?nothing=1')).toMatchObject({ status: 400 });
    expect((await ask('/control/events')).text).toContain('<html');
  });
});

describe('IPC', () => {
  const refused = { error: { code: 'admin_token_required' } };
  const status = { channel: ipcChannels.query, args: [{ type: 'status' }] };

  it('answers the page', async () => {
    expect(await desktop.order('invoke', { ...status, from: 'page' })).toMatchObject({ result: { readOnly: false } });
  });

  it.each([
    ['a frame inside the window', { from: 'frame', url: 'sluice-window://app/' }],
    ['a frame of another origin', { from: 'frame', url: 'https://example.com/' }],
    ['another page of the own scheme', { from: 'elsewhere', url: 'sluice-window://app/' }],
    ['another page', { from: 'elsewhere', url: 'https://example.com/' }],
  ] as const)('refuses %s', async (_who, sender) => {
    for (const channel of Object.values(ipcChannels)) {
      expect(await desktop.order('invoke', { channel, args: [null], ...sender }), channel).toMatchObject(refused);
    }
  });

  it.each([
    ['execute', ['key.revoke']],
    ['execute', [{ type: 'no.such.command' }]],
    ['execute', [{ type: 'provider.set-enabled', id: 'main', enabled: 'yes' }]],
    ['query', [null]],
    ['query', [{ type: 'status' }, { type: 'status' }]],
    ['subscribe', ['1']],
    ['subscribe', [-1]],
    ['desktop', [{}]],
    ['setStartAtLogin', ['on']],
    ['setNotification', [{ kind: 'anything', isOn: true }]],
    ['setLanguage', ['tlh']],
    ['hideWindow', [null, null]],
    ['showWindow', ['https://example.com/']],
    ['setGateway', ['off']],
  ] as const)('refuses "%s" with %j', async (name, args) => {
    const reply = await desktop.order('invoke', { channel: ipcChannels[name], args: [...args], from: 'page' });
    expect(reply).toMatchObject({ error: { code: 'invalid_command' } });
    expect((await desktop.state()).windows).toHaveLength(1);
  });

  it('passes errors only as values that reveal nothing internal', async () => {
    const reply = await desktop.order('invoke', {
      ...{ channel: ipcChannels.execute, args: [{ type: 'key.revoke', id: 'none' }], from: 'page' },
    });
    expect(reply).toMatchObject({ error: { code: 'not_found', type: 'invalid_request_error' } });
    expect(JSON.stringify(reply)).not.toContain('at ');
  });
});

describe('the installed program', () => {
  it('has a configuration that electron-builder takes, for each system', async () => {
    const { validateConfiguration } = createRequire(import.meta.url)('app-builder-lib/out/util/config/config.js');
    const config = JSON.parse(readFileSync(configFile, 'utf8'));
    const { DebugLogger } = createRequire(import.meta.url)('builder-util');
    await validateConfiguration(config, new DebugLogger(false));
    await expect(validateConfiguration({ ...config, wim: {} }, new DebugLogger(false))).rejects.toThrow('wim');
  });

  it('is built with the fuses that prevent its use by other programs', () => {
    const config = JSON.parse(readFileSync(configFile, 'utf8'));
    expect(config.electronFuses).toEqual({
      runAsNode: false,
      enableCookieEncryption: true,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      grantFileProtocolExtraPrivileges: false,
      // Without a certificate, nothing re-signs the binary after the fuses are set, and an arm64 Mac does not start a
      // binary whose signature they broke.
      resetAdHocDarwinSignature: true,
    });
  });
});
