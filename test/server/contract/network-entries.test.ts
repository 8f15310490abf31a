/** Entries of lists of hosts, addresses and origins: what is accepted matches, and what matches nothing is refused. */
import { describe, expect, test } from 'vitest';
import {
  isInNetwork,
  parseAddress,
  parseBypass,
  parseHostRule,
  parseNetwork,
  parseOriginRule,
} from '../../../server/contract/host-rule.ts';
import { entryChecks, unusableEntries } from '../../../server/contract/settings-table.ts';
import { TrustedProxies } from '../../../server/http/client-address.ts';

/** Per entry: hosts that it must match, and hosts that it must not. With a port behind a blank, only that port. */
const bypasses: Record<string, [matched: string[], others: string[]]> = {
  '*': [['a.example', '10.1.2.3', '[fd00::1]'], []],
  'example.com': [
    ['example.com', 'a.b.example.com', 'EXAMPLE.com.'],
    ['badexample.com', 'example.com.evil'],
  ],
  '.example.com': [['example.com', 'a.example.com'], ['badexample.com']],
  '*.example.com': [['example.com', 'a.b.example.com'], ['badexample.com']],
  'build-*.example.com': [['build-7.example.com'], ['example.com', 'build.example.com', 'xbuild-7.example.com']],
  'example.com:8080': [['example.com 8080', 'a.example.com 8080'], ['example.com 80']],
  'bücher.example': [['xn--bcher-kva.example'], ['bucher.example']],
  '10.1.2.3': [
    ['10.1.2.3', '[::ffff:a01:203]'],
    ['10.1.2.30', '110.1.2.3'],
  ],
  '10.1.2.3:8080': [['10.1.2.3 8080'], ['10.1.2.3 80']],
  '10.0.0.0/8': [
    ['10.99.1.2', '10.255.255.255', '[::ffff:a63:102]'],
    ['11.0.0.1', '9.255.255.255', '10.example'],
  ],
  '10.128.0.0/9': [['10.128.0.1', '10.255.0.1'], ['10.127.255.255']],
  '192.168.5.130/25': [['192.168.5.200'], ['192.168.5.5']],
  '10.0.0.0/8:8080': [['10.99.1.2 8080'], ['10.99.1.2 80']],
  '0.0.0.0/0': [['8.8.8.8'], ['[fd00::1]', 'a.example']],
  '10.*': [['10.99.1.2'], ['110.1.1.1', '10.example']],
  '192.168.*.7': [['192.168.3.7'], ['192.168.3.70', '10.168.3.7']],
  '10.*:8080': [['10.99.1.2 8080'], ['10.99.1.2 80']],
  'fd00::7': [['[fd00::7]', '[fd00:0:0::7]'], ['[fd00::8]']],
  'FD00:0:0:0:0:0:0:7': [['[fd00::7]'], ['[fd00::70]']],
  '[fd00::7]': [['[fd00::7]'], ['[fd00::8]']],
  '[fd00::7]:8080': [['[fd00::7] 8080'], ['[fd00::7] 80']],
  'fd00::/8': [
    ['[fd00::7]', '[fdff::1]'],
    ['[fe80::1]', '253.0.0.1'],
  ],
  'fe80::/10': [['[fe80::1]', '[febf::1]'], ['[fec0::1]']],
  '[fd00::]/8': [['[fd12::1]'], ['[fe80::1]']],
  '[fd00::]/8:8080': [['[fd12::1] 8080'], ['[fd12::1] 80']],
  '::ffff:10.0.0.0/104': [['10.4.5.6'], ['11.4.5.6']],
  'fd12:*': [['[fd12::1]'], ['[fd13::1]', 'fd12.example']],
};

