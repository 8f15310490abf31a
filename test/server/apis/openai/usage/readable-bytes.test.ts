import { expect, test } from 'vitest';
import { readableBytes } from '../../../../../server/apis/openai/usage/readable-bytes.ts';

const bytesOf = (body: object) => readableBytes(Buffer.from(JSON.stringify(body)));
const picture = 'A'.repeat(160_000);

test('a picture within a body is a sixteenth of its bytes, whatever else there is', () => {
  const text = { text: 'hello' };
  const { textBytes } = bytesOf({ parts: [text, { url: 'data:image/png;base64,' }] });
  const found = bytesOf({ parts: [text, { url: `data:image/png;base64,${picture}` }] });
  expect(found).toEqual({ textBytes: textBytes + 10_000, pictures: 1 });
  expect(readableBytes(Buffer.from(`{"url":"data:image\\/png;base64,${picture}"}`)).pictures).toBe(1);
});

test('what is no picture may be read to its last byte', () => {
  const body = { file: `data:application/pdf;base64,${picture}`, text: ';base64,', note: 'data:image/png' };
  expect(bytesOf(body)).toEqual({ textBytes: JSON.stringify(body).length, pictures: 0 });
  expect(readableBytes(null)).toEqual({ textBytes: 0, pictures: 0 });
});
