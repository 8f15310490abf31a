/** What Sluice put into a conversation, on its way to a provider that is sent the client's own bytes. */
import { describe, expect, test } from 'vitest';
import { JsonNames } from '../../../../server/apis/json/json-names.ts';
import { peekJson, piecesOf } from '../../../../server/apis/json/json-peek.ts';
import type { Seal, SealKind, WireName } from '../../../../server/apis/neutral/conversation.ts';
import { envelopeOfNothing, wrapSeal, wrapSeals } from '../../../../server/apis/neutral/requests/carried-reasoning.ts';
import { marksOfSluice, openSeals, originOfSeals } from '../../../../server/apis/translation/returned-seals.ts';

const names = new JsonNames([]);
const reader = { provider: 'own', model: 'gemini-3-pro', account: 'c1' };
const own = (kind: SealKind, data = 'own'): Seal => ({ kind, data, origin: reader });
const foreign = (kind: SealKind): Seal => ({ ...own(kind, 'foreign'), origin: { ...reader, provider: 'other' } });
const keptId = (kind: string) => `${kind}_sluice_${'0'.repeat(32)}_1`;

function markedIn(text: string) {
  const bytes = Buffer.from(text);
  const peek = peekJson(bytes, names, marksOfSluice);
  if (!peek.ok) throw new Error(peek.reason);
  return { bytes, marked: peek.marked };
}

function opened(wire: WireName, text: string) {
  const body = markedIn(text);
  const { edits, losses } = openSeals(wire, body, reader);
  const told = losses.map(({ field, code }) => `${field};why=${code}`);
  return { text: Buffer.concat(piecesOf(body.bytes, edits)).toString(), told };
}

/** One message of each API with a seal, as members of the list; odd spacing and numbers, which have to stay. */
interface Case {
  wire: WireName;
  list: string;
  /** What its own provider seals. */
  kind: SealKind;
  message(seal: string): string;
  /** Without the seal. */
  reduced: string | null;
  /** What is told of it. */
  at: string;
}