describe('an entry of NO_PROXY', () => {
  test.each(Object.entries(bypasses))('%s', (entry, [matched, others]) => {
    const rule = parseBypass(entry) ?? expect.unreachable();
    const isBypassed = (line: string) => {
      const [host = '', port = '443'] = line.split(' ');
      return (rule.port === undefined || rule.port === port) && rule.matches(host);
    };
    expect(matched.filter((line) => !isBypassed(line))).toEqual([]);
    expect(others.filter(isBypassed)).toEqual([]);
    expect(entryChecks.noProxy(entry)).toBe(true);
  });

  test.each([
    ...[
      '',
      'http://example.com',
      'example.com/path',
      'a b.example',
      'user@example.com',
      '<local>',
      'a.example:99999999',
    ],
    ...[
      '10.0.0',
      '300.1.1.1',
      '10.0.0.1-10.0.0.9',
      '192.168.',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '010.0.0.1',
    ],
    ...['0x7f.1', '10.0.0.0-16', 'fd00::/129', 'fd00::7::8', '[fd00::7', 'fe80::1%eth0', '10.0.0.0/255.0.0.0'],
  ])('that can match nothing is not one: %j', (entry) => {
    expect(parseBypass(entry)).toBeNull();
  });

  test('may stand with others in one line of the setting', () => {
    expect(entryChecks.noProxy('a.example,10.0.0.0/8')).toBe(true);
    expect(entryChecks.noProxy('a.example,10.0.0.0/80')).toBe(false);
  });
});

describe('an allowed host', () => {
  const matches = (entry: string, host: string) => parseHostRule(entry, { subdomains: false })?.(host) ?? null;

  test.each([
    ['nas.local', 'nas.local', true],
    ['NAS.local', 'nas.LOCAL', true],
    ['nas.local', 'a.nas.local', false],
    ['*.ngrok.example', 'a.ngrok.example', true],
    ['*.ngrok.example', 'ngrok.example', false],
    ['*.ngrok.example', 'ngrok.example.evil', false],
    ['192.168.1.0/24', '192.168.1.20', true],
    ['192.168.*', '192.168.1.20', true],
    ['192.168.*', '192.168.evil.example', false],
    ['[fd00::7]', '[fd00:0::7]', true],
    ['http://nas.local', 'nas.local', null],
    ['nas.local:4810', 'nas.local', null],
  ])('%s and %s: %s', (entry, host, expected) => {
    expect(matches(entry, host)).toBe(expected);
    expect(entryChecks.allowedHosts(entry)).toBe(expected !== null);
  });
});

