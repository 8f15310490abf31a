import { z } from 'zod';
import { dialectSchema, idSchema, servesSchema } from './config.ts';

/** A known service or local server, from which a provider can be added. */
export const presetSchema = z.strictObject({
  id: idSchema,
  name: z.string().min(1).max(200),
  dialect: dialectSchema,
  /** As the service documents it. The person replaces the parts in braces. */
  baseUrl: z.string().regex(/^https?:\/\/[^\s?#]+[^\s?#/]$/),
  /** Whether it runs on this machine. */
  isLocal: z.boolean(),
  needsCredential: z.boolean(),
  /** The usual environment variables for its credential. */
  environment: z.array(z.string().regex(/^[A-Z][A-Z0-9_]*$/)),
  /** The page where a person gets a credential; null if there is none. */
  keyPage: z.url({ protocol: /^https$/ }).nullable(),
  /**
   * As in a provider's configuration. A list if the service has no model list, or lists models that cannot be called.
   */
  models: z.union([z.literal('discover'), z.array(z.string().min(1).max(256))]),
  /** False if the service refuses `stream_options`. */
  askUsage: z.boolean(),
  /** As in a provider's configuration; null if it depends on the version or is not documented. */
  serves: servesSchema.nullable(),
  /** A local server's default ports. */
  ports: z.array(z.int().min(1).max(65_535)),
  /** Anything else that a person needs to know. */
  hint: z.string().max(400).nullable(),
});

export type Preset = z.infer<typeof presetSchema>;

/** A credential in Sluice's environment that no provider uses. Its value is not disclosed. */
export interface EnvironmentCredential {
  /** Id of the preset it belongs to. */
  preset: string;
  /** Name of the variable. */
  variable: string;
}

/** A running local model server. */
export interface DetectedServer {
  /** Id of the matching preset. */
  preset: string;
  name: string;
  baseUrl: string;
  /** Whether it requires a credential. Its models are then unknown. */
  needsCredential: boolean;
  models: string[];
}
