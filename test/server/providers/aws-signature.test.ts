import { describe, expect, test } from 'vitest';
import { awsSigning } from '../../../server/apis/bedrock/provider/bedrock.ts';
import type { Transport } from '../../../server/transport/transport.ts';
import { awsSignature } from '../../support/stand-ins.ts';

const secretAccessKey = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const host = 'example.amazonaws.com';
const moment = '20150830T123600Z';

describe('the checker of signatures', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  // Names and signatures from AWS's own test suite for Signature Version 4.
  test.each<[string, string, string, Record<string, string>, string, string]>([
    ['get-vanilla', 'GET', '/', {}, '', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      {},
      '',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    ['post-vanilla', 'POST', '/', {}, '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-vanilla-query',
      'POST',
      '/?Param1=value1',
      {},
      '',
      '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
    ],
    [
      'post-x-www-form-urlencoded',
      'POST',
      '/',
      form,
      'Param1=value1',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ])('agrees with AWS on %s', (_name, method, path, headers, body, signature) => {
    const call = { method, path, headers: { ...headers, host, 'x-amz-date': moment }, body };
    expect(awsSignature(call, { region: 'us-east-1', service: 'service', secretAccessKey })).toBe(signature);
  });
});

describe('a request to Bedrock', () => {
  const notAsked = null as unknown as Transport;
  test.each<[string, string, string, string | undefined]>([
    ['POST', '/model/us.amazon.nova-pro-v1%3A0/converse', '{"messages":[]}', undefined],
    [
      'POST',
      `/model/${encodeURIComponent('arn:aws:bedrock:us-east-1:1:inference-profile/a b')}/invoke`,
      '{}',
      'token=',
    ],
    ['GET', '/inference-profiles?maxResults=1000&nextToken=a%2Bb%3D', '', undefined],
  ])('bears the signature that AWS computes: %s %s', async (method, path, body, sessionToken) => {
    const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) };
    const signing = awsSigning(keys, () => Date.UTC(2026, 10, 22, 12, 36));
    const type: Record<string, string> = body === '' ? {} : { 'content-type': 'application/json' };
    const origin = 'https://bedrock-runtime.eu-west-1.amazonaws.com';
    const sent = Buffer.from(body);
    const request = { origin, method, path, headers: type, body: body === '' ? null : sent, proxy: 'direct' };
    const { authorization = '', ...added } = await signing.headersFor(request, notAsked);
    const [, signed = '', signature] = /SignedHeaders=([^,]+), Signature=([0-9a-f]+)$/.exec(authorization) ?? [];
    const all: Record<string, string> = { ...type, ...added, host: new URL(origin).host };
    const headers = Object.fromEntries(signed.split(';').map((name) => [name, all[name] ?? '']));
    const scope = { region: 'eu-west-1', service: 'bedrock', secretAccessKey };
    expect(signature).toBe(awsSignature({ method, path, headers, body: sent }, scope));
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(['host', 'x-amz-date', ...Object.keys(type)]));
    if (sessionToken !== undefined) expect(headers['x-amz-security-token']).toBe(sessionToken);
  });
});
