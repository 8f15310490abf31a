/** A provider that is being entered. It exists only as long as its dialog, and nothing is stored until it is kept. Pure. */
import { readServiceAddress } from '../../../../server/contract/address.ts';
import type { CommandInputMap } from '../../../../server/contract/commands.ts';
import type { DetectedServer, Preset } from '../../../../server/contract/preset.ts';
import type { ProbeReport } from '../../../../server/contract/probe.ts';
import type { ProviderTrial } from '../../../../server/contract/provider-commands.ts';
import {
  type CredentialDraft,
  draftedCredential,
  emptyDraft,
} from '../../../components/credentials/CredentialForm.tsx';
import { fillPlaceholders, isBaseUrl, placeholdersOf } from '../connection/connection-values.ts';

/** The service to add: a preset, possibly with a detected local server, or whatever is at an address. */
export type Choice = { preset: Preset; found?: DetectedServer } | { address: string };

export interface ProviderDraft {
  /** Null for a service without a preset. */
  preset: Preset | null;
  /** As entered, or the preset's, which may have placeholders. */
  address: string;
  /** Of the placeholders. */
  values: Readonly<Record<string, string>>;
  needsCredential: boolean;
  credential: CredentialDraft;
  /** The variable whose value is copied into the secret store in place of `credential`. */
  copiedVariable: string | null;
  name: string;
  isFree: boolean;
  /** Empty: as the system has it. */
  proxy: string;
  /** The fingerprint of the certificate that the person trusts at this address; null if none but those of authorities. */
  certificate: string | null;
}

export function draftOf(choice: Choice): ProviderDraft {
  const preset = 'preset' in choice ? choice.preset : null;
  const found = 'preset' in choice ? choice.found : undefined;
  return {
    preset,
    address: 'address' in choice ? choice.address : (found?.baseUrl ?? choice.preset.baseUrl),
    values: {},
    needsCredential: found?.needsCredential ?? preset?.needsCredential ?? false,
    credential: emptyDraft,
    copiedVariable: null,
    name: '',
    isFree: false,
    proxy: '',
    certificate: null,
  };
}

export const blanksOf = ({ preset, address }: ProviderDraft) => (preset ? placeholdersOf(address) : []);

export const filledAddress = ({ preset, address, values }: ProviderDraft) =>
  preset ? fillPlaceholders(address, values) : address;

export function hasAddress(draft: ProviderDraft): boolean {
  return isBaseUrl(filledAddress(draft));
}

export function hasCredential({ copiedVariable, credential, needsCredential }: ProviderDraft): boolean {
  return !needsCredential || copiedVariable !== null || draftedCredential(credential) !== null;
}

/** Whether closing the dialog would lose what a person has entered. */
export const isTyped = ({ preset, values, credential, name, proxy }: ProviderDraft) =>
  preset === null ||
  draftedCredential(credential) !== null ||
  [name, proxy, ...Object.values(values)].some((text) => text.trim() !== '');

/** Neither its address nor its credential is to be typed, so that it can be tested at once. */
export const isComplete = (draft: ProviderDraft) => hasAddress(draft) && hasCredential(draft);

type Credentials = NonNullable<CommandInputMap['provider.add']['credentials']>;

function credentialsOf({ copiedVariable, credential }: ProviderDraft): Credentials {
  if (copiedVariable !== null) return [{ variable: copiedVariable }];
  const entered = draftedCredential(credential);
  return entered ? [entered] : [];
}

export function trialOf(draft: ProviderDraft): CommandInputMap['provider.try'] {
  const { preset, name, isFree, proxy, certificate } = draft;
  const address = filledAddress(draft);
  return {
    type: 'provider.try',
    provider: {
      ...(name.trim() && { name: name.trim() }),
      ...(isFree && { free: true }),
      ...(proxy.trim() && { proxy: proxy.trim() }),
      ...(certificate && { certificate }),
      ...(preset && { preset: preset.id, baseUrl: address }),
    },
    ...(!preset && { address }),
    credentials: credentialsOf(draft),
  };
}

/** What is added in the end is what was tested. */
export function additionOf(draft: ProviderDraft, trial: ProviderTrial): CommandInputMap['provider.add'] {
  const { provider, report } = trial;
  return {
    type: 'provider.add',
    provider: { ...provider, ...(report.lacksResponses && !provider.serves && { serves: ['chat' as const] }) },
    credentials: credentialsOf(draft),
  };
}

/** Fields to which a failed test leads back. */
export type Field = 'address' | 'credential' | 'proxy';

/** What helps where the test failed, the likeliest first. An address that Sluice knows is right. */
export function remediesFor(
  { failedAt, certificate }: Pick<ProbeReport, 'failedAt' | 'certificate'>,
  { preset }: ProviderDraft,
): Field[] {
  const address: Field[] = preset && placeholdersOf(preset.baseUrl).length === 0 && !preset.isLocal ? [] : ['address'];
  switch (failedAt) {
    case 'dns':
    case 'connection':
      return [...address, 'proxy'];
    case 'tls':
      // What can be trusted has been reached.
      return certificate ? address : [...address, 'proxy'];
    case 'proxy':
      return ['proxy'];
    case 'base-url':
    case 'models':
      return address;
    case 'credential':
    case 'quota':
      return ['credential'];
    default:
      return [];
  }
}

/** Whether the words of a search are an address rather than a name. */
export function looksLikeAddress(text: string): boolean {
  return /[./:]/.test(text.trim()) && isBaseUrl(text) && readServiceAddress(text).baseUrl !== '';
}
