import { describe, expect, test } from 'vitest';
import { JsonBody } from '../../../../server/http/request/json-body.ts';

const body = (text: string) => new JsonBody(Buffer.from(text));
const sent = async (text: string, model: string | null, askUsage = false) => {
  const sendable = await body(text).sendable(model, askUsage);
  const bytes = sendable.open() as Buffer;
  expect(sendable.length).toBe(bytes.length);
  return bytes.toString();
};

describe('what Sluice reads of a JSON body', () => {
  test.each([
    ['{}', { model: null, stream: false, previousResponseId: null, store: true }],
    [
      '{"model":"a","stream":true,"previous_response_id":"resp_1","store":false}',
      { model: 'a', stream: true, previousResponseId: 'resp_1', store: false },
    ],
    [
      '{"model":null,"stream":null,"previous_response_id":null,"store":null}',
      { model: null, stream: false, previousResponseId: null, store: true },
    ],
    ['{"model":"","stream":"true","store":0}', { model: null, stream: false, previousResponseId: null, store: true }],
  ])('%s', (text, fields) => expect(body(text).fields).toEqual(fields));

  test.each(['{"model":1}', '{"previous_response_id":{}}'])('must be text where it names something: %s', (text) => {
    expect(() => body(text)).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });

  test('includes any other field, for accounting', () => {
    expect(body('{"n":2,"input":"\\u00fc"}').field('n')).toBe(2);
    expect(body('{"n":2,"input":"\\u00fc"}').field('input')).toBe('ü');
    expect(body('{"n":2}').field('seconds')).toBeUndefined();
    expect(() => body('{"input":"\\uZZZZ"}').field('input')).not.toThrow();
  });
});

describe('what is sent', () => {
  test.each([
    ['{"model":"a"}', null, '{"model":"a"}'],
    ['{"model":"a"}', 'a', '{"model":"a"}'],
    [' {"x":1, "model" : "a"}', 'b', ' {"x":1, "model" : "b"}'],
    ['{}', 'b', '{"model":"b"}'],
    ['\n{ "x":1}', 'b', '\n{"model":"b", "x":1}'],
    ['{"model":null}', 'b', '{"model":"b"}'],
    ['{"x":"{"}', null, '{"x":"{"}'],
  ])('of %j for the model %j is %j', async (text, model, wanted) => expect(await sent(text, model)).toBe(wanted));

  test('asks for usage in streams alone', async () => {
    expect(await sent('{"model":"a"}', null, true)).toBe('{"model":"a"}');
    expect(await sent('{"stream":true}', 'b', true)).toBe(
      '{"model":"b","stream":true,"stream_options":{"include_usage":true}}',
    );
    expect((await body('{"stream":true}').sendable(null, true)).usageAsked).toBe(true);
    expect(
      (await body('{"stream":true,"stream_options":{"include_usage":true}}').sendable(null, true)).usageAsked,
    ).toBe(false);
  });
});
