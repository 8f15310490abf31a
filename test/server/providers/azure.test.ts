import { describe, expect, test } from 'vitest';
import { azureDialect } from '../../../server/apis/openai/provider/dialect.ts';

function address(
  basePath: string,
  path: string,
  model: string | null = null,
  options: { query?: string; apiVersion?: string } = {},
) {
  const endpoint = { origin: 'https://r.openai.azure.com', basePath, apiVersion: options.apiVersion };
  return azureDialect.address(endpoint, path, options.query ?? '', model);
}

const version = 'api-version=2025-04-01-preview';

describe('the classic Azure API', () => {
  test.each(['', '/openai'])(
    'keeps inference under the deployment, whichever way the base URL is written (%j)',
    (base) => {
      expect(address(base, '/chat/completions', 'gpt-x')).toBe(`/openai/deployments/gpt-x/chat/completions?${version}`);
    },
  );

  test.each([
    '/completions',
    '/embeddings',
    '/images/generations',
    '/images/edits',
    '/audio/speech',
    '/audio/transcriptions',
    '/audio/translations',
  ])('has %s under the deployment', (path) => {
    expect(address('/openai', path, 'd')).toBe(`/openai/deployments/d${path}?${version}`);
  });

  test.each(['/responses', '/responses/resp_1/input_items', '/models'])('has %s beside the deployments', (path) => {
    expect(address('/openai', path, 'd')).toBe(`/openai${path}?${version}`);
  });

  test.each([
    ['/openai', 'd 1', '?model=d%201&intent=x', '/openai/realtime?deployment=d%201&intent=x&'],
    ['/openai/deployments/own', 'other', '?model=other', '/openai/realtime?deployment=own&'],
    ['/openai', null, '', '/openai/realtime?'],
  ])('names the model of a realtime session as deployment (%s, %s)', (base, model, query, expected) => {
    expect(address(base, '/realtime', model, { query })).toBe(`${expected}${version}`);
  });

  test('escapes the name of the deployment', () => {
    expect(address('/openai', '/embeddings', 'a/b ü')).toBe(`/openai/deployments/a%2Fb%20%C3%BC/embeddings?${version}`);
  });

  test('takes a base URL that names a deployment, which then serves every model', () => {
    const base = '/openai/deployments/mine';
    expect(address(base, '/chat/completions', 'gpt-x')).toBe(`${base}/chat/completions?${version}`);
    expect(address(base, '/responses', 'gpt-x')).toBe(`/openai/responses?${version}`);
    expect(address('/openai/deployments', '/embeddings', 'd')).toBe(`/openai/deployments/d/embeddings?${version}`);
  });

  test('takes a base URL behind a path of one’s own', () => {
    expect(address('/gateway', '/embeddings', 'd')).toBe(`/gateway/openai/deployments/d/embeddings?${version}`);
    expect(address('/gateway/openai', '/embeddings', 'd')).toBe(`/gateway/openai/deployments/d/embeddings?${version}`);
  });

  test('asks for videos where the newer API has them, since it has none', () => {
    expect(address('/openai', '/videos', 'sora-2')).toBe('/openai/v1/videos');
    expect(address('/openai', '/videos/video_1/content', null, { query: '?variant=thumbnail' })).toBe(
      '/openai/v1/videos/video_1/content?variant=thumbnail',
    );
  });

  test('sends the configured version, after a query, and never over the client’s own', () => {
    const apiVersion = '2024-10-21';
    expect(address('/openai', '/embeddings', 'd', { apiVersion })).toBe(
      '/openai/deployments/d/embeddings?api-version=2024-10-21',
    );
    expect(address('/openai', '/responses', 'd', { apiVersion, query: '?a=1' })).toBe(
      '/openai/responses?a=1&api-version=2024-10-21',
    );
    expect(address('/openai', '/responses', 'd', { apiVersion, query: '?api-version=x' })).toBe(
      '/openai/responses?api-version=x',
    );
    expect(address('/openai', '/responses', 'd', { apiVersion, query: '?no-api-version=x' })).toBe(
      '/openai/responses?no-api-version=x&api-version=2024-10-21',
    );
  });
});

describe('the newer Azure API', () => {
  test('has OpenAI’s own paths, without a version', () => {
    expect(address('/openai/v1', '/chat/completions', 'gpt-x')).toBe('/openai/v1/chat/completions');
    expect(address('/openai/v1', '/videos/video_1')).toBe('/openai/v1/videos/video_1');
  });

  test('is sent a version that is configured', () => {
    expect(address('/openai/v1', '/responses', 'd', { apiVersion: 'preview' })).toBe(
      '/openai/v1/responses?api-version=preview',
    );
  });
});

test('the credential goes in `api-key`', () => {
  expect(azureDialect.authorize('s')).toEqual({ 'api-key': 's' });
});
