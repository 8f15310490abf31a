import { describe, expect, test } from 'vitest';
import { causeText, causeTextZh } from '../../../server/contract/causes.ts';

describe('errors of the system are said', () => {
  // As Node, OpenSSL and the engine write them.
  test.each([
    ['getaddrinfo ENOTFOUND www.ecb.europa.eu', 'there is no host www.ecb.europa.eu (ENOTFOUND)'],
    ['getaddrinfo EAI_AGAIN api.example.com', 'the name api.example.com could not be looked up (EAI_AGAIN)'],
    ['connect ECONNREFUSED 127.0.0.1:9', '127.0.0.1:9 refuses connections (ECONNREFUSED)'],
    ['connect ENETUNREACH 10.0.0.1:443 - Local (0.0.0.0:0)', '10.0.0.1:443 cannot be reached (ENETUNREACH)'],
    ['connect ETIMEDOUT 10.0.0.1:443', '10.0.0.1:443 does not answer (ETIMEDOUT)'],
    ['read ECONNRESET', 'the connection broke (ECONNRESET)'],
    ['ENOSPC: no space left on device, write', 'the disk is full (ENOSPC)'],
    ["EACCES: permission denied, open '/etc/x'", 'no permission for /etc/x (EACCES)'],
    ["ENOENT: no such file or directory, rename '/a' -> '/b'", 'there is no /a (ENOENT)'],
    ["EMFILE: too many open files, open '/a'", 'too many files are open (EMFILE)'],
    ['proxy p.example:8080: connect ECONNREFUSED 10.0.0.9:8080', null],
    ['no secure connection to x.example: self-signed certificate; its certificate was issued by "Me"', null],
    ['no secure connection to x.example: certificate has expired', null],
    ["no secure connection to x.example: Hostname/IP does not match certificate's altnames: Host: x.", null],
    ['no secure connection to x.example: wrong version number', null],
    ['no connection within 5000 ms', null],
    ['no address of x.example within 5000 ms', null],
    ['www.ecb.europa.eu answers 503.', null],
    ['It is not JSON.', null],
    ['It has no rate of the US dollar.', null],
  ])('%s', (raw, english) => {
    if (english !== null) expect(causeText(raw)).toBe(english);
    // No word of English is left but names, codes and units.
    const chinese = causeTextZh(raw).replaceAll(
      /[\w.]*\.(?:example|com|eu)(?::\d+)?|\(?E[A-Z_]+\)?|“Me”|JSON|TLS|\/\w+/g,
      '',
    );
    expect(chinese).not.toMatch(/[a-z]{2,}/i);
    expect(chinese).toMatch(/\p{Script=Han}/u);
  });

  test('as they are, if they are not known', () => {
    for (const text of [causeText, causeTextZh]) expect(text('EWEIRD: something else')).toBe('EWEIRD: something else');
  });
});
