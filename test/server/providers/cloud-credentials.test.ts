import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { awsSigning, bedrockDialect, readAwsKeys } from '../../../server/apis/bedrock/provider/bedrock.ts';
import type { SignedRequest } from '../../../server/apis/core/dialects/dialect.ts';
import { googleSigning, TokenHolder } from '../../../server/apis/gemini/vertex/credential.ts';
import { scriptedTransport } from '../../support/stand-ins.ts';

describe('an access key of AWS', () => {
  const id = 'AKIAIOSFODNN7EXAMPLE';
  const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

  test('is told from a Bedrock API key', () => {
    expect(readAwsKeys('ABSKQmVkcm9ja0FQSUtleQ==')).toBeNull();
    expect(readAwsKeys(`${id}:${secret}`)).toEqual({ accessKeyId: id, secretAccessKey: secret });
    const exported = { Version: 1, AccessKeyId: id, SecretAccessKey: secret, SessionToken: 't' };
    expect(readAwsKeys(JSON.stringify(exported))).toMatchObject({ accessKeyId: id, sessionToken: 't' });
    expect(bedrockDialect.authorize(`${id}:${secret}`)).toEqual({});
    expect(bedrockDialect.authorize('ABSK')).toEqual({ authorization: 'Bearer ABSK' });
  });

  test('signs a request for the region in the address, with the path encoded twice', async () => {
    const signing = awsSigning({ accessKeyId: id, secretAccessKey: secret, sessionToken: 'st' }, () =>
      Date.UTC(2026, 10, 22),
    );
    const request = {
      origin: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
      method: 'POST',
      path: '/model/anthropic.claude-v2%3A1/invoke',
      headers: { 'content-type': 'application/json', 'user-agent': 'x' },
      body: Buffer.from('{}'),
      proxy: 'direct',
    };
    const headers = await signing.headersFor(
      request,
      scriptedTransport(() => null),
    );
    expect(headers).toMatchObject({ 'x-amz-date': '20261122T000000Z', 'x-amz-security-token': 'st' });
    expect(headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20261122\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(headers).not.toHaveProperty('host');
    expect(signing.secrets).toEqual([secret, 'st']);
  });
});

describe('a service account’s token', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const file = {
    type: 'service_account',
    client_email: 'sluice@p1.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
  const asked: SignedRequest = {
    origin: 'https://x.example',
    method: 'POST',
    path: '/',
    headers: {},
    body: null,
    proxy: 'direct',
  };

  test('is asked for through Sluice’s transport, signed with its key', async () => {
    const transport = scriptedTransport(() => ({ access_token: 'ya29.new', expires_in: 3600, token_type: 'Bearer' }));
    const signing = googleSigning(JSON.stringify(file)) ?? expect.unreachable();
    expect(await signing.headersFor(asked, transport)).toEqual({ authorization: 'Bearer ya29.new' });
    expect(signing.secrets).toEqual(['ya29.new', file.private_key]);
    expect(transport.seen).toMatchObject([{ origin: 'https://oauth2.googleapis.com', path: '/token', method: 'POST' }]);
    expect(String(transport.seen[0]?.body)).toContain(
      'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer',
    );
  });

  test.each([
    [400, { code: 'provider_credential_refused' }],
    [503, { fault: 'malformed', message: expect.stringContaining('status 503') }],
  ])('is refused where Google says so, not where it fails (%i)', async (status, error) => {
    const signing = googleSigning(JSON.stringify({ ...file, client_email: `of-${status}@p1.example` }));
    const transport = scriptedTransport(() => ({ error: 'invalid_grant' }), status);
    await expect(signing?.headersFor(asked, transport)).rejects.toMatchObject(error);
  });
});

test('a user’s tokens and client secret are kept out of log and ledger', () => {
  const user = {
    type: 'authorized_user',
    client_id: 'c',
    client_secret: 'of-the-client',
    refresh_token: '1//of-a-user',
  };
  expect(googleSigning(JSON.stringify(user))?.secrets).toEqual(['1//of-a-user', 'of-the-client']);
});

describe('an access token', () => {
  const minute = 60_000;
  const open = () => {
    const state = { now: 0, fetched: 0 };
    const holder = new TokenHolder(() => state.now);
    const get = () =>
      holder.get(async () => {
        state.fetched++;
        return { value: `t${state.fetched}`, expiresAt: state.now + 60 * minute };
      });
    return { state, get };
  };

  test('is fetched once for requests that come together', async () => {
    const { state, get } = open();
    expect(await Promise.all([get(), get()])).toEqual(['t1', 't1']);
    expect(state.fetched).toBe(1);
  });

  test('is renewed before it ends, while requests use the old one', async () => {
    const { state, get } = open();
    await get();
    state.now = 56 * minute;
    expect(await get()).toBe('t1');
    expect(await get()).toBe('t2');
  });

  test('is not used after its end', async () => {
    const { state, get } = open();
    await get();
    state.now = 61 * minute;
    expect(await get()).toBe('t2');
  });
});
