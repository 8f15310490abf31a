/** Application-default credentials, which Google's library finds through the environment. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { googleSigning } from '../../../server/apis/gemini/vertex/credential.ts';
import { fetchGoogleToken } from '../../../server/apis/gemini/vertex/google-token.ts';
import { scriptedTransport } from '../../support/stand-ins.ts';

const names = ['GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_CONFIG', 'METADATA_SERVER_DETECTION'] as const;
const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-google-'));
  process.env.CLOUDSDK_CONFIG = folder;
  process.env.METADATA_SERVER_DETECTION = 'none';
  delete process.env.GOOGLE_APPLICATION_CREDENTIALS;
});
afterEach(() => {
  for (const name of names) {
    const value = before[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  rmSync(folder, { recursive: true });
});

const token = { access_token: 'ya29.default', expires_in: 3600, token_type: 'Bearer' };

function keep(name: string, value: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
}

const user = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' };

test('the file of a service account that the environment names is used, through Sluice’s transport', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  process.env.GOOGLE_APPLICATION_CREDENTIALS = keep('account.json', {
    type: 'service_account',
    project_id: 'p1',
    client_email: 'sluice@p1.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  });
  const transport = scriptedTransport(() => token);
  expect(await fetchGoogleToken(null, { transport, proxy: 'direct' })).toMatchObject({ value: 'ya29.default' });
  expect(transport.seen).toMatchObject([{ path: '/token', method: 'POST' }]);
  expect(String(transport.seen[0]?.body)).toContain('jwt-bearer');
});

test('the credentials that gcloud keeps for a person are used', async () => {
  keep('application_default_credentials.json', user);
  const transport = scriptedTransport(() => token);
  expect(await fetchGoogleToken(null, { transport, proxy: 'direct' })).toMatchObject({ value: 'ya29.default' });
  expect(String(transport.seen[0]?.body)).toContain('refresh_token=r');
});

test('the file of a person as a credential is used as it is', async () => {
  const transport = scriptedTransport(() => token);
  const { value, expiresAt } = await fetchGoogleToken(JSON.stringify(user), { transport, proxy: 'direct' });
  expect(value).toBe('ya29.default');
  expect(expiresAt).toBeGreaterThan(Date.now());
});

test('a token that Google refuses is told, without the secret', async () => {
  const transport = scriptedTransport(() => ({ error: 'invalid_grant', error_description: 'Bad Request' }), 400);
  const signing = googleSigning(JSON.stringify({ ...user, refresh_token: 'refused' })) ?? expect.unreachable();
  const failing = signing.headersFor({ ...asked }, transport);
  await expect(failing).rejects.toMatchObject({
    code: 'provider_credential_refused',
    message: expect.stringMatching(/invalid_grant/),
  });
  await expect(failing).rejects.not.toThrow(/refused"|client_secret/);
});

test('where there are none, and no metadata server, that is told', async () => {
  const signing = googleSigning('application-default') ?? expect.unreachable();
  const transport = scriptedTransport(() => token);
  await expect(signing.headersFor({ ...asked }, transport)).rejects.toMatchObject({
    code: 'provider_credential_refused',
    message: expect.stringMatching(/default credentials/),
  });
  expect(transport.seen).toEqual([]);
});

const asked = { origin: 'https://x.example', method: 'POST', path: '/', headers: {}, body: null, proxy: 'direct' };
