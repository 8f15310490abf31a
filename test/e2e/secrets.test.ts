/** @suite long */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';
import { type Sluice, startSluice } from './sluice.ts';

/** The behaviour, chosen by the model name in the request. */
const echoes = ['reply', 'stream', 'refusal', 'broken-stream', 'cut', 'no-http', 'redirect'] as const;

/** An upstream that repeats the received credential in its answers: in bodies, headers, addresses and codes. */
function startEchoUpstream(): Promise<ScriptedUpstream> {
  return startUpstream((request, response, raw) => {
    const credential = `${request.headers.authorization}`;
    const headers = {
      'x-request-id': credential,
      'openai-organization': credential,
      'x-ratelimit-reset-tokens': credential,
      'set-cookie': `credential=${credential}`,
    };
    const error = { message: `Incorrect key: ${credential}`, type: credential, param: credential, code: credential };
    const chunk = `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: credential } }] })}\n\n`;
    const stream = () => response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' }).write(chunk);
    switch (modelOf(request)) {
      case 'reply':
        return json(response, { id: credential, choices: [{ message: { content: credential } }] }, 200, headers);
      case 'stream':
        stream();
        return void response.end('data: [DONE]\n\n');
      case 'broken-stream':
        stream();
        return void response.end(`data: ${JSON.stringify({ error })}\n\n`);
      case 'cut':
        stream();
        return void setImmediate(() => raw.socket.destroy());
      case 'no-http':
        return void raw.socket.end(`HTTP/1.1 ${credential} ${credential}\r\n${credential}\r\n\r\n`);
      case 'redirect':
        return json(response, {}, 302, {
          ...headers,
          location: `/${encodeURIComponent(credential)}?key=${credential}`,
        });
      default:
        return json(response, { error }, 401, headers);
    }
  });
}

function modelOf({ body }: SeenRequest): string {
  return /"model":"([\w-]+)"/.exec(body.toString())?.[1] ?? '';
}

/** Distinctive values, so that a match is never a coincidence. */
const credential = 'sk-planted-credential-4711';
const credentialOfVariable = 'sk-planted-variable-4712';
const passphrase = 'planted passphrase 4713';
const wrongKey = 'sk-sluice-planted-wrong-key-4714';

/** Everything that was output or stored, with its place. */
const said: { place: string; text: string }[] = [];
let secrets: Record<string, string>;

let upstream: ScriptedUpstream;
let sluice: Sluice;
beforeAll(async () => {
  upstream = await startEchoUpstream();
  sluice = await startSluice({ env: { SLUICE_PASSPHRASE: passphrase, PLANTED: credentialOfVariable } });
  const adminToken = readFileSync(join(sluice.folder, 'admin.token'), 'utf8').trim();
  secrets = { credential, credentialOfVariable, passphrase, wrongKey, adminToken, firstKey: sluice.key };
});
afterAll(async () => {
  await sluice?.remove();
  await upstream?.stop();
});

test('no file, output, log line, view, event or export ever holds a secret', async () => {
  await addProviders();
  const keyOfCapturing = await keyOf('capturing');
  const events = await openEvents();
  for (const key of [sluice.key, keyOfCapturing]) await askEverything(key);
  await askControl('before the crash');
  collectOutput('first run');
  collectFiles('first run');

  await sluice.end('SIGKILL');
  said.push({ place: 'event stream', text: await events.text });
  collectFiles('after the crash');
  await sluice.start();
  await askEverything(sluice.key);
  await runVerbs();
  await askControl('after the crash');
  await sluice.end();
  collectOutput('second run');
  collectFiles('at the end');
  for (const line of ['doctor', 'export', 'log']) await verb(line.split(' '));
  collectFiles('after verbs alone');

  expect(leaks()).toEqual([]);
  // The upstream really received both credentials, and the search really covered what it should.
  const sent = new Set(upstream.seen.map(({ headers }) => headers.authorization));
  // What finds out which API is there has none.
  sent.delete(undefined);
  expect(sent).toEqual(new Set([`Bearer ${credential}`, `Bearer ${credentialOfVariable}`]));
  for (const [place, mark] of searched) expect(textOf(place), place).toContain(mark);
});

test('a credential that an upstream repeats is in none of Sluice’s messages about it', async () => {
  await sluice.start();
  const ask = (model: string) =>
    sluice.fetch('/chat/completions', { method: 'POST', body: JSON.stringify({ model, messages: [] }) });
  const refused = await ask('echo/refusal');
  expect(refused.status).toBe(502);
  expect(await refused.text()).toContain('provider_credential_refused');
  expect(JSON.stringify([...refused.headers])).not.toContain(credential);
  expect(refused.headers.has('set-cookie')).toBe(false);
  expect(await (await ask('echo/refusal')).text()).not.toContain(credential);
  await forgetRefusal('echo');
  const redirected = await ask('echo/redirect');
  expect(redirected.status).toBe(502);
  expect(await redirected.text()).toMatch(/redirect to \/Bearer%20\[redacted\], /);
});

/** Places, and the text that must have been found in each. */
const searched: [place: string, mark: string][] = [
  ['first run: ledger.sqlite-wal', '/v1/chat/completions'],
  ['at the end: ledger.sqlite', '/v1/chat/completions'],
  ['at the end: config.json', 'env:PLANTED'],
  ['at the end: logs/sluice.log', '"outcome":"error"'],
  ['first run: secrets.enc', '"from":"passphrase"'],
  ['event stream', 'request-finished'],
  ['verb log --json: output', '"outcome":"stream-broken"'],
  ['verb doctor --json: output', 'provider echo'],
  ['after the crash: /requests.csv', 'echo/refusal'],
  ['after the crash: capture of reply', 'choices'],
];

