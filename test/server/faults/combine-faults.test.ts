/** Which faults one request can meet together. */
import { describe, expect, test } from 'vitest';
import { type FaultedRequest, FaultSequence } from '../../../server/faults/fault-sequence.ts';
import { findUnmetRule, parseFaults, parseRule } from '../../../server/faults/parse-rule.ts';

const names = (faults: readonly { name: string }[]) => faults.map(({ name }) => name);

describe('a list of faults for one request', () => {
  test('has each fault with its own parameters', () => {
    expect(parseFaults('late-head;ms=500, pace;tokens-per-second=20,stall;after=40;seconds=5')).toEqual([
      { name: 'late-head', ms: 500 },
      { name: 'pace', 'tokens-per-second': 20 },
      { name: 'stall', after: 40, seconds: 5 },
    ]);
    expect(names(parseFaults('late-head, rate-limit;retry-after=1'))).toEqual(['late-head', 'rate-limit']);
    expect(names(parseFaults('usage,filtered,wrong-type,missing-end'))).toHaveLength(4);
  });

  test.each([
    ['stall, cut', '"stall" and "cut" cannot be combined: each ends the answer.'],
    ['missing-end,error-event', 'each ends the answer'],
    ['rate-limit,reset', '"rate-limit" and "reset" cannot be combined: each is sent in place of the answer.'],
    ['pace;events-per-second=5, html', '"pace" and "html" cannot be combined: "html" leaves no answer to change.'],
    ['late-head;ms=5,late-head;ms=10', '"late-head" is given twice.'],
    ['late-head,', 'There is no fault "".'],
    ['stall;after=4,nonsense', 'There is no fault "nonsense".'],
    [Array.from({ length: 11 }, () => 'usage').join(), 'at most 10 faults'],
  ])('is refused if it is "%s"', (text, told) => {
    expect(() => parseFaults(text)).toThrow(told);
  });
});

describe('a request to which several rules apply', () => {
  const chat: FaultedRequest = { model: 'gpt-x', route: '/v1/chat/completions', streams: true };
  const met = (...rules: string[]) => names(new FaultSequence(rules.map(parseRule), 1).next(chat));

  test('meets the faults of all of them', () => {
    expect(met('late-head;ms=500', 'pace;tokens-per-second=20', 'usage', 'cut;after=4')).toEqual([
      'late-head',
      'pace',
      'usage',
      'cut',
    ]);
  });

  test('meets the first one of those that end the answer, or stand in its place', () => {
    expect(met('cut;nth=1', 'stall;nth=1', 'late-head')).toEqual(['cut', 'late-head']);
    expect(met('quota;nth=1', 'reset;nth=1')).toEqual(['quota']);
    expect(met('pace;events-per-second=5;nth=1', 'pace;events-per-second=9;nth=1')).toEqual(['pace']);
  });

  test('meets nothing that changes an answer if it gets none, wherever that rule stands', () => {
    expect(met('pace;events-per-second=5', 'late-head', 'cut', 'rate-limit;nth=1')).toEqual([
      'late-head',
      'rate-limit',
    ]);
  });
});

describe('a rule that no request can meet', () => {
  const unmet = (...rules: string[]) => findUnmetRule(rules.map(parseRule));

  test('is found with the rule that displaces it', () => {
    expect(unmet('stall', 'cut;share=0.5')).toEqual({ index: 1, because: 0 });
    expect(unmet('pace;events-per-second=5', 'rate-limit')?.index).toBe(0);
    expect(unmet('late-head;ms=5', 'late-head;ms=10;nth=2')?.index).toBe(1);
  });

  test('is none where the other rule has conditions, comes later, or is only about streams', () => {
    expect(unmet('stall;share=0.5', 'cut')).toBeNull();
    expect(unmet('cut;nth=2', 'stall')).toBeNull();
    expect(unmet('missing-end', 'cut')).toBeNull();
    expect(unmet('late-head', 'pace;events-per-second=5', 'usage', 'cut')).toBeNull();
  });
});
