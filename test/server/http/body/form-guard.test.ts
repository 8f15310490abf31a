import { describe, expect, test } from 'vitest';
import type { GatewayError } from '../../../../server/contract/errors.ts';
import { checkContentType } from '../../../../server/http/body/content-headers.ts';
import { FormGuard } from '../../../../server/http/body/form-guard.ts';
import { field, file, multipart } from './upload-server.ts';

const boundary = 'b0';

/** The guard's verdict on a form that arrives in pieces of `pieceBytes`; null if it lets the form pass. */
function verdictOn(form: Buffer, pieceBytes = form.length): GatewayError | null {
  const guard = new FormGuard(boundary);
  try {
    for (let at = 0; at < form.length; at += pieceBytes) guard.take(form.subarray(at, at + pieceBytes));
    return null;
  } catch (error) {
    return error as GatewayError;
  }
}

const form = (...parts: string[]) => multipart(boundary, parts);
const part = (disposition: string, value: string, more = '') =>
  `Content-Disposition: ${disposition}${more}\r\n\r\n${value}`;

describe.each([1, 7, 1_000_000])('in pieces of %d bytes', (pieceBytes) => {
  test.each<[string, Buffer]>([
    ['fields of many names', form(field('model', 'm'), field('n', '2'), field('prompt', 'p'))],
    [
      'unrelated fields that repeat',
      form(field('include[]', 'a'), field('include[]', 'b'), field('x', '1'), field('x', '2')),
    ],
    [
      'names that only look like it',
      form(field('models', 'a'), field('model_id', 'b'), field('模型n', 'c'), field('size_hint', 'd')),
    ],
    ['a file name told twice, as .NET does', form(part("form-data; name=file; filename=a; filename*=utf-8''a", 'x'))],
    [
      'a text field called plain',
      form(part('form-data; name=model', 'm', '\r\nContent-Type: text/plain; charset="UTF-8"')),
    ],
    ['a folded header', form(part('form-data;\r\n name="model"', 'm'))],
    ['a value that nearly is a delimiter', form(field('prompt', `a--${boundary}\r\n-${boundary}\n--b1\r\n-`))],
    ['a preamble and an epilogue', Buffer.from(`hello\r\n--b0\r\n${field('model', 'm')}\r\n--b0--\r\n\n--b0\r\nbye`)],
    ['a line break before all', Buffer.concat([Buffer.from('\r\n'), form(field('model', 'm'))])],
  ])('%s may pass', (_name, bytes) => expect(verdictOn(bytes, pieceBytes)).toBeNull());

  test.each<[string, Buffer, string]>([
    ['a model named twice', form(field('model', 'allowed'), field('model', 'denied')), 'model'],
    ['a model called in other case', form(field('model', 'allowed'), field('MODEL', 'denied')), 'model'],
    ['a list of one model', form(field('model[]', 'denied')), 'model'],
    ['a model between blanks', form(field(' model ', 'denied')), 'model'],
    ['an escaped name', form(field('mod%65l', 'denied')), 'model'],
    ['a name with a backslash', form(field('mod\\el', 'denied')), 'model'],
    ['a letter that another has as its capital', form(field('ſtream', 'true')), 'stream'],
    ['n named twice', form(field('n', '1'), field('prompt', 'p'), field('n', '100')), 'n'],
    [
      'a model that is a file too',
      Buffer.from(
        form(field('model', 'a'))
          .toString()
          .replace('--b0--', `--b0\r\n${file('model', 'x', 'b')}\r\n--b0--`),
      ),
      'model',
    ],
    ['a model with an empty file name', form(part('form-data; name="model"; filename=""', 'denied')), 'model'],
    [
      'a model in quoted-printable',
      form(part('form-data; name=model', 'den=69ed', '\r\nContent-Transfer-Encoding: quoted-printable')),
      'model',
    ],
    [
      'a model in UTF-16',
      form(part('form-data; name=model', 'd\0', '\r\nContent-Type: text/plain; charset=utf-16le')),
      'model',
    ],
  ])('%s is refused by its name', (_name, bytes, param) => {
    expect(verdictOn(bytes, pieceBytes)).toMatchObject({ code: 'invalid_value', param });
  });

  test.each<[string, Buffer]>([
    ['two names in one part', form(part('form-data; name="x"; name="model"', 'denied'), field('model', 'allowed'))],
    ['a name in extended form beside a plain one', form(part("form-data; name=x; name*=utf-8''model", 'denied'))],
    ['a name in pieces', form(part('form-data; name=x; name*0=mod; name*1=el', 'denied'))],
    [
      'two headers Content-Disposition',
      form(`Content-Disposition: form-data; name="x"\r\n${field('model', 'denied')}`),
    ],
    ['a part without Content-Disposition', form('Content-Type: text/plain\r\n\r\nx')],
    ['a part that is an attachment', form(part('attachment; name="model"', 'denied'))],
    ['a malformed Content-Disposition', form(part('form-data; name="x"; y', 'a'))],
    ['a malformed name', form(part('form-data; name="x""model"', 'denied'))],
    ['a name behind a malformed file name', form(part('form-data; name="x"; filename="a "b; name="model"', 'denied'))],
    ['a model with a malformed file name', form(part('form-data; name="model"; filename="a "b', 'denied'))],
    ['a header without colon', form('X\r\nContent-Disposition: form-data; name=x\r\n\r\na')],
    ['a delimiter after a line feed alone', form(field('x', `a\n--b0\n${field('model', 'denied')}`))],
    ['a delimiter after a carriage return alone', form(field('x', 'a\r--b0\r\n'))],
    ['a delimiter with something behind it', form(field('x', `a\r\n--b0 \r\n${field('model', 'denied')}`))],
    [
      'a first line that ends with a line feed',
      Buffer.from(`--b0\n${field('model', 'denied')}\n--b0\r\n${field('model', 'a')}\r\n--b0--`),
    ],
    ['a boundary inside the preamble', Buffer.from(`x--b0\r\n${field('model', 'denied')}\r\n--b0--`)],
    [
      'a part that ends before its value',
      form(`Content-Disposition: form-data; name="x"\r\n\r\n--b0\r\n${field('model', 'denied')}`),
    ],
    ['a part that ends within its headers', form(`X: y\r\n--b0\r\n${field('model', 'denied')}`)],
  ])('%s is refused, since parsers differ there', (_name, bytes) => {
    expect(verdictOn(bytes, pieceBytes)).toMatchObject({ code: 'malformed_multipart' });
  });
});

