import { describe, expect, it } from 'vitest';
import { makePresetLink, readSluiceLink } from '../../../server/contract/sluice-link.ts';

const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789';
const unknown = { kind: 'refused', reason: 'unknown' };
const holdsSecret = { kind: 'refused', reason: 'secret' };

describe('a link of Sluice', () => {
  it('shows a request', () => {
    for (const link of ['sluice://requests/req_0198f3a1b2c3', 'SLUICE://Requests/req_0198f3a1b2c3/'])
      expect(readSluiceLink(link)).toEqual({ kind: 'screen', path: '/requests/req_0198f3a1b2c3' });
  });

  it('fills in the form of a provider, with a preset or an address', () => {
    expect(readSluiceLink('sluice://provider?preset=open-router')).toEqual({
      ...{ kind: 'screen', path: '/providers?add&preset=open-router' },
    });
    for (const slash of ['', '/']) {
      expect(
        readSluiceLink(`sluice://provider${slash}?url=https%3A%2F%2Fllm.example.com%3A8443%2Fv1&name=My+%C3%BCber+LLM`),
      ).toEqual({
        ...{
          kind: 'screen',
          path: '/providers?add&address=https%3A%2F%2Fllm.example.com%3A8443%2Fv1&name=My+%C3%BCber+LLM',
        },
      });
    }
    expect(readSluiceLink('sluice://provider?url=http://[::1]:8080/v1')).toMatchObject({ kind: 'screen' });
  });

  it('carries a preset', () => {
    const preset = { teamPreset: 1, name: 'acme', providers: [{ id: 'a', baseUrl: 'https://a.example/v1' }] };
    expect(readSluiceLink(makePresetLink(preset) ?? '')).toEqual({ kind: 'preset', text: JSON.stringify(preset) });
  });

  it.each([
    ...[
      '',
      'sluice:',
      'sluice://',
      'sluice:///',
      'sluice:requests/req_1',
      'sluice:/requests/req_1',
      'sluice://settings',
    ],
    ...[
      'https://requests/req_1',
      'javascript:alert(1)',
      'file:///etc/passwd',
      'sluice-window://app/',
      ' sluice://requests/req_1',
    ],
    ...[
      'sluice://requests',
      'sluice://requests/',
      'sluice://requests/1',
      'sluice://requests/req_',
      'sluice://requests/req_1/x',
    ],
    ...[
      'sluice://requests/req_1?x=1',
      'sluice://requests/req_1#x',
      'sluice://requests/../settings',
      'sluice://requests/req_1/../../x',
    ],
    ...['sluice://requests/%72eq_1', 'sluice://requests/req_1%2F..%2Fx', 'sluice://requests/req_1\nx'],
    ...[
      `sluice://requests/req_${'a'.repeat(65)}`,
      'sluice://requests:80/req_1',
      'sluice://requests.evil.example/req_1',
    ],
    ...[
      'sluice://provider',
      'sluice://provider?',
      'sluice://provider?name=x',
      'sluice://provider?preset=',
      'sluice://provider?preset=../x',
    ],
    ...[
      'sluice://provider?preset=a&url=https://b.example',
      'sluice://provider?preset=a&preset=b',
      'sluice://provider?preset=a#x',
    ],
    ...['sluice://provider?preset=a&start=1', 'sluice://provider/x?preset=a', 'sluice://provider?url=ftp://a.example/'],
    ...[
      'sluice://provider?url=javascript:alert(1)',
      'sluice://provider?url=//a.example',
      'sluice://provider?url=file:///etc/passwd',
    ],
    ...[
      'sluice://provider?url=https://a.example/v1%3Fx=1',
      'sluice://provider?url=https://a.example/%23x',
      'sluice://provider?url=https://',
    ],
    ...['sluice://provider?url=https://a.example/../v1', 'sluice://provider?url=https://a.example/%252e%252e/v1'],
    ...['sluice://provider?url=https://\u0430pple.example/v1'],
    ...['sluice://provider?url=https://a.example&name=', 'sluice://provider?url=https://a.example&name=a%0Ab'],
    ...[
      'sluice://provider?url=https://a.example&name=%E2%80%AEevil',
      `sluice://provider?url=https://a.example&name=${'a'.repeat(81)}`,
    ],
    ...[
      'sluice://cassette?folder=/home/me',
      'sluice://cassette?folder=\\\\evil.example\\share',
      'sluice://open?file=/etc/passwd',
    ],
  ])('in another form is refused: %j', (link) => {
    expect(readSluiceLink(link)).toEqual(unknown);
  });

  it('that is too long is refused', () => {
    expect(readSluiceLink(`sluice://provider?url=https://a.example/${'a'.repeat(5_000)}`)).toEqual(unknown);
    expect(readSluiceLink(`sluice://requests/req_1${' '.repeat(1_000_000)}`)).toEqual(unknown);
  });

  it('to a preset that cannot be read says so', () => {
    for (const link of [
      'sluice://preset',
      'sluice://preset?data=',
      'sluice://preset?data=_w',
      `sluice://preset?data=${'A'.repeat(31_000)}`,
    ])
      expect(readSluiceLink(link)).toEqual({ kind: 'refused', reason: 'preset' });
  });

  const encodings = [
    (text: string) => text,
    encodeURIComponent,
    (text: string) => encodeURIComponent(encodeURIComponent(text)),
    (text: string) => text.replace(/./g, (each) => `%${each.charCodeAt(0).toString(16)}`),
  ];
  const places: ((text: string) => string)[] = [
    (text) => `sluice://provider?preset=openai&key=${text}`,
    (text) => `sluice://provider?url=https://a.example/v1&name=${text}`,
    (text) => `sluice://provider?url=https://a.example/${text}/v1`,
    (text) => `sluice://provider?url=https://a.example/v1%3Fkey%3D${text}`,
    (text) => `sluice://provider?url=https://a.example/v1#${text}`,
    (text) => `sluice://provider?${text}=1`,
    (text) => `sluice://provider/${text}?preset=openai`,
    (text) => `sluice://requests/req_1?x=${text}`,
    (text) => `sluice://requests/${text}`,
    (text) => `sluice://${text}/`,
    (text) => `sluice://preset?url=https://a.example&data=${text}`,
    (text) => `sluice://whatever?x=${text}`,
  ];

  it('with a secret in any place, encoded in any way, is refused because of it', () => {
    for (const place of places) {
      for (const encode of encodings)
        expect([place(encode(secret)), readSluiceLink(place(encode(secret)))]).toEqual([
          expect.anything(),
          holdsSecret,
        ]);
    }
  });

  it.each([
    ...[
      'sluice://provider?preset=openai&apiKey=short',
      'sluice://provider?preset=openai&api_key=x',
      'sluice://provider?url=https://a.example&token=x',
    ],
    ...[
      'sluice://provider?url=https://me:pass@a.example/v1',
      'sluice://provider?url=https%3A%2F%2Fme%3Apass%40a.example',
      'sluice://me:pass@provider?preset=a',
    ],
    ...[
      'sluice://provider?url=https://pass@a.example/v1',
      'sluice://provider?preset=a&password=x',
      'sluice://provider?preset=a&client-secret=x',
    ],
    ...[
      'sluice://provider?preset=a&Authorization=Bearer%20x',
      'sluice://provider?preset=a&headers=%7B%22x-api-key%22%3A%22x%22%7D',
      'sluice://provider?preset=a&credential=x',
    ],
    'sluice://provider?url=https://a.example\\@b.example/',
  ])('with a credential by its name or place is refused because of it: %s', (link) => {
    expect(readSluiceLink(link)).toEqual(holdsSecret);
  });

  it('is read in no time, whatever it is', () => {
    const began = performance.now();
    for (const part of ['a', '%25', '&', '=', '+', '/', 'key', '://', '%', '.', '[', '@', '_', 'eyJ'])
      for (const head of ['sluice://provider?url=', 'sluice://requests/', 'sluice://preset?data=', 'sluice:'])
        readSluiceLink(head + part.repeat(100_000 / part.length));
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