const cases: Record<string, Case> = {
  'a thought at Anthropic': {
    wire: 'anthropic-messages',
    list: 'messages',
    kind: 'signature',
    message: (seal) =>
      `{"role":"assistant", "content":[ {"type":"thinking","thinking":"c2wxA","signature":"${seal}"} , {"type":"tool_use","id":"a","name":"f","input":{"signature":"c2wxA","n":1.0}}]}`,
    reduced:
      '{"role":"assistant", "content":[ {"type":"tool_use","id":"a","name":"f","input":{"signature":"c2wxA","n":1.0}}]}',
    at: 'messages[1].content[0]',
  },
  'a redacted thought at Anthropic': {
    wire: 'anthropic-messages',
    list: 'messages',
    kind: 'redacted',
    message: (seal) =>
      `{"role":"assistant","content":[{"type":"text","text":"Hi"},{"data":"${seal}","type":"redacted_thinking"}]}`,
    reduced: '{"role":"assistant","content":[{"type":"text","text":"Hi"}]}',
    at: 'messages[1].content[1]',
  },
  'nothing but a thought at Anthropic': {
    wire: 'anthropic-messages',
    list: 'messages',
    kind: 'signature',
    message: (seal) => `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"${seal}"}]}`,
    reduced: null,
    at: 'messages[1].content[0]',
  },
  'a reasoning item': {
    wire: 'openai-responses',
    list: 'input',
    kind: 'encrypted',
    message: (seal) => `{"type":"reasoning","summary":[],"encrypted_content":"${seal}","n":1.0}`,
    reduced: null,
    at: 'input[1]',
  },
  'a detail of a chat': {
    wire: 'openai-chat',
    list: 'messages',
    kind: 'signature',
    message: (seal) =>
      `{"role":"assistant","content":"c2wxA","reasoning_details":[{"type":"reasoning.text","text":"Hm","signature":"${seal}"}] , "n":1.0}`,
    reduced: '{"role":"assistant","content":"c2wxA","n":1.0}',
    at: 'messages[1].reasoning_details[0]',
  },
  'an encrypted detail of a chat': {
    wire: 'openai-chat',
    list: 'messages',
    kind: 'encrypted',
    message: (seal) =>
      `{"role":"assistant","reasoning_details":[{"type":"a"},{"type":"reasoning.encrypted","data":"${seal}"}],"content":"Hi"}`,
    reduced: '{"role":"assistant","reasoning_details":[{"type":"a"}],"content":"Hi"}',
    at: 'messages[1].reasoning_details[1]',
  },
  'a call of a chat': {
    wire: 'openai-chat',
    list: 'messages',
    kind: 'thought-signature',
    message: (seal) =>
      `{"role":"assistant","tool_calls":[{"id":"a","extra_content":{"google":{"thought_signature":"${seal}"}},"type":"function","function":{"name":"f","arguments":"{\\"signature\\":\\"c2wxA\\"}"}}]}`,
    reduced:
      '{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"signature\\":\\"c2wxA\\"}"}}]}',
    at: 'messages[1].tool_calls[0].extra_content.google.thought_signature',
  },
  'a text of Gemini': {
    wire: 'gemini-generate',
    list: 'contents',
    kind: 'thought-signature',
    message: (seal) => `{"role":"model","parts":[{"text":"Hi","thoughtSignature":"${seal}"},{"text":"c2wxA"}]}`,
    reduced: '{"role":"model","parts":[{"text":"Hi"},{"text":"c2wxA"}]}',
    at: 'contents[1].parts[0].thoughtSignature',
  },
  'an end of a text of Gemini, as one part in the older spelling': {
    wire: 'gemini-generate',
    list: 'contents',
    kind: 'thought-signature',
    message: (seal) => `{"role":"model","parts":{"thought_signature":"${seal}","text":""}}`,
    reduced: null,
    at: 'contents[1].parts.thought_signature',
  },
  'a call of Gemini 3': {
    wire: 'gemini-generate',
    list: 'contents',
    kind: 'thought-signature',
    message: (seal) =>
      `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"thoughtSignature":"c2wxA"}},"thoughtSignature":"${seal}"}]}`,
    reduced:
      '{"role":"model","parts":[{"functionCall":{"name":"f","args":{"thoughtSignature":"c2wxA"}},"thoughtSignature":"skip_thought_signature_validator"}]}',
    at: 'contents[1].parts[0].thoughtSignature',
  },
};

const before = '{"role":"user","content":"c2wxA in a text"}';
const after =
  '{"role":"user", "content":[{"type":"tool_result","content":"c2wxA"}],"functionResponse":{"signature":"c2wxA"}}';
const bodyOf = (list: string, ...messages: (string | null)[]) =>
  `{ "n":1.0,"${list}" : [ ${messages.filter((message) => message !== null).join(' ,')} ],"model":"c2wxA"}`;

