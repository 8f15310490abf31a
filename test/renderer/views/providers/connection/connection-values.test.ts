import { describe, expect, it } from 'vitest';
import {
  changesOf,
  exampleBaseUrls,
  fillPlaceholders,
  isBaseUrl,
  placeholdersOf,
  valuesOf,
} from '../../../../../renderer/views/providers/connection/connection-values.ts';
import type { ProviderView } from '../../../../../server/contract/provider-views.ts';
import { presets } from '../../../../../server/providers/presets.ts';
import { wellProvider } from '../../../../support/stand-ins.ts';

const provider: ProviderView = {
  id: 'main',
  name: 'Main',
  preset: null,
  joined: false,
  isDemo: false,
  dialect: 'azure',
  baseUrl: 'https://example.com/v1',
  enabled: true,
  credentials: [],
  headers: { 'x-team': 'blue' },
  models: ['gpt-x', '*'],
  timeouts: { connectMs: 2_500, totalMs: 60_000 },
  proxy: 'http://proxy.example.com:3128',
  certificate: Array.from({ length: 32 }, () => 'AB').join(':'),
  apiVersion: '2025-01-01',
  contextTokens: 128_000,
  free: true,
  isFree: true,
  askUsage: false,
  serves: ['chat'],
  unusable: null,
  health: wellProvider,
  modelNames: ['gpt-x'],
  takesAnyModel: true,
  discovery: null,
};

describe('the form of a connection', () => {
  it('gives back what it was made of', () => {
    const { name, dialect, baseUrl, headers, models, timeouts, proxy, apiVersion, askUsage, serves, free } = provider;
    const { contextTokens, certificate } = provider;
    const further = { proxy, certificate, apiVersion, askUsage, contextTokens, serves, free };
    const same = { name, dialect, baseUrl, headers, models, timeouts, ...further };
    expect(changesOf(valuesOf(provider))).toEqual(same);
  });

  it('leaves out limits and headers without a value or name, and removes an empty name', () => {
    const values = { ...valuesOf(provider), name: ' ', headers: [{ name: ' ', value: 'x' }], discovers: true };
    const timeouts = { connectMs: '', firstByteMs: 1.5, firstContentMs: '', idleMs: '', totalMs: '' } as const;
    expect(changesOf({ ...values, timeouts, proxy: 'direct' })).toMatchObject({
      name: null,
      headers: {},
      models: 'discover',
      timeouts: { firstByteMs: 1_500 },
      proxy: 'direct',
    });
  });
});

describe('a base URL', () => {
  it.each(Object.entries(exampleBaseUrls))('has the example of its dialect: %s', (dialect, example) => {
    expect(presets.find(({ id }) => id === dialect)).toMatchObject({ dialect, baseUrl: example });
  });

  it('asks for what stands in braces, each once', () => {
    expect(placeholdersOf('https://{resource}.example.com/{team}/{resource}/v1')).toEqual(['resource', 'team']);
    expect(placeholdersOf('https://example.com/v1')).toEqual([]);
  });

  it('keeps the braces of what was not filled in', () => {
    const values = { resource: ' mine ', team: ' ' };
    expect(fillPlaceholders('https://{resource}.example.com/{team}', values)).toBe('https://mine.example.com/{team}');
  });

  it.each([
    ['https://api.example.com/v1', true],
    [' http://127.0.0.1:1234/v1 ', true],
    ['ftp://example.com', false],
    ['api.example.com/v1', true],
    ['https://{resource}.example.com/v1', false],
    ['https://example.com/{team}', false],
    ['', false],
  ])('of "%s" can be used: %s', (text, isUsable) => {
    expect(isBaseUrl(text)).toBe(isUsable);
  });
});
