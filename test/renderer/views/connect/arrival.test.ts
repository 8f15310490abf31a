import { describe, expect, it } from 'vitest';
import { latestArrival, latestKeyUse, latestRefusal } from '../../../../renderer/views/connect/arrival.ts';

const window = 'Mozilla/5.0 (X11; Linux x86_64) [Sluice window]';

describe('a client', () => {
  it('that cannot be told has no arrival', () => {
    const fromLedger = [{ client: 'anything', keyId: 'k1', lastUsedAt: 5 }];
    expect(latestArrival('n8n', { requests: [], fromLedger })).toBeNull();
  });

  it('is remembered by the ledger where the window has not heard of it', () => {
    const fromLedger = [
      { client: 'curl/8.6.0', keyId: 'k2', lastUsedAt: 7 },
      { client: 'curl/8.5.0', keyId: 'k1', lastUsedAt: 5 },
    ];
    expect(latestArrival('curl', { requests: [], fromLedger })).toBe(7);
  });

  it('that cannot be told goes by the key, whose use by the window or by a known program does not count', () => {
    const fromLedger = [
      { client: window, keyId: 'k1', lastUsedAt: 9 },
      { client: 'claude-cli/2.1.197 (external, sdk-cli)', keyId: 'k1', lastUsedAt: 8 },
      { client: 'OpenAI/JS 7.57.0', keyId: 'k2', lastUsedAt: 7 },
      { client: 'OpenAI/Python 3.54.0', keyId: 'k1', lastUsedAt: 5 },
    ];
    expect(latestKeyUse('k1', { requests: [], fromLedger })?.client).toBe('OpenAI/Python 3.54.0');
    expect(latestKeyUse('k3', { requests: [], fromLedger })).toBeNull();
    expect(latestKeyUse('k1', { requests: [], fromLedger: fromLedger.slice(0, 2) })).toBeNull();
  });

  it('that comes with a wrong key is told apart from one that has come through since', () => {
    const refusals = [
      { keyId: null, reason: 'missing_key', requests: 1, lastAt: 9, lastClient: 'Zed/0.220.0' },
      { keyId: null, reason: 'invalid_api_key', requests: 3, lastAt: 7, lastClient: 'curl/8.6.0' },
    ];
    expect(latestRefusal('curl', refusals, null)).toMatchObject({ reason: 'invalid_api_key' });
    expect(latestRefusal('curl', refusals, 6)).toMatchObject({ reason: 'invalid_api_key' });
    expect(latestRefusal('curl', refusals, 8)).toBeNull();
    expect(latestRefusal('curl', [], null)).toBeNull();
  });
});
