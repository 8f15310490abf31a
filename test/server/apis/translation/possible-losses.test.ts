/** The possible losses on a route, shown before there is a request. */
import { describe, expect, test } from 'vitest';
import { wireTranslations } from '../../../../server/apis/translation/translation-registry.ts';
import { possibleLosses } from '../../../../server/apis/translation/translator.ts';
import { conversationWires } from '../../../../server/contract/operations.ts';
import { targetOf, translatorOf } from './translating.ts';

const pairs = conversationWires.flatMap((client) =>
  conversationWires.filter((upstream) => upstream !== client).map((upstream) => ({ client, upstream })),
);

describe('what a route would lose', () => {
  test.each(pairs)('is found by a request of $client that can be put to $upstream', ({ client, upstream }) => {
    const translator = translatorOf(client, upstream);
    const asked = translator.read(Buffer.from(JSON.stringify(wireTranslations[client].client.specimen)), {
      model: 'model',
      stream: false,
    });
    expect(() => translator.request(asked, targetOf('model'))).not.toThrow();
    expect(asked.losses.filter(({ code }) => code === 'unknown-field')).toEqual([]);
  });

  test('depends on the model', () => {
    const fields = (model: string) =>
      possibleLosses('openai-chat', 'anthropic-messages', model).dropped.map(({ field }) => field);
    expect(fields('claude-opus-5')).toContain('temperature');
    expect(fields('claude-3-5-haiku-20241022')).not.toContain('temperature');
  });

  test('is nothing where nothing is translated', () => {
    expect(possibleLosses('openai-chat', 'openai-chat', 'm')).toEqual({ dropped: [], emulated: [] });
  });
});
