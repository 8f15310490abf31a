/** Checks what is written to the file and read from it. */
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { ConfigStore } from '../../../server/config/config-store.ts';
import { type Config, configSchema } from '../../../server/contract/config.ts';
import { GatewayError } from '../../../server/contract/errors.ts';

export const planted = 'sk-planted-4711';

export const withPort = (port: number) => (config: Config) => ({ ...config, settings: { ...config.settings, port } });

export const portOf = (store: ConfigStore) => store.current.config.settings.port;

export const portIn = async (file: string) =>
  configSchema.parse(JSON.parse(await readFile(file, 'utf8'))).settings.port;

export async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not a GatewayError: ${String(error)}`);
  expect(`${error.message}${error.stack}`).not.toContain(planted);
  return error;
}
