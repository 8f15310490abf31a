import { expect, test } from 'vitest';
import { headerParameters } from '../../../../server/http/body/header-parameters.ts';

test.each([
  ['multipart/form-data; boundary=abc', { boundary: 'abc' }, null, true],
  ['multipart/form-data;Boundary="a; b=c" ; charset=utf-8', { boundary: 'a; b=c', charset: 'utf-8' }, null, true],
  ['form-data; name="a\\"b\\\\c"; filename="d\\e"', { name: 'a"b\\c', filename: 'd\\e' }, null, true],
  ['form-data; filename="x; name=\\"model\\""; name=file', { filename: 'x; name="model"', name: 'file' }, null, true],
  [
    "form-data; name=file; filename=a; filename*=utf-8''a",
    { name: 'file', filename: 'a', 'filename*': "utf-8''a" },
    null,
    true,
  ],
  ['x/y; a=1; A="2"', { a: '1' }, 'a', true],
  ['x/y; a=1; nonsense; b=2', { a: '1' }, null, false],
  ['x/y; a=1;', { a: '1' }, null, false],
  ['x/y; a="never ends', {}, null, false],
  [`x/y; a=${'1'.repeat(5_000)}`, {}, null, false],
  ['boundary=abc', {}, null, true],
  ['', {}, null, true],
])('%s has the parameters %o, %o twice', (header, expected, repeated, isWhole) => {
  const parameters = headerParameters(header);
  expect({ ...parameters, values: Object.fromEntries(parameters.values) }).toEqual({
    values: expected,
    repeated,
    isWhole,
  });
});
