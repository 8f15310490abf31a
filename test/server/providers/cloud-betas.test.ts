/** Betas that clients of Anthropic's API send to clouds that support only some of them. */
import { describe, expect, test } from 'vitest';
import { claudeOnBedrock } from '../../../server/apis/bedrock/provider/bedrock.ts';
import { modelOnVertex } from '../../../server/apis/gemini/vertex/vertex.ts';

const clouds = {
  Bedrock: claudeOnBedrock('anthropic.claude-opus-4-5'),
  'Vertex AI': modelOnVertex('claude-opus-4-5'),
};

function envelopeOf(cloud: keyof typeof clouds, betas: string) {
  const headers = { 'anthropic-beta': betas, 'anthropic-version': '2023-06-01', 'x-app': 'cli' };
  const { headers: sent, added, unavailable } = clouds[cloud].envelope({ path: '/messages', headers, isStream: false });
  const taken = cloud === 'Bedrock' ? added.anthropic_beta : sent['anthropic-beta']?.split(',');
  return { taken: taken ?? [], unavailable, sent };
}

describe.each(Object.keys(clouds) as (keyof typeof clouds)[])('%s', (cloud) => {
  test('Trap 45: is not sent a beta that it does not know, and the client is told (new-api#2975)', () => {
    const { taken, unavailable } = envelopeOf(
      cloud,
      'interleaved-thinking-2025-05-14, fast-mode-2026-02-01, new-2026-11-01',
    );
    expect(taken).toEqual(['interleaved-thinking-2025-05-14']);
    expect(unavailable).toEqual({
      betas: ['anthropic-beta:fast-mode-2026-02-01', 'anthropic-beta:new-2026-11-01'],
      fields: ['speed'],
    });
  });

  test('Trap 46: is not sent the betas that Claude Code sends although told not to (claude-code#22893)', () => {
    const { taken, unavailable } = envelopeOf(cloud, 'claude-code-20250219,prompt-caching-scope-2026-01-05');
    expect(taken).toEqual([]);
    expect(unavailable.betas).toEqual(['anthropic-beta:prompt-caching-scope-2026-01-05']);
  });

  test('Trap 47: is not sent betas of Anthropic’s own accounts, nor temporary ones (claude-code#13770)', () => {
    const { taken, unavailable, sent } = envelopeOf(cloud, 'oauth-2025-04-20,tmp-preserve-thinking-2025-10-01');
    expect(taken).toEqual([]);
    expect(unavailable.betas).toEqual(['anthropic-beta:tmp-preserve-thinking-2025-10-01']);
    expect(Object.keys(sent).filter((name) => name.startsWith('anthropic-'))).toEqual([]);
  });

  test('takes the tools that Claude Code loads on demand, by the clouds’ name for that beta', () => {
    const { taken, unavailable } = envelopeOf(cloud, 'advanced-tool-use-2025-11-20');
    expect(taken).toEqual(['tool-search-tool-2025-10-19']);
    expect(unavailable.betas).toEqual([]);
  });
});

test.each([
  ['claude-sonnet-4-5@20250929', true],
  ['claude-opus-5', true],
  ['claude-sonnet-4@20250514', false],
  ['claude-opus-4-1@20250805', false],
  ['claude-3-5-haiku@20241022', false],
])('%s is asked to search tools: %s', (model, isAsked) => {
  const headers = { 'anthropic-beta': 'advanced-tool-use-2025-11-20' };
  const { headers: sent } = modelOnVertex(model).envelope({ path: '/messages', headers, isStream: false });
  expect(sent['anthropic-beta'] !== undefined).toBe(isAsked);
});