describe.each([1, 7, 1_000_000])('of a form in pieces of %d bytes', (pieceBytes) => {
  const shownOf = (bytes: Buffer) => {
    const guard = new FormGuard(boundary);
    const shown: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += pieceBytes)
      shown.push(...guard.take(bytes.subarray(at, at + pieceBytes)));
    return Buffer.concat(shown).toString();
  };
  const nearly = `a--${boundary}\r\n-${boundary}\r\n--b1\r\n-\r\n`;

  test('the parser gets all but the content of files', () => {
    const around = (content: string) =>
      Buffer.concat([
        Buffer.from('hello\r\n'),
        multipart(boundary, [
          field('model', nearly),
          file('file', 'a.wav', content),
          file('image[]', 'b', content),
          field('n', '2'),
          file('file', 'c', content),
        ]),
        Buffer.from('bye'),
      ]);
    const shown = shownOf(around(nearly.repeat(3)));
    expect(shown.slice(0, shown.indexOf('--b0--') + 6)).toBe(around('').toString().slice(0, -5));
  });

  test.each([
    ['without a file name', 'form-data; name="hint"'],
    ['with an empty one', 'form-data; name="hint"; filename=""'],
    ['with one that a parser may take for a folder', 'form-data; name="hint"; filename="a/"'],
    ['with one in extended form', "form-data; name=hint; filename=a; filename*=utf-8''%2F"],
  ])('it gets the content of a part %s', (_name, disposition) => {
    const sent = form(part(disposition, nearly, '\r\nContent-Type: application/octet-stream'));
    expect(shownOf(sent)).toContain(nearly);
  });
});

test('a file whose content the parser did not get is not agreed to be text', () => {
  const guard = new FormGuard(boundary);
  guard.take(multipart(boundary, [file('a', 'x'), file('b', 'x'), field('c', '1')]));
  expect([guard.agrees('a', true), guard.agrees('b', false), guard.agrees('c', true)]).toEqual([true, false, true]);
});

test('a part that the parser finds otherwise is not agreed to', () => {
  const guard = new FormGuard(boundary);
  guard.take(form(field('a', '1'), field('b', '2')));
  expect([
    guard.agrees('a', false),
    guard.isThrough,
    guard.agrees('c', false),
    guard.isThrough,
    guard.agrees('b', false),
  ]).toEqual([true, false, false, true, false]);
});

test.each([
  'multipart/form-data; boundary=a; boundary=b',
  'multipart/form-data; boundary=a; Boundary="b"',
  "multipart/form-data; boundary=a; boundary*=utf-8''b",
  'multipart/form-data; boundary*0=a; boundary*1=b',
  'application/json; charset=utf-8; charset=utf-16',
])('the content type %s is refused', (contentType) => {
  expect(() => checkContentType(contentType)).toThrow(
    expect.objectContaining({ code: 'invalid_value', param: 'content-type' }),
  );
});

test.each([undefined, 'application/json', 'application/json; charset=utf-8;', 'multipart/form-data; boundary="a; b"'])(
  'the content type %s may pass',
  (contentType) => expect(() => checkContentType(contentType)).not.toThrow(),
);