describe('an allowed origin', () => {
  const origins: Record<string, [matched: string[], others: string[]]> = {
    null: [['null'], ['https://null']],
    'https://app.example': [
      ['https://app.example'],
      ['http://app.example', 'https://app.example:8443', 'https://a.app.example'],
    ],
    'https://app.example:443': [['https://app.example'], ['https://app.example:444']],
    'HTTPS://App.Example': [['https://app.example'], []],
    'https://bücher.example': [['https://xn--bcher-kva.example'], []],
    'http://localhost:*': [
      ['http://localhost', 'http://localhost:5173'],
      ['https://localhost', 'http://localhost.evil:80', 'http://localhost:x'],
    ],
    'http://[::1]:*': [['http://[::1]:3000'], ['http://[::2]:3000']],
    'https://*.example.com': [
      ['https://a.example.com', 'https://a.b.example.com'],
      [
        'https://example.com',
        'https://aexample.com',
        'https://a.example.com:1',
        'https://a.example.com.evil',
        'http://a.example.com',
      ],
    ],
    'https://*.example.com:*': [['https://a.example.com:8443'], ['https://example.com:8443']],
    'https://app-*.vercel.example': [
      ['https://app-x1.vercel.example'],
      ['https://app-x.y.vercel.example', 'https://xapp-1.vercel.example'],
    ],
    'http://*.localhost:3000': [['http://a.localhost:3000'], ['http://localhost:3000', 'http://a.localhost']],
    'chrome-extension://*': [
      ['chrome-extension://abcdefghijklmnop'],
      ['https://abcdefghijklmnop', 'xchrome-extension://a', 'null'],
    ],
    'chrome-extension://abcdefghijklmnop': [['chrome-extension://abcdefghijklmnop'], ['chrome-extension://other']],
    'moz-extension://*': [['moz-extension://2b1d-4c'], ['chrome-extension://2b1d-4c']],
    'vscode-webview://*': [['vscode-webview://1h0vq6o2rqlv3e9c'], ['vscode-file://1h0']],
    'tauri://localhost': [['tauri://localhost'], ['tauri://localhost.evil']],
    'app://obsidian.md': [['app://obsidian.md'], ['app://obsidian.mdx']],
    'capacitor://localhost:*': [['capacitor://localhost:8100'], ['capacitor://localhost']],
  };

  test.each(Object.entries(origins))('%s', (entry, [matched, others]) => {
    const rule = parseOriginRule(entry) ?? expect.unreachable();
    expect(matched.filter((origin) => !rule(origin))).toEqual([]);
    expect(others.filter(rule)).toEqual([]);
    expect(entryChecks.allowedOrigins(entry)).toBe(true);
  });

  test.each([
    ...[
      '*',
      'https://*',
      'http://*:3000',
      '*://app.example',
      'https://*.com',
      'https://*:*',
      'https://a.*.example.com',
    ],
    ...['https://app.example/', 'https://app.example/path', 'https://app.example?x', 'https://user@app.example'],
    ...[
      'app.example',
      '',
      'https://',
      'ws://app.example',
      'https://app.example:99999',
      'https://a b.example',
      'http://1.2.3',
    ],
  ])('%j is none, since it would match nothing or any site', (entry) => {
    const rule = parseOriginRule(entry);
    if (entry === 'http://1.2.3') expect(rule?.('http://1.2.0.3')).toBe(true);
    else expect(rule).toBeNull();
  });
});

describe('a trusted proxy', () => {
  const peer = (remoteAddress: string) => ({
    socket: { remoteAddress } as never,
    headers: { 'x-forwarded-for': '203.0.113.9' },
  });

  test.each([
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.0/8', '::ffff:10.9.9.9', true],
    ['::ffff:10.0.0.0/104', '10.9.9.9', true],
    ['fd00::/8', 'fd12::1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
  ])('%s trusts %s: %s', (entry, address, isTrusted) => {
    const client = new TrustedProxies([entry]).clientOf(peer(address));
    expect(client === '203.0.113.9').toBe(isTrusted);
  });

  test.each(['10.0.0.0/8x', '10.0.0.0/8.5', '10.0.0.0/8/9', '10.*', 'proxy.example', '10.0.0.0/33', 'fe80::1%eth0'])(
    '%s is refused',
    (entry) => expect(() => new TrustedProxies([entry])).toThrow(`"${entry}" is neither an IP address nor a network`),
  );
});

test('an address is read as the operating system reads it, for all prefixes', () => {
  const address = parseAddress('172.31.254.129') ?? expect.unreachable();
  for (let bits = 0; bits <= 32; bits++) {
    const network = parseNetwork(`172.31.254.129/${bits}`) ?? expect.unreachable();
    expect(isInNetwork(address, network)).toBe(true);
    if (bits === 0) continue;
    const flipped = ((172 << 24) | (31 << 16) | (254 << 8) | 129) ^ (1 << (32 - bits));
    const other = [24, 16, 8, 0].map((shift) => (flipped >>> shift) & 0xff);
    expect(isInNetwork(other, network)).toBe(false);
  }
});

test('a stored setting with an entry that has no effect is told, entry by entry', () => {
  const settings = { noProxy: ['10.0.0.0/8', '192.168.'], allowedOrigins: ['*'], allowedHosts: ['nas.local'] };
  expect(unusableEntries(settings)).toEqual([
    expect.stringMatching(/^allowedOrigins: "\*" is not an origin/),
    expect.stringMatching(/^noProxy: "192\.168\." is not a host/),
  ]);
});
