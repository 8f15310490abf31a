import { describe, expect, test } from 'vitest';
import { Download } from '../../../../server/exchange/rescue/download.ts';

const headers = { 'content-length': '100', 'accept-ranges': 'bytes', etag: '"a"' };
const whole = { status: 200, headers };

function begun(passedBytes = 40): Download {
  const download = new Download();
  download.begins(whole, 10);
  download.passed(passedBytes);
  return download;
}

describe('a download', () => {
  test('adds nothing to the request while the client has received nothing', () => {
    expect(begun(0).restHeaders()).toBeUndefined();
    expect(begun(0).continues({ status: 206, headers: { ...headers, 'content-range': 'bytes 0-99/100' } })).toBe(false);
  });

  test('asks for what the client lacks', () => {
    expect(begun().restHeaders()).toEqual({ range: 'bytes=40-99', 'if-range': '"a"' });
  });

  test('is whole with its last byte', () => {
    expect([begun(99).isWhole, begun(100).isWhole]).toEqual([false, true]);
  });

  test.each([
    ['has no length', { ...headers, 'content-length': undefined }],
    ['is too short', { ...headers, 'content-length': '10' }],
    ['gives no parts', { ...headers, 'accept-ranges': 'none' }],
    ['does not say that it gives parts', { ...headers, 'accept-ranges': undefined }],
    ['has a weak tag', { ...headers, etag: 'W/"a"' }],
    ['is packed', { ...headers, 'content-encoding': 'gzip' }],
    ['was changed in the second of its reply', { ...headers, etag: undefined, ...dates(0) }],
  ])('cannot be continued if the reply %s', (_name, odd) => {
    expect(new Download().begins({ status: 200, headers: odd }, 10)).toBe(false);
  });

  test('is continued by the date of a file that was last modified before the download', () => {
    expect(new Download().begins({ status: 200, headers: { ...headers, etag: undefined, ...dates(1) } }, 10)).toBe(
      true,
    );
  });

  test.each([
    ['bytes 40-99/100', '60', true],
    ['bytes 40-98/100', '59', false],
    ['bytes 39-99/100', '61', false],
    ['bytes 40-99/101', '60', false],
    ['bytes 40-99/*', '60', false],
    ['bytes 40-99/100', '61', false],
    ['bytes 40-99/100', undefined, false],
    [undefined, '60', false],
  ])('accepts a Content-Range of %s with a length of %s as the rest: %s', (range, length, isRest) => {
    const rest = { etag: '"a"', 'content-range': range, 'content-length': length };
    expect(begun().continues({ status: 206, headers: rest })).toBe(isRest);
  });

  test('does not accept a part of another file as the rest', () => {
    const rest = { etag: '"b"', 'content-range': 'bytes 40-99/100', 'content-length': '60' };
    expect(begun().continues({ status: 206, headers: rest })).toBe(false);
  });
});

function dates(secondsBefore: number) {
  const date = new Date('2026-01-01T00:00:10Z');
  return { date: date.toUTCString(), 'last-modified': new Date(date.getTime() - secondsBefore * 1_000).toUTCString() };
}
