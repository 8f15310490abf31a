/** The neutral conversation survives a round trip through each wire that can represent it: parse(render(x)) = x. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sseFraming } from '../../../../server/apis/core/sse-framing.ts';
import type { Conversation, Part, Tool, Turn, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { writeJson } from '../../../../server/apis/neutral/json-text.ts';
import { Losses } from '../../../../server/apis/neutral/losses.ts';
import type { Answer } from '../../../../server/apis/neutral/neutral-answer.ts';
import { wireTranslations } from '../../../../server/apis/translation/translation-registry.ts';
import { answerEvents, moment, targetOf, wholeAnswer } from './translating.ts';

/** Particulars of a wire: the model, and the signatures that it knows. */
const wires: Record<WireName, { model: string; seals: Part[] }> = {
  'openai-chat': { model: 'gpt-4o', seals: [] },
  'openai-responses': {
    model: 'gpt-5.4',
    seals: [{ type: 'thinking', text: 'Hm.', seal: { kind: 'encrypted', data: 'gAbc', itemId: 'rs_1' }, at: '' }],
  },
  'anthropic-messages': {
    model: 'claude-opus-4-6',
    seals: [
      { type: 'thinking', text: 'Hm.', seal: { kind: 'signature', data: 'Ev==' }, at: '' },
      { type: 'thinking', text: '', seal: { kind: 'redacted', data: 'Rx==' }, at: '' },
    ],
  },
  'gemini-generate': { model: 'gemini-2.5-pro', seals: [] },
};

const word = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() === text && text !== '');
const textPart = word.map((text): Part => ({ type: 'text', text, at: '' }));
const mediaPart = fc.constantFrom<Part>(
  { type: 'media', kind: 'image', source: { type: 'base64', mediaType: 'image/png', data: 'AAAA' }, at: '' },
  { type: 'media', kind: 'image', source: { type: 'base64', mediaType: 'image/webp', data: 'BBBB' }, at: '' },
);
const names = ['read', 'write_file', 'list-all'];
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify({ value: JSON.parse(JSON.stringify(value)) }));

interface Step {
  said: Part;
  calls: { name: string; arguments: string; result: string }[];
}
const step: fc.Arbitrary<Step> = fc.record({
  said: textPart,
  calls: fc.array(fc.record({ name: fc.constantFrom(...names), arguments: json, result: word }), { maxLength: 3 }),
});

/** The turns of some steps, each of which ends with results or with the user's next message. */
function turnsOf(steps: readonly Step[], first: Part[], thoughts: readonly Part[]): Turn[] {
  const turns: Turn[] = [{ role: 'user', parts: first }];
  for (const [index, { said, calls }] of steps.entries()) {
    const ids = calls.map((_, at) => `call_${index}_${at}`);
    const called = calls.map(({ name, arguments: given }, at): Part => {
      return { type: 'call', id: ids[at] ?? '', name, arguments: given, kind: 'function', at: '' };
    });
    turns.push({ role: 'assistant', parts: [...thoughts, said, ...called] });
    const results = calls.map(({ result }, at): Part => {
      return {
        type: 'result',
        callId: ids[at] ?? '',
        parts: [{ type: 'text', text: result, at: '' }],
        isError: false,
        at: '',
      };
    });
    turns.push({ role: 'user', parts: results.length > 0 ? results : [{ type: 'text', text: 'Next.', at: '' }] });
  }
  return turns;
}

const tool: fc.Arbitrary<Tool> = fc.record({
  kind: fc.constant('function' as const),
  name: fc.constantFrom(...names),
  description: word,
  schema: fc.constant({ type: 'object', properties: { value: { type: 'string' } } }),
  at: fc.constant(''),
});

const choice = fc.constantFrom<Conversation['toolChoice']>(
  undefined,
  { mode: 'auto' },
  { mode: 'none' },
  { mode: 'required' },
  { mode: 'named', name: 'read' },
);

