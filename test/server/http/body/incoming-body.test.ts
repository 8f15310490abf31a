import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { JsonBody } from '../../../../server/http/body/json-body.ts';

const body = (text: string) => new JsonBody(Buffer.from(text));
const sent = async (text: string, model: string | null, askUsage = false) => {
  const sendable = await body(text).sendable({ model, askUsage });
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
    [
      '{"model":"","stream":"perhaps","store":0}',
      { model: null, stream: false, previousResponseId: null, store: true },
    ],
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

describe('a long body', () => {
  const prompt = 'x'.repeat(3 * 1024 * 1024);

  test('is sent piece by piece with its changes, as often as it is asked for', async () => {
    const { length, open, bytes } = await body(`{"model":"a","prompt":"${prompt}","n":1}`).sendable({
      model: 'b',
      askUsage: false,
    });
    const wanted = Buffer.from(`{"model":"b","prompt":"${prompt}","n":1}`);
    expect(length).toBe(wanted.length);
    for (const _ of [1, 2]) {
      const opened = open();
      expect(opened).not.toBeInstanceOf(Buffer);
      expect(wanted.equals(await buffer(opened as AsyncIterable<Buffer>))).toBe(true);
    }
    expect(bytes && wanted.equals(await bytes())).toBe(true);
  });

  test('gives its memory back when its request is over, and ends what is still sent of it', async () => {
    const bytes = Buffer.from(`{"prompt":"${prompt}"}`);
    const long = new JsonBody(bytes);
    const opened = (await long.sendable({ model: null, askUsage: false })).open();
    long.dispose();
    expect(bytes.buffer.byteLength).toBe(0);
    expect(opened).toHaveProperty('destroyed', true);
    expect(long.size).toBe(prompt.length + 13);
  });
});

describe('a field that Sluice reads', () => {
  test.each([
    ['model', '{"model":"a","MODEL":"b"}'],
    ['model', '{"MODEL":"b"}'],
    ['model', '{"model":"a","model":"a"}'],
    ['model', '{"mod\\u0065l":"a"}'],
    ['model', '{"model":"a","mode\\l":"b"}'],
    ['stream', '{"model":"a","stream":false,"\u017ftream":true}'],
    ['n', '{"model":"a","n":1,"N":20}'],
    ['max_tokens', '{"model":"a","max_tokens":1,"max_to\u212aens":4000}'],
    ['max_completion_tokens', '{"max_completion_tokens":1,"max_completion_tokens":4000}'],
    ['max_output_tokens', '{"max_output_tokens":1,"Max_Output_Tokens":4000}'],
    ['background', '{"background":false,"Background":true}'],
    ['previous_response_id', '{"previous_response_id":"a","previous_response_id":"b"}'],
  ])('is refused where servers may read %s in two ways: %s', (param, text) => {
    expect(() => body(text)).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
  });

  test('passes with whatever else is written twice', async () => {
    const text =
      '{"model":"a","temperature":1,"temperature":2,"User":"x","user":"y","t\\u006fols":[],"tools":[{"model":1}]}';
    expect(await sent(text, 'a')).toBe(text);
    expect(await sent(text, 'b')).toBe(text.replace('"a"', '"b"'));
  });

  test('is read up to a length at which that takes no time', () => {
    const long = body(`{"prompt":[${'"x",'.repeat(50_000)}"x"],"suffix":"${'x'.repeat(2_000_000)}","n":2}`);
    expect(long.field('prompt')).toBeUndefined();
    expect(long.raw('prompt')?.items).toBe(50_001);
    expect(long.field('suffix')).toBeUndefined();
    expect(long.field('n')).toBe(2);
    for (const name of ['model', 'previous_response_id']) {
      const text = `{"${name}":"${'x'.repeat(5_000)}"}`;
      expect(() => body(text)).toThrow(expect.objectContaining({ code: 'invalid_value', param: name }));
    }
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
    expect((await body('{"stream":true}').sendable({ model: null, askUsage: true })).usageAsked).toBe(true);
    expect(
      (await body('{"stream":true,"stream_options":{"include_usage":true}}').sendable({ model: null, askUsage: true }))
        .usageAsked,
    ).toBe(false);
  });
});
