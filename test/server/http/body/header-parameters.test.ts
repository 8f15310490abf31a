import { expect, test } from 'vitest';
import { headerParameters } from '../../../../server/http/body/content-headers.ts';

test.each([
  ['multipart/form-data; boundary=abc', { boundary: 'abc' }, null, ''],
  ['multipart/form-data;Boundary="a; b=c" ; charset=utf-8', { boundary: 'a; b=c', charset: 'utf-8' }, null, ''],
  ['form-data; name="a\\"b\\\\c"; filename="d\\e"', { name: 'a"b\\c', filename: 'd\\e' }, null, ''],
  ['form-data; filename="x; name=\\"model\\""; name=file', { filename: 'x; name="model"', name: 'file' }, null, ''],
  [
    "form-data; name=file; filename=a; filename*=utf-8''a",
    { name: 'file', filename: 'a', 'filename*': "utf-8''a" },
    null,
    '',
  ],
  ['x/y; a=1; A="2"', { a: '1' }, 'a', ''],
  ['x/y; a=1; nonsense; b=2', { a: '1' }, null, '; nonsense; b=2'],
  ['x/y; a=1;', { a: '1' }, null, ';'],
  ['x/y; a="never ends', {}, null, '; a="never ends'],
  [`x/y; a=${'1'.repeat(5_000)}`, {}, null, `x/y; a=${'1'.repeat(5_000)}`],
  ['boundary=abc', {}, null, ''],
  ['', {}, null, ''],
])('%s has the parameters %o, %o twice', (header, expected, repeated, rest) => {
  const parameters = headerParameters(header);
  expect({ ...parameters, values: Object.fromEntries(parameters.values) }).toEqual({
    values: expected,
    repeated,
    rest,
  });
});
