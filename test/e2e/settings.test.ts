/** @suite long */
import { text as textOfStream } from 'node:stream/consumers';
import type { Download, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { type SectionId, sectionIds } from '../../renderer/state/window/section-ids.ts';
import { hashOf, type TestPorts } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { accessibilityFaults } from './accessibility.ts';
import { fillWithOldRequests } from './filled-ledger.ts';
import { expectFocus, tabTo } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const at = (section: SectionId) => `/settings?section=${section}&level=advanced`;

describe('the settings screen', () => {
  it('saves what was changed, and nothing else', async () => {
    const { page, gateway, complaints } = await open({ screen: at('records'), config: { settings: { demo: 'on' } } });
    const records = page.getByRole('region', { name: 'Records' });
    await records.getByLabel('Keep requests (days)').fill('30');
    await records.getByLabel('Largest captured body (KiB)').fill('64');
    await records.getByRole('button', { name: 'Save' }).click();
    await records.getByText('Saved.').waitFor();
    expect(await records.getByRole('button', { name: 'Save' }).count()).toBe(0);
    const { settings } = (await gateway.gateway.query({ type: 'config' })).config;
    expect(settings).toMatchObject({
      demo: 'on',
      ledger: { retentionDays: 30, retentionRows: 1_000_000 },
      capture: { maxBytes: 64 * 1024, retentionDays: 7 },
    });
    expect(complaints).toEqual([]);
  });

  it('says beside a line that cannot be used what is wrong with it, keeps it and changes nothing', async () => {
    const { page, gateway, complaints } = await open({ screen: at('access') });
    const settings = async () => (await gateway.gateway.query({ type: 'status' })).settings;
    const before = await settings();
    const wrong = [
      ['access', 'Allowed host names', 'http://gateway.example', /“http:\/\/gateway\.example” is not a host name/],
      ['access', 'Allowed web pages', 'app.example', /“app\.example” is not an origin/],
      ['network', 'Bypass proxy', 'a b', /“a b” is not a host/],
      ['observability', 'Scrape token', 'plain', /Use env:NAME or file:PATH/],
      ['observability', 'OpenTelemetry endpoint', 'nowhere', /“nowhere” is not a base URL/],
      ['observability', 'Webhooks', 'nowhere', /Use a URL without user and password/],
    ] as const;
    for (const [section, label, text, said] of wrong) {
      await page.goto(`${gateway.origin}/#${at(section)}`);
      const field = page.getByRole('textbox', { name: label });
      await field.fill(text);
      await page.getByRole('button', { name: 'Save' }).first().click();
      await field.and(page.locator('[aria-invalid=true]')).waitFor();
      await expect.poll(() => field.evaluate(describedBy)).toMatch(said);
      expect(await field.inputValue()).toBe(text);
      if (label === 'Webhooks') expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Discard changes' }).click();
    }
    expect(await settings()).toEqual(before);
    expect(complaints).toEqual([]);
  });

  it('says that an address given at the start counts, and not the setting', async () => {
    const given = await open({ screen: at('address') });
    const address = given.page.getByRole('region', { name: 'Address' });
    await address.getByText('Started with --host and --port, which overrides this setting.').waitFor();
    expect(await address.getByText('Takes effect after restart.').count()).toBe(0);
  });

  it('keeps what was typed when the same is changed elsewhere, and asks which is to hold', async () => {
    const { page, gateway } = await open({ screen: at('address') });
    const address = page.getByRole('region', { name: 'Address' });
    const port = address.getByLabel('Port', { exact: true });
    await port.fill('4811');
    const change = (changes: object) => gateway.gateway.execute({ type: 'settings.update', changes: { ...changes } });
    await change({ host: '0.0.0.0' });
    await address.getByText(/Anyone on your network/).waitFor();
    expect(await port.inputValue()).toBe('4811');
    await change({ port: 4822 });
    await address.getByRole('alert').getByRole('button', { name: 'Keep my version' }).click();
    await address.getByRole('button', { name: 'Save' }).click();
    await address.getByText('Saved.').waitFor();
    expect((await gateway.gateway.query({ type: 'status' })).settings).toMatchObject({ host: '0.0.0.0', port: 4811 });
  });

  it('keeps what is typed while a save is in flight, as unsaved', async () => {
    const { page, gateway, complaints } = await open({ screen: at('records') });
    const records = page.getByRole('region', { name: 'Records' });
    const days = records.getByLabel('Keep requests (days)');
    const release = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    await page.route('**/control/execute', async (route) => {
      sent.resolve();
      await release.promise;
      await route.continue();
    });
    await days.fill('400');
    await records.getByRole('button', { name: 'Save' }).click();
    await sent.promise;
    await days.fill('401');
    release.resolve();
    const save = records.getByRole('button', { name: 'Save' }).and(page.locator(':not([data-loading])'));
    await save.waitFor();
    expect((await gateway.gateway.query({ type: 'status' })).settings.ledger.retentionDays).toBe(400);
    expect(await days.inputValue()).toBe('401');
    await save.click();
    await records.getByText('Saved.').waitFor();
    expect((await gateway.gateway.query({ type: 'status' })).settings.ledger.retentionDays).toBe(401);
    expect(complaints).toEqual([]);
  });

  it('asks before keeping less of the records than exists', async () => {
    const { page, gateway, complaints } = await open({ screen: at('records'), prepare: fillWithOldRequests });
    const records = page.getByRole('region', { name: 'Records' });
    const dialog = page.getByRole('dialog', { name: 'Delete old records' });
    const save = () => records.getByRole('button', { name: 'Save' }).click();
    const settings = async () => JSON.stringify((await gateway.gateway.query({ type: 'status' })).settings);
    const unchanged = await settings();
    for (const [label, value, text] of [
      [
        'Keep requests (days)',
        '1',
        /^10 requests from before .* will be deleted, with the usage and cost. This cannot/,
      ],
      ['Keep at most (requests)', '5', /^All requests but the newest 5 will be deleted. This cannot/],
      ['Keep captured bodies (days)', '1', /^Bodies that were captured before .* will be deleted. This cannot/],
    ] as const) {
      const field = records.getByLabel(label);
      const before = await field.inputValue();
      await field.fill(value);
      await save();
      await dialog.getByText(text).waitFor();
      expect(await accessibilityFaults(page), label).toEqual([]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(await settings(), label).toBe(unchanged);
      expect(await field.inputValue()).toBe(value);
      await save();
      await dialog.getByRole('button', { name: 'Save and delete' }).click();
      await records.getByText('Saved.').waitFor();
      expect(await settings(), label).not.toBe(unchanged);
      // Keeping more needs no confirmation.
      await field.fill(before);
      await save();
      await expect.poll(settings).toBe(unchanged);
    }
    expect(complaints).toEqual([]);
  });

  it('says what becomes of hard budgets without Valkey, only where replicas count together', async () => {
    const alone = await open({ screen: at('serving') });
    await alone.page.getByRole('region', { name: 'Serving' }).getByLabel('Memory for bodies').waitFor();
    expect(await alone.page.getByLabel('Hard budgets while').count()).toBe(0);
    await alone.close();
    const address = `valkey://127.0.0.1:${await freePort()}`;
    const openReplicaLimits: TestPorts['openReplicaLimits'] = async (options) => {
      const replicas = await import('../../server/team/valkey/open-replica-limits.ts');
      return replicas.openReplicaLimits(await replicas.connectValkey(address), options);
    };
    const { page, gateway, complaints } = await open({ screen: at('serving'), ports: { openReplicaLimits } });
    const serving = page.getByRole('region', { name: 'Serving' });
    await serving.getByLabel('Hard budgets while').selectOption('Split what is left between replicas');
    await serving.getByRole('button', { name: 'Save' }).click();
    await serving.getByText('Saved.').waitFor();
    const { settings } = await gateway.gateway.query({ type: 'status' });
    expect(settings.sharedCounts).toEqual({ hardBudgets: 'open' });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('switches the demo off and an origin on', async () => {
    const { page, gateway } = await open({ screen: at('serving') });
    const serving = page.getByRole('region', { name: 'Serving' });
    await serving.getByLabel('Demo provider').selectOption('Off');
    await serving.getByRole('button', { name: 'Save' }).click();
    await expect.poll(async () => (await gateway.client.models.list()).data.length).toBe(0);
    await page.goto(`${gateway.origin}/#${at('access')}`);
    const access = page.getByRole('region', { name: 'Network access' });
    await access.getByLabel('Allowed web pages').fill(' https://app.example \n\nhttps://other.example');
    await access.getByRole('button', { name: 'Save' }).click();
    const headers = { origin: 'https://other.example' };
    await expect.poll(async () => (await gateway.fetch('/models', { headers })).status).toBe(200);
    await expect
      .poll(() => access.getByLabel('Allowed web pages').inputValue())
      .toBe('https://app.example\nhttps://other.example');
  });

  it('shows how providers are reached and whose certificates count, and takes changes of both at once', async () => {
    const provider = { models: ['m'], baseUrl: 'https://api.example.invalid/v1' };
    const providers = [
      { ...provider, id: 'far', name: 'Far away' },
      { ...provider, id: 'own', name: 'Its own', proxy: 'http://me:hush@mine.invalid:3128' },
    ];
    const ports = { proxies: { httpsProxy: 'http://corp.invalid:8080', noProxy: 'intranet.invalid' } };
    const { page, gateway, complaints } = await open({ screen: at('network'), config: { providers }, ports });
    const network = page.getByRole('region', { name: 'Proxies and certificates' });
    await network.getByText('Far away: through corp.invalid:8080 (by HTTP_PROXY or HTTPS_PROXY)').waitFor();
    await network.getByText('Its own: through mine.invalid:3128 (as set for the provider)').waitFor();
    await network.getByText('NO_PROXY: intranet.invalid').waitFor();
    await network.getByText(/\d+ of the operating system/).waitFor();
    await network.getByLabel('Bypass proxy').fill('example.invalid');
    await network.getByLabel('Additional certificate authorities').fill('/no/such/file.pem');
    await network.getByLabel('System certificate authorities').selectOption('Not trusted');
    await network.getByRole('button', { name: 'Save' }).click();
    await network.getByText('Far away: directly (no proxy is set)').waitFor();
    await network.getByText('/no/such/file.pem: not used: there is no such file (ENOENT)').waitFor();
    await network.getByText('not those of the operating system').waitFor();
    expect(await page.content()).not.toContain('hush');
    expect((await gateway.gateway.query({ type: 'status' })).settings).toMatchObject({
      noProxy: ['example.invalid'],
      systemCa: false,
    });
    expect(complaints).toEqual([]);
  });

  it('signs out all browsers, this one too, and says how to come back', async () => {
    const { page, gateway } = await open({ screen: at('sessions') });
    const other = await fetch(gateway.gateway.createAdminUrl(), { redirect: 'manual' });
    expect(other.status).toBe(303);
    await page.getByRole('button', { name: 'Sign out everywhere…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign out everywhere' });
    await dialog.getByText(/^All browsers are signed out at once, this one too/).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('heading', { name: 'This window has been signed out' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const [cookie = ''] = (other.headers.get('set-cookie') ?? '').split(';');
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    expect((await fetch(`${gateway.origin}/control/events`, { headers })).status).toBe(403);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'This window has been signed out' }).waitFor();
    const opened = await page.context().newPage();
    await opened.goto(gateway.gateway.createAdminUrl());
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Signed-in browsers' }).waitFor();
  });

  it('warns of the local network before it is saved, and says when the address holds', async () => {
    const { page, gateway } = await open({ screen: at('address') });
    const address = page.getByRole('region', { name: 'Address' });
    await address.getByText(`Listening at ${gateway.origin}.`).waitFor();
    expect(await address.getByRole('alert').count()).toBe(0);
    await address.getByLabel('Reachable from').selectOption('The local network (0.0.0.0)');
    await address.getByText(/Anyone on your network can then reach Sluice/).waitFor();
    await address.getByLabel('Port', { exact: true }).fill('70000');
    await address.getByText('A whole number from 0 to 65,535').waitFor();
    expect(await address.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await address.getByRole('button', { name: 'Discard changes' }).click();
    expect(await address.getByRole('alert').count()).toBe(0);
    expect(await address.getByLabel('Port', { exact: true }).inputValue()).toBe('4810');
  });

  it('shows every change of an import before it is made, and makes it when asked', async () => {
    const { page, gateway, complaints } = await open({ screen: at('transfer') });
    await importFile(page, {
      version: 1,
      providers: [{ id: 'new', baseUrl: 'http://127.0.0.1:9/v1', credentials: [{ id: 'c1' }], models: ['m'] }],
      groups: [{ id: 'default' }],
      keys: [{ id: 'other', group: 'default', hash: hashOf('other') }],
      settings: { demo: 'off' },
    });
    const dialog = page.getByRole('dialog', { name: 'Import a configuration' });
    await dialog.getByText('Added: provider new').waitFor();
    await dialog.getByText('Removed: key k1').waitFor();
    await dialog.getByText('Added: key other').waitFor();
    await dialog.getByText('"auto" → "off"').waitFor();
    expect((await gateway.gateway.query({ type: 'providers' })).map(({ id }) => id)).toEqual(['demo']);
    await dialog.getByRole('button', { name: 'Replace' }).click();
    await dialog.getByText('new/c1').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect((await gateway.gateway.query({ type: 'keys' })).map(({ id }) => id)).toEqual(['other']);
    expect(complaints).toEqual([]);
  });

  it('reports before an import what would be refused', async () => {
    const { page, gateway, complaints } = await open({ screen: at('transfer') });
    const providers = [{ id: 'open', baseUrl: 'http://127.0.0.1:9/v1', headers: { 'x-api-key': 'planted' } }];
    await importFile(page, { version: 1, providers, groups: [{ id: 'default' }] });
    const dialog = page.getByRole('dialog', { name: 'Import a configuration' });
    await dialog
      .getByRole('alert')
      .getByText(/in plain text in the configuration/)
      .waitFor();
    expect(await dialog.getByRole('button', { name: 'Replace' }).count()).toBe(0);
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await gateway.gateway.query({ type: 'config' })).revision).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('finds nothing to change in what it exported', async () => {
    const { page } = await open({ screen: at('transfer') });
    const download = await downloadBy(page, 'Export');
    expect(download.suggestedFilename()).toBe('sluice-config.json');
    await importFile(page, JSON.parse(await textOf(download)));
    await page.getByText(/is identical to the configuration/).waitFor();
    expect(await page.getByRole('button', { name: 'Replace' }).count()).toBe(0);
  });

  it('says what is wrong with a file that is no JSON, or no configuration', async () => {
    const { page } = await open({ screen: at('transfer') });
    for (const [text, complaint] of [
      ['not json', /syntax error in line 1/],
      ['{"hello":1}', /no configuration of Sluice, LiteLLM/],
      ['{"version":7}', /config\.version/],
    ] as const) {
      await importFile(page, text);
      await page.getByRole('alert').getByText(complaint).waitFor();
      expect(await page.getByRole('dialog').count(), text).toBe(0);
    }
  });

  it('adds what is pasted of another program, after a preview without its keys', async () => {
    const { page, gateway, complaints } = await open({ screen: at('transfer') });
    const secret = ['planted', '0123456789', 'wxyz'].join('-');
    await page.getByRole('button', { name: 'Paste…' }).click();
    const paste = page.getByRole('dialog', { name: 'Paste a configuration' });
    await paste.getByRole('textbox').fill(`GROQ_API_KEY=${secret}\nDATABASE_URL=x\n`);
    await paste.getByRole('button', { name: 'Review changes' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add from .env' });
    await dialog.getByText('provider groq · credential …wxyz').waitFor();
    await dialog.getByText('Sluice has nothing that corresponds').waitFor();
    expect(await dialog.textContent()).not.toContain('planted');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await gateway.gateway.query({ type: 'config' })).revision).toBe(1);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('“.env” is applied.').waitFor();
    expect((await gateway.gateway.query({ type: 'providers' })).map(({ id }) => id)).toContain('groq');
    expect(complaints).toEqual([]);
  });

  it('says where the data is, and makes a report without secrets', async () => {
    const config = {
      providers: [{ id: 'main', baseUrl: 'http://127.0.0.1:9/v1', credentials: [{ id: 'c1' }], models: ['m'] }],
    };
    const { page, gateway, complaints } = await open({ screen: at('about'), config });
    await gateway.client.models.retrieve('missing').catch(() => {});
    await gateway.client.embeddings.create({ model: 'm', input: 'planted words' }).catch(() => {});
    await page.getByText(gateway.folder, { exact: true }).waitFor();
    const report = await textOf(await downloadBy(page, 'Download diagnostics'));
    expect(JSON.parse(report)).toMatchObject({
      host: { dataFolder: gateway.folder, node: process.versions.node },
      status: { baseUrl: gateway.baseUrl },
      config: { providers: [{ id: 'main' }] },
      lastErrors: expect.arrayContaining([expect.objectContaining({ route: '/v1/embeddings', modelAsked: 'm' })]),
    });
    for (const secret of ['upstream-secret', 'planted words', 'sk-test']) expect(report).not.toContain(secret);
    expect(complaints).toEqual([]);
  });

  it('is operated by keyboard alone', async () => {
    const { page, gateway } = await open({ screen: at('records') });
    const days = page.getByLabel('Keep requests (days)');
    await tabTo(page, days);
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('12');
    await page.keyboard.press('Enter');
    await expect
      .poll(async () => (await gateway.gateway.query({ type: 'status' })).settings.ledger.retentionDays)
      .toBe(12);
    await expectFocus(days);
  });

  it('switches metrics, telemetry and webhooks on, and says what is wrong with them', async () => {
    const { page, gateway, complaints } = await open({ screen: at('observability') });
    const part = page.getByRole('region', { name: 'Observability' });
    const save = part.getByRole('button', { name: 'Save' });
    await part.getByLabel('Prometheus metrics').selectOption('Served at /metrics');
    await part.getByLabel('OpenTelemetry endpoint').fill('http://127.0.0.1:4318');
    await part.getByLabel('OpenTelemetry headers').fill('authorization: Basic abc');
    await part.getByLabel('Webhooks').fill('http://127.0.0.1:9/hook budget env:HOOK');
    await save.click();
    await part.getByText('Use “name: value”, and env:NAME or file:PATH for a value that is a secret.').waitFor();
    await part.getByLabel('OpenTelemetry headers').fill('authorization: env:OTLP');
    await save.click();
    await expect
      .poll(async () => (await gateway.gateway.query({ type: 'status' })).settings)
      .toMatchObject({
        metrics: 'on',
        telemetry: { endpoint: 'http://127.0.0.1:4318', headers: { authorization: 'env:OTLP' } },
        webhooks: [{ url: 'http://127.0.0.1:9/hook', events: ['budget'], secret: 'env:HOOK' }],
      });
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);
  });

  it('changes language and appearance at once', async () => {
    const { page } = await open({ screen: at('window') });
    const part = page.getByRole('region', { name: 'This window' });
    await part.getByLabel('Appearance').selectOption('Dark');
    await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark');
    await part.getByLabel('Language').selectOption('简体中文');
    await page.getByRole('heading', { name: '设置' }).waitFor();
  });

  it.each(appearances)(
    'takes an import, and fits in $width px, $colorScheme, $locale',
    async ({ width, colorScheme, locale }) => {
      const context = { viewport: { width, height: 800 }, colorScheme, locale };
      const config = {
        providers: [{ id: 'main', name: 'Main', baseUrl: 'https://api.example.invalid/v1', models: ['m'] }],
        settings: {
          host: '0.0.0.0',
          allowedHosts: ['a-very-long-name.of-a-host.inside.example.com'],
          extraCaFiles: ['/a/long/path/to/the/certificates/of/this/company/authority.pem'],
        },
      };
      const ports = { logFolder: '/home/somebody/.local/state/sluice' };
      const { page, gateway, complaints } = await open({ context, screen: at('window'), config, ports });
      for (const section of sectionIds) {
        await page.goto(`${gateway.origin}/#${at(section)}`);
        if (section === 'network') await page.getByText('authority.pem').last().waitFor();
        if (section === 'about') await page.getByText(gateway.folder, { exact: true }).waitFor();
        expect(await accessibilityFaults(page)).toEqual([]);
        await takePicture(page, `settings-${section}-${width}-${colorScheme}-${locale}`);
        expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      }
      await page.goto(`${gateway.origin}/#${at('transfer')}`);
      await importFile(page, { version: 1, groups: [{ id: 'default' }], settings: { port: 4_811 } });
      await page.getByRole('dialog').getByText('4810 → 4811').waitFor();
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('button', { name: /^(Replace|替换)$/ }).click();
      await page.getByRole('button', { name: /^(Done|完成)$/ }).click();
      await expect.poll(async () => (await gateway.gateway.query({ type: 'status' })).settings.port).toBe(4_811);
      expect(complaints).toEqual([]);
    },
  );
});

async function importFile(page: Page, content: unknown): Promise<void> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const button = page.getByRole('button', { name: /^(Import|导入)…$/ });
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
  await chooser.setFiles({ name: 'team.json', mimeType: 'application/json', buffer: Buffer.from(text) });
}

async function downloadBy(page: Page, button: string): Promise<Download> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button }).click(),
  ]);
  return download;
}

async function textOf(download: Download): Promise<string> {
  return textOfStream(await download.createReadStream());
}

/** Runs in the page. Returns what a screen reader announces about a field after its name. */
function describedBy(field: Element): string {
  const ids = field.getAttribute('aria-describedby')?.split(' ') ?? [];
  return ids.map((id) => document.getElementById(id)?.textContent ?? '').join(' ');
}
