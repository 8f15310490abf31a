import { describe, expect, it } from 'vitest';
import { likelyModel } from '../../../renderer/state/likely-model.ts';

describe('a likely model', () => {
  const models = ['text-embedding-3-small', 'gpt-image-1', 'tts-1', 'whisper-1', 'sora-2', 'omni-moderation', 'gpt-5'];
  it.each([
    ['chat', 'gpt-5'],
    ['embeddings', 'text-embedding-3-small'],
    ['images', 'gpt-image-1'],
    ['speech', 'tts-1'],
    ['transcription', 'whisper-1'],
    ['moderations', 'omni-moderation'],
    ['videos', 'sora-2'],
  ] as const)('for %s is %s', (use, model) => {
    expect(likelyModel(models, use)).toBe(model);
  });

  it('is the first where none seems made for it, and nothing where there is none', () => {
    expect(likelyModel(['a', 'b'], 'videos')).toBe('a');
    expect(likelyModel(['whisper-1', 'gpt-5'], 'moderations')).toBe('gpt-5');
    expect(likelyModel([], 'chat')).toBe('');
  });
});
