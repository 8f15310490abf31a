/**
 * Types of the guides that explain how to connect a client, for the window and the command line. Labels and texts of
 * the clients themselves are not translated.
 */
import type { Coded } from '../coded.ts';
import type { StepCodes } from './step-texts.ts';

/** The values that are filled into the steps. */
export interface Connection {
  /** Ends in `/v1`. */
  baseUrl: string;
  /** The key's secret, or a placeholder. */
  key: string;
  model: string;
}

/** A text to copy as a whole: a command, a program or a part of a file. */
interface SnippetStep {
  say: Coded<StepCodes>;
  snippet: string;
}

/** Fields of a form, named by the labels that the client shows. */
export interface FieldsStep {
  say: Coded<StepCodes>;
  fields: readonly { label: string; value: string }[];
}

/** Something to do or to know. */
export interface NoteStep {
  say: Coded<StepCodes>;
  isWarning?: boolean;
}

export type GuideStep = SnippetStep | FieldsStep | NoteStep;

type ClientKind = 'programs' | 'coding' | 'apps';
export const clientKinds: readonly ClientKind[] = ['programs', 'coding', 'apps'];

/** The endpoints that clients use for conversations, relative to the server's origin. */
type ClientEndpoint =
  | '/v1/chat/completions'
  | '/v1/responses'
  | '/v1/messages'
  | '/v1beta/models/…:streamGenerateContent';

export interface ClientGuide {
  id: string;
  name: string;
  kind: ClientKind;
  /** In order of importance; null if they depend on the program that the person writes. */
  endpoints: readonly [ClientEndpoint, ...ClientEndpoint[]] | null;
  /** Finds the key in the environment alone, so that it is best started from a terminal that has it. */
  isFromTerminal?: boolean;
  steps(connection: Connection): readonly GuideStep[];
}

export function pretty(value: object): string {
  return JSON.stringify(value, null, 2);
}

/** Clients of the Anthropic and Google APIs add the version themselves. */
export function withoutVersion(baseUrl: string): string {
  return baseUrl.endsWith('/v1') ? baseUrl.slice(0, -'/v1'.length) : baseUrl;
}
