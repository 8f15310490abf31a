import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

/** Compression that an upstream may apply although Sluice asks for none. */
export type Encoding = 'gzip' | 'deflate' | 'br';

const byName: Record<string, Encoding> = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'br' };

/**
 * Null if the response is not compressed, or in an unknown way: then it is read as it is and treated as damaged if it
 * makes no sense.
 */
export function encodingOf(headers: Readonly<Record<string, unknown>>): Encoding | null {
  const name = headers['content-encoding'];
  return typeof name === 'string' ? (byName[name.trim().toLowerCase()] ?? null) : null;
}

const decoders: Record<Encoding, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Null if the bytes are damaged, or longer than `maxBytes` when decompressed. */
export async function decompress(encoding: Encoding, bytes: Buffer, maxBytes: number): Promise<Buffer | null> {
  return decoders[encoding](bytes, { maxOutputLength: maxBytes }).catch(() => null);
}
