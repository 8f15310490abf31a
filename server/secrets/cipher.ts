import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type FileKey, keySourceSchema } from './file-key.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

const base64Of = (bytes: number) => z.base64().refine((text) => Buffer.from(text, 'base64').length === bytes);

/** The format of `secrets.enc`, documented in `encrypted-file.ts`. */
export const encryptedSecretsSchema = z.strictObject({
  format: z.literal('sluice-secrets'),
  version: z.literal(1),
  key: keySourceSchema,
  nonce: base64Of(nonceBytes),
  ciphertext: z.base64(),
  tag: base64Of(tagBytes),
});
export type EncryptedSecrets = z.infer<typeof encryptedSecretsSchema>;

type Head = Pick<EncryptedSecrets, 'format' | 'version' | 'key'>;

/** Encrypts with a fresh nonce. */
export function encrypt(plaintext: string, key: FileKey): EncryptedSecrets {
  const head: Head = { format: 'sluice-secrets', version: 1, key: key.source };
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key.bytes, nonce, { authTagLength: tagBytes }).setAAD(authenticated(head));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return {
    ...head,
    nonce: nonce.toString('base64'),
    ciphertext: ciphertext.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
  };
}

/** Returns the plain text; throws if the key is wrong or the file was modified. */
export function decrypt(file: EncryptedSecrets, key: FileKey): string {
  const decipher = createDecipheriv(algorithm, key.bytes, Buffer.from(file.nonce, 'base64'), {
    authTagLength: tagBytes,
  })
    .setAAD(authenticated(file))
    .setAuthTag(Buffer.from(file.tag, 'base64'));
  return Buffer.concat([decipher.update(Buffer.from(file.ciphertext, 'base64')), decipher.final()]).toString('utf8');
}

function authenticated({ format, version, key }: Head): Buffer {
  return Buffer.from(JSON.stringify({ format, version, key }));
}
