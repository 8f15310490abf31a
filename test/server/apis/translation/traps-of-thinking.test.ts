import { describe, expect, test } from 'vitest';
import {
  call,
  chat,
  chatToClaude,
  chatToGemini,
  claude,
  claudeToChat,
  type Json,
  loop,
  lossesOf,
  moment,
  sent,
  targetOf,
  toolResult,
  toolUse,
  translate,
  translatorOf,
  user,
} from './translating.ts';

describe('thinking', () => {
  test('Trap 24: calls whose thinking the client has lost are not answered with thinking on (litellm#15601)', () => {
    const asked = { ...chat(...loop('a')), reasoning_effort: 'high' };
    const way = { ...chatToClaude, model: 'claude-sonnet-4-5' };
    expect(sent(way, asked)).not.toHaveProperty('thinking');
    expect(lossesOf(way, asked)).toEqual(['emulated reasoning_effort: reasoning-off']);
  });

  test('Traps 25 to 27: a signature of elsewhere goes with all of its block (opencode#25005)', () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'bare' }];
    const asked = chat({ role: 'assistant', content: 'x', reasoning_details: details }, user);
    expect(sent(chatToClaude, asked).messages).toMatchObject([{}, { content: [{ type: 'text' }] }, {}]);
  });

  test('Trap 28: the second request after a refused signature is another one (hermes-agent#24401)', () => {
    const request = translate(chatToClaude, chat());
    const message = {
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'Ev==' },
        { type: 'text', text: 'x' },
      ],
    };
    const answer = request.whole(Buffer.from(JSON.stringify(message)), moment);
    const history = chat(answer?.ok ? JSON.parse(answer.body.toString()).choices[0].message : {}, user);
    const translator = translatorOf('openai-chat', 'anthropic-messages');
    const asked = translator.read(Buffer.from(JSON.stringify(history)));
    const target = targetOf(chatToClaude.model);
    expect(translator.request(asked, target).body.toString()).toContain('Ev==');
    expect(translator.request(asked, { ...target, withoutReasoning: true }).body.toString()).not.toContain('Ev==');
  });

  const geminiTurn = (parts: Json[]) => {
    const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    const whole = translate(chatToGemini, chat()).whole(Buffer.from(JSON.stringify(answer)), moment);
    return (whole?.ok ? JSON.parse(whole.body.toString()).choices[0].message : {}) as Json & { tool_calls?: Json[] };
  };

  test('Trap 29: a signature of Gemini 3 comes back with its call at the second turn (securo#884)', () => {
    const message = geminiTurn([{ functionCall: { name: 'read', args: {} }, thoughtSignature: 'c2ln' }]);
    const result = { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id, content: 'A' };
    const { contents } = sent(chatToGemini, chat(message, result)) as { contents: { parts: Json[] }[] };
    expect(contents[1]?.parts).toEqual([{ functionCall: { name: 'read', args: {} }, thoughtSignature: 'c2ln' }]);
  });

  test('Trap 31: a signature that stands beside a text comes back too, whatever its key is called (adk-python#5712)', () => {
    const message = geminiTurn([
      { text: 'Hm.', thought: true },
      { text: 'I look.', thoughtSignature: 'c2ln' },
    ]);
    const { contents } = sent(chatToGemini, chat(message, user)) as { contents: { parts: Json[] }[] };
    expect(contents[1]?.parts).toEqual([{ text: 'I look.', thoughtSignature: 'c2ln' }]);
  });

  test('Trap 30: a signature of another provider is no thoughtSignature (pi#654)', () => {
    const [called, result] = loop('a');
    const signed = {
      ...called,
      tool_calls: [{ ...call('a'), extra_content: { google: { thought_signature: 'bare' } } }],
    };
    expect(JSON.stringify(sent(chatToGemini, chat(signed, result)))).toContain('skip_thought_signature_validator');
  });

  test.each(['deepseek-v4', 'moonshotai/kimi-k3'])(
    'Trap 32: the reasoning of calls goes back to %s (opencode#24722)',
    (model) => {
      const content = [{ type: 'thinking', thinking: 'Hm.', signature: 'c2wx' }, toolUse('a')];
      const asked = claude({ role: 'assistant', content }, { role: 'user', content: [toolResult('a')] });
      expect(sent({ ...claudeToChat, model }, asked).messages).toMatchObject([{}, { reasoning_content: 'Hm.' }, {}]);
    },
  );

  test('Trap 33: what is asked of thinking is told when it is dropped (litellm#8837)', () => {
    const asked = { ...claude(), thinking: { type: 'enabled', budget_tokens: 2000 } };
    expect(lossesOf(claudeToChat, asked)).toEqual(['dropped thinking: model-takes-none']);
  });
});
