import { z } from 'zod';
import { dialectSchema, idSchema } from './config.ts';

/** A service or local server that Sluice knows: what is filled in when a person adds it. */
export const presetSchema = z.strictObject({
  id: idSchema,
  name: z.string().min(1).max(200),
  dialect: dialectSchema,
  /** As the service documents it. What is in braces has to be filled in by the person. */
  baseUrl: z.string().regex(/^https?:\/\/[^\s?#]+[^\s?#/]$/),
  /** It runs on this machine. */
  isLocal: z.boolean(),
  needsCredential: z.boolean(),
  /** Names under which people usually have its credential in their environment. */
  environment: z.array(z.string().regex(/^[A-Z][A-Z0-9_]*$/)),
  /** Where a person gets a credential; null where there is no such page. */
  keyPage: z.url({ protocol: /^https$/ }).nullable(),
  /** As in the configuration of a provider. A list where the service tells none, or not those that can be called. */
  models: z.union([z.literal('discover'), z.array(z.string().min(1).max(256))]),
  /** False where the service refuses `stream_options`. */
  askUsage: z.boolean(),
  /** Where a local server listens unless told otherwise. */
  ports: z.array(z.int().min(1).max(65_535)),
  /** What a person has to know besides; null if nothing. */
  hint: z.string().max(400).nullable(),
});

export type Preset = z.infer<typeof presetSchema>;

/** A credential that Sluice's own environment holds and no provider uses. Its value is never told. */
export interface EnvironmentCredential {
  /** Id of the preset that it is for. */
  preset: string;
  /** Name of the variable. */
  variable: string;
}

/** A local model server that answers now. */
export interface DetectedServer {
  /** Id of the preset it was taken for. */
  preset: string;
  name: string;
  baseUrl: string;
  /** It answers, but only to those who have a credential; then its models are not known. */
  needsCredential: boolean;
  models: string[];
}
