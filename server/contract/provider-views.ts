/** What is known of services before or beside their configuration: presets, local servers, the outcome of a test. */
import type { DialectId } from './config.ts';

/** A service that Sluice knows: what `provider.add` fills in for it. */
export interface PresetView {
  id: string;
  name: string;
  dialect: DialectId;
  /** What is in braces has to be filled in by the person: `https://{resource}.openai.azure.com`. */
  baseUrl: string;
  /** It runs on this machine. */
  isLocal: boolean;
  needsCredential: boolean;
  /** Where its credentials are made, and the like; for a person. */
  hint: string | null;
}

/** A local model server that answers now. */
export interface LocalServerView {
  preset: string;
  name: string;
  baseUrl: string;
  models: string[];
}

export interface ProviderTestView {
  provider: string;
  ok: boolean;
  /** In the order of the hops; ends with the first that fails. */
  steps: ProviderTestStep[];
}

export interface ProviderTestStep {
  /** `address`, `connection`, `tls`, `credential`, `models`, … */
  name: string;
  ok: boolean;
  /** What was found or what is wrong and what to do, for a person. */
  message: string;
  elapsedMs: number | null;
}
