import { cleanBaseUrl } from '../../../../server/contract/address.ts';
import type { ConversationApi, DialectId } from '../../../../server/contract/config.ts';
import type { ProviderChanges } from '../../../../server/contract/provider-commands.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';

/** The timeouts of a provider that a person can set, in the order of a request's phases. */
export const phases = ['connectMs', 'firstByteMs', 'firstContentMs', 'idleMs', 'totalMs'] as const;
type Phase = (typeof phases)[number];

/** Requests in other APIs are translated to the first one. */
const servesChoices: Record<Exclude<ServesChoice, 'known'>, ConversationApi[]> = {
  chat: ['chat'],
  both: ['chat', 'responses'],
  responses: ['responses'],
};
export const servesOptions = ['known', 'chat', 'both', 'responses'] as const;
type ServesChoice = (typeof servesOptions)[number];

function servesChoiceOf(serves: readonly ConversationApi[] | null): ServesChoice {
  if (serves === null) return 'known';
  return serves.length > 1 ? 'both' : (serves[0] ?? 'known');
}

/** The values of the connection form. */
export interface ConnectionValues {
  name: string;
  baseUrl: string;
  dialect: DialectId;
  apiVersion: string;
  /** Whether the models are discovered; if not, they are those of `models`. */
  discovers: boolean;
  models: string[];
  headers: { name: string; value: string }[];
  /** In seconds; empty for Sluice's default. */
  timeouts: Record<Phase, number | ''>;
  /** `url`: the proxy at `proxyUrl`. */
  proxy: 'system' | 'direct' | 'url';
  proxyUrl: string;
  /** The fingerprint of the only trusted certificate; empty for those of authorities. */
  certificate: string;
  askUsage: boolean;
  /** Of all its models, in tokens; empty for the sizes of its model list. */
  contextTokens: number | '';
  /** The conversation APIs of the provider; `known`: what Sluice knows about its address. */
  serves: ServesChoice;
  /** Whether its models cost nothing; null if that follows from its preset and address. */
  free: boolean | null;
}

export function valuesOf(provider: ProviderView): ConnectionValues {
  const { timeouts, proxy, models } = provider;
  const isNamed = proxy === 'system' || proxy === 'direct';
  const seconds = (phase: Phase) => (timeouts[phase] === undefined ? '' : timeouts[phase] / 1_000);
  return {
    name: provider.name,
    baseUrl: provider.baseUrl,
    dialect: provider.dialect,
    apiVersion: provider.apiVersion ?? '',
    discovers: models === 'discover',
    models: models === 'discover' ? [] : models,
    headers: Object.entries(provider.headers).map(([name, value]) => ({ name, value })),
    timeouts: {
      connectMs: seconds('connectMs'),
      firstByteMs: seconds('firstByteMs'),
      firstContentMs: seconds('firstContentMs'),
      idleMs: seconds('idleMs'),
      totalMs: seconds('totalMs'),
    },
    proxy: isNamed ? proxy : 'url',
    proxyUrl: isNamed ? '' : proxy,
    certificate: provider.certificate ?? '',
    askUsage: provider.askUsage,
    contextTokens: provider.contextTokens ?? '',
    serves: servesChoiceOf(provider.serves),
    free: provider.free,
  };
}

/** In the form that a command expects. Headers without a name are left out. */
export function changesOf(values: ConnectionValues): ProviderChanges {
  const limits = phases.flatMap((phase) => {
    const seconds = values.timeouts[phase];
    return seconds === '' ? [] : [[phase, Math.round(seconds * 1_000)] as const];
  });
  const headers = values.headers.map(({ name, value }) => [name.trim(), value.trim()] as const);
  return {
    name: values.name.trim() || null,
    baseUrl: values.baseUrl.trim(),
    dialect: values.dialect,
    apiVersion: values.apiVersion.trim() || null,
    models: values.discovers ? 'discover' : values.models,
    headers: Object.fromEntries(headers.filter(([name]) => name !== '')),
    timeouts: Object.fromEntries(limits),
    proxy: values.proxy === 'url' ? values.proxyUrl.trim() : values.proxy,
    certificate: values.certificate.trim().toUpperCase() || null,
    askUsage: values.askUsage,
    contextTokens: values.contextTokens === '' ? null : values.contextTokens,
    serves: values.serves === 'known' ? null : servesChoices[values.serves],
    free: values.free,
  };
}

/** Base URLs of the service that each dialect is named after. */
export const exampleBaseUrls: Readonly<Record<DialectId, string>> = {
  openai: 'https://api.openai.com/v1',
  azure: 'https://{resource}.openai.azure.com/openai/v1',
  anthropic: 'https://api.anthropic.com',
  gemini: 'https://generativelanguage.googleapis.com/v1beta',
  bedrock: 'https://bedrock-runtime.{region}.amazonaws.com',
  vertex: 'https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}',
};

/** Placeholders in the base URL of a preset, which the person has to fill in: `https://{resource}.example.com/v1`. */
const placeholder = /\{([^{}]+)\}/g;

/** The names of the placeholders in order, without duplicates. */
export function placeholdersOf(baseUrl: string): string[] {
  return [...new Set([...baseUrl.matchAll(placeholder)].map(([, name]) => name ?? ''))];
}

/** Placeholders without a value are left as they are. */
export function fillPlaceholders(baseUrl: string, values: Readonly<Record<string, string>>): string {
  return baseUrl.replace(placeholder, (whole, name: string) => values[name]?.trim() || whole);
}

/** Whether the text is understood as a base URL: `http` or `https`, without placeholders. */
export function isBaseUrl(text: string): boolean {
  const url = URL.parse(cleanBaseUrl(text));
  return url !== null && /^https?:$/.test(url.protocol) && !/[{}]|%7B|%7D/i.test(text);
}
