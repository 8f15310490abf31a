import { describe, expect, it } from 'vitest';
import { errorTextOf } from '../../../../renderer/state/calls/gateway-api.ts';

const page =
  '<!DOCTYPE html>\n<html>\n<head><title>\n  502 Bad&nbsp;Gateway </title></head>\n<body>nginx</body></html>';
const long = 'x'.repeat(400);

describe('the message of an error', () => {
  it.each([
    ['an error', '{"error":{"message":"No."}}', 'No.', null],
    ['other JSON', '{"detail":"other"}', '{"detail":"other"}', null],
    ['a page', page, '502 Bad Gateway', page],
    ['a page in an error', JSON.stringify({ error: { message: page } }), '502 Bad Gateway', page],
    ['a page that is a heading', '<h1>Not here</h1>', 'Not here', '<h1>Not here</h1>'],
    [
      'a page without a title',
      '<html><body>502 Bad Gateway</body></html>',
      '502 Bad Gateway',
      '<html><body>502 Bad Gateway</body></html>',
    ],
    ['a page without a word', '<html>', '<html>', null],
    ['a long text', long, `${'x'.repeat(300)}…`, long],
    ['nothing', '', '', null],
  ])('of %s is its gist, with all of it behind', (_, text, message, whole) => {
    expect(errorTextOf(text)).toEqual({ message, whole });
  });
});
