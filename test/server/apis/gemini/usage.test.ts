import { describe, expect, test } from 'vitest';
import { geminiUsage } from '../../../../server/apis/gemini/usage.ts';
import { JsonBody } from '../../../../server/http/body/json-body.ts';

const read = (text: string, contentType = 'application/json') =>
  geminiUsage.read({ tail: Buffer.from(text), head: Buffer.alloc(0), bytes: text.length, contentType }, {});
const body = (fields: object) => new JsonBody(Buffer.from(JSON.stringify({ contents: [], ...fields })));
const unbounded = { outputTokens: null, contextTokens: null };

describe('what was used', () => {
  test('has what a cache gave in it, and thoughts beside the answer', () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      toolUsePromptTokenCount: 5,
      candidatesTokenCount: '10',
      thoughtsTokenCount: 7,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 70 },
        { modality: 'AUDIO', tokenCount: 30 },
      ],
    };
    expect(read(JSON.stringify({ usageMetadata }))).toEqual({
      usage: { inputTokens: 105, outputTokens: 17, cachedInputTokens: 40, reasoningTokens: 7, audioInputTokens: 30 },
      certainty: 'reported',
      status: null,
    });
  });

  test('is what the last event says, of one stream or the other, cut at its beginning', () => {
    const event = (count: number) =>
      JSON.stringify({ a: '{"usageMetadata":', usageMetadata: { promptTokenCount: count } });
    const sse = `${event(1).slice(20)}\r\n\r\ndata: ${event(2)}\r\n\r\n`;
    expect(read(sse, 'text/event-stream').usage).toMatchObject({ inputTokens: 2 });
    expect(read(`${event(1).slice(20)},\r\n${event(3)}\r\n]`).usage).toMatchObject({ inputTokens: 3 });
  });

  test.each(['', '{}', '{"usageMetadata":{', '{"usageMetadata":null}', '[]'])('is not known from %j', (text) => {
    expect(read(text)).toEqual({ usage: null, certainty: 'none', status: null });
  });
});

test('at most as much is used as the request allows, of each candidate', () => {
  const worst = (generationConfig: object) => geminiUsage.worst(body({ generationConfig }), unbounded).outputTokens;
  expect(worst({ maxOutputTokens: 100 })).toBe(100);
  expect(worst({ maxOutputTokens: 100, candidateCount: 3 })).toBe(300);
  expect(worst({ maxOutputTokens: 100, candidateCount: 1e9 })).toBe(800);
  expect(worst({})).toBe(65_536);
  expect(geminiUsage.worst(body({}), { outputTokens: 10, contextTokens: null }).outputTokens).toBe(10);
});