describe.each(Object.entries(cases))('%s', (_name, { wire, list, kind, message, reduced, at }) => {
  const whole = (seal: string) => bodyOf(list, before, message(seal), after);

  test('comes back as the target sealed it, and all else stays', () => {
    expect(opened(wire, whole(wrapSeal(own(kind))))).toEqual({ text: whole('own'), told: [] });
  });

  test.each([
    ['of another provider', wrapSeal(foreign(kind))],
    ['of another account', wrapSeal({ ...own(kind), origin: { ...reader, account: 'c2' } })],
    ['of another model', wrapSeal({ ...own(kind), origin: { ...reader, model: 'm' } })],
    ['of a kind that the field does not have', wrapSeal(own(kind === 'signature' ? 'encrypted' : 'signature'))],
    ['that was cut off', wrapSeal(own(kind, 'x'.repeat(9))).slice(0, -4)],
    ['that was changed', wrapSeal(own(kind, 'x'.repeat(9))).replace(/.{4}$/, 'eXg=')],
    ['that was forged', Buffer.from(`sl1\0own\0gemini-3-pro\0c1\0${kind}\0\0\0own`).toString('base64')],
    ['of which only the beginning is there', 'c2wxA'],
    ['of several, of which only the beginning is there', 'c2xO'],
    ['of several that are foreign', wrapSeals([foreign(kind), foreign('plain')])],
  ])('is left out and told if it is one %s', (_what, seal) => {
    const expected = bodyOf(list, before, reduced, after);
    expect(opened(wire, whole(seal))).toEqual({
      text: expected,
      told: [`${at};why=foreign-reasoning`],
    });
  });

  test('stays if it came from a provider of the same API', () => {
    for (const seal of ['', 'gAAAAsl1', 'EqQBsl1', 'c2lnbmF0dXJl'])
      expect(opened(wire, whole(seal))).toEqual({ text: whole(seal), told: [] });
  });

  test('is left out without a word if nothing was sealed', () => {
    expect(opened(wire, whole(envelopeOfNothing))).toEqual({ text: bodyOf(list, before, reduced, after), told: [] });
  });

  test('tells where the conversation belongs', () => {
    const text = bodyOf(list, before, message(wrapSeal(foreign(kind))), message(wrapSeal(own(kind))), after);
    expect(originOfSeals(wire, markedIn(text))).toEqual(reader);
    expect(originOfSeals(wire, markedIn(whole('gAAAA')))).toBeNull();
    expect(originOfSeals(wire, markedIn(whole(wrapSeal(own('plain', '')))))).toBeNull();
  });

  test('says nothing of where the conversation is, once a provider of the API, or one without seals, has gone on', () => {
    const sealed = message(wrapSeal(foreign(kind)));
    for (const later of [message('gAAAA'), message(wrapSeal(own('plain', '')))])
      expect(originOfSeals(wire, markedIn(bodyOf(list, before, sealed, after, later, after)))).toBeNull();
  });

  test('is left out wherever it stands in the list', () => {
    const sealed = message(wrapSeal(foreign(kind)));
    for (const [messages, expected] of [
      [
        [sealed, before],
        [reduced, before],
      ],
      [
        [before, sealed],
        [before, reduced],
      ],
      [
        [sealed, sealed, before, sealed, sealed],
        [reduced, reduced, before, reduced, reduced],
      ],
      [
        [before, sealed, sealed],
        [before, reduced, reduced],
      ],
    ] as const) {
      const { text } = opened(wire, bodyOf(list, ...messages));
      expect(JSON.parse(text)).toEqual(JSON.parse(bodyOf(list, ...expected)));
    }
  });
});

describe('items of responses that Sluice made', () => {
  const items = (...list: object[]) => JSON.stringify({ input: list });
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] };
  const call = { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' };

  test('lose the ids that no provider knows, or get back those of the provider', () => {
    const sealed = { ...own('encrypted'), itemId: 'rs_1' };
    const reasoning = { type: 'reasoning', summary: [] };
    const sent = items(
      { id: keptId('rs'), ...reasoning, encrypted_content: wrapSeal(sealed) },
      { id: keptId('msg'), ...message },
      { ...call, id: keptId('fc') },
      { id: 'msg_68', ...message },
    );
    const expected = items({ id: 'rs_1', ...reasoning, encrypted_content: 'own' }, message, call, {
      id: 'msg_68',
      ...message,
    });
    expect(opened('openai-responses', sent)).toEqual({ text: expected, told: [] });
  });

  test('are left out if they are thoughts without a seal', () => {
    const sent = items({ id: keptId('rs'), type: 'reasoning', summary: [] }, { id: 'rs_1', type: 'reasoning' }, call);
    expect(opened('openai-responses', sent)).toEqual({
      text: items({ id: 'rs_1', type: 'reasoning' }, call),
      told: ['input[0];why=unsealed-reasoning'],
    });
  });
});