function conversationOf(wire: WireName): fc.Arbitrary<Conversation> {
  const { model, seals } = wires[wire];
  return fc
    .record({
      instructions: fc.array(textPart, { maxLength: 1 }),
      first: fc.tuple(textPart, mediaPart),
      steps: fc.array(step, { maxLength: 4 }),
      tools: fc.uniqueArray(tool, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
      toolChoice: choice,
      maxOutputTokens: fc.integer({ min: 16, max: 60_000 }),
      schema: fc.boolean(),
    })
    .map(({ instructions, first, steps, tools, toolChoice, maxOutputTokens, schema }) => ({
      client: wireTranslations[wire].client,
      model,
      instructions: instructions.filter((part) => part.type === 'text'),
      turns: turnsOf(steps, first, seals),
      tools,
      toolChoice,
      maxOutputTokens,
      sampling: {},
      stopSequences: [],
      format: schema
        ? { kind: 'schema', name: 'answer', schema: { type: 'object', properties: {}, additionalProperties: false } }
        : undefined,
      stream: true,
      streamUsage: true,
    }));
}

describe.each(Object.keys(wires) as WireName[])('%s', (wire) => {
  const { model } = wires[wire];
  const translation = wireTranslations[wire];

  test('holds a conversation', () => {
    fc.assert(
      fc.property(conversationOf(wire), (conversation) => {
        const target = targetOf(model);
        const sealed = withOrigin(conversation, target.origin);
        const { body } = translation.renderRequest(sealed, target, new Losses());
        const written = {
          ...JSON.parse(writeJson(body)),
          ...(wire === 'gemini-generate' ? { model, stream: true } : {}),
        };
        const parsed = translation.parseRequest(written, new Losses());
        expect(told(parsed)).toEqual(told(conversation));
      }),
      { numRuns: 150, seed: 3 },
    );
  });

  const answer = fc.record({ said: word, thought: word, name: fc.constantFrom(...names), given: json }).map(
    ({ said, thought, name, given }): Answer => ({
      id: 'x1',
      parts: [
        { type: 'thinking', text: thought, seal: { kind: 'encrypted', data: 'abc' }, at: '' },
        { type: 'text', text: said, at: '' },
        { type: 'call', id: 'call_1', name, arguments: given, kind: 'function', at: '' },
      ],
      stop: { reason: 'tool' },
      usage: { input: 5, cacheRead: 3, cacheWrite: 0, cacheWriteOneHour: 0, output: 7, reasoning: 2 },
    }),
  );

  test('says the same of an answer in a stream as in one piece', () => {
    fc.assert(
      fc.property(answer, (given) => {
        const conversation = { ...emptyConversation, client: translation.client };
        const context = {
          conversation,
          origin: targetOf(model).origin,
          estimatedInputTokens: 1,
          ...moment,
          answerId: 'answer',
          losses: new Losses(),
        };
        const whole = JSON.parse(writeJson(translation.renderAnswer(given, { ...context, names: noNames })));
        const renderer = translation.eventRenderer({ ...context, names: noNames });
        const stream = answerEvents(given)
          .map((event) => renderer.push(event))
          .join('');
        expect(summaryOf(collect(wire, stream))).toEqual(summaryOf(wholeAnswer(translation, whole)));
      }),
      { numRuns: 50, seed: 5 },
    );
  });
});

const emptyConversation: Conversation = {
  client: wireTranslations['openai-chat'].client,
  model: 'm',
  instructions: [],
  turns: [],
  tools: [],
  sampling: {},
  stopSequences: [],
  stream: true,
  streamUsage: true,
};
const noNames = { outward: () => '', inward: (name: string) => ({ name, kind: 'function' as const }) } as never;

/** A stream as the wire's own parser reads it. */
function collect(wire: WireName, stream: string): Answer {
  const parser = wireTranslations[wire].eventParser(0);
  const events = stream
    .split(/\r?\n\r?\n/)
    .filter((text) => text !== '')
    .flatMap((text) => {
      const event = sseFraming.readEvent(Buffer.from(text));
      return event ? parser.push(event) : [];
    });
  const collected: Answer = { id: '', parts: [], stop: { reason: 'end' }, usage: null };
  for (const event of [...events, ...parser.end()]) {
    if (event.type === 'start') collected.id = event.id;
    else if (event.type === 'stop') collected.stop = event.stop;
    else if (event.type === 'usage') collected.usage = event.usage;
    else if (event.type === 'text' || event.type === 'thinking')
      collected.parts.push({ type: event.type, text: event.text, at: '' });
    else if (event.type === 'call') collected.parts.push({ ...event, type: 'call', arguments: '', at: '' });
    else if (event.type === 'arguments') {
      const call = collected.parts.findLast((part) => part.type === 'call');
      if (call) call.arguments += event.text;
    }
  }
  return collected;
}

function summaryOf(answer: Answer | null): unknown {
  const parts = (answer?.parts ?? []).filter((part) => part.type !== 'thinking' || part.text !== '');
  return {
    id: answer?.id,
    stop: answer?.stop.reason,
    usage: answer?.usage,
    parts: parts.map((part) => {
      if (part.type === 'call') return ['call', part.id, part.name, part.arguments];
      return [part.type, 'text' in part ? part.text : ''];
    }),
  };
}

function withOrigin(conversation: Conversation, origin: ReturnType<typeof targetOf>['origin']): Conversation {
  const turns = conversation.turns.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) =>
      part.type === 'thinking' && part.seal ? { ...part, seal: { ...part.seal, origin } } : part,
    ),
  }));
  return { ...conversation, turns };
}

/** The parts that the wires have in common, without positions. */
function told({
  model,
  instructions,
  turns,
  tools,
  toolChoice,
  maxOutputTokens,
  format,
  stream,
}: Conversation): unknown {
  const kept = {
    model,
    instructions,
    turns,
    tools,
    toolChoice,
    maxOutputTokens,
    format: format?.kind === 'schema' ? format.schema : undefined,
    stream,
  };
  return JSON.parse(
    JSON.stringify(kept, (key, value) => (key === 'at' || key === 'strict' ? undefined : value)),
    (key, value) => {
      // `auto` is what an image without `detail` has.
      if (key === 'detail' && value === 'auto') return undefined;
      // Gemini's calls have no ids, so Sluice derives them from the position.
      return key === 'id' || key === 'callId' ? undefined : key === 'itemId' ? undefined : value;
    },
  );
}
