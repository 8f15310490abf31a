import { promisify } from 'node:util';
import { brotliDecompress, crc32, createInflateRaw, gunzip, inflate } from 'node:zlib';

/** Compression that an upstream may apply although Sluice asks for none. */
export type Encoding = 'gzip' | 'deflate' | 'br';

const byName = new Map<string, Encoding>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);
/** Each may expand a thousandfold. */
const maxEncodings = 3;
const none: readonly Encoding[] = [];

/**
 * In the order in which they were applied; empty if the response is not compressed, or in an unknown way: then it is read as it is and
 * treated as damaged if it makes no sense.
 */
export function encodingsOf(headers: Readonly<Record<string, unknown>>): readonly Encoding[] {
  const names = namesIn(headers);
  const known = names.flatMap((name) => byName.get(name) ?? []);
  return known.length === names.length && known.length <= maxEncodings ? known : none;
}

function namesIn({ 'content-encoding': value }: Readonly<Record<string, unknown>>): readonly string[] {
  if (typeof value !== 'string') return [];
  const names = value.split(',', maxEncodings + 1).map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && name !== 'identity');
}

const decoders: Record<Encoding, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Null if the bytes are damaged, or longer than `maxBytes` when decompressed. */
export async function decompress(
  encodings: readonly Encoding[],
  bytes: Buffer,
  maxBytes: number,
): Promise<Buffer | null> {
  let plain: Buffer | null = bytes;
  for (const encoding of encodings.toReversed()) {
    if (plain === null) break;
    const packed: Buffer = plain;
    const decoded = decoders[encoding](packed, { maxOutputLength: maxBytes });
    plain = await decoded.catch(() => (encoding === 'gzip' ? firstMember(packed, maxBytes) : null));
  }
  return plain;
}

const headerBytes = 10;
const trailerBytes = 8;

/**
 * What is in front of bytes that are no gzip, which curl and browsers pass over and Node does not. Null if there are none, or more than
 * they are damaged.
 */
async function firstMember(bytes: Buffer, maxBytes: number): Promise<Buffer | null> {
  const flags = bytes[3];
  // Services add no name, comment or other field to the header (RFC 1952, 2.3.1).
  const member = flags === 0 ? await inflateFirst(bytes.subarray(headerBytes), maxBytes) : null;
  if (!member) return null;
  const end = headerBytes + member.packedBytes;
  const rest = bytes.subarray(end + trailerBytes);
  const isFollowed = rest.length > 0 && !(rest[0] === 0x1f && rest[1] === 0x8b);
  return isFollowed && bytes.readUInt32LE(end) === crc32(member.plain) ? member.plain : null;
}

function inflateFirst(bytes: Buffer, maxBytes: number): Promise<{ plain: Buffer; packedBytes: number } | null> {
  const { promise, resolve } = Promise.withResolvers<{ plain: Buffer; packedBytes: number } | null>();
  const inflating = createInflateRaw();
  const chunks: Buffer[] = [];
  let length = 0;
  inflating.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) inflating.destroy(new Error('too long'));
  });
  inflating.on('end', () => resolve({ plain: Buffer.concat(chunks), packedBytes: inflating.bytesWritten }));
  inflating.on('error', () => resolve(null));
  inflating.end(bytes);
  return promise;
}
