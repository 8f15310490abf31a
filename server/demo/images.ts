/** `POST /images/generations` and `/images/edits`: a colour gradient as PNG (RFC 2083), whatever the prompt or picture. */
import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { type Call, isTrue } from './call.ts';
import { json, type Reply, typedEvents } from './reply.ts';

const compress = promisify(deflate);
const usualSide = 1024;
const maxSide = 2048;

export const generateImage = (call: Call) => answerWith(call, 'image_generation.completed');
export const editImage = (call: Call) => answerWith(call, 'image_edit.completed');

async function answerWith({ fields, now }: Call, event: string): Promise<Reply> {
  const [width, height] = sizeOf(fields.size);
  const image = { b64_json: (await drawPicture(width, height)).toString('base64') };
  const created = Math.floor(now() / 1000);
  const described = { size: `${width}x${height}`, output_format: 'png' };
  if (isTrue(fields.stream)) return typedEvents({ type: event, created_at: created, ...image, ...described });
  return json({ created, data: [image], ...described });
}

/** As asked in `WIDTHxHEIGHT`; a square for anything else. */
function sizeOf(size: unknown): [width: number, height: number] {
  const [, width, height] = /^(\d{1,4})x(\d{1,4})$/.exec(String(size)) ?? [];
  const side = (text: string | undefined) => Math.min(Math.max(Number(text ?? usualSide), 1), maxSide);
  return [side(width), side(height)];
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const bitsPerChannel = 8;
const rgb = 2;

async function drawPicture(width: number, height: number): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bitsPerChannel, rgb], 8);
  const rows = Array.from({ length: height }, (_, y) => {
    // The zero says that the row is not filtered.
    const shade = Math.round((255 * y) / height);
    return Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 3, Buffer.from([255 - shade, 128, shade]))]);
  });
  const data = await compress(Buffer.concat(rows), { level: 1 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
