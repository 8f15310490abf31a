import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const keyPrefix = 'sk-sluice-';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 42;
const checksumLength = 6;

/** A new key's secret: prefix, 42 random characters (250 bits), and 6 characters of checksum that reveal typing mistakes. */
export function createKeySecret(): string {
  const body = keyPrefix + randomText(randomLength);
  return body + checksum(body);
}

export function keyChecksumHolds(secret: string): boolean {
  const body = secret.slice(0, -checksumLength);
  return body.length === keyPrefix.length + randomLength && secret.endsWith(checksum(body));
}

/** Discards bytes above the largest multiple of 62, so that all characters are equally likely. */
function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62];
    }
  }
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = (alphabet[rest % 62] ?? '') + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
