import { describe, expect, test } from 'vitest';
import { realtimeSession } from '../../../../server/apis/openai/realtime.ts';

const read = (event: unknown) => realtimeSession.readServerEvent(Buffer.from(JSON.stringify(event)));

describe('an event of the upstream', () => {
  test('is known by its type, wherever that stands', () => {
    const output = 'x'.repeat(10_000);
    for (const event of [
      { event_id: 'e', response: { id: 'r1', output }, type: 'response.created' },
      { event_id: 'e', type: 'response.created', response: { id: 'r1', output } },
      { type: 'response.created', response: { id: 'r1' } },
    ]) {
      expect(read(event)).toEqual({ kind: 'response-created', id: 'r1' });
    }
  });

  test.each([
    ['sound', { type: 'response.output_audio.delta', delta: 'AAAA' }],
    ['the type in a text', { type: 'response.output_text.delta', delta: '"response.done"' }],
    ['the type as another field', { type: 'x', name: 'response.done' }],
    ['the type below', { inner: { type: 'response.done' } }],
    ['a list', ['response.done']],
  ])('is not read: %s', (_what, event) => expect(read(event)).toBeNull());

  test('that is no JSON, or longer than any of its kind, is not read', () => {
    expect(realtimeSession.readServerEvent(Buffer.from('{"type":"response.done"'))).toBeNull();
    expect(read({ type: 'response.done', response: { id: 'r', text: 'x'.repeat(1024 * 1024) } })).toBeNull();
  });

  test('tells usage, and cached sound and pictures only as cached', () => {
    const usage = {
      input_tokens: 100,
      output_tokens: 20,
      input_token_details: {
        cached_tokens: 60,
        audio_tokens: 80,
        image_tokens: 10,
        cached_tokens_details: { audio_tokens: 50, image_tokens: 10, text_tokens: 0 },
      },
      output_token_details: { audio_tokens: 15 },
    };
    const event = read({ type: 'response.done', response: { id: 'r', status: 'completed', usage } });
    const told = {
      inputTokens: 100,
      outputTokens: 20,
      cachedInputTokens: 60,
      audioInputTokens: 30,
      imageInputTokens: 0,
      audioOutputTokens: 15,
    };
    expect(event).toMatchObject({
      used: told,
    });
  });

  test.each([undefined, null, 'many', {}, { input_tokens: -1 }, { input_tokens: 'five' }])(
    'with usage %j tells none',
    (usage) => {
      expect(read({ type: 'response.done', response: { id: 'r', usage } })).toMatchObject({ used: null });
    },
  );

  test.each([
    ['session.updated', { audio: { input: { transcription: { model: 'whisper-1' } } } }, 'whisper-1'],
    ['transcription_session.created', { input_audio_transcription: { model: 'whisper-1' } }, 'whisper-1'],
    ['session.created', { audio: { input: { transcription: null } } }, null],
    ['session.created', null, null],
  ])('%s names the model of transcripts: %j', (type, session, transcribesWith) => {
    expect(read({ type, session })).toEqual({ kind: 'session', transcribesWith });
  });
});

test.each([
  [{ type: 'response.create', event_id: 'mine' }, { eventId: 'mine' }],
  [{ type: 'response.create' }, { eventId: '' }],
  [{ type: 'response.cancel' }, null],
  [{ type: 'conversation.item.create', item: { content: [{ text: '"response.create"' }] } }, null],
])('of a client’s events only those that ask for a response are read: %j', (event, expected) => {
  expect(realtimeSession.readResponseCreate(Buffer.from(JSON.stringify(event)))).toEqual(expected);
});
