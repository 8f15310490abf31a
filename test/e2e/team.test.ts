/**
 * Team presets in the window: imported from a file or as text, with a preview. Locked values are shown as locked.
 */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { makePresetLink } from '../../server/contract/sluice-link.ts';
import { acmePreset } from '../server/control/team-preset-file.ts';
import { accessibilityFaults } from './accessibility.ts';
import { tabTo } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const locking = {
  ...acmePreset,
  locked: ['providers', 'aliases', 'groups/default/models', 'settings/ledger.retentionDays'],
};

describe('a team preset', () => {
  it('is imported from a file after a preview of every change, and leads to the missing credential', async () => {
    const { page, gateway, complaints } = await open({ screen: '/settings?section=team' });
    await chooseFile(page, locking);
    const dialog = page.getByRole('dialog', { name: 'Team preset' });
    await dialog.getByText('by Acme · version 2026-11 · Questions: it@acme.example').waitFor();
    await dialog.getByText('Added: provider acme').waitFor();
    await dialog.getByText('"http://127.0.0.1:9/acme/v1"').waitFor();
    await dialog.getByText('["*"] → ["gpt-*","team/*"]').waitFor();
    await dialog.getByText('settings/ledger.retentionDays').waitFor();
    expect((await gateway.gateway.query({ type: 'config' })).revision).toBe(1);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('“Acme engineering” is applied. Now enter your credentials:').waitFor();
    await dialog.getByRole('button', { name: 'Enter the credential for Acme models' }).click();
    await dialog.getByLabel('Credential', { exact: true }).fill('sk-mine');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Entered').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    const [provider] = await gateway.gateway.query({ type: 'providers' });
    expect(provider).toMatchObject({ id: 'acme', credentials: [{ id: 'own', hasSecret: true }] });
    expect(complaints).toEqual([]);
  });

  it('is imported as pasted text or a pasted link', async () => {
    const { page, gateway } = await open({ screen: '/settings?section=team' });
    await page.getByRole('button', { name: 'Paste preset…' }).click();
    const paste = page.getByRole('dialog', { name: 'Paste a team preset' });
    await paste.getByRole('textbox').fill('sluice://preset?data=not*base64');
    await paste.getByRole('button', { name: 'Review changes' }).click();
    await paste.getByText(/does not contain a readable team preset/).waitFor();
    await paste.getByRole('textbox').fill(makePresetLink(acmePreset) ?? '');
    await paste.getByRole('button', { name: 'Review changes' }).click();
    await page.getByRole('dialog', { name: 'Team preset' }).getByRole('button', { name: 'Apply' }).click();
    await page.getByText('“Acme engineering” is applied.').waitFor();
    expect((await gateway.gateway.query({ type: 'status' })).team.presets).toHaveLength(1);
  });

  it('is told from an exported configuration, which is chosen the same way, and from anything else', async () => {
    const { page } = await open({ screen: '/settings?section=team' });
    await chooseFile(page, { version: 1, groups: [{ id: 'default' }] });
    await page.getByRole('dialog', { name: 'Import a configuration' }).getByText('Removed: key k1').waitFor();
    await page.keyboard.press('Escape');
    for (const [text, complaint] of [
      ['{"hello":1}', /no configuration of Sluice, LiteLLM/],
      ['hello', /syntax error in line 1/],
      ['{"teamPreset":1,"name":"sk-proj-planted1234567890","organisation":"A"}', /looks like a secret/],
      [JSON.stringify({ ...acmePreset, settings: { host: '0.0.0.0' } }), /allowed only in a preset that is built into/],
    ] as const) {
      await chooseText(page, text);
      await page.getByText(complaint).waitFor();
      expect(await page.getByRole('main').textContent()).not.toContain('planted');
    }
  });

  it('that leads a provider elsewhere warns that its credentials are removed, before it is applied', async () => {
    const main = { id: 'main', baseUrl: 'https://api.example.com/v1', models: ['m'] };
    const config = { providers: [{ ...main, credentials: [{ id: 'c1' }] }] };
    const { page, gateway } = await open({ screen: '/settings?section=team', config });
    const providers = [{ ...main, baseUrl: 'https://evil.example/v1' }];
    await chooseFile(page, { teamPreset: 1, name: 'Trap', organisation: 'Nobody', providers });
    const dialog = page.getByRole('dialog', { name: 'Team preset' });
    await dialog.getByText('These credentials would be deleted').waitFor();
    await dialog.getByText('main/c1').waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByRole('button', { name: 'Enter the credential for main' }).waitFor();
    expect((await gateway.gateway.query({ type: 'providers' }))[0]?.credentials[0]?.hasSecret).toBe(false);
  });

  it('is applied by keyboard alone', async () => {
    const { page, gateway } = await open({ screen: '/settings?section=team' });
    await chooseFile(page, acmePreset);
    const dialog = page.getByRole('dialog', { name: 'Team preset' });
    await tabTo(page, dialog.getByRole('button', { name: 'Apply' }));
    await page.keyboard.press('Enter');
    const enter = dialog.getByRole('button', { name: 'Enter the credential for Acme models' });
    await enter.waitFor();
    await tabTo(page, enter);
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Credential', { exact: true }).waitFor();
    await page.keyboard.type('sk-typed');
    await page.keyboard.press('Enter');
    await dialog.getByText('Entered').waitFor();
    expect((await gateway.gateway.query({ type: 'providers' }))[0]?.credentials[0]?.hasSecret).toBe(true);
  });
});