describe('thinking with a budget', () => {
  const thought = { type: 'thinking', thinking: 'Hm', signature: wrapSeal(foreign('signature')) };
  const use = { type: 'tool_use', id: 'a', name: 'f', input: {} };
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] };
  const thinking = { type: 'enabled', budget_tokens: 2048 };
  const asked = (messages: object[], more: object = { thinking }) =>
    opened('anthropic-messages', JSON.stringify({ messages, ...more }));

  test('is off while the model goes on from calls whose thoughts are foreign', () => {
    const { text, told } = asked([{ role: 'assistant', content: [thought, use] }, result]);
    expect(JSON.parse(text).thinking).toEqual({ type: 'disabled' });
    expect(told).toEqual(['messages[0].content[0];why=foreign-reasoning', 'thinking;why=reasoning-off']);
  });

  test('stays on after an answer, after older calls, and if it is adaptive', () => {
    const said = { role: 'assistant', content: [thought, { type: 'text', text: 'Hi' }] };
    const question = { role: 'user', content: 'And "tool_use"?' };
    const called = { role: 'assistant', content: [thought, use] };
    for (const { text } of [asked([said, question]), asked([called, result, said, question])])
      expect(JSON.parse(text).thinking).toEqual(thinking);
    const adaptive = asked([called, result], { thinking: { type: 'adaptive' } });
    expect(JSON.parse(adaptive.text).thinking).toEqual({ type: 'adaptive' });
  });
});

test('a thought that the target sent without a seal goes back without one', () => {
  const seal = wrapSeal({ ...own('plain', ''), itemId: 'rs_1' });
  const thought = (signature: string) => JSON.stringify({ messages: [{ content: [{ type: 'thinking', signature }] }] });
  expect(opened('anthropic-messages', thought(seal))).toEqual({ text: thought(''), told: [] });
  const reasoning = { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hm' }] };
  const item = JSON.stringify({ input: [{ ...reasoning, id: keptId('rs'), encrypted_content: seal }] });
  const expected = JSON.stringify({ input: [{ ...reasoning, id: 'rs_1' }] });
  expect(opened('openai-responses', item)).toEqual({ text: expected, told: [] });
  const chat = JSON.stringify({ messages: [{ reasoning_content: 'Hm', reasoning_details: [{ signature: seal }] }] });
  const plain = JSON.stringify({ messages: [{ reasoning_content: 'Hm' }] });
  expect(opened('openai-chat', chat)).toEqual({ text: plain, told: [] });
  const ofChat = wrapSeal(own('plain', '{"reasoning":"Hm"}'));
  expect(opened('anthropic-messages', thought(ofChat)).text).toBe('{"messages":[]}');
  expect(opened('openai-responses', item.replace(seal, ofChat)).text).toBe('{"input":[]}');
});

test('several envelopes in one field give back the one that the target sealed', () => {
  const sealed = wrapSeals([foreign('encrypted'), own('thought-signature'), foreign('plain')]);
  const text = JSON.stringify({ contents: [{ parts: [{ text: 'Hi', thoughtSignature: sealed }] }] });
  expect(opened('gemini-generate', text).text).toBe(text.replace(sealed, 'own'));
});

test('a body in slices, with escapes and a byte order mark, is changed at the same places', () => {
  const text = `\uFEFF{"messages":[{"\\u0063ontent":[{"ty\\u0070e":"thinking","signature":"${wrapSeal(foreign('signature')).replaceAll('=', '\\u003d')}","thinking":"\\\\\\""},{"type":"text","text":"\\"c2wxA"}]}]}`;
  const { text: changed } = opened('anthropic-messages', text);
  expect(changed).toBe('\uFEFF{"messages":[{"\\u0063ontent":[{"type":"text","text":"\\"c2wxA"}]}]}');
});
