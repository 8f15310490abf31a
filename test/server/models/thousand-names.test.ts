/** Over a thousand real names of all services: what is known of a model by one of them agrees with what is known by another. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { converseFacts } from '../../../server/apis/bedrock/translation/model-facts.ts';
import { identify, isSameModel, purposeOf } from '../../../server/contract/model-identity.ts';
import { claudeFacts, geminiFacts, largestAnswer, openaiFacts } from '../../../server/models/model-facts.ts';
import { createPriceTable } from '../../../server/models/price-table.ts';
import { compileDenied } from '../../../server/routing/compile-keys.ts';

interface Named {
  name: string;
  service: string;
  mode: string;
}

const file = readFileSync(join(import.meta.dirname, '../../fixtures/models/names.txt'), 'utf8');
const all: Named[] = file
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [name = '', service = '', mode = ''] = line.split(' ');
    return { name, service, mode };
  });
const prices = createPriceTable();

const factsOf = (name: string) => [claudeFacts(name), geminiFacts(name), openaiFacts(name), converseFacts(name)];
const usage = { inputTokens: 1_000, outputTokens: 1_000, seconds: 1, characters: 1_000, images: 1 };

/** Names without the service: a prefix may be that of a price. */
const plainNames = [...new Set(all.map(({ name }) => name.slice(name.lastIndexOf('/') + 1)))];

/** Other spellings of a name, which mean the same to everybody who reads it. */
const spellings = (name: string) => [
  ...[name.toUpperCase(), name.normalize('NFD'), ` ${name}`],
  ...[`vendor/${name}`, `one/vendor/${name}`, `~${name}`],
];

test('there are more than a thousand, of tens of services', () => {
  expect(all.length).toBeGreaterThan(1_000);
  expect(new Set(all.map(({ service }) => service)).size).toBeGreaterThan(50);
});

test('facts, price, longest answer and bans are those of the model, in whatever form it is named', () => {
  for (const name of plainNames) {
    const isBanned = compileDenied([name]);
    for (const spelling of spellings(name)) {
      expect(isSameModel(spelling, name), spelling).toBe(true);
      expect(factsOf(spelling), spelling).toEqual(factsOf(name));
      expect(prices.cost('main', spelling, usage), spelling).toBe(prices.cost('main', name, usage));
      expect(prices.maxOutput('main', spelling), spelling).toBe(prices.maxOutput('main', name));
      expect(isBanned(spelling), spelling).toBe(true);
    }
  }
});

test('two names with one identity have the same facts, and a ban of the model holds for both', () => {
  const byModel = Map.groupBy(all, ({ name }) => identify(name).model);
  for (const [model, named] of byModel) {
    const isBanned = compileDenied([model]);
    for (const { name } of named) {
      expect(factsOf(name), name).toEqual(factsOf(named[0]?.name ?? ''));
      expect(isBanned(name), name).toBe(true);
    }
  }
});

test('what is sent as the longest answer is what is reserved', () => {
  for (const { name } of all) {
    const most = prices.maxOutput('main', name);
    if (largestAnswer(name) !== null) expect(most, name).toBe(largestAnswer(name));
    if (most !== null) expect(Number.isInteger(most) && most > 0, name).toBe(true);
  }
});

test('a ban of one model leaves the others alone', () => {
  const isBanned = compileDenied(['gpt-5', 'claude-opus-4', 'gemini-2.5-pro', 'mistral-large-2407', 'o1']);
  const banned = new Set(['gpt-5', 'claude-opus-4', 'gemini-2-5-pro', 'mistral-large-2407', 'o1']);
  for (const { name } of all) expect(isBanned(name), name).toBe(banned.has(identify(name).model));
});

test('old models are not taken for the newest', () => {
  for (const { name } of all) {
    const { family, version, model } = identify(name);
    const [major = 99] = version;
    if (family === 'gpt' && major < 5) expect(openaiFacts(name).efforts, name).toEqual([]);
    if (model.startsWith('claude') && major < 4) expect(claudeFacts(name).thinking, name).not.toContain('adaptive');
    if (family === 'gemini' && major < 3) expect(geminiFacts(name).levels, name).toEqual([]);
  }
});

test('what a model is for is guessed as the table says it', () => {
  const uses: Record<string, string> = { embedding: 'embeddings', audio_speech: 'speech', moderation: 'moderations' };
  const makers = new Set(['openai', 'anthropic', 'gemini', 'mistral', 'xai', 'groq', 'cerebras']);
  const wrong = all
    .filter(({ service, mode }) => makers.has(service) && (uses[mode] ?? (mode === 'chat' ? 'chat' : null)) !== null)
    .filter(({ name, mode }) => purposeOf(name) !== (uses[mode] ?? 'chat'));
  // Of these the table itself says another use than their makers: guards, and sound in a chat.
  expect(wrong.map(({ name }) => name).filter((name) => !/guard|tts|lyria/.test(name))).toEqual([]);
});
