import { describe, expect, it } from 'vitest';
import { type ModelSuggestionInput, suggestModel } from '../../../../renderer/state/choices/use-model-choice.ts';
import { well } from '../../../support/stand-ins.ts';

const names = [
  'codestral',
  'text-embedding-3-small',
  'gpt-image-1',
  'tts-1',
  'whisper-1',
  'sora-2',
  'omni-moderation',
  'gpt-5',
];

const prices: Record<string, { inputUsd: number; outputUsd: number }> = {
  'aa-free': { inputUsd: 0, outputUsd: 0 },
  'gpt-5': { inputUsd: 1.25, outputUsd: 10 },
  'gpt-5-nano': { inputUsd: 0.05, outputUsd: 0.4 },
};

function likely(
  question: Partial<ModelSuggestionInput> & { failing?: readonly string[]; listed?: readonly string[] },
): string {
  const { failing = [], listed = names, ...given } = question;
  const models = listed.map((id) => ({
    id,
    health: failing.includes(id) ? { ...well, state: 'cooling' as const, failure: 'transient' as const } : well,
    providers: [id.startsWith('demo-') ? 'demo' : 'openai'],
    price: prices[id] ?? null,
  }));
  return suggestModel({ models, use: 'chat', groupDefault: null, mostUsed: [], ...given });
}

describe('a likely model', () => {
  it.each([
    ['embeddings', 'text-embedding-3-small'],
    ['images', 'gpt-image-1'],
    ['speech', 'tts-1'],
    ['transcription', 'whisper-1'],
    ['moderations', 'omni-moderation'],
    ['videos', 'sora-2'],
  ] as const)('for %s is %s', (use, model) => {
    expect(likely({ use, mostUsed: ['gpt-5'] })).toBe(model);
  });

  it('is the default of the group before any other', () => {
    expect(likely({ groupDefault: 'whisper-1', mostUsed: ['gpt-5'] })).toBe('whisper-1');
    expect(likely({ groupDefault: 'gone', mostUsed: ['gpt-5'] })).toBe('gpt-5');
  });

  it('is the most used one that works, not the first letter', () => {
    expect(likely({ mostUsed: ['gone', 'gpt-5', 'codestral'] })).toBe('gpt-5');
    expect(likely({ mostUsed: ['codestral', 'gpt-5'], failing: ['codestral'] })).toBe('gpt-5');
    expect(likely({ failing: ['codestral'] })).toBe('gpt-5');
    expect(likely({ mostUsed: ['gpt-5'], failing: names })).toBe('gpt-5');
  });

  it('is the one that costs least where none was used, and a free one only where none has a price', () => {
    const listed = ['aa-free', 'chat-old', 'gpt-5', 'gpt-5-nano'];
    expect(likely({ listed })).toBe('gpt-5-nano');
    expect(likely({ listed, failing: ['gpt-5-nano'] })).toBe('gpt-5');
    expect(likely({ listed: ['aa-free', 'chat-old'] })).toBe('aa-free');
  });

  it('is of the demo only where there is no other', () => {
    expect(likely({ listed: ['demo-chat', 'gpt-5'], mostUsed: ['demo-chat'] })).toBe('gpt-5');
    expect(likely({ listed: ['demo-chat', 'whisper-1'] })).toBe('demo-chat');
  });

  it('is none where none seems made for it', () => {
    expect(likely({ use: 'videos', listed: ['gpt-5'] })).toBe('');
    expect(likely({ use: 'moderations', listed: ['whisper-1', 'gpt-5'] })).toBe('gpt-5');
    expect(likely({ listed: [] })).toBe('');
  });
});
