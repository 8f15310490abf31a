/** What a guide to one client is made of. Data only: the texts around it are messages, what the clients themselves say is not translated. */
import type { Messages } from '../../messages/en.ts';

/** What the person has chosen, to be put into the steps. */
export interface Connection {
  baseUrl: string;
  /** The key's secret if it was asked for, else a placeholder. */
  key: string;
  model: string;
}

type GuideTexts = Messages['connect']['steps'];

/** A text to be copied as a whole: a command, a program, a piece of a file. */
interface SnippetStep {
  say(texts: GuideTexts): string;
  snippet(connection: Connection): string;
}

/** Fields of a form, by the labels that the client shows. */
export interface FieldsStep {
  say(texts: GuideTexts): string;
  fields(connection: Connection): readonly { label: string; value: string }[];
}

/** Something to do or to know. */
export interface NoteStep {
  say(texts: GuideTexts): string;
  isWarning?: boolean;
}

export type GuideStep = SnippetStep | FieldsStep | NoteStep;

type ClientKind = 'programs' | 'coding' | 'apps';
export const clientKinds: readonly ClientKind[] = ['programs', 'coding', 'apps'];

export interface ClientGuide {
  id: string;
  name: string;
  kind: ClientKind;
  /** What its requests call themselves; null where they cannot be told from those of others. */
  userAgent: RegExp | null;
  steps: readonly GuideStep[];
}