describe('what a team preset has locked', () => {
  it('is shown as locked on the screens, with the team’s name, and can be changed after leaving', async () => {
    const { page, gateway, complaints } = await open({ screen: '/settings?section=records&level=advanced' });
    await gateway.gateway.execute({ type: 'team-preset.apply', preset: locking });
    const days = page.getByLabel('Keep requests (days)');
    await page.getByText('Set by Acme').first().waitFor();
    expect(await days.isDisabled()).toBe(true);
    expect(await page.getByLabel('Keep at most (requests)').isDisabled()).toBe(false);
    const described = page.getByRole('group', { description: /A team preset has locked this.*it@acme\.example/ });
    expect(await described.getByLabel('Keep requests (days)').count()).toBe(1);

    await page.goto(`${gateway.origin}/#/groups/default`);
    await page.getByText('Set by Acme').first().waitFor();
    expect(await page.getByRole('combobox', { name: 'Allowed models' }).isDisabled()).toBe(true);
    expect(await page.getByRole('combobox', { name: 'Blocked models' }).isDisabled()).toBe(false);
    expect(await page.getByRole('button', { name: 'Remove…' }).isDisabled()).toBe(true);

    await page.goto(`${gateway.origin}/#/providers`);
    await page.getByText('Set by Acme').first().waitFor();
    expect(await page.getByRole('button', { name: 'Add provider' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Acme models', exact: true }).click();
    await page.getByLabel('Base URL').waitFor();
    expect(await page.getByLabel('Base URL').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Remove…' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Add credential' }).isDisabled()).toBe(false);

    await page.goto(`${gateway.origin}/#/models`);
    await page.getByText('Set by Acme').first().waitFor();
    expect(await page.getByRole('button', { name: 'Change team/fast' }).isDisabled()).toBe(true);

    await page.goto(`${gateway.origin}/#/settings?section=team`);
    await page.getByRole('button', { name: 'Leave…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
    await page.getByText('No team preset is active.').waitFor();
    await page.goto(`${gateway.origin}/#/settings?section=records`);
    await expect.poll(() => days.isDisabled()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it.each(appearances)('is in order in $width px, $colorScheme, $locale', async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const { page, gateway, complaints } = await open({ context, screen: '/settings?section=team' });
    const check = async (name: string) => {
      await takePicture(page, `team-${name}-${width}-${colorScheme}`);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    };
    await page.getByRole('heading', { level: 1 }).waitFor();
    await chooseFile(page, locking);
    await page.getByText('"http://127.0.0.1:9/acme/v1"').waitFor();
    await check('preview');
    await page.getByRole('button', { name: /^(Apply|应用)$/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Acme models/ })
      .waitFor();
    await check('credentials');
    await page.getByRole('button', { name: /^(Done|完成)$/ }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const mark = page.getByText(/^(Set by Acme|由 Acme 设定)$/).first();
    for (const screen of [
      'settings?section=records',
      'groups',
      'groups/default',
      'providers',
      'providers/acme',
      'models',
    ]) {
      await page.goto(`${gateway.origin}/#/${screen}`);
      await mark.waitFor();
      await check(`locked-${screen.replace(/[/?=]/, '-')}`);
    }
    expect(complaints).toEqual([]);
  });
});

function chooseFile(page: Page, content: unknown): Promise<void> {
  return chooseText(page, JSON.stringify(content));
}

async function chooseText(page: Page, text: string): Promise<void> {
  const button = page.getByRole('button', { name: /^(Import preset…|导入预设…)$/ });
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
  await chooser.setFiles({ name: 'team.json', mimeType: 'application/json', buffer: Buffer.from(text) });
}
