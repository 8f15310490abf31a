import { expect, test } from 'vitest';
import { headerParameters } from '../../../../server/http/body/header-parameters.ts';

test.each([
  ['multipart/form-data; boundary=abc', { boundary: 'abc' }],
  ['multipart/form-data;Boundary="a; b=c" ; charset=utf-8', { boundary: 'a; b=c', charset: 'utf-8' }],
  ['form-data; name="a\\"b\\\\c"; filename="d\\e"', { name: 'a"b\\c', filename: 'd\\e' }],
  ['form-data; filename="x; name=\\"model\\""; name=file', { filename: 'x; name="model"', name: 'file' }],
  ['x/y; a=1; a=2', { a: '1' }],
  ['x/y; a=1; nonsense; b=2', { a: '1' }],
  ['x/y; a="never ends', {}],
  ['boundary=abc', {}],
  ['', {}],
])('%s has the parameters %o', (header, expected) => {
  expect(Object.fromEntries(headerParameters(header))).toEqual(expected);
});
