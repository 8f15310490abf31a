import { expect, test } from 'vitest';
import { placesOf, type TurnRequest } from '../../../../server/store/rules/session-queries.ts';

/**
 * Each word is a request: `p` for a prompt, `t` for tool results, `-` for neither, followed by the thread, and at the
 * end `!` for a failure or `*` for a client's retry.
 */
function requests(text: string): TurnRequest[] {
  return text.split(' ').map((each) => ({
    outcome: each.endsWith('!') ? 'error' : 'ok',
    clientRetries: each.endsWith('*') ? 1 : 0,
    thread: each[1] ?? null,
    step: each.startsWith('p') ? 'prompt' : each.startsWith('t') ? 'tools' : null,
  }));
}

const turns = (text: string) =>
  placesOf(requests(text))
    .map(({ turn }) => turn)
    .join('');
const threads = (text: string) =>
  placesOf(requests(text))
    .map(({ thread }) => thread)
    .join('');

test('a turn is a prompt and the requests with results of tools that follow it', () => {
  expect(turns('pa ta ta pa ta pa')).toBe('111223');
});

test('a prompt that is sent again after a failure is the same turn', () => {
  expect(turns('pa! pa ta pa')).toBe('1112');
  expect(turns('pa pa* ta pa')).toBe('1112');
});

test('a title before it and subagents within it belong to the turn', () => {
  const text = 'px pa ta pb tb ta pa';
  expect(turns(text)).toBe('1111112');
  expect(threads(text)).toBe('1002200');
});

test('what follows the main conversation takes its place, as after a compaction', () => {
  const text = 'pa ta pa ta pb tb pb';
  expect(turns(text)).toBe('1122334');
  expect(threads(text)).toBe('0000000');
});

test('many single requests take no longer than their number', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => ({
    outcome: 'ok' as const,
    clientRetries: 0,
    thread: String(index),
    step: 'prompt' as const,
  }));
  expect(placesOf(many).at(-1)).toEqual({ turn: 20_000, thread: 0 });
});
