/** @suite long */
import { X509Certificate } from 'node:crypto';
import https from 'node:https';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Preset } from '../../server/contract/preset.ts';
import { listen, selfSignedCertificate } from '../server/transport/harness.ts';
import { testKey } from '../support/gateway.ts';
import { json, type Script, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';
import { accessibilityFaults } from './accessibility.ts';
import { expectFocus, setSwitch, tabTo } from './person.ts';
import { appearances, openInSuite, overflowOf, takePicture } from './window-suite.ts';

const open = openInSuite();
const modelList = { object: 'list', data: ['gpt-a', 'gpt-b'].map((id) => ({ id, object: 'model', created: 1 })) };
const rightSecret = 'sk-right-4711';
const answer = { id: 'x', object: 'chat.completion', choices: [{ message: { role: 'assistant', content: 'OK' } }] };
const wrongKey = { error: { message: 'Incorrect API key provided' } };

/** Lists its models, and answers every call. */
const works: Script = ({ method }, response) => json(response, method === 'GET' ? modelList : answer);

let upstream: ScriptedUpstream;
beforeEach(async () => {
  upstream = await startUpstream((request, response, raw) => {
    if (request.headers.authorization === `Bearer ${rightSecret}`) return works(request, response, raw);
    json(response, wrongKey, 401);
  });
});
afterEach(() => upstream.stop());

describe('adding a provider', () => {
  it('takes picking a service, pasting its credential and a test', async () => {
    const { page, gateway, complaints } = await open({ screen: '/providers' });
    await answerPresetsAt(page, upstream.baseUrl);
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Service').fill('gro');
    await dialog.getByRole('button', { name: /^Groq/ }).click();
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('Paste the API key.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await gateway.gateway.query({ type: 'providers' })).toHaveLength(1);
    await dialog.getByLabel('Credential', { exact: true }).fill(rightSecret);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText(/^Answered in/).waitFor();
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('listitem').filter({ hasText: 'Groq' }).getByText('Ready · 2 models').waitFor();
    const [provider] = await gateway.gateway.query({ type: 'providers' });
    expect(provider).toMatchObject({ id: 'groq', preset: 'groq', credentials: [{ hasSecret: true }] });
    expect(await page.content()).not.toContain(rightSecret);
    expect(complaints).toEqual([]);
  });

  it('names the step that fails, and continues with another credential', async () => {
    const { page, gateway } = await open({ screen: '/providers' });
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Another service, by its address' }).click();
    await dialog.getByLabel('Base URL').fill('not an address');
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText(/^This is not an address/).waitFor();
    await dialog.getByLabel('Base URL').fill(upstream.baseUrl);
    await dialog.getByLabel('Name').fill('Mine');
    await dialog.getByLabel('Credential (if required)', { exact: true }).fill('sk-wrong');
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText(/^Failed at: Credential/).waitFor();
    await dialog.getByText('Incorrect API key provided').waitFor();
    const steps = dialog.getByRole('listitem');
    expect(await steps.count()).toBe(9);
    await steps
      .filter({ has: page.getByRole('img', { name: 'failed' }) })
      .getByText('Credential', { exact: true })
      .waitFor();
    await expectFocus(dialog.getByRole('button', { name: 'Test again' }));
    await dialog.getByRole('button', { name: 'Replace key' }).click();
    await expectFocus(dialog.getByLabel('Credential (if required)', { exact: true }));
    await dialog.getByLabel('Credential (if required)', { exact: true }).fill(rightSecret);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('OpenAI’s API, 2 models').waitFor();
    await dialog.getByText(/^Answered in/).waitFor();
    expect(await gateway.gateway.query({ type: 'providers' })).toHaveLength(1);
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('link', { name: 'Mine', exact: true }).waitFor();
  });

  it('reads an address as it is pasted, and tells what is there before it is added', async () => {
    const { page, gateway } = await open({ screen: '/providers' });
    const anthropic = { error: { type: 'invalid_request_error', message: 'messages: required' }, type: 'error' };
    const list = { data: ['a', 'b', 'c'].map((id) => ({ id, type: 'model' })), has_more: false, first_id: 'a' };
    upstream.answer(({ method, url }, response) => {
      if (!url.startsWith('/v1/m')) return json(response, anthropic, 404);
      if (method === 'GET') return json(response, list);
      json(response, anthropic, 400);
    });
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Service').fill(`${new URL(upstream.origin).host}/v1/messages`);
    await dialog.getByRole('button', { name: `Use ${upstream.baseUrl}` }).click();
    await dialog.getByText(`Read as ${upstream.baseUrl}`).waitFor();
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('Anthropic’s API, 3 models').waitFor();
    expect(await gateway.gateway.query({ type: 'providers' })).toHaveLength(1);
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [provider] = await gateway.gateway.query({ type: 'providers' });
    expect(provider).toMatchObject({ baseUrl: upstream.baseUrl, dialect: 'anthropic' });
  });

  it('leads from each hop that fails to what helps there, never to keeping it', async () => {
    const { page, gateway } = await open({ screen: '/providers' });
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    const button = (name: string) => dialog.getByRole('button', { name, exact: true });
    await button('Another service, by its address').click();
    await dialog.getByLabel('Base URL').fill('127.0.0.1:9');
    await page.keyboard.press('Enter');
    await dialog.getByText(/^Failed at: Connection/).waitFor();
    await expectFocus(button('Edit address'));
    expect(await button('Replace key').count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await dialog.getByText(/^Failed at: Connection/).waitFor();
    await button('Set proxy').click();
    await expectFocus(dialog.getByLabel('Proxy address'));
    await dialog.getByLabel('Proxy address').fill('http://127.0.0.1:9');
    await page.keyboard.press('Enter');
    await dialog.getByText(/^Failed at: (Proxy|Connection)/).waitFor();
    await button('Test again').click();
    await dialog.getByText(/^Failed at: (Proxy|Connection)/).waitFor();
    expect(await gateway.gateway.query({ type: 'providers' })).toHaveLength(1);
    await button('Keep anyway').click();
    await dialog.waitFor({ state: 'detached' });
    const [kept] = await gateway.gateway.query({ type: 'providers' });
    expect(kept).toMatchObject({ baseUrl: 'http://127.0.0.1:9', proxy: 'http://127.0.0.1:9' });
  });

  it('trusts the certificate that a person has compared, and no other', async () => {
    const { page, gateway } = await open({ screen: '/providers' });
    const certificate = selfSignedCertificate('My own server');
    const server = await listen(
      https.createServer(certificate, ({ method }, response) => json(response, method === 'GET' ? modelList : answer)),
    );
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    const button = (name: string) => dialog.getByRole('button', { name, exact: true });
    await button('Another service, by its address').click();
    await dialog.getByLabel('Base URL').fill(`https://127.0.0.1:${server.port}/v1`);
    await page.keyboard.press('Enter');
    await dialog.getByText(/^Failed at: Encryption/).waitFor();
    const { fingerprint256 } = new X509Certificate(certificate.cert);
    await dialog.getByText(fingerprint256).waitFor();
    await dialog.getByText(/^It shows a certificate of “My own server”/).waitFor();
    await expectFocus(button('Edit address'));
    expect(await accessibilityFaults(page)).toEqual([]);
    await button('Trust this certificate').click();
    await dialog.getByText('OpenAI’s API, 2 models').waitFor();
    await button('Keep').click();
    await dialog.waitFor({ state: 'detached' });
    const [kept] = await gateway.gateway.query({ type: 'providers' });
    expect(kept).toMatchObject({ certificate: fingerprint256 });
    await server.stop();
  });

  it('says which part of an address is missing', async () => {
    const { page } = await open({ screen: '/providers' });
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Google Vertex AI/ }).click();
    await dialog.getByLabel('project').fill('acme');
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    const wrong = dialog.getByText('Enter a value that completes the address above.');
    await wrong.waitFor();
    expect(await wrong.count()).toBe(1);
    await dialog.getByLabel('location').fill('eu:west');
    await expect.poll(() => wrong.count()).toBe(2);
  });

  it('need not be waited for', async () => {
    const { page } = await open({ screen: '/providers' });
    upstream.answer(() => {});
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Another service, by its address' }).click();
    await dialog.getByLabel('Base URL').fill(upstream.baseUrl);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText('Testing…').waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    upstream.answer(works);
    await dialog.getByRole('button', { name: 'Test', exact: true }).click();
    await dialog.getByText(/^Answered in/).waitFor();
  });

  it('offers a local server that is running', async () => {
    const { page } = await open({ screen: '/providers' });
    const found = {
      preset: 'ollama',
      name: 'Ollama',
      baseUrl: upstream.baseUrl,
      needsCredential: false,
      models: ['a'],
    };
    upstream.answer(works);
    await answerQuery(page, 'local-servers', [found]);
    await page.getByRole('button', { name: 'Add provider' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Found on this machine' }).waitFor();
    await dialog.getByRole('button', { name: /Ollama\s*running/ }).click();
    await dialog.getByText(/^Answered in/).waitFor();
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('link', { name: 'Ollama', exact: true }).waitFor();
  });

  it('takes no typing where the environment holds the credential', async () => {
    const env = { GROQ_API_KEY: rightSecret, MISTRAL_API_KEY: 'sk-other', AZURE_OPENAI_API_KEY: 'sk-azure' };
    const { page, gateway, complaints } = await open({ screen: '/keys', env });
    await answerPresetsAt(page, upstream.baseUrl);
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    const offers = page.getByRole('region', { name: 'Found in the environment' });
    await offers.getByRole('button', { name: 'Use GROQ_API_KEY for Groq' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^Answered in/).waitFor();
    await dialog.getByRole('button', { name: 'Keep' }).click();
    await offers.getByText('GROQ_API_KEY').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Add provider' }).click();
    await dialog.getByRole('button', { name: 'Store MISTRAL_API_KEY for Mistral AI' }).click();
    await dialog.getByText(/^Failed at: Credential/).waitFor();
    await dialog.getByRole('button', { name: 'Keep anyway' }).click();
    await dialog.waitFor({ state: 'detached' });
    const providers = await gateway.gateway.query({ type: 'providers' });
    expect(providers.map(({ id, credentials }) => [id, credentials[0]?.reference])).toEqual([
      ['groq', 'env:GROQ_API_KEY'],
      ['mistral', 'keychain'],
    ]);
    expect(await page.content()).not.toContain(rightSecret);
    expect(complaints).toEqual([]);
  });

  it('calls a service in the environment as the language of the window does', async () => {
    const env = { MOONSHOT_API_KEY: 'sk-moon' };
    const { page } = await open({ screen: '/providers', env, context: { locale: 'zh-CN' } });
    await page.getByRole('button', { name: '使用 MOONSHOT_API_KEY（月之暗面（Kimi））' }).waitFor();
  });

  it('asks only for the address if the environment contains the credential of a service with many addresses', async () => {
    const { page } = await open({ screen: '/providers', env: { AZURE_OPENAI_API_KEY: 'sk-azure' } });
    await page.getByRole('button', { name: 'Use AZURE_OPENAI_API_KEY for Azure OpenAI' }).click();
    const dialog = page.getByRole('dialog');
    await expectFocus(dialog.getByLabel('resource'));
    expect(await dialog.getByLabel('Name of the variable').inputValue()).toBe('AZURE_OPENAI_API_KEY');
  });

  it('needs the keyboard alone', async () => {
    const { page, complaints } = await open({ screen: '/providers' });
    await answerPresetsAt(page, upstream.baseUrl);
    const add = page.getByRole('button', { name: 'Add provider' });
    await tabTo(page, add);
    await page.keyboard.press('Enter');
    await expectFocus(page.getByLabel('Service'));
    await page.keyboard.type('groq');
    await tabTo(page, page.getByRole('button', { name: /^Groq/ }));
    await page.keyboard.press('Enter');
    await expectFocus(page.getByLabel('Credential', { exact: true }));
    await page.keyboard.type(rightSecret);
    await page.keyboard.press('Enter');
    await page
      .getByRole('dialog')
      .getByText(/^Answered in/)
      .waitFor();
    // A second Enter keeps nothing.
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Keep' }));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expectFocus(add);
    await page.getByRole('link', { name: 'Groq', exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('a test', () => {
  it('that called no model says only that models were listed', async () => {
    const list = { object: 'list', data: [{ id: 'whisper-1' }] };
    upstream.answer((_request, response) => json(response, list));
    const { page } = await open({ screen: '/providers', config: oneProvider() });
    const card = page.getByRole('listitem').filter({ hasText: upstream.baseUrl });
    await card.getByRole('button', { name: /^Test/ }).click();
    await card.getByText(/^Listed 1 model\. No model was called\./).waitFor();
    expect(await card.getByText(/Answered in/).count()).toBe(0);
  });

  it('that succeeded ends the trouble of the model that it called, and leaves the last error in sight', async () => {
    upstream.answer(works);
    const config = { ...oneProvider(), groups: [{ id: 'default', policy: { retries: 0 } }] };
    const { page, gateway, clientWith } = await open({ screen: '/providers', config });
    const card = page.getByRole('listitem').filter({ hasText: upstream.baseUrl });
    await card.getByText(/^Ready · 2 models/).waitFor();
    upstream.answer((_request, response) => json(response, { error: { message: 'All workers are busy' } }, 500));
    const ask = () => clientWith(testKey).chat.completions.create({ model: 'gpt-a', messages: [] });
    for (let count = 0; count < 6; count++) await ask().catch(() => {});
    await card.getByText(/^(Cooling down|Last requests failed) · 2 models/).waitFor();
    // A reset ends the cooldown, but no request has succeeded since.
    await gateway.gateway.execute({ type: 'provider.reset-health', id: 'main' });
    await card.getByText(/^Last requests failed · 2 models/).waitFor();
    await card.getByText(/^Last error/).waitFor();
    await card.getByRole('link', { name: 'the provider answered 500: “All workers are busy”' }).waitFor();
    upstream.answer(works);
    await card.getByRole('button', { name: /^Test/ }).click();
    await card.getByText(/^Answered in/).waitFor();
    await card.getByText(/^Ready · 2 models/).waitFor();
    await card.getByRole('link', { name: /^Requests of/ }).click();
    await expect.poll(() => page.url()).toContain('/requests?provider=main');
  });

  it('that failed stays on the card, with the provider’s message and the next step', async () => {
    const { page, gateway } = await open({ screen: '/providers', config: oneProvider() });
    await gateway.gateway.execute({ type: 'credential.set', provider: 'main', id: 'c1', secret: 'sk-wrong' });
    const card = page.getByRole('listitem').filter({ hasText: upstream.baseUrl });
    await card.getByRole('button', { name: /^Test/ }).click();
    await card.getByText('Incorrect API key provided').waitFor();
    const screens = page.getByRole('navigation', { name: 'Screens' });
    await screens.getByRole('link', { name: 'Access' }).click();
    await screens.getByRole('link', { name: 'Models' }).click();
    await card.getByText('Incorrect API key provided').waitFor();
    await card.getByRole('button', { name: 'Replace credential' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Credential', { exact: true }).fill(rightSecret);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await card.getByText(/^Answered in .* with gpt-a/).waitFor();
    expect(await card.getByText('Incorrect API key provided').count()).toBe(0);
  });
});

it('replaces the credential that was refused, not the first', async () => {
  const credentials = [
    { id: 'c1', label: 'retired', secret: 'env:RIGHT', enabled: false },
    { id: 'c2', label: 'team', secret: 'env:WRONG' },
  ];
  const config = { providers: [{ id: 'main', baseUrl: upstream.baseUrl, credentials }] };
  const env = { RIGHT: rightSecret, WRONG: 'sk-wrong' };
  const { page, gateway } = await open({ screen: '/providers', config, env });
  const card = page.getByRole('listitem').filter({ hasText: upstream.baseUrl });
  await card.getByRole('button', { name: /^Test/ }).click();
  await card.getByRole('button', { name: 'Replace credential' }).click();
  const dialog = page.getByRole('dialog', { name: 'Replace the credential “team”' });
  await dialog.getByLabel('Credential', { exact: true }).fill(rightSecret);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await card.getByText(/^Answered in/).waitFor();
  const [provider] = await gateway.gateway.query({ type: 'providers' });
  expect(provider?.credentials.map(({ reference }) => reference)).toEqual(['env:RIGHT', 'keychain']);
});

describe('the settings of a provider', () => {
  it('set, replace, switch off and remove credentials, and never show them', async () => {
    const { page, gateway, complaints } = await open({ screen: '/providers/main', config: oneProvider() });
    const section = page.getByRole('region', { name: 'Credentials' });
    await section.getByRole('button', { name: 'Add credential' }).click();
    await page.getByRole('dialog').getByText('Environment', { exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByText('Enter the name of the variable.').waitFor();
    await page.getByRole('dialog').getByText('Paste it', { exact: true }).click();
    await page.getByRole('dialog').getByLabel('Credential', { exact: true }).fill(rightSecret);
    await page.getByRole('dialog').getByLabel('Label').fill('team');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await section.getByText('in the secret store').waitFor();
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText(/^Answered in/).waitFor();
    await section.getByRole('button', { name: 'Replace the value of team' }).click();
    await page.getByRole('dialog').getByLabel('Credential', { exact: true }).fill('sk-other');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText(/^Failed at: Credential/).waitFor();
    expect(await page.content()).not.toContain(rightSecret);
    await setSwitch(section.getByRole('switch', { name: 'Use credential team' }), false);
    await section.getByRole('button', { name: 'Remove team…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await section.getByText(/^None/).waitFor();
    expect((await gateway.gateway.query({ type: 'providers' }))[0]?.credentials).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('save the connection with its advanced part', async () => {
    const { page, gateway, complaints } = await open({ screen: '/providers/main', config: oneProvider() });
    const form = page.getByRole('region', { name: 'Connection' });
    await form.getByLabel('Name').fill('Renamed');
    await form.getByRole('button', { name: 'Advanced' }).click();
    await form.getByLabel('Connect').fill('2.5');
    await form.getByLabel('Proxy').selectOption('None');
    await form.getByRole('button', { name: 'Add header' }).click();
    await form.getByLabel('Header', { exact: true }).fill('x-team');
    await form.getByLabel('Value').fill('blue');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Renamed', level: 1 }).waitFor();
    expect((await gateway.gateway.query({ type: 'providers' }))[0]).toMatchObject({
      name: 'Renamed',
      timeouts: { connectMs: 2_500 },
      proxy: 'direct',
      headers: { 'x-team': 'blue' },
    });
    expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('keep what is typed while a save is in flight, as unsaved', async () => {
    const { page, gateway } = await open({ screen: '/providers/main', config: oneProvider() });
    const release = Promise.withResolvers<void>();
    const sent = Promise.withResolvers<void>();
    await page.route('**/control/execute', async (route) => {
      sent.resolve();
      await release.promise;
      await route.continue();
    });
    const form = page.getByRole('region', { name: 'Connection' });
    const name = form.getByLabel('Name');
    const nameThere = async () => (await gateway.gateway.query({ type: 'providers' }))[0]?.name;
    await name.fill('One');
    await form.getByRole('button', { name: 'Save' }).click();
    await sent.promise;
    await name.fill('One and more');
    release.resolve();
    await page.getByRole('heading', { name: 'One', level: 1, exact: true }).waitFor();
    const save = form.getByRole('button', { name: 'Save' }).and(page.locator(':not([data-loading])'));
    await save.waitFor();
    expect(await nameThere()).toBe('One');
    expect(await name.inputValue()).toBe('One and more');
    await save.click();
    await expect.poll(nameThere).toBe('One and more');
  });

  it('show what is wrong in the advanced part also where it was closed', async () => {
    const { page } = await open({ screen: '/providers/main', config: oneProvider() });
    const form = page.getByRole('region', { name: 'Connection' });
    const advanced = form.getByRole('button', { name: 'Advanced' });
    await advanced.click();
    await form.getByLabel('Proxy').selectOption('Custom');
    await advanced.click();
    await form.getByLabel('Proxy address').waitFor({ state: 'hidden' });
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText(/Enter an address that begins with/).waitFor();
  });

  it('keep what was typed when the provider changes elsewhere, and ask which is to hold', async () => {
    const { page, gateway, complaints } = await open({ screen: '/providers/main', config: oneProvider() });
    const form = page.getByRole('region', { name: 'Connection' });
    const update = (changes: object) =>
      gateway.gateway.execute({ type: 'provider.update', id: 'main', changes: { ...changes } });
    await form.getByLabel('Name', { exact: true }).fill('Mine');
    await update({ models: ['gpt-a'] });
    await form
      .getByLabel('Which models it serves')
      .filter({ has: page.locator('option[value="list"]:checked') })
      .waitFor();
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Mine');
    await update({ name: 'Theirs' });
    const notice = form.getByRole('alert').filter({ hasText: 'changed elsewhere' });
    await notice.getByRole('button', { name: 'Use their version' }).click();
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('Theirs');
    await form.getByLabel('Name', { exact: true }).fill('Mine');
    await update({ name: 'Theirs again' });
    await notice.getByRole('button', { name: 'Keep my version' }).click();
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Mine', level: 1 }).waitFor();
    expect((await gateway.gateway.query({ type: 'providers' }))[0]).toMatchObject({ name: 'Mine', models: ['gpt-a'] });
    expect(complaints).toEqual([]);
  });

  it('say what the engine refuses, and keep what was typed', async () => {
    const { page } = await open({ screen: '/providers/main', config: oneProvider() });
    const form = page.getByRole('region', { name: 'Connection' });
    await form.getByRole('button', { name: 'Advanced' }).click();
    await form.getByRole('button', { name: 'Add header' }).click();
    await form.getByLabel('Header', { exact: true }).fill('x-api-key');
    await form.getByLabel('Value').fill('planted');
    await form.getByRole('button', { name: 'Save' }).click();
    await form
      .getByRole('alert')
      .getByText(/in plain text in the configuration/)
      .waitFor();
    expect(await form.getByLabel('Value').inputValue()).toBe('planted');
  });

  it('ask for its models again', async () => {
    upstream.answer(works);
    const { page } = await open({ screen: '/providers/main', config: oneProvider() });
    const section = page.getByRole('region', { name: 'Models' });
    await section.getByText('gpt-b').waitFor();
    upstream.answer((_request, response) => json(response, { object: 'list', data: [{ id: 'gpt-new' }] }));
    await section.getByRole('button', { name: 'Refresh' }).click();
    await section.getByText('gpt-new').waitFor();
    expect(await section.getByText('gpt-b').count()).toBe(0);
  });

  it('remove it only after asking, and say what uses it', async () => {
    const aliases = [{ name: 'fast', targets: [{ provider: 'main', model: 'gpt-a' }] }];
    const { page, gateway } = await open({ screen: '/providers/main', config: { ...oneProvider(), aliases } });
    const remove = page.getByRole('button', { name: 'Remove…', exact: true });
    await remove.click();
    await page.getByText(/cannot be removed while aliases use it: fast/).waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).count()).toBe(0);
    await page.getByRole('dialog').getByText('Close').click();
    await expectFocus(remove);
    await gateway.gateway.execute({ type: 'alias.remove', name: 'fast' });
    await remove.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Sluice demo').waitFor();
    expect(await page.getByRole('link', { name: 'main' }).count()).toBe(0);
  });
});

it('says what the engine found and refused in the language of the window', async () => {
  const { page, gateway } = await open({
    ...{ screen: '/providers/main', context: { locale: 'zh-CN' } },
    config: { providers: [{ id: 'main', baseUrl: 'http://127.0.0.1:9/v1', models: ['m'] }] },
  });
  await page.getByRole('button', { name: '测试' }).click();
  await page.getByText(/^请检查服务是否在运行并监听 127\.0\.0\.1:9，/).waitFor();
  await page.getByLabel('Base URL').fill(gateway.baseUrl);
  await page.getByRole('button', { name: '保存' }).click();
  await page
    .getByRole('alert')
    .getByText(`${new URL(gateway.origin).host} 就是 Sluice 自身`)
    .waitFor();
  expect(await page.getByRole('alert').textContent()).not.toMatch(/[a-z]{3,} [a-z]{2,} [a-z]{2,}/);
});

it.each(appearances)(
  'the providers screen is in order in $width px, $colorScheme, $locale',
  async ({ width, colorScheme, locale }) => {
    const context = { viewport: { width, height: 800 }, colorScheme, locale };
    const env = { OPENAI_API_KEY: 'sk-1', AZURE_OPENAI_API_KEY: 'sk-2' };
    const window = await open({ context, screen: '/providers', config: crowded(), env });
    const { page, complaints } = window;
    const take = (name: string) => takePicture(page, `providers-${name}-${width}-${colorScheme}`);
    const check = async (name: string) => {
      await take(name);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
      expect(await accessibilityFaults(page)).toEqual([]);
    };
    await answerPresetsAt(page, upstream.baseUrl);
    await page.getByRole('link', { name: 'main', exact: true }).waitFor();
    await page.getByRole('button', { name: /^(Test|测试) main$/ }).click();
    await page.getByText(/^(Failed at|失败于)/).waitFor();
    await check('list');
    await page.getByRole('button', { name: /^(Add provider|添加服务商)$/ }).click();
    await page.getByRole('button', { name: /^Groq/ }).waitFor();
    await check('pick');
    await page.getByRole('button', { name: /^Groq/ }).click();
    await page.getByRole('button', { name: /^(Test|测试)$/ }).waitFor();
    await check('connect');
    await page
      .getByRole('dialog')
      .getByLabel(/^(Credential|凭据)$/)
      .fill(rightSecret);
    await page.getByRole('button', { name: /^(Test|测试)$/ }).click();
    await page.getByRole('button', { name: /^(Keep|保留)$/ }).waitFor();
    await check('tried');
    await page.getByRole('button', { name: /^(Keep|保留)$/ }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await window.gateway.gateway.query({ type: 'providers' })).map(({ id }) => id)).toContain('groq');
    await page.goto(`${window.gateway.origin}/#/providers/main`);
    await page.reload();
    await page.getByRole('button', { name: /^(Advanced|高级)$/ }).click();
    await check('detail');
    expect(complaints).toEqual([]);
  },
);

function oneProvider() {
  return { providers: [{ id: 'main', baseUrl: upstream.baseUrl }] };
}

function crowded() {
  const credentials = [
    { id: 'c1', label: 'team', secret: 'env:NOT_SET' },
    { id: 'c2', enabled: false },
  ];
  const names = Array.from({ length: 70 }, (_, index) => `vendor/model-with-a-long-name-${index}-instruct`);
  return {
    providers: [
      { id: 'main', baseUrl: upstream.baseUrl, headers: { 'x-team': 'blue' } },
      {
        id: 'long',
        name: 'A provider of the whole company with a name that does not end',
        baseUrl: `http://127.0.0.1:9/${'deployments/'.repeat(8)}v1`,
        models: names,
      },
      { id: 'bare', baseUrl: 'http://127.0.0.1:9/v1', credentials, models: ['*'] },
      { id: 'off', baseUrl: 'http://127.0.0.1:9/v1', enabled: false, models: ['*'] },
    ],
    settings: { demo: 'on' as const },
  };
}

/** The real presets with the address of the test's upstream, because no test calls a real service. */
async function answerPresetsAt(page: Page, baseUrl: string): Promise<void> {
  await page.route('**/control/query', async (route) => {
    if (route.request().postDataJSON().type !== 'presets') return route.fallback();
    const { result }: { result: Preset[] } = await (await route.fetch()).json();
    await route.fulfill({ json: { result: result.map((preset) => ({ ...preset, baseUrl })) } });
  });
}

async function answerQuery(page: Page, type: string, result: unknown): Promise<void> {
  await page.route('**/control/query', (route) =>
    route.request().postDataJSON().type === type ? route.fulfill({ json: { result } }) : route.fallback(),
  );
}
