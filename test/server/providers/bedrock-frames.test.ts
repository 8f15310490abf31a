import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { claudeFrames, converseFrames, modelOnBedrock } from '../../../server/apis/bedrock/provider/bedrock.ts';
import { FrameUnpacker } from '../../../server/apis/bedrock/provider/frame-unpacker.ts';
import { TransportError } from '../../../server/transport/transport-error.ts';
import { text } from '../../support/strict-anthropic.ts';
import { converseFramesOf, eventFrame, exceptionFrame, framesOf, toolUse } from '../../support/strict-bedrock.ts';
import { tries } from '../../support/sweep.ts';
import { everySplit } from '../apis/translation/translating.ts';

const streams = {
  InvokeModel: { format: claudeFrames, bytes: Buffer.concat(framesOf([text('Hello there')])) },
  Converse: {
    format: converseFrames,
    bytes: Buffer.concat(converseFramesOf([{ text: 'Grüße' }, toolUse('t1', 'read', { path: 'ä' })])),
  },
};

describe.each(Object.entries(streams))('a stream of %s', (_name, { format, bytes }) => {
  const unpacked = (...pieces: Buffer[]) => {
    const unpacker = new FrameUnpacker(format);
    const told = Buffer.concat(pieces.map((piece) => unpacker.push(piece))).toString();
    return { told, isWhole: unpacker.isBetweenEvents };
  };

  test('is the same wherever it is cut', () => {
    const whole = unpacked(bytes);
    expect(whole.isWhole).toBe(true);
    for (const pieces of everySplit(bytes)) expect(unpacked(...pieces)).toEqual(whole);
  });

  test('that is damaged anywhere is damaged, and nothing that was not said is told', () => {
    const { told } = unpacked(bytes);
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ mask;
        try {
          const found = unpacked(damaged);
          // A changed length makes the reader wait for the rest of the frame.
          expect(found.isWhole).toBe(false);
          expect(told.startsWith(found.told)).toBe(true);
        } catch (error) {
          if (!(error instanceof TransportError)) throw error;
        }
      }),
      { numRuns: tries(300), seed: 5 },
    );
  });
});

test('an event of Converse bears its type, and an exception its name', () => {
  const unpacker = new FrameUnpacker(converseFrames);
  const event = unpacker.push(eventFrame('messageStop', { stopReason: 'end_turn' })).toString();
  expect(event).toBe('data: {"messageStop":{"stopReason":"end_turn"}}\n\n');
  const exception = unpacker.push(exceptionFrame('throttlingException', 'Later')).toString();
  expect(exception).toBe('data: {"error":{"type":"ThrottlingException","message":"Later"}}\n\n');
});

test('an exception whose message is no text bears its name alone', () => {
  const unpacker = new FrameUnpacker(converseFrames);
  const exception = unpacker.push(exceptionFrame('throttlingException', { toString: 1 })).toString();
  expect(exception).toBe('data: {"error":{"type":"ThrottlingException","message":"throttlingException"}}\n\n');
});

test('an event nested too deeply to be written again is malformed', () => {
  const depth = 100_000;
  const payload = Buffer.from(`{\n"a":${'['.repeat(depth)}${']'.repeat(depth)}}`);
  expect(() => new FrameUnpacker(converseFrames).push(eventFrame('messageStop', payload))).toThrow(TransportError);
});

test.each([
  ['anthropic.claude-opus-4-5-20251101-v1:0', 'anthropic-messages'],
  ['us.anthropic.claude-opus-4-5-20251101-v1:0', 'anthropic-messages'],
  ['arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-v1:0', 'anthropic-messages'],
  ['arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', 'anthropic-messages'],
  ['amazon.nova-pro-v1:0', 'bedrock-converse'],
  ['eu.mistral.pixtral-large-2502-v1:0', 'bedrock-converse'],
  ['deepseek.v3.2', 'bedrock-converse'],
  ['arn:aws:bedrock:us-east-1:1:inference-profile/us.meta.llama4-scout-17b-instruct-v1:0', 'bedrock-converse'],
  ['arn:aws:bedrock:us-east-1:1:imported-model/abc', 'bedrock-converse'],
])('%s is asked on the wire %s', (model, wire) => expect(modelOnBedrock(model).wire).toBe(wire));
