import { expect } from 'vitest';
import type { Observed } from './cells.ts';

/** Expects exactly OpenAI's error format. */
export function expectErrorShape({ headers, body }: Observed, where: string): void {
  expect(headers.get('content-type'), where).toMatch(/^application\/json/);
  const { error, ...rest } = JSON.parse(body.toString());
  expect(rest, where).toEqual({});
  expect(error, where).toEqual({
    message: expect.stringMatching(/./),
    type: expect.stringMatching(/./),
    param: error.param === null ? null : expect.any(String),
    code: error.code === null ? null : expect.any(String),
  });
}
