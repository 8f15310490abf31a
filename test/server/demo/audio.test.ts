import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countTokens } from '../../../server/demo/tokens.ts';
import { collect, type DemoHarness, dataLines, startHarness } from './harness.ts';

const spoken = 'Hello there. Grüße aus Zürich, 你好 🌍!\nAnd goodbye.';

describe('speech and transcription', () => {
  let harness: DemoHarness;
  let wav: Buffer;
  beforeAll(async () => {
    harness = await startHarness();
    wav = await speak(spoken);
  });
  afterAll(() => harness.demo.stop());

  const speak = async (input: string, extra: { response_format?: 'wav' | 'pcm' } = {}) => {
    const request = { model: 'demo-speech', voice: 'alloy', input, ...extra } as const;
    return Buffer.from(await (await harness.client.audio.speech.create(request)).arrayBuffer());
  };
  const transcribe = async <Extra extends object>(bytes: Buffer, extra: Extra, name = 'speech.wav') =>
    harness.client.audio.transcriptions.create({ model: 'demo-transcribe', file: await toFile(bytes, name), ...extra });
  const translate = async <Extra extends object>(bytes: Buffer, extra: Extra) =>
    harness.client.audio.translations.create({
      model: 'demo-transcribe',
      file: await toFile(bytes, 'speech.wav'),
      ...extra,
    });

  it('speak in WAV, also where no format is asked for', async () => {
    const response = await harness.client.audio.speech.create({ model: 'demo-speech', voice: 'nova', input: 'Hi' });
    expect(response.headers.get('content-type')).toBe('audio/wav');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    expect(bytes.readUInt32LE(24)).toBe(24_000);
    expect(bytes.readUInt32LE(bytes.indexOf('data') + 4)).toBe(bytes.length - bytes.indexOf('data') - 8);
    expect(bytes).toEqual(await speak('Hi', { response_format: 'wav' }));
  });

  it('speak in bare samples', async () => {
    const request = { model: 'demo-speech', voice: 'nova', input: 'Hi', response_format: 'pcm' } as const;
    const response = await harness.client.audio.speech.create(request);
    expect(response.headers.get('content-type')).toBe('audio/pcm');
    expect(Buffer.from(await response.arrayBuffer())).toEqual((await speak('Hi')).subarray(-2 * 2400));
  });

  it('speak as a stream of events', async () => {
    const body = { model: 'demo-speech', voice: { id: 'v' }, input: 'Hello', stream_format: 'sse' };
    const lines = (await dataLines(await harness.request('POST', '/audio/speech', body))).map((line) =>
      JSON.parse(line),
    );
    const audio = lines.flatMap((event) =>
      event.type === 'speech.audio.delta' ? [Buffer.from(event.audio, 'base64')] : [],
    );
    expect(Buffer.concat(audio)).toEqual(await speak('Hello'));
    const usage = { input_tokens: 2, output_tokens: expect.any(Number), total_tokens: expect.any(Number) };
    expect(lines.at(-1)).toEqual({ type: 'speech.audio.done', usage });
  });

  it.each([
    [{ voice: 'nova' }, 'missing_required_parameter', 'input'],
    [{ input: 'x' }, 'missing_required_parameter', 'voice'],
  ])('refuse to speak %o', async (body, code, param) => {
    const response = await harness.request('POST', '/audio/speech', { model: 'demo-speech', ...body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code, param } });
  });

  it('speak as mp3, always alike', async () => {
    const response = await harness.client.audio.speech.create({
      ...{ model: 'demo-speech', voice: 'nova', input: 'x', response_format: 'mp3' },
    });
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    const bytes = Buffer.from(await response.arrayBuffer());
    // A frame of MPEG-2 layer III begins with eleven set bits.
    expect([bytes[0], (bytes[1] ?? 0) & 0xf6]).toEqual([0xff, 0xf2]);
  });

  it('refuse flac and name the formats there are', async () => {
    const body = { model: 'demo-speech', voice: 'nova', input: 'x', response_format: 'flac' };
    const response = await harness.request('POST', '/audio/speech', body);
    expect(response.status).toBe(400);
    const { error } = await response.json();
    expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_value', param: 'response_format' });
    expect(error.message).toContain('wav, pcm, mp3');
  });

  it('read back what was spoken', async () => {
    expect((await transcribe(wav, {})).text).toBe(spoken);
  });

  it('tell the tokens of a transcription', async () => {
    const { usage } = await transcribe(wav, { response_format: 'json' });
    expect(usage).toMatchObject({ type: 'tokens', output_tokens: countTokens(spoken) });
  });

  it.each([
    ['text', /^Hello there\. Grüße/],
    ['srt', /^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nHello there\. Grüße/],
    ['vtt', /^WEBVTT\n\n00:00:00\.000 --> 00:00:0\d\.\d{3}\nHello there\. Grüße/],
  ] as const)('transcribe and translate to %s', async (format, expected) => {
    expect(await transcribe(wav, { response_format: format })).toMatch(expected);
    expect(await translate(wav, { response_format: format })).toMatch(expected);
  });

  it('transcribe to verbose_json with segments and words', async () => {
    const granularities = { timestamp_granularities: ['word' as const, 'segment' as const] };
    const verbose = await transcribe(wav, {
      response_format: 'verbose_json' as const,
      language: 'de',
      ...granularities,
    });
    expect(verbose).toMatchObject({ task: 'transcribe', language: 'de', text: spoken, usage: { type: 'duration' } });
    const { duration, segments, words } = JSON.parse(JSON.stringify(verbose));
    expect(duration).toBeCloseTo(spoken.length * 0.05, 3);
    expect(segments).toMatchObject([{ id: 0, start: 0, end: duration, text: spoken }]);
    expect(words.map((word: { word: string }) => word.word)).toEqual(spoken.split(/\s+/));
  });

  it('translate to json and verbose_json', async () => {
    expect(await translate(wav, {})).toEqual({ text: spoken });
    const verbose = await translate(wav, { response_format: 'verbose_json' });
    expect(verbose).toMatchObject({
      task: 'translate',
      language: 'english',
      text: spoken,
      segments: expect.any(Array),
    });
  });

  it('stream a transcription', async () => {
    const plain = await transcribe(wav, {});
    const events = await collect(
      await harness.client.audio.transcriptions.create({
        model: 'demo-transcribe',
        file: await toFile(wav, 'speech.wav'),
        stream: true,
      }),
    );
    const text = events.map((event) => (event.type === 'transcript.text.delta' ? event.delta : '')).join('');
    expect(text).toBe(spoken);
    expect(events.at(-1)).toEqual({ type: 'transcript.text.done', text: spoken, usage: plain.usage });
  });

  it.each([
    ['a file that is no WAV', Buffer.from('ID3 and so on')],
    ['a WAV file of another maker', Buffer.from('RIFF....WAVEfmt and so on')],
    ['a WAV file that is cut', Buffer.from('RIFF....WAVEINFOICMT')],
    ['an empty file', Buffer.alloc(0)],
  ])('say that they cannot read %s', async (_, bytes) => {
    const { text } = await transcribe(bytes, {}, 'song.mp3');
    expect(text).toMatch(/demo provider can only transcribe speech that it made itself.*song\.mp3/);
  });

  it.each([
    [{}, 'missing_required_parameter', 'file'],
    [{ file: new File(['x'], 'a.wav'), response_format: 'xml' }, 'invalid_value', 'response_format'],
  ])('refuse to transcribe %o', async (fields, code, param) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ model: 'demo-transcribe', ...fields })) form.append(name, value);
    const response = await fetch(`${harness.demo.baseUrl}/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${harness.demo.secret}` },
      body: form,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code, param } });
  });
});
