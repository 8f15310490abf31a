import { expect, test } from 'vitest';
import { loadConversation } from '../../../../renderer/views/sessions/load-conversation.ts';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import type { SessionRequest } from '../../../../server/contract/session-views.ts';

const said = (role: string, content: string) => ({ role, content });
const answer = (content: string) => ({ choices: [{ message: said('assistant', content), finish_reason: 'stop' }] });

interface Sent {
  body: object;
  answer: object;
  facts?: Partial<SessionRequest>;
}

/** Loads what was sent, and says which requests were asked for. */
async function load(sent: Record<string, Sent>) {
  const asked: string[] = [];
  const facts = { thread: 0, outcome: 'ok', isCaptured: true, isShorter: false } as const;
  const requests = Object.entries(sent).map(([id, each]) => ({ ...facts, ...each.facts, id }) as SessionRequest);
  const message = (value: object) => ({
    headers: [['content-type', 'application/json']],
    body: { encoding: 'utf8', data: JSON.stringify(value) },
  });
  const whole = await loadConversation(requests, async (id) => {
    asked.push(id);
    const { body = {}, answer: answered = {} } = sent[id] ?? {};
    return { capture: { request: message(body), response: message(answered) } } as unknown as RequestInFull;
  });
  const texts = whole?.conversation.messages.map(({ parts: [part] }) =>
    part?.kind === 'text' ? part.text : part?.kind,
  );
  return { asked, texts, isWhole: whole?.isWhole };
}

test('the newest request holds the conversation, whatever ran beside it', async () => {
  const first = { body: { messages: [said('user', 'One')] }, answer: answer('Yes') };
  const history = [said('user', 'One'), said('assistant', 'Yes'), said('user', 'Two')];
  const second = { body: { messages: history }, answer: answer('No') };
  const beside = { body: { messages: [said('user', 'Title?')] }, answer: answer('Gate'), facts: { thread: 1 } };
  expect(await load({ first, second, beside })).toEqual({
    asked: ['second'],
    texts: ['One', 'Yes', 'Two', 'No'],
    isWhole: true,
  });
});

test('what it was compacted from comes first, and what the system said once', async () => {
  const system = said('system', 'Be brief');
  const long = { body: { messages: [system, said('user', 'One'), said('assistant', 'Yes')] }, answer: answer('Long') };
  const short = { body: { messages: [system, said('user', 'Summary')] }, answer: answer('On') };
  expect(await load({ early: long, long, short: { ...short, facts: { isShorter: true } } })).toEqual({
    asked: ['short', 'long'],
    texts: ['Be brief', 'One', 'Yes', 'Long', 'Summary', 'On'],
    isWhole: true,
  });
});

test('requests that name the response they continue are put together', async () => {
  const output = (text: string) => ({
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }],
  });
  const first = { body: { input: 'One' }, answer: output('Yes') };
  const second = { body: { input: 'Two', previous_response_id: 'resp_1' }, answer: output('No') };
  expect(await load({ first, second })).toEqual({
    asked: ['second', 'first'],
    texts: ['One', 'Yes', 'Two', 'No'],
    isWhole: true,
  });
});

test('nothing is shown of a session of which nothing is kept', async () => {
  const first = { body: { messages: [said('user', 'One')] }, answer: answer('Yes'), facts: { isCaptured: false } };
  expect(await load({ first })).toEqual({ asked: [], texts: undefined, isWhole: undefined });
});
