/** How the run of a judged program with a fault is rated. */
import { describe, expect, test } from 'vitest';
import { type JudgedRun, judgeCases, type Result, resultOf, wasAnswered } from '../../../server/cli/judge-program.ts';
import { findUnmetRule, parseRule } from '../../../server/faults/parse-rule.ts';

const well: JudgedRun = { exitCode: 0, wasKilled: false, answered: true, pauseMs: null };

const caseOf = (name: string) => {
  const found = judgeCases.find((each) => each.name === name);
  if (!found) throw new Error(`There is no case "${name}".`);
  return found;
};

test.each<[string, Partial<JudgedRun>, Result]>([
  ['outage once', {}, 'ok'],
  ['outage once', { exitCode: 1, answered: false }, 'gave up'],
  ['outage once', { answered: false }, 'not noticed'],
  ['outage once', { exitCode: 137, wasKilled: true }, 'hung'],
  ['outage for good', { exitCode: 1, answered: false }, 'ok'],
  ['outage for good', { answered: false }, 'not noticed'],
  ['rate limit, wait told', { pauseMs: 1010 }, 'ok'],
  ['rate limit, wait told', { pauseMs: 300 }, 'too early'],
  ['rate limit, no wait told', { pauseMs: 300 }, 'ok'],
  ['filtered content', {}, 'ok'],
  ['filtered content', { exitCode: 1 }, 'ok'],
])('%s: %j is "%s"', (name, run, result) => {
  expect(resultOf(caseOf(name), { ...well, ...run })).toBe(result);
});

test('the rules of every case can be read and met', () => {
  for (const { rules } of judgeCases) expect(findUnmetRule(rules.map(parseRule))).toBeNull();
});

describe('a request was answered', () => {
  const row = { outcome: 'ok' as const, fault: null, stream: true };
  test('if it met nothing, or only what leaves the answer whole', () => {
    expect(wasAnswered(row)).toBe(true);
    expect(wasAnswered({ ...row, fault: 'late-head, pace' })).toBe(true);
    expect(wasAnswered({ ...row, fault: 'malformed-event' })).toBe(true);
  });

  test('not if it failed, or if part of the answer is missing', () => {
    expect(wasAnswered({ ...row, outcome: 'error' })).toBe(false);
    expect(wasAnswered({ ...row, fault: 'late-head, missing-end' })).toBe(false);
    expect(wasAnswered({ ...row, fault: 'malformed-event', stream: false })).toBe(false);
  });
});
