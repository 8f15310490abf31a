/** Opens the demo's files in a real browser, whose decoders for PNG, WAV and MP4 validate them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBrowser, hasChromium, skipWithoutChromium } from '../../support/chromium.ts';
import { type DemoHarness, startHarness } from './harness.ts';

describe('a browser', () => {
  const files = new Map<string, { type: string; bytes: Buffer }>();
  let harness: DemoHarness;
  let server: Server;
  let browser: Browser;
  let page: Page;

  skipWithoutChromium();
  beforeAll(async () => {
    if (!hasChromium) return;
    harness = await startHarness();
    server = createServer((request, response) => {
      const url = request.url ?? '/';
      if (url.startsWith('/videos/')) return void relay(harness, request, response);
      const file = files.get(url);
      response.setHeader('content-type', file?.type ?? 'text/html');
      response.end(file?.bytes ?? '<!doctype html><title>media</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    browser = await connectBrowser();
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });

  afterAll(async () => {
    await browser?.close();
    server?.close();
    await harness?.demo.stop();
  });

  it('plays the film of a video job', async () => {
    const job = await harness.client.videos.create({ prompt: 'A ball over hills', size: '1280x720', seconds: '8' });
    harness.advance(4000);
    const played = await page.evaluate(playFilm, `/videos/${job.id}/content`);
    expect(played).toMatchObject({ width: 320, height: 180 });
    expect(played.duration).toBeCloseTo(4, 2);
    expect(played.reached).toBeGreaterThan(0.5);
    expect(played.changedPixels).toBeGreaterThan(100);
  });

  it('decodes speech as a second of sound', async () => {
    const speech = await harness.client.audio.speech.create({ model: 'demo-speech', voice: 'alloy', input: 'Hello' });
    const bytes = Buffer.from(await speech.arrayBuffer());
    files.set('/speech.wav', { type: 'audio/wav', bytes });
    const sound = await page.evaluate(decodeSound, '/speech.wav');
    expect(sound.duration).toBeCloseTo(1, 3);
    expect(sound.channels).toBe(1);
    expect(sound.loudest).toBeGreaterThan(0.2);
    expect(sound.loudest).toBeLessThan(1);
  });

  it.each(['1024x1024', '1536x1024', '64x48'])('shows a picture of %s', async (size) => {
    const images = await harness.client.images.generate({ model: 'demo-image', prompt: 'hills', size });
    files.set(`/${size}.png`, { type: 'image/png', bytes: Buffer.from(images.data?.[0]?.b64_json ?? '', 'base64') });
    const shown = await page.evaluate(showPicture, `/${size}.png`);
    expect(`${shown.width}x${shown.height}`).toBe(size);
    expect(shown.colors).toBeGreaterThan(10);
  });
});

/** The page has no secret, so the relay adds it to its requests. */
async function relay({ request }: DemoHarness, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const response = await request('GET', incoming.url ?? '');
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(await response.bytes());
}

// These functions run inside the page and must not use anything from this file.

async function playFilm(url: string) {
  const video = document.createElement('video');
  video.muted = true;
  video.src = url;
  document.body.append(video);
  const happens = (name: string, isThere = () => true) =>
    new Promise<void>((resolve, reject) => {
      video.addEventListener(name, () => isThere() && resolve());
      video.addEventListener('error', () => reject(new Error(`video: ${video.error?.message}`)));
    });
  await happens('loadeddata');
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const picture = () => {
    context?.drawImage(video, 0, 0);
    return context?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
  };
  const first = picture();
  const played = happens('timeupdate', () => video.currentTime > 0.5);
  await video.play();
  await played;
  video.pause();
  const [second, reached] = [picture(), video.currentTime];
  let changedPixels = 0;
  for (let index = 0; index < first.length; index += 4) {
    if (Math.abs((first[index] ?? 0) - (second[index] ?? 0)) > 20) changedPixels += 1;
  }
  const { videoWidth: width, videoHeight: height, duration } = video;
  return { width, height, duration, reached, changedPixels };
}

async function decodeSound(url: string) {
  const bytes = await (await fetch(url)).arrayBuffer();
  const sound = await new OfflineAudioContext(1, 1, 24_000).decodeAudioData(bytes);
  const loudest = sound.getChannelData(0).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return { duration: sound.duration, channels: sound.numberOfChannels, loudest };
}

async function showPicture(url: string) {
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext('2d');
  context?.drawImage(image, 0, 0);
  const pixels = new Uint32Array(
    context?.getImageData(0, 0, canvas.width, canvas.height).data.buffer ?? new ArrayBuffer(0),
  );
  return { width: canvas.width, height: canvas.height, colors: new Set(pixels).size };
}