async function addProviders(): Promise<void> {
  const add = ['provider', 'add', '--url', upstream.baseUrl];
  await verb([...add, '--id', 'echo', '--credential-stdin', '--models', echoes.join(',')], `${credential}\n`);
  await verb([...add, '--id', 'variable', '--credential-ref', 'env:PLANTED', '--models', echoes.join(',')]);
  await verb(['provider', 'models', 'echo']);
  await verb(['group', 'put', 'capturing', '--capture']);
}

async function keyOf(group: string): Promise<string> {
  const { secret } = await sluice.execute({ type: 'key.create', id: group, group });
  secrets[`key of ${group}`] = secret;
  return secret;
}

/**
 * Sends requests that succeed and that fail in every way, through both providers. The answers to the client are not
 * searched.
 */
async function askEverything(key: string): Promise<void> {
  const chat = (model: string, bearer: string, stream: boolean) =>
    fetch(`${sluice.ready.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, messages: [] }),
    }).then((response) => response.text().catch(() => 'cut'));
  for (const provider of ['echo', 'variable']) {
    for (const model of echoes) {
      await forgetRefusal(provider);
      await chat(`${provider}/${model}`, key, model.includes('stream') || model === 'cut');
    }
  }
  said.push({ place: 'reply to a wrong key', text: await chat('echo/reply', wrongKey, false) });
}

/** So that the next request reaches the provider, and is not answered from memory. */
async function forgetRefusal(provider: string): Promise<void> {
  await sluice.execute({ type: 'provider.reset-health', id: provider });
}

async function askControl(when: string): Promise<void> {
  const keep = (place: string, value: unknown) =>
    said.push({ place: `${when}: ${place}`, text: JSON.stringify(value) });
  const types = ['status', 'providers', 'keys', 'groups', 'aliases', 'config'] as const;
  for (const type of types) keep(type, await sluice.query({ type }));
  for (const id of ['echo', 'variable']) keep('provider-test', await sluice.query({ type: 'provider-test', id }));
  keep(
    'refresh-models',
    await sluice.execute({ type: 'provider.update', id: 'echo', changes: { models: 'discover' } }),
  );
  keep('refresh-models', await sluice.execute({ type: 'provider.refresh-models', id: 'echo' }));
  keep('models', await sluice.query({ type: 'models', group: 'default' }));
  keep('route', await sluice.query({ type: 'route', group: 'default', model: 'echo/reply' }));
  keep('usage', await sluice.query({ type: 'usage', by: 'provider' }));
  const { requests } = await sluice.query({ type: 'requests' });
  for (const { id, modelAsked } of requests) {
    keep(`capture of ${modelAsked?.split('/')[1]}`, (await sluice.query({ type: 'request', id })) ?? null);
  }
  for (const path of ['/requests.csv', '/requests.jsonl']) {
    said.push({ place: `${when}: ${path}`, text: await (await sluice.control(path)).text() });
  }
  // Restores the list of all models.
  await sluice.execute({ type: 'provider.update', id: 'echo', changes: { models: [...echoes] } });
}

/** Resolves when the stream is open; `text` resolves when it has ended. */
async function openEvents(): Promise<{ text: Promise<string> }> {
  const response = await sluice.control('/events');
  const read = async () => {
    let text = '';
    try {
      for await (const piece of response.body ?? []) text += Buffer.from(piece);
    } catch {
      // The program was killed.
    }
    return text;
  };
  return { text: read() };
}

const verbs = [
  'key list --json',
  'provider list --json',
  'provider list',
  'provider presets --json',
  'provider test echo --json',
  'provider test variable',
  'provider models echo',
  'group list --json',
  'alias list --json',
  'model list --json',
  'route explain --model echo/reply --json',
  'log --json',
  'log',
  'usage --by key --json',
  'usage',
  'export --json',
  'export',
  'doctor --json',
];

async function runVerbs(): Promise<void> {
  const left = [...verbs];
  const runOneAfterTheOther = async () => {
    for (let line = left.shift(); line !== undefined; line = left.shift()) await verb(line.split(' '));
  };
  await Promise.all([runOneAfterTheOther(), runOneAfterTheOther(), runOneAfterTheOther()]);
}

async function verb(parameters: string[], input = ''): Promise<void> {
  const { stdout, stderr } = await sluice.cli(parameters, { input });
  said.push({ place: `verb ${parameters.join(' ')}: output`, text: stdout + stderr });
}

function collectOutput(when: string): void {
  // The key created on the first run is printed once, and so is the address of the window.
  const { stdout, stderr } = sluice.output;
  said.push({ place: `${when}: output`, text: stdout.replace(sluice.ready.key ?? '', '') + stderr });
}

function collectFiles(when: string): void {
  for (const name of readdirSync(sluice.folder, { recursive: true, encoding: 'utf8' })) {
    const path = join(sluice.folder, name);
    if (name === 'admin.token' || !statSync(path).isFile()) continue;
    said.push({ place: `${when}: ${name}`, text: readFileSync(path, 'latin1') });
  }
}

function textOf(place: string): string {
  return said
    .filter((each) => each.place === place)
    .map(({ text }) => text)
    .join('\n');
}

function leaks(): string[] {
  const found = said.flatMap(({ place, text }) =>
    Object.entries(secrets).flatMap(([name, secret]) => (text.includes(secret) ? [`${name} in ${place}`] : [])),
  );
  return [...new Set(found)];
}
