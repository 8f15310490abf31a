import { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collect, type DemoHarness, startHarness } from './harness.ts';

describe('videos', () => {
  let harness: DemoHarness;
  beforeAll(async () => {
    harness = await startHarness();
  });
  afterAll(() => harness.demo.stop());

  const completed = async (prompt = 'A ball') => {
    const { id } = await harness.client.videos.create({ prompt, seconds: '4', size: '1280x720' });
    harness.advance(4000);
    return id;
  };
  const content = (id: string, headers: Record<string, string> = {}, query = '') =>
    harness.request('GET', `/videos/${id}/content${query}`, undefined, headers);

  it('are made from a form, with every field of the video object', async () => {
    const reference = await toFile(Buffer.from('picture'), 'a.png', { type: 'image/png' });
    const video = await harness.client.videos.create({
      model: 'demo-video',
      prompt: 'A ball',
      seconds: '8',
      size: '1280x720',
      input_reference: reference,
    });
    expect(video).toEqual({
      id: expect.stringMatching(/^video_/),
      object: 'video',
      model: 'demo-video',
      status: 'queued',
      progress: 0,
      created_at: expect.any(Number),
      completed_at: null,
      expires_at: null,
      prompt: 'A ball',
      size: '1280x720',
      seconds: '8',
      quality: 'standard',
      remixed_from_video_id: null,
      error: null,
    });
  });

  it('are made from JSON too, of 4 seconds and 720x1280 unless asked otherwise', async () => {
    const response = await harness.request('POST', '/videos', { prompt: 'A ball' });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ seconds: '4', size: '720x1280', model: 'demo-video' });
    const asNumber = await harness.request('POST', '/videos', { prompt: 'A ball', seconds: 12 });
    expect(await asNumber.json()).toMatchObject({ seconds: '12' });
  });

  it('go from queued over rising progress to completed', async () => {
    const { id, created_at: createdAt } = await harness.client.videos.create({ prompt: 'A ball' });
    const seen: string[] = [];
    for (let step = 0; step < 5; step += 1) {
      const { status, progress } = await harness.client.videos.retrieve(id);
      seen.push(`${status} ${progress}`);
      harness.advance(1000);
    }
    expect(seen).toEqual(['queued 0', 'in_progress 6', 'in_progress 37', 'in_progress 68', 'completed 100']);
    expect(await harness.client.videos.retrieve(id)).toMatchObject({
      completed_at: createdAt + 4,
      expires_at: createdAt + 4 + 86_400,
    });
  });

  it('say when to ask again while they are not completed', async () => {
    const { id } = await harness.client.videos.create({ prompt: 'A ball' });
    expect((await harness.request('GET', `/videos/${id}`)).headers.get('openai-poll-after-ms')).toBe('500');
    harness.advance(4000);
    expect((await harness.request('GET', `/videos/${id}`)).headers.get('openai-poll-after-ms')).toBeNull();
  });

  it('have no content before they are completed', async () => {
    const { id } = await harness.client.videos.create({ prompt: 'A ball' });
    const response = await content(id);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code: 'video_not_ready' } });
  });

  it('have an MP4 as content, the same each time', async () => {
    const id = await completed();
    const response = await harness.client.videos.downloadContent(id);
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('accept-ranges')).toBe('bytes');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    expect(bytes.includes('avc1')).toBe(true);
    // The index precedes the data, so that players can start at once.
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
    expect(Buffer.from(await (await content(id)).arrayBuffer()).equals(bytes)).toBe(true);
  });

  it.each(['thumbnail', 'spritesheet'] as const)('have a %s as PNG', async (variant) => {
    const response = await harness.client.videos.downloadContent(await completed(), { variant });
    expect(response.headers.get('content-type')).toBe('image/png');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([320, 180]);
  });

  describe('by ranges', () => {
    let id: string;
    let whole: Buffer;
    let etag: string;
    beforeAll(async () => {
      id = await completed();
      const response = await content(id);
      etag = response.headers.get('etag') ?? '';
      whole = Buffer.from(await response.arrayBuffer());
    });

    it.each([
      ['bytes=0-99', 0, 99],
      ['bytes=100-', 100, -1],
      ['bytes=-10', -10, -1],
      ['bytes=5-5', 5, 5],
      ['bytes=0-99999999', 0, -1],
      ['bytes=-99999999', 0, -1],
    ])('give %s as 206', async (range, from, to) => {
      const response = await content(id, { range });
      const [start, end] = [from < 0 ? whole.length + from : from, to < 0 ? whole.length + to : to];
      expect(response.status).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${whole.length}`);
      expect(response.headers.get('content-length')).toBe(String(end - start + 1));
      expect(Buffer.from(await response.arrayBuffer()).equals(whole.subarray(start, end + 1))).toBe(true);
    });

    it.each(['bytes=99999999-', 'bytes=-0'])('refuse %s with 416', async (range) => {
      const response = await content(id, { range });
      expect(response.status).toBe(416);
      expect(response.headers.get('content-range')).toBe(`bytes */${whole.length}`);
      expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    });

    it.each(['bytes=9-3', 'bytes=-', 'bytes=0-1,5-6', 'lines=1-2'])('give all for %s', async (range) => {
      const response = await content(id, { range });
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBe(whole.length);
    });

    it('keep to If-Range: a part of the same film, all of another', async () => {
      expect((await content(id, { range: 'bytes=0-9', 'if-range': etag })).status).toBe(206);
      expect((await content(id, { range: 'bytes=0-9', 'if-range': '"other"' })).status).toBe(200);
    });
  });

  it('are remixed from a completed one', async () => {
    const id = await completed('First');
    const remix = await harness.client.videos.remix(id, { prompt: 'Second' });
    expect(remix).toMatchObject({ status: 'queued', prompt: 'Second', size: '1280x720', remixed_from_video_id: id });
    harness.advance(4000);
    const picture = async (of: string) => (await content(of, {}, '?variant=thumbnail')).bytes();
    const [first, second] = [await picture(id), await picture(remix.id)];
    expect(Buffer.compare(first, second)).not.toBe(0);
  });

  it('are not remixed before they are completed', async () => {
    const { id } = await harness.client.videos.create({ prompt: 'A ball' });
    const error = await harness.client.videos.remix(id, { prompt: 'x' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, code: 'video_not_ready' });
  });

  it('are listed by pages, the newest first', async () => {
    const ids = [await completed(), await completed(), await completed()];
    const newest = await (await harness.request('GET', '/videos?limit=2')).json();
    expect(newest).toMatchObject({ object: 'list', first_id: ids[2], last_id: ids[1], has_more: true });
    const all = await collect(harness.client.videos.list({ limit: 2, order: 'asc' }));
    expect(all.map((video) => video.id).slice(-3)).toEqual(ids);
  });

  it('are deleted', async () => {
    const id = await completed();
    expect(await harness.client.videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true });
    await expect(harness.client.videos.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    [{}, 'missing_required_parameter', 'prompt'],
    [{ prompt: 'x', seconds: '0' }, 'invalid_value', 'seconds'],
    [{ prompt: 'x', seconds: '4.5' }, 'invalid_value', 'seconds'],
    [{ prompt: 'x', size: 'wide' }, 'invalid_value', 'size'],
  ])('refuse %j', async (body, code, param) => {
    const response = await harness.request('POST', '/videos', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code, param } });
  });

  it.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/content'],
    ['POST', '/remix'],
  ])('answer %s of an unknown one%s with 404', async (method, rest) => {
    const response = await harness.request(method, `/videos/video_none${rest}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', param: 'id' } });
  });
});
